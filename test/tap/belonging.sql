-- What belongs to a run goes with it, without foreign keys.

\set tests 8
\ir include/begin.sql

SELECT is_empty($$SELECT conrelid::regclass, conname FROM pg_constraint
                  WHERE contype = 'f'
                    AND connamespace IN ('sync_probe'::regnamespace,
                                         'sync_probe_internal'::regnamespace)$$,
                'no foreign key, which pg_restore in several jobs would violate');

-- Three runs with two measurements each, with samples and seconds.
CREATE FUNCTION pg_temp.fill() RETURNS void LANGUAGE sql AS $$
    INSERT INTO sync_probe.runs (run_id, suite) OVERRIDING SYSTEM VALUE
    SELECT r, 'stream' FROM generate_series(901, 903) AS r;
    INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, status)
    SELECT r, o, '8 kB', 'fsync', 'ok'
    FROM generate_series(901, 903) AS r, generate_series(1, 2) AS o;
    INSERT INTO sync_probe_internal.samples (run_id, ordinal)
    SELECT run_id, ordinal FROM sync_probe.measurements WHERE run_id > 900;
    INSERT INTO sync_probe.stream_seconds (run_id, ordinal, second)
    SELECT run_id, ordinal, 7 FROM sync_probe.measurements WHERE run_id > 900;
$$;

-- The runs that have two rows in each table; no other has any.
CREATE FUNCTION pg_temp.are(runs text, name text) RETURNS text LANGUAGE sql AS $$
    SELECT results_eq($q$
        SELECT t.belongs, string_agg(DISTINCT t.run_id::text, ' '), count(*)
        FROM (SELECT 1, run_id FROM sync_probe.measurements
              UNION ALL SELECT 2, run_id FROM sync_probe_internal.samples
              UNION ALL SELECT 3, run_id FROM sync_probe.stream_seconds) AS t (belongs, run_id)
        GROUP BY t.belongs ORDER BY t.belongs$q$,
        format('SELECT i, %L, %s::bigint FROM generate_series(1, 3) AS i WHERE %2$s > 0',
               runs, 2 * cardinality(string_to_array(runs, ' '))), name)
$$;

SELECT pg_temp.fill();
SELECT pg_temp.are('901 902 903', 'two of each');
DELETE FROM sync_probe.runs WHERE run_id = 902;
SELECT pg_temp.are('901 903', 'a run goes with what belongs to it');
SELECT throws_ok('UPDATE sync_probe.runs SET run_id = run_id + 10', '428C9', NULL,
                 'the number of a run is not given by hand');
DELETE FROM sync_probe.runs;
SELECT pg_temp.are('', 'all runs');

-- as actions of foreign keys, they need no privilege on other tables
SELECT pg_temp.fill();
CREATE ROLE sync_probe_cleaner;
GRANT SELECT, DELETE, TRUNCATE ON sync_probe.runs TO sync_probe_cleaner;
SET LOCAL ROLE sync_probe_cleaner;
DELETE FROM sync_probe.runs WHERE run_id = 901;
RESET ROLE;
SELECT pg_temp.are('902 903', 'a role that may change runs only');
SET LOCAL ROLE sync_probe_cleaner;
TRUNCATE sync_probe.runs;
RESET ROLE;
SELECT pg_temp.are('', 'TRUNCATE of runs');
SELECT ok(NOT has_table_privilege('sync_probe_cleaner', 'sync_probe.measurements', 'DELETE'),
          'the role has no privilege on measurements');

\ir include/end.sql
