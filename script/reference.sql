-- Prints doc/reference.md, for script/reference and the test that compares the page.
\set QUIET on
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
SET client_encoding = 'UTF8';
SET intervalstyle = postgres;
LOAD 'pg_sync_probe';

-- Lines of at most 100 characters; all but the first begin with the indentation.
CREATE FUNCTION pg_temp.wrap(text, indentation text DEFAULT '') RETURNS text LANGUAGE sql AS $$
SELECT rtrim(regexp_replace($1, '(\S.{0,' || 99 - length(indentation) || '})(?: +|$)',
                            E'\\1\n' || indentation, 'g'), E' \n')
$$;

CREATE FUNCTION pg_temp.short(text) RETURNS text LANGUAGE sql AS $$
SELECT regexp_replace(
           replace(replace(replace(replace(replace($1, 'timestamp with time zone', 'timestamptz'),
                                           'double precision', 'float8'),
                                   'sync_probe.', ''), ' DEFAULT ', ' = '), 'NULL', 'null'),
           '::[a-z0-9]+(\[\])?|\mIN ', '', 'g')
$$;

-- Who has the privilege from the start, in parentheses, if not those who usually have it.
CREATE FUNCTION pg_temp.holders(acl aclitem[], kind "char", owner oid, privilege text, usual text)
RETURNS text LANGUAGE sql AS $$
SELECT ' (' || nullif(coalesce(string_agg(CASE a.grantee WHEN 0 THEN 'all'
                                          ELSE pg_get_userbyid(a.grantee) END,
                                          ', ' ORDER BY a.grantee), 'superusers'), usual) || ')'
FROM aclexplode(coalesce(acl, acldefault(kind, owner))) AS a
WHERE a.privilege_type = privilege AND a.grantee <> owner
$$;

\qecho '# Reference'
\qecho
SELECT pg_temp.wrap('psql shows the same with `\d+ sync_probe.*` and `\df+ sync_probe.*`, settings'
    ' are in pg_settings. By default, superusers may call functions and change settings, and'
    ' pg_monitor may read tables and views; exceptions are in parentheses.');
\qecho
\qecho '## Functions and procedures'

SELECT format(E'\n### %s\n\n%s\n\n%s', p.proname,
              pg_temp.wrap(format('%s`%s(%s)`%s',
                                  CASE p.prokind WHEN 'p' THEN 'Procedure ' END, p.proname,
                                  pg_temp.short(pg_get_function_arguments(p.oid)),
                                  ' returns `'
                                  || nullif(pg_temp.short(pg_get_function_result(p.oid)), 'record')
                                  || '`')),
              pg_temp.wrap(format('%s.%s', obj_description(p.oid, 'pg_proc'),
                                  pg_temp.holders(p.proacl, 'f', p.proowner, 'EXECUTE',
                                                  'superusers'))))
FROM pg_proc AS p
WHERE p.pronamespace = 'sync_probe'::regnamespace AND p.prorettype <> 'trigger'::regtype
ORDER BY p.proname COLLATE "C", p.oid;

\qecho
\qecho '## Tables and views'

-- Columns in turn that have the same comment are one item, with a type that they share once.
WITH numbered AS (
    SELECT a.attrelid, a.attnum, c AS comment, format('`%s`', a.attname) AS name,
           pg_temp.short(format_type(a.atttypid, a.atttypmod)) AS type,
           a.attnum - row_number() OVER (PARTITION BY a.attrelid, c ORDER BY a.attnum) AS item
    FROM pg_attribute AS a, col_description(a.attrelid, a.attnum) AS c
    WHERE a.attnum > 0
), typed AS (
    SELECT n.*, concat_ws(' ', n.name, nullif(n.type, lead(n.type) OVER (
                    PARTITION BY n.attrelid, n.comment, n.item ORDER BY n.attnum))) AS name_and_type
    FROM numbered AS n
), items AS (
    SELECT t.attrelid, min(t.attnum) AS attnum,
           pg_temp.wrap(format('- %s: %s', string_agg(t.name_and_type, ', ' ORDER BY t.attnum),
                               t.comment), '  ') AS item
    FROM typed AS t
    GROUP BY t.attrelid, t.comment, t.item
)
SELECT format(E'\n### %s\n\n%s\n', c.relname,
              pg_temp.wrap(format('%s.%s', obj_description(c.oid, 'pg_class'),
                                  pg_temp.holders(c.relacl, 'r', c.relowner, 'SELECT',
                                                  'pg_monitor')))),
       string_agg(i.item, E'\n' ORDER BY i.attnum)
FROM pg_class AS c JOIN items AS i ON i.attrelid = c.oid
WHERE c.relnamespace = 'sync_probe'::regnamespace AND c.relkind IN ('r', 'v')
GROUP BY c.oid
ORDER BY c.relname COLLATE "C"
\g (fieldsep='\n')

\qecho
\qecho '## Settings'
\qecho

SELECT pg_temp.wrap(format('- `%s` = `%s`: %s%s', s.name, coalesce(nullif(v.default, ''), ''''''),
                           concat_ws(' ', s.short_desc, s.extra_desc),
                           CASE s.context WHEN 'user' THEN ' (all)' ELSE '' END), '  ')
FROM pg_settings AS s, current_setting(s.name) AS v ("default")
WHERE starts_with(s.name, 'pg_sync_probe.')
ORDER BY s.name COLLATE "C";
