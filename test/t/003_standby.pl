# On a hot standby, and in a read-only transaction, everything is measured and
# nothing is recorded; what the primary records arrives on the standby.

use SyncProbeTest;

# files of a stream are not larger than its limit
my $primary = probe_cluster('primary', allows_streaming => 1,
	conf => "pg_sync_probe.max_stream_write = '8MB'");
my $standby = add_standby($primary, 'standby');

# How a server answers that cannot record: where, the server, what precedes a call, why it cannot,
# why a workload is refused, and the calls.
for (
	[ 'standby', $standby, '', 'this server is a standby',
		qr/on a standby.*HINT:  sync_probe\.probe\(\) works on a standby, too/s, "'pg_wal'",
		"'pg_default', 'pg_test_fsync'", "'pg_default', 'stream'", "'pg_wal', 'segments'" ],
	[ 'read-only transaction', $primary, 'BEGIN READ ONLY;', 'the transaction is read-only',
		qr/in a read-only transaction/, "'pg_wal'" ])
{
	my ($where, $node, $before, $why, $refusal, @calls) = @$_;
	for my $call (@calls)
	{
		my ($status, $out, $err) = $node->psql('postgres', "$before SELECT count(*) > 0,"
			  . " bool_and(run_id IS NULL), bool_or(ops > 0) FROM sync_probe.probe($call,"
			  . " duration => '200 ms')");
		is($out, 't|t|t', "$where: probe($call) measures, without a run") or diag($err);
		like($err, qr/NOTICE:  nothing was recorded: \Q$why\E$/m, "$where: probe($call) says why");
	}
	is(sql($node, "$before SELECT bool_or(recommended_method IS NOT NULL AND verdict <>"
			  . " 'not probed') FROM sync_probe.probe_all(duration => '200 ms')"),
		't', "$where: probe_all() recommends");
	is(sql($node, "$before SELECT value > '0' FROM sync_probe.expect(duration => '200 ms')"
			  . " WHERE expectation = 'commits_per_sec'"),
		't', "$where: expect() has figures of its own probe");
	unlike(messages($node,
			"$before SELECT FROM sync_probe.probe(duration => '20 ms', record => false)"),
		qr/nothing was recorded/, "$where: nothing is said when nothing is to be recorded");
	fails_ok($node, "$where: a workload", "$before " . pgbench_sql(SMALL_RUN), '25006', $refusal);
	is(sql($node, 'SELECT count(*) FROM sync_probe.runs'), 0, "$where: there is no run");
	is(leftovers($node), '', "$where: nothing is left");
}

append_to_file($standby->data_dir . '/pg_wal/xlogtemp.999999.sync_probe.0', 'left');
is(sql($standby, 'SELECT sync_probe.cleanup()'), 1, 'standby: cleanup() works');

# --- the history of the primary is there, but no advice for the standby

sql($primary, "SELECT FROM sync_probe.probe(duration => '200 ms')");
let_runs_count($primary);
$primary->wait_for_catchup($standby);
is(sql($standby, 'SELECT count(*) FROM sync_probe.history()'), 1,
	'standby: it shows the history of its primary');
my $verdict = "SELECT verdict FROM sync_probe.recommendations WHERE location = 'pg_wal'";
unlike(sql($primary, $verdict), qr/not probed/, 'primary: its run is the base of advice');
is(sql($standby, $verdict), 'not probed', 'standby: the run of the primary is not');
like(sql($standby, "SELECT message FROM sync_probe.findings"
	  . " WHERE code = 'run_passed_over' AND location = 'pg_wal'"),
	qr/^run 1 is the newest of pg_wal, but no advice rests on it: its directory was \S+$/,
	'standby: a finding says why');
like(sql($standby, "SELECT sync_probe.export_json('{1}'), sync_probe.report_html()"),
	qr/^\{.*<h1>No probe of pg_wal counts/s, 'standby: it can export runs, and report');

end_tests($standby, $primary);
