--
-- The methods of the first 24 runs of the wal suite in one test.  name: of the
-- location, with the number of the run if the page has several runs of it.  A method of the history
-- may be any text.
--
CREATE FUNCTION sync_probe_internal.report_methods(
    data sync_probe_internal.report_data,
    OUT place bigint,
    OUT name text,
    OUT method text,
    OUT is_current boolean,
    OUT colour text,
    OUT note text,
    OUT run sync_probe.runs,
    OUT measured sync_probe.measurements)
RETURNS SETOF record
LANGUAGE sql STABLE
ROWS 40
SET search_path = pg_catalog, pg_temp
AS $$
SELECT r.place, r.name, sync_probe_internal.clipped(m.method, 60), c.is_current,
       CASE WHEN m.durable = 'no' THEN 'bad' WHEN c.is_current THEN 'cur'
            WHEN c.is_recommended THEN 'rec' END,
       CASE WHEN m.durable = 'no' THEN 'not durable' WHEN c.is_current THEN 'current'
            WHEN c.is_recommended THEN 'recommended' END, r.run, m
FROM (SELECT data.runs[i] AS run, row_number() OVER (ORDER BY i) AS place,
             CASE WHEN count(*) OVER (PARTITION BY r.location) > 1 OR r.location IS NULL
                  THEN concat_ws(' ', r.location, 'run ' || r.run_id) ELSE r.location::text END
                 AS name
      FROM generate_subscripts(data.runs, 1) AS i, LATERAL (SELECT (data.runs[i]).*) AS r
      WHERE r.suite = 'wal') AS r
JOIN sync_probe.measurements AS m
    ON m.run_id = (r.run).run_id AND m.test IN ('paced', 'saturated')
       -- not what O_DIRECT would do, where the server does not use it
       AND NOT (m.test = 'saturated' AND m.direct_io
                AND EXISTS (SELECT FROM sync_probe.measurements AS p
                            WHERE p.run_id = m.run_id AND p.test = 'paced'
                              AND p.method = m.method AND NOT p.direct_io)),
     -- only if present advice uses the run, and it is not outdated
     LATERAL (SELECT m.method = (r.run).wal_sync_method, m.method = (r.run).recommended_value
                     AND (r.run).verdict IN ('switch', 'unsafe')
                     AND EXISTS (SELECT FROM unnest(data.advice) AS a
                                 WHERE a.run_id = (r.run).run_id AND a.verdict <> 'outdated')
             ) AS c (is_current, is_recommended)
WHERE r.place <= 24
$$;
