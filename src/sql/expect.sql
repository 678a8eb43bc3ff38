--
-- expectations
--
-- The user's own profiles of expect().  Those that come with the extension are in that function: as
-- rows they would be in each dump, and then restored where CREATE EXTENSION has inserted them.
--
CREATE TABLE sync_probe.expectations (
    profile name PRIMARY KEY CHECK (profile <> ''),
    flush_p99_us double precision CHECK (flush_p99_us > 0 AND flush_p99_us < 'Infinity'),
    commits_per_sec double precision CHECK (commits_per_sec > 0 AND commits_per_sec < 'Infinity'),
    durable boolean NOT NULL DEFAULT false,
    no_errors boolean NOT NULL DEFAULT false,
    recommended boolean NOT NULL DEFAULT false,
    CONSTRAINT expectations_any_check CHECK (
        num_nonnulls(flush_p99_us, commits_per_sec) > 0 OR durable OR no_errors OR recommended)
);

GRANT SELECT ON sync_probe.expectations TO pg_monitor;

COMMENT ON TABLE sync_probe.expectations IS
  'Your profiles of expect(), for the current method. A row named etcd or oltp is used instead of '
  'the one that comes with the extension';
COMMENT ON COLUMN sync_probe.expectations.profile IS 'Name';
COMMENT ON COLUMN sync_probe.expectations.flush_p99_us IS
  'Longest time for 99 percent of paced flushes; null: any';
COMMENT ON COLUMN sync_probe.expectations.commits_per_sec IS
  'Least rate of one writer, back to back; null: any';
COMMENT ON COLUMN sync_probe.expectations.durable IS
  'Syncs must reach the device, or it has no volatile cache; unknown fails';
COMMENT ON COLUMN sync_probe.expectations.no_errors IS
  'No finding of severity error at the location or for its file system';
COMMENT ON COLUMN sync_probe.expectations.recommended IS
  'The verdict must be keep, or undecided with max_regret within the margin';

SELECT pg_catalog.pg_extension_config_dump('sync_probe.expectations', '');

--
-- expect
--
-- Whether a location does what a profile expects: a row for each expectation.  What is unknown
-- fails.  An error rolls back what was recorded: to keep the run, probe in a statement before.
--
-- Profiles that come with it: a sync that does not reach the device is fast, so both want durable.
-- recommended is about a setting, not about the machine: neither wants it.
--
-- etcd: its FAQ (etcd.io/docs) asks for a p99 of wal_fsync_duration_seconds below 10 ms.
--
-- oltp: a commit waits for at most two flushes, the one under way and its own: at 10 ms each, far
-- less than the 100 ms that users notice.  One session, such as one that applies changes on a
-- subscriber, must reach 300 commits per second: usual SSDs do, a rotating disk without a cache
-- does not (15,000 turns a minute are 250 a second).
--
CREATE FUNCTION sync_probe.expect(
    profile name DEFAULT 'oltp',
    location name DEFAULT 'pg_wal',
    duration interval DEFAULT NULL,
    raise boolean DEFAULT false)
RETURNS TABLE (expectation text, ok boolean, value text, expected text, reason text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    current_method CONSTANT text := current_setting('wal_sync_method');
    ready_made CONSTANT sync_probe.expectations[] := ARRAY[
        -- flush_p99_us, commits_per_sec, durable, no_errors, recommended
        ('etcd', 10000, NULL, true, false, false)::sync_probe.expectations,
        ('oltp', 10000, 300, true, true, false)::sync_probe.expectations];
    wanted sync_probe.expectations;
    command text;
    probed record;
    a record; -- what was measured and where, its advice today, and why there are no figures
    total integer := 0;
    failed text[] := '{}';
BEGIN
    PERFORM sync_probe_internal.require_monitor('expect()');
    IF num_nulls(profile, location, raise) > 0 THEN
        RAISE invalid_parameter_value USING HINT = 'Omit an argument to use its default.',
            MESSAGE = 'arguments "profile", "location" and "raise" must not be null';
    END IF;
    SELECT e.* INTO wanted FROM sync_probe.expectations AS e WHERE e.profile = expect.profile;
    IF NOT FOUND THEN
        SELECT e.* INTO wanted FROM unnest(ready_made) AS e WHERE e.profile = expect.profile;
    END IF;
    IF NOT FOUND THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('profile "%s" does not exist', profile),
            HINT = (SELECT format('Valid profiles are %s; add one to sync_probe.expectations.',
                                  string_agg(format('"%s"', p.profile), ', ' ORDER BY p.profile))
                    FROM (SELECT e.profile FROM sync_probe.expectations AS e
                          UNION SELECT e.profile FROM unnest(ready_made) AS e) AS p);
    END IF;
    IF EXISTS (SELECT FROM sync_probe_internal.running() AS r WHERE r.suite = 'trial') THEN
        RAISE lock_not_available USING HINT = 'See sync_probe.running, and try again after it.',
            MESSAGE = 'a trial is running, which changes a setting of this server';
    END IF;
    IF duration IS NULL THEN
        PERFORM sync_probe_internal.examine_locations(location);
        command := format('SELECT * FROM sync_probe.probe(%L, %s, stop_early => false)', location,
                          sync_probe_internal.duration_argument('30 s'));
        SELECT format('run %s', (n.run).run_id) AS source, n.verdict, n.max_regret, n.durable,
               n.reason, w.why || '; execute ' || command AS missing,
               CASE WHEN w.why IS NULL THEN n.measured END AS measured,
               (n.place).directory, (n.place).device
        INTO a
        FROM sync_probe_internal.advice(also => location) AS n,
             LATERAL (SELECT CASE
                 WHEN (n.run).run_id IS NULL
                 THEN coalesce('run ' || n.passed_over || ' does not count: ' || n.passed_over_why,
                               'never probed')
                 WHEN n.changes IS NOT NULL
                 THEN format('run %s is outdated: %s', (n.run).run_id,
                             array_to_string(n.changes, '; ')) END) AS w (why)
        WHERE n.location = expect.location;
    ELSE
        SELECT (array_agg(p.run))[1] AS run, array_agg(p.measured) AS measured INTO probed
        FROM sync_probe_internal.probe_run(location, 'wal', duration, stop_early => false) AS p;
        SELECT 'this probe' AS source, d.verdict, d.max_regret, d.durable, d.reason,
               NULL AS missing, probed.measured, (probed.run).directory, (probed.run).device
        INTO a
        FROM sync_probe_internal.run_advice(location, probed.run, probed.measured, NULL, false,
                 sync_probe_internal.power_tested(location, (probed.run).directory,
                                                  (probed.run).device)) AS d;
    END IF;
    FOR expectation, ok, value, expected, reason IN
        SELECT v.expectation, coalesce(v.ok, false), v.value, v.expected, v.reason
        FROM (SELECT string_agg(f.code, ', ') AS codes, string_agg(f.message, '; ') AS messages
              FROM sync_probe_internal.examine_locations(NULL) AS l
              JOIN sync_probe.findings AS f ON f.location IN (l.name, l.shares_filesystem_with)
              WHERE l.name = expect.location AND f.severity = 'error' AND wanted.no_errors) AS e
        LEFT JOIN unnest(a.measured) AS p ON p.test = 'paced' AND p.method = current_method
        LEFT JOIN unnest(a.measured) AS s
            ON s.test = 'saturated' AND s.method = p.method AND s.direct_io = p.direct_io,
        LATERAL (SELECT coalesce(a.missing, format('%s did not measure %s: %s', a.source,
                     current_method, coalesce(p.detail, s.detail, p.status)))) AS m (missing),
        LATERAL (VALUES
            (1, wanted.flush_p99_us IS NOT NULL, 'flush_p99_us', p.p99_us <= wanted.flush_p99_us,
             p.p99_us::text, format('at most %s', wanted.flush_p99_us),
             CASE WHEN p.p99_us IS NOT NULL
                  THEN format('%s: %s paced flushes with %s', a.source, p.ops, current_method)
                  WHEN p.ops > 0
                  THEN format('%s has %s of the 299 paced flushes that a 99th percentile takes: %s',
                              a.source, p.ops, CASE WHEN duration IS NULL
                                  THEN 'execute ' || command
                                  ELSE 'pass a longer duration' END)
                  ELSE m.missing END),
            (2, wanted.commits_per_sec IS NOT NULL, 'commits_per_sec',
             s.ops_per_sec >= wanted.commits_per_sec, s.ops_per_sec::text,
             format('at least %s', wanted.commits_per_sec),
             CASE WHEN s.ops_per_sec IS NOT NULL
                  THEN format('%s: one writer back to back with %s', a.source, current_method)
                  ELSE m.missing END),
            (3, wanted.durable, 'durable', a.durable IN ('yes', 'no_cache', 'proven'),
             coalesce(a.durable, 'unknown'), 'yes',
             CASE WHEN NOT current_setting('fsync')::boolean THEN 'fsync is off'
                  WHEN a.durable IN ('proven', 'refuted')
                  THEN (SELECT format('run %s, a power test: %s', t.run_id, t.reason)
                        FROM sync_probe_internal.power_tested(location, a.directory, a.device) AS t)
                  ELSE coalesce(a.missing, format('%s, with %s', a.source, current_method)) END),
            (4, wanted.no_errors, 'no_errors', e.codes IS NULL, coalesce(e.codes, 'none'), 'none',
             coalesce(e.messages, 'no finding of severity error')),
            (5, wanted.recommended, 'recommended',
             a.verdict = 'keep' OR a.verdict = 'undecided' AND a.max_regret
                 <= current_setting('pg_sync_probe.margin')::float8,
             a.verdict, 'keep, or undecided within the margin',
             CASE WHEN a.verdict IN ('not probed', 'outdated') IS NOT FALSE THEN a.missing
                  ELSE a.reason END)
            ) AS v (n, wanted, expectation, ok, value, expected, reason)
        WHERE v.wanted
        ORDER BY v.n
    LOOP
        total := total + 1;
        IF NOT ok THEN
            failed := failed || format('%s: %s, expected: %s (%s)', expectation,
                                       coalesce(value, 'unknown'), expected, reason);
        END IF;
        RETURN NEXT;
    END LOOP;
    IF raise AND failed <> '{}' THEN
        RAISE data_exception USING DETAIL = array_to_string(failed, E'\n'),
            MESSAGE = format('%s of %s expectations of profile "%s" failed at location "%s"',
                             cardinality(failed), total, profile, location),
            HINT = 'sync_probe.findings and sync_probe.recommendation_details show what to do.';
    END IF;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.expect FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe.expect TO pg_monitor;

COMMENT ON FUNCTION sync_probe.expect IS
  'Check a location against a profile, one row for each expectation. Rests on the newest run of '
  'suite wal or, with duration, on a probe, which requires EXECUTE on probe(). With raise, a '
  'failure is an error (22000)';
