--
-- Many servers: a statement on all of them, probes of all, and their history collected here.
--
-- Nodes are foreign servers of postgres_fdw or dblink_fdw.  dblink reaches them with the caller's
-- own privilege on the server and user mapping.  It need not be there when this extension is
-- created, and its schema is where its owner put it: so its functions are called by EXECUTE, with
-- arguments of exactly their types, so that no other function can be a better match.
--

--
-- The given servers, each once, or all that the caller can connect to.
--
CREATE FUNCTION sync_probe_internal.fleet_nodes(servers name[])
RETURNS name[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unknown name;
    nodes name[] := ARRAY(
        SELECT s.srvname FROM pg_foreign_server AS s
        JOIN pg_foreign_data_wrapper AS w ON w.oid = s.srvfdw
        WHERE w.fdwname IN ('postgres_fdw', 'dblink_fdw')
          AND CASE WHEN servers IS NOT NULL THEN s.srvname = ANY (servers)
                   ELSE has_server_privilege(s.oid, 'USAGE')
                        AND EXISTS (SELECT FROM pg_user_mappings AS m
                                    WHERE m.srvid = s.oid
                                      AND m.umuser IN (0, current_user::regrole)) END
        ORDER BY s.srvname);
BEGIN
    FOR unknown IN SELECT g FROM unnest(servers) AS g WHERE (g = ANY (nodes)) IS NOT TRUE LOOP
        RAISE EXCEPTION USING
            ERRCODE = CASE WHEN unknown IS NULL THEN 'invalid_parameter_value'
                           ELSE 'undefined_object' END,
            MESSAGE = coalesce('server "' || unknown || '" of postgres_fdw or dblink_fdw does not '
                               'exist', 'argument "servers" must not contain null'),
            HINT = 'See SELECT srvname FROM pg_foreign_server. CREATE SERVER makes one.';
    END LOOP;
    RETURN nodes;
END
$$;

--
-- An error of a node, or about one, as one line.
--
CREATE FUNCTION sync_probe_internal.fleet_error(message text, detail text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT regexp_replace(concat_ws(': ', message, nullif(detail, '')), '\s+', ' ', 'g')
$$;

--
-- Why what a node answered is no rows of that type; null if it is.
--
CREATE FUNCTION sync_probe_internal.fleet_fault(of_type anyelement, result jsonb)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM jsonb_populate_recordset(of_type, result);
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    RETURN sync_probe_internal.fleet_error(SQLERRM, NULL);
END
$$;

--
-- fleet_run
--
-- Run a query on many servers at a time.
--
-- Whatever goes wrong at a node is its row; only wrong arguments and a cancel end the call.  Each
-- node is told its time limit, and to look each second whether its connection has ended: that ends
-- its part after a cancel here, after any end of this session, and after this side has given up.
-- To ask it to cancel could block for minutes, just where it does not answer.
--
CREATE FUNCTION sync_probe.fleet_run(
    statement text,
    servers name[] DEFAULT NULL,
    parallel integer DEFAULT 8,
    time_limit interval DEFAULT '1 min')
RETURNS TABLE (server name, result jsonb, error text, duration_ms double precision)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    dblink text := (SELECT quote_ident(n.nspname) FROM pg_extension AS e
                    JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'dblink');
    -- random: a name that no connection of the user has, and no message of this server
    prefix text := format('sync_probe %s ', gen_random_uuid());
    nodes name[];
    started timestamptz[];
    max_results CONSTANT integer := 100;
    results integer[];      -- how many of each node
    answers text[];         -- the last one
    running integer[] := '{}';
    next integer := 1;
    nap double precision := 0.001;
    i integer;
    is_ready boolean;
    answer text;
    detail text;
    context text;
BEGIN
    error := CASE WHEN coalesce(statement, '') !~ '\S'
                  THEN 'argument "statement" must not be null or empty'
                  WHEN coalesce(parallel, 0) NOT BETWEEN 1 AND 64
                  THEN format('parallel %s is out of range', coalesce(parallel::text, 'null'))
                  WHEN coalesce(time_limit, '0') NOT BETWEEN '1 ms' AND '1 day'
                  THEN format('time_limit %s is out of range', coalesce(time_limit::text, 'null'))
                  END;
    IF error <> '' THEN
        RAISE EXCEPTION '%', error USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Pass a query, parallel from 1 to 64, and a time_limit from 1 ms to 1 day.';
    END IF;
    nodes := sync_probe_internal.fleet_nodes(servers);
    IF servers IS NULL AND nodes = '{}' THEN
        RAISE NOTICE 'no foreign server has a user mapping for the current user'
            USING HINT = 'CREATE USER MAPPING FOR CURRENT_USER SERVER ... makes one.';
    END IF;
    IF dblink IS NULL THEN
        RAISE EXCEPTION 'extension "dblink" is not installed in this database'
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'CREATE EXTENSION dblink;';
    END IF;

    WHILE next <= cardinality(nodes) OR running <> '{}' LOOP
        IF next <= cardinality(nodes) AND cardinality(running) < parallel THEN
            i := next;
            next := next + 1;
            started[i] := clock_timestamp();
            BEGIN
                EXECUTE format('SELECT %s.dblink_connect($1, $2)', dblink)
                    USING prefix || i, nodes[i]::text;
                running := running || i;
            EXCEPTION WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS error = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
                RETURN QUERY SELECT nodes[i], NULL::jsonb,
                    sync_probe_internal.fleet_error(error, detail),
                    round(1000 * extract(epoch FROM clock_timestamp() - started[i]), 1)::float8;
                CONTINUE;
            END;
            -- LOCAL, as a pooler gives the session to others.  Messages below an error would go
            -- to this server's log.  The statement may end with a comment, and have a column q.
            EXECUTE format('SELECT %s.dblink_send_query($1, $2)', dblink)
                USING prefix || i, format(
                    E'SET LOCAL statement_timeout = %s;'
                    'SET LOCAL client_connection_check_interval = 1000;'
                    'SET LOCAL client_min_messages = error;'
                    'SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(q.*)), ''[]'')'
                    ' FROM (\n%s\n) AS q',
                    greatest(1, ceil(1000 * extract(epoch FROM started[i] + time_limit
                                                               - clock_timestamp()))),
                    regexp_replace(statement, ';\s*$', ''));
        END IF;

        -- The results of a query come one by one, and then none, when its transaction is over.
        FOR i, is_ready IN EXECUTE format(
            'SELECT i, %s.dblink_is_busy($1 || i) = 0 FROM unnest($2) AS i', dblink)
            USING prefix, running
        LOOP
            result := NULL;
            error := NULL;
            IF is_ready THEN
                nap := 0.001;
                BEGIN
                    EXECUTE format('SELECT r FROM %s.dblink_get_result($1) AS t (r text)', dblink)
                        INTO answer USING prefix || i;
                    IF answer IS NOT NULL THEN
                        answers[i] := answer;
                        results[i] := coalesce(results[i], 0) + 1;
                        CONTINUE WHEN results[i] <= max_results;
                        -- ready each time, it would never run out of time
                        error := format('it sent more than %s results', max_results);
                    ELSE
                        result := answers[i];
                    END IF;
                EXCEPTION WHEN query_canceled OR assert_failure OR OTHERS THEN
                    GET STACKED DIAGNOSTICS error = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
                        context = PG_EXCEPTION_CONTEXT;
                    -- an error of a node has the SQLSTATE that it has there
                    IF SQLSTATE = '57014' AND strpos(context, prefix) = 0 THEN
                        RAISE;
                    END IF;
                    error := sync_probe_internal.fleet_error(error, detail)
                             || CASE WHEN SQLSTATE = '42601' THEN
                                    '; the statement must be SELECT, TABLE, VALUES or WITH'
                                ELSE '' END;
                END;
                IF result IS NULL AND error IS NULL THEN
                    error := 'the connection was lost before the query was sent';
                END IF;
            ELSIF clock_timestamp() < started[i] + time_limit + interval '1 s' THEN
                CONTINUE;
            ELSE
                error := format('no answer within %s', time_limit);
            END IF;
            EXECUTE format('SELECT %s.dblink_disconnect($1)', dblink) USING prefix || i;
            running := array_remove(running, i);
            answers[i] := NULL;
            RETURN QUERY SELECT nodes[i], result, error,
                round(1000 * extract(epoch FROM clock_timestamp() - started[i]), 1)::float8;
        END LOOP;
        IF next > cardinality(nodes) OR cardinality(running) = parallel THEN
            PERFORM pg_sleep(nap);
            nap := least(2 * nap, 0.02);
        END IF;
    END LOOP;
EXCEPTION WHEN query_canceled OR assert_failure OR OTHERS THEN
    IF dblink IS NOT NULL THEN
        EXECUTE format('SELECT %1$s.dblink_disconnect(c)
                        FROM unnest(%1$s.dblink_get_connections()) AS c
                        WHERE starts_with(c, $1)', dblink) USING prefix;
    END IF;
    RAISE;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.fleet_run FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.fleet_run IS
  'Run a query on foreign servers of postgres_fdw and dblink_fdw, with dblink: null means all that '
  'the caller has a user mapping for. Returns a row for each, with its rows as an array or its '
  'error';

--
-- probe_fleet
--
-- probe_all() on each node.  Nodes that share a host and the disk below pg_wal would measure each
-- other's load: each wave has one of them.  Where a disk is not known, the nodes of its host count
-- as sharing it.
--
CREATE FUNCTION sync_probe.probe_fleet(
    duration interval DEFAULT NULL,
    duty_cycle double precision DEFAULT NULL,
    servers name[] DEFAULT NULL,
    parallel integer DEFAULT 8,
    label text DEFAULT NULL)
RETURNS TABLE (server name, location name, verdict text, current_method text,
               recommended_method text, max_regret double precision, flush_us double precision,
               durable text, basis text, error text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET intervalstyle = 'postgres'
AS $$
DECLARE
    examined jsonb := (
        SELECT jsonb_agg(f) FROM sync_probe.fleet_run('
            SELECT s.host, max(l.device) FILTER (WHERE l.name = ''pg_wal'') AS device,
                   count(*) FILTER (WHERE l.shares_filesystem_with IS NULL) AS filesystems
            FROM sync_probe_internal.this_server() AS s, sync_probe.locations AS l
            GROUP BY s.host', probe_fleet.servers, probe_fleet.parallel) AS f);
    nodes name[];
    filesystems integer;
BEGIN
    FOR nodes, filesystems IN
        SELECT array_agg(w.server), max(w.filesystems)
        FROM (SELECT g.*, row_number() OVER (PARTITION BY g.host, g.disk ORDER BY g.server) AS wave
              FROM (SELECT f.server, n.host,
                           coalesce(substring(n.filesystems FROM '^[0-9]{1,4}$'), '1')::integer
                               AS filesystems,
                           CASE WHEN count(n.device) OVER h = count(*) OVER h THEN n.device END
                               AS disk
                    FROM jsonb_to_recordset(examined) AS f (server name, result jsonb, error text),
                         jsonb_to_record(f.result -> 0) AS n (host text, device text,
                                                              filesystems text)
                    WHERE f.error IS NULL
                    WINDOW h AS (PARTITION BY n.host)) AS g) AS w
        GROUP BY w.wave ORDER BY w.wave
    LOOP
        -- A probe lasts at most 25 s by default, and writes its files before.  What is wrong with
        -- the arguments depends on the node, which says it.
        RETURN QUERY
            SELECT f.server, r.*, coalesce(f.error, x.fault)
            FROM sync_probe.fleet_run(
                     format('SELECT * FROM sync_probe.probe_all(%L, %L, %L)', probe_fleet.duration,
                            probe_fleet.duty_cycle, probe_fleet.label),
                     nodes, probe_fleet.parallel,
                     least('1 day', filesystems * (interval '30 s' + least('1 h', greatest('0',
                         coalesce(probe_fleet.duration, '25 s')))))) AS f
            CROSS JOIN sync_probe_internal.fleet_fault(NULL::sync_probe.recommendations, f.result)
                AS x (fault)
            LEFT JOIN jsonb_populate_recordset(NULL::sync_probe.recommendations,
                                               CASE WHEN x.fault IS NULL THEN f.result END) AS r
                ON true;
    END LOOP;
    RETURN QUERY
        SELECT f.server, n.*, f.error
        FROM jsonb_to_recordset(examined) AS f (server name, error text),
             jsonb_populate_record(NULL::sync_probe.recommendations, '{}') AS n
        WHERE f.error IS NOT NULL;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.probe_fleet FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.probe_fleet IS
  'Call probe_all() on foreign servers, on one at a time of those that share a disk. Returns their '
  'rows, and a row for each error. Requires EXECUTE on fleet_run()';

--
-- collect_fleet
--
-- The runs of a node have its system identifier and host, those of a promoted standby a host of
-- its own.  What finished after the newest of them that is here is missing.  A user of the node
-- could make a concat() that fits better than the server's.
--
CREATE FUNCTION sync_probe.collect_fleet(
    servers name[] DEFAULT NULL,
    parallel integer DEFAULT 8,
    time_limit interval DEFAULT '1 min')
RETURNS TABLE (server name, imported integer, remaining integer, error text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    newest jsonb;
    before jsonb;
    run jsonb;
    answer jsonb;
    detail text;
BEGIN
    PERFORM sync_probe_internal.require_monitor('collect_fleet()', '{sync_probe.runs}');
    SELECT coalesce(jsonb_object_agg(r.origin, r.finished_at), '{}') INTO newest
    FROM (SELECT concat(r.system_identifier, ' ', r.host) AS origin,
                 max(r.finished_at) AS finished_at
          FROM sync_probe.runs AS r GROUP BY 1) AS r;
    FOR server, answer, error IN
        SELECT f.server, f.result, f.error
        FROM sync_probe.fleet_run(format('
            SELECT m.origin, m.finished_at, m.missing,
                   sync_probe.export_json(ARRAY[m.run_id]) AS document
            FROM (SELECT r.run_id, r.finished_at, o.origin, count(*) OVER () AS missing
                  FROM sync_probe.runs AS r,
                       LATERAL (SELECT pg_catalog.concat(r.system_identifier, '' '', r.host))
                           AS o (origin)
                  WHERE r.imported_at IS NULL
                    AND r.finished_at > coalesce((%L::jsonb ->> o.origin)::timestamptz,
                                                 ''-infinity'')
                  ORDER BY r.finished_at FETCH FIRST 100 ROWS WITH TIES) AS m
            ORDER BY m.finished_at', newest),
            collect_fleet.servers, collect_fleet.parallel, collect_fleet.time_limit) AS f
    LOOP
        imported := 0;
        before := newest;
        BEGIN
            remaining := coalesce((answer -> 0 ->> 'missing')::integer, 0)
                         - jsonb_array_length(answer);
            FOR run IN SELECT jsonb_array_elements(answer) LOOP
                -- A standby, or another name of a node, may have just given it.
                CONTINUE WHEN (run ->> 'finished_at')::timestamptz
                              <= (before ->> (run ->> 'origin'))::timestamptz;
                PERFORM sync_probe.import_json(run ->> 'document');
                imported := imported + 1;
                newest := newest || jsonb_build_object(run ->> 'origin', run -> 'finished_at');
            END LOOP;
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS error = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
            error := sync_probe_internal.fleet_error(error, detail);
            imported := 0;
            remaining := NULL;
            newest := before;
        END;
        RETURN NEXT;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.collect_fleet FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.collect_fleet IS
  'Import up to 100 runs of each foreign server that are missing here, the oldest first, and say '
  'how many remain there. Requires SELECT on runs, and EXECUTE on fleet_run() and import_json()';
