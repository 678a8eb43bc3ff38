-- Stalls of recorded streams: what is one, what the device did meanwhile, and the finding.
\ir include/begin.sql

\ir include/stage.sql
INSERT INTO sync_probe.runs (run_id, suite) OVERRIDING SYSTEM VALUE
VALUES (1, 'stream'), (2, 'stream');
SELECT pg_temp.record_cases(1, '{"test": "8 kB", "p50_us": 200}',
                            '{"test": "1 MB", "p50_us": 20000}'),
       pg_temp.record_cases(2, '{"test": "8 kB", "method": "open_datasync", "direct_io": true}');

-- Usual seconds: 40 MB/s of 8 kB, where the device writes twice the bytes, and 400 of 1 MB.
INSERT INTO sync_probe_internal.stream_seconds (run_id, ordinal, second, began_at, length_ms,
    bytes, slowest_us, device_bytes, device_utilization)
SELECT 1, 1 + n % 2, n, timestamptz '2026-01-01 12:00:00Z' + make_interval(secs => n), 1000,
       bytes, 900, 2 * bytes, 0.8
FROM generate_series(0, 19) AS n,
     LATERAL (SELECT CASE n % 2 WHEN 0 THEN 40 ELSE 400 END * 1048576::bigint) AS b (bytes);

-- The stalls of run 1 if one of its seconds has these changes, and what the device did meanwhile.
CREATE FUNCTION pg_temp.stalls(n integer, changes text, OUT stalls text, OUT meanwhile text)
LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE was ON COMMIT DROP AS
    SELECT * FROM sync_probe_internal.stream_seconds WHERE run_id = 1 AND second = n;
    DELETE FROM sync_probe_internal.stream_seconds WHERE run_id = 1 AND second = n;
    INSERT INTO sync_probe_internal.stream_seconds
    SELECT (jsonb_populate_record(was, pg_temp.given(changes))).* FROM was;
    SELECT string_agg(concat_ws(' ', s.kind, s.stalled_ms, s.test, s.second, s.began_at::time),
                      ', '), min(s.meanwhile)
    INTO stalls, meanwhile FROM sync_probe_internal.judged_seconds(1) AS s
    WHERE s.kind <> '';
    DELETE FROM sync_probe_internal.stream_seconds WHERE run_id = 1 AND second = n;
    INSERT INTO sync_probe_internal.stream_seconds SELECT * FROM was;
    DROP TABLE was;
END
$$;
SET LOCAL timezone = 'UTC';
SELECT is(s.stalls, says, name)
FROM (VALUES ('a steady stream', 2, '', NULL), ('a flush of 100 ms', 2, 'slowest_us=100000', NULL),
    ('a flush of more', 2, 'slowest_us=100001', 'flush 100 8 kB 2 12:00:02'),
    ('a flush of ten times the median', 3, 'slowest_us=200000', NULL),
    ('a flush of more than that', 3, 'slowest_us=200001', 'flush 200 1 MB 3 12:00:03'),
    ('a tenth of the median rate', 4, 'bytes=4194304', NULL),
    ('less of it: the whole second', 4,
     'bytes=4194304, slowest_us=99000, length_ms=1050', 'slow second 1050 8 kB 4 12:00:04'),
    ('a slow flush that makes a slow second is one stall', 4,
     'bytes=4194304, slowest_us=900000, length_ms=1050', 'flush 900 8 kB 4 12:00:04'),
    ('a second that was cut short has no rate', 4, 'bytes=8192, length_ms=499', NULL),
    ('nor has one of no length', 4, 'bytes=8192, length_ms=0', NULL)
) AS v (name, n, changes, says), pg_temp.stalls(n, changes) AS s;

-- around a flush, and in a slow second, where the device usually writes 80 MB and 2 MB
SELECT is(s.meanwhile, says, kind || ': ' || v.changes)
FROM (VALUES ('flush', '', 'the counters of the device were not read: the cause is unknown'),
    ('flush', 'slowest_device_utilization=0.998',
     'the device was busy 100 % of the time: it was slow itself'),
    -- a quarter and 8 MB more than usual are not much; what is more may be a checkpoint
    ('flush', 'slowest_device_utilization=0.25, device_bytes=113246208',
     'the device was busy 25 % of the time: it was slow itself'),
    ('flush', 'slowest_device_utilization=0.25, device_bytes=113246209',
     'the device was busy 25 % of the time, and others wrote 28 MB'),
    -- an idle device is no cause, whatever was written
    ('flush', 'slowest_device_utilization=0.249, device_bytes=113246209',
     'the device was idle 75 % of the time: something above it waited (file system, processor, a'
     ' limit on I/O)'),
    ('second', 'device_bytes=2097152, device_utilization=1',
     'the device was busy 100 % of the time: it was slow itself'),
    ('second', 'device_bytes=106954752, device_utilization=1',
     'the device was busy 100 % of the time, and others wrote 100 MB'),
    ('second', 'device_bytes=null',
     'the counters of the device were not read: the cause is unknown'))
        AS v (kind, changes, says),
     pg_temp.stalls(6, CASE kind WHEN 'flush' THEN 'slowest_us=900000; '
                                 ELSE 'bytes=1048576; ' END || v.changes) AS s;

-- a case without a median, and one without any bytes, compare with nothing
INSERT INTO sync_probe_internal.stream_seconds (run_id, ordinal, second, length_ms, bytes,
    slowest_us)
VALUES (2, 1, 0, 1000, 0, NULL), (2, 1, 1, 1000, 8192, 100001);
SELECT results_eq('SELECT second, kind FROM sync_probe_internal.judged_seconds(2)
                   WHERE kind IS NOT NULL',
                  $$VALUES (1, 'flush')$$, 'figures that are missing');
INSERT INTO sync_probe_internal.stream_seconds (run_id, ordinal, second, length_ms, bytes,
    slowest_us)
SELECT 2, 1, n, 1000, 8192, 900 FROM generate_series(2, 40) AS n;
SELECT matches((pg_temp.stalls(4, 'bytes=1048576')).stalls, 'slow second 1000 8 kB 4 ',
               'what is usual is so in the same run');
UPDATE sync_probe_internal.stream_seconds SET slowest_us = 100001, bytes = bytes / 4
WHERE run_id = 1 AND second = 2;
SELECT results_eq('SELECT second, began_at, test, method, direct_io, mb_per_sec, slowest_us,
                          device_utilization, length(bar), stall
                   FROM sync_probe.stream_seconds(1) WHERE second IN (1, 2)',
    $$VALUES (1, '2026-01-01 12:00:01Z'::timestamptz, '1 MB', 'fdatasync', false, 400::float8,
              900::float8, 0.8::float8, 40, NULL),
             (2, '2026-01-01 12:00:02Z', '8 kB', 'fdatasync', false, 10, 100001, 0.8, 10,
              'flush of 100 ms: the counters of the device were not read: the cause is unknown')$$,
    'stream_seconds() has the rate of each second, and its stall');
DELETE FROM sync_probe.runs;

-- ------------------------------------------------------------------ the finding

-- What is found after a run of 40 s, of whose only case the first "seconds" are as given.
CREATE FUNCTION pg_temp.found(changes text, of_run text DEFAULT '') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    run jsonb := pg_temp.given(of_run);
    change jsonb := pg_temp.given(changes);
    id bigint := pg_temp.record_run(
        jsonb_build_object('suite', 'stream', 'started_at', now() - interval '40 s') || run,
        NOT run ? 'elsewhere');
BEGIN
    PERFORM pg_temp.record_cases(id, '{"test": "8 kB", "p50_us": 200}');
    INSERT INTO sync_probe_internal.stream_seconds
    SELECT r.*
    FROM generate_series(0, 39) AS n,
         jsonb_populate_record(NULL::sync_probe_internal.stream_seconds, jsonb_build_object(
             'run_id', id, 'ordinal', 1, 'second', n, 'began_at', now(), 'length_ms', 1000,
             'bytes', 40960000, 'slowest_us', 900)
             || CASE WHEN n < coalesce((change ->> 'seconds')::int, 1)
                     THEN change ELSE '{}' END) AS r;
    RETURN coalesce((SELECT concat_ws(' ', f.location, f.severity, f.message)
                     FROM sync_probe.findings AS f WHERE f.code = 'stream_stalls'), 'none');
END
$$;

SELECT is(pg_temp.found(''), 'none', 'no finding without a stall');
SELECT is(pg_temp.found('slowest_us=999949'), 'none', 'nor with one of less than a second');
SELECT is(pg_temp.found('slowest_us=1000000, length_ms=1500'),
          'pg_wal warning a stream stalled once in 40.5 s, for 1.0 s in all; in the longest stall,'
          ' of 1.0 s, the counters of the device were not read: the cause is unknown',
          'a flush of a second');
SELECT is(pg_temp.found('bytes=1048576'), 'none', 'nor with one slow second of 40');
SELECT is(pg_temp.found('bytes=1048576, seconds=2'),
          'pg_wal warning a stream stalled 2 times in 40.0 s, for 2.0 s in all; in the longest'
          ' stall, of 1.0 s, the counters of the device were not read: the cause is unknown',
          'but with two');
SELECT is((SELECT count(*) FROM sync_probe.findings WHERE code = 'stream_stalls'
           AND commands = ARRAY[format('SELECT * FROM sync_probe.stream_seconds(%s)',
                                       evidence ->> 'run_id')]
           AND evidence @> '{"stalls": 2, "stalled_seconds": 2, "seconds": 40,
                              "longest": [{"kind": "slow second", "second": 0, "test": "8 kB"}]}'),
          1::bigint, 'with a command and figures');
SELECT is(pg_temp.found(''), 'none', 'a newer run without a stall counts');
SELECT matches(pg_temp.found('slowest_us=2000000'), '^pg_wal warning ', 'as does one with a stall');
SELECT is(pg_temp.found('', 'suite=wal') <> 'none', true, 'a run of another suite does not');
SELECT matches(pg_temp.found('', 'elsewhere=true, device=sdz'), '^pg_wal warning ',
               'nor does one on another device');

\ir include/end.sql
