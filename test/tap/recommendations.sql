--
-- What sync_probe.recommendations makes of recorded measurements.
--
-- A scenario is a row: intervals of speed in both regimes for two methods
-- beside the current one, the noise, and the advice that must come out.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS pg_sync_probe;
DELETE FROM sync_probe.runs;
SET LOCAL pg_sync_probe.margin = 0.05;
\ir include/stage.sql

CREATE TYPE pg_temp.speed AS (low float8, high float8);

CREATE TEMP TABLE scenario (
    name text,
    noise float8,           -- half-width of the A/A intervals
    other text,             -- open_datasync or whatever is looked at
    paced pg_temp.speed, saturated pg_temp.speed,
    third text,             -- a second one
    third_paced pg_temp.speed, third_saturated pg_temp.speed,
    verdict text, recommended text, reason text);

INSERT INTO scenario VALUES
('faster in both regimes', 0.01, 'open_datasync', (1.10,1.20), (1.10,1.20), 'fsync', (0.6,0.7),
    (0.9,0.95), 'switch', 'open_datasync',
    'open_datasync takes 13 % less time per flush with a flush every 5 ms (-17 to -9) and makes '
    '15 % more flushes a second back to back (+10 to +20)'),
('faster back to back alone', 0.01, 'open_datasync', (0.97,1.02), (1.10,1.20), 'fsync', (0.6,0.7),
    (0.9,0.95), 'switch', 'open_datasync', 'back to back'),
('faster when paced, slower back to back', 0.01, 'open_datasync', (1.10,1.20),
    (0.80,0.90), 'fsync', (0.6,0.7), (0.9,0.95), 'keep', 'fdatasync',
    'no other method that can be measured is worth a switch from fdatasync; open_datasync takes '
    '13 % less time per flush with a flush every 5 ms (-17 to -9), but it makes 15 % fewer flushes '
    'a second back to back (-20 to -10)'),
('slower when paced, faster back to back', 0.01, 'open_datasync', (0.80,0.90),
    (1.10,1.20), 'fsync', (0.6,0.7), (0.9,0.95), 'keep', 'fdatasync',
    'but not with a flush every 5 ms'),
('of two that are faster, the better paced one', 0.01, 'open_datasync', (1.10,1.20), (1.30,1.50),
    'fsync', (1.20,1.30), (1.10,1.15), 'switch', 'fsync',
    'fsync takes 20 % less'),
('faster, but not by the margin', 0.01, 'open_datasync', (1.01,1.04), (1.01,1.04), 'fsync',
    (0.6,0.7), (0.9,0.95), 'tie', 'fdatasync', 'as fast as fdatasync: open_datasync'),
('equals', 0.01, 'open_datasync', (0.98,1.02), (0.98,1.03), 'fsync', (0.99,1.02), (0.97,1.01),
    'tie', 'fdatasync', 'open_datasync, fsync'),
('all slower', 0.01, 'open_datasync', (0.90,0.99), (0.91,0.99), 'fsync', (0.6,0.7), (0.9,0.95),
    'keep', 'fdatasync', 'every other method'),
('equal or slower, but not faster', 0.01, 'open_datasync', (0.93,1.03), (0.98,1.02), 'fsync',
    (0.6,0.7), (0.9,0.95), 'keep', 'fdatasync',
    'no method is more than 3 % faster with a flush every 5 ms, or 2 % back to back; equal to '
    'fdatasync or slower: open_datasync'),
('may be faster, may be slower', 0.01, 'open_datasync', (0.93,1.20), (0.95,1.20), 'fsync',
    (0.6,0.7), (0.9,0.95), 'undecided', 'fdatasync',
    'no method is more than 20 % faster with a flush every 5 ms, or 20 % back to back; not '
    'settled: open_datasync: probe much longer, or when it is quieter; slower than fdatasync: '
    'fsync; the best choice so far is open_datasync'),
('above the margin in one look only by half', 0.01, 'open_datasync', (1.04,1.20), (1.04,1.20),
    'fsync', (0.6,0.7), (0.9,0.95), 'undecided', 'fdatasync', 'not settled: open_datasync'),
('clear of the margin in spite of the noise', 0.08, 'open_datasync', (1.50,1.60), (1.50,1.60),
    'fsync', (0.6,0.7), (0.9,0.95), 'switch', 'open_datasync', 'open_datasync takes 35 % less'),
('slower, but too noisy to be sure', 0.08, 'open_datasync', (0.90,0.99), (0.91,0.99), 'fsync',
    (0.6,0.7), (0.9,0.95), 'undecided', 'fdatasync',
    'the noise is 8.0 %, above the margin of 5 %: probe 3 times as long as this run'),
('too few rounds for an interval', NULL, 'open_datasync', (NULL,NULL), (NULL,NULL), 'fsync',
    (NULL,NULL), (NULL,NULL), 'undecided', 'fdatasync', 'too few rounds');

-- A run of the wal suite with these intervals, at a location.
CREATE FUNCTION pg_temp.record(s scenario, at name) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    id bigint := pg_temp.record_run(jsonb_build_object('location', at, 'noise', s.noise));
    control pg_temp.speed := (1 - s.noise, (1 - s.noise) * (1 + s.noise) ^ 2);
BEGIN
    INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status, mean_us,
        relative_speed, relative_speed_low, relative_speed_high)
    SELECT id, row_number() OVER (), m.test, m.method, m.direct_io, 'ok', m.mean_us,
           coalesce(sqrt((m.speed).low * (m.speed).high), 1), (m.speed).low, (m.speed).high
    FROM (VALUES
        ('paced', s.other, false, s.paced, 900.0),
        ('paced', 'fdatasync', false, control, 1000),
        ('paced', s.third, false, s.third_paced, 1200),
        ('saturated', s.other, false, s.saturated, 450),
        ('saturated', 'fdatasync', false, control, 500),
        ('saturated', s.third, false, s.third_saturated, 600),
        -- a variant that this server would not use is never recommended
        ('saturated', 'open_datasync', true, ((5, 6)::pg_temp.speed), 100)
    ) AS m (test, method, direct_io, speed, mean_us);
    INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status) VALUES
        (id, 8, 'paced', 'fsync_writethrough', false, 'unsupported'),
        (id, 9, 'saturated', 'fsync_writethrough', false, 'unsupported'),
        (id, 10, 'paced', 'open_sync', false, 'error'),
        (id, 11, 'saturated', 'open_sync', false, 'error');
    RETURN id;
END
$$;

CREATE TEMP TABLE advice (
    name text, expected_verdict text, recommended text, expected_reason text,
    id bigint, got sync_probe.recommendation_details, warned sync_probe.findings);

-- each run becomes the newest in turn
DO $$
DECLARE
    s scenario;
    id bigint;
BEGIN
    FOR s IN SELECT * FROM scenario LOOP
        id := pg_temp.record(s, 'pg_wal');
        INSERT INTO advice
        SELECT s.name, s.verdict, s.recommended, s.reason, id, r, f
        FROM sync_probe.recommendation_details AS r
        LEFT JOIN sync_probe.findings AS f ON f.code = 'sync_method_change'
        WHERE r.location = 'pg_wal';
    END LOOP;
END
$$;

-- A run of a scenario at a location that becomes the newest: an error unless one is
-- recorded.
PREPARE record (text, name) AS
SELECT pg_temp.record(s, $2) AS run_id FROM scenario AS s WHERE s.name = $1;

SELECT plan((SELECT count(*) * 6 + count(*) FILTER (WHERE recommended = 'fdatasync')
             FROM scenario)::integer + 140);

SELECT is((got).run_id, id, name || ': the newest run') FROM advice;
SELECT is((got).verdict, expected_verdict, name || ': verdict') FROM advice;
SELECT is((got).recommended_method, recommended, name || ': method') FROM advice;
SELECT ok(strpos((got).reason, expected_reason) > 0, name || ': reason: ' || (got).reason)
FROM advice;
SELECT is((got).commands,
          CASE expected_verdict
              WHEN 'switch'
              THEN ARRAY[format('ALTER SYSTEM SET wal_sync_method = ''%s''', recommended),
                         'SELECT pg_reload_conf()']
                   -- current is fdatasync
                   || CASE recommended WHEN 'open_datasync'
                      THEN '{CALL sync_probe.wait_for_reload(),CHECKPOINT}'::text[] END
              WHEN 'keep' THEN NULL
              WHEN 'tie' THEN ARRAY['SELECT * FROM sync_probe.probe(duration => ''15 s'')']
              ELSE ARRAY['SELECT * FROM sync_probe.probe(duration => ''15 s'', '
                         'stop_early => false)'] END,
          name || ': commands')
FROM advice;

-- A checkpoint where processes with both sorts of methods may meet, in either direction: with
-- open_* XLogWrite() takes for flushed what the others have written.
SELECT is(sync_probe_internal.change_commands(old_method, new_method),
          ARRAY['ALTER SYSTEM SET wal_sync_method = ''' || new_method || '''',
                'SELECT pg_reload_conf()']
          || CASE WHEN checkpoint
                  THEN ARRAY['CALL sync_probe.wait_for_reload()', 'CHECKPOINT'] END,
          format('commands from %s to %s', old_method, new_method))
FROM (VALUES ('fsync', 'open_datasync', true), ('fdatasync', 'open_sync', true),
             ('fsync_writethrough', 'open_sync', true), ('open_sync', 'fdatasync', true),
             ('open_datasync', 'fsync', true), ('fsync', 'fdatasync', false),
             ('fdatasync', 'fsync_writethrough', false),
             ('open_sync', 'open_datasync', false)) AS c (old_method, new_method, checkpoint);

-- and the finding that says why
SELECT is((warned).commands, CASE WHEN 'CHECKPOINT' = ANY ((got).commands) THEN (got).commands END,
          name || ': finding: ' || coalesce((warned).message, 'none'))
FROM advice;
SELECT is((SELECT array_agg(name ORDER BY id) FROM advice WHERE (warned).code IS NOT NULL),
          ARRAY['faster in both regimes', 'faster back to back alone',
                'clear of the margin in spite of the noise'],
          'of switches to open_datasync, but of no switch to fsync');
SELECT results_eq(
    $$SELECT (warned).location, (warned).severity, (warned).message, (warned).evidence
      FROM advice WHERE name = 'faster in both regimes'$$,
    $$SELECT 'pg_wal'::name, 'info',
             'while processes change from fdatasync to open_datasync, WAL counts as flushed that'
             ' the disk may not have',
             jsonb_build_object('run_id', id, 'method', 'fdatasync',
                                'recommended_method', 'open_datasync')
      FROM advice WHERE name = 'faster in both regimes'$$, 'what it says');

-- the row of a switch
CREATE TEMP TABLE switch AS SELECT (got).* FROM advice WHERE name = 'faster in both regimes';
SELECT ok(holds_wal, 'pg_wal holds the WAL') FROM switch;
SELECT is(current_method, 'fdatasync', 'current method is that of the run') FROM switch;
SELECT is(paced_speed_low, 1.1::float8, 'interval of the recommended method') FROM switch;
SELECT is(saturated_speed_high, 1.2::float8, 'interval back to back') FROM switch;
SELECT is(paced_flush_us, 900::float8, 'paced mean of the recommended method') FROM switch;
SELECT is(saturated_flush_us, 450::float8, 'and its saturated mean') FROM switch;
SELECT is(recommended_commit_delay, 225, 'commit_delay is half the saturated mean') FROM switch;
SELECT is(durable, 'unknown', 'nothing is known of the device') FROM switch;
SELECT is(basis, 'wal', 'what the advice rests on') FROM switch;
SELECT is(outdated, false, 'nothing has changed since') FROM switch;

-- the row of a method that stays has no speed: it would be the control's
SELECT is(num_nonnulls((got).paced_speed, (got).paced_speed_low, (got).paced_speed_high,
                       (got).saturated_speed, (got).saturated_speed_low,
                       (got).saturated_speed_high),
          0, name || ': no speed')
FROM advice WHERE recommended = 'fdatasync';

-- on one screen
SELECT row_eq('SELECT r.* FROM sync_probe.recommendations AS r WHERE location = ''pg_wal''',
              ROW('pg_wal'::name, 'undecided', 'fdatasync', 'fdatasync', NULL::float8, 1000::float8,
                  'unknown', 'wal', false)::sync_probe.recommendations,
              'recommendations is the short form');

-- the best choice, and how much longer than it a flush takes at most: the highest end
CREATE TEMP VIEW choice AS
SELECT v.name, v.best_method, v.loss_bound, a.got
FROM (VALUES ('faster in both regimes', 'open_datasync', 0.2::float8),
             ('faster when paced, slower back to back', 'fdatasync', 0.2),
             ('equals', 'fdatasync', 0.02), ('all slower', 'fdatasync', 0),
             ('may be faster, may be slower', 'open_datasync', 0.2),
             ('too few rounds for an interval', 'fdatasync', NULL)
     ) AS v (name, best_method, loss_bound)
LEFT JOIN advice AS a USING (name);
SELECT is((got).best_method, best_method, name || ': best choice') FROM choice;
SELECT is((got).loss_bound, loss_bound, name || ': bound of the loss') FROM choice;

-- the regime that the cluster is in decides: a flush takes 0.5 ms back to back
CREATE TEMP TABLE pace (
    scenario text,
    run jsonb,              -- differences
    deciding_test text, verdict text, recommended text, reason text);
INSERT INTO pace VALUES
('slower when paced, faster back to back', '{"observed_flush_interval": "1.1 ms"}', 'paced',
    'keep', 'fdatasync', 'every other method'),
('faster back to back alone', '{"observed_flush_interval": "0.6 ms"}', 'saturated', 'switch',
    'open_datasync', 'open_datasync makes 15 % more flushes a second back to back (+10 to +20) and '
    'takes 1 % more time per flush with a flush every 5 ms (-2 to +3); back to back decides, since '
    'this cluster flushes 83 % of the time'),
('slower when paced, faster back to back', '{"observed_flush_interval": "0.6 ms"}', 'saturated',
    'keep', 'fdatasync',
    'open_datasync makes 15 % more flushes a second back to back (+10 to +20), but it takes 18 % '
    'more time per flush with a flush every 5 ms (+11 to +25); back to back decides'),
('faster when paced, slower back to back', '{"observed_flush_interval": "0.1 ms"}', 'saturated',
    'keep', 'fdatasync', 'but is not faster back to back; back to back decides, since this cluster '
    'flushes 100 % of the time'),
('equals',
    '{"observed_flush_interval": "0.6 ms", "flush_interval_source": "argument"}', 'paced', 'tie',
    'fdatasync', 'with a flush every 5 ms'),
('equals',
    '{"flush_interval": "0.6 ms", "flush_interval_source": "argument",
      "achieved_flush_interval": "1.62 ms"}', 'saturated', 'tie',
    'fdatasync', 'with a flush every 1.6 ms'),
('equals', '{"achieved_flush_interval": "120 ms"}', 'paced', 'tie', 'fdatasync',
    'with a flush every 120 ms'),
('equals', '{"achieved_flush_interval": null}', 'paced', 'tie', 'fdatasync', 'when paced');
CREATE TEMP TABLE paced_advice (
    name text, expected pace, deciding_test text, verdict text, recommended text, reason text);
-- A run whose interval was given does not count, so the rows are judged directly.
DO $$
DECLARE
    p pace;
    id bigint;
BEGIN
    FOR p IN SELECT * FROM pace LOOP
        SELECT pg_temp.record(s, 'pg_wal') INTO id FROM scenario AS s WHERE name = p.scenario;
        INSERT INTO paced_advice
        SELECT format('%s, %s', p.scenario, p.run), p, d.deciding_test, d.verdict,
               d.recommended_method, d.reason
        FROM sync_probe.runs AS r,
             LATERAL jsonb_populate_record(r, p.run) AS changed,
             LATERAL sync_probe_internal.recommend(changed,
                 ARRAY(SELECT m FROM sync_probe.measurements AS m WHERE m.run_id = r.run_id),
                 NULL) AS d
        WHERE r.run_id = id;
    END LOOP;
END
$$;
SELECT is(deciding_test, (expected).deciding_test, name || ': what decides') FROM paced_advice;
SELECT is(verdict, (expected).verdict, name || ': verdict') FROM paced_advice;
SELECT is(recommended, (expected).recommended, name || ': method') FROM paced_advice;
SELECT ok(strpos(reason, (expected).reason) > 0, name || ': reason: ' || reason)
FROM paced_advice;

-- a faster method with more slow flushes is not recommended, and the reason tells of them
CREATE TEMP TABLE tail (test text, slow_rounds integer, verdict text, reason text);
INSERT INTO tail VALUES
('paced', 30, 'keep',
    'but 3.0 % of its paced rounds have a flush of more than five times the median (0.1 % with '
    'fdatasync)'),
('saturated', 30, 'keep', 'but 3.0 % of its saturated rounds have'),
('paced', 5, 'switch', 'open_datasync takes'),
('paced', 1, 'switch', 'open_datasync takes');
CREATE TEMP TABLE tail_advice (t tail, got sync_probe.recommendation_details);
DO $$
DECLARE
    t tail;
    id bigint;
BEGIN
    FOR t IN SELECT * FROM tail LOOP
        SELECT pg_temp.record(s, 'pg_wal') INTO id
        FROM scenario AS s WHERE name = 'faster in both regimes';
        UPDATE sync_probe.measurements AS m
        SET rounds = 1000,
            slow_rounds = CASE WHEN m.method = 'open_datasync' AND m.test = t.test
                               THEN t.slow_rounds ELSE 1 END
        WHERE run_id = id;
        INSERT INTO tail_advice
        SELECT t, d FROM sync_probe.recommendation_details AS d WHERE location = 'pg_wal';
    END LOOP;
END
$$;
SELECT is((got).verdict, (t).verdict,
          format('%s slow rounds, %s: verdict', (t).slow_rounds, (t).test))
FROM tail_advice;
SELECT ok(strpos((got).reason, (t).reason) > 0,
          format('%s slow rounds, %s: reason: %s', (t).slow_rounds, (t).test, (got).reason))
FROM tail_advice;

-- another location: what would hold if the WAL were there, but no command
EXECUTE record ('faster in both regimes', 'pg_default') \gset
CREATE TEMP VIEW elsewhere AS
SELECT * FROM sync_probe.recommendation_details WHERE location = 'pg_default';
SELECT ok(NOT holds_wal, 'pg_default does not hold the WAL') FROM elsewhere;
SELECT is(commands, NULL, 'and no command is given for it') FROM elsewhere;
SELECT ok(starts_with(reason, 'if the WAL were here: '), 'the reason says so') FROM elsewhere;
SELECT is(verdict, 'switch', 'the verdict is the same') FROM elsewhere;

-- the margin is the reader's
SET LOCAL pg_sync_probe.margin = 0.5;
SELECT isnt(verdict, 'switch', 'a wider margin asks for more') FROM elsewhere;
RESET pg_sync_probe.margin;

-- a newer run that does not count changes nothing, and a finding says so
CREATE TEMP TABLE passed_over (name text, differences jsonb, why text);
INSERT INTO passed_over VALUES
('the other suite', '{"suite": "pg_test_fsync"}', NULL),
('a tablespace that is gone', '{"location": "gone"}', NULL),
('flush_interval was given', '{"flush_interval_source": "argument"}', 'flush_interval was given'),
('flush_size was given', '{"flush_size_source": "argument"}', 'flush_size was given'),
('few paced entries', '{"paced_entries": 15}',
    'it has 15 paced entries and 16 saturated rounds, 16 are needed'),
('one of each', '{"paced_entries": 1, "saturated_rounds": 1}',
    'it has 1 paced entry and 1 saturated round, 16 are needed'),
('few saturated rounds', '{"saturated_rounds": 15}',
    'it has 32 paced entries and 15 saturated rounds, 16 are needed'),
('rounds unknown', '{"paced_entries": null, "saturated_rounds": null}',
    'it has 0 paced entries and 0 saturated rounds'),
('another cluster', '{"system_identifier": 1}', 'another cluster made it'),
('another host', '{"host": "elsewhere"}', 'host elsewhere made it'),
('no host', '{"host": null}', 'host unknown made it'),
('another directory', '{"directory": "/elsewhere"}', 'its directory was /elsewhere'),
('another device', '{"device": "sdz"}', 'its device was sdz'),
('no device', '{"device": null}', 'its device was unknown'),
('an import', '{"source": "pg_test_fsync"}', 'it comes from pg_test_fsync'),
('all at once',
    '{"host": "elsewhere", "device": "sdz", "flush_size_source": "argument",
      "paced_entries": 3}',
    'host elsewhere made it, its device was sdz, flush_size was given, it has 3 paced entries and '
    '16 saturated rounds');
CREATE TEMP TABLE passed (name text, expected text, advice_unchanged boolean, got text);
DO $$
DECLARE
    p passed_over;
    before sync_probe.recommendation_details;
    id bigint;
BEGIN
    SELECT * INTO before FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
    FOR p IN SELECT * FROM passed_over LOOP
        id := pg_temp.record_run(p.differences, false);
        INSERT INTO passed
        SELECT p.name, p.why, d = before,
               (SELECT f.evidence ->> 'why' FROM sync_probe.findings AS f
                WHERE f.code = 'run_passed_over' AND (f.evidence ->> 'run_id')::bigint = id)
        FROM sync_probe.recommendation_details AS d WHERE d.location = 'pg_wal';
        DELETE FROM sync_probe.runs WHERE run_id = id;
    END LOOP;
END
$$;
SELECT ok(advice_unchanged, 'passed over: ' || name || ': the advice stays') FROM passed;
SELECT ok(CASE WHEN expected IS NULL THEN got IS NULL ELSE starts_with(got, expected) END,
          'passed over: ' || name || ': ' || coalesce(got, 'no finding')) FROM passed;

-- locations that were never probed: where the WAL is, and one of each other file system
DELETE FROM sync_probe.runs;
DELETE FROM examined WHERE name NOT IN ('pg_wal', 'pg_default');
UPDATE examined SET shares_filesystem_with = NULL;
INSERT INTO examined (name, holds_wal, tablespace, directory, shares_filesystem_with)
VALUES ('fast one', false, 1, '/fast', NULL), ('beside it', false, 2, '/fast/2', 'fast one'),
       ('beside the WAL', false, 3, '/data/3', 'pg_wal');
SELECT results_eq(
    'SELECT location, verdict, durable, reason, commands FROM sync_probe.recommendation_details',
    $$VALUES ('pg_wal'::name, 'not probed', 'unknown', 'never probed',
              '{SELECT * FROM sync_probe.probe()}'::text[]),
             ('fast one', 'not probed', 'unknown', 'never probed',
              '{SELECT * FROM sync_probe.probe(''fast one'')}'),
             ('pg_default', 'not probed', 'unknown', 'never probed',
              '{SELECT * FROM sync_probe.probe(''pg_default'')}')$$,
    'never probed');
SELECT pg_temp.record_run('{"location": "beside it", "directory": "/fast/2"}', false)
    AS run_id \gset
SELECT is((SELECT reason FROM sync_probe.recommendation_details WHERE location = 'fast one'),
          'never probed', 'a run that does not count is none');
UPDATE examined SET device = 'nvme0n1' WHERE name = 'beside it';
SELECT set_eq(
    $$SELECT location::text, coalesce(verdict = 'not probed', false)
      FROM sync_probe.recommendations$$,
    $$VALUES ('pg_wal', true), ('beside it', false), ('pg_default', true)$$,
    'one location of a file system is enough');
SELECT pg_temp.record_run('{"paced_entries": 3}') AS run_id \gset
SELECT is(reason, 'run ' || :run_id
                  || ' does not count: it has 3 paced entries and 16 saturated rounds, '
                     '16 are needed',
          'a run at pg_wal that does not count, and why')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';

-- what has changed at the location since the run
CREATE TEMP TABLE outdated (name text, at name, change text, reason text);
INSERT INTO outdated VALUES
('mount options', 'pg_wal', 'UPDATE examined SET mount_options = ''rw,nobarrier''',
    'but mount options were relatime, are nobarrier: probe again'),
('write cache', 'pg_wal', 'UPDATE examined SET write_cache = NULL',
    'but write cache was write back, is unknown: probe again'),
('file system', 'pg_default', 'UPDATE examined SET filesystem = ''xfs''',
    'but file system was ext4, is xfs: probe again'),
('method', 'pg_wal', 'UPDATE sync_probe.runs SET wal_sync_method = ''fsync''',
    'but wal_sync_method was fsync, is fdatasync: probe again'),
('method, of a tablespace', 'pg_default',
    'UPDATE sync_probe.runs SET wal_sync_method = ''fsync''', NULL);
CREATE TEMP TABLE outdated_advice (name text, at name, expected text,
    got sync_probe.recommendation_details);
DO $$
DECLARE
    o outdated;
BEGIN
    FOR o IN SELECT * FROM outdated LOOP
        DELETE FROM sync_probe.runs;
        PERFORM pg_temp.record(s, o.at) FROM scenario AS s WHERE name = 'all slower';
        UPDATE sync_probe.runs SET storage = '{"mount_options": "rw,relatime"}';
        UPDATE examined SET mount_options = 'rw,relatime' WHERE name = o.at;
        EXECUTE o.change;
        INSERT INTO outdated_advice SELECT o.name, o.at, o.reason, d
        FROM sync_probe.recommendation_details AS d WHERE d.location = o.at;
    END LOOP;
END
$$;
SELECT is((got).outdated, expected IS NOT NULL, 'outdated: ' || name) FROM outdated_advice;
SELECT ok(CASE WHEN expected IS NULL THEN (got).reason NOT LIKE '%probe again'
          ELSE strpos((got).reason, expected) > 0 END,
          'outdated: ' || name || ': ' || (got).reason)
FROM outdated_advice;
SELECT is((got).commands, ARRAY[sync_probe_internal.probe_command(at)],
          'outdated: ' || name || ': probe again')
FROM outdated_advice WHERE expected IS NOT NULL;

-- an advice that was followed
DELETE FROM sync_probe.runs;
EXECUTE record ('faster in both regimes', 'pg_wal') \gset
UPDATE sync_probe.measurements
SET method = CASE method WHEN 'open_datasync' THEN 'fdatasync'
                         WHEN 'fdatasync' THEN 'open_datasync' ELSE method END;
UPDATE sync_probe.runs SET wal_sync_method = 'open_datasync';
SELECT is(commands, NULL, 'no command for what is set already')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
SELECT ok(starts_with(reason, 'chosen instead of open_datasync: ') AND NOT outdated,
          'and the reason says so')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
SELECT is((verdict, current_method, recommended_method, paced_speed)::text,
          format('(keep,%s,%1$s,)', current_setting('wal_sync_method')), 'it is kept')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';

-- a probe that may settle it: longer, to the end, as gently, and as far as allowed
CREATE TABLE pg_temp.unsettled (
    scenario text,
    run jsonb,              -- differences
    arguments text);        -- of the probe; null: none is proposed
INSERT INTO pg_temp.unsettled VALUES
('equals', '{"requested_duration": "100 ms", "duration": "100 ms", "stop_early": true}',
    'duration => ''15 s'''),
('equals', '{"requested_duration": "15 s", "duration": "3 s", "stop_early": true}', NULL),
('equals', '{"requested_duration": null, "duration": null, "stop_early": null}', NULL),
('too few rounds for an interval',
    '{"requested_duration": "5 s", "duration": "2 s", "stop_early": true}',
    'duration => ''15 s'', stop_early => false'),
('too few rounds for an interval',
    '{"requested_duration": "15 s", "duration": "3 s", "stop_early": true, "duty_cycle": 0.05}',
    'duration => ''15 s'', duty_cycle => 0.05, stop_early => false'),
('too few rounds for an interval',
    '{"requested_duration": "15 s", "duration": "15 s", "stop_early": false}',
    'duration => ''45 s'', stop_early => false'),
-- the reason says: 3 times as long
('slower, but too noisy to be sure',
    '{"requested_duration": "30 s", "duration": "30 s", "stop_early": false}',
    'duration => ''90 s'', stop_early => false'),
('too few rounds for an interval',
    '{"requested_duration": "5 min", "duration": "5 min", "stop_early": false}',
    'duration => ''600 s'', stop_early => false'),
('too few rounds for an interval',
    '{"requested_duration": "10 min", "duration": "10 min", "stop_early": false}', NULL);

CREATE FUNCTION pg_temp.commands(of pg_temp.unsettled) RETURNS text[]
    LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sync_probe.runs;
    PERFORM pg_temp.record(s, 'pg_default') FROM scenario AS s WHERE name = of.scenario;
    UPDATE sync_probe.runs AS r
    SET (requested_duration, duration, stop_early, duty_cycle) =
        (SELECT d.requested_duration, d.duration, d.stop_early, d.duty_cycle
         FROM jsonb_populate_record(NULL::sync_probe.runs, of.run) AS d);
    RETURN (SELECT commands FROM sync_probe.recommendation_details WHERE location = 'pg_default');
END
$$;
SELECT is(pg_temp.commands(u),
          CASE WHEN u.arguments IS NOT NULL
               THEN ARRAY['SELECT * FROM sync_probe.probe(''pg_default'', ' || u.arguments || ')']
          END,
          format('%s: %s', u.scenario, u.run))
FROM pg_temp.unsettled AS u;

SELECT * FROM finish();
ROLLBACK;
