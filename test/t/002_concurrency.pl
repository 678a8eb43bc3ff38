# One probe at a time in the cluster, whatever database it is asked in; others
# see whose it is and how far, and nobody's advisory locks are disturbed.

use SyncProbeTest;

my $node = probe_cluster('concurrency');
sql($node, 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION pg_sync_probe');
add_tablespace($node, 'place');

# What must not run beside a probe.
my @excluded = (
	"SELECT FROM sync_probe.probe()",
	"SELECT FROM sync_probe.probe('place', 'pg_test_fsync', record => false)",
	"SELECT sync_probe.cleanup()", "SELECT FROM sync_probe.probe_all(duration => '20 ms')");

# --- beside a probe in another database, here of probe_all()

# Locks of a user whose keys look like our own tag: the magic number is 0x73796e63.
my @user_locks = map { "pg_try_advisory_lock($_)" } '0', '1937337955', '1937337955::bigint << 32',
  '1937337955, 0', '0, 1937337955', '1937337955, 11', '1937337955, 12';
my $lock_all = 'SELECT ' . join ', ', @user_locks;
my $user = session($node);
like($user->query($lock_all), qr/^t(\|t){6}$/, 'a user gets its locks');

my $session = session($node, 'other');
start_query($session, "SELECT FROM sync_probe.probe_all(duration => '300 s')");
wait_phase($node, $session, 'measuring');
fails_ok($node, "beside a probe, $_", $_, '55P03', qr/a probe is running in this cluster/,
	qr/DETAIL:  Process $session->{pid} began it in location "pg_wal" at \d/,
	qr/HINT:  .*sync_probe\.running.*pg_cancel_backend/) for @excluded;
is(sql($node, <<'SQL'), "$session->{pid}|pg_wal|wal|measuring|t", 'it is shown');
SELECT pid, location, suite, phase,
       started_at BETWEEN now() - interval '10 min' AND now() AND percent_done BETWEEN 0 AND 100
FROM sync_probe.running
SQL
my $done = sql($node, 'SELECT percent_done FROM sync_probe.running');
ok($node->poll_query_until('postgres', "SELECT percent_done > $done FROM sync_probe.running"),
	'it makes progress');
is(sql($node, <<'SQL'), 0, 'of its locks none is a user\'s');
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = 0 AND objsubid IN (1, 2)
SQL
like(sql($node, $lock_all), qr/^f(\|f){6}$/, 'the locks of the user are still its own');
$user->quit;
like(end_probe($node, $session), qr/canceling statement due to user request/,
	'probe_all() is cancelled as a whole');
nothing_left($node, 'probe_all()');

# --- a probe ends with its call, not with its transaction

$session = session($node);
query($session, "BEGIN; SELECT FROM sync_probe.probe(duration => '20 ms')");
works_ok($node, 'in an open transaction that has probed', "'pg_wal'");
query($session, "SELECT FROM sync_probe.probe('place', duration => '20 ms')");
query($session, 'COMMIT');
is(sql($node, 'SELECT array_agg(location ORDER BY run_id) FROM sync_probe.runs'),
	'{pg_wal,place}', 'and has recorded both');
$session->quit;

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
fails_ok($node, "beside cleanup(), $_", $_, '55P03', qr/: a cleanup is running in this cluster/,
	qr/DETAIL:  Process $session->{pid} began it at \d/) for @excluded[ 0, 2 ];
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

# Everybody may lock the extension so.
sql($node, 'CREATE ROLE stranger LOGIN');
$session = $node->background_psql('other', extra_params => [qw(-U stranger)]);
query($session, 'CREATE FUNCTION pg_temp.f() RETURNS int RETURN 1; BEGIN;
	ALTER FUNCTION pg_temp.f() DEPENDS ON EXTENSION pg_sync_probe');
is(($node->psql('other', "SELECT FROM sync_probe.probe(duration => '1 s')"))[0], 0,
	'who may not drop the extension stops no probe');
$session->quit;

end_tests($node);
