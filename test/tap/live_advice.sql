--
-- What the advice rests on: a trial before the commit suite before a probe, where they
-- count and where they compared what the probe recommends.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS pg_sync_probe;
\ir include/stage.sql

-- A probe that finds a method faster, or all methods equal (faster is null).
CREATE FUNCTION pg_temp.probed(faster text) RETURNS bigint LANGUAGE sql AS $$
    WITH run AS (SELECT pg_temp.record_run('{}') AS id),
    rows AS (
        INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status,
            mean_us, relative_speed, relative_speed_low, relative_speed_high, ops)
        SELECT run.id, row_number() OVER (), t, m, false, 'ok', 500,
               s.speed, s.speed - 0.01, s.speed + 0.01, 1000
        FROM run, unnest('{paced,saturated}'::text[]) AS t,
             unnest('{fdatasync,fsync,open_datasync}'::text[]) AS m,
             LATERAL (SELECT CASE WHEN m = faster THEN 1.5 ELSE 1.0 END) AS s (speed))
    SELECT id FROM run
$$;

-- A run on real commits, of values with their speeds.
CREATE FUNCTION pg_temp.live(differences jsonb, speeds jsonb) RETURNS bigint
LANGUAGE sql AS $$
    WITH run AS (
        SELECT pg_temp.record_run('{"suite": "trial", "source": "trial",
            "setting": "wal_sync_method", "paced_entries": null, "saturated_rounds": null,
            "reason": "seen in commits"}' || differences) AS id),
    rows AS (
        INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, value, choice, status,
            relative_speed, relative_speed_low, relative_speed_high,
            relative_rate, relative_rate_low, relative_rate_high, ops)
        SELECT run.id, row_number() OVER (), coalesce(differences ->> 'test',
                   differences ->> 'setting', 'wal_sync_method'), s.key, s.key,
               CASE WHEN s.key IN ('0', 'fdatasync') THEN 'current' END, 'ok',
               s.value::float8, s.value::float8 - 0.02, s.value::float8 + 0.02,
               s.value::float8, s.value::float8 - 0.03, s.value::float8 + 0.03, 1000
        FROM run, jsonb_each_text(speeds) AS s)
    SELECT id FROM run
$$;

CREATE TEMP TABLE scenario (
    id serial, name text, faster text, live jsonb, speeds jsonb,
    verdict text, recommended text, basis text, reason text);
INSERT INTO scenario (name, faster, live, speeds, verdict, recommended, basis, reason) VALUES
('a trial confirms what a probe recommends', 'fsync',
 '{"verdict": "switch", "recommended_value": "fsync"}', '{"fdatasync": 1, "fsync": 1.2}',
 'switch', 'fsync', 'trial', '^seen in commits$'),
('a trial contradicts it', 'fsync',
 '{"verdict": "keep", "recommended_value": "fdatasync"}', '{"fdatasync": 1, "fsync": 0.9}',
 'keep', 'fdatasync', 'trial', '^seen in commits$'),
('so does the commit suite', 'fsync',
 '{"verdict": "tie", "recommended_value": "fdatasync", "suite": "commit", "source": "probe"}',
 '{"fdatasync": 1, "fsync": 1}', 'tie', 'fdatasync', 'commit', '^seen in commits$'),
('a commit suite at another pace', 'fsync',
 '{"verdict": "tie", "recommended_value": "fdatasync", "suite": "commit", "source": "probe",
   "flush_interval_source": "argument"}',
 '{"fdatasync": 1, "fsync": 1}', 'switch', 'fsync', 'wal', 'fsync takes'),
('a commit suite with commits of another size', 'fsync',
 '{"verdict": "tie", "recommended_value": "fdatasync", "suite": "commit", "source": "probe",
   "flush_size_source": "argument"}',
 '{"fdatasync": 1, "fsync": 1}', 'switch', 'fsync', 'wal', 'fsync takes'),
('a trial did not compare what a probe recommends', 'open_datasync',
 '{"verdict": "keep", "recommended_value": "fdatasync"}', '{"fdatasync": 1, "fsync": 0.9}',
 'switch', 'open_datasync', 'wal', 'open_datasync takes'),
('a trial finds what a probe did not', NULL,
 '{"verdict": "switch", "recommended_value": "fsync"}', '{"fdatasync": 1, "fsync": 1.2}',
 'switch', 'fsync', 'trial', '^seen in commits$'),
('an undecided trial', 'fsync',
 '{"verdict": "undecided", "recommended_value": "fdatasync"}', '{"fdatasync": 1, "fsync": 1}',
 'switch', 'fsync', 'wal', 'fsync takes'),
('a trial of another setting', 'fsync',
 '{"verdict": "keep", "recommended_value": "0", "setting": "commit_delay"}',
 '{"0": 1, "50": 1.2}', 'switch', 'fsync', 'wal', 'fsync takes'),
('a trial of another server', 'fsync',
 '{"verdict": "keep", "recommended_value": "fdatasync", "host": "elsewhere"}',
 '{"fdatasync": 1, "fsync": 0.9}', 'switch', 'fsync', 'wal', 'fsync takes'),
('a trial on another device', 'fsync',
 '{"verdict": "keep", "recommended_value": "fdatasync", "device": "sdz", "stays": true}',
 '{"fdatasync": 1, "fsync": 0.9}', 'switch', 'fsync', 'wal', 'fsync takes'),
('a trial with another method in use', 'fsync',
 '{"verdict": "keep", "recommended_value": "fsync", "wal_sync_method": "fsync"}',
 '{"fdatasync": 1, "fsync": 0.9}', 'switch', 'fsync', 'wal', 'fsync takes'),
('a trial whose advice was followed', NULL,
 '{"verdict": "switch", "recommended_value": "fdatasync", "wal_sync_method": "open_sync"}',
 '{"fdatasync": 1.3, "open_sync": 1}', 'keep', 'fdatasync', 'trial',
 '^chosen instead of open_sync: seen in commits$');

-- Each in a stage of its own: the rows that it left are those of the scenario alone.
CREATE FUNCTION pg_temp.play(s scenario) RETURNS sync_probe.recommendation_details
LANGUAGE plpgsql AS $$
DECLARE
    got sync_probe.recommendation_details;
BEGIN
    DELETE FROM sync_probe.runs;
    PERFORM pg_temp.live(s.live - 'stays', s.speeds);
    PERFORM pg_temp.probed(s.faster);
    SELECT d.* INTO got FROM sync_probe.recommendation_details AS d WHERE d.location = 'pg_wal';
    RETURN got;
END
$$;

CREATE TEMP TABLE played AS SELECT s.*, pg_temp.play(s) AS got FROM scenario AS s ORDER BY id;

SELECT plan((SELECT count(*)::integer * 4 FROM scenario) + 22);

SELECT is(current_setting('wal_sync_method'), 'fdatasync', 'the tests are about such a server');

SELECT is((got).verdict, verdict, name || ': verdict') FROM played ORDER BY id;
SELECT is((got).recommended_method, recommended, name || ': method') FROM played ORDER BY id;
SELECT is((got).basis, basis, name || ': basis') FROM played ORDER BY id;
SELECT matches((got).reason, reason, name || ': reason') FROM played ORDER BY id;

SELECT results_eq(
    $$SELECT (got).commands FROM played WHERE name = 'a trial confirms what a probe recommends'$$,
    $$VALUES (ARRAY['ALTER SYSTEM SET wal_sync_method = ''fsync''', 'SELECT pg_reload_conf()'])$$,
    'a trial''s commands');
SELECT is((got).commands, NULL, 'a trial that keeps has none')
FROM played WHERE name = 'a trial contradicts it';
SELECT is((got).loss_bound::numeric(5, 3), 0.220, 'a trial''s bound')
FROM played WHERE name = 'a trial confirms what a probe recommends';
SELECT is((got).loss_bound::numeric(5, 3), 0.000, 'a bound is never below zero')
FROM played WHERE name = 'a trial contradicts it';
SELECT is((got).loss_bound, NULL, 'no bound where the advice was followed')
FROM played WHERE name = 'a trial whose advice was followed';
SELECT is(num_nonnulls((got).deciding_test, (got).paced_flush_us, (got).paced_speed), 0,
          'figures of a probe that recommends another method are left out')
FROM played WHERE name = 'a trial contradicts it';
SELECT is((got).paced_flush_us, NULL, 'those of the same method, too')
FROM played WHERE name = 'a trial confirms what a probe recommends';

-- without any probe
DELETE FROM sync_probe.runs;
SELECT pg_temp.live('{"verdict": "keep", "recommended_value": "fdatasync"}',
                    '{"fdatasync": 1, "fsync": 0.9}') AS id \gset
SELECT results_eq(
    $$SELECT verdict, recommended_method, basis, outdated FROM sync_probe.recommendations
      WHERE location = 'pg_wal'$$,
    $$VALUES ('keep', 'fdatasync', 'trial', false)$$, 'a trial needs no probe');

-- the newest counts, and a trial before a newer run of the commit suite
SELECT pg_temp.live('{"verdict": "switch", "recommended_value": "fsync", "suite": "commit",
                      "source": "probe"}', '{"fdatasync": 1, "fsync": 1.2}') AS id \gset
SELECT is(basis, 'trial', 'a trial counts before a newer run of the commit suite')
FROM sync_probe.recommendations WHERE location = 'pg_wal';
SELECT pg_temp.live('{"verdict": "switch", "recommended_value": "fsync"}',
                    '{"fdatasync": 1, "fsync": 1.2}') AS id \gset
SELECT is(verdict || ' ' || run_id, 'switch ' || :id, 'of two trials the newer one counts')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
SELECT pg_temp.live('{"verdict": "keep", "recommended_value": "fdatasync", "workload": "upsert"}',
                    '{"fdatasync": 1, "fsync": 0.9}') AS made \gset
SELECT is(verdict || ' ' || run_id, 'switch ' || :id, 'a newer trial of a workload counts less')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
DELETE FROM sync_probe.runs WHERE suite = 'trial' AND workload IS NULL;
SELECT is(verdict || ' ' || run_id, 'keep ' || :made,
          'but it counts before the commit suite')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';

-- the file system is mounted otherwise since
UPDATE examined SET mount_options = 'nobarrier' WHERE name = 'pg_wal';
UPDATE sync_probe.runs SET storage = '{"mount_options": "barrier"}';
SELECT is(verdict, 'not probed', 'a trial before a change does not count')
FROM sync_probe.recommendations WHERE location = 'pg_wal';

-- commit_delay
DELETE FROM sync_probe.runs;
SELECT pg_temp.probed(NULL) AS id \gset
SELECT results_eq(
    $$SELECT recommended_commit_delay, commit_delay_basis, commit_delay_rate
      FROM sync_probe.recommendation_details WHERE location = 'pg_wal'$$,
    $$VALUES (250, 'rule', NULL::float8)$$, 'commit_delay by the rule');
SELECT pg_temp.live('{"suite": "commit", "source": "probe", "verdict": "tie",
                      "recommended_value": "fdatasync", "recommended_commit_delay": 50,
                      "test": "commit_delay"}', '{"0": 1, "50": 1.3, "100": 1.1}') AS id \gset
SELECT results_eq(
    $$SELECT recommended_commit_delay, commit_delay_basis, commit_delay_rate,
             commit_delay_rate_low, commit_delay_rate_high
      FROM sync_probe.recommendation_details WHERE location = 'pg_wal'$$,
    $$VALUES (50, 'commit', 1.3::float8, 1.27::float8, 1.33::float8)$$,
    'commit_delay by the commit suite');
SELECT pg_temp.live('{"verdict": "switch", "recommended_value": "100",
                      "setting": "commit_delay"}', '{"0": 1, "100": 1.1}') AS id \gset
SELECT results_eq(
    $$SELECT recommended_commit_delay, commit_delay_basis, commit_delay_rate
      FROM sync_probe.recommendation_details WHERE location = 'pg_wal'$$,
    $$VALUES (100, 'trial', 1.1::float8)$$, 'commit_delay by a trial');
SELECT pg_temp.live('{"verdict": "undecided", "recommended_value": "0",
                      "setting": "commit_delay"}', '{"0": 1, "200": 1.1}') AS id \gset
SELECT is(recommended_commit_delay, 100, 'an undecided trial does not count')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
SELECT is(commands[1:2], ARRAY['ALTER SYSTEM SET commit_delay = 100', 'SELECT pg_reload_conf()'],
          'commands set it')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
SET LOCAL commit_delay = 100;
SELECT is(coalesce(commands[1], '') LIKE 'ALTER%', false, 'and no longer once it is set')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
SET LOCAL commit_delay = 70;
SELECT is(commit_delay_basis, 'rule', 'a trial against another value does not count')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
SELECT is((SELECT count(*) FROM sync_probe.recommendation_details
           WHERE NOT holds_wal AND (basis <> 'wal' OR commit_delay_basis <> 'rule')),
          0::bigint, 'a tablespace has no commits');

SELECT * FROM finish();
ROLLBACK;
