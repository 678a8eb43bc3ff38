-- What sync_probe.history() makes of recorded runs.
\ir include/begin.sql
\ir include/stage.sql
SET LOCAL TimeZone = 'UTC';

-- A run whose entries of fdatasync are us - 1, us and us + 1, and those of fsync half of that.
-- By itself, fdatasync takes 1.25 times as long as fsync.
CREATE FUNCTION pg_temp.record(differences text, us float8 DEFAULT 100) RETURNS bigint
LANGUAGE sql AS $$
    SELECT pg_temp.record_cases(pg_temp.record_run(d), VARIADIC ARRAY(
        SELECT jsonb_build_object('test', t, 'method', m, 'p50_us', v.us, 'p99_us', v.us * 3,
                   'mean_us', v.us, 'relative_speed', s.speed, 'relative_speed_low', s.speed - 0.01,
                   'relative_speed_high', s.speed + 0.01,
                   'entries', ARRAY(SELECT v.us + i % 3 - 1 FROM generate_series(1, 30) AS i))
        FROM unnest('{paced,saturated}'::text[]) AS t,
             (VALUES ('fdatasync', us, 0.8), ('fsync', us / 2, 1.25)) AS v (m, us, speed),
             LATERAL (SELECT CASE WHEN m = coalesce(d ->> 'wal_sync_method', 'fdatasync')
                                  THEN 1 ELSE v.speed END) AS s (speed)))
    FROM pg_temp.given(differences) AS d
$$;

-- Two runs, of which the first takes 100 us, and what is said of the second.
CREATE TEMP TABLE scenario (name text, before text, run text, us float8, changes text,
                            sentence text);
INSERT INTO scenario VALUES
('nothing changed', '', '', 100, NULL, NULL),
('slower, for no known reason', '', '', 210, NULL, NULL),
('remounted', 'storage: mount_options=rw,relatime', 'storage: mount_options=rw,relatime,nobarrier',
    210, '^mount options: none -> nobarrier$', '^since the mount options changed \(between '
    '2026-05-01 and 2026-05-03\), fdatasync takes 2.10 times as long \(2.07 to 2.13\)$'),
('options in another order', 'storage: mount_options=rw,a=1', 'storage: mount_options=a=1,rw', 210,
    NULL, NULL),
('another option', 'storage: mount_options=rw,a=1,b', 'storage: mount_options=rw,a=2', 100,
    '^mount options: a=1,b -> a=2$', NULL),
('options were not known', '', 'storage: mount_options=rw', 210, NULL, NULL),
('remounted, the same speed', 'storage: mount_options=rw', 'storage: mount_options=rw,discard', 104,
    'discard', NULL),
('remounted, faster', 'storage: mount_options=rw', 'storage: mount_options=rw,nobarrier', 50,
    'nobarrier', 'takes 0.50 times as long'),
('another kernel', 'storage: kernel=Linux 5', 'storage: kernel=Linux 6', 210,
    '^kernel: Linux 5 -> Linux 6$', '^since the kernel changed'),
('another host', 'host=web1', 'host=web2', 210, '^host: web1 -> web2$', '^since the host changed'),
('moved', 'directory=/a, device=sda, filesystem=ext4',
    'directory=/b, device=null, filesystem=zfs; storage: write_cache=null', 50,
    '^directory: /a -> /b; device: sda -> unknown; file system: ext4 -> zfs; write cache: write '
    'back -> unknown$',
    '^since the directory and the device and the file system and the write cache changed'),
('another server', 'server_version_num=150004', 'server_version_num=160001', 210,
    '^server version: 15.4 -> 16.1$', '^since the server version changed'),
('larger flushes', '', 'flush_size=50000', 210, '^flush size: 8192 bytes -> 50000 bytes$', NULL),
('larger flushes, and another kernel', 'storage: kernel=Linux 5',
    'flush_size=50000, flush_interval=0.5 ms; storage: kernel=Linux 6', 210,
    '^kernel: Linux 5 -> Linux 6; flush size: .*; flush interval: ',
    '^since the kernel changed \('),
('as many pages', '', 'flush_size=100', 210, NULL, NULL),
('another pace', '', 'flush_interval=0.5 ms', 50, '^flush interval: 5 ms -> 0.5 ms$', NULL),
('about the same pace', '', 'flush_interval=3 ms', 50, NULL, NULL),
-- fsync took half as long before, too
('another method', 'wal_sync_method=fsync', '', 100, '^wal_sync_method: fsync -> fdatasync$',
    '^fdatasync takes 1.25 times as long as fsync did \(1.24 to 1.26, by run \d+\)$'),
('another method, and the storage', 'wal_sync_method=fsync, device=sda', '', 210,
    '^device: sda -> nvme0n1; wal_sync_method: fsync -> fdatasync$', '^since the device changed .* '
    'fdatasync takes 2.10 .*; fdatasync takes 1.25 times as long as fsync'),
-- a run that did not measure its own method is no run to compare with
('another method, unmeasured', 'wal_sync_method=open_sync', '', 210, NULL, NULL);

CREATE TEMP TABLE got AS
SELECT NULL::text AS name, NULL::bigint AS n, h.* FROM sync_probe.history() AS h;
DO $$
DECLARE
    s scenario;
BEGIN
    FOR s IN SELECT * FROM scenario LOOP
        DELETE FROM sync_probe.runs;
        PERFORM pg_temp.record('finished_at=2026-05-01 20:00; ' || s.before);
        PERFORM pg_temp.record('finished_at=2026-05-03 10:00; ' || s.run, s.us);
        INSERT INTO got SELECT s.name, row_number() OVER (), h.* FROM sync_probe.history() AS h;
    END LOOP;
END
$$;

SELECT is((SELECT count(*) FROM got WHERE got.name = s.name), 2::bigint, name || ': a row each')
FROM scenario AS s;
SELECT ok(CASE WHEN s.changes IS NULL THEN g.changes IS NULL ELSE g.changes ~ s.changes END,
          format('%s: %s', name, coalesce(g.changes, 'no changes')))
FROM scenario AS s JOIN got AS g USING (name) WHERE g.n = 2;
SELECT ok(CASE WHEN s.sentence IS NULL THEN g.sentence IS NULL ELSE g.sentence ~ s.sentence END,
          format('%s: %s', name, coalesce(g.sentence, 'no sentence')))
FROM scenario AS s JOIN got AS g USING (name) WHERE g.n = 2;
SELECT is(count(*), 0::bigint, 'nothing changed before the first run')
FROM got WHERE n = 1 AND (changes IS NOT NULL OR sentence IS NOT NULL OR ratio IS NOT NULL);

-- the figures of a row; interval: 101 and 99 of one, 211 and 209 of the other
SELECT results_eq(
    $$SELECT finished_at, method, p50_us, p99_us, length(bar), ratio, ratio_low, ratio_high
      FROM got WHERE name = 'remounted' ORDER BY n$$,
    $$VALUES ('2026-05-01 20:00'::timestamptz, 'fdatasync', 100::float8, 300::float8, 10,
              NULL::float8, NULL::float8, NULL::float8),
             ('2026-05-03 10:00', 'fdatasync', 210, 630, 20, 2.1, round(209 / 101.0, 3)::float8,
              round(211 / 99.0, 3)::float8)$$, 'figures');
SELECT is(ratio, 1::float8, 'the ratio is of the same method')
FROM got WHERE name = 'another method' AND n = 2;
SELECT is(ratio, NULL, 'no ratio without the same method')
FROM got WHERE name = 'another method, unmeasured' AND n = 1;

-- which runs
DELETE FROM sync_probe.runs;
SELECT pg_temp.record('label=first') AS first,
       pg_temp.record('imported_at=2026-05-02', 300) AS imported,
       pg_temp.record('system_identifier=7', 300) AS elsewhere,
       pg_temp.record('suite=commit', 300) AS commits,
       pg_temp.record('location=pg_default', 300) AS tablespace,
       pg_temp.record('label=last', 110) AS last \gset
SELECT results_eq('SELECT run_id, label, ratio FROM sync_probe.history()',
    format($$VALUES (%s::bigint, 'first', NULL::float8), (%s, 'last', 1.1)$$, :first, :last),
    'runs of this suite, location and cluster, the newest last');
SELECT results_eq('SELECT run_id FROM sync_probe.history(''pg_default'')',
                  'VALUES (' || :tablespace || '::bigint)', 'another location');

-- a run of few flushes is a row, and no run to compare with
SELECT pg_temp.record('', 500) AS short, pg_temp.record('', 220) AS next \gset
UPDATE sync_probe.measurements SET ops = 6 WHERE run_id = :short;
SELECT results_eq('SELECT run_id, ratio FROM sync_probe.history() OFFSET 2',
    format('VALUES (%s::bigint, 4.545::float8), (%s, 2)', :short, :next), 'a short run');
DELETE FROM sync_probe.runs WHERE run_id IN (:short, :next);

-- a run that measured nothing is a row, and the one after it is compared with the one before
SELECT pg_temp.record('', 500) AS stopped, pg_temp.record('', 220) AS next \gset
UPDATE sync_probe.measurements
SET ops = NULL, status = 'stopped', p50_us = NULL, p99_us = NULL, mean_us = NULL
WHERE run_id = :stopped;
DELETE FROM sync_probe_internal.samples WHERE run_id = :stopped;
SELECT results_eq($$SELECT ratio, bar IS NULL FROM sync_probe.history()$$,
    $$VALUES (NULL::float8, false), (1.1, false), (NULL, true), (2, false)$$,
    'a run that measured nothing');
DELETE FROM sync_probe.measurements WHERE run_id = :stopped;
SELECT is(count(*), 4::bigint, 'or that has no test cases') FROM sync_probe.history();

-- without samples there is a ratio of means, but no interval and no sentence
UPDATE sync_probe.runs SET device = 'sdz' WHERE run_id = :next;
DELETE FROM sync_probe_internal.samples WHERE run_id = :last;
UPDATE sync_probe.measurements SET mean_us = 440 WHERE run_id = :last;
SELECT results_eq($$SELECT ratio, ratio_low, ratio_high, changes, sentence
                    FROM sync_probe.history() OFFSET 3$$,
    $$VALUES (0.5::float8, NULL::float8, NULL::float8, 'device: nvme0n1 -> sdz', NULL)$$,
    'no samples');

-- fast, but for a bad reason
SELECT pg_temp.record('', 20) AS id \gset
UPDATE sync_probe.measurements SET durable = 'no' WHERE run_id = :id;
SELECT is(sentence, 'since the device changed (on ' || to_char(now(), 'YYYY-MM-DD')
          || '), fdatasync takes 0.09 times as long (0.09 to 0.10); syncs with fdatasync do not'
          || ' reach the device', 'syncs nothing')
FROM sync_probe.history() WHERE run_id = :id;
DELETE FROM sync_probe.runs WHERE run_id = :id;

-- the margin
SELECT pg_temp.record('device=sdy', 240) AS id \gset
SELECT is(sentence IS NULL, true, '9 percent, but the interval reaches 8 percent')
FROM (SELECT set_config('pg_sync_probe.margin', '0.09', true)) AS s,
     LATERAL sync_probe.history() WHERE run_id = :id;
SELECT is(sentence IS NOT NULL, true, 'above a margin of 7 percent')
FROM (SELECT set_config('pg_sync_probe.margin', '0.07', true)) AS s,
     LATERAL sync_probe.history() WHERE run_id = :id;

-- values that a hand may have put there
UPDATE sync_probe.runs SET storage = '{"mount_options": {"a": 1}, "kernel": 7}',
                           flush_size = -2147483648, finished_at = 'infinity',
                           server_version_num = 0, flush_interval = '0', wal_sync_method = NULL;
SELECT lives_ok('SELECT * FROM sync_probe.history()', 'odd values');

-- sql/arguments.sql has the errors about locations
UPDATE sync_probe.runs SET location = 'dropped' WHERE location = 'pg_default';
SELECT is(count(*), 1::bigint, 'a tablespace that was dropped') FROM sync_probe.history('dropped');

SET LOCAL enable_seqscan = off;
SELECT isnt_empty('SELECT FROM sync_probe.history()', 'some runs of many');
SELECT cmp_ok((SELECT pg_stat_get_xact_numscans(indexrelid) FROM pg_index
               WHERE pg_get_indexdef(indexrelid) ~ 'sync_probe.runs .*suite, location'),
              '>', 0::bigint, 'take the index on locations');

\ir include/end.sql
