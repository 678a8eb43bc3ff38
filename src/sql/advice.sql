--
-- This server and machine.  On a standby and in a restored dump sync_probe.runs has runs
-- of other servers.
--
CREATE FUNCTION sync_probe_internal.this_server(
    OUT system_identifier bigint,
    OUT host text)
LANGUAGE c STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_this_server';

REVOKE ALL ON FUNCTION sync_probe_internal.this_server FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.this_server TO pg_monitor;

--
-- The statement that probes a location.
--
CREATE FUNCTION sync_probe_internal.probe_command(location name)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('SELECT * FROM sync_probe.probe(%s)', quote_literal(nullif(location, 'pg_wal')))
$$;

--
-- An argument of probe() and trial(): a duration, as far as max_duration allows it today.
--
CREATE FUNCTION sync_probe_internal.duration_argument(duration interval)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('duration => ''%s s''', trim_scale(extract(epoch FROM
                  least(duration, current_setting('pg_sync_probe.max_duration')::interval))))
$$;

--
-- The statement that repeats an undecided run for as long as may decide it; null without such a
-- duration.
--
CREATE FUNCTION sync_probe_internal.longer_command(run sync_probe.runs)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    argument text := sync_probe_internal.duration_argument(run.longer_duration);
BEGIN
    RETURN CASE
        WHEN run.longer_duration IS NULL THEN NULL
        WHEN run.suite = 'wal' THEN format('SELECT * FROM sync_probe.probe(%s)', concat_ws(', ',
            quote_literal(nullif(run.location, 'pg_wal')), argument))
        WHEN run.suite = 'commit' THEN format('SELECT * FROM sync_probe.probe(suite => ''commit'','
            ' %s)', concat_ws(', ', argument, 'workers => ' || run.workers))
        WHEN run.suite = 'trial' THEN format('CALL sync_probe.trial(%s)', concat_ws(', ',
            quote_literal(nullif(run.setting, 'wal_sync_method')), argument,
            'workload => ' || quote_literal(run.workload))) END;
END
$$;

--
-- The options of a list that another list lacks, in their order; "none" if there are none.
-- Whether the mount can be written to changes no measurement, and has a finding of its own.
--
CREATE FUNCTION sync_probe_internal.options_left(options text, others text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
RETURN (SELECT coalesce(string_agg(o.option, ',' ORDER BY o.n), 'none')
FROM string_to_table(options, ',') WITH ORDINALITY AS o (option, n)
WHERE o.option <> ALL (string_to_array(others, ','))
  AND o.option NOT IN ('ro', 'rw'));
END
$$;

--
-- Changes at a location since a run: "write cache was write back, is write
-- through".  Of mount options only those that differ.  Directory and device are left out: a
-- run at another directory or device is not a run of this location.  wal_sync_method counts as
-- unchanged if the advice of the run was followed, and while a trial runs.
--
CREATE FUNCTION sync_probe_internal.changes_since(
    run sync_probe.runs,
    measured sync_probe.measurements[],
    place sync_probe_internal.storage,
    followed boolean)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    method text := current_setting('wal_sync_method');
    is_minimal boolean := current_setting('wal_level') = 'minimal';
    margin float8 := current_setting('pg_sync_probe.margin');
    mounted text := run.storage ->> 'mount_options'; cache text := run.storage ->> 'write_cache';
    m sync_probe.measurements; other_level text;
BEGIN
    IF run.wal_sync_method <> method AND NOT followed THEN
        followed := EXISTS (SELECT FROM sync_probe.running AS r WHERE r.suite = 'trial');
    END IF;
    -- up to PostgreSQL 15 wal_level decides whether open_* methods use O_DIRECT
    IF current_setting('server_version_num')::integer < 160000 THEN
        FOREACH m IN ARRAY measured LOOP
            IF m.direct_io <> is_minimal
               AND (m.test = 'paced' AND m.method LIKE 'open%'
                    OR m.choice = 'current' AND run.wal_sync_method LIKE 'open%') THEN
                other_level := CASE WHEN is_minimal THEN 'not minimal' ELSE 'minimal' END;
            END IF;
        END LOOP;
    END IF;
    RETURN nullif(array_remove(ARRAY[
    CASE WHEN run.wal_sync_method <> method AND NOT followed
         THEN format('wal_sync_method was %s, is %s', run.wal_sync_method, method) END,
    -- off while it is on now; the other way round the advice itself is that fsync is off
    CASE WHEN NOT run.fsync AND current_setting('fsync') = 'on' THEN 'fsync was off, is on' END,
    'wal_level was ' || other_level || ', is ' || current_setting('wal_level'),
    -- a run stores six digits
    CASE WHEN abs(run.margin - margin) > '6e-7'
         THEN format('pg_sync_probe.margin was %s, is %s', run.margin, margin) END,
    CASE WHEN run.filesystem <> coalesce(place.filesystem, '')
         THEN format('file system was %s, is %s', run.filesystem,
                     coalesce(place.filesystem, 'unknown')) END,
    -- that of a ZFS pool is known to a probe alone
    CASE WHEN cache <> coalesce(place.write_cache, '') AND place.filesystem ~ 'zfs$' IS NOT TRUE
         THEN format('write cache was %s, is %s', cache,
                     coalesce(place.write_cache, 'unknown')) END,
    CASE WHEN mounted <> place.mount_options
         THEN nullif(format('mount options were %s, are %s',
                            sync_probe_internal.options_left(mounted, place.mount_options),
                            sync_probe_internal.options_left(place.mount_options, mounted)),
                     'mount options were none, are none')
         WHEN place.mount_options IS NULL
         THEN 'mount options were ' || nullif(mounted, '') || ', are unknown' END
    ], NULL), '{}');
END
$$;

--
-- The row of a run of the wal suite with that method, current or recommended, in the test that
-- decides.
--
CREATE FUNCTION sync_probe_internal.deciding_case(
    measured sync_probe.measurements[],
    of_method text)
RETURNS sync_probe.measurements
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    m sync_probe.measurements; deciding text;
BEGIN
FOREACH m IN ARRAY measured LOOP
    deciding := CASE WHEN m.verdict IS NOT NULL THEN m.test ELSE deciding END;
END LOOP;
FOREACH m IN ARRAY measured LOOP
    IF m.test = deciding AND m.method = of_method AND m.choice IS NOT NULL THEN
        RETURN m;
    END IF;
END LOOP;
RETURN NULL;
END
$$;

--
-- What a run of the wal suite means today for its location; null: there is none.  It takes rows,
-- because a run on a standby is not in the tables and has no run_id.  changes is the result of
-- changes_since(); was_followed: what the run recommends instead is the current value; tested is
-- that of power_tested(), which stands above what counters show.
--
CREATE TYPE sync_probe_internal.run_advice AS (
    verdict text, current_method text, recommended_method text, best_method text,
    max_regret double precision, flush_us double precision, durable text,
    basis text, run_id bigint, reason text);

CREATE FUNCTION sync_probe_internal.run_advice(
    of_location name,
    run sync_probe.runs,
    measured sync_probe.measurements[],
    changes text[],
    was_followed boolean,
    tested sync_probe.runs)
RETURNS sync_probe_internal.run_advice
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    synced boolean := current_setting('fsync')::boolean;
    used sync_probe.measurements :=
        sync_probe_internal.deciding_case(measured, run.recommended_value);
    lost boolean := coalesce(tested.durable = 'refuted', false);
    proof text := CASE WHEN tested.durable IS NOT NULL THEN
        format('%s by the power test of %s on %s (run %s): %s', tested.durable,
               tested.started_at::date, coalesce(tested.device, 'an unknown device'),
               tested.run_id, tested.reason) END;
    -- fsync = off is worse than anything that a run may have found
    verdict text := CASE WHEN NOT synced OR lost THEN 'unsafe'
                         WHEN run.suite IS NULL THEN 'not probed'
                         WHEN changes IS NOT NULL THEN 'outdated'
                         WHEN was_followed THEN 'keep'
                         ELSE run.verdict END;
    -- An outdated run has no advice, and if data are lost, no method is known to be better.
    advises boolean := verdict <> 'outdated' AND NOT lost;
BEGIN
RETURN (
    verdict,
    current_setting('wal_sync_method'),
    CASE WHEN advises THEN run.recommended_value END,
    CASE WHEN advises AND was_followed THEN run.recommended_value
         WHEN advises THEN run.best_value END,
    -- The bound is about the method that was current.
    CASE WHEN advises AND NOT was_followed THEN run.max_regret END,
    CASE WHEN advises THEN used.mean_us END,
    CASE WHEN NOT synced THEN 'no'
         ELSE coalesce(tested.durable, CASE WHEN advises AND was_followed THEN used.durable
                                            WHEN advises THEN run.durable END, 'unknown') END,
    run.suite,
    run.run_id,
    CASE WHEN NOT synced
         THEN 'fsync is off: this server syncs nothing; once it is on, run sync on the machine'
         WHEN lost THEN proof
         WHEN verdict = 'outdated'
         THEN format('run %s is outdated: %s', run.run_id, array_to_string(changes, '; '))
         WHEN was_followed
         THEN format('chosen instead of %s: %s', run.wal_sync_method, run.reason)
         WHEN run.verdict = 'switch' AND of_location <> 'pg_wal'
         THEN 'if the WAL were here: ' || run.reason
         ELSE nullif(concat_ws('; ', run.reason, proof), '') END
    )::sync_probe_internal.run_advice;
END
$$;

--
-- The runs that this server made; others mean nothing for it.  Whoever wants the newest one of a
-- location and a suite sorts by run_id + 0, as the index of runs does, and compares directory and
-- device as one array, where null equals null: with IS NOT DISTINCT FROM, and a device that no run
-- knows, the planner expects no row and sorts the whole history of the location.  A list of columns
-- would lack those that an update adds to the table.
--
CREATE VIEW sync_probe_internal.own_runs AS
SELECT r AS run
FROM sync_probe.runs AS r
WHERE r.imported_at IS NULL
  AND (r.system_identifier, r.host) = (SELECT s.system_identifier, s.host
                                       FROM sync_probe_internal.this_server() AS s);

-- segment_advice() and findings() read it with the rights of their callers.
GRANT SELECT ON sync_probe_internal.own_runs TO pg_monitor;

--
-- The runs that compared values of a setting on real commits at the place of the WAL, made by
-- this server, at its directory and device, and at the cluster's own pace and size: of each
-- sort the newest one, and the newest one that has decided.  A trial of the load of the
-- server's own sessions comes first, then one of a workload, then the commit suite.  holds: nothing
-- has changed since but that its advice was followed.  counts: it has decided, too.
--
CREATE FUNCTION sync_probe_internal.live_runs(place sync_probe_internal.storage, of_setting name)
RETURNS TABLE (
    rank integer,
    run sync_probe.runs,
    verdict text,
    current_value text,
    recommended_value text,
    followed boolean,
    holds boolean,
    counts boolean)
LANGUAGE sql STABLE PARALLEL RESTRICTED
ROWS 3
SET search_path = pg_catalog, pg_temp
AS $$
SELECT u.rank, r.run, r.verdict, r.current_value, v.recommended_value, f.followed,
       h.holds, h.holds AND w.decided
FROM (VALUES (1, 'trial', false), (2, 'trial', true), (3, 'commit', false))
         AS u (rank, suite, made),
     (VALUES (true), (false)) AS w (decided),
     LATERAL (
         SELECT r.run, c.verdict, c.method AS current_value
         FROM sync_probe_internal.own_runs AS r
         -- with the limit a run comes first; else the planner looks for such rows in the history
         CROSS JOIN LATERAL (SELECT m.verdict, m.method
                             FROM sync_probe.measurements AS m
                             WHERE m.run_id = (r.run).run_id AND m.test = of_setting
                               AND m.verdict IS NOT NULL
                             LIMIT 1) AS c
         WHERE (r.run).suite = u.suite AND (r.run).location = place.name
           AND ARRAY[(r.run).directory, (r.run).device] = ARRAY[place.directory, place.device]
           AND (r.run).usable_for_advice
           AND ((r.run).workload IS NOT NULL) = u.made
           AND (c.verdict IN ('switch', 'keep') OR NOT w.decided)
         ORDER BY (r.run).run_id + 0 DESC
         LIMIT 1) AS r,
     LATERAL (SELECT coalesce((SELECT m.method FROM sync_probe.measurements AS m
                               WHERE m.run_id = (r.run).run_id AND m.test = of_setting
                                 AND m.choice = 'recommended'),
                              r.current_value)) AS v (recommended_value),
     LATERAL (SELECT coalesce(r.verdict = 'switch' AND v.recommended_value <> r.current_value
                              AND v.recommended_value = current_setting(of_setting), false)
             ) AS f (followed),
     LATERAL (SELECT sync_probe_internal.changes_since(r.run,
                         ARRAY(SELECT m FROM sync_probe.measurements AS m
                               WHERE m.run_id = (r.run).run_id),
                         place, f.followed AND of_setting = 'wal_sync_method') IS NULL
             ) AS h (holds)
$$;

--
-- The result of live_runs() for wal_sync_method: the first one that counts, and the newest one that
-- holds; and for commit_delay.  compared: the methods of the first one.  Commands are null where
-- nothing is to change, or a longer run decides nothing; delay_reason goes with delay_commands.
--
CREATE FUNCTION sync_probe_internal.live_advice(
    place sync_probe_internal.storage,
    OUT verdict text,
    OUT recommended_method text,
    OUT max_regret double precision,
    OUT basis text,
    OUT run_id bigint,
    OUT compared text[],
    OUT reason text,
    OUT commands text[],
    OUT newest_run_id bigint,
    OUT newest_verdict text,
    OUT newest_reason text,
    OUT newest_command text,
    OUT delay_commands text[],
    OUT delay_reason text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    WITH live AS MATERIALIZED (
        SELECT l.*, (l.run).run_id AS run_id
        FROM sync_probe_internal.live_runs(place, 'wal_sync_method') AS l
    )
    SELECT CASE WHEN d.followed THEN 'keep' ELSE d.verdict END,
           d.recommended_value,
           CASE WHEN NOT d.followed THEN (d.run).max_regret END,
           (d.run).suite, d.run_id,
           ARRAY(SELECT m.method
                 FROM sync_probe.measurements AS m
                 WHERE m.run_id = d.run_id AND m.test = 'wal_sync_method' AND m.status = 'ok'),
           CASE WHEN d.followed THEN format('chosen instead of %s: ', d.current_value)
                ELSE '' END || (d.run).reason,
           CASE WHEN d.verdict = 'switch' AND NOT d.followed
                THEN sync_probe_internal.change_commands(
                         current_setting('wal_sync_method'), d.recommended_value) END,
           n.run_id, n.verdict, (n.run).reason,
           CASE WHEN n.verdict = 'undecided' THEN sync_probe_internal.longer_command(n.run) END
    INTO verdict, recommended_method, max_regret, basis, run_id, compared, reason, commands,
         newest_run_id, newest_verdict, newest_reason, newest_command
    FROM (SELECT l.* FROM live AS l WHERE l.holds ORDER BY l.run_id DESC LIMIT 1) AS n
    LEFT JOIN (SELECT l.* FROM live AS l WHERE l.counts ORDER BY l.rank LIMIT 1) AS d ON true;
    -- nothing once commit_delay has another value than the current one or the advised one
    SELECT ARRAY[format('ALTER SYSTEM SET commit_delay = %s', d.advised),
                 'SELECT pg_catalog.pg_reload_conf()'],
           format('Run %s, on real commits: commit_delay = %s instead of %s, %s', (d.run).run_id,
                  d.advised, d.now, (d.run).reason)
    INTO delay_commands, delay_reason
    FROM (SELECT l.run, v.*
          FROM sync_probe_internal.live_runs(place, 'commit_delay') AS l,
               -- a value of the history may be anything
               LATERAL (SELECT substring(l.recommended_value FROM '^[0-9]{1,6}$')::integer,
                               substring(l.current_value FROM '^[0-9]{1,6}$')::integer,
                               current_setting('commit_delay')::integer) AS v (advised, before, now)
          WHERE l.counts AND v.now IN (v.advised, v.before)
          ORDER BY l.rank LIMIT 1) AS d
    WHERE d.advised <> d.now;
END
$$;
