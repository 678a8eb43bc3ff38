# On a hot standby, and in a read-only transaction, everything is measured and
# nothing is recorded; what the primary records arrives on the standby.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeTest;

# files of a stream are not larger than its limit
my $primary = probe_cluster('primary', allows_streaming => 1,
	conf => "pg_sync_probe.max_stream_write = '8MB'");
my $standby = add_standby($primary, 'standby');

# How a server answers that cannot record: the statement, where, and why.
my @cases = (
	[ 'standby', $standby, '', 'this server is a standby' ],
	[ 'read-only transaction', $primary, 'BEGIN; SET TRANSACTION READ ONLY;',
		'the transaction is read-only' ],
);
my @probes = map { "sync_probe.probe($_, duration => '200 ms')" } "'pg_wal'",
  "'pg_default', 'pg_test_fsync'", "'pg_default', 'stream'", "'pg_wal', 'segments'";

for (@cases)
{
	my ($where, $node, $before, $why) = @$_;
	for my $call (@probes)
	{
		my ($status, $out, $err) = $node->psql('postgres',
			"$before SELECT count(*) > 0, bool_and(run_id IS NULL), bool_or(ops > 0) FROM $call");
		is($out, 't|t|t', "$where: $call measures, without a run") or diag($err);
		like($err, qr/NOTICE:  nothing was recorded: \Q$why\E$/m, "$where: $call says why");
	}
	my ($status, $out, $err) = $node->psql('postgres',
		"$before SELECT bool_or(recommended_method IS NOT NULL AND verdict <> 'not probed')"
		  . " FROM sync_probe.probe_all(duration => '200 ms')");
	is($out, 't', "$where: probe_all() recommends");
	like($err, qr/NOTICE:  nothing was recorded: \Q$why\E$/m, "$where: probe_all() says why");
	unlike(messages($node,
			"$before SELECT FROM sync_probe.probe(duration => '20 ms', record => false)"),
		qr/nothing was recorded/, "$where: nothing is said when nothing is to be recorded");
	fails_ok($node, "$where: an import", $before . <<'SQL', '25006', qr/cannot execute INSERT/);
SELECT FROM sync_probe.import_pg_test_fsync(
    E'Compare file sync methods using one 8kB write:\nfsync 1.500 ops/sec\n')
SQL
	is(sql($node, 'SELECT count(*) FROM sync_probe.runs'), 0, "$where: there is no run");
	is(leftovers($node), '', "$where: nothing is left");
}

# --- one at a time, there too; but each server for itself

my $session = start_probe($standby, "'pg_wal', " . LONG_PROBE);
is(sql($standby, 'SELECT pid, location, phase FROM sync_probe.running'),
	"$session->{pid}|pg_wal|measuring", 'standby: a probe is seen');
fails_ok($standby, "standby: $_", $_, '55P03',
	qr/Process $session->{pid} has been probing location "pg_wal"/)
  for 'SELECT FROM sync_probe.probe()', 'SELECT FROM sync_probe.probe_all()',
  	'SELECT sync_probe.cleanup()';
is(sql($primary, 'SELECT count(*) FROM sync_probe.running'), 0, 'primary: it is not seen');
works_ok($primary, 'primary', "'pg_wal'");
like(end_probe($standby, $session), qr/canceling statement due to user request/,
	'standby: a probe is cancelled');
is(leftovers($standby), '', 'standby: nothing is left of it');

append_to_file($standby->data_dir . '/pg_wal/xlogtemp.999999.sync_probe.0', 'left');
is(sql($standby, 'SELECT sync_probe.cleanup()'), 1, 'standby: cleanup() works');

# --- the history of the primary

is(sql($primary, <<'SQL'), 't', 'primary: a run is recorded');
SELECT bool_and(run_id = 1) FROM sync_probe.probe(duration => '200 ms', label => 'of the primary')
SQL
sql($primary, "SELECT FROM sync_probe.probe('pg_default', 'stream', duration => '50 ms')");
let_runs_count($primary);
$primary->wait_for_catchup($standby);
for my $relation (qw(runs measurements stream_seconds latency_histogram))
{
	my $sql = "SELECT count(*) || ' ' || md5(string_agg(r::text, '' ORDER BY r::text))"
		  . " FROM sync_probe.$relation r";
	my $there = sql($primary, $sql);
	like($there, qr/^[1-9]/, "primary: $relation has rows");
	is(sql($standby, $sql), $there, "standby: $relation has them too");
}
unlike(sql($primary, "SELECT verdict FROM sync_probe.recommendations WHERE location = 'pg_wal'"),
	qr/not probed/, 'primary: its run is the base of advice');
like(sql($standby, 'SELECT sync_probe.report_html()'),
	qr/<h1>pg_wal has not been probed.*run 1 does not count: its directory was/s,
	'standby: a report is about the standby, not about its primary');
unlike(sql($standby, <<'SQL'),
SELECT sync_probe.report_html(ARRAY[max(run_id)]) FROM sync_probe.runs WHERE suite = 'wal';
SQL
	qr/<pre>/, 'standby: from a run of the primary no command follows');
is(sql($standby, "SELECT verdict FROM sync_probe.recommendations WHERE location = 'pg_wal'"),
	'not probed', 'standby: the run of the primary is not');
like(sql($standby, "SELECT message FROM sync_probe.findings"
	  . " WHERE code = 'run_passed_over' AND location = 'pg_wal'"),
	qr/^run 1 is the newest of pg_wal, but no advice rests on it: its directory was \S+$/,
		'standby: a finding says why');
is(sql($standby,
	"SELECT count(*) > 1, bool_or(name = 'pg_wal') FROM sync_probe.locations"),
	't|t', 'standby: locations answers');

# --- a document of runs: every server exports it, none imports it where nothing can be written

is(sql($standby, 'SELECT count(*) FROM sync_probe.history()'), 1,
	'standby: it shows the history of its primary');
my $document = sql($standby, "SELECT sync_probe.export_json('{1}')");
fails_ok($_->[1], "$_->[0]: import_json()",
	"$_->[2] SELECT sync_probe.import_json(\$json\$$document\$json\$)", '25006',
	qr/cannot execute nextval/) for @cases;

# --- a standby that is promoted while it is probed

$session = start_probe($standby, "'pg_wal', duration => '300 s', stop_early => false");
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
like(end_probe($standby, $session), qr/canceling statement due to user request/,
	'promoted: the probe went on');
is(sql($standby, <<'SQL'), 't', 'promoted: a run is recorded');
SELECT bool_and(run_id > 1) FROM sync_probe.probe(duration => '20 ms')
SQL
is(leftovers($standby), '', 'promoted: nothing is left');

end_tests($standby, $primary);
