-- sync_probe.device_lifetime(): how long an SSD lasts under this cluster's WAL.
\ir include/begin.sql
\ir include/stage.sql
SET LOCAL timezone = 'UTC';

-- 300 GB x 5,000 cycles at 3 MB a second are some 15 years, 240 GB x 3,000 some 7; next to nothing
-- is written, and very much
SELECT is(replace(l::text, coalesce(device, ''), ''), expected, expected)
FROM (VALUES (300000000000, 5000, 3145728::float8, 1, '(15.1,,3145728,1,)'),
             (240000000000, 3000, 3145728, 1, '(7.3,,3145728,1,)'),
             (1, 1, 1e15, 10, '(0,,1e+15,10,)'))
         AS v (capacity, cycles, rate, amplification, expected),
     LATERAL sync_probe.device_lifetime('pg_wal', capacity, cycles, rate, amplification) AS l;
SELECT ok(wal_bytes_per_sec = 0 AND years > 1e15, 'next to nothing is written')
FROM sync_probe.device_lifetime('pg_wal', 300000000000, 5000, 1e-9, 1);

-- the rate of WAL is the cluster's own, if none is given and it is known for an hour; time as a
-- standby must not be part of it
SELECT ok(CASE WHEN basis LIKE 'pg\_stat\_wal since _%'
               THEN wal_bytes_per_sec > 0 AND write_amplification = 2 AND years > 0
               ELSE basis LIKE '%an hour is needed' END, 'the rate of the cluster')
FROM sync_probe.device_lifetime('pg_wal', 300000000000, 5000, write_amplification => 2);
SELECT is(r::text, expected, format('%s hours, recovery until %s', hours, recovery_end))
FROM (VALUES (0.5, '-infinity'::timestamptz,
              '(,"pg_stat_wal covers only 1800 s, an hour is needed")'),
             (1, '-infinity', '(1000000,"pg_stat_wal since 2026-05-03 00:00:00+00")'),
             (48, '-infinity', '(20833.333333333332,"pg_stat_wal since 2026-05-03 00:00:00+00")'),
             (1, '2026-05-03 00:00Z', '(1000000,"pg_stat_wal since 2026-05-03 00:00:00+00")'),
             (1, '2026-05-03 00:01Z', '(,"pg_stat_wal includes time as a standby")'),
             (1, 'infinity', '(,"pg_stat_wal does not count what a standby receives")'))
         AS v (hours, recovery_end, expected),
     LATERAL sync_probe_internal.wal_rate(3600 * 1e6, '2026-05-03 00:00Z',
         '2026-05-03 00:00Z'::timestamptz + hours * interval '1 hour', recovery_end) AS r;
SELECT ok(wal_bytes > 0 AND since < clock_timestamp() AND recovery_end < since,
          'what this server has written') FROM sync_probe_internal.wal_written();

-- the amplification is the newest run's at this location: of the paced row of the method in use
CREATE FUNCTION pg_temp.lifetime(others text, bytes integer DEFAULT 40960) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
BEGIN
    IF others IS NOT NULL THEN
        id := pg_temp.record_run(jsonb_build_object('storage', jsonb_build_object(
            'device_bytes_per_op', jsonb_build_object('1', bytes, '2', 9000, '3', 99999),
            'device_bytes_error', '{"1": 0}'::jsonb, 'others', '{"seconds": 1,
                "bytes_per_sec_error": 0}' || jsonb_build_object('bytes_per_sec', others::jsonb))));
        PERFORM pg_temp.record_cases(id, '{"mean_us": 1000}',
            '{"mean_us": 1000, "test": "saturated"}', '{"mean_us": 1000, "method": "fsync"}');
    END IF;
    RETURN (SELECT regexp_replace(concat_ws('; ', l.wal_bytes_per_sec, l.write_amplification,
                                            l.basis, l.years), 'run \d+', 'run N')
            FROM sync_probe.device_lifetime('pg_wal', 300000000000, 5000, 3000000) AS l);
END
$$;
SELECT is(pg_temp.lifetime(others, bytes), '3000000; ' || expected, expected)
FROM (VALUES (NULL, 0, 'not probed yet'),
             ('0', 40960, '5; run N, 8192 bytes of WAL a flush; 3.2'),
             ('0', NULL, 'run N did not read the counters'),
             ('16384000', 40960, '3; run N, 8192 bytes of WAL a flush; 5.3'),
             ('40960000', 40960, 'run N did not see enough of background I/O'))
         AS v (others, bytes, expected);
SELECT is(basis, 'not probed yet', 'a run at another location says nothing')
FROM sync_probe.device_lifetime('pg_default', 300000000000, 5000, 3000000);
SELECT pg_temp.record_run(run, false)
FROM (VALUES ('{"usable_for_advice": false}'::jsonb), ('{"suite": "stream"}'),
             ('{"device": "sdz"}'),
             ('{"directory": "/elsewhere"}'), ('{"host": "elsewhere"}')) AS v (run);
SELECT matches(pg_temp.lifetime(NULL), '; run N did not see enough of background I/O$',
               'nor does one that no advice rests on');

\ir include/end.sql
