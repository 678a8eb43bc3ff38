--
-- What the runs of the wal suite measured of each method in one test; of the first 24 runs, pg_wal
-- before the worst verdicts.  name: of the location, with the number of the run if the page has
-- several runs of it.  A method of the history may be any text.
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
            WHEN c.is_recommended THEN 'rec' ELSE 'oth' END,
       CASE WHEN m.durable = 'no' THEN 'not durable' WHEN c.is_current THEN 'current'
            WHEN c.is_recommended THEN 'recommended' END, r.run, m
FROM (SELECT data.runs[i] AS run, row_number() OVER (
                 ORDER BY CASE WHEN data.chosen THEN 0 WHEN r.location = 'pg_wal' THEN -1
                               ELSE array_position('{unsafe,switch,undecided}', r.verdict) END,
                          i) AS place,
             CASE WHEN count(*) OVER (PARTITION BY r.location) > 1 OR r.location IS NULL
                  THEN concat_ws(' ', r.location, 'run ' || r.run_id) ELSE r.location::text END
                 AS name
      FROM generate_subscripts(data.runs, 1) AS i, LATERAL (SELECT (data.runs[i]).*) AS r
      WHERE r.suite = 'wal') AS r
JOIN sync_probe.measurements AS m
    ON m.run_id = (r.run).run_id AND m.test IN ('paced', 'saturated') AND NOT m.direct_io,
     LATERAL (SELECT m.method = (r.run).wal_sync_method,
                     m.method = (r.run).recommended_value AND (r.run).verdict IN ('switch',
                         'unsafe'))
         AS c (is_current, is_recommended)
WHERE r.place <= 24
$$;

--
-- Section speed: relative speeds of the methods, a figure for each of up to 8 runs.  Where the
-- current method's syncs do not reach the device nothing is compared.
--
INSERT INTO sync_probe_internal.report_sections VALUES (20, 'speed', 'How much faster?',
    'How much faster?',
    'A mark to the right of the shaded band is a method whose flushes take less time than those of '
    'the current one by more than the margin: 2&times; is half of the time. The line through a '
    'mark is its confidence interval. The row of the current method compares two copies of it, so '
    'it shows the noise.');

CREATE FUNCTION sync_probe_internal.section_speed(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 'intervals', concat_ws(': ', m.name, min((m.run).verdict)), 'times', NULL::float8,
       ARRAY[ROW(NULL, NULL, array_agg(ROW(m.method, m.note, m.colour,
           CASE (m.measured).test WHEN 'paced' THEN 'dot' ELSE 'ring' END,
           (m.measured).relative_speed, (m.measured).relative_speed_low,
           (m.measured).relative_speed_high, NULL, NULL)::sync_probe_internal.mark
           ORDER BY m.fastest DESC NULLS LAST, m.method, (m.measured).test)
           FILTER (WHERE (m.measured).relative_speed > 0))::sync_probe_internal.panel],
       format('Time of the current method divided by that of the other, with 95 %% confidence '
              'intervals; run %s. Shaded: the margin.', min((m.run).run_id)),
       '{cur dot,paced,cur ring,back to back,cur band,margin}'::text[],
       sync_probe_internal.html_table('Speed relative to the current method, ' || m.name,
           '{method,test,durable,speed,low,high}',
           array_agg(ARRAY[m.method, (m.measured).test, (m.measured).durable,
               sync_probe_internal.html_factor((m.measured).relative_speed),
               sync_probe_internal.html_factor((m.measured).relative_speed_low),
               sync_probe_internal.html_factor((m.measured).relative_speed_high)]
               ORDER BY (m.measured).ordinal), 3)
FROM (SELECT m.*, max((m.measured).relative_speed) FILTER (WHERE (m.measured).test = 'paced')
                      OVER (PARTITION BY m.place, m.method) AS fastest,
             bool_or(m.is_current AND m.colour = 'bad') OVER (PARTITION BY m.place) AS is_void
      FROM sync_probe_internal.report_methods(data) AS m) AS m
WHERE NOT m.is_void
GROUP BY m.place, m.name
HAVING count((m.measured).relative_speed) FILTER (WHERE (m.measured).relative_speed > 0) > 0
ORDER BY m.place LIMIT 8
$$;

--
-- Section latency: the methods of the first run in both tests, and the current method of each.
--
INSERT INTO sync_probe_internal.report_sections VALUES (30, 'latency',
    'How long does a flush take?',
    'Latency',
    'A dot is the median of the flushes of one method, p50; its line ends at p99, which needs 299 '
    'flushes. Half of the flushes took less than p50, and one in a hundred took more than p99. The '
    'axis is logarithmic: the same distance is the same factor everywhere.');

CREATE FUNCTION sync_probe_internal.section_latency(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH row AS (
    SELECT m.*, f.part, (m.measured).p50_us AS p50, (m.measured).p99_us AS p99,
           CASE f.part WHEN 1 THEN m.method ELSE m.name END AS row_name
    FROM sync_probe_internal.report_methods(data) AS m, (VALUES (1), (2)) AS f (part)
    WHERE (m.measured).p50_us > 0 AND CASE f.part WHEN 1 THEN m.place = 1
              ELSE m.is_current AND (m.measured).test = 'paced' AND m.place <= 8 END
), panel AS (
    SELECT r.part, (r.measured).test, min(r.name) AS name, count(*) AS count,
           ROW(CASE WHEN r.part = 1 THEN CASE (r.measured).test WHEN 'paced' THEN 'Paced'
                                                              ELSE 'Back to back' END END, NULL,
               array_agg(ROW(r.row_name, CASE r.part WHEN 1 THEN r.note ELSE r.method END, r.colour,
                             'dot', r.p50, r.p50, r.p99, NULL, NULL)::sync_probe_internal.mark
                         ORDER BY r.p50))::sync_probe_internal.panel AS panel
    FROM row AS r GROUP BY r.part, (r.measured).test
)
SELECT 'intervals', CASE p.part WHEN 1 THEN min(p.name)
                                ELSE 'The current method of each, paced' END, 'us', NULL::float8,
       array_agg(p.panel ORDER BY p.test), 'Microseconds, from p50 to p99.',
       '{cur dot,current,rec dot,recommended,oth dot,other}'::text[],
       (SELECT sync_probe_internal.html_table('Latency in us',
                   '{location,method,test,flushes,mean,p50,p99,max}',
                   array_agg(ARRAY[r.name, r.method, (r.measured).test,
                       to_char((r.measured).ops, 'FM999,999,999,999'),
                       sync_probe_internal.html_number((r.measured).mean_us),
                       sync_probe_internal.html_number(r.p50),
                           sync_probe_internal.html_number(r.p99),
                       sync_probe_internal.html_number((r.measured).max_us)]
                       ORDER BY (r.measured).test, r.p50), 3)
        FROM row AS r WHERE r.part = p.part)
FROM panel AS p
GROUP BY p.part
HAVING p.part = 1 OR sum(p.count) > 1
ORDER BY p.part
$$;

--
-- Section device: what arrives at the device for each sync with the current method, of up to 8
-- runs.
--
INSERT INTO sync_probe_internal.report_sections VALUES (60, 'device',
    'Does the sync reach the device?', 'Does it reach the device?',
    'A sync that reaches the disk appears in the counters of the disk as a flush, or as two where '
    'the file system writes its journal, too. Write amplification is what the device wrote for '
    'each byte that the server gave it. Where the device is idle while syncs are slow, a faster '
    'one will not help. Counters are evidence, not proof.');

CREATE FUNCTION sync_probe_internal.section_device(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH row AS (
    SELECT p.place, p.name, (p.measured).durable, p.colour,
           CASE WHEN (p.run).storage ? 'syncs_nothing' THEN 'no device' ELSE 'unknown' END AS words,
           (p.measured).flushes_per_op AS flushes, (s.measured).flushes_per_op AS saturated_flushes,
           (p.measured).device_bytes_per_op AS bytes, b.given,
           CASE WHEN NOT (p.run).storage ? 'syncs_nothing' THEN b.own / b.given END
               AS amplification,
           CASE WHEN NOT (p.run).storage ? 'syncs_nothing'
                THEN 100 * (s.measured).device_utilization END AS busy
    FROM sync_probe_internal.report_methods(data) AS p
    JOIN sync_probe_internal.report_methods(data) AS s
        ON s.place = p.place AND s.method = p.method AND (s.measured).test = 'saturated',
         LATERAL sync_probe_internal.device_bytes(coalesce((p.run).storage, '{}'), p.measured,
                                                  (p.run).flush_size) AS b
    WHERE p.is_current AND (p.measured).test = 'paced'
      AND ((p.run).storage ? 'syncs_nothing'
           OR num_nonnulls((p.measured).flushes_per_op, (p.measured).device_bytes_per_op,
                           (s.measured).device_utilization) > 0)
), panel AS (
    SELECT t.n, ROW(t.title, NULL, array_agg(ROW(r.name, NULL, r.colour,
               CASE r.durable WHEN 'unknown' THEN 'frame' ELSE 'box' END, v.number, NULL, NULL,
                   NULL,
               r.words)::sync_probe_internal.mark ORDER BY r.place))::sync_probe_internal.panel
               AS panel
    FROM row AS r,
         (VALUES (1, 'Flushes per sync'), (2, 'Write amplification'), (3, 'Device busy, %'))
             AS t (n, title),
         LATERAL (SELECT CASE t.n WHEN 1 THEN r.flushes WHEN 2 THEN r.amplification
                                  ELSE r.busy END) AS v (number)
    WHERE r.place <= 8 GROUP BY t.n, t.title
)
SELECT 'bars', NULL::text, NULL::text, NULL::float8, array_agg(p.panel ORDER BY p.n),
       'With the current method. Flushes and bytes when paced, busy back to back.',
       '{cur box,durable or no volatile cache,cur frame,unknown,bad box,not durable}'::text[],
       (SELECT sync_probe_internal.html_table(
                   'What arrives at the device for each sync with the current method',
                   '{location,durable,flushes paced,flushes back to back,bytes,bytes given,'
                   'amplification,busy %}',
                   array_agg(ARRAY[r.name, r.durable, sync_probe_internal.html_factor(r.flushes),
                       sync_probe_internal.html_factor(r.saturated_flushes),
                       sync_probe_internal.html_number(r.bytes),
                       sync_probe_internal.html_number(r.given),
                       sync_probe_internal.html_factor(r.amplification),
                       sync_probe_internal.html_number(r.busy)] ORDER BY r.place), 2) FROM row AS r)
FROM panel AS p
HAVING count(*) > 0
$$;
