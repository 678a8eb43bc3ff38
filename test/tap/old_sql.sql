-- A package brings a new library, and the SQL is of an earlier version until ALTER EXTENSION
-- UPDATE.  Tables that are not as the library expects give an error.

\set tests 3
\ir include/begin.sql

-- The error after a change, with the hint that it has.
CREATE FUNCTION pg_temp.run(change text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE change;
    EXECUTE statement;
    RAISE EXCEPTION 'it ran';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' ', SQLSTATE, SQLERRM,
                     substring(hint FROM 'ALTER EXTENSION pg_sync_probe UPDATE'));
END
$$;
-- A row of a table, one that SQL declares, one that is read.
SELECT matches(pg_temp.run(change, statement), says, change)
FROM (VALUES ('ALTER TABLE sync_probe.runs RENAME COLUMN host TO other',
     'SELECT FROM sync_probe.probe(duration => ''20 ms'')',
     '^42703 column "host" .*is missing in .*runs ALTER EXTENSION'),
    ('ALTER TYPE sync_probe_internal.storage RENAME ATTRIBUTE size_bytes TO other',
     'SELECT FROM sync_probe_internal.examine_locations(''pg_wal'')',
     '^42703 column "size_bytes" .*is missing in .*storage ALTER EXTENSION'),
    ('ALTER VIEW sync_probe.workloads RENAME COLUMN protocol TO other',
     'SELECT FROM sync_probe.pgbench(clients => 1, transactions => 1)',
     '^42703 column "protocol" is missing in table sync_probe.workloads ALTER EXTENSION'))
         AS v (change, statement, says);

\ir include/end.sql
