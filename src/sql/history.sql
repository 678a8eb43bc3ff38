--
-- What is different since the run before, one element each: what it is, and how it was and is.
-- What is unknown of one of them is no change, but a device or a host that is no longer known
-- is.  Flushes differ by the pages that they write; paces by more than a factor of two.
-- Words are made only of what differs: these calls were most of the time of history().
--
CREATE FUNCTION sync_probe_internal.changes_between(before sync_probe.runs, run sync_probe.runs)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT array_agg(format('%s: %s -> %s', c.what, coalesce(c.old, 'unknown'),
                        coalesce(c.new, 'unknown')) ORDER BY c.n)
FROM (VALUES
    (1, 'host', before.host, run.host, true),
    (2, 'directory', before.directory, run.directory, true),
    (3, 'device', before.device, run.device, true),
    (4, 'file system', before.filesystem, run.filesystem, true),
    (5, 'mount options',
        CASE WHEN before.storage -> 'mount_options' <> run.storage -> 'mount_options'
             THEN sync_probe_internal.options_left(before.storage ->> 'mount_options',
                                                   run.storage ->> 'mount_options') END,
        CASE WHEN before.storage -> 'mount_options' <> run.storage -> 'mount_options'
             THEN sync_probe_internal.options_left(run.storage ->> 'mount_options',
                                                   before.storage ->> 'mount_options') END, false),
    (6, 'write cache', before.storage ->> 'write_cache', run.storage ->> 'write_cache', true),
    (7, 'kernel', before.storage ->> 'kernel', run.storage ->> 'kernel', false),
    (8, 'server version',
        before.server_version_num / 10000 || '.' || before.server_version_num % 10000,
        run.server_version_num / 10000 || '.' || run.server_version_num % 10000, false),
    (9, 'wal_sync_method', before.wal_sync_method, run.wal_sync_method, false),
    (10, 'flush size',
        CASE WHEN (before.flush_size::bigint - 1) / 8192 <> (run.flush_size::bigint - 1) / 8192
             THEN before.flush_size || ' bytes' END, run.flush_size || ' bytes', false),
    (11, 'flush interval',
        CASE WHEN before.flush_interval / 2 > run.flush_interval
                  OR before.flush_interval < run.flush_interval / 2
             THEN sync_probe_internal.milliseconds(before.flush_interval) END,
        CASE WHEN before.flush_interval <> run.flush_interval
             THEN sync_probe_internal.milliseconds(run.flush_interval) END, false)
) AS c (n, what, old, new, or_unknown)
WHERE CASE WHEN c.or_unknown THEN c.old IS DISTINCT FROM c.new ELSE c.old <> c.new END
$$;

--
-- How much longer a paced flush takes with the method of a run than with that of the run before: of
-- the medians of the samples, each with the interval that is due to one of two runs, as compare()
-- takes them; of the means where one has no samples.
--
CREATE FUNCTION sync_probe_internal.paced_ratio(
    before bigint,
    before_method text,
    run bigint,
    method text,
    OUT ratio numeric,
    OUT low numeric,
    OUT high numeric)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH paced AS (
    SELECT w.n, m.mean_us, i.median, i.low, i.high
    FROM (VALUES (1, before, before_method), (2, run, method)) AS w (n, run_id, method)
    JOIN sync_probe.measurements AS m USING (run_id, method)
    LEFT JOIN sync_probe_internal.samples AS s USING (run_id, ordinal)
    LEFT JOIN LATERAL sync_probe_internal.median_interval(s.round_mean_us, 0.025) AS i ON true
    WHERE m.test = 'paced'
)
SELECT round((CASE WHEN num_nulls(t.median, n.median) = 0
                   THEN n.median / nullif(t.median, 0)
                   ELSE n.mean_us / nullif(t.mean_us, 0) END)::numeric, 3),
       round((n.low / nullif(t.high, 0))::numeric, 3),
       round((n.high / nullif(t.low, 0))::numeric, 3)
FROM paced AS t, paced AS n
WHERE t.n = 1 AND n.n = 2
LIMIT 1
$$;

--
-- history
--
-- The runs of a location in the order in which they were made, and what changed between them.
--
-- A location without a run must exist.  The error is that of probe().
--
CREATE FUNCTION sync_probe.history(location name DEFAULT 'pg_wal')
RETURNS TABLE (
    finished_at timestamptz,
    run_id bigint,
    method text,
    p50_us double precision,
    p99_us double precision,
    bar text,
    ratio double precision,
    ratio_low double precision,
    ratio_high double precision,
    changes text,
    sentence text,
    label text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET jit = off -- many columns look costly enough to compile, which takes longer than the query
AS $$
DECLARE
    least_change double precision;
BEGIN
    PERFORM sync_probe_internal.require_monitor('history()');
    IF location IS NULL THEN
        RAISE EXCEPTION 'argument "location" must not be null'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'See SELECT name FROM sync_probe.locations.';
    END IF;
    -- this call loads the library, which knows the setting
    PERFORM sync_probe_internal.this_server();
    least_change := current_setting('pg_sync_probe.margin');
    RETURN QUERY
        WITH own AS (
            -- before: the last run whose median has an interval, see paced_ratio()
            SELECT r AS run, m AS measured,
                   max(r.run_id) FILTER (WHERE m.ops >= 7)
                       OVER (ORDER BY r.run_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
                       AS before
            FROM sync_probe_internal.this_server() AS s
            JOIN sync_probe.runs AS r USING (system_identifier)
            LEFT JOIN sync_probe.measurements AS m
                ON m.run_id = r.run_id AND m.test = 'paced' AND m.method = r.wal_sync_method
            WHERE r.suite = 'wal' AND r.location = history.location AND r.imported_at IS NULL
        )
        SELECT date_trunc('second', (o.run).finished_at), (o.run).run_id,
               (o.run).wal_sync_method, (o.measured).p50_us, (o.measured).p99_us,
               sync_probe.bar((o.measured).p50_us
                              / nullif(max((o.measured).p50_us) OVER (), 0), 20),
               r.ratio::float8, r.low::float8, r.high::float8,
               array_to_string(c.changes, '; '),
               nullif(concat_ws('; ',
                   CASE WHEN r.low > 1 + least_change OR r.high < 1 / (1 + least_change)
                        THEN (
                       -- The same method took longer or less time.  A change of wal_sync_method
                       -- is none that it could feel.  Size and interval of flushes are observed
                       -- and follow the load: they cause nothing.
                       SELECT format('since %s changed (%s%s), %s takes %s times as long%s',
                                     string_agg('the ' || split_part(x.change, ': ', 1), ' and '
                                                ORDER BY x.n),
                                     CASE WHEN d.first = d.last THEN 'on '
                                          ELSE format('between %s and ', d.first) END,
                                     d.last, (o.run).wal_sync_method, round(r.ratio, 2),
                                     ' (' || round(r.low, 2) || ' to ' || round(r.high, 2) || ')')
                       FROM unnest(c.changes) WITH ORDINALITY AS x (change, n),
                            LATERAL (SELECT to_char(b.finished_at, 'YYYY-MM-DD'),
                                            to_char((o.run).finished_at, 'YYYY-MM-DD')
                                    ) AS d (first, last)
                       WHERE split_part(x.change, ': ', 1)
                             NOT IN ('wal_sync_method', 'flush size', 'flush interval')
                       GROUP BY d.first, d.last) END,
                   -- what a change of wal_sync_method did, by the run after it, which measured both
                   (SELECT format('%s takes %s times as long as %s did (%sby run %s)',
                                  (o.run).wal_sync_method, round(m.relative_speed::numeric, 2),
                                  m.method,
                                  round(m.relative_speed_low::numeric, 2) || ' to '
                                      || round(m.relative_speed_high::numeric, 2) || ', ',
                                  m.run_id)
                    FROM sync_probe.measurements AS m
                    WHERE m.run_id = (o.run).run_id AND m.test = 'paced'
                      AND m.method = b.wal_sync_method AND m.method <> (o.run).wal_sync_method
                      AND (m.relative_speed_low > 1 + least_change
                           OR m.relative_speed_high < 1 / (1 + least_change))
                    LIMIT 1),
                   CASE WHEN (o.measured).durable = 'no'
                        THEN format('syncs with %s do not reach the device',
                                    (o.run).wal_sync_method) END), ''),
               (o.run).label
        FROM own AS o
        LEFT JOIN sync_probe.runs AS b ON b.run_id = o.before
        LEFT JOIN LATERAL sync_probe_internal.paced_ratio(o.before, (o.run).wal_sync_method,
            (o.run).run_id, (o.run).wal_sync_method) AS r ON true
        LEFT JOIN LATERAL (
            SELECT sync_probe_internal.changes_between(b, o.run)
            WHERE b.run_id IS NOT NULL) AS c (changes) ON true
        ORDER BY (o.run).run_id;
    IF NOT FOUND THEN
        PERFORM sync_probe_internal.examine_locations(history.location);
    END IF;
END
$$;

COMMENT ON FUNCTION sync_probe.history IS
  'Runs of suite wal of this cluster at a location, newest last: time of a paced flush, ratio to '
  'the same method in the run before (2: twice as long), changes since then, and a sentence '
  'if the time changed with them, other than with the pace, by more than the margin. Requires '
  'pg_monitor';
