\set ECHO none
-- What is kept of a probe, and what the views make of it.
\a \t on
SET client_min_messages = warning;
\set SHOW_CONTEXT never

SELECT count(DISTINCT run_id) AS runs, count(*) FILTER (WHERE run_id IS NULL) AS without_run
FROM sync_probe.probe(duration => '400 ms', flush_size => 5000, flush_interval => '3 ms',
                      label => 'wal, by hand');

SELECT label, location, suite, finished_at > started_at AS took_time,
       directory IS NOT NULL AS directory, filesystem IS NOT NULL AS filesystem,
       server_version_num = current_setting('server_version_num')::integer AS version,
       wal_sync_method = current_setting('wal_sync_method') AS method, flush_size, flush_interval,
       system_identifier = (SELECT system_identifier FROM pg_control_system()) AS cluster,
       host <> '' AS host, usable_for_advice,
       coalesce(recommended_value <> '', verdict = 'unsafe') AS recommended,
       (durable = 'no') = (verdict = 'unsafe') AS unsafe,
       jsonb_typeof(storage -> 'disks') AS disks,
       storage ->> 'mount_options' IS NOT DISTINCT FROM
           (SELECT mount_options FROM sync_probe.locations WHERE name = 'pg_wal') AS mount_options,
       storage ->> 'kernel' ~ '^[[:alnum:]_]+ [[:digit:]]' AS kernel
FROM sync_probe.runs;

\echo -- without arguments the pace of this cluster is taken, within its bounds
SELECT count(*) > 0 AS probed FROM sync_probe.probe(duration => '50 ms', label => 'own pace');
SELECT flush_size BETWEEN 1 AND 16777216 AS size, flush_interval BETWEEN '0.5 ms' AND '5 ms' AS pace
FROM sync_probe.runs WHERE label = 'own pace';

\echo -- rounds and buckets add up
SELECT bool_and(m.ops = (SELECT sum(o) FROM unnest(s.bucket_ops) o)) AS buckets,
       bool_and(cardinality(s.bucket_lower_us) = cardinality(s.bucket_ops)) AS bounds,
       bool_and(cardinality(s.round_mean_us) > 0) FILTER (WHERE test = 'saturated') AS rounds,
       count(s.control_round_mean_us) AS controls
FROM sync_probe.runs r
JOIN sync_probe.measurements m USING (run_id)
JOIN sync_probe_internal.samples s USING (run_id, ordinal)
WHERE r.label = 'wal, by hand';

\echo -- no operation without samples, no samples without an operation
SELECT count(*)
FROM sync_probe.measurements m LEFT JOIN sync_probe_internal.samples s USING (run_id, ordinal)
WHERE (m.ops > 0) <> (s.run_id IS NOT NULL);

\echo -- the current method is marked once in each regime
SELECT m.test, count(*) FILTER (WHERE m.choice = 'current') AS current,
       bool_and(m.choice IS DISTINCT FROM 'current' OR m.method = r.wal_sync_method) AS it_is,
       count(*) FILTER (WHERE m.choice = 'recommended') <= 1 AS recommended
FROM sync_probe.runs r JOIN sync_probe.measurements m USING (run_id)
WHERE r.label = 'wal, by hand' AND NOT m.direct_io GROUP BY m.test ORDER BY m.test;

\echo -- in the test that decides, it has the verdict
SELECT count(*) AS rows, bool_and(m.choice = 'current' AND m.verdict = r.verdict) AS of_the_run
FROM sync_probe.runs r JOIN sync_probe.measurements m USING (run_id)
WHERE r.label = 'wal, by hand' AND m.verdict IS NOT NULL;

UPDATE sync_probe.runs SET usable_for_advice = true
WHERE label = 'wal, by hand';
SELECT coalesce(flush_us > 0, recommended_method IS NULL) AS flush
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';

\echo -- a run stores what earlier ones of the same kind measured
SELECT count(*) > 0 AS probed
FROM sync_probe.probe(duration => '20 ms', flush_size => 5000, flush_interval => '3 ms',
                      label => 'next');
SELECT label, storage #> '{earlier,runs}' AS runs,
       (storage #>> '{earlier,median_us}')::float8 = (
           SELECT m.p50_us
           FROM sync_probe.measurements AS m JOIN sync_probe.runs AS o USING (run_id)
           WHERE o.label = 'wal, by hand' AND m.test = 'paced' AND m.choice = 'current') AS median
FROM sync_probe.runs AS r WHERE flush_size = 5000 ORDER BY run_id;

\echo -- all file systems at once
-- one without room for a probe is a warning, of which this test says nothing
SET client_min_messages = error;
SELECT count(*) FILTER (WHERE location = 'pg_wal') AS pg_wal,
       count(*) - count(DISTINCT coalesce(l.shares_filesystem_with, l.name))
           AS twice_on_a_filesystem,
       bool_and(verdict IN ('switch', 'keep', 'undecided', 'unsafe')) AS verdicts
FROM sync_probe.probe_all(duration => '100 ms', label => 'all') AS a
JOIN sync_probe.locations AS l ON l.name = a.location;
SET client_min_messages = warning;

\echo -- the report is read as that of the tool
SELECT max(run_id) AS tool
FROM sync_probe.probe('regress_sync_probe', 'pg_test_fsync', duration => '400 ms') \gset
SELECT test_cases
FROM sync_probe.import_pg_test_fsync(sync_probe.pg_test_fsync_report(:tool));

\echo -- a wal run has no such report
INSERT INTO sync_probe.runs (run_id, suite) OVERRIDING SYSTEM VALUE VALUES (0, 'wal');
SELECT sync_probe.pg_test_fsync_report(0);
DELETE FROM sync_probe.runs WHERE run_id = 0;

\echo -- nothing is recorded on request; 003_standby.pl has servers that cannot
SELECT count(*) AS n FROM sync_probe.runs \gset
SELECT count(*) > 0 AS rows_come_back, count(run_id) AS recorded
FROM sync_probe.probe(duration => '20 ms', record => false);
BEGIN READ ONLY;
\echo -- a run that is not kept, for the advice on it
SELECT (run).run_id IS NULL AS not_kept, jsonb_typeof((run).storage #> '{disks}') AS disks
FROM sync_probe_internal.probe_run('pg_wal', 'wal', duration => '20 ms') LIMIT 1;
COMMIT;
SELECT count(*) - :n AS recorded FROM sync_probe.runs;

\echo -- a rule of a user that does something else
CREATE RULE nothing AS ON INSERT TO sync_probe.runs DO INSTEAD NOTHING;
\set VERBOSITY sqlstate
SELECT FROM sync_probe.probe(duration => '20 ms');
\set VERBOSITY default
DROP RULE nothing ON sync_probe.runs;

\echo -- no advice rests on an interval that was given
SELECT count(*) > 0 AS probed
FROM sync_probe.probe(duration => '1 s', flush_interval => '1 ms', label => 'interval');
SELECT usable_for_advice FROM sync_probe.runs WHERE label = 'interval';

DELETE FROM sync_probe.runs;

\echo -- a column that a user adds gets its default; one that a user has dropped does no harm
ALTER TABLE sync_probe.runs ADD site text NOT NULL DEFAULT 'lab';
ALTER TABLE sync_probe.workload_results ADD site text NOT NULL DEFAULT 'lab';
SELECT count(run_id) > 0 AS recorded FROM sync_probe.probe(duration => '20 ms');
SELECT transactions FROM sync_probe.pgbench('upsert', clients => 1, transactions => 1, rows => 1);
SELECT r.site AS of_run, w.site AS of_workload
FROM sync_probe.runs AS r, sync_probe.workload_results AS w;
ALTER TABLE sync_probe.runs DROP site;
ALTER TABLE sync_probe.workload_results DROP site;
SELECT count(run_id) > 0 AS recorded FROM sync_probe.probe(duration => '20 ms');
DELETE FROM sync_probe.runs;
DELETE FROM sync_probe.workload_results;

\echo -- findings read a history with a run that has no location
INSERT INTO sync_probe.runs (suite) VALUES ('wal');
DO 'BEGIN PERFORM FROM sync_probe.findings; END';
DELETE FROM sync_probe.runs;
