--
-- Section fleet: a figure for each of up to 8 kinds of device with a row for each of up to 24
-- nodes, the odd ones first.  Ratios are drawn as in other sections, better to the right.  Where
-- there is no ratio, or syncs do not reach the device, a figure has the times.
--
UNION ALL VALUES (15, 'fleet', 'Fleet: which node is odd?',
    'Fleet',
    'Each row is the newest run on <code>pg_wal</code> of one node, paced, with the method that is '
    'current there. It is compared with the median node among those with the same kind of device: '
    'a mark to the left of the shaded band is a node whose flushes take longer by more than the '
    'margin. A node is odd if its whole interval is outside the band, or if its syncs do not reach '
    'the device.', $$
SELECT 'intervals' AS kind, CASE WHEN f.compared IS NULL THEN 'us' ELSE 'times' END AS unit,
       format('%s: %s of %s nodes odd', coalesce(f.compared, 'Not compared'),
              count(*) FILTER (WHERE f.odd), count(*)) AS heading,
       concat_ws(' ', string_agg(format('%s: %s.', f.name, f.reason), ' ' ORDER BY f.n)
                          FILTER (WHERE f.odd AND f.place <= 4),
                 CASE WHEN f.compared IS NULL THEN 'Microseconds, p50.'
                      ELSE 'Time of the median node divided by that of the node, with 95 % '
                           'confidence intervals.' END) AS caption,
       CASE WHEN f.compared IS NULL THEN '{bad dot,not durable,oth dot,too few of its kind}'
            ELSE '{rec dot,odd,oth dot,as expected,cur band,margin}' END AS key,
       json_agg(mark ORDER BY f.n) FILTER (WHERE mark.number > 0 AND f.place <= 24) AS marks,
       json_agg(cell ORDER BY f.n) AS cells
FROM (SELECT f.*, row_number() OVER (PARTITION BY f.compared ORDER BY f.n) AS place,
             sync_probe_internal.clipped(concat_ws(' ',
                 -- a plot shows 12 characters of a name
                 CASE WHEN f.host IS NULL OR count(*) OVER (PARTITION BY left(f.host, 12)) > 1
                      THEN 'run ' || f.run_id END, f.host), 60) AS name
      FROM (SELECT f.*, CASE WHEN f.ratio > 0 AND f.durable IS DISTINCT FROM 'no'
                             THEN f.kind END AS compared
            FROM (SELECT f.*, r.durable, r.wal_sync_method
                  FROM (SELECT f.*, row_number() OVER () AS n FROM unnest(data.fleet) AS f) AS f
                  JOIN sync_probe.runs AS r USING (run_id)) AS f) AS f) AS f,
     LATERAL (SELECT f.name, CASE WHEN f.durable = 'no' THEN 'not durable'
                                  WHEN f.odd THEN 'odd' END AS note,
                     CASE WHEN f.durable = 'no' THEN 'bad' WHEN f.odd THEN 'rec' END AS colour,
                     CASE WHEN f.compared <> '' THEN 1 / f.ratio ELSE f.p50_us END AS number,
                     CASE WHEN f.compared <> '' THEN 1 / nullif(f.ratio_high, 0) END AS low,
                     CASE WHEN f.compared <> '' THEN 1 / nullif(f.ratio_low, 0) END AS high)
         AS mark,
     LATERAL (SELECT f.name AS node, CASE WHEN f.odd THEN 'yes' END AS odd, f.kind,
                     f.wal_sync_method AS method, f.durable, f.p50_us AS "p50 us", f.ratio,
                     f.ratio_low AS low, f.ratio_high AS high, f.reason,
                     f.run_id::text AS run) AS cell
WHERE cardinality(data.fleet) > 1
GROUP BY f.compared
ORDER BY min(f.n) LIMIT 8
$$)
