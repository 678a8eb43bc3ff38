\set ECHO none
-- The extension installs into schemas of its own, and cannot be put elsewhere.
\a \t on
\set SHOW_CONTEXT never
CREATE SCHEMA elsewhere;
CREATE EXTENSION pg_sync_probe SCHEMA elsewhere;
DROP SCHEMA elsewhere;

-- Nor into a schema that is there already: its owner could put functions into
-- it that a superuser calls, and drop the history.
CREATE ROLE regress_sync_probe_squatter;
GRANT CREATE ON DATABASE :"DBNAME" TO regress_sync_probe_squatter;
SET ROLE regress_sync_probe_squatter;
CREATE SCHEMA sync_probe;
CREATE FUNCTION sync_probe.format(text, bigint) RETURNS text LANGUAGE sql AS $$ SELECT 'trapped' $$;
RESET ROLE;
CREATE EXTENSION pg_sync_probe;
DROP SCHEMA sync_probe CASCADE;
REVOKE CREATE ON DATABASE :"DBNAME" FROM regress_sync_probe_squatter;
DROP ROLE regress_sync_probe_squatter;

\echo -- Nor where subscribers of all tables would get rows of tables that they lack.
SET client_min_messages = error;
CREATE PUBLICATION regress_all FOR ALL TABLES;
RESET client_min_messages;
CREATE EXTENSION pg_sync_probe;
DROP PUBLICATION regress_all;

\echo -- whatever is in front of the search_path
CREATE SCHEMA regress_trap;
CREATE FUNCTION regress_trap.format(text, bigint) RETURNS text
    LANGUAGE sql AS $$ SELECT 'trapped' $$;
SET search_path = regress_trap, pg_catalog;
CREATE EXTENSION pg_sync_probe;
RESET search_path;
SELECT count(*) FROM sync_probe.workloads WHERE script LIKE '%trapped%';
DROP SCHEMA regress_trap CASCADE;

\echo -- every function pins its search_path
SELECT p.proname
FROM pg_proc p
WHERE p.pronamespace IN ('sync_probe'::regnamespace, 'sync_probe_internal'::regnamespace)
  AND (p.proconfig IS NULL OR NOT 'search_path=pg_catalog, pg_temp' = ANY (p.proconfig))
ORDER BY p.proname;

-- for the other tests: what calls say that are refused, their arguments one in each line; terse
-- where detail and hint are this machine's
CREATE FUNCTION refused(call text, arguments text, terse boolean DEFAULT false) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    line text;
    detail text;
    hint text;
BEGIN
    FOREACH line IN ARRAY string_to_array(trim(E'\n' FROM arguments), E'\n') LOOP
        BEGIN
            EXECUTE format(call, line);
            RETURN NEXT 'accepted: ' || line;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
            IF terse THEN detail := '';
                hint := '';
            END IF;
            -- since 19 the range of a setting has units
            RETURN NEXT concat_ws('  ', line || ': ' || SQLSTATE,
                                  regexp_replace(SQLERRM, '(\d) MB( \.\.|\))', '\1\2', 'g'),
                                  'DETAIL: ' || nullif(detail, ''), 'HINT: ' || nullif(hint, ''));
        END;
    END LOOP;
END
$$;
