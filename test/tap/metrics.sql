-- sync_probe.metrics: every series on invented rows, with its labels and in base units.
\ir include/begin.sql
DELETE FROM sync_probe.commit_wait_results;
\ir include/stage.sql

-- pg_default shares the file system of pg_wal, and so has no advice of its own.
UPDATE examined SET shares_filesystem_with = 'pg_wal' WHERE name = 'pg_default';
CREATE FUNCTION pg_temp.series() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('%s %s %s', substr(m.name, 15), m.labels,
                  CASE WHEN m.name !~ 'age_seconds' THEN round(m.value::numeric, 9)::float8
                       ELSE round(m.value / 3600) END)
    FROM sync_probe.metrics AS m
    WHERE m.name !~ 'finding$|device_written'
$$;

SELECT bag_eq('SELECT * FROM pg_temp.series()', ARRAY[
    'info {"version": "' || (SELECT extversion FROM pg_extension WHERE extname = 'pg_sync_probe')
        || '"} 1',
    'advice_info {"device": "nvme0n1", "method": "fdatasync", "durable": "unknown", '
        '"verdict": "not probed", "location": "pg_wal"} 1'],
    'nothing is recorded: what is unknown is no row');

-- A run an hour ago, and its p99 of a paced flush; and others that differ from it: 1 ms is the
-- median of those that were made a month before it.
WITH run AS MATERIALIZED (
    SELECT pg_temp.record_run(jsonb_build_object('durable', 'no_cache', 'finished_at',
               now() - interval '1 h' - v.days * interval '1 day') || v.differences) AS id, v.*
    FROM (VALUES (61, 9e9, '{}'::jsonb), (59, 800, '{}'), (45, 1000, '{}'), (31, 9e9, '{}'),
             (31, 0, '{}'), (29, 9e9, '{}'), (40, 1, '{"method": "fsync"}'),
             (40, 1, '{"device": "sdb"}'), (40, 1, '{"suite": "commit"}'),
             (40, 1, '{"usable_for_advice": false}'), (40, 1, '{"host": "elsewhere"}'),
             (40, 1, '{"location": "elsewhere"}'), (0, 2500, '{}')
         ) AS v (days, p99_us, differences))
SELECT pg_temp.record_cases(r.id, VARIADIC ARRAY(
           SELECT jsonb_build_object('p50_us', m.p99_us * 0.04024) || to_jsonb(m)
           FROM (VALUES ('paced', coalesce(r.differences ->> 'method', 'fdatasync'), r.p99_us),
                        ('saturated', 'fdatasync', 7), ('paced', 'open_sync', 7))
                    AS m (test, method, p99_us)))
FROM run AS r;
INSERT INTO sync_probe.commit_wait_results (answer, commit_wait_us, commits_per_sec, wal_busy,
    started_at, system_identifier, host)
SELECT '', w.us, 250, 0.5, now() - w.age::interval, s.system_identifier, coalesce(w.host, s.host)
FROM sync_probe_internal.this_server() AS s, (VALUES (1, '3 h', NULL), (8000, '2 h', NULL),
     (9, '1 h', 'elsewhere'), (9, '-1 h', NULL)) AS w (us, age, host);

SELECT bag_eq($$SELECT * FROM pg_temp.series() WHERE series !~ '^info'$$, ARRAY[
    'advice_info {"basis": "wal", "device": "nvme0n1", "method": "fdatasync", "durable": '
        '"no_cache", "verdict": "keep", "location": "pg_wal", "recommended_method": "fdatasync"} 1',
    'durable {"location": "pg_wal"} 1', 'run_age_seconds {"location": "pg_wal"} 1',
    'flush_p50_seconds {"device": "nvme0n1", "method": "fdatasync", "location": "pg_wal"} '
        '0.0001006',
    'flush_p99_seconds {"device": "nvme0n1", "method": "fdatasync", "location": "pg_wal"} 0.0025',
    'flush_p99_ratio {"device": "nvme0n1", "method": "fdatasync", "location": "pg_wal"} 2.5',
    'commit_wait_seconds {} 0.008', 'commits_per_second {} 250', 'wal_busy_ratio {} 0.5',
    'commit_wait_age_seconds {} 2'], 'all that is recorded');
SELECT is(value::text, '0.0001006', 'no digits of a division by 10^6')
FROM sync_probe.metrics WHERE name = 'pg_sync_probe_flush_p50_seconds';

-- 43,200 bytes a second, twice as many on the device
CREATE OR REPLACE FUNCTION sync_probe_internal.wal_rate(wal_bytes numeric, since timestamptz,
    until timestamptz, recovery_end timestamptz, OUT bytes_per_sec float8, OUT source text)
LANGUAGE sql AS 'SELECT 43200, NULL';
UPDATE sync_probe.measurements SET mean_us = 1000;
UPDATE sync_probe.runs SET storage = storage || '{"device_bytes_per_op": {"1": 16384},
    "device_bytes_error": {"1": 0},
    "others": {"seconds": 1, "bytes_per_sec": 0, "bytes_per_sec_error": 0}}';
SELECT is((SELECT labels::text || value FROM sync_probe.metrics
           WHERE name = 'pg_sync_probe_device_written_bytes_per_second'),
          '{"device": "nvme0n1", "location": "pg_wal"}86400', 'wear');

-- No longer durable, no barriers; and figures that are none.
UPDATE sync_probe.runs SET durable = 'no', verdict = 'unsafe';
UPDATE sync_probe.measurements SET p50_us = 'NaN', p99_us = 'Infinity';
UPDATE sync_probe.commit_wait_results SET commit_wait_us = 'NaN', wal_busy = NULL;
SELECT is((SELECT value FROM sync_probe.metrics WHERE name = 'pg_sync_probe_durable'), 0::float8,
          'not durable');
SELECT is((SELECT count(*) FROM pg_temp.series() AS s WHERE s ~ '^(flush|commit_wait_s|wal)'),
          0::bigint, 'neither NaN nor infinity');
UPDATE examined SET mount_options = 'rw,nobarrier';
SELECT is((SELECT sum(value) FROM sync_probe.metrics WHERE labels ->> 'code' = 'barrier_off'),
          1::float8, 'barriers off');
SELECT bag_eq($$SELECT labels, value FROM sync_probe.metrics WHERE name = 'pg_sync_probe_finding'$$,
    $$SELECT jsonb_build_object('location', location, 'severity', severity, 'code', code),
             count(*)::float8
      FROM sync_probe.findings GROUP BY location, severity, code$$, 'findings');

SELECT is_empty($$SELECT name, labels FROM sync_probe.metrics AS m
    WHERE name !~ '^pg_sync_probe_[a-z0-9_]+$'
       OR EXISTS (SELECT FROM jsonb_each(m.labels) AS l (key, value)
                  WHERE l.key !~ '^(?!__)[a-z_][a-z0-9_]*$' OR jsonb_typeof(l.value) <> 'string')$$,
    'names are as Prometheus has them');
SELECT is((SELECT count(DISTINCT (name, labels)) FROM sync_probe.metrics),
          (SELECT count(*) FROM sync_probe.metrics), 'no series is there twice');

\ir include/end.sql
