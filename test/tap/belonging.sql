-- What belongs to a run goes with it, without foreign keys.

\set tests 4
\ir include/begin.sql

SELECT is_empty($$SELECT conrelid::regclass, conname FROM pg_constraint
                  WHERE contype = 'f'
                    AND connamespace IN ('sync_probe'::regnamespace,
                                         'sync_probe_internal'::regnamespace)$$,
                'no foreign key, which pg_restore in several jobs would violate');

-- Three runs with two measurements each, with samples and seconds.
INSERT INTO sync_probe.runs (run_id, suite) OVERRIDING SYSTEM VALUE
SELECT r, 'stream' FROM generate_series(901, 903) AS r;
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, status)
SELECT r, o, '8 kB', 'fsync', 'ok' FROM generate_series(901, 903) AS r, generate_series(1, 2) AS o;
INSERT INTO sync_probe_internal.samples (run_id, ordinal)
SELECT run_id, ordinal FROM sync_probe.measurements;
INSERT INTO sync_probe_internal.stream_seconds (run_id, ordinal, second)
SELECT run_id, ordinal, 7 FROM sync_probe.measurements;
CREATE TEMP VIEW belonging AS
SELECT 'measurements' AS "table", run_id FROM sync_probe.measurements
UNION ALL SELECT 'samples', run_id FROM sync_probe_internal.samples
UNION ALL SELECT 'seconds', run_id FROM sync_probe_internal.stream_seconds;

SELECT throws_ok('UPDATE sync_probe.runs SET run_id = run_id + 10', '428C9', NULL,
                 'the number of a run is not given by hand');

-- as actions of foreign keys, they need no privilege on other tables
CREATE ROLE sync_probe_cleaner;
GRANT SELECT, DELETE, TRUNCATE ON sync_probe.runs TO sync_probe_cleaner;
SET LOCAL ROLE sync_probe_cleaner;
DELETE FROM sync_probe.runs WHERE run_id = 902;
RESET ROLE;
SELECT bag_eq('TABLE belonging', $$
    SELECT t, r FROM unnest('{measurements,samples,seconds}'::text[]) AS t,
                     unnest('{901,901,903,903}'::bigint[]) AS r$$,
    'a run goes with what belongs to it');
SET LOCAL ROLE sync_probe_cleaner;
TRUNCATE sync_probe.runs;
RESET ROLE;
SELECT is_empty('TABLE belonging', 'TRUNCATE of runs');

\ir include/end.sql
