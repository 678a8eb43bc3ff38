-- The surface of the extension as a whole: \d+ and \df+ describe it.  doc/reference.md has all
-- names and types; a test compares it with the catalog.  Who may use it: sql/privileges.sql.
\ir include/begin.sql
SELECT is(current_setting('default_toast_compression'), reset_val,
          'CREATE EXTENSION leaves the compression of its transaction as it was')
FROM pg_settings WHERE name = 'default_toast_compression';

-- Readers of the history, and those who ask for a report, write many names: each one must earn
-- its place.
CREATE TEMP VIEW public_column AS
SELECT c.relname, a.attname, col_description(c.oid, a.attnum) AS comment, a.attcollation, a.atttypid
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relnamespace = 'sync_probe'::regnamespace AND c.relkind IN ('r', 'v', 'c')
  AND a.attnum > 0 AND NOT a.attisdropped;
SELECT cmp_ok((SELECT count(*) FROM public_column), '<=', 201::bigint, 'public columns');

-- \d+, \df+ and \dn+ are the reference in the database
SELECT is_empty('SELECT relname, attname FROM public_column WHERE comment IS NULL',
                'each public column has a comment');
SELECT is_empty($$SELECT oid::regprocedure FROM pg_proc
                  WHERE pronamespace = 'sync_probe'::regnamespace
                    AND obj_description(oid, 'pg_proc') IS NULL$$, 'each function');
SELECT is_empty($$SELECT oid::regclass FROM pg_class
                  WHERE relnamespace = 'sync_probe'::regnamespace AND relkind IN ('r', 'v')
                    AND obj_description(oid, 'pg_class') IS NULL$$, 'each table and view');

-- text that has no collation cannot be sorted or compared
SELECT is_empty($$SELECT p.relname, p.attname FROM public_column AS p
                  JOIN pg_type AS t ON t.oid = p.atttypid
                  WHERE p.attcollation = 0 AND t.typcollation <> 0$$,
                'all text has a collation');

SELECT is((SELECT count(*) FROM pg_extension, unnest(extconfig) WHERE extname = 'pg_sync_probe'),
          9::bigint, 'the history is dumped: six tables and a sequence; workloads, profiles');
SELECT is((SELECT extrelocatable FROM pg_extension WHERE extname = 'pg_sync_probe'), false,
          'not relocatable');

\ir include/end.sql
