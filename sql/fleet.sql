\set ECHO none
--
-- Many servers: arguments, errors, privileges.  test/t/034_fleet.pl has nodes.
--
\a \pset footer off
SET client_min_messages = warning;
\set SHOW_CONTEXT never
-- all that these calls see of the extensions: dblink is looked for last
CREATE FOREIGN DATA WRAPPER postgres_fdw;
CREATE FOREIGN DATA WRAPPER regress_other;
CREATE SERVER regress_node FOREIGN DATA WRAPPER postgres_fdw;
CREATE SERVER regress_other FOREIGN DATA WRAPPER regress_other;

\echo fleet_run()
SELECT refused('SELECT FROM sync_probe.fleet_run(%s)', $$
NULL
E' \n'
'SELECT 1', '{regress_node,no_such_server,nor_this}'
'SELECT 1', '{regress_other}'
'SELECT 1', '{regress_node,NULL}'
'SELECT 1', parallel => 0
'SELECT 1', parallel => NULL
'SELECT 1', parallel => 65
'SELECT 1', time_limit => '-1 s'
'SELECT 1', time_limit => '1 day 1 ms'
'SELECT 1', time_limit => NULL
'SELECT 1', '{regress_node}'
$$);

\echo -- a job should not take no node for a good one
SET client_min_messages = notice;
SELECT FROM sync_probe.fleet_run('SELECT 1');
SET client_min_messages = warning;

\echo others
SELECT refused('%s', $$
SELECT FROM sync_probe.probe_fleet(servers => '{no_such_server}')
SELECT FROM sync_probe.collect_fleet('{no_such_server}')
$$);

\echo -- what else they need
CREATE ROLE regress_sync_probe_nobody;
GRANT EXECUTE ON FUNCTION sync_probe.probe_fleet, sync_probe.collect_fleet
    TO regress_sync_probe_nobody;
SET ROLE regress_sync_probe_nobody;
SELECT refused('%s', $$
SELECT FROM sync_probe.probe_fleet()
SELECT FROM sync_probe.collect_fleet()
$$);
RESET ROLE;
DROP OWNED BY regress_sync_probe_nobody;
DROP ROLE regress_sync_probe_nobody;
DROP FOREIGN DATA WRAPPER postgres_fdw, regress_other CASCADE;
