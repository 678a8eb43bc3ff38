# On a hot standby, and in a read-only transaction, everything is measured and
# nothing is recorded; what the primary records arrives on the standby.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;

# files of a stream are not larger than its limit
my $primary = probe_cluster('primary', allows_streaming => 1,
	conf => "pg_sync_probe.max_stream_write = '8MB'");
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;

# How a server answers that cannot record: the statement, where, and why.
my @cases = (
	[ 'standby', $standby, '', 'this server is a standby' ],
	[ 'read-only transaction', $primary, 'SET default_transaction_read_only = on;',
		'the transaction is read-only' ],
	[ 'transaction made read-only', $primary, 'BEGIN; SET TRANSACTION READ ONLY;',
		'the transaction is read-only' ],
);
my @probes = (
	[ "sync_probe.probe('pg_wal', duration => '200 ms')", 'ops > 0' ],
	[ "sync_probe.probe('pg_default', 'pg_test_fsync', duration => '200 ms')", 'ops > 0' ],
	[ "sync_probe.probe('pg_default', 'stream', duration => '200 ms')", 'ops > 0' ],
	[ "sync_probe.probe('pg_wal', 'segments', duration => '200 ms')", 'ops > 0' ],
);

for (@cases)
{
	my ($where, $node, $before, $why) = @$_;
	for (@probes)
	{
		my ($call, $measured) = @$_;
		my ($status, $out, $err) = $node->psql('postgres',
			"$before SELECT count(*) > 0, bool_and(run_id IS NULL), bool_or($measured) FROM $call");
		is($out, 't|t|t', "$where: $call measures, without a run") or diag($err);
		like($err, qr/NOTICE:  nothing was recorded: \Q$why\E$/m, "$where: $call says why");
	}
	my ($status, $out, $err) = $node->psql('postgres',
		"$before SELECT bool_or(recommended_method IS NOT NULL AND verdict <> 'not probed')"
			  . " FROM sync_probe.probe_all(duration => '200 ms')");
	is($out, 't', "$where: probe_all() recommends");
	like($err, qr/NOTICE:  nothing was recorded: \Q$why\E$/m, "$where: probe_all() says why");
	($status, $out, $err) = $node->psql('postgres',
		"$before SELECT FROM sync_probe.probe(duration => '20 ms', record => false)");
	unlike($err, qr/nothing was recorded/, "$where: nothing is said when nothing is to be recorded");
	fails_ok($node, "$where: an import", $before . <<'SQL', '25006', qr/cannot execute INSERT/);
SELECT FROM sync_probe.import_pg_test_fsync(
    E'Compare file sync methods using one 8kB write:\nfsync 1.500 ops/sec\n')
SQL
	is($node->safe_psql('postgres', 'SELECT count(*) FROM sync_probe.runs'), 0,
		"$where: there is no run");
	is(leftovers($node), '', "$where: nothing is left");
}

# --- one at a time, there too; but each server for itself

my $session = start_probe($standby, "'pg_wal', " . LONG_PROBE);
is($standby->safe_psql('postgres', 'SELECT pid, location, phase FROM sync_probe.running'),
	"$session->{pid}|pg_wal|measuring", 'standby: a probe is seen');
fails_ok($standby, "standby: $_", $_, '55P03',
	qr/Process $session->{pid} has been probing location "pg_wal"/)
  for 'SELECT FROM sync_probe.probe()', 'SELECT FROM sync_probe.probe_all()',
  	'SELECT sync_probe.cleanup()';
is($primary->safe_psql('postgres', 'SELECT count(*) FROM sync_probe.running'), 0,
	'primary: it is not seen');
works_ok($primary, 'primary', "'pg_wal'");
like(end_probe($standby, $session), qr/canceling statement due to user request/,
	'standby: a probe is cancelled');
is(leftovers($standby), '', 'standby: nothing is left of it');

append_to_file($standby->data_dir . '/pg_wal/xlogtemp.999999.sync_probe.0', 'left');
is($standby->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), 1, 'standby: cleanup() works');

# --- the history of the primary

is($primary->safe_psql('postgres', <<'SQL'), 't', 'primary: a run is recorded');
SET client_min_messages = warning;
SELECT bool_and(run_id = 1) FROM sync_probe.probe(duration => '200 ms', label => 'of the primary')
SQL
$primary->safe_psql('postgres', "SELECT FROM sync_probe.probe('pg_default', 'stream', duration => '50 ms')");
let_runs_count($primary);
$primary->wait_for_catchup($standby);
for my $relation (qw(runs measurements samples stream_seconds latency_histogram))
{
	my $sql = "SELECT count(*) || ' ' || md5(string_agg(r::text, '' ORDER BY r::text))"
		  . " FROM sync_probe.$relation r";
	my $there = $primary->safe_psql('postgres', $sql);
	like($there, qr/^[1-9]/, "primary: $relation has rows");
	is($standby->safe_psql('postgres', $sql), $there, "standby: $relation has them too");
}
unlike($primary->safe_psql('postgres',
	"SELECT verdict FROM sync_probe.recommendations WHERE location = 'pg_wal'"),
	qr/not probed/, 'primary: its run is the base of advice');
like($standby->safe_psql('postgres', 'SELECT sync_probe.report_html()'),
	qr/<h1>pg_wal has not been probed.*run 1 does not count: its directory was/s,
	'standby: a report is about the standby, not about its primary');
unlike($standby->safe_psql('postgres', <<'SQL'),
SELECT sync_probe.report_html(ARRAY[max(run_id)]) FROM sync_probe.runs WHERE suite = 'wal';
SQL
	qr/<pre>/, 'standby: from a run of the primary no command follows');
is($standby->safe_psql('postgres',
	"SELECT verdict FROM sync_probe.recommendations WHERE location = 'pg_wal'"),
	'not probed', 'standby: the run of the primary is not');
like($standby->safe_psql('postgres',
	"SELECT message FROM sync_probe.findings"
	  . " WHERE code = 'run_passed_over' AND location = 'pg_wal'"),
	qr/^run 1 is the newest of pg_wal, but no advice rests on it: its directory was \S+$/,
		'standby: a finding says why');
is($standby->safe_psql('postgres',
	"SELECT count(*) > 1, bool_or(name = 'pg_wal' AND holds_wal) FROM sync_probe.locations"),
	't|t', 'standby: locations answers');

# --- a standby that is promoted while it is probed

$session = start_probe($standby, "'pg_wal', duration => '300 s', stop_early => false");
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
like(end_probe($standby, $session), qr/canceling statement due to user request/,
	'promoted: the probe went on');
is($standby->safe_psql('postgres', <<'SQL'), 't', 'promoted: a run is recorded');
SET client_min_messages = warning;
SELECT bool_and(run_id > 1) FROM sync_probe.probe(duration => '20 ms')
SQL
is(leftovers($standby), '', 'promoted: nothing is left');

$_->stop, log_ok($_) for $standby, $primary;
done_testing();
