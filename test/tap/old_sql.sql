-- A package brings a new library, and the SQL is of an earlier version until ALTER EXTENSION
-- UPDATE.  Functions and tables that are not as the library expects give an error: nothing is
-- read as what it is not.

SET client_min_messages = warning;
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS pg_sync_probe;

-- Functions of the library: kind, types of the arguments and columns of the result.  The
-- order of columns is that of the declaration, and a column that is also an argument is both.
CREATE TEMP TABLE declared AS
SELECT p.oid::regprocedure::text AS name, p.probin AS library, p.prosrc AS symbol, p.proisstrict,
       p.prokind = 'p' AS is_procedure, p.proretset,
       format_type(p.prorettype, NULL) AS result,
       ARRAY(SELECT format_type(t, NULL)
             FROM unnest(p.proargtypes) WITH ORDINALITY AS a (t, n) ORDER BY n) AS arguments,
       ARRAY(SELECT format('%I %s', p.proargnames[n], format_type(p.proallargtypes[n], NULL))
             FROM generate_subscripts(p.proargmodes, 1) AS n
             WHERE p.proargmodes[n] IN ('o', 't') ORDER BY n) AS columns
FROM pg_proc AS p
JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname = 'c'
JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'pg_sync_probe';

-- What another version may have: one thing is different in each.
CREATE TEMP TABLE other AS
SELECT d.name, d.library, d.symbol, d.is_procedure, o.difference,
       coalesce(o.arguments, d.arguments) AS arguments,
       coalesce(o.columns, d.columns) AS columns,
       coalesce(o.result, d.result) AS result, d.proretset,
       d.proisstrict <> coalesce(o.flip_strict, false) AS proisstrict
FROM declared AS d
CROSS JOIN LATERAL (VALUES
    ('one argument more', d.arguments || ARRAY['integer'], NULL::text[], NULL, NULL::boolean),
    ('one argument less', trim_array(d.arguments, least(1, cardinality(d.arguments))),
     NULL, NULL, NULL),
    ('a first argument of another type', ARRAY['point'] || d.arguments[2:], NULL, NULL, NULL),
    ('a last argument of another type',
     trim_array(d.arguments, least(1, cardinality(d.arguments))) || ARRAY['point'],
     NULL, NULL, NULL),
    ('one column more', NULL, d.columns || ARRAY['new integer'], NULL, NULL),
    ('one column less', NULL, d.columns[2:], NULL, NULL),
    ('columns in another order', NULL, d.columns[2:] || d.columns[:1], NULL, NULL),
    ('another result', NULL, NULL, 'point', NULL),
    ('STRICT or not', NULL, NULL, NULL, true))
    AS o (difference, arguments, columns, result, flip_strict)
WHERE CASE
        WHEN o.difference LIKE '%column%' THEN cardinality(d.columns) > 2 AND NOT d.is_procedure
        WHEN o.difference = 'another result' THEN d.columns = '{}' AND NOT d.is_procedure
        WHEN o.difference = 'STRICT or not' THEN NOT d.is_procedure
        WHEN o.difference = 'one argument more' THEN true
        ELSE d.arguments <> '{}' END;

-- A value of each type: nothing is called with null, which STRICT would keep from the library.
CREATE FUNCTION pg_temp.value_of(type text) RETURNS text LANGUAGE sql AS $$
    SELECT format('%L::%s', CASE WHEN type LIKE '%[]' THEN '{}' WHEN type = 'jsonb' THEN '{}'
                                 WHEN type = 'point' THEN '(0,0)' WHEN type = 'boolean' THEN 'on'
                                 WHEN type = 'interval' THEN '1 s' ELSE '1' END, type)
$$;

-- Declares the function as another version would, and calls it.
CREATE FUNCTION pg_temp.call(other) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE %s pg_temp.of_another_version(%s) %s LANGUAGE c %s AS %L, %L',
                   CASE WHEN $1.is_procedure THEN 'PROCEDURE' ELSE 'FUNCTION' END,
                   array_to_string($1.arguments, ', '),
                   CASE WHEN $1.is_procedure THEN ''
                        WHEN $1.columns <> '{}'
                            THEN 'RETURNS TABLE (' || array_to_string($1.columns, ', ') || ')'
                        ELSE 'RETURNS ' || CASE WHEN $1.proretset THEN 'SETOF ' ELSE '' END
                             || $1.result END,
                   CASE WHEN $1.proisstrict THEN 'STRICT' END, $1.library, $1.symbol);
    EXECUTE format(CASE WHEN $1.is_procedure THEN 'CALL pg_temp.of_another_version(%s)'
                        ELSE 'SELECT pg_temp.of_another_version(%s)' END,
                   (SELECT string_agg(pg_temp.value_of(t), ', ') FROM unnest($1.arguments) AS t));
END
$$;

SELECT plan((SELECT count(*)::integer FROM other) + (SELECT count(*)::integer FROM declared) + 13);

SELECT cmp_ok((SELECT count(*) FROM declared), '>=', 16::bigint, 'the functions of the library');
SELECT isnt_empty(format('SELECT FROM other WHERE name = %L', name), name || ' has other versions')
FROM declared;
SELECT throws_like(
    format('SELECT pg_temp.call(o) FROM other AS o WHERE (o.name, o.difference) = (%L, %L)',
           name, difference),
    'function %of_another_version% does not fit this library of pg_sync_probe, which is version %',
    name || ': ' || difference)
FROM other ORDER BY name, difference;

-- A table that lacks a column of the library's version: the error names both.
CREATE FUNCTION pg_temp.run(change text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    state text;
    message text;
BEGIN
    EXECUTE change;
    EXECUTE statement;
    RAISE EXCEPTION 'it ran';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, state = RETURNED_SQLSTATE,
        message = MESSAGE_TEXT;
    RETURN format('%s %s %s', state, message,
                  CASE WHEN hint LIKE '%ALTER EXTENSION pg\_sync\_probe UPDATE%' THEN 'hint' END);
END
$$;

CREATE TEMP TABLE lacks (relation text, change text, statement text, missing text);
INSERT INTO lacks VALUES
('runs', 'ALTER TABLE sync_probe.runs RENAME COLUMN host TO other',
 'SELECT FROM sync_probe.probe(duration => ''20 ms'')', 'host'),
('measurements', 'ALTER TABLE sync_probe.measurements RENAME COLUMN max_us TO other',
 'SELECT FROM sync_probe.probe(duration => ''20 ms'')', 'max_us'),
('samples', 'ALTER TABLE sync_probe.samples RENAME COLUMN bucket_ops TO other',
 'SELECT FROM sync_probe.probe(duration => ''20 ms'')', 'bucket_ops'),
('stream_seconds', 'ALTER TABLE sync_probe.stream_seconds RENAME COLUMN slowest_us TO other',
 'SELECT FROM sync_probe.probe(''pg_wal'', ''stream'', ''200 ms'')', 'slowest_us'),
('commit_wait_results', 'ALTER TABLE sync_probe.commit_wait_results RENAME COLUMN answer TO other',
 'SELECT sync_probe.commit_waits(''100 ms'')', 'answer'),
('workloads', 'ALTER TABLE sync_probe.workloads RENAME COLUMN protocol TO other',
 'SELECT FROM sync_probe.pgbench(clients => 1, transactions => 1)', 'protocol'),
('workload_results', 'ALTER TABLE sync_probe.workload_results RENAME COLUMN tps TO other',
 'SELECT FROM sync_probe.pgbench(clients => 1, transactions => 1)', 'tps'),
('storage', 'ALTER TYPE sync_probe_internal.storage RENAME ATTRIBUTE size_bytes TO other',
 'SELECT FROM sync_probe_internal.examine_locations(''pg_wal'')', 'size_bytes');

SELECT matches(pg_temp.run(change, statement),
               format('^42703 column "%s" .*is missing in .*%s hint$', missing, relation),
               relation || ' without ' || missing)
FROM lacks;
SELECT matches(pg_temp.run('ALTER TABLE sync_probe.runs RENAME TO other_runs',
                           'SELECT FROM sync_probe.probe(duration => ''20 ms'')'),
               '^42P01 ', 'without a table');
SELECT matches(pg_temp.run('ALTER TABLE sync_probe.' || relation || ' RENAME TO others', statement),
               '^42P01 .*' || relation || '" does not exist ', 'without ' || relation)
FROM lacks WHERE relation IN ('samples', 'stream_seconds');
SELECT is(pg_temp.run('SELECT 1', 'SELECT FROM sync_probe.probe(duration => ''20 ms'')'),
          'P0001 it ran ', 'with all of them it runs');

SELECT * FROM finish();
ROLLBACK;
