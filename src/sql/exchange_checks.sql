--
-- sync_probe_internal.refuse_document
--
-- An error about a document, unless there is no fault.
--
CREATE FUNCTION sync_probe_internal.refuse_document(fault text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'cannot import the document: %', fault
            USING ERRCODE = 'invalid_text_representation',
                  HINT = 'It must be as sync_probe.export_json() of the same version wrote it.'
                         ' Elements of arrays count from 0.';
    END IF;
END
$$;

COMMENT ON FUNCTION sync_probe_internal.refuse_document(text) IS
  'An error about a document of runs, unless there is no fault';

--
-- sync_probe_internal.member_fault
--
-- The first member that objects of a document must not have, or that they lack.
--
CREATE FUNCTION sync_probe_internal.member_fault(rows jsonb, members text[], path text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT f.fault
FROM jsonb_array_elements(rows) WITH ORDINALITY AS r (row, n),
     LATERAL (
         SELECT format('%s[%s] must be an object', path, r.n - 1), ''
         WHERE jsonb_typeof(r.row) <> 'object'
         UNION ALL
         SELECT format('%s[%s].%s is unknown', path, r.n - 1, left(k, 63)), k
         FROM jsonb_object_keys(CASE jsonb_typeof(r.row) WHEN 'object' THEN r.row ELSE '{}' END)
             AS k
         WHERE k <> ALL (members)
         UNION ALL
         SELECT format('%s[%s].%s is missing', path, r.n - 1, m), m
         FROM unnest(members) AS m
         WHERE jsonb_typeof(r.row) = 'object' AND NOT r.row ? m) AS f (fault, member)
ORDER BY r.n, f.member
LIMIT 1
$$;

COMMENT ON FUNCTION sync_probe_internal.member_fault(jsonb, text[], text) IS
  'The first member that objects of a document must not have, or that they lack';

--
-- sync_probe_internal.value_fault
--
-- The first value of rows of a table that no run can have, so that every view and function
-- can read what was imported.  Figures are not negative, and neither NaN nor infinite, but
-- times_as_long may be.
-- Sums of whole numbers in an array stay within bigint.
--
CREATE FUNCTION sync_probe_internal.value_fault(rows jsonb, relation regclass, path text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('%s[%s].%s %s', path, r.n - 1, c.name, f.fault)
FROM jsonb_array_elements(rows) WITH ORDINALITY AS r (row, n)
CROSS JOIN (SELECT *, relation <> 'sync_probe.runs'::regclass AS is_figure
            FROM sync_probe_internal.exchange_columns(relation)) AS c,
     LATERAL (SELECT r.row -> c.name, jsonb_typeof(r.row -> c.name)) AS v (value, type),
     LATERAL (SELECT CASE
         WHEN v.type = 'null' THEN CASE WHEN c.not_null OR c.in_key THEN 'must not be null' END
         WHEN c.type IN ('text', 'name') THEN
             CASE WHEN v.type <> 'string' THEN 'must be a string'
                  WHEN octet_length(v.value #>> '{}') > CASE c.type WHEN 'name' THEN 63
                                                                    ELSE 10000 END
                  THEN 'is too long' END
         WHEN c.type = 'boolean' THEN
             CASE WHEN v.type <> 'boolean' THEN 'must be true or false' END
         WHEN c.type IN ('integer', 'bigint') THEN
             -- 1.0 is no integer for the server
             CASE WHEN v.type <> 'number' OR v.value #>> '{}' !~ '^-?\d+$'
                  THEN 'must be a whole number'
                  WHEN v.value::numeric NOT BETWEEN
                           CASE WHEN c.type = 'bigint' AND NOT c.is_figure
                                THEN -9223372036854775808 ELSE 0 END
                           AND CASE WHEN c.type = 'integer' THEN 2147483647
                                    WHEN c.is_figure THEN 1e14 ELSE 9223372036854775807 END
                  THEN 'is out of range' END
         WHEN c.type = 'double precision' THEN
             CASE WHEN v.value = '"-0"'
                       OR c.name = 'times_as_long' AND v.value = '"Infinity"' THEN NULL
                  WHEN v.type <> 'number' THEN 'must be a number'
                  WHEN v.value <> '0' AND v.value::numeric NOT BETWEEN 1e-12 AND 1e15
                  THEN 'is out of range' END
         WHEN c.type IN ('double precision[]', 'bigint[]') THEN
             CASE WHEN v.type <> 'array' THEN 'must be an array'
                  WHEN jsonb_array_length(v.value) > 10000 THEN 'has more than 10000 elements'
                  WHEN EXISTS (
                      SELECT FROM jsonb_array_elements(v.value) AS e
                      WHERE CASE WHEN e = 'null' THEN false
                                 WHEN c.type = 'double precision[]' AND e = '"-0"' THEN false
                                 WHEN jsonb_typeof(e) <> 'number' THEN true
                                 WHEN c.type = 'bigint[]'
                                 THEN e #>> '{}' !~ '^\d+$' OR e::numeric NOT BETWEEN 0 AND 1e14
                                 ELSE e <> '0' AND e::numeric NOT BETWEEN 1e-12 AND 1e15 END)
                  THEN 'has an element that is no number, or out of range' END
         WHEN c.type = 'timestamp with time zone' THEN
             CASE WHEN v.type <> 'string'
                    OR v.value #>> '{}' !~ ('^(19|20|21)\d\d-(0[1-9]|1[0-2])-\d\d'
                                            'T([01]\d|2[0-3])(:[0-5]\d){2}([.]\d{1,6})?[+]00:00$')
                  THEN 'must be a time as 2026-05-03T10:00:00.5+00:00'
                  WHEN substr(v.value #>> '{}', 9, 2)::integer NOT BETWEEN 1
                       AND extract(day FROM make_date(substr(v.value #>> '{}', 1, 4)::integer,
                                                      substr(v.value #>> '{}', 6, 2)::integer, 1)
                                            + interval '1 month' - interval '1 day')
                  THEN 'is no day of the calendar' END
         WHEN c.type = 'interval' THEN
             CASE WHEN v.type <> 'string'
                    OR v.value #>> '{}' !~ ('^(\d{1,3} years?( |$))?(\d{1,3} mons?( |$))?'
                                            '(\d{1,3} days?( |$))?'
                                            '(\d{2,5}(:[0-5]\d){2}([.]\d{1,6})?)?$')
                    OR v.value = '""'
                  THEN 'must be a duration as 1 day 00:00:05.25' END
         WHEN c.type = 'jsonb' THEN
             CASE WHEN v.type <> 'object' THEN 'must be an object' END
         ELSE format('has type %s, which cannot be imported', c.type) END) AS f (fault)
WHERE f.fault IS NOT NULL
ORDER BY r.n, c.number
LIMIT 1
$$;

COMMENT ON FUNCTION sync_probe_internal.value_fault(jsonb, regclass, text) IS
  'The first value of rows of a document that no run can have';

--
-- sync_probe_internal.storage_fault
--
-- The first member of storage that its readers could not take: they cast what has these
-- names.  Members with other names are not read.  A reader may call itself for each level.
--
CREATE FUNCTION sync_probe_internal.storage_fault(storage jsonb, path text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH RECURSIVE expected (type, names) AS (VALUES
    ('string', '{kernel,mount_options,source,syncs_nothing,write_cache,below_write_cache,
                 backing_file,backing_filesystem,backing_mount_options,no_counters,name,dataset,
                 pool,sync,logbias,primarycache,compression,unknown,durable_unknown}'::text[]),
    ('boolean', '{fua,flushes_uncounted,writes_uncounted,disks_incomplete,rotational,virtual,below,
                  counts_flushes,counts_flushes_only,intent_log_commits_of_all_pools}'),
    ('number', '{file_bytes,counters_read_us,readings_lost,recordsize,ashift,
                 intent_log_commits_per_op}'),
    ('array', '{disks,data_devices,log_devices}'),
    ('object', '{zfs,others,below_flushes_per_op,lacking_share,own_share}')
), member (path, name, parent, value, level) AS (
    SELECT path, NULL, NULL, storage, 0
    UNION ALL
    SELECT m.path, m.name, p.name, m.value, p.level + 1
    FROM member AS p,
         LATERAL (
             SELECT format('%s.%s', p.path, left(o.key, 63)), o.key, o.value
             FROM jsonb_each(CASE jsonb_typeof(p.value) WHEN 'object' THEN p.value
                                                        ELSE '{}' END) AS o
             UNION ALL
             SELECT format('%s[%s]', p.path, a.n - 1), NULL, a.value
             FROM jsonb_array_elements(CASE jsonb_typeof(p.value) WHEN 'array' THEN p.value
                                                                  ELSE '[]' END)
                      WITH ORDINALITY AS a (value, n)) AS m (path, name, value)
    WHERE p.level < 10
), typed AS (
    SELECT m.path, m.value, m.level,
           CASE WHEN m.parent IN ('others', 'below_flushes_per_op', 'lacking_share', 'own_share')
                THEN 'number'
                WHEN m.parent = 'disks' THEN 'object'
                WHEN m.parent IN ('data_devices', 'log_devices') THEN 'string'
                ELSE (SELECT e.type FROM expected AS e WHERE m.name = ANY (e.names)) END AS type
    FROM member AS m
)
SELECT CASE WHEN octet_length(storage::text) > 200000 THEN path || ' is too long'
            ELSE (SELECT format(CASE WHEN t.level = 10 THEN '%s is nested too deeply'
                                     WHEN t.type = jsonb_typeof(t.value) THEN '%s is out of range'
                                     WHEN t.type IN ('array', 'object') THEN '%s must be an %s'
                                     ELSE '%s must be a %s' END, t.path, t.type)
                  FROM typed AS t
                  WHERE CASE WHEN t.level = 10 THEN true
                             WHEN t.type = 'number' AND jsonb_typeof(t.value) = 'number'
                             THEN t.value <> '0' AND t.value::numeric NOT BETWEEN 1e-12 AND 1e15
                             WHEN t.type IN ('array', 'object')
                             THEN jsonb_typeof(t.value) <> t.type
                             ELSE jsonb_typeof(t.value) NOT IN (t.type, 'null') END
                  ORDER BY t.path LIMIT 1) END
$$;

COMMENT ON FUNCTION sync_probe_internal.storage_fault(jsonb, text) IS
  'The first member of runs.storage in a document that its readers could not take';

--
-- sync_probe_internal.check_constraints
--
-- An error if a row of a document violates a check of its table.
--
CREATE FUNCTION sync_probe_internal.check_constraints(rows jsonb, relation regclass, path text)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    checked record;
    place bigint;
BEGIN
    FOR checked IN
        SELECT pg_get_expr(k.conbin, k.conrelid) AS expression, a.attname
        FROM pg_constraint AS k
        LEFT JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
        WHERE k.conrelid = relation AND k.contype = 'c'
        ORDER BY k.conname
    LOOP
        EXECUTE format('SELECT min(checked.place)'
                       ' FROM (SELECT x.*, r.n AS place'
                       '       FROM jsonb_array_elements($1) WITH ORDINALITY AS r (row, n),'
                       '            jsonb_populate_record(NULL::%s, r.row) AS x) AS checked'
                       ' WHERE NOT (%s)', relation, checked.expression)
            INTO place USING rows;
        IF place IS NOT NULL THEN
            PERFORM sync_probe_internal.refuse_document(
                format('%s[%s].%s has a value that is not allowed, expected %s', path, place - 1,
                       checked.attname, checked.expression));
        END IF;
    END LOOP;
END
$$;

COMMENT ON FUNCTION sync_probe_internal.check_constraints(jsonb, regclass, text) IS
  'An error if a row of a document violates a check of its table';

--
-- sync_probe_internal.check_rows
--
-- An error if rows of a table cannot be imported as they are in a document.
--
CREATE FUNCTION sync_probe_internal.check_rows(
    rows jsonb,
    relation regclass,
    path text,
    more_members text[] DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sync_probe_internal.refuse_document(sync_probe_internal.member_fault(rows,
        more_members || ARRAY(SELECT c.name::text
                              FROM sync_probe_internal.exchange_columns(relation) AS c), path));
    PERFORM sync_probe_internal.refuse_document(
        sync_probe_internal.value_fault(rows, relation, path));
    PERFORM sync_probe_internal.check_constraints(rows, relation, path);
END
$$;

COMMENT ON FUNCTION sync_probe_internal.check_rows(jsonb, regclass, text, text[]) IS
  'An error if rows of a table cannot be imported as they are in a document';

--
-- sync_probe_internal.check_children
--
-- The same for a table whose rows belong to a run: with keys of their own, and test cases
-- that the run has.
--
CREATE FUNCTION sync_probe_internal.check_children(
    run jsonb,
    child name,
    relation regclass,
    most integer,
    path text)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    rows jsonb := run -> child;
    key text[] := ARRAY(SELECT c.name FROM sync_probe_internal.exchange_columns(relation) AS c
                        WHERE c.in_key ORDER BY c.number);
BEGIN
    path := format('%s.%s', path, child);
    PERFORM sync_probe_internal.refuse_document(
        CASE WHEN jsonb_typeof(rows) <> 'array' THEN format('%s must be an array', path)
             WHEN jsonb_array_length(rows) > most
             THEN format('%s has %s elements, at most %s are allowed', path,
                         jsonb_array_length(rows), most) END);
    PERFORM sync_probe_internal.check_rows(rows, relation, path);
    PERFORM sync_probe_internal.refuse_document(
        (SELECT format('%s[%s].%s is not the first with this value', path, r.n - 1,
                       array_to_string(key, ' and '))
         FROM (SELECT r.n, row_number() OVER (PARTITION BY ARRAY(SELECT r.row ->> k
                                                                FROM unnest(key) AS k)
                                              ORDER BY r.n) AS nth
               FROM jsonb_array_elements(rows) WITH ORDINALITY AS r (row, n)) AS r
         WHERE r.nth > 1 ORDER BY r.n LIMIT 1));
    PERFORM sync_probe_internal.refuse_document(
        (SELECT format('%s[%s].ordinal is that of no measurement', path, r.n - 1)
         FROM jsonb_array_elements(rows) WITH ORDINALITY AS r (row, n)
         LEFT JOIN (SELECT DISTINCT m.row -> 'ordinal' AS ordinal
                    FROM jsonb_array_elements(run -> 'measurements') AS m (row)) AS m
             ON m.ordinal = r.row -> 'ordinal'
         WHERE m.ordinal IS NULL ORDER BY r.n LIMIT 1));
END
$$;

COMMENT ON FUNCTION sync_probe_internal.check_children(jsonb, name, regclass, integer, text) IS
  'An error if rows that belong to a run cannot be imported as they are in a document';

--
-- sync_probe_internal.check_size
--
-- An error if a document is too large to be parsed: a value of jsonb takes up to a hundred
-- times as much memory, one of json takes its length.
--
CREATE FUNCTION sync_probe_internal.check_size(document text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    max_bytes CONSTANT bigint := 64 * 1024 * 1024;
    max_runs CONSTANT integer := 1000;
    runs json;
    count integer;
BEGIN
    IF octet_length(document) > max_bytes THEN
        RAISE EXCEPTION 'the document is larger than %', pg_size_pretty(max_bytes)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Export fewer runs at a time.';
    END IF;
    runs := document::json -> 'runs';
    count := CASE WHEN json_typeof(runs) = 'array' THEN json_array_length(runs) END;
    IF count > max_runs THEN
        RAISE EXCEPTION 'the document has % runs, at most % are allowed', count, max_runs
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Export fewer runs at a time.';
    END IF;
END
$$;

COMMENT ON FUNCTION sync_probe_internal.check_size(text) IS
  'An error if a document of runs is too large to be parsed';

--
-- sync_probe_internal.check_document
--
-- An error unless a document is one of runs, of a version that is known.
--
CREATE FUNCTION sync_probe_internal.check_document(document jsonb)
RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    hint text := 'Pass what sync_probe.export_json() returned.';
BEGIN
    IF document IS NULL THEN
        RAISE EXCEPTION 'argument "document" must not be null'
            USING ERRCODE = 'invalid_parameter_value', HINT = hint;
    ELSIF jsonb_typeof(document) <> 'object'
          OR document -> 'format' IS DISTINCT FROM '"pg_sync_probe runs"' THEN
        RAISE EXCEPTION 'the document is not one of runs'
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'Its member "format" must be "pg_sync_probe runs".', HINT = hint;
    ELSIF document -> 'version' IS DISTINCT FROM '1' THEN
        RAISE EXCEPTION 'the document has version %, supported is 1',
                        coalesce(left(document ->> 'version', 20), 'null')
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Use the version of the extension that wrote it, or a later one.';
    END IF;
    PERFORM sync_probe_internal.refuse_document(replace(sync_probe_internal.member_fault(
        jsonb_build_array(document), '{format,version,runs}', 'document'), 'document[0].', ''));
    PERFORM sync_probe_internal.refuse_document(
        CASE WHEN jsonb_typeof(document -> 'runs') <> 'array' THEN 'runs must be an array' END);
END
$$;

COMMENT ON FUNCTION sync_probe_internal.check_document(jsonb) IS
  'An error unless a document is one of runs, of a version that is known';

