--
-- sync_probe.stalls on recorded rows: what is a stall, of what usual figures, and what the
-- device did meanwhile.
--
\ir include/begin.sql
SELECT plan(33);

DELETE FROM sync_probe.runs;
\ir include/stage.sql
INSERT INTO sync_probe.runs (run_id, suite, location, started_at) VALUES
(1, 'stream', 'pg_wal', '2026-01-01 12:00:00Z'),
(2, 'stream', 'fast', '2026-01-01 13:00:00Z'),
(3, 'wal', 'pg_wal', '2026-01-01 14:00:00Z');
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status, p50_us,
                                     write_size) VALUES
(1, 1, '8 kB', 'fdatasync', false, 'ok', 200, 8192),
(1, 2, '1 MB', 'fdatasync', false, 'ok', 20000, 1048576),
(2, 1, '8 kB', 'open_datasync', true, 'ok', NULL, 8192);

-- Usual seconds: 40 MB/s of 8 kB, where the device writes twice the bytes, and 400 of 1 MB.
INSERT INTO sync_probe.stream_seconds (run_id, ordinal, second, began_at, length_ms, ops, bytes,
    mb_per_sec, slowest_us, slowest_at, device_writes, device_bytes, device_flushes,
    device_utilization)
SELECT 1, 1 + n % 2, n, timestamptz '2026-01-01 12:00:00Z' + make_interval(secs => n), 1000,
       5000, bytes, bytes / 1048576.0, 900,
       timestamptz '2026-01-01 12:00:00Z' + make_interval(secs => n + 0.5), 10000, 2 * bytes, 5000,
       0.8
FROM generate_series(0, 19) AS n,
     LATERAL (SELECT CASE n % 2 WHEN 0 THEN 40 ELSE 400 END * 1048576::bigint) AS b (bytes);
SELECT is_empty('SELECT * FROM sync_probe.stalls', 'a steady stream has no stall');

-- One second of a case becomes as the test says.
CREATE FUNCTION pg_temp.let_second(n integer, changes jsonb) RETURNS void LANGUAGE sql AS $$
WITH changed AS (
    DELETE FROM sync_probe.stream_seconds WHERE run_id = 1 AND second = n
    RETURNING jsonb_populate_record(stream_seconds, changes) AS r)
INSERT INTO sync_probe.stream_seconds SELECT (c.r).* FROM changed AS c
$$;

-- a flush: of more than 100 ms, and of more than ten times the median
SELECT pg_temp.let_second(2, '{"slowest_us": 100000}');
SELECT pg_temp.let_second(3, '{"slowest_us": 200000}');
SELECT is_empty('SELECT * FROM sync_probe.stalls',
                'neither 100 ms of 8 kB nor ten times the median of 1 MB');
SELECT pg_temp.let_second(2, '{"slowest_us": 100001}');
SELECT pg_temp.let_second(3, '{"slowest_us": 200001}');
SELECT results_eq(
    $$SELECT location, second, kind, test, method, direct_io, stalled_ms, usual_ms, mb_per_sec,
             usual_mb_per_sec, stalled_at = timestamptz '2026-01-01 12:00:00.5Z'
                 + make_interval(secs => second)
      FROM sync_probe.stalls$$,
    $$VALUES ('pg_wal'::name, 2, 'flush', '8 kB', 'fdatasync', false, 100.0::float8, 0.2::float8,
              40::float8, 40::float8, true),
             ('pg_wal', 3, 'flush', '1 MB', 'fdatasync', false, 200.0, 20, 400, 400, true)$$,
    'but more is');
SELECT pg_temp.let_second(2, '{"slowest_us": 900}');
SELECT pg_temp.let_second(3, '{"slowest_us": 900}');

-- a second: less than a tenth of the median rate of its case
SELECT pg_temp.let_second(4, '{"mb_per_sec": 4}');
SELECT is_empty('SELECT * FROM sync_probe.stalls', 'a tenth of the rate is no stall');
SELECT pg_temp.let_second(4, '{"mb_per_sec": 3.99, "slowest_us": 99000, "length_ms": 1050}');
SELECT results_eq(
    $$SELECT second, kind, stalled_ms, mb_per_sec, stalled_at FROM sync_probe.stalls$$,
    $$VALUES (4, 'second', 1050::float8, 3.99::float8, timestamptz '2026-01-01 12:00:04Z')$$,
    'less is: the whole second, from its begin');
SELECT pg_temp.let_second(4, '{"mb_per_sec": 3.99, "slowest_us": 900000, "length_ms": 1050}');
SELECT results_eq('SELECT second, kind, stalled_ms FROM sync_probe.stalls',
                  $$VALUES (4, 'flush', 900::float8)$$,
                  'a slow flush that makes a slow second is one stall');
SELECT pg_temp.let_second(4, '{"mb_per_sec": 0.1, "slowest_us": 900, "length_ms": 499}');
SELECT is_empty('SELECT * FROM sync_probe.stalls', 'a second that was cut short has no rate');
SELECT pg_temp.let_second(4, '{"mb_per_sec": 40, "length_ms": 1000}');

-- what the device did: around a flush
CREATE FUNCTION pg_temp.meanwhile(n integer, changes jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_temp.let_second(n, changes);
    RETURN (SELECT s.meanwhile FROM sync_probe.stalls AS s WHERE s.second = n);
END
$$;
SELECT is(pg_temp.meanwhile(6, '{"slowest_us": 900000}'),
          'unknown: the counters of the device were not read', 'no counters around the flush');
SELECT is(pg_temp.meanwhile(6, '{"slowest_device_writes": 1, "slowest_device_flushes": 0,
    "slowest_device_bytes": 8192, "slowest_device_utilization": 0.998}'),
          'the device was busy 100 % of the time and completed 1 write and 0 flushes: it was slow'
          ' itself', 'a device that stalls');
SELECT is(pg_temp.meanwhile(6, '{"slowest_device_flushes": null}'),
          'the device was busy 100 % of the time and completed 1 write: it was slow itself',
          'an old kernel, which counts no flushes');
SELECT is(pg_temp.meanwhile(6, '{"slowest_device_writes": 20, "slowest_device_flushes": 1}'),
          'the device was busy 100 % of the time and completed 20 writes and 1 flush: it was slow'
          ' itself', 'a few writes of a journal are our own');
SELECT is(pg_temp.meanwhile(6, '{"slowest_device_bytes": 8421376}'),
          'the device was busy 100 % of the time and completed 20 writes and 1 flush: it was slow'
          ' itself', '8 MB and twice the usual bytes are not much');
SELECT is(pg_temp.meanwhile(6, '{"slowest_device_bytes": 8421377}'),
          'the device was busy 100 % of the time: others wrote 8208 kB', 'but more are');
SELECT is(pg_temp.meanwhile(6, '{"slowest_device_bytes": 209715200}'),
          'the device was busy 100 % of the time: others wrote 200 MB', 'a checkpoint, perhaps');
SELECT is(pg_temp.meanwhile(6, '{"slowest_device_utilization": 0.249}'),
          'the device was idle 75 % of the time: something above it waited (file system,'
          ' processor, a limit on I/O)', 'an idle device is no cause, whatever was written');
SELECT is(pg_temp.meanwhile(6, '{"slowest_device_utilization": 0.25}'),
          'the device was busy 25 % of the time: others wrote 200 MB', 'a quarter is enough');
SELECT pg_temp.let_second(6, '{"slowest_us": 900}');

-- and in a second
SELECT is(pg_temp.meanwhile(8, '{"mb_per_sec": 1, "bytes": 1048576, "device_bytes": 2097152,
    "device_writes": 256, "device_flushes": 128, "device_utilization": 1}'),
          'the device was busy 100 % of the time and completed 256 writes and 128 flushes: it was'
          ' slow itself', 'a slow second');
SELECT is(pg_temp.meanwhile(8, '{"device_bytes": 106954752}'),
          'the device was busy 100 % of the time: others wrote 100 MB',
          'what the case usually makes the device write is subtracted');
SELECT is(pg_temp.meanwhile(8, '{"device_writes": null}'),
          'unknown: the counters of the device were not read', 'without counters');

-- a case without a median, and one without any bytes, compare with nothing
INSERT INTO sync_probe.stream_seconds (run_id, ordinal, second, length_ms, ops, bytes, mb_per_sec,
                                       slowest_us) VALUES
(2, 1, 0, 1000, 0, 0, 0, NULL),
(2, 1, 1, 1000, 1, 8192, 10, 100001);
SELECT results_eq('SELECT location, second, kind, usual_ms FROM sync_probe.stalls WHERE run_id = 2',
                  $$VALUES ('fast'::name, 1, 'flush', NULL::float8)$$, 'figures that are missing');

-- in the order of time, whatever the case
SELECT pg_temp.let_second(n, '{"slowest_us": 900000}') FROM unnest('{15, 11, 12}'::int[]) AS n;
SELECT results_eq('SELECT second FROM sync_probe.stalls WHERE run_id = 1',
                  'VALUES (8), (11), (12), (15)', 'in the order of time');
DELETE FROM sync_probe.runs;
SELECT is_empty('SELECT * FROM sync_probe.stream_seconds', 'seconds go with their run');

-- ------------------------------------------------------------------ the finding

-- A run of 40 s, with a second of its only case as given.
CREATE FUNCTION pg_temp.record_stream(changes jsonb, of_run jsonb DEFAULT '{}')
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    id bigint := pg_temp.record_run(
        jsonb_build_object('suite', 'stream', 'started_at', now() - interval '40 s') || of_run,
        NOT of_run ? 'elsewhere');
BEGIN
    INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, status, p50_us, write_size)
    VALUES (id, 1, '8 kB', 'fdatasync', 'ok', 200, 8192);
    INSERT INTO sync_probe.stream_seconds (run_id, ordinal, second, began_at, length_ms, ops,
                                           bytes, mb_per_sec, slowest_us, slowest_at)
    SELECT id, 1, n, now(), 1000, 5000, 40960000, 39, 900, now()
    FROM generate_series(0, 39) AS n;
    WITH changed AS (
        DELETE FROM sync_probe.stream_seconds AS s
        WHERE s.run_id = id AND s.second < coalesce((changes ->> 'seconds')::int, 1)
        RETURNING jsonb_populate_record(s, changes) AS r)
    INSERT INTO sync_probe.stream_seconds SELECT (c.r).* FROM changed AS c;
    RETURN id;
END
$$;
CREATE FUNCTION pg_temp.found(changes jsonb, of_run jsonb DEFAULT '{}')
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_temp.record_stream(changes, of_run);
    RETURN coalesce((SELECT concat_ws(' ', f.location, f.severity, f.message)
                     FROM sync_probe.findings AS f WHERE f.code = 'stream_stalls'), 'none');
END
$$;

SELECT is(pg_temp.found('{}'), 'none', 'no finding without a stall');
SELECT is(pg_temp.found('{"slowest_us": 999949}'), 'none', 'nor with one of less than a second');
SELECT is(pg_temp.found('{"slowest_us": 1000000, "length_ms": 1500}'),
          'pg_wal warning a stream stalled once in 40.0 s, for 1.0 s in all; in the longest stall,'
          ' of 1.0 s, unknown: the counters of the device were not read', 'a flush of a second');
SELECT is(pg_temp.found('{"mb_per_sec": 1}'), 'none', 'nor with one slow second of 40');
SELECT is(pg_temp.found('{"mb_per_sec": 1, "seconds": 2}'),
          'pg_wal warning a stream stalled 2 times in 40.0 s, for 2.0 s in all; in the longest'
          ' stall, of 1.0 s, unknown: the counters of the device were not read', 'but with two');
SELECT is((SELECT count(*) FROM sync_probe.findings WHERE code = 'stream_stalls'
           AND commands = ARRAY[format('SELECT * FROM sync_probe.stalls WHERE run_id = %s',
                                       evidence ->> 'run_id')]
           AND evidence @> '{"stalls": 2, "stalled_seconds": 2, "seconds": 40}'),
          1::bigint, 'with a command and figures');
SELECT is(pg_temp.found('{}'), 'none', 'a newer run without a stall counts');
SELECT matches(pg_temp.found('{"slowest_us": 2e6}'), '^pg_wal warning ', 'as does one with a stall');
SELECT is(pg_temp.found('{}', '{"suite": "wal"}') <> 'none', true, 'a run of another suite does not');
SELECT matches(pg_temp.found('{}', '{"elsewhere": true, "device": "sdz"}'), '^pg_wal warning ',
               'nor does one on another device');
SELECT matches(pg_temp.found('{}', '{"elsewhere": true, "imported_at": "2026-01-01"}'),
               '^pg_wal warning ', 'nor one that was imported');

SELECT * FROM finish();
ROLLBACK;
