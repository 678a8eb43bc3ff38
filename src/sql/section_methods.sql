--
-- Section speed: relative speeds of the methods, a figure for each of up to 8 runs.  Where the
-- current method's syncs do not reach the device nothing is compared.
--
UNION ALL VALUES (20, 'speed', 'How much faster?',
    'How much faster?',
    'A mark to the right of the shaded band is a method whose flushes take less time than those of '
    'the current one by more than the margin: 2&times; is half of the time. The line through a '
    'mark is its confidence interval. The row of the current method compares two copies of it, so '
    'it shows the noise.', $$
SELECT 'intervals' AS kind, 'times' AS unit,
       p.name AS heading,
       format('Time of the current method divided by that of the other, with 95 %% confidence '
              'intervals; run %s. Shaded: the margin.', min(m.run_id)) AS caption,
       '{cur dot,paced,cur ring,back to back,cur band,margin}' AS key,
       json_agg(mark ORDER BY p.fastest DESC NULLS LAST, p.method, m.test)
           FILTER (WHERE m.relative_speed > 0) AS marks, json_agg(cell ORDER BY m.ordinal) AS cells
FROM (SELECT p.*, max((p.measured).relative_speed) FILTER (WHERE (p.measured).test = 'paced')
                      OVER (PARTITION BY p.place, p.method) AS fastest,
             bool_or(p.is_current AND p.colour = 'bad') OVER (PARTITION BY p.place) AS is_void
      FROM sync_probe_internal.report_methods(data) AS p) AS p,
     LATERAL (SELECT (p.measured).*) AS m,
     LATERAL (SELECT p.method AS name, p.note, p.colour, m.relative_speed AS number,
                     CASE m.test WHEN 'saturated' THEN 'ring' END AS shape,
                     m.relative_speed_low AS low, m.relative_speed_high AS high) AS mark,
     LATERAL (SELECT m.method, m.test, m.durable, m.relative_speed AS speed,
                     m.relative_speed_low AS low, m.relative_speed_high AS high) AS cell
WHERE NOT p.is_void
GROUP BY p.place, p.name
ORDER BY p.place LIMIT 8
$$)

--
-- Section latency: the methods of the first run in both tests, and the current method of each.
--
UNION ALL VALUES (30, 'latency',
    'How long does a flush take?', 'Latency',
    'A dot is the median of the flushes of one method, p50; its line ends at p99, which needs 299 '
    'flushes. Half of the flushes took less than p50, and one in a hundred took more than p99. The '
    'axis is logarithmic: the same distance is the same factor everywhere.', $$
SELECT 'intervals' AS kind, 'us' AS unit,
       CASE f.part WHEN 1 THEN min(p.name) ELSE 'The current method of each, paced' END AS heading,
       'Microseconds, from p50 to p99.' AS caption,
       '{cur dot,current,rec dot,recommended,oth dot,other}' AS key,
       json_agg(mark ORDER BY m.test, m.p50_us) AS marks,
       json_agg(cell ORDER BY m.test, m.p50_us) AS cells
FROM (VALUES (1), (2)) AS f (part), sync_probe_internal.report_methods(data) AS p,
     LATERAL (SELECT (p.measured).*) AS m,
     LATERAL (SELECT CASE WHEN f.part = 1 AND m.test = 'paced' THEN 'Paced'
                          WHEN f.part = 1 THEN 'Back to back' END AS panel,
                     CASE f.part WHEN 1 THEN p.method ELSE p.name END AS name,
                     CASE f.part WHEN 1 THEN p.note ELSE p.method END AS note, p.colour,
                     m.p50_us AS number, m.p50_us AS low, m.p99_us AS high) AS mark,
     LATERAL (SELECT p.name AS location, m.method, m.test, m.ops AS flushes, m.mean_us AS "mean us",
                     m.p50_us AS "p50 us", m.p99_us AS "p99 us", m.max_us AS "max us") AS cell
WHERE m.p50_us > 0 AND CASE f.part WHEN 1 THEN p.place = 1
                                   ELSE p.is_current AND m.test = 'paced' AND p.place <= 8 END
GROUP BY f.part
HAVING f.part = 1 OR count(*) > 1
ORDER BY f.part
$$)

--
-- Section device: what arrives at the device for each sync with the current method, of 8 runs.
--
UNION ALL VALUES (60, 'device',
    'Does the sync reach the device?', 'Does it reach the device?',
    'A sync that reaches the disk appears in the counters of the disk as a flush, or as two where '
    'the file system writes its journal, too. Write amplification is what the device wrote for '
    'each byte that the server gave it. Where the device is idle while syncs are slow, a faster '
    'one will not help. Counters are evidence, not proof.', $$
SELECT 'bars' AS kind, 'With the current method. Flushes and bytes when paced, busy back to back.'
           AS caption,
       '{cur box,durable or no volatile cache,cur frame,unknown,bad box,not durable}' AS key,
       json_agg(mark ORDER BY t.n, p.place) FILTER (WHERE p.place <= 8) AS marks,
       json_agg(cell ORDER BY p.place) FILTER (WHERE t.n = 1) AS cells
FROM sync_probe_internal.report_methods(data) AS p
JOIN sync_probe_internal.report_methods(data) AS s
    ON s.place = p.place AND s.method = p.method AND (s.measured).test = 'saturated',
     LATERAL (SELECT (p.measured).*) AS m,
     LATERAL (SELECT r.storage ? 'syncs_nothing' AS syncs_nothing,
                     (r.storage #>> ARRAY['device_bytes_per_op', m.ordinal::text])::float8
                         AS bytes,
                     (r.storage #>> ARRAY['device_utilization',
                                          (s.measured).ordinal::text])::float8 AS utilization
              FROM (SELECT (p.run).storage) AS r) AS d,
     LATERAL (SELECT b.given,
                     CASE WHEN NOT d.syncs_nothing THEN b.own / b.given END AS amplification,
                     CASE WHEN NOT d.syncs_nothing THEN 100 * d.utilization END AS busy
              FROM sync_probe_internal.device_bytes((p.run).storage, p.measured,
                                                    (p.run).flush_size) AS b) AS b,
     LATERAL (VALUES (1, 'Flushes per sync', m.flushes_per_op),
                     (2, 'Write amplification', b.amplification), (3, 'Device busy, %', b.busy))
         AS t (n, panel, number),
     LATERAL (SELECT t.panel, p.name, p.colour, t.number,
                     CASE m.durable WHEN 'unknown' THEN 'frame' END AS shape,
                     CASE WHEN d.syncs_nothing THEN 'no device' END AS words) AS mark,
     LATERAL (SELECT p.name AS location, m.durable, m.flushes_per_op AS "flushes paced",
                     (s.measured).flushes_per_op AS "flushes back to back", d.bytes,
                     b.given AS "bytes given", b.amplification, b.busy AS "busy %") AS cell
WHERE p.is_current AND m.test = 'paced'
  AND (d.syncs_nothing OR num_nonnulls(m.flushes_per_op, d.bytes, d.utilization) > 0)
$$)
