--
-- What is kept of a probe, and what the views make of it.
--
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SELECT count(*) AS runs_before FROM sync_probe.runs;

SELECT count(DISTINCT run_id) AS runs, count(*) FILTER (WHERE run_id IS NULL) AS without_run
FROM sync_probe.probe(duration => '400 ms', flush_size => 5000, flush_interval => '3 ms', label => 'wal, by hand');

SELECT source, label, location, suite, finished_at > started_at AS took_time,
       directory IS NOT NULL AS directory, filesystem IS NOT NULL AS filesystem,
       server_version_num = current_setting('server_version_num')::integer AS version,
       wal_sync_method = current_setting('wal_sync_method') AS method,
       wal_level = current_setting('wal_level') AS wal_level,
       flush_size, flush_size_source, flush_interval, flush_interval_source,
       duration BETWEEN '1 ms' AND '5 s' AS duration, rounds > 0 AS rounds, random_seed <> 0 AS seed,
       jsonb_typeof(storage -> 'disks') AS disks,
       storage ->> 'mount_options' IS NOT DISTINCT FROM
           (SELECT mount_options FROM sync_probe.locations WHERE name = 'pg_wal') AS mount_options
FROM sync_probe.runs;

-- without arguments the cluster's own pace is taken, within its bounds
SELECT count(*) > 0 AS probed FROM sync_probe.probe(duration => '50 ms', label => 'own pace');
SELECT flush_size BETWEEN 1 AND 16777216 AS size,
       flush_interval BETWEEN '0.5 ms' AND '5 ms' AS pace,
       flush_size_source IN ('default', 'pg_stat_wal', 'pg_stat_io') AS source,
       flush_size_source = flush_interval_source AS same_source
FROM sync_probe.runs WHERE label = 'own pace';

-- rounds and buckets add up
SELECT bool_and(m.ops = (SELECT sum(o) FROM unnest(s.bucket_ops) o)) AS buckets,
       bool_and(cardinality(s.bucket_lower_us) = cardinality(s.bucket_ops)) AS bounds,
       bool_and(cardinality(s.round_mean_us) > 0) AS rounds,
       count(s.control_round_mean_us) AS controls
FROM sync_probe.runs r JOIN sync_probe.measurements m USING (run_id) JOIN sync_probe.samples s USING (run_id, ordinal)
WHERE r.label = 'wal, by hand';

-- no operation without samples, no samples without an operation
SELECT count(*) FROM sync_probe.measurements m LEFT JOIN sync_probe.samples s USING (run_id, ordinal)
WHERE (m.ops > 0) <> (s.run_id IS NOT NULL);

-- the histogram has every operation, in buckets that do not overlap
SELECT bool_and(h.ops = m.ops) AS complete, bool_and(abs(h.fraction - 1) < 0.01) AS fractions, bool_and(h.apart) AS apart,
       bool_and(h.bar) AS bars
FROM sync_probe.measurements m
JOIN (SELECT run_id, ordinal, sum(ops) AS ops, sum(fraction) AS fraction, bool_and(apart) AS apart,
             bool_or(length(bar) = 50) AS bar
      FROM (SELECT *, coalesce(lower_us >= lag(upper_us) OVER (PARTITION BY run_id, ordinal ORDER BY lower_us), true)
                      AND upper_us > lower_us AS apart
            FROM sync_probe.latency_histogram) b
      GROUP BY run_id, ordinal) h USING (run_id, ordinal);

-- one recommendation for each location that was probed, from its newest run
SELECT location, holds_wal,
       run_id = (SELECT max(run_id) FROM sync_probe.runs WHERE location = 'pg_wal') AS newest,
       current_method = current_setting('wal_sync_method') AS current,
       verdict IN ('switch', 'keep', 'tie', 'undecided', 'unsafe') AS known_verdict,
       coalesce(recommended_method <> '', verdict = 'unsafe') AS recommended,
       coalesce(flush_us > 0, recommended_method IS NULL) AS flush,
       coalesce(recommended_commit_delay > 0, recommended_method IS NULL) AS commit_delay,
       durable IN ('yes', 'no', 'unknown') AS durable, (durable = 'no') = (verdict = 'unsafe') AS unsafe,
       length(reason) > 10 AS reason,
       (command IS NOT NULL) = (verdict IN ('switch', 'unsafe') AND recommended_method IS NOT NULL) AS command
FROM sync_probe.recommendations;

-- what there is to know of this machine, whatever that is
SELECT count(*) FILTER (WHERE severity NOT IN ('error', 'warning', 'info')) AS unknown_severity,
       count(*) FILTER (WHERE num_nulls(location, severity, code, message, hint, evidence) > 0) AS with_nulls,
       count(*) FILTER (WHERE length(message) < 20 OR length(hint) < 10) AS too_short,
       count(*) FILTER (WHERE jsonb_typeof(evidence) <> 'object') AS without_evidence,
       count(*) FILTER (WHERE location NOT IN (SELECT name FROM sync_probe.locations)) AS nowhere,
       count(*) - count(DISTINCT (location, code, message)) AS said_twice
FROM sync_probe.findings;
SELECT DISTINCT code FROM sync_probe.findings
WHERE code NOT IN ('fsync_off', 'flush_missing', 'barrier_off', 'write_cache_volatile', 'zfs_sync_disabled',
                   'zfs_log_on_main_pool', 'zfs_logbias_throughput', 'zfs_unknown', 'implausibly_fast',
                   'memory_filesystem', 'network_filesystem', 'overlay_filesystem', 'write_amplification',
                   'software_bound', 'cow_wal_settings', 'wal_shares_device', 'low_space', 'direct_io_refused',
                   'slow_tail', 'drift', 'counters_shared', 'counters_unknown', 'loop_device', 'device_unknown');
-- counters were read, or a finding says why not
SELECT count(*) AS unexplained
FROM sync_probe.recommendations JOIN sync_probe.runs AS r USING (run_id) JOIN sync_probe.measurements AS m USING (run_id)
WHERE m.ops > 0 AND m.method = r.wal_sync_method AND m.device_writes_per_op IS NULL
  AND NOT EXISTS (SELECT FROM sync_probe.findings AS f
                  WHERE f.location = r.location AND f.code IN ('counters_unknown', 'memory_filesystem', 'zfs_sync_disabled'));

-- all file systems at once
SELECT count(*) = (SELECT count(*) FROM sync_probe.locations WHERE shares_filesystem_with IS NULL) AS each_filesystem_once
FROM sync_probe.probe_all(duration => '100 ms', label => 'all');
SELECT count(*) = (SELECT count(*) FROM sync_probe.locations WHERE shares_filesystem_with IS NULL) AS recorded
FROM sync_probe.runs WHERE label = 'all' AND suite = 'wal';

-- the report looks like the tool's
SELECT DISTINCT run_id IS NOT NULL AS recorded
FROM sync_probe.probe('regress_sync_probe', 'pg_test_fsync', duration => '400 ms', label => 'tool');
SELECT regexp_replace(regexp_replace(line, ' +\d+\.\d+ ops/sec +\d+ usecs/op', ' N ops/sec M usecs/op'),
                      'n/a\*?$|^[\d.]+(?= seconds)', 'X') AS report
FROM sync_probe.runs,
     regexp_split_to_table(sync_probe.pg_test_fsync_report(run_id), '\n') WITH ORDINALITY AS l (line, n)
WHERE label = 'tool' AND line !~ '^\*' AND line !~ 'open_(data)?sync '
ORDER BY n;

-- a wal run has no such report
SELECT sync_probe.pg_test_fsync_report((SELECT min(run_id) FROM sync_probe.runs WHERE suite = 'wal')) IS NULL AS report \gset
SELECT regexp_replace(message, '\d+', 'N') AS message FROM (VALUES (:'LAST_ERROR_MESSAGE')) e (message);

-- nothing is recorded on request, and nothing can be in a read-only transaction
SELECT count(*) AS n FROM sync_probe.runs \gset
SELECT count(*) > 0 AS rows_come_back, count(run_id) AS recorded FROM sync_probe.probe(duration => '20 ms', record => false);
BEGIN READ ONLY;
SELECT count(*) > 0 AS rows_come_back, count(run_id) AS recorded FROM sync_probe.probe(duration => '20 ms');
SELECT bool_and(durable IN ('yes', 'no', 'unknown')) AS durable, count(run_id) AS recorded FROM sync_probe.probe_all(duration => '20 ms');
-- what lay under a run that is not kept, for the advice on it
SELECT jsonb_typeof(sync_probe._last_storage()::jsonb -> 'disks') AS disks;
COMMIT;
SELECT count(*) - :n AS recorded FROM sync_probe.runs;

-- deleting a run deletes all of it
DELETE FROM sync_probe.runs;
SELECT count(*) FROM sync_probe.measurements;
SELECT count(*) FROM sync_probe.samples;
SELECT count(*) FROM sync_probe.recommendations;
