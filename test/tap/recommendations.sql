-- What sync_probe.recommendations makes of recorded runs: the stored verdict, or why it is not
-- that of today; what trials and the commit suite say beside it; and the way on.
\ir include/begin.sql
\ir include/stage.sql

-- A run that compared values of a setting on real commits: a trial of both methods unless told
-- otherwise.
CREATE FUNCTION pg_temp.live(given text) RETURNS bigint LANGUAGE sql STRICT AS $$
    SELECT pg_temp.record_cases(pg_temp.record_run(d, false), VARIADIC ARRAY(
        SELECT jsonb_build_object('test', coalesce(d ->> 'test', d ->> 'setting'), 'method', value)
               || CASE WHEN value IN ('0', d ->> 'wal_sync_method')
                       THEN jsonb_build_object('choice', 'current', 'verdict', d -> 'verdict')
                       WHEN value = d ->> 'recommended_value' THEN '{"choice": "recommended"}'
                       ELSE '{}' END
        FROM string_to_table(d ->> 'compared', ' ') AS value))
    FROM (SELECT pg_temp.given('suite=trial, verdict=keep, setting=wal_sync_method, '
                     'wal_sync_method=fdatasync, margin=0.05, max_regret=0.22, '
                     'reason=seen in commits, compared=fdatasync fsync')
                 || pg_temp.given(given)) AS g (d)
$$;

CREATE TEMP TABLE scenario (
    id serial,
    name text,
    run text,               -- of the wal suite: differences from one that keeps; null: none
    change text,            -- executed after it
    live text,              -- of a live run; null: none
    expected text,          -- verdict, recommended and best method, bound, durable, basis
    reason text,            -- a regular expression
    change_to text,         -- what the commands change wal_sync_method to, if they do
    commands text[]);       -- those that follow, or there are none

-- What a run said, and what it says today.
INSERT INTO scenario (name, run, expected, reason, change_to, commands) VALUES
('keep', 'reason=why', 'keep fdatasync fdatasync 0.02 yes wal', '^why$', NULL, NULL),
('a switch', 'verdict=switch, recommended_value=fsync, max_regret=0.3, reason=it takes 20 % less',
 'switch fsync fsync 0.3 yes wal', '^it takes 20 % less$', 'fsync', NULL),
('unsafe, and a method is not',
 'verdict=unsafe, recommended_value=fsync, max_regret=null, durable=yes',
 'unsafe fsync fsync - yes wal', '', 'fsync', NULL),
('unsafe, and all are',
 'verdict=unsafe, recommended_value=null, best_value=null, max_regret=null, durable=yes',
 'unsafe - - - yes wal', '', NULL, NULL),
('undecided, and the run says how long',
 'verdict=undecided, longer_duration=20 s, best_value=fsync',
 'undecided fdatasync fsync 0.02 yes wal', '', NULL,
 '{SELECT * FROM sync_probe.probe(duration => ''20 s'')}'),
('undecided, and no longer is possible', 'verdict=undecided',
 'undecided fdatasync fdatasync 0.02 yes wal', '', NULL, NULL),
('advice that was followed', 'verdict=switch, wal_sync_method=fsync, max_regret=0.3, '
 'recommended_value=fdatasync, reason=fdatasync is faster', 'keep fdatasync fdatasync - yes wal',
 '^chosen instead of fsync: fdatasync is faster$', NULL, NULL),
('unsafe, and followed', 'verdict=unsafe, wal_sync_method=fsync, durable=no, '
 'recommended_value=fdatasync, max_regret=null', 'keep fdatasync fdatasync - yes wal',
 '^chosen instead of fsync: ', NULL, NULL),
-- another location: what would hold if the WAL were there, but no command
('a switch elsewhere', 'location=pg_default, verdict=switch, recommended_value=fsync, reason=why',
 'switch fsync fsync 0.02 yes wal', '^if the WAL were here: why$', NULL, NULL);

-- What has changed since.  The verdict is then of another day, and its figures are not shown.
INSERT INTO scenario (name, run, change, expected, reason, commands)
SELECT 'outdated: ' || v.reason, v.run, v.change, 'outdated - - - unknown wal',
       '^run [0-9]+ is outdated: ' || v.reason || '$',
       ARRAY[sync_probe_internal.probe_command(coalesce(pg_temp.given(v.run) ->> 'location',
                                                        'pg_wal'))]
FROM (VALUES
('wal_sync_method=fsync', NULL, 'wal_sync_method was fsync, is fdatasync'),
-- advice that was not followed
('wal_sync_method=fsync, verdict=switch, recommended_value=open_sync', NULL,
 'wal_sync_method was fsync, is fdatasync'),
('', 'SET LOCAL pg_sync_probe.margin = 0.1', 'pg_sync_probe[.]margin was 0[.]05, is 0[.]1'),
('location=pg_default', 'UPDATE examined SET filesystem = ''xfs''', 'file system was ext4, is xfs'),
('', 'UPDATE examined SET write_cache = NULL', 'write cache was write back, is unknown'),
('storage: mount_options=rw,relatime', 'UPDATE examined SET mount_options = ''rw,nobarrier''',
 'mount options were relatime, are nobarrier'),
('fsync=false, verdict=unsafe, durable=no', NULL, 'fsync was off, is on'),
('wal_sync_method=open_sync', 'UPDATE examined SET filesystem = ''xfs''',
 'wal_sync_method was open_sync, is fdatasync; file system was ext4, is xfs'),
-- advice that was followed
('verdict=switch, wal_sync_method=fsync, recommended_value=fdatasync',
 'UPDATE examined SET filesystem = ''xfs''', 'file system was ext4, is xfs')
) AS v (run, change, reason);

INSERT INTO scenario (name, run, change, expected, reason, commands) VALUES
('undecided, and max_duration was lowered', 'verdict=undecided, longer_duration=20 s',
 'SET LOCAL pg_sync_probe.max_duration = 15500', 'undecided fdatasync fdatasync 0.02 yes wal', '',
 '{SELECT * FROM sync_probe.probe(duration => ''15.5 s'')}');

-- Up to PostgreSQL 15 wal_level decides whether open_* methods use O_DIRECT.
CREATE FUNCTION pg_temp.directly(test text, direct_io boolean DEFAULT true) RETURNS text
LANGUAGE sql AS $$
    SELECT format('INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io,'
                  ' status) SELECT run_id, 5, %L, ''open_sync'', %L, ''ok'' FROM sync_probe.runs',
                  test, direct_io)
$$;
INSERT INTO scenario (name, run, change, expected, reason, commands)
SELECT 'wal_level was minimal', '', pg_temp.directly('paced'), 'outdated - - - unknown wal',
       'outdated: wal_level was minimal, is ', ARRAY[sync_probe_internal.probe_command('pg_wal')]
WHERE current_setting('server_version_num')::integer < 160000;
INSERT INTO scenario (name, run, change, expected, reason)
SELECT v.name, v.run, v.change, 'keep fdatasync fdatasync 0.02 yes wal', ''
FROM (VALUES ('wal_level was replica or logical', '', pg_temp.directly('paced', false)),
             ('what O_DIRECT would do', '', pg_temp.directly('saturated')),
             ('wal_level does not matter', CASE
              WHEN current_setting('server_version_num')::integer >= 160000
              THEN '' END, pg_temp.directly('paced')),
             -- a margin of many digits is stored with six
             ('the same margin', 'margin=0.033333', 'SET LOCAL pg_sync_probe.margin = 0.0333333'),
             ('rounded down', 'margin=0.03', 'SET LOCAL pg_sync_probe.margin = 0.0300005'),
             ('a pool of ZFS, whose write cache only a probe knows', 'filesystem=zfs',
              'UPDATE examined SET filesystem = ''zfs'', write_cache = NULL'))
         AS v (name, run, change)
WHERE v.run IS NOT NULL;

-- The newest power test of this server, directory, device and method stands above the counters.
INSERT INTO scenario (name, run, change, expected, reason)
SELECT 'power test: ' || v.name, 'reason=why', (
           SELECT string_agg(format('SELECT pg_temp.record_run(pg_temp.given(%L), false)',
                      'suite=power_test, usable_for_advice=false, reason=seen; durable='
                      || r.differences), ';' ORDER BY r.n)
           FROM unnest(v.tests) WITH ORDINALITY AS r (differences, n)),
       v.expected, v.reason
FROM (VALUES
('proven', ARRAY['refuted', 'proven'], 'keep fdatasync fdatasync 0.02 proven wal',
 '^why; proven by the power test of [-0-9]{10} on nvme0n1 \(run \d+\): seen$'),
('refuted', ARRAY['proven', 'refuted'], 'unsafe - - - refuted wal',
 '^refuted by the power test of '),
('of others', ARRAY['refuted, device=sdb', 'refuted, directory=/elsewhere', 'refuted, host=other',
  'refuted, wal_sync_method=fsync', 'refuted, location=x'],
 'keep fdatasync fdatasync 0.02 yes wal', '^why$')) AS v (name, tests, expected, reason);

-- Trials and the commit suite, beside a probe that recommends fsync: those that have a say.
\set probed '''verdict=switch, recommended_value=fsync, max_regret=0.3, reason=probed'''
INSERT INTO scenario (name, run, live, expected, reason, change_to)
SELECT v.name, v.run, v.live, v.expected, '^seen in commits$',
       CASE WHEN v.expected LIKE 'switch%' THEN 'fsync' END
FROM (VALUES
('a trial confirms it', :probed, 'verdict=switch, recommended_value=fsync',
 'switch fsync fsync 0.22 yes trial'),
('a trial contradicts it', :probed, 'recommended_value=fdatasync',
 'keep fdatasync fdatasync 0.22 yes trial'),
('so does the commit suite', :probed, 'recommended_value=fdatasync, suite=commit',
 'keep fdatasync fdatasync 0.22 yes commit'),
('a trial beside an undecided probe', 'verdict=undecided',
 'recommended_value=fdatasync, compared=fdatasync open_sync',
 'keep fdatasync fdatasync 0.22 yes trial'),
('a trial after an outdated probe', 'wal_sync_method=fsync',
 'recommended_value=fdatasync, compared=fdatasync open_sync',
 'keep fdatasync fdatasync 0.22 unknown trial'),
('a trial without a probe', NULL, 'verdict=switch, recommended_value=fsync',
 'switch fsync fsync 0.22 unknown trial')) AS v (name, run, live, expected);
INSERT INTO scenario (name, live, expected, reason) VALUES
('a trial whose advice was followed',
 'verdict=switch, recommended_value=fdatasync, wal_sync_method=fsync',
 'keep fdatasync fdatasync - unknown trial', '^chosen instead of fsync: seen in commits$');

-- Those that have none.
INSERT INTO scenario (name, run, live, expected, reason, change_to)
SELECT v.name, :probed, 'recommended_value=fdatasync; ' || v.live,
       'switch fsync fsync 0.3 yes wal', '^probed$', 'fsync'
FROM (VALUES
('a commit suite at another pace', 'suite=commit, usable_for_advice=false'),
('a trial did not compare what it recommends', 'compared=fdatasync fsync_writethrough'),
('an undecided trial', 'verdict=undecided, longer_duration=3 min'),
('a trial of another setting', 'setting=commit_delay, recommended_value=0, compared=0 50'),
('a trial of another server', 'host=elsewhere'), ('a trial on another device', 'device=sdz'),
('a trial with another method in use', 'recommended_value=fsync, wal_sync_method=fsync'))
    AS v (name, live);

-- an undecided one is repeated where a probe may decide nothing
INSERT INTO scenario (name, run, live, expected, reason, commands)
SELECT v.name, 'verdict=undecided, reason=probed' || v.run,
       'verdict=undecided, recommended_value=fdatasync, ' || v.live,
       'undecided fdatasync fdatasync 0.02 yes wal', '^probed$', ARRAY[v.command]
FROM (VALUES
('an undecided trial has a way on', '', 'longer_duration=3 min',
 'CALL sync_probe.trial(duration => ''180 s'')'),
('one of a workload, too', '', 'workload=upsert, longer_duration=3 min',
 'CALL sync_probe.trial(duration => ''180 s'', workload => ''upsert'')'),
('an undecided commit suite, too', '', 'suite=commit, longer_duration=30 s, workers=4',
 'SELECT * FROM sync_probe.probe(suite => ''commit'', duration => ''30 s'', workers => 4)'),
('a longer probe comes first', ', longer_duration=20 s', 'longer_duration=3 min',
 'SELECT * FROM sync_probe.probe(duration => ''20 s'')')) AS v (name, run, live, command);

INSERT INTO scenario (name, run, live, expected, reason) VALUES
('an undecided trial beside a probe that keeps', 'reason=probed',
 'verdict=undecided, longer_duration=3 min', 'keep fdatasync fdatasync 0.02 yes wal', '^probed$');

-- Each in a stage of its own: the rows that it left are those of the scenario alone.
CREATE FUNCTION pg_temp.play(s scenario) RETURNS sync_probe.recommendation_details
LANGUAGE plpgsql AS $$
DECLARE
    got sync_probe.recommendation_details;
BEGIN
    DELETE FROM sync_probe.runs;
    -- where its runs are, also without one of a probe
    PERFORM pg_temp.record_run(pg_temp.given(coalesce(s.run, '')));
    IF s.run IS NULL THEN
        DELETE FROM sync_probe.runs;
    END IF;
    PERFORM pg_temp.record_cases(r.run_id, VARIADIC ARRAY(
        SELECT jsonb_build_object('test', m.test, 'method', m.method, 'choice', m.choice,
                   'durable', 'yes', 'verdict', CASE m.choice WHEN 'current' THEN r.verdict END,
                   'mean_us', CASE m.method WHEN r.recommended_value THEN m.us ELSE 150 END)
        -- the time of a flush is that of the test that decides, and of a method with a choice
        FROM (VALUES ('saturated', 'recommended', r.recommended_value, 7),
                     ('paced', NULL, r.recommended_value, 8),
                     ('paced', 'current', r.wal_sync_method, 120),
                     ('paced', 'recommended', nullif(r.recommended_value, r.wal_sync_method), 120))
                 AS m (test, choice, method, us)
        WHERE m.method IS NOT NULL))
    FROM sync_probe.runs AS r;
    IF s.change IS NOT NULL THEN EXECUTE s.change;
    END IF;
    IF s.live IS NOT NULL THEN PERFORM pg_temp.live(s.live);
    END IF;
    SELECT d.* INTO got FROM sync_probe.recommendation_details AS d
    WHERE d.location = coalesce(pg_temp.given(s.run) ->> 'location', 'pg_wal');
    SET LOCAL pg_sync_probe.margin = 0.05;
    SET LOCAL pg_sync_probe.max_duration = '10 min';
    RETURN got;
END
$$;
CREATE TEMP TABLE played AS SELECT s.*, pg_temp.play(s) AS got FROM scenario AS s ORDER BY id;

SELECT is(current_setting('wal_sync_method'), 'fdatasync', 'the tests are about such a server');
SELECT is(concat_ws(' ', (got).verdict, coalesce((got).recommended_method, '-'),
                    coalesce((got).best_method, '-'), coalesce((got).max_regret::text, '-'),
                    (got).durable, (got).basis), expected, name) FROM played ORDER BY id;
SELECT matches(regexp_replace((got).reason, '[.] Run \d+, on real commits: .*', ''), reason,
               name || ': reason') FROM played ORDER BY id;
SELECT is((got).commands,
          CASE WHEN change_to IS NOT NULL OR commands IS NOT NULL
               THEN sync_probe_internal.change_commands('fdatasync', change_to) || commands END,
          name || ': commands') FROM played ORDER BY id;

-- A checkpoint where processes with both sorts of methods may meet, in either direction: with
-- open_* XLogWrite() takes for flushed what the others have written.
SELECT is(sync_probe_internal.change_commands(old_method, new_method),
          ARRAY['ALTER SYSTEM SET wal_sync_method = ''' || new_method || '''',
                'SELECT pg_catalog.pg_reload_conf()']
          || CASE WHEN checkpoint THEN ARRAY['CALL sync_probe.wait_for_reload()', 'CHECKPOINT'] END,
          format('commands from %s to %s', old_method, new_method))
FROM (VALUES ('fsync', 'open_datasync', true), ('fdatasync', 'open_sync', true),
             ('fsync_writethrough', 'open_sync', true), ('open_sync', 'fdatasync', true),
             ('open_datasync', 'fsync', true), ('fsync', 'fdatasync', false),
             ('fdatasync', 'fsync_writethrough', false),
             ('open_sync', 'open_datasync', false)) AS c (old_method, new_method, checkpoint);

-- the figures of a probe, and none where it has no say
SELECT is((got).flush_us, CASE WHEN (got).basis = 'wal' AND name NOT LIKE 'outdated: %'
                               THEN 120::float8 END, name || ': time of a flush of a probe')
FROM played WHERE name IN ('keep', 'a switch', 'advice that was followed')
               OR (got).basis = 'trial' OR name LIKE 'outdated: %';

-- the newest live run is shown, whatever it has decided
SELECT matches((got).reason, format('Run \d+, on real commits: %s, seen in commits$',
                                    pg_temp.given(live) ->> 'verdict'), name || ': shown')
FROM played WHERE name LIKE '%way on' OR name LIKE '%, too';

-- on one screen
SELECT pg_temp.play(s) AS ignored FROM scenario AS s WHERE s.name = 'keep' \gset
SELECT row_eq('SELECT r.* FROM sync_probe.recommendations AS r WHERE location = ''pg_wal''',
              ROW('pg_wal'::name, 'keep', 'fdatasync', 'fdatasync', 0.02::float8, 120::float8,
                  'yes', 'wal')::sync_probe.recommendations,
              'recommendations is the short form');

-- open_* of real commits, whose method is still in use
DELETE FROM sync_probe.runs;
SELECT pg_temp.live('wal_sync_method=open_sync, compared=open_sync') AS id \gset
UPDATE sync_probe.measurements SET direct_io = true;
SELECT is(sync_probe_internal.changes_since(r,
              ARRAY(SELECT m FROM sync_probe.measurements AS m WHERE m.run_id = r.run_id), l, true),
          CASE
              WHEN current_setting('server_version_num')::integer < 160000
              THEN ARRAY['wal_level was minimal, is ' || current_setting('wal_level')] END,
          'wal_level changed after a trial with open_*')
FROM sync_probe.runs AS r, sync_probe_internal.examine_locations('pg_wal') AS l;

CREATE TEMP VIEW at_wal AS
SELECT * FROM sync_probe.recommendation_details WHERE location = 'pg_wal';

-- of two trials the newer one counts, before one of a workload, before the commit suite; an
-- undecided one does not displace one that has decided
DELETE FROM sync_probe.runs;
SELECT pg_temp.live('verdict=switch, recommended_value=fsync, suite=commit') AS suite,
       pg_temp.live('recommended_value=fdatasync') AS older,
       pg_temp.live('verdict=switch, recommended_value=fsync') AS trial,
       pg_temp.live('recommended_value=fdatasync, workload=upsert') AS made,
       pg_temp.live('verdict=undecided, recommended_value=fdatasync') AS undecided \gset
SELECT is(array[run_id, substring(reason FROM 'Run (\d+), on real commits: undecided')::bigint],
          array[:trial, :undecided]::bigint[], 'the newer trial')
FROM at_wal;
DELETE FROM sync_probe.runs WHERE suite = 'trial' AND workload IS NULL;
SELECT is(run_id, :made::bigint, 'then one of a workload')
FROM at_wal;
DELETE FROM sync_probe.runs WHERE suite = 'trial';
SELECT is(run_id, :suite::bigint, 'then the commit suite')
FROM at_wal;
UPDATE examined SET mount_options = 'nobarrier' WHERE name = 'pg_wal';
UPDATE sync_probe.runs SET storage = '{"mount_options": "barrier"}';
SELECT is(ARRAY[verdict, substring(reason FROM 'on real commits')], ARRAY['not probed', NULL],
          'one before a change does not count') FROM at_wal;
UPDATE examined SET mount_options = NULL WHERE name = 'pg_wal';

-- commit_delay: what was measured, and nothing else
DELETE FROM sync_probe.runs;
SELECT pg_temp.record_run('{}') AS id \gset
CREATE FUNCTION pg_temp.delay(given text, now integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('commit_delay', now::text, true);
    PERFORM pg_temp.live('setting=commit_delay; ' || given);
    RETURN (SELECT nullif(concat_ws('; ', array_to_string(commands, '; '),
                                    substring(reason FROM 'commit_delay = \d+ instead.*')), '')
            FROM at_wal);
END
$$;
SELECT is(pg_temp.delay(given, now), 'ALTER SYSTEM SET commit_delay = ' || advised
              || format('; SELECT pg_catalog.pg_reload_conf(); commit_delay = %s instead of %s, '
                        'seen in commits', advised, now), 'commit_delay: ' || name)
FROM (VALUES ('no rule of thumb', NULL, 0, NULL),
    ('by the commit suite', 'suite=commit, verdict=switch, setting=wal_sync_method, '
        'recommended_value=50, test=commit_delay, compared=0 50 100', 0, 50),
    ('not by an import of it', 'suite=commit, verdict=switch, recommended_value=70, '
        'imported_at=2026-05-03, compared=0 70', 0, 50),
    ('by a trial', 'verdict=switch, recommended_value=100, compared=0 100', 0, 100),
    ('an undecided trial does not count',
        'verdict=undecided, recommended_value=0, compared=0 200', 0, 100),
    ('no command once it is set', NULL, 100, NULL),
    ('a trial against another value does not count', NULL, 70, NULL),
    ('a value that was found harmful is not proposed', 'recommended_value=0, compared=0 100', 0,
     NULL)) AS v (name, given, now, advised);
SELECT pg_temp.delay('verdict=switch, recommended_value=100, compared=0 100', 0) AS advised \gset
UPDATE sync_probe.runs SET fsync = false WHERE suite = 'wal';
SELECT results_eq($$SELECT f.commands, cardinality(r.commands)
                    FROM sync_probe.findings AS f JOIN at_wal AS r USING (location)
                    WHERE f.code = 'outdated_run'$$,
    $$VALUES ('{SELECT * FROM sync_probe.probe()}'::text[], 3)$$,
    'the finding outdated_run says nothing of commit_delay');
RESET commit_delay;
SELECT is((SELECT count(*) FROM sync_probe.recommendation_details
           WHERE location <> 'pg_wal'
             AND (basis <> 'wal' OR array_to_string(commands, ' ') LIKE '%commit_delay%')),
          0::bigint, 'a tablespace has no commits');

-- a newer run that does not count changes nothing, and a finding says so
DELETE FROM sync_probe.runs;
SELECT pg_temp.record_run('{}') AS id \gset
CREATE TEMP TABLE before AS SELECT * FROM at_wal;
CREATE FUNCTION pg_temp.passed_over(differences text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    id bigint := pg_temp.record_run(pg_temp.given(differences), false);
    why text := (SELECT f.evidence ->> 'why' FROM sync_probe.findings AS f
                 WHERE f.code = 'run_passed_over' AND f.evidence -> 'run_id' = to_jsonb(id));
    is_same boolean := (SELECT w = b FROM at_wal AS w, before AS b);
BEGIN
    DELETE FROM sync_probe.runs WHERE run_id = id;
    RETURN CASE WHEN is_same THEN coalesce(why, 'nothing') ELSE 'other advice' END;
END
$$;
SELECT is(left(got, length(expected)), expected, format('passed over: %s: %s', differences, got))
FROM (VALUES ('suite=pg_test_fsync', 'nothing'), ('location=gone', 'nothing'),
    ('imported_at=2026-05-03', 'nothing'),
    ('usable_for_advice=false', 'it has fewer than 16 samples, or was given'),
    ('system_identifier=1', 'another cluster made it'),
    ('host=elsewhere', 'host elsewhere made it'), ('host=null', 'host unknown made it'),
    ('directory=/elsewhere', 'its directory was /elsewhere'),
    ('device=sdz', 'its device was sdz'), ('device=null', 'its device was unknown'),
    ('host=elsewhere, device=sdz, usable_for_advice=false',
     'host elsewhere made it, its device was sdz, it has fewer than 16 samples'))
         AS v (differences, expected), pg_temp.passed_over(v.differences) AS got;
SELECT is_empty($$SELECT FROM sync_probe.findings WHERE code = 'run_passed_over'$$,
                'nor is the run passed over that the advice rests on');

-- locations that were never probed: where the WAL is, and one of each other file system
DELETE FROM sync_probe.runs;
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
SELECT is((SELECT string_agg(format('%s: %s', location, passed_over_why), ' ')
           FROM sync_probe_internal.advice('pg_default')
           WHERE num_nonnulls(passed_over, passed_over_at, passed_over_why) <> 0),
          'beside it: its device was nvme0n1', 'no other location has that run');
UPDATE examined SET device = 'nvme0n1' WHERE name = 'beside it';
SELECT set_eq(
    $$SELECT location::text, coalesce(verdict = 'not probed', false)
      FROM sync_probe.recommendations$$,
    $$VALUES ('pg_wal', true), ('beside it', false), ('pg_default', true)$$,
    'one location of a file system is enough');
SELECT pg_temp.record_run('{"usable_for_advice": false}') AS run_id \gset
SELECT is(reason, 'run ' || :run_id || ' does not count: it has fewer than 16 samples, or was given'
          ' flush_size or flush_interval',
          'a run at pg_wal that does not count, and why')
FROM at_wal;

\ir include/end.sql
