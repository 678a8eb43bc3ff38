-- What a recorded run of suite segments says of wal_recycle and wal_init_zero, and the
-- finding that rests on it.
\ir include/begin.sql
\ir include/stage.sql
CREATE TEMP VIEW segment_advice AS
SELECT a.* FROM sync_probe_internal.segment_advice(
    ARRAY(SELECT l FROM sync_probe_internal.examine_locations(NULL) AS l)) AS a;

-- A run with these speeds of recycle, zero_fill and sparse.  "current" is the current kind of all,
-- and of those that are created; "said" the verdict on either, with the kind to switch to.
CREATE FUNCTION pg_temp.measured(given text, current text DEFAULT 'recycle, zero_fill',
    said text DEFAULT 'switch sparse, switch sparse', speeds float8[] DEFAULT '{1,1.2,1.25}',
    width float8 DEFAULT 0.05)
RETURNS bigint LANGUAGE sql AS $$
    WITH kind AS (
        SELECT t.test, t.said, k.*, k.kind = t.current AS is_current,
               k.speed / max(k.speed) FILTER (WHERE k.kind = t.current) OVER (PARTITION BY t.test)
                   AS ratio
        FROM (VALUES ('segment', split_part(current, ', ', 1), split_part(said, ', ', 1)),
                     ('new_segment', split_part(current, ', ', 2), split_part(said, ', ', 2)),
                     ('create', split_part(current, ', ', 1), '')) AS t (test, current, said),
             unnest('{recycle,zero_fill,sparse}'::text[], speeds)
                 WITH ORDINALITY AS k (kind, speed, n)
        WHERE t.current <> '' AND (t.test <> 'new_segment' OR k.kind <> 'recycle'))
    SELECT pg_temp.record_cases(
        pg_temp.record_run('{"suite": "segments", "storage": {"mount_options": "rw"}}'
                           || (d - 'stays'), NOT d ? 'stays'),
        VARIADIC ARRAY(
            SELECT jsonb_build_object('test', test, 'method', kind, 'p50_us', 400000 / speed,
                       'max_us', 900000, 'relative_speed', ratio,
                       'relative_speed_low', ratio - width, 'relative_speed_high', ratio + width,
                       'verdict', CASE WHEN is_current
                                       THEN nullif(split_part(said, ' ', 1), '') END,
                       'choice', CASE WHEN is_current THEN 'current'
                                      WHEN kind = split_part(said, ' ', 2) THEN 'recommended' END)
            FROM kind ORDER BY test, n))
    FROM pg_temp.given(given) AS d
$$;

CREATE TEMP TABLE scenario (
    id serial, name text,
    now text,                       -- wal_recycle and wal_init_zero
    run text, current text,
    said text,                      -- what the run says of both, see above
    advice text,                    -- verdict and value for either setting
    rule text);                     -- how the message of the rule begins, if one is left
INSERT INTO scenario (name, now, run, current, said, advice, rule) VALUES
('present settings are right', 'on on', '', 'recycle, zero_fill', 'keep, keep',
 'keep on, keep on', NULL),
('no old segments, and none with zeros', 'on on', '', 'recycle, zero_fill',
 'switch sparse, switch sparse', 'switch off, switch off', NULL),
('no old segments, though new ones alone would keep zeros', 'on on', '', 'recycle, zero_fill',
 'switch sparse, keep', 'switch off, switch off', NULL),
('old segments, and none with zeros', 'on on', '', 'recycle, zero_fill', 'keep, switch sparse',
 'keep on, switch off', NULL),
('new segments with zeros instead of old ones', 'on off', '', 'recycle, sparse',
 'switch zero_fill, switch zero_fill', 'switch off, switch on', NULL),
('old segments again', 'off off', '', 'sparse, sparse', 'switch recycle, switch zero_fill',
 'switch on, switch on', NULL),
('zeros, and no old segments', 'off off', '', 'sparse, sparse',
 'switch zero_fill, switch zero_fill', 'keep off, switch on', NULL),
('right on a copy-on-write file system', 'on on', 'filesystem=btrfs', 'recycle, zero_fill',
 'keep, keep', 'keep on, keep on', NULL),
('undecided there', 'on on', 'filesystem=btrfs', 'recycle, zero_fill', 'undecided, undecided',
 'undecided on, undecided on', 'pg_wal is on btrfs'),
('undecided elsewhere', 'on on', '', 'recycle, zero_fill', 'undecided, undecided',
 'undecided on, undecided on', NULL),
('one of both is decided', 'on on', 'filesystem=btrfs', 'recycle, zero_fill', 'undecided, keep',
 'undecided on, keep on',
 'pg_wal is on btrfs, a copy-on-write file system: recycling WAL files may'),
('advice that was followed', 'off off', 'filesystem=btrfs', 'recycle, zero_fill',
 'switch sparse, switch sparse', 'keep off, keep off', NULL),
('advice that was followed in part', 'on off', 'filesystem=btrfs', 'recycle, zero_fill',
 'switch sparse, switch sparse', 'switch off, keep off', NULL),
('other settings than then', 'off on', 'filesystem=btrfs', 'recycle, zero_fill', 'keep, keep',
 NULL, 'pg_wal is on btrfs, a copy-on-write file system: zero-filling WAL files may'),
('nothing was measured', 'on on', '', '', '', NULL, NULL),
('no verdict is known', 'on on', '', 'recycle, zero_fill', '', NULL, NULL);

-- A run that would recommend other settings, if it counted.
INSERT INTO scenario (name, now, run, current, said)
SELECT run, 'on on', run, 'recycle, zero_fill', 'switch sparse, switch sparse'
FROM unnest(ARRAY['device=sdz, filesystem=ext4, stays=true', 'directory=/other, stays=true',
                  'filesystem=xfs, stays=true', 'host=elsewhere', 'imported_at=2026-01-01',
                  'usable_for_advice=false', 'wal_sync_method=open_sync', 'suite=wal']) AS run;

-- what the stage's runs have, and what a place has before a run
CREATE FUNCTION pg_temp.set_stage() RETURNS void LANGUAGE sql AS $$
    DELETE FROM sync_probe.runs;
    UPDATE examined SET directory = '/data', filesystem = 'ext4', device = 'nvme0n1',
        write_cache = 'write back', mount_options = 'rw', disks = '{nvme0n1}'
    WHERE name = 'pg_wal';
$$;

CREATE TEMP TABLE found AS SELECT 0 AS id, f.* FROM sync_probe.findings AS f WHERE false;
CREATE FUNCTION pg_temp.play(s scenario) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_temp.set_stage(), pg_temp.measured(s.run, s.current, s.said);
    PERFORM set_config('wal_recycle', split_part(s.now, ' ', 1), true),
            set_config('wal_init_zero', split_part(s.now, ' ', 2), true);
    INSERT INTO found
    SELECT s.id, f.* FROM sync_probe.findings AS f WHERE code = 'cow_wal_settings';
    RETURN (SELECT string_agg(verdict || ' ' || recommended_value, ', ' ORDER BY setting DESC)
            FROM segment_advice WHERE location = 'pg_wal');
END
$$;
SELECT is(pg_temp.play(s), advice, name) FROM scenario AS s ORDER BY id;
RESET wal_recycle;
RESET wal_init_zero;
SELECT ok(CASE WHEN rule IS NULL THEN message IS NULL ELSE starts_with(message, rule) END,
          format('%s: %s', name, coalesce(message, 'no rule')))
FROM scenario AS s
LEFT JOIN found AS f ON f.id = s.id AND NOT f.evidence ? 'run_id' ORDER BY s.id;

SELECT is_empty($$SELECT message, hint FROM found
                  WHERE message || ' / ' || hint ~ 'NULL|  |\(\)' OR message ~ '[.]$'
                     OR hint !~ '[.]$' OR evidence IS NULL$$, 'findings are whole sentences');
SELECT set_eq($$SELECT severity, regexp_replace(message, 'run \d+', 'run N'), commands FROM found
                WHERE evidence ->> 'setting' = 'wal_init_zero'$$,
    $$VALUES ('info', 'wal_init_zero = on is right (run N)', NULL::text[]),
             ('info', 'wal_init_zero = off is right (run N)', NULL),
             ('info', 'it is undecided whether wal_init_zero = on is right (run N)',
              '{"SELECT * FROM sync_probe.probe(''pg_wal'', ''segments'', duration => ''60 s'')"}'),
             ('warning', 'wal_init_zero = off makes WAL segments cheaper (run N)',
              '{ALTER SYSTEM SET wal_init_zero = off,SELECT pg_catalog.pg_reload_conf()}'),
             ('warning', 'wal_init_zero = on makes WAL segments cheaper (run N)',
              '{ALTER SYSTEM SET wal_init_zero = on,SELECT pg_catalog.pg_reload_conf()}')$$,
    'a finding for each setting, with its commands');

-- ratios are times of the other value by those of the present one
SELECT pg_temp.set_stage();
SELECT pg_temp.measured('') AS run_id \gset
SELECT results_eq(
    $$SELECT setting, current_value, ratio, ratio_low, ratio_high, commands FROM segment_advice$$,
    $$VALUES ('wal_recycle'::name, 'on', 0.8::float8, 0.77::float8, 0.83::float8,
              '{ALTER SYSTEM SET wal_recycle = off,SELECT pg_catalog.pg_reload_conf()}'::text[]),
             ('wal_init_zero', 'on', 0.96, 0.92, 1.01,
              '{ALTER SYSTEM SET wal_init_zero = off,SELECT pg_catalog.pg_reload_conf()}')$$,
    'ratios before the advice is followed');
SET LOCAL wal_recycle = off;
SET LOCAL wal_init_zero = off;
SELECT results_eq(
    $$SELECT setting, current_value, ratio, ratio_low, ratio_high, commands,
             starts_with(reason, 'chosen instead of on: a segment with all its flushes takes ')
      FROM segment_advice$$,
    $$VALUES ('wal_recycle'::name, 'off', 1.25::float8, 1.2::float8, 1.3::float8, NULL::text[],
              true),
             ('wal_init_zero', 'off', 1.04, 0.99, 1.09, NULL, true)$$, 'and after it');
RESET wal_recycle;
RESET wal_init_zero;
SELECT is((SELECT DISTINCT reason FROM segment_advice),
          'a segment with all its flushes takes 400 ms recycled, 333 ms zero-filled,'
          ' 320 ms sparse (medians); commits wait for its creation: 333 ms zero-filled'
          ' (at most 900), 320 ms sparse (at most 900)', 'the figures in words');

-- not settled, beside medians that are a third apart: the reason says why
SELECT pg_temp.set_stage();
SELECT pg_temp.measured('', said => 'undecided, undecided', speeds => '{1,1.02,1.0404}',
                        width => 0.3) AS run_id \gset
UPDATE sync_probe.measurements SET p50_us = 300000
WHERE test = 'segment' AND method = 'recycle';
SELECT results_eq(
    $$SELECT setting, verdict, ratio, substring(reason FROM '^[^;]*; [^;]*; [^(]*')
      FROM segment_advice$$,
    $$SELECT s.setting, 'undecided', 0.98::float8,
             'not settled: compared within rounds, a segment with the other value takes 0.76 to'
             || ' 1.39 times as long, and a second one with the present value 0.77 to 1.43; medians'
             || ' of the whole run also show how the disk changed meanwhile; a segment with all'
             || ' its flushes takes 300 ms recycled, 392 ms zero-filled, 384 ms sparse '
      FROM (VALUES ('wal_recycle'::name), ('wal_init_zero')) AS s (setting)$$,
    'undecided, with the reason');

-- a tablespace: what would hold if the WAL were there
SELECT pg_temp.set_stage();
SELECT pg_temp.measured(''), pg_temp.measured('location=pg_default') AS run_id \gset
SELECT results_eq(
    $$SELECT verdict, commands, starts_with(reason, 'if the WAL were here: a segment')
      FROM segment_advice WHERE location = 'pg_default'$$,
    $$VALUES ('switch', NULL::text[], true), ('switch', NULL, true)$$, 'a tablespace');
SELECT set_eq($$SELECT DISTINCT location, severity FROM sync_probe.findings
                WHERE code = 'cow_wal_settings'$$,
              $$VALUES ('pg_wal'::name, 'warning'), ('pg_default', 'info')$$,
              'both have advice, of which one can be followed');

-- the newest run that counts
SELECT pg_temp.set_stage();
SELECT pg_temp.measured('') AS first_id, pg_temp.measured('usable_for_advice=false') AS run_id \gset
SELECT is((SELECT DISTINCT run_id FROM segment_advice), :first_id::bigint,
          'a newer run that does not count');
SELECT pg_temp.measured('', said => 'keep, keep') AS run_id \gset
SELECT is((SELECT DISTINCT run_id FROM segment_advice), :run_id::bigint, 'a newer run that counts');
SELECT is_empty($$SELECT FROM sync_probe.findings
                  WHERE code = 'cow_wal_settings' AND severity = 'warning'$$,
                'whose verdict ends the warning');

\ir include/end.sql
