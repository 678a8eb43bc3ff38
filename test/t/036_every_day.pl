# The jobs of doc/every-day.md, run by a real pg_cron: one minute is its smallest interval.

use SyncProbeTest;

my $conf = cron_conf() or plan skip_all => 'pg_cron is not installed';
my $node = probe_cluster('every_day', conf => $conf);

# As on the page, but each minute, and with a shorter probe.
sql($node, slurp_file(source_directory() . '/doc/every-day.md') =~ /^```sql\n(.*?)^```/ms);
sql($node, <<'SQL');
SELECT sync_probe.commit_waits('100 ms');
UPDATE sync_probe.commit_wait_results SET duration = '30 s';
INSERT INTO sync_probe.runs (suite, imported_at)
SELECT 'wal', '2001-01-01' FROM generate_series(1, 11);
SELECT cron.alter_job(jobid, '* * * * *', replace(replace(command, '2 min', '2 s'), '0.05', '0.5'))
FROM cron.job;
SQL
my $jobs = sql($node, 'SELECT count(*) FROM cron.job');
ok($node->poll_query_until('postgres', "SELECT count(DISTINCT jobid) = $jobs"
	  . " FROM cron.job_run_details WHERE status IN ('succeeded', 'failed')"), 'each job ended');
is(sql($node, "SELECT return_message FROM cron.job_run_details WHERE status = 'failed'"),
	'', 'no job failed');
is(sql($node, <<'SQL'), 't|t|10', "$jobs jobs ran: samples, runs, and of old runs ten are left");
SELECT (SELECT sum(samples) > 1 FROM sync_probe.commit_wait_hours),
       count(*) FILTER (WHERE imported_at IS NULL) > 0, count(imported_at) FROM sync_probe.runs
SQL
sql($node, 'SELECT cron.unschedule(jobid) FROM cron.job');
nothing_left($node, 'jobs');

end_tests($node);
