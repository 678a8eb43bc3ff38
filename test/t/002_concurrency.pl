# One probe at a time in the cluster, whatever database it is asked in; others
# see whose it is and how far, and nobody's advisory locks are disturbed.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeTest;

my $node = probe_cluster('concurrency');
sql($node, $_) for 'CREATE DATABASE other', "CREATE ROLE prober LOGIN SUPERUSER";
$node->safe_psql('other', 'CREATE EXTENSION pg_sync_probe');
add_tablespace($node, 'place');

# Keys that look like our own tag: the magic number is 0x73796e63.
my @user_locks = map { "pg_try_advisory_lock($_)" } '0', '1937337955', '1937337955::bigint << 32',
  '1937337955, 0', '0, 1937337955', '1937337955, 11', '1937337955, 12';
my $lock_all = 'SELECT ' . join ', ', @user_locks;
my ($got_all, $got_none) = map { join '|', ($_) x @user_locks } qw(t f);

# What must not run beside a probe.
my @excluded = (
	"SELECT FROM sync_probe.probe()",
	"SELECT FROM sync_probe.probe('place', 'pg_test_fsync', record => false)",
	"SELECT sync_probe.cleanup()", "SELECT FROM sync_probe.probe_all(duration => '20 ms')");

# Each probe that runs: database, arguments, location and suite to be shown.
my @first = (
	[ 'postgres', "'place', suite => 'wal'", 'place', 'wal' ],
	[ 'other', "'pg_wal', suite => 'pg_test_fsync'", 'pg_wal', 'pg_test_fsync' ],
);

sub test_exclusion
{
	my ($database, $arguments, $location, $suite) = @_;
	my $name = "$suite at $location in $database";
	my $user = session($node);
	my $holder = session($node, $database, 'prober');
	my $pid = $holder->{pid};
	my $shown = "$pid|$location|$suite";

	is($user->query($lock_all), $got_all, "$name: locks of a user before a probe");
	start_query($holder, "SELECT FROM sync_probe.probe($arguments, " . LONG_PROBE . ')');
	wait_phase($node, $holder, 'measuring');

	for my $asked_in ('postgres', 'other')
	{
		for my $sql (@excluded)
		{
			my ($status, $out, $err) = $node->psql($asked_in, "\\set VERBOSITY verbose\n$sql");
			my $what = "$name excludes $sql in $asked_in";
			isnt($status, 0, $what);
			like($err, qr/ERROR:  55P03: another probe is running in this cluster/, "$what: 55P03");
			like($err, qr/DETAIL:  Process $pid has been probing location "$location" since /,
				"$what: whose");
			like($err, qr/HINT:  .*sync_probe\.running.*pg_cancel_backend/, "$what: what to do");
		}
		is($node->safe_psql($asked_in,
			<<'SQL'), "$shown|measuring|t", "$name is shown in $asked_in");
SELECT pid, location, suite, phase,
       started_at BETWEEN now() - interval '10 min' AND now() AND percent_done BETWEEN 0 AND 100
FROM sync_probe.running
SQL
	}

	my $done = sql($node, 'SELECT percent_done FROM sync_probe.running');
	ok($node->poll_query_until('other', "SELECT percent_done > $done FROM sync_probe.running"),
		"$name: it makes progress");
	is(sql($node, <<'SQL'), "0", "$name: of its locks none is a user's");
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = 0 AND objsubid IN (1, 2)
SQL
	is(sql($node, $lock_all), $got_none, "$name: they are still the user's");
	$user->query('SELECT pg_advisory_unlock_all()');
	is($user->query($lock_all), $got_all, "$name: and beside a probe");

	like(end_probe($node, $holder), qr/canceling statement due to user request/,
		"$name: is cancelled");
	$user->quit;
	is(leftovers($node), '', "$name: nothing is left");
	works_ok($node, "after $name", "'$location'");
	return;
}

test_exclusion(@$_) for @first;

# --- a probe ends with its call, not with its transaction

my $session = session($node);
query($session, "BEGIN; SELECT FROM sync_probe.probe(duration => '20 ms')");
works_ok($node, 'in an open transaction that has probed', "'pg_wal'");
query($session, "SELECT FROM sync_probe.probe('place', duration => '20 ms')");
works_ok($node, 'in one that has probed twice', "'pg_wal'");
my ($out, $err) = query($session, 'COMMIT');
is($err, '', 'which commits');
is(sql($node, 'SELECT array_agg(location ORDER BY run_id) FROM sync_probe.runs'),
	'{pg_wal,place}', 'and has recorded both');
$session->quit;

# --- probe_all is a probe like any other

$session = session($node);
start_query($session, "SELECT FROM sync_probe.probe_all(duration => '300 s')");
wait_phase($node, $session, 'measuring');
fails_ok($node, 'beside probe_all()', 'SELECT FROM sync_probe.probe()', '55P03',
	qr/Process $session->{pid} /);
like(end_probe($node, $session), qr/canceling statement due to user request/,
	'probe_all() is cancelled as a whole');
is(leftovers($node), '', 'probe_all(): nothing is left');

# --- a cleanup is no probe
#
# It waits, for the lock of a catalog that it reads where a schema is called like
# those of workloads: as long as all these statements take.

sql($node, 'CREATE SCHEMA sync_probe_workload_00000001');
my $blocker = session($node);
query($blocker, 'BEGIN; LOCK TABLE pg_catalog.pg_description');
$session = session($node);
query($session, "SET lock_timeout = '10min'");
start_query($session, 'SELECT sync_probe.cleanup()');
wait_phase($node, $session, 'cleaning up');
for my $sql (@excluded)
{
	my $beside = fails_ok($node, "beside cleanup(), $sql", $sql, '55P03',
		qr/a cleanup is running in this cluster/,
		qr/DETAIL:  Process $session->{pid} has been cleaning up since \d/,
			qr/HINT:  .*pg_cancel_backend/);
	unlike($beside, qr/probing|another probe/, "beside cleanup(), $sql: it is not called a probe");
}
query($blocker, 'ROLLBACK');
$blocker->quit;
is((finish_query($session))[0], "0\n", 'cleanup() goes on');
$session->quit;
sql($node, 'DROP SCHEMA sync_probe_workload_00000001');

# --- DROP EXTENSION
#
# A probe has then read a table, and needs others for its record.

my $dropped = qr/ERROR:  canceling statement because the extension is being dropped$/m;
my $long = "duration => '300 s'";
for (
	[ 'a probe', "SELECT FROM sync_probe.probe($long, stop_early => false)" ],
	[ 'the commit suite',
		"SELECT FROM sync_probe.probe('pg_wal', 'commit', $long, stop_early => false)" ],
	[ 'a trial', "CALL sync_probe.trial('commit_delay', '{50}', $long)" ])
{
	my ($what, $call) = @$_;
	$session = session($node, 'other');
	start_query($session, $call);
	wait_phase($node, $session, 'measuring');
	is(($node->psql('other', 'DROP EXTENSION pg_sync_probe'))[0], 0, "DROP EXTENSION during $what");
	like((finish_query($session))[1], $dropped, "it cancels $what");
	nothing_left($node, "DROP EXTENSION during $what");
	query($session, 'CREATE EXTENSION pg_sync_probe');
	$session->quit;
}
$session = session($node, 'other');
query($session, 'BEGIN; DROP EXTENSION pg_sync_probe');
like(($node->psql('other', 'SELECT sync_probe.cleanup()'))[2], $dropped,
	'before the commit of DROP EXTENSION: nothing begins');
query($session, 'ROLLBACK');
$session->quit;

$session = start_probe($node, LONG_PROBE);
$node->safe_psql('other', 'DROP EXTENSION pg_sync_probe; CREATE EXTENSION pg_sync_probe');
like(end_probe($node, $session), qr/canceling statement due to user request/,
	'DROP EXTENSION in another database: the probe goes on');

end_tests($node);
