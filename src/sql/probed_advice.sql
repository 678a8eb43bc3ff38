--
-- sync_probe_internal.probe_command
--
-- The statement that probes a location.  A null argument stands for the default.
--
CREATE FUNCTION sync_probe_internal.probe_command(
    location name,
    duration interval DEFAULT NULL,
    duty_cycle double precision DEFAULT NULL,
    stop_early boolean DEFAULT NULL)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('SELECT * FROM sync_probe.probe(%s)', concat_ws(', ',
           CASE WHEN location <> 'pg_wal' THEN quote_literal(location) END,
           'duration => ' || quote_literal(trim_scale(extract(epoch FROM duration)) || ' s'),
           'duty_cycle => ' || nullif(duty_cycle, 1),
           'stop_early => ' || nullif(stop_early, true)))
$$;

COMMENT ON FUNCTION sync_probe_internal.probe_command(name, interval, double precision,
  boolean) IS
  'The statement that probes a location';

--
-- sync_probe_internal.options_left
--
-- The options of a list that another list lacks, in their order; "none" if there are none.
-- Whether the mount can be written to changes no measurement, and has a finding of its own.
--
CREATE FUNCTION sync_probe_internal.options_left(options text, others text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(string_agg(o.option, ',' ORDER BY o.n), 'none')
FROM string_to_table(options, ',') WITH ORDINALITY AS o (option, n)
WHERE o.option <> ALL (string_to_array(others, ','))
  AND o.option NOT IN ('ro', 'rw')
$$;

COMMENT ON FUNCTION sync_probe_internal.options_left(text, text) IS
  'The options of a list that another list lacks';

--
-- sync_probe_internal.changes_since
--
-- What has changed at a location since a run: "write cache was write back, is write
-- through".  Of mount options only those that differ.  Directory and device are left out: a
-- run at another directory or device is not a run of this location.
--
CREATE FUNCTION sync_probe_internal.changes_since(
    run sync_probe.runs,
    place sync_probe.locations)
RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT array_agg(format(c.words, c.before, coalesce(c.now, 'unknown')) ORDER BY c.n)
FROM (VALUES
    (1, 'wal_sync_method was %s, is %s', run.wal_sync_method,
        CASE WHEN place.holds_wal THEN current_setting('wal_sync_method')
             ELSE run.wal_sync_method END),
    (2, 'file system was %s, is %s', run.filesystem, place.filesystem),
    (3, 'write cache was %s, is %s', run.write_cache, place.write_cache),
    (4, 'mount options were %s, are %s',
        coalesce(sync_probe_internal.options_left(run.storage ->> 'mount_options',
                                                  place.mount_options),
                 run.storage ->> 'mount_options'),
        sync_probe_internal.options_left(place.mount_options, run.storage ->> 'mount_options'))
) AS c (n, words, before, now)
WHERE c.before <> coalesce(c.now, '')
$$;

COMMENT ON FUNCTION sync_probe_internal.changes_since(sync_probe.runs, sync_probe.locations) IS
  'What has changed at a location since a run; null if nothing has';

--
-- sync_probe_internal.recommend
--
-- The recommendation from the measurements of one run of the wal suite.  It takes rows
-- and not a run_id, because a run on a standby is not in the tables.  The argument changes
-- is the result of changes_since().  The column durable is about the current method.
-- elsewhere: a run of another server, or imported; settings of this server then mean nothing,
-- and no command follows.
--
CREATE FUNCTION sync_probe_internal.recommend(
    run sync_probe.runs,
    measured sync_probe.measurements[],
    changes text[],
    elsewhere boolean DEFAULT false)
RETURNS TABLE (
    location name,
    holds_wal boolean,
    verdict text,
    current_method text,
    recommended_method text,
    best_method text,
    loss_bound double precision,
    deciding_test text,
    paced_flush_us double precision,
    paced_speed double precision,
    paced_speed_low double precision,
    paced_speed_high double precision,
    saturated_flush_us double precision,
    saturated_speed double precision,
    saturated_speed_low double precision,
    saturated_speed_high double precision,
    recommended_commit_delay integer,
    durable text,
    basis text,
    run_id bigint,
    measured_at timestamptz,
    outdated boolean,
    reason text,
    commands text[])
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 1 -- the default of 1,000 makes queries look costly enough for JIT compilation
SET search_path = pg_catalog, pg_temp
AS $$
WITH method AS (
    -- The O_DIRECT variants are saturated rows without a paced one.
    SELECT p.ordinal, p.method, p.mean_us AS paced_us, s.mean_us AS saturated_us,
           p.relative_speed AS ps, p.relative_speed_low AS pl, p.relative_speed_high AS ph,
           s.relative_speed AS ss, s.relative_speed_low AS sl, s.relative_speed_high AS sh,
           p.rounds AS pn, p.slow_rounds AS pt, s.rounds AS sn, s.slow_rounds AS st,
           sync_probe_internal.method_durable(run.storage, p, s) AS durable
    FROM unnest(measured) AS p
    JOIN unnest(measured) AS s ON s.method = p.method AND s.direct_io = p.direct_io
    WHERE p.test = 'paced' AND s.test = 'saturated'
), judged AS (
    SELECT v.*, a.compared
    FROM (SELECT array_agg(m.method ORDER BY m.ordinal) AS method,
                 array_agg(ps ORDER BY ordinal) AS ps, array_agg(pl ORDER BY ordinal) AS pl,
                 array_agg(ph ORDER BY ordinal) AS ph, array_agg(ss ORDER BY ordinal) AS ss,
                 array_agg(sl ORDER BY ordinal) AS sl, array_agg(sh ORDER BY ordinal) AS sh,
                 array_agg(pn ORDER BY ordinal) AS pn, array_agg(pt ORDER BY ordinal) AS pt,
                 array_agg(sn ORDER BY ordinal) AS sn, array_agg(st ORDER BY ordinal) AS st,
                 array_agg(m.durable ORDER BY ordinal) AS durable,
                 max(m.saturated_us) FILTER (WHERE m.method = run.wal_sync_method) AS flush_us,
                 count(m.ps) > 1 AS compared
          FROM method AS m) AS a,
         LATERAL (SELECT extract(epoch FROM CASE run.flush_interval_source
                                            WHEN 'argument' THEN run.flush_interval
                                            ELSE run.observed_flush_interval END) * 1e6,
                         extract(epoch FROM run.achieved_flush_interval) * 1e6
                 ) AS i (cluster_us, paced_us),
         LATERAL sync_probe_internal.verdict(run.wal_sync_method, a.method,
             a.ps, a.pl, a.ph, a.ss, a.sl, a.sh, a.pn, a.pt, a.sn, a.st, a.durable,
             coalesce(i.cluster_us, 'NaN'), coalesce(i.paced_us, 'NaN'),
             coalesce(a.flush_us, 'NaN')) AS v
), advice AS (
    SELECT run.location = 'pg_wal' AS holds_wal, n.fsync,
           j.verdict, j.recommended_method, j.best_method, j.loss_bound, j.deciding_test,
           j.reason, j.times_as_long, j.compared,
           coalesce(c.durable, 'unknown') AS durable,
           coalesce(m.durable, 'unknown') AS recommended_durable, m.paced_us, m.saturated_us,
           j.verdict IN ('switch', 'unsafe') AS change,
           coalesce(j.recommended_method = n.method, false) AS done,
           w.ps, w.pl, w.ph, w.ss, w.sl, w.sh
    FROM judged AS j
    CROSS JOIN (SELECT elsewhere OR current_setting('fsync')::boolean,
                       CASE WHEN elsewhere THEN run.wal_sync_method
                            ELSE current_setting('wal_sync_method') END) AS n (fsync, method)
    LEFT JOIN method AS c ON c.method = run.wal_sync_method
    LEFT JOIN method AS m ON m.method = j.recommended_method
    -- The speed of the current method is 1 by definition, and not shown; nor is that of a
    -- method which has become the current one since.
    LEFT JOIN method AS w
        ON w.method = j.recommended_method AND w.method <> run.wal_sync_method
        AND w.method <> n.method
), timely AS (
    SELECT a.*, a.change AND a.done AS followed,
           -- A change of wal_sync_method that follows the advice does not make it outdated.
           nullif(ARRAY(SELECT c FROM unnest(changes) AS c
                        WHERE NOT (a.change AND a.done AND starts_with(c, 'wal_sync_method '))),
                  '{}') AS since,
           -- As long as the reason says, if it names a number, to the end, and as gently.
           sync_probe_internal.probe_command(run.location, l.duration, run.duty_cycle,
               CASE WHEN a.verdict = 'undecided' THEN false END) AS longer,
           l.duration > run.requested_duration
           OR (run.stop_early AND a.verdict = 'undecided') AS may_settle
    FROM advice AS a,
         LATERAL (SELECT least(date_trunc('second',
                                          greatest(run.duration
                                                   * least(coalesce(a.times_as_long, 3), 20),
                                                   '15 s')),
                               coalesce(current_setting('pg_sync_probe.max_duration', true),
                                        '10 min')::interval)) AS l (duration)
)
SELECT run.location, t.holds_wal,
       -- Advice that was followed: the recommended method is the current one, and stays.
       CASE WHEN NOT t.fsync THEN 'unsafe' WHEN t.followed THEN 'keep' ELSE t.verdict END,
       CASE WHEN t.followed THEN t.recommended_method ELSE run.wal_sync_method END,
       t.recommended_method,
       -- The bound is about the method that was current.
       CASE WHEN t.followed THEN t.recommended_method ELSE t.best_method END,
       CASE WHEN NOT t.followed THEN t.loss_bound END, t.deciding_test,
       t.paced_us, t.ps, t.pl, t.ph,
       t.saturated_us, t.ss, t.sl, t.sh,
       -- Half the time of a flush, as the manual advises for pg_test_fsync's
       -- figure ("WAL Configuration").
       round(t.saturated_us / 2)::integer,
       CASE WHEN NOT t.fsync THEN 'no' WHEN t.followed THEN t.recommended_durable
            ELSE t.durable END,
       'wal', run.run_id, run.finished_at, t.since IS NOT NULL,
       concat_ws('; ',
           CASE WHEN NOT t.fsync THEN 'fsync is off: this server syncs nothing' END,
           CASE WHEN t.followed THEN format('chosen instead of %s: ', run.wal_sync_method)
                WHEN t.change AND NOT t.holds_wal THEN 'if the WAL were here: ' ELSE '' END
               || t.reason
               || CASE WHEN t.verdict = 'unsafe' AND run.storage ? 'syncs_nothing'
                       THEN format(' (%s)', run.storage ->> 'syncs_nothing') ELSE '' END,
           'but ' || array_to_string(t.since, ', ') || ': probe again'),
       -- wal_sync_method is one setting of the whole cluster, and acts on pg_wal alone.
       CASE WHEN elsewhere THEN NULL
            WHEN t.holds_wal AND NOT t.fsync
            THEN ARRAY['ALTER SYSTEM SET fsync = on', 'SELECT pg_reload_conf()']
            WHEN t.since IS NOT NULL
            THEN ARRAY[sync_probe_internal.probe_command(run.location)]
            WHEN t.change AND t.holds_wal AND NOT t.done AND t.recommended_method IS NOT NULL
            THEN sync_probe_internal.change_commands(current_setting('wal_sync_method'),
                                                     t.recommended_method)
            -- A tie after 15 s is settled.
            WHEN t.compared AND t.may_settle
                 AND (t.verdict = 'undecided'
                      OR t.verdict = 'tie' AND run.requested_duration < '15 s')
            THEN ARRAY[t.longer] END
FROM timely AS t
$$;

COMMENT ON FUNCTION sync_probe_internal.recommend(sync_probe.runs, sync_probe.measurements[],
  text[], boolean) IS
  'Recommendation from the measurements of one run of the wal suite';

--
-- sync_probe_internal.newest_runs
--
-- For each location the run that its advice rests on: the newest run that is usable for
-- advice and was made by this server, at the directory and on the device that the location
-- has now.  Column run is null if there is no such run.
--
CREATE VIEW sync_probe_internal.newest_runs AS
SELECT l.name AS location, l AS place, r.run
FROM sync_probe.locations AS l
CROSS JOIN sync_probe_internal.this_server() AS s
LEFT JOIN LATERAL (
    -- The row comparison makes an index range.  With "=" or max() the planner walks the
    -- primary key down to the first run that matches, and if none does, through the
    -- whole history.
    SELECT r AS run
    FROM sync_probe.runs AS r
    WHERE (r.location, r.suite, r.system_identifier, r.host)
              >= (l.name, 'wal', s.system_identifier, s.host)
      AND (r.location, r.suite, r.system_identifier, r.host)
              <= (l.name, 'wal', s.system_identifier, s.host)
      AND r.usable_for_advice
      AND r.directory IS NOT DISTINCT FROM l.directory
      AND r.device IS NOT DISTINCT FROM l.device
    ORDER BY r.location, r.suite, r.system_identifier, r.host, r.run_id DESC
    LIMIT 1) AS r ON true;

-- findings() reads it with the rights of its caller.
GRANT SELECT ON sync_probe_internal.newest_runs TO pg_monitor;

COMMENT ON VIEW sync_probe_internal.newest_runs IS
  'The run that the advice on each location rests on';

--
-- sync_probe_internal.passed_over_runs
--
-- The newest run of the wal suite of each location, if its advice does not rest on that
-- run, and the reason.  Who imports a run does not expect advice from it.
--
CREATE VIEW sync_probe_internal.passed_over_runs AS
SELECT n.location, r.run_id, r.finished_at,
       concat_ws(', ',
           CASE WHEN r.source <> 'probe' THEN format('it comes from %s', r.source) END,
           CASE WHEN r.system_identifier IS DISTINCT FROM s.system_identifier
                THEN 'another cluster made it'
                WHEN r.host IS DISTINCT FROM s.host
                THEN format('host %s made it', coalesce(r.host, 'unknown')) END,
           CASE WHEN r.directory IS DISTINCT FROM (n.place).directory
                THEN format('its directory was %s', coalesce(r.directory, 'unknown')) END,
           CASE WHEN r.device IS DISTINCT FROM (n.place).device
                THEN format('its device was %s', coalesce(r.device, 'unknown')) END,
           CASE WHEN r.flush_size_source = 'argument' THEN 'flush_size was given' END,
           CASE WHEN r.flush_interval_source = 'argument' THEN 'flush_interval was given' END,
           CASE WHEN NOT coalesce(least(r.paced_entries, r.saturated_rounds) >= 16, false)
                THEN format('it has %s paced %s and %s saturated %s, 16 are needed',
                            coalesce(r.paced_entries, 0),
                            CASE r.paced_entries WHEN 1 THEN 'entry' ELSE 'entries' END,
                            coalesce(r.saturated_rounds, 0),
                            CASE r.saturated_rounds WHEN 1 THEN 'round' ELSE 'rounds' END) END
       ) AS why
FROM sync_probe_internal.newest_runs AS n
CROSS JOIN sync_probe_internal.this_server() AS s
JOIN LATERAL (
    SELECT r.*
    FROM sync_probe.runs AS r
    WHERE (r.location, r.suite) >= (n.location, 'wal')
      AND (r.location, r.suite) <= (n.location, 'wal')
      AND r.imported_at IS NULL
    ORDER BY r.location, r.suite, r.run_id DESC
    LIMIT 1) AS r ON r.run_id IS DISTINCT FROM (n.run).run_id;

-- findings() reads it with the rights of its caller.
GRANT SELECT ON sync_probe_internal.passed_over_runs TO pg_monitor;

COMMENT ON VIEW sync_probe_internal.passed_over_runs IS
  'The newest run of each location if its advice does not rest on that run, and the reason';

--
-- sync_probe_internal.probed_advice
--
-- The recommendation for each location by its probes.  A location without a run has a row
-- if it holds the WAL, or if no location on its file system has a run.
--
CREATE VIEW sync_probe_internal.probed_advice AS
WITH place AS MATERIALIZED (
    SELECT n.location, n.place, n.run,
           bool_or((n.run).run_id IS NOT NULL) OVER
               (PARTITION BY coalesce((n.place).shares_filesystem_with, n.location))
               AS filesystem_probed
    FROM sync_probe_internal.newest_runs AS n
)
SELECT p.place, a.*
FROM place AS p,
     LATERAL sync_probe_internal.recommend(p.run,
         ARRAY(SELECT m FROM sync_probe.measurements AS m WHERE m.run_id = (p.run).run_id),
         sync_probe_internal.changes_since(p.run, p.place)) AS a
WHERE (p.run).run_id IS NOT NULL
UNION ALL
SELECT p.place, p.location, (p.place).holds_wal,
       CASE WHEN s.fsync THEN 'not probed' ELSE 'unsafe' END,
       current_setting('wal_sync_method'),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       CASE WHEN s.fsync THEN 'unknown' ELSE 'no' END,
       NULL, NULL, NULL, NULL,
       concat_ws('; ',
           CASE WHEN NOT s.fsync THEN 'fsync is off: this server syncs nothing' END,
           CASE WHEN o.run_id IS NULL THEN 'never probed'
                ELSE format('run %s does not count: %s', o.run_id, o.why) END),
       CASE WHEN NOT s.fsync AND (p.place).holds_wal
            THEN ARRAY['ALTER SYSTEM SET fsync = on', 'SELECT pg_reload_conf()']
            ELSE ARRAY[sync_probe_internal.probe_command(p.location) COLLATE "default"] END
FROM place AS p
CROSS JOIN (SELECT current_setting('fsync')::boolean) AS s (fsync)
LEFT JOIN sync_probe_internal.passed_over_runs AS o USING (location)
WHERE (p.run).run_id IS NULL
  AND ((p.place).holds_wal
       OR ((p.place).shares_filesystem_with IS NULL AND NOT p.filesystem_probed));

COMMENT ON VIEW sync_probe_internal.probed_advice IS
  'The recommendation for each location by its probes';

