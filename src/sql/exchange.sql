--
-- Runs as a document, for another server.
--
-- {"format": "pg_sync_probe runs", "version": 1, "runs": [...]}.  A run is an object of its
-- columns, and of an array for each table whose rows belong to runs.  What is new on the other
-- server is left out: run_id, imported_at, usable_for_advice.
--

--
-- export_json
--
-- The settings make the document the same in each session, and exact: extra_float_digits above
-- zero writes the shortest number that is read as the same bits.
--
CREATE FUNCTION sync_probe.export_json(run_ids bigint[])
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET extra_float_digits = 1
SET timezone = 'UTC'
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'postgres'
AS $$
BEGIN
    PERFORM sync_probe_internal.require_monitor('export_json()', '{sync_probe.runs,
        sync_probe.measurements,sync_probe_internal.samples,sync_probe_internal.stream_seconds}');
    PERFORM sync_probe_internal.require_runs(run_ids, 1000);
    RETURN jsonb_build_object('format', 'pg_sync_probe runs', 'version', 1, 'runs', jsonb_agg(
            to_jsonb(r) - '{run_id,imported_at,usable_for_advice}'::text[]
            || jsonb_build_object(
                'measurements', (SELECT coalesce(jsonb_agg(to_jsonb(x) - 'run_id'
                                                           ORDER BY x.ordinal), '[]')
                                 FROM sync_probe.measurements AS x WHERE x.run_id = r.run_id),
                'samples', (SELECT coalesce(jsonb_agg(to_jsonb(x) - 'run_id'
                                                      ORDER BY x.ordinal), '[]')
                            FROM sync_probe_internal.samples AS x WHERE x.run_id = r.run_id),
                'stream_seconds', (SELECT coalesce(jsonb_agg(to_jsonb(x) - 'run_id'
                                                             ORDER BY x.ordinal, x.second,
                                                                      x.began_at), '[]')
                                   FROM sync_probe_internal.stream_seconds AS x
                                   WHERE x.run_id = r.run_id))
            ORDER BY array_position(run_ids, r.run_id)))
        FROM sync_probe.runs AS r WHERE r.run_id = ANY (run_ids);
END
$$;

COMMENT ON FUNCTION sync_probe.export_json IS
  'Document of up to 1,000 runs for import_json(). Requires SELECT on the tables';

--
-- import_json
--
-- Writes as the owner of the tables, as probe() does: a role that may import needs no privileges
-- on the history.  A value of jsonb takes up to a hundred times as much memory as its text.
--
-- The types and constraints of the tables decide what a row may be, fault what else is wrong.
-- Views divide and multiply figures, so none is negative, infinite, beyond 10^15, or so small that
-- their products would underflow; but identifiers of clusters may be.  The tables' types
-- read figures in strings, too: so what they make of them is looked at.
--
CREATE FUNCTION sync_probe.import_json(document text)
RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'postgres'
AS $$
DECLARE
    max_bytes CONSTANT bigint := 64 * 1024 * 1024;
    data jsonb;
    fault text;
    object jsonb;
    new_id bigint;
    belongs jsonb;
BEGIN
    IF octet_length(document) > max_bytes THEN
        RAISE EXCEPTION 'the document is larger than %', pg_size_pretty(max_bytes)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Export fewer runs at a time.';
    END IF;
    data := document::jsonb;
    fault := CASE
        WHEN data IS NULL THEN 'it is null'
        WHEN data ->> 'format' IS DISTINCT FROM 'pg_sync_probe runs'
        THEN 'its member "format" is not "pg_sync_probe runs"'
        WHEN data -> 'version' IS DISTINCT FROM '1'
        THEN format('its version is %s, supported is 1',
                    coalesce(left(data ->> 'version', 20), 'null'))
        WHEN jsonb_typeof(data -> 'runs') IS DISTINCT FROM 'array'
        THEN 'its member "runs" is not an array'
        WHEN jsonb_array_length(data -> 'runs') > 1000
        THEN format('it has %s runs, at most 1000 are allowed', jsonb_array_length(data -> 'runs'))
        ELSE (
            SELECT format('runs[%s]: %s', r.n - 1, f.fault)
            FROM jsonb_array_elements(data -> 'runs') WITH ORDINALITY AS r (run, n),
                 (SELECT array_agg(a.attname::text) || '{measurements,samples,stream_seconds}',
                         array_agg(a.attname::text) FILTER (
                             WHERE a.atttypid IN ('name'::regtype, 'text'::regtype))
                         || '{storage,system_identifier}'
                  FROM pg_attribute AS a
                  WHERE a.attrelid = 'sync_probe.runs'::regclass AND a.attnum > 0
                    AND a.attname NOT IN ('run_id', 'imported_at', 'usable_for_advice')
                 ) AS c (known, not_figures),
                 LATERAL (SELECT CASE
                     WHEN jsonb_typeof(r.run) <> 'object' THEN 'it is not an object'
                     WHEN NOT r.run ?& '{measurements,samples,stream_seconds}'
                     THEN 'measurements, samples or stream_seconds is missing'
                     WHEN r.run - c.known <> '{}'
                     THEN (SELECT format('member "%s" is unknown', left(min(k), 63))
                           FROM jsonb_object_keys(r.run - c.known) AS k)
                     WHEN jsonb_path_exists(jsonb_build_array(
                              jsonb_populate_record(NULL::sync_probe.runs, r.run - c.not_figures),
                              jsonb_path_query_array(r.run -> 'storage',
                                                     '$.** ? (@.type() == "number")'),
                              (SELECT jsonb_agg(x) FROM jsonb_populate_recordset(
                                   NULL::sync_probe.measurements, r.run -> 'measurements') AS x),
                              (SELECT jsonb_agg(x) FROM jsonb_populate_recordset(
                                   NULL::sync_probe_internal.samples, r.run -> 'samples') AS x),
                              (SELECT jsonb_agg(x) FROM jsonb_populate_recordset(
                                   NULL::sync_probe_internal.stream_seconds,
                                   r.run -> 'stream_seconds') AS x)),
                          '$.** ? (
                              @.type() == "number" && (@ < 0 || @ > 1e15 || @ > 0 && @ < 1e-30)
                              || @ like_regex "^(nan|-?infinity)$" flag "i")')
                     THEN 'it has a figure that is neither 0 nor from 10^-30 to 10^15'
                     WHEN (r.run ->> 'finished_at')::timestamptz
                          NOT BETWEEN '2000-01-01' AND now() + interval '1 day'
                     THEN 'its finished_at is before 2000, or in the future'
                     -- without_paths() makes a regular expression of it: a long one takes minutes
                     WHEN length(r.run ->> 'host') > 255
                     THEN 'its host is longer than 255 characters'
                     WHEN EXISTS (SELECT jsonb_path_query(r.run, '$.samples[*].ordinal')
                                  EXCEPT
                                  SELECT jsonb_path_query(r.run, '$.measurements[*].ordinal'))
                     THEN 'samples has an ordinal that measurements has not' END) AS f (fault)
            WHERE f.fault IS NOT NULL ORDER BY r.n LIMIT 1) END;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'cannot import the document: %', fault
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Pass what sync_probe.export_json() of the same version returned.';
    END IF;
    FOR object IN SELECT jsonb_array_elements(data -> 'runs') LOOP
        new_id := nextval('sync_probe.runs_run_id_seq');
        belongs := jsonb_build_object('run_id', new_id);
        INSERT INTO sync_probe.runs OVERRIDING SYSTEM VALUE
        SELECT (jsonb_populate_record(NULL::sync_probe.runs, object || belongs
                    || jsonb_build_object('imported_at', now(), 'usable_for_advice', false))).*;
        INSERT INTO sync_probe.measurements
        SELECT (jsonb_populate_record(x, belongs)).*
        FROM jsonb_populate_recordset(NULL::sync_probe.measurements, object -> 'measurements') AS x;
        INSERT INTO sync_probe_internal.samples
        SELECT (jsonb_populate_record(x, belongs)).*
        FROM jsonb_populate_recordset(NULL::sync_probe_internal.samples, object -> 'samples') AS x;
        INSERT INTO sync_probe_internal.stream_seconds
        SELECT (jsonb_populate_record(x, belongs)).*
        FROM jsonb_populate_recordset(NULL::sync_probe_internal.stream_seconds,
                                      object -> 'stream_seconds') AS x;
        RETURN NEXT new_id;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.import_json FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.import_json IS
  'Import all runs of a document of export_json(), or none: up to 1,000 runs and 64 MB. Returns '
  'their new numbers';
