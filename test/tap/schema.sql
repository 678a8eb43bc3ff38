--
-- The surface of the extension: names and types that people write into their
-- own queries.  A change here is a change of the contract.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS pg_sync_probe;

-- Names, one a line, in the order of a table or of arguments.
CREATE FUNCTION pg_temp.lines(names text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT line FROM regexp_split_to_table(btrim(names, E' \n'), '\n *') AS line
$$;

CREATE FUNCTION pg_temp.columns(relation regclass) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT attname || ' ' || format_type(atttypid, atttypmod)
    FROM pg_attribute
    WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
    ORDER BY attnum
$$;

CREATE FUNCTION pg_temp.arguments(function regproc) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT regexp_replace(argument, '^IN ', '')
    FROM string_to_table(pg_get_function_arguments(function), ', ') AS argument
$$;

CREATE TEMP TABLE surface (relation name, columns text);
INSERT INTO surface VALUES
('locations', $$
    name name
    holds_wal boolean
    tablespace oid
    directory text
    filesystem text
    mount_point text
    mount_options text
    device text
    rotational boolean
    write_cache text
    size_bytes bigint
    available_bytes bigint
    shares_filesystem_with name
$$),
('runs', $$
    run_id bigint
    source text
    label text
    location name
    suite text
    setting name
    workload name
    verdict text
    recommended_value text
    best_value text
    loss_bound double precision
    deciding_test text
    flush_us double precision
    margin double precision
    durable text
    times_as_long double precision
    reason text
    started_at timestamp with time zone
    finished_at timestamp with time zone
    username name
    directory text
    filesystem text
    device text
    write_cache text
    wal_sync_method text
    wal_sync_method_at_end text
    wal_level text
    fsync boolean
    flush_size integer
    flush_size_source text
    flush_interval interval
    flush_interval_source text
    observed_flush_interval interval
    achieved_flush_interval interval
    requested_duration interval
    duty_cycle double precision
    stop_early boolean
    duration interval
    rounds integer
    paced_rounds integer
    saturated_rounds integer
    paced_entries integer
    workers integer
    think_time interval
    wal_busy double precision
    wal_busy_source text
    noise double precision
    random_seed bigint
    server_version_num integer
    system_identifier bigint
    host text
    storage jsonb
    imported_at timestamp with time zone
    usable_for_advice boolean
$$),
('measurements', $$
    test text
    method text
    value text
    direct_io boolean
    choice text
    verdict text
    durable text
    status text
    p50_us double precision
    relative_speed double precision
    relative_speed_low double precision
    relative_speed_high double precision
    p99_us double precision
    max_us double precision
    flushes_per_op double precision
    ops bigint
    mean_us double precision
    ops_per_sec double precision
    p90_us double precision
    p999_us double precision
    stddev_us double precision
    rounds integer
    slow_rounds integer
    relative_rate double precision
    relative_rate_low double precision
    relative_rate_high double precision
    own_share double precision
    device_writes_per_op double precision
    device_bytes_per_op double precision
    device_utilization double precision
    write_size integer
    writes_per_sync integer
    detail text
    run_id bigint
    ordinal integer
$$),
('samples', $$
    run_id bigint
    ordinal integer
    round_mean_us double precision[]
    control_round_mean_us double precision[]
    bucket_lower_us double precision[]
    bucket_ops bigint[]
$$),
('stream_seconds', $$
    run_id bigint
    ordinal integer
    second integer
    began_at timestamp with time zone
    length_ms double precision
    ops bigint
    bytes bigint
    mb_per_sec double precision
    slowest_us double precision
    slowest_at timestamp with time zone
    device_writes bigint
    device_bytes bigint
    device_flushes bigint
    device_utilization double precision
    slowest_device_writes bigint
    slowest_device_bytes bigint
    slowest_device_flushes bigint
    slowest_device_utilization double precision
$$),
('stalls', $$
    stalled_at timestamp with time zone
    kind text
    stalled_ms double precision
    usual_ms double precision
    mb_per_sec double precision
    usual_mb_per_sec double precision
    meanwhile text
    location name
    test text
    method text
    direct_io boolean
    run_id bigint
    ordinal integer
    second integer
$$),
('recommendations', $$
    location name
    verdict text
    current_method text
    recommended_method text
    loss_bound double precision
    flush_us double precision
    durable text
    basis text
$$),
('recommendation_details', $$
    location name
    holds_wal boolean
    verdict text
    current_method text
    recommended_method text
    best_method text
    loss_bound double precision
    deciding_test text
    flush_us double precision
    durable text
    basis text
    run_id bigint
    measured_at timestamp with time zone
    reason text
    commands text[]
    recommended_commit_delay integer
    commit_delay_basis text
    commit_delay_rate double precision
    commit_delay_rate_low double precision
    commit_delay_rate_high double precision
    live_run_id bigint
    live_verdict text
    live_reason text
$$),
('findings', $$
    location name
    severity text
    code text
    message text
    hint text
    commands text[]
    evidence jsonb
$$),
('segment_advice', $$
    location name
    setting name
    verdict text
    current_value text
    recommended_value text
    ratio double precision
    ratio_low double precision
    ratio_high double precision
    run_id bigint
    measured_at timestamp with time zone
    reason text
    commands text[]
$$),
('latency_histogram', $$
    run_id bigint
    ordinal integer
    test text
    method text
    lower_us double precision
    upper_us double precision
    ops bigint
    fraction double precision
    bar text
$$),
('running', $$
    pid integer
    database name
    username name
    location name
    suite text
    workload name
    phase text
    started_at timestamp with time zone
    rounds bigint
    transactions bigint
    percent_done double precision
    duration interval
$$),
('commit_wait_results', $$
    answer text
    commits_per_sec double precision
    commit_wait_us double precision
    wait_share double precision
    sync_us double precision
    write_us double precision
    queue_us double precision
    commit_delay_us double precision
    sync_rep_us double precision
    other_us double precision
    commits bigint
    committers integer
    committing_sessions double precision
    active_sessions double precision
    connected_sessions double precision
    wal_bytes_per_commit double precision
    commits_per_flush double precision
    bytes_per_flush double precision
    flushes_per_sec double precision
    flushes double precision
    flushes_source text
    unflushed_share double precision
    wal_busy double precision
    samples bigint
    wal_sync_method text
    commit_delay integer
    started_at timestamp with time zone
    duration interval
    username name
    system_identifier bigint
    host text
    result_id bigint
$$),
('workloads', $$
    workload name
    suite name
    description text
    setup text
    script text
    teardown text
    transactions integer
    protocol text
    new_connections boolean
    builtin boolean
    author name
    author_oid oid
$$),
('workload_results', $$
    result_id bigint
    run_group bigint
    workload name
    tablespace name
    tps double precision
    latency_mean_ms double precision
    latency_stddev_ms double precision
    latency_p50_ms double precision
    latency_p95_ms double precision
    latency_p99_ms double precision
    latency_max_ms double precision
    transactions bigint
    failed bigint
    seconds double precision
    clients integer
    threads integer
    wal_bytes bigint
    wal_syncs bigint
    wal_sync_time_ms double precision
    wal_sync_method text
    wal_sync_method_at_end text
    fsync boolean
    synchronous_commit text
    full_page_writes boolean
    shared_buffers text
    settings jsonb
    label text
    username name
    suite name
    rows integer
    transactions_per_client integer
    protocol text
    new_connections boolean
    connection_ms double precision
    started_at timestamp with time zone
    finished_at timestamp with time zone
    server_version_num integer
    pgbench_version text
    statements jsonb
    second_tps double precision[]
    second_latency_ms double precision[]
$$),
('workload_comparison', $$
    operation name
    iterations bigint
    combination text
    seconds double precision
    tps double precision
    ratio double precision
    suite name
    run_group bigint
$$);

CREATE TEMP TABLE functions (name name, arguments text);
INSERT INTO functions VALUES
('probe', $$
    location name DEFAULT 'pg_wal'::name
    suite text DEFAULT 'wal'::text
    duration interval DEFAULT NULL::interval
    duty_cycle double precision DEFAULT NULL::double precision
    flush_size integer DEFAULT NULL::integer
    flush_interval interval DEFAULT NULL::interval
    stop_early boolean DEFAULT true
    label text DEFAULT NULL::text
    record boolean DEFAULT true
    methods text[] DEFAULT NULL::text[]
    commit_delays integer[] DEFAULT NULL::integer[]
    workers integer DEFAULT NULL::integer
$$),
('probe_all', $$
    duration interval DEFAULT NULL::interval
    duty_cycle double precision DEFAULT NULL::double precision
    label text DEFAULT NULL::text
$$),
('commit_waits', $$
    duration interval DEFAULT '00:00:05'::interval
$$),
('bar', $$
    fraction double precision
    width integer DEFAULT 40
$$),
('compare', $$
    run_ids bigint[]
$$),
('history', $$
    location name DEFAULT 'pg_wal'::name
$$),
('export_json', $$
    run_ids bigint[]
$$),
('import_json', $$
    document text
$$),
('device_lifetime', $$
    location name
    capacity_bytes bigint
    erase_cycles integer
    wal_bytes_per_sec double precision DEFAULT NULL::double precision
    write_amplification double precision DEFAULT NULL::double precision
$$),
('report_html', $$
    run_ids bigint[] DEFAULT NULL::bigint[]
    paths boolean DEFAULT true
$$),
('pgbench', $$
    workload name DEFAULT 'upsert'::name
    tablespace name DEFAULT NULL::name
    clients integer DEFAULT 16
    threads integer DEFAULT 8
    duration interval DEFAULT '00:00:30'::interval
    transactions integer DEFAULT NULL::integer
    rows integer DEFAULT 500000
    settings jsonb DEFAULT NULL::jsonb
    label text DEFAULT NULL::text
    trust boolean DEFAULT false
    allow_publication boolean DEFAULT false
$$),
('import_pg_test_fsync', $$
    report text
    label text DEFAULT NULL::text
$$),
('sql_bench', $$
    tablespaces name[]
    scale double precision DEFAULT 0.01
    settings jsonb[] DEFAULT NULL::jsonb[]
    allow_publication boolean DEFAULT false
$$);

SELECT plan((SELECT count(*)::integer * 2 FROM surface)
            + (SELECT count(*)::integer FROM functions) + 41);

SELECT results_eq(format('SELECT pg_temp.columns(%L)', 'sync_probe.' || relation),
                  format('SELECT pg_temp.lines(%L)', columns), 'columns of ' || relation)
FROM surface;

SELECT ok(has_table_privilege('pg_monitor', format('sync_probe.%I', relation), 'SELECT')
          AND NOT has_table_privilege('pg_monitor', format('sync_probe.%I', relation), 'INSERT'),
          'pg_monitor may look at ' || relation || ' and no more')
FROM surface;

SELECT results_eq(format('SELECT pg_temp.arguments(%L)', 'sync_probe.' || name),
                  format('SELECT pg_temp.lines(%L)', arguments), 'arguments of ' || name || '()')
FROM functions;
SELECT is(pg_get_function_result('sync_probe.device_lifetime'::regproc), 'sync_probe.lifetime',
          'what device_lifetime() returns');
SELECT is(pg_get_function_result('sync_probe.compare'::regproc),
          'TABLE(run text, test text, test_case text, value_us double precision, '
          'ratio double precision, ratio_low double precision, ratio_high double precision, '
          'bar text, not_comparable text, statistic text, run_id bigint, ordinal integer)',
          'what compare() returns');
SELECT is(pg_get_function_result('sync_probe.history'::regproc),
          'TABLE(finished_at timestamp with time zone, run_id bigint, method text, '
          'p50_us double precision, p99_us double precision, bar text, ratio double precision, '
          'ratio_low double precision, ratio_high double precision, changes text, sentence text, '
          'label text)', 'what history() returns');
SELECT results_eq($$SELECT pg_temp.columns('sync_probe.lifetime')$$, $sql$SELECT pg_temp.lines($$
    location name
    device text
    capacity_bytes bigint
    erase_cycles integer
    wal_bytes_per_sec double precision
    wal_rate_source text
    write_amplification double precision
    write_amplification_source text
    written_bytes_per_day double precision
    years double precision
$$)$sql$, 'columns of lifetime');
SELECT is(replace(split_part(pg_get_function_arguments('sync_probe.run_workload'::regproc),
                             ', INOUT', 1), 'IN ', ''),
          pg_get_function_arguments('sync_probe.pgbench'::regproc),
          'run_workload() takes the same');
SELECT is((SELECT count(*) FROM sync_probe.workloads
           WHERE suite = 'sql_bench' AND builtin AND transactions > 0
             AND protocol = 'simple' AND description IS NOT NULL),
          45::bigint, 'the operations of sql-bench');
SELECT is((SELECT sum(transactions) FROM sync_probe.workloads WHERE suite = 'sql_bench'),
          897029::bigint, 'as often as they were done there');
SELECT function_returns('sync_probe', 'cleanup', ARRAY[]::name[], 'integer');
SELECT function_returns('sync_probe', 'pg_test_fsync_report', ARRAY['bigint'], 'text');
SELECT function_returns('sync_probe', 'report_html', ARRAY['bigint[]', 'boolean'], 'text');

-- what writes is nobody's but the owner's, until granted
SELECT ok(NOT has_function_privilege('pg_monitor', p.oid, 'EXECUTE'),
          p.proname || '() is revoked from PUBLIC')
FROM pg_proc AS p
WHERE p.pronamespace = 'sync_probe'::regnamespace
  AND p.proname IN ('probe', 'probe_all', 'cleanup', 'pgbench', 'run_workload', 'sql_bench',
                    'import_pg_test_fsync', 'import_json')
ORDER BY p.proname;

-- what runs as the owner is nobody else's, except one that only compares names: any role
-- could call it, and make triggers of a trigger function on tables of its own
SELECT is_empty($$
    SELECT p.oid::regprocedure FROM pg_proc AS p
    CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
    WHERE p.pronamespace IN ('sync_probe'::regnamespace, 'sync_probe_internal'::regnamespace)
      AND p.prosecdef AND a.grantee <> p.proowner
      AND p.oid <> 'sync_probe_internal.is_builtin_workload(name)'::regprocedure$$,
    'no other role may execute what runs as the owner');

-- what waits for other sessions is for those who may see what these do
SELECT is(pg_get_function_arguments('sync_probe.wait_for_reload'::regproc), '',
          'wait_for_reload() takes no arguments');
SELECT ok(has_function_privilege('pg_monitor', 'sync_probe.wait_for_reload'::regproc, 'EXECUTE'),
          'pg_monitor may call it');

-- nobody else looks; pg_monitor may, and what it calls works for it
CREATE ROLE sync_probe_nobody;
SELECT ok(NOT has_table_privilege('sync_probe_nobody', 'sync_probe.findings', 'SELECT'),
          'findings are not for everybody');
SELECT ok(NOT has_table_privilege('sync_probe_nobody', 'sync_probe_internal.run_findings', 'SELECT'),
          'nor are those of runs');
SELECT ok(NOT has_function_privilege('sync_probe_nobody', 'sync_probe.commit_waits'::regproc,
                                      'EXECUTE'),
          'nor is commit_waits()');
SELECT ok(NOT has_function_privilege('sync_probe_nobody', 'sync_probe.device_lifetime'::regproc,
                                      'EXECUTE'),
          'nor is device_lifetime()');
SELECT ok(NOT has_function_privilege('sync_probe_nobody', 'sync_probe.report_html'::regproc,
                                      'EXECUTE'),
          'nor is report_html()');
SELECT ok(NOT has_function_privilege('sync_probe_nobody',
                                      'sync_probe_internal.examine_locations'::regproc, 'EXECUTE'),
          'nor are paths and disks');
SELECT ok(NOT has_function_privilege('sync_probe_nobody',
                                      'sync_probe_internal.this_server'::regproc, 'EXECUTE'),
          'nor the name of the machine');
SELECT ok(NOT has_function_privilege('sync_probe_nobody', 'sync_probe.wait_for_reload'::regproc,
                                      'EXECUTE'),
          'and nobody else');
SET LOCAL ROLE pg_monitor;
SELECT lives_ok('SELECT * FROM sync_probe.findings', 'pg_monitor reads findings');
SELECT lives_ok('SELECT * FROM sync_probe.recommendations', 'and recommendations');
SELECT lives_ok('SELECT * FROM sync_probe.recommendation_details', 'and their details');
SELECT lives_ok('SELECT * FROM sync_probe.workload_comparison', 'and comparisons of workloads');
SELECT lives_ok('SELECT * FROM sync_probe.device_lifetime(''pg_wal'', 300000000000, 5000)',
                'and calls device_lifetime()');
RESET ROLE;

-- \d+, \df+ and \dn+ are the reference in the database
SELECT is_empty($$SELECT c.relname, a.attname
                  FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
                  WHERE c.relnamespace = 'sync_probe'::regnamespace AND c.relkind IN ('r', 'v', 'c')
                    AND a.attnum > 0 AND NOT a.attisdropped AND col_description(c.oid, a.attnum) IS NULL$$,
                'each public column has a comment');
SELECT is_empty($$SELECT pg_describe_object(d.classid, d.objid, 0)
                  FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'pg_sync_probe'
                  WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
                    AND d.classid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_namespace'::regclass)
                    AND NOT EXISTS (SELECT FROM pg_class AS s
                                    WHERE d.classid = 'pg_class'::regclass AND s.oid = d.objid
                                      AND (s.relkind = 'S' OR s.relkind = 'c'))
                    AND obj_description(d.objid, d.classid::regclass::text::name) IS NULL$$,
                'and each function, table, view and schema');

-- text that has no collation cannot be sorted or compared
SELECT is_empty($$SELECT a.attrelid::regclass, a.attname
                  FROM pg_attribute AS a
                  JOIN pg_class AS c ON c.oid = a.attrelid
                  JOIN pg_type AS t ON t.oid = a.atttypid
                  WHERE c.relnamespace = 'sync_probe'::regnamespace AND a.attcollation = 0
                    AND t.typcollation <> 0$$,
                'all text has a collation');
-- what the partial index and the generated column call enough rounds is what the engine does
SELECT is((SELECT count(*) FROM pg_index
           WHERE indrelid = 'sync_probe.runs'::regclass AND indpred IS NOT NULL),
          3::bigint, 'runs of this server, those that advice can rest on, and those without fsync'
                     ' have an index');

SELECT is((SELECT count(*) FROM pg_extension, unnest(extconfig) WHERE extname = 'pg_sync_probe'),
          10::bigint, 'the history is dumped: six tables and their sequences; and workloads');
SELECT is((SELECT c FROM pg_extension, unnest(extconfig, extcondition) AS e (t, c)
           WHERE extname = 'pg_sync_probe' AND t = 'sync_probe.workloads'::regclass),
          'WHERE NOT builtin', 'of these only what users added');
SELECT is((SELECT extrelocatable FROM pg_extension WHERE extname = 'pg_sync_probe'), false,
          'not relocatable');

SELECT * FROM finish();
ROLLBACK;
