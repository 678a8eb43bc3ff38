--
-- sync_probe_internal.report_origin
--
-- Where a run comes from, if not from this server: then nothing follows from it for this one.
-- Without paths the host of this server's runs is null.
--
CREATE FUNCTION sync_probe_internal.report_origin(run sync_probe.runs)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN run.imported_at IS NOT NULL THEN 'imported'
            WHEN run.system_identifier IS DISTINCT FROM s.system_identifier
                 OR run.host <> s.host THEN 'another server' END
FROM sync_probe_internal.this_server() AS s
$$;

COMMENT ON FUNCTION sync_probe_internal.report_origin(sync_probe.runs) IS
  'Where a run comes from, if not from this server';

--
-- sync_probe_internal.report_verdict
--
-- The verdict of one run as it was stored, with the names of recommendation_details; no row for
-- a run without one.  It has no commands: what this server needs now is in recommendation_details.
--
CREATE FUNCTION sync_probe_internal.report_verdict(run sync_probe.runs)
RETURNS SETOF jsonb
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
SELECT jsonb_build_object(
    'location', run.location, 'holds_wal', run.location = 'pg_wal', 'verdict', run.verdict,
    'current_method', CASE WHEN run.suite = 'wal' THEN run.wal_sync_method
                           WHEN run.setting = 'wal_sync_method' THEN m.value
                           ELSE run.setting || ' = ' || m.value END,
    'recommended_method', run.recommended_value, 'best_method', run.best_value,
    'loss_bound', run.loss_bound, 'deciding_test', run.deciding_test, 'flush_us', run.flush_us,
    'durable', run.durable, 'basis', run.suite, 'run_id', run.run_id,
    'measured_at', run.finished_at, 'reason', run.reason)
FROM (SELECT min(m.value) FILTER (WHERE m.choice = 'current') AS value
      FROM sync_probe.measurements AS m
      WHERE m.run_id = run.run_id AND m.test = run.setting) AS m
WHERE run.suite IN ('wal', 'trial', 'commit') AND run.verdict IS NOT NULL
$$;

COMMENT ON FUNCTION sync_probe_internal.report_verdict(sync_probe.runs) IS
  'The verdict of one run';

--
-- sync_probe_internal.report_chosen
--
-- The data of given runs: the verdicts of the first 100, and the findings that rest on one of
-- them.
--
CREATE FUNCTION sync_probe_internal.report_chosen(run_ids bigint[], paths boolean)
RETURNS sync_probe_internal.report_data
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW(true, paths, p.places, r.runs, NULL,
    ARRAY(SELECT jsonb_populate_record(NULL::sync_probe.recommendation_details, v)
          FROM generate_subscripts(r.runs, 1) AS i,
               LATERAL sync_probe_internal.report_verdict(r.runs[i]) AS v
          WHERE i <= 100
          ORDER BY i),
    ARRAY(SELECT f FROM sync_probe.findings AS f
          WHERE (f.evidence ->> 'run_id')::bigint = ANY (run_ids)
          ORDER BY array_position('{error,warning,info}', f.severity),
                   f.location <> 'pg_wal', f.location, f.code, f.message),
    NULL, NULL)::sync_probe_internal.report_data
FROM (SELECT ARRAY(SELECT l FROM sync_probe.locations AS l
                   ORDER BY l.holds_wal DESC, l.name)) AS p (places),
     (SELECT ARRAY(SELECT r FROM sync_probe.runs AS r
                   WHERE r.run_id = ANY (run_ids)
                   ORDER BY array_position(run_ids, r.run_id))) AS r (runs)
$$;

COMMENT ON FUNCTION sync_probe_internal.report_chosen(bigint[], boolean) IS
  'The data of a report on given runs';

--
-- sync_probe_internal.report_probes
--
-- The runs of the wal suite in the order of figures: the WAL's own location, then the worst
-- verdicts; given runs as they were given.
--
CREATE FUNCTION sync_probe_internal.report_probes(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.report_probe
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
SELECT row_number() OVER (
           ORDER BY CASE WHEN NOT data.chosen
                         THEN CASE WHEN r.location = 'pg_wal' THEN -1
                                   ELSE array_position('{unsafe,switch,undecided}',
                                                       a.verdict) END END, r.n),
       r.run_id,
       CASE WHEN count(*) OVER (PARTITION BY r.location) > 1 OR r.location IS NULL
            THEN concat_ws(' ', r.location, 'run ' || r.run_id) ELSE r.location::text END,
       r.location, r.wal_sync_method, a.recommended_method, a.verdict,
       coalesce(r.storage, '{}')
FROM (SELECT i AS n, (data.runs[i]).* FROM generate_subscripts(data.runs, 1) AS i) AS r
LEFT JOIN LATERAL (
    SELECT a.verdict, a.recommended_method
    FROM unnest(data.advice) AS a
    WHERE a.run_id = r.run_id OR NOT data.chosen AND a.location = r.location
    LIMIT 1) AS a ON true
WHERE r.suite = 'wal'
$$;

COMMENT ON FUNCTION sync_probe_internal.report_probes(sync_probe_internal.report_data) IS
  'The runs of the wal suite in the order of figures';

--
-- sync_probe_internal.report_measured
--
-- What these runs measured of each method.  A name of the history may be of any length.
--
CREATE FUNCTION sync_probe_internal.report_measured(probes sync_probe_internal.report_probe[])
RETURNS SETOF sync_probe_internal.report_method
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 40
SET search_path = pg_catalog, pg_temp
AS $$
SELECT p.n, p.run_id, p.name, p.location, sync_probe_internal.clipped(m.method, 60),
       u.is_current, u.is_advised, u.durable,
       CASE WHEN u.durable = 'no' THEN 'bad' WHEN u.is_advised AND NOT u.is_current THEN 'rec'
            WHEN u.is_current THEN 'cur' ELSE 'oth' END, m, s
FROM unnest(probes) AS p
JOIN sync_probe.measurements AS m ON m.run_id = p.run_id AND m.test = 'paced'
JOIN sync_probe.measurements AS s
    ON s.run_id = p.run_id AND s.test = 'saturated' AND s.method = m.method
    AND s.direct_io IS NOT DISTINCT FROM m.direct_io,
     LATERAL (SELECT coalesce(m.method = p.current_method, false),
                     coalesce(m.method = p.advised, false),
                     coalesce(m.durable, s.durable, 'unknown'))
         AS u (is_current, is_advised, durable)
$$;

COMMENT ON FUNCTION
  sync_probe_internal.report_measured(sync_probe_internal.report_probe[]) IS
  'What the runs of a report measured of each method';

--
-- sync_probe_internal.report_complete
--
-- The data with what follows from them.
--
CREATE FUNCTION sync_probe_internal.report_complete(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.report_data
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW(data.chosen, data.paths, data.places, data.runs, data.more, data.advice, data.findings,
    p.probes,
    ARRAY(SELECT m FROM sync_probe_internal.report_measured(p.probes) AS m
          ORDER BY m.n, (m.paced).ordinal))::sync_probe_internal.report_data
FROM (SELECT ARRAY(SELECT p FROM sync_probe_internal.report_probes(data) AS p
                   ORDER BY p.n LIMIT 24) OFFSET 0) AS p (probes)
$$;

COMMENT ON FUNCTION sync_probe_internal.report_complete(sync_probe_internal.report_data) IS
  'The data of a report with what follows from them';

--
-- sync_probe_internal.report_findings
--
-- The findings as the page shows them: those of info stand together by code, in the words of the
-- first.  number is what links point to.
--
CREATE FUNCTION sync_probe_internal.report_findings(
    data sync_probe_internal.report_data,
    OUT number bigint,
    OUT severity text,
    OUT code text,
    OUT locations text[],
    OUT run_ids bigint[],
    OUT message text,
    OUT hint text,
    OUT commands text[])
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT row_number() OVER (ORDER BY min(f.n)), f.severity, f.code,
       array_agg(f.location::text ORDER BY f.n),
       array_agg((f.evidence ->> 'run_id')::bigint ORDER BY f.n),
       (array_agg(f.message ORDER BY f.n))[1], (array_agg(f.hint ORDER BY f.n))[1],
       ARRAY(SELECT jsonb_array_elements_text((jsonb_agg(f.commands ORDER BY f.n)
                                                   FILTER (WHERE f.commands IS NOT NULL)) -> 0))
FROM unnest(data.findings) WITH ORDINALITY
     AS f (location, severity, code, message, hint, commands, evidence, n)
GROUP BY f.severity, f.code, CASE WHEN f.severity <> 'info' THEN f.n END
$$;

COMMENT ON FUNCTION sync_probe_internal.report_findings(sync_probe_internal.report_data) IS
  'The findings as a report shows them';

--
-- sync_probe_internal.report_panels
--
-- The order of the verdicts: that on pg_wal, then the worst; given runs as they were given.  n is
-- the place in the data.
--
CREATE FUNCTION sync_probe_internal.report_panels(
    data sync_probe_internal.report_data,
    OUT number bigint,
    OUT n integer)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
SELECT row_number() OVER (
           ORDER BY CASE WHEN NOT data.chosen
                         THEN CASE WHEN (data.advice[i]).holds_wal THEN -1
                                   ELSE array_position('{unsafe,switch,undecided}',
                                                       (data.advice[i]).verdict) END END, i), i
FROM generate_subscripts(data.advice, 1) AS i
$$;

COMMENT ON FUNCTION sync_probe_internal.report_panels(sync_probe_internal.report_data) IS
  'The order of the verdicts of a report';
