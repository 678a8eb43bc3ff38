--
-- The median of an array, and the ends of its exact interval: order statistics that enclose
-- the median with probability 1 - alpha (see src/engine/verdict/interval.h).  Null elements
-- are left out; too few have no interval.
--
CREATE FUNCTION sync_probe_internal.median_interval(
    samples double precision[],
    alpha double precision,
    OUT median double precision,
    OUT low double precision,
    OUT high double precision)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_median_interval';

--
-- A duration in words, whatever IntervalStyle is.
--
CREATE FUNCTION sync_probe_internal.milliseconds(duration interval)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT trim_scale(extract(epoch FROM duration) * 1000) || ' ms'
$$;

--
-- An error unless all of these runs exist; and, if there is a limit, unless they are one or
-- more, at most so many, and each named once.
--
CREATE FUNCTION sync_probe_internal.require_runs(run_ids bigint[], most integer DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong text;
BEGIN
    wrong := CASE WHEN most IS NULL THEN NULL
                  WHEN run_ids IS NULL THEN 'argument "run_ids" must not be null'
                  WHEN cardinality(run_ids) = 0 THEN 'argument "run_ids" must name a run'
                  WHEN cardinality(run_ids) > most
                  THEN format('argument "run_ids" names %s runs, at most %s are allowed',
                              cardinality(run_ids), most) END;
    IF wrong IS NULL THEN
        SELECT CASE WHEN i.run_id IS NULL THEN 'argument "run_ids" must not contain null'
                    WHEN r.run_id IS NULL THEN format('run %s does not exist', i.run_id)
                    ELSE format('argument "run_ids" names run %s twice', i.run_id) END
        INTO wrong
        FROM (SELECT u.run_id, u.n, row_number() OVER (PARTITION BY u.run_id ORDER BY u.n) AS nth
              FROM unnest(run_ids) WITH ORDINALITY AS u (run_id, n)) AS i
        LEFT JOIN sync_probe.runs AS r ON r.run_id = i.run_id
        WHERE r.run_id IS NULL OR (i.nth > 1 AND most IS NOT NULL)
        ORDER BY i.n LIMIT 1;
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value', MESSAGE = wrong,
            HINT = 'See SELECT run_id, label, location, suite, finished_at FROM sync_probe.runs.';
    END IF;
END
$$;

--
-- An error unless the caller may read these tables, and the run exists and is of this suite.
--
CREATE FUNCTION sync_probe_internal.require_run(
    caller text, run_id bigint, tables regclass[], suite text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sync_probe_internal.require_monitor(caller, tables);
    IF run_id IS NULL THEN
        RAISE invalid_parameter_value USING MESSAGE = 'argument "run_id" must not be null',
            HINT = 'See SELECT run_id, label, location, suite, finished_at FROM sync_probe.runs.';
    END IF;
    PERFORM sync_probe_internal.require_runs(ARRAY[run_id]);
    IF (SELECT r.suite FROM sync_probe.runs AS r WHERE r.run_id = require_run.run_id) <> suite THEN
        RAISE EXCEPTION 'run % is not of suite "%"', run_id, suite
            USING ERRCODE = 'invalid_parameter_value', HINT = format(
                'See SELECT run_id FROM sync_probe.runs WHERE suite = %L.', suite);
    END IF;
END
$$;

--
-- What makes a test case of a run another measurement than that of the first run, in words;
-- null if nothing known does.  What is unknown of both is no difference.  Neither is another device
-- or file system of one machine: that is what a comparison of locations is about.
--
CREATE FUNCTION sync_probe_internal.differences(
    first_run sync_probe.runs,
    first_case sync_probe.measurements,
    run sync_probe.runs,
    measured sync_probe.measurements)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT nullif(concat_ws('; ',
    CASE WHEN run.suite <> first_run.suite
         THEN format('suite %s, not %s', run.suite, first_run.suite) END,
    CASE WHEN run.host IS DISTINCT FROM first_run.host
         THEN coalesce(format('host %s, not ', coalesce(run.host, 'unknown')) || first_run.host,
                       'host of the first run unknown')
         WHEN run.system_identifier IS DISTINCT FROM first_run.system_identifier
         THEN 'another cluster' END,
    -- of a flush, the pages that it writes
    CASE WHEN CASE run.suite WHEN 'pg_test_fsync'
                   THEN measured.test <> 'open_sync_sizes'
                        AND run.flush_size IS DISTINCT FROM first_run.flush_size
                   ELSE (run.flush_size::bigint - 1) / 8192
                        <> (first_run.flush_size::bigint - 1) / 8192 END
         THEN format('flushes of %s bytes, not %s', coalesce(run.flush_size::text, 'unknown'),
                     coalesce(first_run.flush_size::text, 'unknown')) END,
    CASE WHEN measured.direct_io <> first_case.direct_io
         THEN CASE WHEN measured.direct_io THEN 'with O_DIRECT' ELSE 'without O_DIRECT' END END,
    -- other tests flush back to back
    CASE WHEN (measured.test = 'paced' OR run.suite = 'commit')
              AND (num_nulls(run.flush_interval, first_run.flush_interval) = 1
                   OR run.flush_interval / 2 > first_run.flush_interval
                   OR run.flush_interval < first_run.flush_interval / 2)
         THEN format('flush interval %s, not %s',
                     coalesce(sync_probe_internal.milliseconds(run.flush_interval), 'none'),
                     coalesce(sync_probe_internal.milliseconds(first_run.flush_interval),
                              'none')) END,
    CASE WHEN run.workers <> first_run.workers
         THEN format('workers: %s, not %s', run.workers, first_run.workers) END,
    CASE WHEN run.workload IS DISTINCT FROM first_run.workload
         THEN format('load of %s, not %s', coalesce(run.workload, 'its own sessions'),
                     coalesce(first_run.workload, 'its own sessions')) END,
    -- another setting was compared while syncs were done with one method
    CASE WHEN run.suite IN ('commit', 'trial') AND measured.test <> 'wal_sync_method'
              AND run.wal_sync_method <> first_run.wal_sync_method
         THEN format('%s, not %s', run.wal_sync_method, first_run.wal_sync_method) END), '')
$$;

--
-- compare
--
-- Test cases of several runs side by side, in long form for psql's \crosstabview.
--
-- Runs are in the order of the array, each with a short name of its own: its label, else "run 7".
-- If two names are equal, the number of each run is part of its name.
--
-- Names of test cases are unique within a test of a run: the method, and where that is not unique,
-- what distinguishes them.
--
-- value_us is the median of the samples, as in a verdict, where all of the runs have samples
-- of the case.  It is the mean of all operations where one has none, since a mean and a
-- median do not compare: pg_test_fsync prints a mean, and a trial records one.
--
-- The interval of each median misses with 2.5 % at most, so that both of a ratio miss with
-- 5 % at most (Bonferroni's inequality).
--
CREATE FUNCTION sync_probe.compare(run_ids bigint[])
RETURNS TABLE (
    run text,
    test text,
    test_case text,
    value_us double precision,
    ratio double precision,
    ratio_low double precision,
    ratio_high double precision,
    bar text,
    not_comparable text,
    statistic text,
    run_id bigint,
    ordinal integer)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
SET jit = off -- many columns look costly enough to compile, which takes longer than the query
AS $$
BEGIN
    PERFORM sync_probe_internal.require_monitor('compare()',
        '{sync_probe.runs,sync_probe.measurements,sync_probe_internal.samples}');
    PERFORM sync_probe_internal.require_runs(run_ids, 100);
    RETURN QUERY
        WITH runs AS MATERIALIZED (
            SELECT n.nth,
                   CASE WHEN max(n.alike) OVER () = 1 THEN n.name
                        WHEN n.label IS NULL THEN format('run %s', (n.run).run_id)
                        ELSE format('run %s: %s', (n.run).run_id, n.label) END AS name,
                   n.run
            FROM (SELECT l.*, count(*) OVER (PARTITION BY l.name) AS alike
                  FROM (SELECT i.nth, r AS run, nullif(left(r.label, 40), '') AS label,
                               coalesce(nullif(left(r.label, 40), ''), format('run %s', r.run_id))
                                   AS name
                        FROM unnest(run_ids) WITH ORDINALITY AS i (run_id, nth)
                        JOIN sync_probe.runs AS r ON r.run_id = i.run_id) AS l) AS n
        ), labeled AS (
            SELECT r.nth, r.name, r.run, m AS measured, m.test, i.median, i.low, i.high,
                   m.method
                   || CASE WHEN m.direct_io AND NOT bool_and(m.direct_io)
                                    OVER (PARTITION BY r.nth, m.test, m.method)
                           THEN ' direct' ELSE '' END AS label
            FROM runs AS r
            JOIN sync_probe.measurements AS m ON m.run_id = (r.run).run_id
            LEFT JOIN sync_probe_internal.samples AS s
                ON s.run_id = m.run_id AND s.ordinal = m.ordinal
            LEFT JOIN LATERAL sync_probe_internal.median_interval(s.round_mean_us, 0.025) AS i
                ON true
        ), named AS (
            SELECT t.*,
                   t.label || coalesce(' #' || nullif(row_number() OVER (
                       PARTITION BY t.nth, t.test, t.label ORDER BY (t.measured).ordinal), 1), '')
                       AS test_case
            FROM labeled AS t
        ), valued AS (
            SELECT n.*,
                   bool_and(n.median IS NOT NULL) FILTER (WHERE (n.measured).mean_us IS NOT NULL)
                       OVER (PARTITION BY n.test, n.test_case) AS by_median
            FROM named AS n
        ), cases AS MATERIALIZED (
            SELECT v.nth, v.name, v.run, v.test, v.test_case, v.measured,
                   CASE WHEN v.by_median THEN 'median' WHEN NOT v.by_median THEN 'mean' END
                       AS statistic,
                   CASE WHEN v.by_median THEN v.median ELSE (v.measured).mean_us END AS value_us,
                   CASE WHEN v.by_median THEN v.low END AS low,
                   CASE WHEN v.by_median THEN v.high END AS high,
                   coalesce(v.test <> 'unsynced_write' AND (v.measured).durable = 'no', false)
                       AS unsafe
            FROM valued AS v
        )
        SELECT c.name, c.test, c.test_case,
               round(c.value_us::numeric, CASE WHEN c.value_us < 10 THEN 3 ELSE 1 END)::float8,
               round((c.value_us / nullif(f.value_us, 0))::numeric, 3)::float8,
               CASE WHEN c.nth > 1
                    THEN round((c.low / nullif(f.high, 0))::numeric, 3)::float8 END,
               CASE WHEN c.nth > 1
                    THEN round((c.high / nullif(f.low, 0))::numeric, 3)::float8 END,
               sync_probe.bar(c.value_us / nullif(max(c.value_us) OVER of_test, 0), 20),
               nullif(concat_ws('; ',
                   CASE WHEN c.nth > f.nth AND num_nulls(c.value_us, f.value_us) = 0
                        THEN sync_probe_internal.differences(f.run, f.measured, c.run, c.measured)
                        WHEN c.nth > 1 AND c.value_us IS NOT NULL
                             AND (c.run).suite <> (o.run).suite
                        THEN format('suite %s, not %s', (c.run).suite, (o.run).suite)
                        WHEN c.nth > 1 AND c.value_us IS NOT NULL
                        THEN format('not measured by %s', o.name) END,
                   CASE WHEN c.unsafe THEN 'its syncs do not reach the device' END,
                   CASE WHEN f.unsafe AND c.nth > 1
                        THEN format('syncs of %s do not reach the device', f.name) END), ''),
               c.statistic, (c.run).run_id, (c.measured).ordinal
        FROM cases AS c
        JOIN runs AS o ON o.nth = 1
        LEFT JOIN cases AS f ON f.nth = 1 AND f.test = c.test AND f.test_case = c.test_case
        WINDOW of_test AS (PARTITION BY c.test)
        ORDER BY min((c.measured).ordinal) OVER of_test, c.test,
                 min((c.measured).ordinal) OVER (PARTITION BY c.test, c.test_case), c.test_case,
                 c.nth;
END
$$;

COMMENT ON FUNCTION sync_probe.compare IS
  'Test cases of up to 100 runs side by side. value_us: median of the samples, else the mean '
  '(statistic); ratio: to the first run (2: twice as long), with its 95 percent confidence '
  'interval; not_comparable: what else differs. Requires SELECT on the tables';
