--
-- sync_probe.device_lifetime(): how long an SSD lasts under this cluster's WAL.
--
SELECT refused('SELECT FROM sync_probe.device_lifetime(%s)', $$
NULL, 300000000000, 5000
'no_such_tablespace', 300000000000, 5000
'pg_global', 300000000000, 5000
'pg_wal', NULL, 5000
'pg_wal', 0, 5000
'pg_wal', 300000000000, NULL
'pg_wal', 300000000000, -5000
'pg_wal', 300000000000, 5000, 0
'pg_wal', 300000000000, 5000, 'NaN'
'pg_wal', 300000000000, 5000, 'Infinity'
'pg_wal', 300000000000, 5000, write_amplification => 0
'pg_wal', 300000000000, 5000, write_amplification => '-Infinity'
$$);

-- 300 GB x 5,000 cycles at 3 MB a second are some 15 years, 240 GB x 3,000 some 7
SELECT l.location, l.capacity_bytes, l.erase_cycles, l.wal_bytes_per_sec, l.wal_rate_source,
       l.write_amplification, l.write_amplification_source, l.written_bytes_per_day, l.years
FROM (VALUES (300000000000, 5000), (240000000000, 3000)) AS v (capacity_bytes, erase_cycles),
     LATERAL sync_probe.device_lifetime('pg_wal', v.capacity_bytes, v.erase_cycles,
                                        3 * 1024 * 1024, 1) AS l;

-- next to nothing is written, and very much
SELECT written_bytes_per_day, years > 1e15 AS ages
FROM sync_probe.device_lifetime('pg_wal', 300000000000, 5000, 1e-9, 1);
SELECT written_bytes_per_day, years FROM sync_probe.device_lifetime('pg_wal', 1, 1, 1e15, 10);

-- the rate of WAL is the cluster's own, if none is given and it is known for an hour
SELECT CASE WHEN wal_rate_source LIKE 'pg\_stat\_wal since _%'
            THEN wal_bytes_per_sec > 0 AND years > 0
                 AND written_bytes_per_day BETWEEN 86400 * (wal_bytes_per_sec - 1) * 2
                                               AND 86400 * (wal_bytes_per_sec + 1) * 2
            ELSE wal_rate_source LIKE '%an hour is needed' END AS cluster_rate
FROM sync_probe.device_lifetime('pg_wal', 300000000000, 5000, write_amplification => 2);
SELECT hours, r.*
FROM unnest(ARRAY[0.5, 1, 48]) AS hours,
     LATERAL sync_probe_internal.wal_rate(3600 * 1e6, '2026-05-03 00:00Z',
                                  '2026-05-03 00:00Z'::timestamptz + hours * interval '1 hour',
                                  '-infinity')
         AS r;

-- time as a standby must not be part of it
SELECT recovery_end, r.*
FROM unnest('{2026-05-02 23:59Z, 2026-05-03 00:00Z, 2026-05-03 00:01Z, infinity}'::timestamptz[])
         AS recovery_end,
     LATERAL sync_probe_internal.wal_rate(3600 * 1e6, '2026-05-03 00:00Z', '2026-05-03 01:00Z',
                                          recovery_end) AS r;
SELECT sync_probe_internal.recovery_end() < clock_timestamp() AS has_ended;

-- the amplification is the newest run's; without one nothing is known
CREATE TEMP VIEW lifetime AS
SELECT wal_bytes_per_sec, write_amplification, write_amplification_source,
       written_bytes_per_day, years
FROM sync_probe.device_lifetime('regress_sync_probe', 300000000000, 5000, 3000000);
TABLE lifetime;

INSERT INTO sync_probe.runs (run_id, location, suite, wal_sync_method, flush_size,
    usable_for_advice, system_identifier, host, directory, device, storage, verdict, deciding_test)
SELECT v.run_id, l.name, 'wal', 'fdatasync', 8192, true, s.system_identifier, s.host, l.directory,
       l.device, v.storage, 'keep', 'paced'
FROM sync_probe_internal.this_server() AS s,
     sync_probe_internal.examine_locations('regress_sync_probe') AS l,
     (VALUES (1001, 0), (1002, NULL), (1003, 16384000), (1004, 40960000)) AS b (run_id, others),
     LATERAL (SELECT b.run_id, jsonb_build_object(
                         'others', jsonb_build_object('seconds', 1, 'bytes_per_sec', b.others,
                                                      'bytes_per_sec_error', 0),
                         'device_bytes_error', jsonb_build_object('1', 0))) AS v (run_id, storage);
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status, ops,
    mean_us, device_bytes_per_op)
SELECT r.run_id, o.ordinal, o.test, o.method, false, 'ok', 1000, 1000, o.bytes
FROM sync_probe.runs AS r,
     (VALUES (1, 'paced', 'fdatasync', 40960),
             (2, 'saturated', 'fdatasync', 9000),
             (3, 'paced', 'fsync', 99999),
             (4, 'saturated', 'fsync', 99999)) AS o (ordinal, test, method, bytes)
WHERE r.run_id > 1000;
UPDATE sync_probe.measurements SET device_bytes_per_op = NULL WHERE run_id = 1002;

-- from the newest: others wrote all of it, some of it, nobody counted, nothing of it
TABLE lifetime;
DELETE FROM sync_probe.runs WHERE run_id = 1004;
TABLE lifetime;
DELETE FROM sync_probe.runs WHERE run_id = 1003;
TABLE lifetime;
DELETE FROM sync_probe.runs WHERE run_id = 1002;
TABLE lifetime;

-- a run at another location says nothing
SELECT write_amplification, write_amplification_source
FROM sync_probe.device_lifetime('pg_wal', 300000000000, 5000, 3000000);
DELETE FROM sync_probe.runs;
DROP VIEW lifetime;
