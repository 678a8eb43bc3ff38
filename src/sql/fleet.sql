--
-- Many servers: a query on all of them, probes of all, and their history collected here.
--
-- Nodes are foreign servers of postgres_fdw or dblink_fdw.  dblink reaches them with the caller's
-- own privilege on the server and user mapping.  It need not be there when this extension is
-- created, and its schema is where its owner put it: so its functions are called by EXECUTE, with
-- arguments of exactly their types, so that no other function can be a better match.
--

--
-- dblink_connect(connection, server) of schema dblink, within a time.
--
CREATE FUNCTION sync_probe_internal.connect_within(
    ms integer, dblink name, connection text, server text)
RETURNS void
LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_connect_within';

--
-- The answer of a statement with two parameters, or its error in one line.  A cancel of this
-- session stays an error.  What a node sends has the SQLSTATE that it has there: then the name of
-- the connection, a, is in the context.
--
CREATE FUNCTION sync_probe_internal.fleet_try(
    statement text, a text, b text DEFAULT NULL, OUT answer text, OUT error text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    detail text;
    context text;
BEGIN
    EXECUTE statement INTO answer USING a, b;
EXCEPTION WHEN query_canceled OR assert_failure OR OTHERS THEN
    GET STACKED DIAGNOSTICS error = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
        context = PG_EXCEPTION_CONTEXT;
    IF SQLSTATE = '57014'
        AND (starts_with(a, 'sync_probe ') AND strpos(context, a) > 0) IS NOT TRUE THEN
        RAISE;
    END IF;
    error := regexp_replace(concat_ws(': ', error, nullif(detail, '')), '[[:space:]]+', ' ', 'g')
             || CASE WHEN SQLSTATE = '42601'
                     THEN '; the statement must be one SELECT, TABLE, VALUES or WITH'
                     WHEN SQLSTATE IN ('3F000', '42P01') AND strpos(error, 'sync_probe') > 0
                     THEN '; is extension pg_sync_probe there?' ELSE '' END;
END
$$;

--
-- fleet_run
--
-- Run a query on many servers at a time.
--
-- Whatever goes wrong at a node is its row; only wrong arguments and a cancel end the call.  Each
-- node gets its time limit, and looks each second whether its connection has ended: that ends
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
    dblink name := (SELECT n.nspname FROM pg_extension AS e
                    JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'dblink');
    dblink_owner name;
    -- random: a name that no connection of the user has, and no message of this server
    prefix text := format('sync_probe %s ', gen_random_uuid());
    nodes name[];
    connect_ms integer[];
    started timestamptz[];
    max_results CONSTANT integer := 100;
    results integer[];      -- how many of each node
    answers text[];         -- the last one
    faults text[];          -- why there is no connection
    running integer[] := '{}';
    next integer := 1;
    nap double precision := 0.001;
    i integer;
    is_ready boolean;
    answer text;
BEGIN
    error := CASE WHEN coalesce(statement, '') !~ '[^[:space:]]'
                  THEN 'argument "statement" must not be null or empty'
                  WHEN array_position(servers, NULL) > 0
                  THEN 'argument "servers" must not contain null'
                  WHEN coalesce(parallel, 0) NOT BETWEEN 1 AND 64
                  THEN format('parallel %s is out of range', coalesce(parallel::text, 'null'))
                  WHEN coalesce(time_limit, '0') NOT BETWEEN '1 ms' AND '1 day'
                  THEN format('time_limit %s is out of range', coalesce(time_limit::text, 'null'))
                  END;
    IF error <> '' THEN
        RAISE EXCEPTION '%', error USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Pass a query, names of servers, parallel from 1 to 64, and a time_limit from'
                   ' 1 ms to 1 day.';
    END IF;
    -- A superuser needs no password.  The owner of a server could map a superuser to a superuser of
    -- this cluster, and make the query call any function.  A user mapping for PUBLIC
    -- is not the caller's choice: by default it counts only if he or a superuser owns the server.
    SELECT array_agg(s.srvname ORDER BY s.srvname), array_agg(c.ms ORDER BY s.srvname),
           (array_agg(s.srvname) FILTER (WHERE o.rolsuper < u.rolsuper))[1]
    INTO nodes, connect_ms, server
    FROM pg_foreign_server AS s
    JOIN pg_foreign_data_wrapper AS w ON w.oid = s.srvfdw
    JOIN pg_roles AS o ON o.oid = s.srvowner
    JOIN pg_roles AS u ON u.rolname = current_user
    CROSS JOIN LATERAL (
        SELECT ceil(1000 * least(extract(epoch FROM time_limit),
                                 coalesce(min(o.option_value::numeric), 10)))
        FROM pg_options_to_table(s.srvoptions) AS o
        WHERE o.option_name = 'connect_timeout' AND o.option_value ~ '^0*[1-9][0-9]*$') AS c (ms)
    WHERE w.fdwname IN ('postgres_fdw', 'dblink_fdw')
      AND CASE WHEN servers IS NOT NULL THEN s.srvname = ANY (servers)
               ELSE has_server_privilege(s.oid, 'USAGE') AND o.rolsuper >= u.rolsuper
                    AND EXISTS (SELECT FROM pg_user_mappings AS m
                                WHERE m.srvid = s.oid
                                  AND (m.umuser = u.oid OR m.umuser = 0
                                       AND (o.rolsuper OR s.srvowner = u.oid))) END;
    IF server <> '' THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('the owner of server "%s" is no superuser, but you are', server),
            DETAIL = 'Where it leads, and as whom, is up to its owner.',
            HINT = format('ALTER SERVER %I OWNER TO %I;', server, current_user);
    END IF;
    server := (SELECT g FROM unnest(servers) AS g WHERE (g = ANY (nodes)) IS NOT TRUE LIMIT 1);
    IF server <> '' THEN
        RAISE undefined_object USING
            MESSAGE = format('server "%s" of postgres_fdw or dblink_fdw does not exist', server),
            HINT = 'See SELECT srvname FROM pg_foreign_server. CREATE SERVER makes one.';
    ELSIF servers IS NULL AND nodes IS NULL THEN
        RAISE NOTICE 'no foreign server has a user mapping for the current user'
            USING HINT = 'CREATE USER MAPPING FOR CURRENT_USER SERVER ... makes one.';
    END IF;
    IF dblink IS NULL THEN
        RAISE EXCEPTION 'extension "dblink" is not installed in this database'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'CREATE SCHEMA dblink; CREATE EXTENSION dblink SCHEMA dblink;';
    ELSIF NOT has_schema_privilege(dblink, 'USAGE') THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('permission denied for schema %I of extension "dblink"', dblink),
            HINT = format('GRANT USAGE ON SCHEMA %I TO %I;', dblink, current_user);
    END IF;
    -- who owns the schema can rename it, and put functions of his own where dblink's were
    SELECT r.rolname INTO dblink_owner
    FROM pg_namespace AS n, pg_database AS d, pg_roles AS r
    WHERE n.nspname = dblink AND d.datname = current_database()
        AND r.oid = CASE n.nspowner WHEN 'pg_database_owner'::regrole THEN d.datdba
                                    ELSE n.nspowner END
        AND NOT r.rolsuper AND r.rolname <> current_user;
    IF FOUND THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('%I, who owns the schema of extension "dblink", is no superuser',
                             dblink_owner),
            DETAIL = 'The owner of a schema can replace what is called there.',
            HINT = 'CREATE SCHEMA dblink; ALTER EXTENSION dblink SET SCHEMA dblink;';
    END IF;

    WHILE next <= cardinality(nodes) OR running <> '{}' LOOP
        IF next <= cardinality(nodes) AND cardinality(running) < parallel THEN
            i := next;
            next := next + 1;
            running := running || i;
            started[i] := clock_timestamp();
            faults[i] := (sync_probe_internal.fleet_try(
                format('SELECT sync_probe_internal.connect_within(%s, %L, $1, $2)',
                       connect_ms[i], dblink),
                prefix || i, nodes[i])).error;
            -- LOCAL, as a pooler gives the session to others.  Messages below an error would go
            -- to this server's log.  The owner of a database can set its search_path, and have
            -- operators that fit better than the server's.  The statement may end with a comment,
            -- and have a column q.
            IF faults[i] IS NULL THEN
                EXECUTE format('SELECT %I.dblink_send_query($1, $2)', dblink)
                    USING prefix || i, format(
                        E'SET LOCAL statement_timeout = %s;'
                        'SET LOCAL client_connection_check_interval = 1000;'
                        'SET LOCAL client_min_messages = error;'
                        'SET LOCAL search_path = pg_catalog, pg_temp;'
                        'SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(q.*)), ''[]'')'
                        ' FROM (\n%s\n) AS q',
                        greatest(1, ceil(1000 * extract(epoch FROM started[i] + time_limit
                                                                   - clock_timestamp()))),
                        regexp_replace(statement, ';[[:space:]]*$', ''));
            END IF;
        END IF;

        -- The results of a query come one by one, and then none, when its transaction is over.
        FOR i, is_ready IN EXECUTE format(
            'SELECT i, CASE WHEN $3[i] IS NULL THEN %I.dblink_is_busy($1 || i) = 0 END'
            ' FROM unnest($2) AS i', dblink) USING prefix, running, faults
        LOOP
            CONTINUE WHEN NOT is_ready
                AND clock_timestamp() < started[i] + time_limit + interval '1 s';
            result := NULL;
            error := coalesce(faults[i], CASE WHEN NOT is_ready
                                              THEN format('no answer within %s', time_limit) END);
            IF error IS NULL THEN
                nap := 0.001;
                SELECT t.* INTO answer, error
                FROM sync_probe_internal.fleet_try(
                         format('SELECT r FROM %I.dblink_get_result($1) AS t (r text)', dblink),
                         prefix || i) AS t;
                results[i] := coalesce(results[i], 0) + 1;
                answers[i] := coalesce(answer, answers[i]);
                CONTINUE WHEN answer IS NOT NULL AND results[i] <= max_results;
                error := CASE WHEN error IS NOT NULL THEN error
                              -- ready each time, it would never run out of time
                              WHEN answer IS NOT NULL
                              THEN format('it sent more than %s results', max_results)
                              WHEN answers[i] IS NULL
                              THEN 'the connection was lost before the query was sent'
                              ELSE (sync_probe_internal.fleet_try('SELECT $1::jsonb',
                                                                  answers[i])).error END;
                result := CASE WHEN error IS NULL THEN answers[i]::jsonb END;
            END IF;
            -- one that was made when its time was over has a fault, too
            EXECUTE format('SELECT %1$I.dblink_disconnect(c)
                            FROM unnest(%1$I.dblink_get_connections()) AS c
                            WHERE c = $1', dblink) USING prefix || i;
            running := array_remove(running, i);
            answers[i] := NULL;
            server := nodes[i];
            duration_ms := round(1000 * extract(epoch FROM clock_timestamp() - started[i]), 1);
            RETURN NEXT;
        END LOOP;
        IF next > cardinality(nodes) OR cardinality(running) = parallel THEN
            PERFORM pg_sleep(nap);
            nap := least(2 * nap, 0.02);
        END IF;
    END LOOP;
EXCEPTION WHEN query_canceled OR assert_failure OR OTHERS THEN
    IF running <> '{}' THEN
        EXECUTE format('SELECT %1$I.dblink_disconnect(c)
                        FROM unnest(%1$I.dblink_get_connections()) AS c
                        WHERE starts_with(c, $1)', dblink) USING prefix;
    END IF;
    RAISE;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.fleet_run FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.fleet_run IS
  'Run a query on foreign servers, by default all that the caller has a user mapping for. Returns '
  'one row for each; result is the array of its rows';

--
-- The same, with rows of that type.  An error, and an answer that is no such rows, is a row.
--
CREATE FUNCTION sync_probe_internal.fleet_rows(
    of_type anyelement, statement text, servers name[] DEFAULT NULL, parallel integer DEFAULT 8,
    time_limit interval DEFAULT '1 min')
RETURNS TABLE (server name, r anyelement, error text)
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT f.server, r, coalesce(f.error, t.error)
FROM sync_probe.fleet_run(statement, servers, parallel, time_limit) AS f
CROSS JOIN sync_probe_internal.fleet_try(
    format('SELECT count(*) FROM jsonb_populate_recordset(NULL::%s, $1::jsonb)',
           pg_typeof(of_type)), f.result::text) AS t
LEFT JOIN jsonb_populate_recordset(of_type, CASE WHEN t.error IS NULL THEN f.result END) AS r
    ON true
$$;

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
SET extra_float_digits = 1
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
        -- A probe lasts at most 25 s by default, and writes its files before, with rests of at most
        -- as long.  What is wrong with the arguments depends on the node, which has it.
        RETURN QUERY
            SELECT f.server, (f.r).*, coalesce(f.error, CASE WHEN (f.r).location IS NULL
                       THEN 'it has probed nothing: its log has the warnings' END)
            FROM sync_probe_internal.fleet_rows(
                     NULL::sync_probe.recommendations,
                     format('SELECT * FROM sync_probe.probe_all(%L, %L, %L)', probe_fleet.duration,
                            probe_fleet.duty_cycle, probe_fleet.label),
                     nodes, probe_fleet.parallel,
                     least('1 day', filesystems * (interval '30 s' + 2 * least('1 h',
                         greatest('0', coalesce(probe_fleet.duration, '25 s')))))) AS f;
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
  'Call probe_all() on foreign servers, on one at a time of those that share a disk. Requires '
  'EXECUTE on fleet_run()';

--
-- collect_fleet
--
-- The runs of a node have its system identifier and host, those of a promoted standby a host of
-- its own.  Missing are those that are not here, up to a day older than the newest one here, since
-- a run can be committed after a newer one.  A standby, or another name of a node, may have just
-- given it.  All runs of a node are imported, or none; those from the future, which import_json()
-- refuses, wait.
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
    known jsonb;
    node record;
    done jsonb;
BEGIN
    PERFORM sync_probe_internal.require_monitor('collect_fleet()', '{sync_probe.runs}');
    SELECT coalesce(jsonb_object_agg(r.origin, r.finished_at), '{}') INTO newest
    FROM (SELECT concat(r.system_identifier, ' ', r.host) AS origin,
                 max(r.finished_at) AS finished_at
          FROM sync_probe.runs AS r GROUP BY 1) AS r;
    SELECT coalesce(jsonb_object_agg(concat(o.origin, ' ', extract(epoch FROM r.finished_at)),
                                     true), '{}') INTO known
    FROM sync_probe.runs AS r,
         LATERAL (SELECT concat(r.system_identifier, ' ', r.host)) AS o (origin)
    WHERE r.finished_at >= (newest ->> o.origin)::timestamptz - interval '1 day';
    FOR node IN
        SELECT f.*
        FROM sync_probe.fleet_run(format('
            SELECT m.origin, m.key, m.finished_at, m.missing,
                   sync_probe.export_json(ARRAY[m.run_id]) AS document
            FROM (SELECT r.run_id, r.finished_at, o.origin, k.key, count(*) OVER () AS missing
                  FROM sync_probe.runs AS r,
                       LATERAL (SELECT concat(r.system_identifier, '' '', r.host))
                           AS o (origin),
                       LATERAL (SELECT concat(o.origin, '' '', extract(epoch FROM r.finished_at)))
                           AS k (key)
                  WHERE r.imported_at IS NULL AND NOT %L::jsonb ? k.key
                    AND r.finished_at >= coalesce((%L::jsonb ->> o.origin)::timestamptz
                                                  - interval ''1 day'', ''2000-01-02'')
                  ORDER BY r.finished_at FETCH FIRST 100 ROWS WITH TIES) AS m
            ORDER BY m.finished_at', known, newest),
            collect_fleet.servers, collect_fleet.parallel, collect_fleet.time_limit) AS f
    LOOP
        SELECT t.answer, coalesce(node.error, t.error) INTO done, error
        FROM sync_probe_internal.fleet_try('
            SELECT jsonb_build_object(
                ''imported'', count(i),
                ''known'', jsonb_object_agg(r.key, true) FILTER (WHERE i IS NOT NULL),
                ''remaining'', coalesce(max(r.missing), 0)
                                 - jsonb_array_length($1::jsonb))
            FROM jsonb_to_recordset($1::jsonb) AS r (
                     key text, finished_at timestamptz, missing integer, document text)
            LEFT JOIN LATERAL (
                SELECT sync_probe.import_json(r.document)
                WHERE NOT $2::jsonb ? r.key
                  AND r.finished_at <= now() + interval ''1 day'') AS i ON true',
            node.result::text, known::text) AS t;
        server := node.server;
        imported := coalesce((done ->> 'imported')::integer, 0);
        remaining := CASE WHEN error IS NULL THEN done ->> 'remaining' END;
        known := known || coalesce(nullif(done -> 'known', 'null'), '{}');
        RETURN NEXT;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.collect_fleet FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.collect_fleet IS
  'Import up to 100 missing runs of each foreign server, oldest first. Requires SELECT on runs, '
  'EXECUTE on fleet_run() and import_json()';
