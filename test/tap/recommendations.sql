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
('faster in both regimes', 0.01, 'open_datasync', (1.10,1.20), (1.10,1.20), 'fsync', (0.6,0.7), (0.9,0.95),
    'switch', 'open_datasync', 'open_datasync makes 15 % more'),
('faster back to back alone', 0.01, 'open_datasync', (0.97,1.02), (1.10,1.20), 'fsync', (0.6,0.7), (0.9,0.95),
    'switch', 'open_datasync', 'back to back'),
('faster when paced, slower back to back: the pace decides', 0.01, 'open_datasync', (1.10,1.20), (0.80,0.90), 'fsync', (0.6,0.7), (0.9,0.95),
    'switch', 'open_datasync', 'the pace decides'),
('slower when paced, faster back to back: the pace decides', 0.01, 'open_datasync', (0.80,0.90), (1.10,1.20), 'fsync', (0.6,0.7), (0.9,0.95),
    'keep', 'fdatasync', 'but not at this cluster''s pace'),
('of two that are faster, the better paced one', 0.01, 'open_datasync', (1.10,1.20), (1.30,1.50), 'fsync', (1.20,1.30), (1.10,1.15),
    'switch', 'fsync', 'fsync makes'),
('faster, but not by the margin', 0.01, 'open_datasync', (1.01,1.04), (1.01,1.04), 'fsync', (0.6,0.7), (0.9,0.95),
    'tie', 'fdatasync', 'as fast as fdatasync: open_datasync'),
('equals', 0.01, 'open_datasync', (0.98,1.02), (0.98,1.03), 'fsync', (0.99,1.02), (0.97,1.01),
    'tie', 'fdatasync', 'open_datasync, fsync'),
('all slower', 0.01, 'open_datasync', (0.90,0.99), (0.91,0.99), 'fsync', (0.6,0.7), (0.9,0.95),
    'keep', 'fdatasync', 'every other method'),
('equal or slower, but not faster', 0.01, 'open_datasync', (0.93,1.03), (0.98,1.02), 'fsync', (0.6,0.7), (0.9,0.95),
    'keep', 'fdatasync', 'no method is more than 3 % faster at this cluster''s pace, or 2 % back to back; equal to fdatasync or slower: open_datasync'),
('may be faster, may be slower', 0.01, 'open_datasync', (0.93,1.20), (0.95,1.20), 'fsync', (0.6,0.7), (0.9,0.95),
    'undecided', 'fdatasync', 'no method is more than 20 % faster at this cluster''s pace, or 20 % back to back; not settled: open_datasync: probe much longer'),
('above the margin in one look only by half', 0.01, 'open_datasync', (1.04,1.20), (1.04,1.20), 'fsync', (0.6,0.7), (0.9,0.95),
    'undecided', 'fdatasync', 'not settled: open_datasync'),
('clear of the margin in spite of the noise', 0.08, 'open_datasync', (1.50,1.60), (1.50,1.60), 'fsync', (0.6,0.7), (0.9,0.95),
    'switch', 'open_datasync', 'open_datasync makes 55 % more'),
('slower, but too noisy to be sure', 0.08, 'open_datasync', (0.90,0.99), (0.91,0.99), 'fsync', (0.6,0.7), (0.9,0.95),
    'undecided', 'fdatasync', 'the noise is 8.0 %, above the margin of 5 %: probe 3 times as long as this run'),
('too few rounds for an interval', NULL, 'open_datasync', (NULL,NULL), (NULL,NULL), 'fsync', (NULL,NULL), (NULL,NULL),
    'undecided', 'fdatasync', 'too few rounds');

-- A run of the wal suite with these intervals, at a location.
CREATE FUNCTION pg_temp.record(s scenario, at name) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
BEGIN
    INSERT INTO sync_probe.runs (source, location, suite, started_at, finished_at, wal_sync_method, noise)
    VALUES ('probe', at, 'wal', now(), now(), 'fdatasync', s.noise) RETURNING run_id INTO id;

    INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io, status, mean_us,
        relative_speed, relative_speed_low, relative_speed_high)
    SELECT id, row_number() OVER (), m.test, m.method, m.direct_io, 'ok', m.mean_us,
           coalesce(sqrt((m.speed).low * (m.speed).high), 1), (m.speed).low, (m.speed).high
    FROM (VALUES
        ('paced', s.other, false, s.paced, 900.0),
        ('paced', 'fdatasync', false, ((1 - s.noise, (1 - s.noise) * (1 + s.noise) ^ 2)::pg_temp.speed), 1000),
        ('paced', s.third, false, s.third_paced, 1200),
        ('saturated', s.other, false, s.saturated, 450),
        ('saturated', 'fdatasync', false, ((1 - s.noise, (1 - s.noise) * (1 + s.noise) ^ 2)::pg_temp.speed), 500),
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
    id bigint, got sync_probe.recommendations);

-- each run becomes the newest in turn
DO $$
DECLARE
    s scenario;
    id bigint;
BEGIN
    FOR s IN SELECT * FROM scenario LOOP
        id := pg_temp.record(s, 'pg_wal');
        INSERT INTO advice
        SELECT s.name, s.verdict, s.recommended, s.reason, id, r FROM sync_probe.recommendations AS r
        WHERE r.location = 'pg_wal';
    END LOOP;
END
$$;

SELECT plan((SELECT count(*)::integer * 5 FROM scenario) + 17);

SELECT is((got).run_id, id, name || ': the newest run') FROM advice;
SELECT is((got).verdict, expected_verdict, name || ': verdict') FROM advice;
SELECT is((got).recommended_method, recommended, name || ': method') FROM advice;
SELECT ok(strpos((got).reason, expected_reason) > 0, name || ': reason: ' || (got).reason) FROM advice;
SELECT is((got).command IS NOT NULL,
          expected_verdict = 'switch' AND recommended <> current_setting('wal_sync_method'),
          name || ': command only for a change')
FROM advice;

-- the row of a switch
CREATE TEMP TABLE switch AS SELECT (got).* FROM advice WHERE name = 'faster in both regimes';
SELECT ok(holds_wal, 'pg_wal holds the WAL') FROM switch;
SELECT is(current_method, 'fdatasync', 'current method is that of the run') FROM switch;
SELECT is(paced_speed_low, 1.1::float8, 'interval of the recommended method') FROM switch;
SELECT is(saturated_speed_high, 1.2::float8, 'interval back to back') FROM switch;
SELECT is(flush_us, 900::float8, 'flush_us is the paced mean of the recommended method') FROM switch;
SELECT is(recommended_commit_delay, 225, 'commit_delay is half the saturated mean') FROM switch;
SELECT is(durable, 'unknown', 'nothing is known of the device') FROM switch;
SELECT is(command, 'ALTER SYSTEM SET wal_sync_method = ''open_datasync''; SELECT pg_reload_conf();', 'command') FROM switch;

-- another location: what would hold if the WAL lay there, but no command
SELECT isnt(pg_temp.record(s, 'pg_default'), NULL, 'a run at pg_default') FROM scenario s WHERE name = 'faster in both regimes';
SELECT ok(NOT holds_wal, 'pg_default does not hold the WAL') FROM sync_probe.recommendations WHERE location = 'pg_default';
SELECT is(command, NULL, 'and no command is given for it') FROM sync_probe.recommendations WHERE location = 'pg_default';
SELECT ok(starts_with(reason, 'if the WAL lay here: '), 'the reason says so') FROM sync_probe.recommendations WHERE location = 'pg_default';
SELECT is(verdict, 'switch', 'the verdict is the same') FROM sync_probe.recommendations WHERE location = 'pg_default';

-- the margin is the reader's
SET LOCAL pg_sync_probe.margin = 0.5;
SELECT isnt(verdict, 'switch', 'a wider margin asks for more') FROM sync_probe.recommendations WHERE location = 'pg_default';
RESET pg_sync_probe.margin;

-- a newer run of the other suite, or of a tablespace that is gone, changes nothing
INSERT INTO sync_probe.runs (source, location, suite, wal_sync_method) VALUES
    ('probe', 'pg_wal', 'pg_test_fsync', 'fdatasync'), ('probe', 'gone', 'wal', 'fdatasync');
SELECT is(count(*), 2::bigint, 'one row for each location that exists and was probed') FROM sync_probe.recommendations;

-- an advice that was followed
DO $$ BEGIN PERFORM pg_temp.record(s, 'pg_wal') FROM scenario AS s WHERE name = 'faster in both regimes'; END $$;
UPDATE sync_probe.measurements SET method = CASE method WHEN 'open_datasync' THEN 'fdatasync' WHEN 'fdatasync' THEN 'open_datasync' ELSE method END
WHERE run_id = (SELECT max(run_id) FROM sync_probe.runs);
UPDATE sync_probe.runs SET wal_sync_method = 'open_datasync' WHERE run_id = (SELECT max(run_id) FROM sync_probe.runs);
SELECT is(command IS NULL, current_setting('wal_sync_method') = 'fdatasync', 'no command for what is set already')
FROM sync_probe.recommendations WHERE location = 'pg_wal';
SELECT is(reason LIKE '%; already set', current_setting('wal_sync_method') = 'fdatasync', 'and the reason says so')
FROM sync_probe.recommendations WHERE location = 'pg_wal';

SELECT * FROM finish();
ROLLBACK;
