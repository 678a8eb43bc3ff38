--
-- The extension installs into its own schema, and cannot be put elsewhere.
--
CREATE SCHEMA elsewhere;
CREATE EXTENSION pg_sync_probe SCHEMA elsewhere;
DROP SCHEMA elsewhere;

CREATE EXTENSION pg_sync_probe;
ALTER EXTENSION pg_sync_probe SET SCHEMA public;

-- the functions and views that people use, each with its comment
SELECT p.proname, pg_get_function_result(p.oid) AS returns,
       obj_description(p.oid, 'pg_proc') IS NOT NULL AS has_comment
FROM pg_proc p
WHERE p.pronamespace = 'sync_probe'::regnamespace AND p.proname NOT LIKE '\_%'
ORDER BY p.proname;
SELECT c.relname, c.relkind, obj_description(c.oid, 'pg_class') IS NOT NULL AS has_comment
FROM pg_class c
WHERE c.relnamespace = 'sync_probe'::regnamespace AND c.relkind IN ('r', 'v') AND c.relname NOT LIKE '\_%'
ORDER BY c.relname;

-- every function pins its search_path
SELECT p.proname
FROM pg_proc p
WHERE p.pronamespace = 'sync_probe'::regnamespace
  AND (p.proconfig IS NULL OR NOT 'search_path=pg_catalog, pg_temp' = ANY (p.proconfig));

-- settings
SELECT FROM sync_probe.running; -- loads the library
SELECT name, setting, unit, context, min_val, max_val
FROM pg_settings WHERE name LIKE 'pg\_sync\_probe.%' ORDER BY name;
