\set ECHO none
-- Bad arguments: each error names the value, and what was expected.  refused() of setup.sql shows
-- the SQLSTATE, message, detail and hint of each call.
--
-- Nothing here gets as far as writing a file.
\a \t on
\echo sync_probe.probe()
SELECT refused('SELECT FROM sync_probe.probe(%s)', $$
NULL
'../pg_wal'
'pg_global'
suite => NULL
suite => 'WAL'
suite => '5 s'
stop_early => NULL
record => NULL
duration => '1 ms'
duration => '100000000 years'
duty_cycle => 0
duty_cycle => 1.1
duty_cycle => 'NaN'
flush_size => 0
flush_size => 16777217
flush_interval => '0'
flush_interval => '61 s'
label => repeat('x', 257)
pace => 'busiest'
pace => 'busiest hour'
'pg_wal', 'pg_test_fsync', pace => 'busiest hour'
'pg_wal', 'segments', flush_interval => '1 ms'
'pg_wal', 'segments', workers => 2
'pg_wal', 'stream', duty_cycle => 0.5
'pg_wal', 'pg_test_fsync', flush_size => 8192
'pg_wal', 'stream', flush_interval => '5 ms'
'pg_wal', 'stream', methods => '{fsync}'
$$);
\echo others
SELECT refused('%s', $$
SELECT FROM sync_probe.probe_all(duty_cycle => 2)
SELECT FROM sync_probe.pgbench(label => repeat('x', 257))
SELECT sync_probe.delete_history('-1 day')
SELECT sync_probe.delete_history('1 day', -1)
SELECT sync_probe.delete_history('1 day', NULL)
SELECT sync_probe.pg_test_fsync_report(NULL)
SELECT sync_probe.pg_test_fsync_report(-1)
SET pg_sync_probe.margin = 0
SET pg_sync_probe.reserve_percent = 101
SET pg_sync_probe.max_stream_write = 0
SET pg_sync_probe.no_such_setting = 1
$$);

\echo sync_probe.power_test()
SELECT refused('%s', $$
CALL sync_probe.power_test(NULL)
CALL sync_probe.power_test(duration => NULL)
CALL sync_probe.power_test(duration => '999 ms')
CALL sync_probe.power_test(duration => '25 h')
SELECT sync_probe.power_test_result(-1)
SELECT FROM sync_probe_internal.probe_run('pg_wal', 'commit')
SELECT sync_probe.power_test_result(1, NULL)
SELECT sync_probe.power_test_result(NULL)
$$);

\echo sync_probe.device_lifetime()
SELECT refused('SELECT FROM sync_probe.device_lifetime(%s)', $$
NULL, 300000000000, 5000
'pg_global', 300000000000, 5000
'pg_wal', NULL, 5000
'pg_wal', 0, 5000
'pg_wal', 300000000000, NULL
'pg_wal', 300000000000, 5000, 'NaN'
'pg_wal', 300000000000, 5000, 'Infinity'
'pg_wal', 300000000000, 5000, write_amplification => 0
$$);

\echo sync_probe.expect()
SELECT refused('SELECT FROM sync_probe.expect(%s)', $$
NULL
'no_such_profile'
'oltp', NULL
'oltp', 'no_such_tablespace'
'oltp', duration => '-1 s'
'etcd', raise => true
$$);
SELECT refused('INSERT INTO sync_probe.expectations (profile, %s', $$
no_errors) VALUES ('x', false)
flush_p99_us) VALUES ('x', 0)
flush_p99_us) VALUES ('x', 'Infinity')
commits_per_sec) VALUES ('x', 'NaN')
$$);

\echo many servers
-- all that these calls see of the extensions: dblink is looked for last
CREATE FOREIGN DATA WRAPPER postgres_fdw;
CREATE FOREIGN DATA WRAPPER regress_other;
CREATE SERVER regress_node FOREIGN DATA WRAPPER postgres_fdw;
CREATE SERVER regress_other FOREIGN DATA WRAPPER regress_other;
SELECT refused('SELECT FROM sync_probe.%s', $$
fleet_run(E' \n')
fleet_run('SELECT 1', '{regress_node,no_such_server,nor_this}')
fleet_run('SELECT 1', '{regress_other}')
fleet_run('SELECT 1', '{regress_node,NULL}')
fleet_run('SELECT 1', parallel => NULL)
fleet_run('SELECT 1', parallel => 65)
fleet_run('SELECT 1', time_limit => '1 day 1 ms')
fleet_run('SELECT 1', time_limit => NULL)
fleet_run('SELECT 1', '{regress_node}')
fleet_run('SELECT 1')
probe_fleet(servers => '{no_such_server}')
collect_fleet('{no_such_server}')
$$);
DROP SERVER regress_node, regress_other;
DROP FOREIGN DATA WRAPPER postgres_fdw, regress_other;

\echo runs, reports and documents; test/tap/exchange.sql has wrong documents
SELECT refused('SELECT FROM sync_probe.%s', $$
compare(NULL)
compare('{}')
compare('{-7}')
compare('{NULL}')
compare(array_fill(1, ARRAY[101]))
history(NULL)
history('PG_WAL')
export_json('{-7}')
report_html('{0}')
report_html(paths => NULL)
import_pg_test_fsync(NULL)
import_pg_test_fsync(E'\n  hello, world\nsecond line')
import_pg_test_fsync('fsync 519.180 ops/sec')
import_pg_test_fsync(E'using one 8kB write:\nfsync 519.180 ops/sec', repeat('x', 257))
import_pg_test_fsync(repeat('9', 1000001))
$$);

\echo -- the upper limit is a setting that only superusers may raise
SET pg_sync_probe.max_duration = '2 s';
SELECT refused('SELECT FROM sync_probe.probe(%s)', $$duration => '3 s'$$);
RESET pg_sync_probe.max_duration;

\echo -- no room for one round of all test cases, in time or on a file system
SELECT refused('SELECT FROM sync_probe.probe(%s)', $$
duration => '200 ms', duty_cycle => 0.0001
suite => 'pg_test_fsync', duty_cycle => 1e-300
$$, terse => true);
SET pg_sync_probe.reserve_percent = 100;
SELECT refused('SELECT FROM sync_probe.probe(%s)', $$
'pg_wal', duration => '10 ms'
'pg_default', duration => '10 ms'
$$, terse => true);
SELECT refused('CALL sync_probe.power_test(%s)', $$'pg_default'$$, terse => true);
RESET pg_sync_probe.reserve_percent;
SET temp_file_limit = '5MB';
SELECT refused('SELECT FROM sync_probe.probe(%s)',
    $$'pg_default', 'pg_test_fsync', duration => '10 ms'$$, terse => true);
RESET temp_file_limit;

\echo -- nothing was measured, nothing was recorded, nothing is left
SELECT (SELECT count(*) FROM sync_probe.runs) AS runs, sync_probe.cleanup();
