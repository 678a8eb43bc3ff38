--
-- Runs as a document, for another server.
--
-- {"format": "pg_sync_probe runs", "version": 1, "runs": [...]}.  A run is an object of its
-- columns, and of an array for each table that refers to runs.  What is new on the other
-- server is left out: run_id, imported_at, and generated columns.  A change to what a
-- document may hold needs another version.
--

--
-- sync_probe_internal.exchange_tables
--
-- The tables whose rows belong to a run, those that others refer to first, and how many
-- rows of a run an import takes at most.
--
CREATE FUNCTION sync_probe_internal.exchange_tables(
    OUT name name,
    OUT relation regclass,
    OUT most integer)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
VALUES ('measurements'::name, 'sync_probe.measurements'::regclass, 1000),
       ('samples', 'sync_probe.samples', 1000),
       ('stream_seconds', 'sync_probe.stream_seconds', 200000)
$$;

COMMENT ON FUNCTION sync_probe_internal.exchange_tables() IS
  'Tables whose rows belong to a run';

--
-- sync_probe_internal.exchange_columns
--
-- The columns of a table that a document has.  in_key: of the primary key.
--
CREATE FUNCTION sync_probe_internal.exchange_columns(
    relation regclass,
    OUT name name,
    OUT type text,
    OUT not_null boolean,
    OUT in_key boolean,
    OUT number integer)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
       EXISTS (SELECT FROM pg_index AS i
               WHERE i.indrelid = relation AND i.indisprimary AND a.attnum = ANY (i.indkey)),
       a.attnum
FROM pg_attribute AS a
WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  AND a.attname NOT IN ('run_id', 'imported_at')
$$;

COMMENT ON FUNCTION sync_probe_internal.exchange_columns(regclass) IS
  'The columns of a table that a document of runs has';

--
-- sync_probe_internal.exchange_expression
--
-- SQL for a row "x" of a table as an object.  A number of JSON has no negative zero: that is
-- a string, as NaN and infinity are.
--
CREATE FUNCTION sync_probe_internal.exchange_expression(relation regclass)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('to_jsonb(x) - %L::text[]',
              ARRAY(SELECT a.attname FROM pg_attribute AS a
                    WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
                      AND a.attname NOT IN (SELECT name
                                            FROM sync_probe_internal.exchange_columns(relation))))
       || coalesce(string_agg(format(CASE c.type
              WHEN 'double precision' THEN
                  ' || CASE WHEN x.%1$I = 0 AND x.%1$I::text = ''-0'''
                  ' THEN jsonb_build_object(%1$L, ''-0'') ELSE ''{}'' END'
              WHEN 'double precision[]' THEN
                  ' || CASE WHEN ''-0'' = ANY (x.%1$I::text[])'
                  ' THEN jsonb_build_object(%1$L, (SELECT jsonb_agg(CASE WHEN e::text = ''-0'''
                  ' THEN to_jsonb(''-0''::text) ELSE to_jsonb(e) END ORDER BY n)'
                  ' FROM unnest(x.%1$I) WITH ORDINALITY AS u (e, n))) ELSE ''{}'' END'
              ELSE '' END, c.name), '' ORDER BY c.number), '')
FROM sync_probe_internal.exchange_columns(relation) AS c
$$;

COMMENT ON FUNCTION sync_probe_internal.exchange_expression(regclass) IS
  'SQL for a row of a table as an object of a document of runs';

--
-- sync_probe_internal.exchange_run
--
-- A run as an object.  The caller has set how numbers and times are written.
--
CREATE FUNCTION sync_probe_internal.exchange_run(run_id bigint)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    relation record;
    run jsonb;
    rows jsonb;
BEGIN
    EXECUTE format('SELECT %s FROM sync_probe.runs AS x WHERE x.run_id = $1',
                   sync_probe_internal.exchange_expression('sync_probe.runs'))
        INTO run USING run_id;
    FOR relation IN SELECT * FROM sync_probe_internal.exchange_tables() LOOP
        EXECUTE format('SELECT coalesce(jsonb_agg(%s ORDER BY %s), ''[]'') FROM %s AS x'
                       ' WHERE x.run_id = $1',
                       sync_probe_internal.exchange_expression(relation.relation),
                       (SELECT string_agg(format('x.%I', c.name), ', ' ORDER BY c.number)
                        FROM sync_probe_internal.exchange_columns(relation.relation) AS c
                        WHERE c.in_key), relation.relation)
            INTO rows USING run_id;
        run := run || jsonb_build_object(relation.name, rows);
    END LOOP;
    RETURN run;
END
$$;

COMMENT ON FUNCTION sync_probe_internal.exchange_run(bigint) IS
  'A run as an object of a document of runs';

--
-- export_json
--
-- The settings make the document the same in each session, and exact: extra_float_digits
-- above zero writes the shortest number that is read as the same bits.  The functions below
-- are parsed when they are called, with backslashes as they were written, and compare names of
-- types.
--
CREATE FUNCTION sync_probe.export_json(run_ids bigint[])
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET extra_float_digits = 1
SET timezone = 'UTC'
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'postgres'
SET standard_conforming_strings = on
SET quote_all_identifiers = off
AS $$
BEGIN
    PERFORM sync_probe_internal.require_monitor('export_json()', 'sync_probe.runs'::regclass
        || ARRAY(SELECT t.relation FROM sync_probe_internal.exchange_tables() AS t));
    PERFORM sync_probe_internal.require_runs(run_ids, 1000);
    RETURN jsonb_build_object('format', 'pg_sync_probe runs', 'version', 1, 'runs',
        (SELECT jsonb_agg(sync_probe_internal.exchange_run(i.run_id) ORDER BY i.n)
         FROM unnest(run_ids) WITH ORDINALITY AS i (run_id, n)));
END
$$;

COMMENT ON FUNCTION sync_probe.export_json(bigint[]) IS
  'Runs with all that belongs to them, at most 1,000, as a document for import_json() on another '
  'server. Requires the privileges of pg_monitor, or SELECT on the tables';

