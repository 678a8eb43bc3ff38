-- The report, reports of pg_test_fsync and scripts where strings are not read as in the standard.
-- PostgreSQL 19 refuses the setting: there this is skipped.
\set tests 4
\ir include/begin.sql
\ir include/stage.sql
SELECT pg_temp.record_run(jsonb_build_object('label', E'a\\b ''c'' "d"\n\\', 'host', E'\\1')) AS run
\gset
CREATE TEMP TABLE before AS SELECT sync_probe.report_html() AS page;

SELECT current_setting('server_version_num')::integer < 190000 AS can_be_off \gset
\if :can_be_off
SET LOCAL standard_conforming_strings = off;
SELECT is(sync_probe.report_html(), page, 'the same report') FROM before;
SELECT i.run_id AS imported
FROM sync_probe.import_pg_test_fsync(E'Compare open_sync with different write sizes:\n'
    '         1 * 16kB open_sync write   1000.000 ops/sec    1000 usecs/op') AS i \gset
SELECT alike(sync_probe.pg_test_fsync_report(:imported), '% 1 * 16kB open_sync write % 1000.000 %',
             'output of pg_test_fsync is read and written');
SELECT throws_like($$SELECT FROM sync_probe.fleet_run('TABLE t', '{nowhere}')$$,
                   'server "nowhere" of postgres_fdw or dblink_fdw does not exist');
INSERT INTO sync_probe.workloads (workload, suite, script)
VALUES ('variables', 'mine', E'\\set known 1\nSELECT :known, :unknown');
SELECT throws_like($$SELECT sync_probe.pgbench('variables', duration => '1 s')$$,
                   'variable ":unknown" in the script of workload "variables" is not defined');
\else
SELECT skip('this server reads strings in one way only', 4);
\endif
\ir include/end.sql
