--
-- sync_probe_internal.device_rows
--
-- What arrives at the device for each sync with the current method of each run.  given_bytes is
-- what the server gives to a sync; see device_bytes().
--
CREATE FUNCTION sync_probe_internal.device_rows(
    data sync_probe_internal.report_data,
    OUT n bigint,
    OUT name text,
    OUT durable text,
    OUT classes text,
    OUT no_device boolean,
    OUT paced_flushes double precision,
    OUT saturated_flushes double precision,
    OUT writes double precision,
    OUT bytes double precision,
    OUT given_bytes double precision,
    OUT amplification double precision,
    OUT busy double precision)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
SELECT row_number() OVER (ORDER BY m.n), m.name, m.durable,
       CASE m.durable WHEN 'no' THEN 'f bad' WHEN 'unknown' THEN 'h cur' ELSE 'f cur' END,
       p.storage ? 'syncs_nothing',
       (m.paced).flushes_per_op, (m.saturated).flushes_per_op, NULL::float8,
       (m.paced).device_bytes_per_op, b.given,
       CASE WHEN NOT p.storage ? 'syncs_nothing' THEN b.own / b.given END,
       CASE WHEN NOT p.storage ? 'syncs_nothing' THEN 100 * (m.saturated).device_utilization END
FROM unnest(data.methods) AS m
JOIN unnest(data.probes) AS p USING (run_id)
JOIN unnest(data.runs) AS r USING (run_id),
     LATERAL sync_probe_internal.device_bytes(p.storage, m.paced, r.flush_size) AS b
WHERE m.is_current
  AND (num_nonnulls((m.paced).flushes_per_op, (m.paced).device_bytes_per_op,
                    (m.saturated).device_utilization) > 0 OR p.storage ? 'syncs_nothing')
$$;

COMMENT ON FUNCTION sync_probe_internal.device_rows(sync_probe_internal.report_data) IS
  'What arrives at the device for each sync';

--
-- sync_probe_internal.page_device
--
CREATE FUNCTION sync_probe_internal.page_device(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH row AS MATERIALIZED (
    SELECT r.*, CASE WHEN r.no_device THEN 'no device' ELSE 'unknown' END AS instead
    FROM sync_probe_internal.device_rows(data) AS r
), shown AS (
    SELECT array_agg(name ORDER BY n) AS names, array_agg(classes ORDER BY n) AS classes,
           array_agg(instead ORDER BY n) AS instead,
           array_agg(paced_flushes ORDER BY n) AS flushes, max(paced_flushes) AS most_flushes,
           array_agg(amplification ORDER BY n) AS bytes, max(amplification) AS most_bytes,
           array_agg(busy ORDER BY n) AS busy
    FROM row
    WHERE n <= 8
)
SELECT ROW('device', 'Does the sync reach the device?', 'Does it reach the device?',
    'A sync that reaches the disk appears in the counters of the disk as a flush, or as two where '
    'the file system writes its journal, too. Write amplification is what the device wrote for '
    'each byte that the server gave it. Where the device is idle while syncs are slow, a faster '
    'one will not help. Counters are evidence, not proof.',
    sync_probe_internal.html_figure(
        concat('<div class=tri>',
            sync_probe_internal.html_bars('device-flushes', 'Flushes per sync', s.names,
                s.classes, s.flushes, s.instead, 1,
                sync_probe_internal.html_linear_axis(greatest(s.most_flushes, 1.1), '')),
            sync_probe_internal.html_bars('device-bytes', 'Write amplification', s.names,
                s.classes, s.bytes, s.instead, 4,
                sync_probe_internal.html_linear_axis(greatest(s.most_bytes, 4.2), '')),
            sync_probe_internal.html_bars('device-busy', 'Device busy, %', s.names, s.classes,
                s.busy, s.instead, NULL,
                ROW(0, 100, false, '{0,50,100}', '{0,50,100}', '')::sync_probe_internal.axis),
            '</div>'),
        'With the current method. Flushes and bytes at this cluster''s pace, busy back to back.',
        (SELECT sync_probe_internal.html_table(
                    'What arrives at the device for each sync with the current method',
                    '{location,durable,flushes paced,flushes back to back,writes,bytes,'
                    'bytes given,amplification,busy %}',
                    array_agg(ARRAY[r.name, r.durable,
                        sync_probe_internal.html_factor(r.paced_flushes),
                        sync_probe_internal.html_factor(r.saturated_flushes),
                        sync_probe_internal.html_factor(r.writes),
                        sync_probe_internal.html_number(r.bytes),
                        sync_probe_internal.html_number(r.given_bytes),
                        sync_probe_internal.html_factor(r.amplification),
                        sync_probe_internal.html_number(r.busy)] ORDER BY r.n), 2)
         FROM row AS r), NULL,
        sync_probe_internal.html_key(NULL, 'durable:', 'cur box', 'yes, or no volatile cache',
            'cur frame', 'unknown', 'bad box', 'no', 'cur dashes',
            'one flush for each sync; limit of a finding'))
    )::sync_probe_internal.section
FROM shown AS s
WHERE s.names IS NOT NULL
$$;

COMMENT ON FUNCTION sync_probe_internal.page_device(sync_probe_internal.report_data) IS
  'Section of the report: what arrives at the device';
