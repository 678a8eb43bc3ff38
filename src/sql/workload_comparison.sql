--
-- workload_comparison
--
-- The newest statement that ran workloads of a suite, in long form for psql's \crosstabview.  A
-- combination is what may differ between runs of the same workload: tablespace, settings, label,
-- and in brackets clients, threads and rows where they did differ.
--
CREATE FUNCTION sync_probe.workload_comparison(suite name)
RETURNS TABLE (
    operation name,
    iterations bigint,
    combination text,
    seconds double precision,
    tps double precision,
    ratio double precision)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH result AS (
    SELECT r.workload AS operation, r.result_id, r.transactions,
           r.transactions / r.tps AS seconds,
           r.transactions_per_client IS NOT NULL AS counted, o.others,
           -- the collation of type name would conflict with the default one of the others
           concat_ws(' ', r.tablespace COLLATE "default",
                     (SELECT string_agg(key || '=' || value, ' ' ORDER BY key)
                      FROM jsonb_each_text(r.settings)),
                     '(' || nullif(r.label, '') || ')') AS combination,
           min(o.others) OVER w IS DISTINCT FROM max(o.others) OVER w AS others_differ
    FROM (SELECT max(n.run_group) AS run_group FROM sync_probe.workload_results AS n
          WHERE n.suite = workload_comparison.suite) AS newest
    -- a group is named after its first row
    JOIN sync_probe.workload_results AS r
        ON r.run_group = newest.run_group AND r.result_id >= newest.run_group,
         LATERAL (SELECT concat_ws(', ', 'clients ' || r.clients, 'threads ' || r.threads,
                                   'rows ' || r.rows)) AS o (others)
    WHERE r.transactions > 0 AND r.suite = workload_comparison.suite
    WINDOW w AS (PARTITION BY r.workload)
), run AS (
    SELECT operation,
           combination || CASE WHEN others_differ THEN ' [' || others || ']' ELSE '' END
               AS combination,
           min(result_id) AS first_result,
           bool_and(counted) AS counted,
           round(avg(transactions)) AS iterations,
           avg(seconds) AS seconds,
           sum(transactions) / sum(seconds) AS tps,
           count(*) OVER (PARTITION BY operation) AS ran_in
    FROM result
    GROUP BY 1, 2
), combination AS (
    SELECT combination, row_number() OVER (ORDER BY min(first_result)) AS place,
           count(*) OVER () AS combinations
    FROM run
    GROUP BY combination
), line AS (
    SELECT operation, combination, iterations, seconds, tps, false AS is_total
    FROM run
    UNION ALL
    -- Sums can be compared if all combinations ran the same operations equally often.
    SELECT 'TOTALS'::name, combination, sum(iterations), sum(seconds),
           sum(iterations) / sum(seconds), true
    FROM run
    JOIN combination USING (combination)
    WHERE ran_in = combinations
    GROUP BY combination
    HAVING bool_and(counted) AND count(*) > 1
)
SELECT l.operation, l.iterations, l.combination, round(l.seconds::numeric, 3),
       round(l.tps::numeric, CASE WHEN l.tps < 100 THEN 4 ELSE 1 END),
       round((first_value(l.tps) OVER (PARTITION BY l.is_total, l.operation ORDER BY c.place)
              / l.tps)::numeric, 3)
FROM line AS l
JOIN combination AS c USING (combination)
ORDER BY l.is_total DESC, l.operation, c.place
$$;

COMMENT ON FUNCTION sync_probe.workload_comparison IS
  'Newest statement that ran workloads of a suite, for \crosstabview: seconds of one run (mean if '
  'repeated), and ratio of the time of a transaction to the first combination of tablespace, '
  'settings and label (2: twice as long). Requires SELECT on workload_results';

--
-- sql_bench
--
-- All operations of suite sql_bench, one client each, for every combination of a
-- tablespace and a set of settings.  The combinations take turns in each operation, and
-- the first of them changes, so that no combination always has the warmer caches.
--
-- A procedure that commits cannot pin its search_path.  So sql_bench_plan() does all that
-- needs one, and the procedure has no operator and no name without a schema.  It commits
-- each row, so that an error later does not lose it.
--
-- Everybody may execute the plan.  It writes nothing, and its errors name the privileges
-- a role lacks.
--
CREATE FUNCTION sync_probe_internal.sql_bench_plan(
    tablespaces name[],
    scale double precision,
    settings jsonb[],
    OUT workload name,
    OUT tablespace name,
    OUT run_settings jsonb,
    OUT transactions integer,
    OUT progress text)
RETURNS SETOF record
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    wrong record;
    combinations integer;
BEGIN
    PERFORM sync_probe_internal.require_monitor('sql_bench()', '{sync_probe.workloads}');
    IF NOT has_function_privilege('sync_probe.run_workload'::regproc, 'EXECUTE') THEN
        RAISE EXCEPTION 'permission denied to run sql_bench'
            USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'It calls sync_probe.run_workload().',
                  HINT = format('GRANT EXECUTE ON PROCEDURE sync_probe.run_workload TO %I;',
                                current_user);
    END IF;
    IF tablespaces IS NULL OR cardinality(tablespaces) = 0 THEN
        RAISE EXCEPTION 'tablespaces must name at least one'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'For example: CALL sync_probe.sql_bench(''{pg_default,fast_ssd}'');';
    END IF;
    IF array_position(tablespaces, NULL) IS NOT NULL THEN
        RAISE EXCEPTION 'tablespaces must not contain null'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'A database without a tablespace of its own is in "pg_default".';
    END IF;
    IF scale IS NULL OR NOT scale > 0 OR scale > 1 THEN
        RAISE EXCEPTION 'scale % is out of range', coalesce(scale::text, 'null')
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'It must be greater than 0, and at most 1.',
                  HINT = '1 runs as many iterations as MySQL''s sql-bench, 0.01 one percent of'
                         ' them.';
    END IF;
    SELECT t.name INTO wrong
    FROM unnest(tablespaces) AS t (name) WHERE t.name NOT IN (SELECT spcname FROM pg_tablespace);
    IF FOUND THEN
        RAISE EXCEPTION 'tablespace "%" does not exist', wrong.name
            USING ERRCODE = 'undefined_object', HINT = 'See SELECT spcname FROM pg_tablespace.';
    END IF;
    settings := coalesce(nullif(settings, '{}'), ARRAY[NULL::jsonb]);
    combinations := cardinality(tablespaces) * cardinality(settings);

    RETURN QUERY
        WITH operation AS (
            SELECT w.workload AS name,
                   greatest(1, round(w.transactions * scale))::integer AS transactions,
                   row_number() OVER (ORDER BY w.workload) AS number, count(*) OVER () AS operations
            FROM sync_probe.workloads AS w
            WHERE w.suite = 'sql_bench' AND w.builtin
        ), run AS (
            SELECT o.*, t.name AS place, s.value,
                   -- the first operation runs in the order of the arguments
                   ((t.place - 1) * cardinality(settings) + s.place + combinations - 1
                    - (o.number - 1) % combinations) % combinations AS turn
            FROM operation AS o
            CROSS JOIN unnest(tablespaces) WITH ORDINALITY AS t (name, place)
            CROSS JOIN unnest(settings) WITH ORDINALITY AS s (value, place)
        )
        SELECT r.name, r.place, r.value, r.transactions,
               CASE WHEN r.turn = 0 THEN format('%s (%s of %s)', r.name, r.number, r.operations) END
        FROM run AS r
        ORDER BY r.number, r.turn;
END
$function$;

CREATE PROCEDURE sync_probe.sql_bench(
    tablespaces name[],
    scale double precision DEFAULT 0.01,
    settings jsonb[] DEFAULT NULL,
    allow_publication boolean DEFAULT false)
LANGUAGE plpgsql
AS $procedure$
DECLARE
    run pg_catalog.record;
    result_id pg_catalog.int8;
    tps pg_catalog.float8;
    latency_mean_ms pg_catalog.float8;
    latency_p99_ms pg_catalog.float8;
BEGIN
    FOR run IN SELECT * FROM sync_probe_internal.sql_bench_plan(tablespaces, scale, settings)
    LOOP
        IF run.progress IS NOT NULL THEN
            RAISE NOTICE '%', run.progress;
        END IF;
        CALL sync_probe.run_workload(run.workload, run.tablespace, 1, 1,
            transactions => run.transactions, rows => 10000, settings => run.run_settings,
            allow_publication => allow_publication, result_id => result_id, tps => tps,
            latency_mean_ms => latency_mean_ms, latency_p99_ms => latency_p99_ms);
        COMMIT;
    END LOOP;
END
$procedure$;

REVOKE ALL ON PROCEDURE sync_probe.sql_bench FROM PUBLIC;

COMMENT ON PROCEDURE sync_probe.sql_bench IS
  'Run all operations of sql-bench in each tablespace, in turns, with scale times the original '
  'iterations. Requires EXECUTE on run_workload(), SELECT on workloads';
