--
-- sync_probe_internal.import_run
--
-- Insert a run that was checked, and what belongs to it.  What is in the tables then must be
-- what was in the document.
--
CREATE FUNCTION sync_probe_internal.import_run(run jsonb, path text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target record;
    columns text;
    new_id bigint;
    made jsonb;
BEGIN
    SELECT string_agg(quote_ident(c.name), ', ' ORDER BY c.number) INTO columns
    FROM sync_probe_internal.exchange_columns('sync_probe.runs') AS c;
    EXECUTE format('INSERT INTO sync_probe.runs (%1$s, imported_at) SELECT %1$s, now()'
                   ' FROM jsonb_populate_record(NULL::sync_probe.runs, $1) RETURNING run_id',
                   columns)
        INTO new_id USING run;
    FOR target IN SELECT * FROM sync_probe_internal.exchange_tables() LOOP
        SELECT string_agg(quote_ident(c.name), ', ' ORDER BY c.number) INTO columns
        FROM sync_probe_internal.exchange_columns(target.relation) AS c;
        EXECUTE format('INSERT INTO %1$s (run_id, %2$s) SELECT $1, %2$s'
                       ' FROM jsonb_populate_recordset(NULL::%1$s, $2)', target.relation, columns)
            USING new_id, run -> target.name;
    END LOOP;

    made := sync_probe_internal.exchange_run(new_id);
    PERFORM sync_probe_internal.refuse_document(
        (SELECT format('%s.%s is not as it would be exported', path, k.key)
         FROM jsonb_object_keys(run) AS k (key)
         WHERE run -> k.key IS DISTINCT FROM made -> k.key
         ORDER BY k.key LIMIT 1));
    RETURN new_id;
EXCEPTION
    -- what the checks did not see: no such document is known
    WHEN data_exception OR integrity_constraint_violation THEN
        IF SQLSTATE = '22P02' AND starts_with(SQLERRM, 'cannot import the document') THEN
            RAISE;
        END IF;
        PERFORM sync_probe_internal.refuse_document(format('%s: %s', path, SQLERRM));
        RETURN NULL;
END
$$;

COMMENT ON FUNCTION sync_probe_internal.import_run(jsonb, text) IS
  'Insert a run of a document, and what belongs to it';

--
-- import_json
--
-- Writes as the owner of the tables, as probe() does: a role that may import needs no
-- privileges on the history.  All that it executes has pinned names, and takes the document
-- as a value.  Settings: see export_json().
--
CREATE FUNCTION sync_probe.import_json(document text)
RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET extra_float_digits = 1
SET timezone = 'UTC'
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'postgres'
SET standard_conforming_strings = on
SET quote_all_identifiers = off
AS $$
DECLARE
    parsed jsonb;
    child record;
    run jsonb;
    path text;
BEGIN
    PERFORM sync_probe_internal.check_size(document);
    parsed := document::jsonb;
    PERFORM sync_probe_internal.check_document(parsed);
    IF pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean THEN
        RAISE EXCEPTION 'cannot import runs %',
                        CASE WHEN pg_is_in_recovery() THEN 'on a standby'
                             ELSE 'in a read-only transaction' END
            USING ERRCODE = 'read_only_sql_transaction',
                  HINT = 'Import them on the primary, in a transaction that may write.';
    END IF;
    PERFORM sync_probe_internal.check_rows(parsed -> 'runs', 'sync_probe.runs', 'runs',
        ARRAY(SELECT t.name::text FROM sync_probe_internal.exchange_tables() AS t));
    FOR run, path IN
        SELECT r.run, format('runs[%s]', r.n - 1)
        FROM jsonb_array_elements(parsed -> 'runs') WITH ORDINALITY AS r (run, n) ORDER BY r.n
    LOOP
        PERFORM sync_probe_internal.refuse_document(
            sync_probe_internal.storage_fault(nullif(run -> 'storage', 'null'),
                                              path || '.storage'));
        FOR child IN SELECT * FROM sync_probe_internal.exchange_tables() LOOP
            PERFORM sync_probe_internal.check_children(run, child.name, child.relation,
                                                       child.most, path);
        END LOOP;
        RETURN QUERY SELECT sync_probe_internal.import_run(run, path);
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.import_json(text) FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.import_json(text) IS
  'Import the runs of a document that export_json() wrote on another server, all or none: at most '
  '1,000 runs and 64 MB. Returns their new numbers, in the order of the document. No advice rests '
  'on them. Requires EXECUTE, which only the owner has at first';

