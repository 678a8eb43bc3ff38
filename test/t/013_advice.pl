# Advice that is followed: commands are statements that a client can execute as they
# are, and what is recorded is the setting that holds, also right after a reload.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;
use Time::HiRes qw(sleep);

# Without replica, open_* would be O_DIRECT on 15, and record_switch() would have to know.
my $node = probe_cluster('advice', conf => "wal_sync_method = fsync\nwal_level = replica");

# A real run that recommends this method, by decree.
sub record_switch
{
	my ($method) = @_;
	$node->safe_psql('postgres', <<"SQL");
SET client_min_messages = warning;
SELECT FROM sync_probe.probe(duration => '100 ms');
UPDATE sync_probe.runs SET verdict = 'switch', recommended_value = '$method',
    best_value = '$method', durable = 'yes', reason = 'it is faster'
WHERE run_id = (SELECT max(run_id) FROM sync_probe.runs);
SQL
	let_runs_count($node);
	return;
}

sub advice
{
	return $node->safe_psql('postgres', <<'SQL');
SELECT verdict, current_method, recommended_method,
    coalesce(array_to_string(commands, '; '), 'nothing to do')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal'
SQL
}

my $follow = "SELECT unnest(commands) FROM sync_probe.recommendation_details"
	  . " WHERE location = 'pg_wal' \\gexec";

record_switch('fdatasync');
is(advice(), "switch|fsync|fdatasync|ALTER SYSTEM SET wal_sync_method = 'fdatasync'; SELECT"
	  . " pg_reload_conf()", 'a switch');
is($node->safe_psql('postgres', $follow), 't', 'psql executes the commands with \gexec');
ok($node->poll_query_until('postgres', "SELECT current_setting('wal_sync_method') = 'fdatasync'"),
	'and the server follows');
is(advice(), 'keep|fdatasync|fdatasync|nothing to do', 'what was followed is kept');
is($node->safe_psql('postgres',
	"SELECT reason FROM sync_probe.recommendation_details WHERE location = 'pg_wal'"),
	'chosen instead of fsync: it is faster', 'and said to be so');

# as a driver does: each element alone, in the extended protocol
$node->safe_psql('postgres', 'ALTER SYSTEM RESET wal_sync_method; SELECT pg_reload_conf()') =~ /t/
	or die;
ok($node->poll_query_until('postgres', "SELECT current_setting('wal_sync_method') = 'fsync'"),
	'once more');
for my $command (split /\n/, $node->safe_psql('postgres',
		"SELECT unnest(commands) FROM sync_probe.recommendation_details WHERE location = 'pg_wal'"))
{
	my ($status, $out, $err) = $node->psql('postgres', undef, extra_params => [ '-c', $command ]);
	is($status, 0, "psql -c '$command'") or diag($err);
}
ok($node->poll_query_until('postgres', "SELECT current_setting('wal_sync_method') = 'fdatasync'"),
	'the server follows');

# --- a change between methods that must not meet

# The server has what it was told, in its processes, not only in the file.
sub method_is
{
	my ($method) = @_;
	return $node->poll_query_until('postgres',
		"SELECT current_setting('wal_sync_method') = '$method'");
}

sub checkpoint
{
	return $node->safe_psql('postgres', 'SELECT checkpoint_lsn FROM pg_control_checkpoint()');
}

for my $change ([ 'fdatasync', 'open_sync' ], [ 'open_sync', 'fdatasync' ])
{
	my ($from, $to) = @$change;
	my $name = "from $from to $to";
	ok(method_is($from), "$name: at first");
	record_switch($to);
	is(advice(), "switch|$from|$to|ALTER SYSTEM SET wal_sync_method = '$to'; SELECT"
		  . ' pg_reload_conf(); CALL sync_probe.wait_for_reload(); CHECKPOINT', "$name: commands");
	is($node->safe_psql('postgres', <<'SQL'), "$from|$to|t", "$name: the finding says why");
SELECT f.evidence ->> 'method', f.evidence ->> 'recommended_method', f.commands = r.commands
FROM sync_probe.findings AS f JOIN sync_probe.recommendation_details AS r USING (location)
WHERE f.code = 'sync_method_change'
SQL

	# This statement keeps the old method until it ends, and another session waits for that.
	my $checkpoint = checkpoint();
	my $busy = session($node);
	start_query($busy, 'SELECT pg_sleep(4)');
	ok($node->poll_query_until('postgres',
		"SELECT state = 'active' FROM pg_stat_activity WHERE pid = $busy->{pid}"),
		"$name: a statement that began before");
	my ($status, $out, $err) = $node->psql('postgres',
		"$follow\nSELECT state FROM pg_stat_activity WHERE pid = $busy->{pid}");
	is($out, "t\nidle", "$name: it has ended when the commands are through");
	like($err, qr/NOTICE:.*waiting.*\nDETAIL:  Processes: $busy->{pid}\.$/, "$name: and was named");
	isnt(checkpoint(), $checkpoint, "$name: with a checkpoint");
	finish_query($busy);
	$busy->quit;
	ok(method_is($to), "$name: the server follows");
	is($node->safe_psql('postgres',
		"SELECT count(*) FROM sync_probe.findings WHERE code = 'sync_method_change'"),
		'0', "$name: nothing is left to say");
}

my ($status, $out, $err) = $node->psql('postgres', <<"SQL");
BEGIN;
CALL sync_probe.wait_for_reload();
SQL
like($err, qr/ERROR:  invalid transaction termination/, 'not in a transaction block');

# While the postmaster is stopped, no other session can begin.
my $session_beside = session($node);

sub beside
{
	my ($out) = query($session_beside, @_);
	chomp $out;
	return $out;
}

# A session that does not say what it does is not taken for idle.
my $silent = session($node);
query($silent, 'SET track_activities = off');
($status, $out, $err) = $node->psql('postgres', 'CALL sync_probe.wait_for_reload()');
like($err, qr/WARNING:.*unknown.*\nDETAIL:.*off in processes: $silent->{pid}\./, 'a silent session');
$silent->quit;

# --- what wait_for_reload() waits for

# A session that has asked for a reload, and waits.
sub start_waiting
{
	my $waiting = session($node);
	query($waiting, 'SELECT pg_reload_conf()');
	start_query($waiting, 'CALL sync_probe.wait_for_reload()');
	return $waiting;
}

# Does it name that process, and end once the code has been called?
sub waits_for_ok
{
	my ($waiting, $pid, $release, $name) = @_;
	ok($node->poll_query_until('postgres',
		"SELECT query ~ 'wait_for_reload' AND state = 'active' FROM pg_stat_activity"
		  . " WHERE pid = $waiting->{pid}"), "$name: it waits");
	my $notice = qr/NOTICE:.*waiting.*\nDETAIL:  Processes: (?:\d+, )*$pid\b/;
	ok(wait_for(sub { $waiting->{run}->pump_nb; $waiting->{stderr} =~ $notice }),
		"$name: it names the process");
	$release->();
	finish_query($waiting);
	$waiting->quit;
	return;
}

# The postmaster has not read the file while it is stopped.
{
	my $postmaster = $node->{_pid};
	my $waiting = session($node);
	kill 'STOP', $postmaster;
	query($waiting, "ALTER SYSTEM SET commit_siblings = 6; SELECT pg_reload_conf()");
	start_query($waiting, 'CALL sync_probe.wait_for_reload()');
	sleep 3;
	is(beside("SELECT state FROM pg_stat_activity WHERE pid = $waiting->{pid}"),
		'active', 'postmaster stopped: it waits');
	kill 'CONT', $postmaster;
	finish_query($waiting);
	is($node->safe_psql('postgres', 'SHOW commit_siblings'), '6',
		'postmaster stopped: then new sessions have the value');
	$waiting->quit;
}

# A worker of autovacuum that is busy with one table.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE to_vacuum WITH (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_cost_delay = 100,
    autovacuum_vacuum_cost_limit = 1) AS SELECT generate_series(1, 100000);
DELETE FROM to_vacuum;
ALTER SYSTEM SET autovacuum_naptime = '1s';
SELECT pg_reload_conf();
SQL
{
	my $vacuums = q(SELECT pid FROM pg_stat_activity
		WHERE backend_type = 'autovacuum worker' AND query ~ 'to_vacuum');
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($vacuums) v")
	  or die 'nothing is vacuumed';
	my $pid = $node->safe_psql('postgres', $vacuums);
	waits_for_ok(start_waiting(), $pid, sub {
			$node->safe_psql('postgres',
				'DROP TABLE to_vacuum; ALTER SYSTEM RESET autovacuum_naptime; SELECT pg_reload_conf()');
		}, 'autovacuum');
}

# The checkpointer, stopped while it writes or syncs.
{
	my $checkpointer = "pid, coalesce(wait_event, 'none') FROM pg_stat_activity"
	  . " WHERE backend_type = 'checkpointer'";
	my ($pid, $state) = split /\|/, $node->safe_psql('postgres', "SELECT $checkpointer");
	my $busy = session($node);
	query($busy, 'CREATE TABLE to_write (n int)');
	start_query($busy, <<'SQL');
DO $$ BEGIN FOR i IN 1 .. 100000 LOOP
    INSERT INTO to_write SELECT generate_series(1, 20000);
    COMMIT;
    PERFORM pg_sleep(0);
END LOOP; END $$
SQL
	my $checkpoints = session($node);
	my $in_progress = wait_for(sub {
		start_query($checkpoints, 'CHECKPOINT');
		for (1 .. 200)
		{
			($pid, $state) = split /\|/, beside("SELECT $checkpointer");
			last if $state !~ /^Checkpoint/;
		}
		kill 'STOP', $pid;
		(undef, $state) = split /\|/, beside("SELECT $checkpointer");
		return 1 if $state !~ /^Checkpoint/;
		kill 'CONT', $pid;
		finish_query($checkpoints);
		return 0;
	});
	ok($in_progress, 'checkpointer: stopped in a checkpoint');
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($busy->{pid})");
	waits_for_ok(start_waiting(), $pid, sub { kill 'CONT', $pid }, 'checkpointer');
	$_->{run}->kill_kill for $busy, $checkpoints;
	$node->safe_psql('postgres', 'DROP TABLE to_write');
}
$session_beside->quit;

# --- the method that is recorded is the one that holds

# In one session a statement may come before the reload that the one before it asked for.
my $session = session($node);
my @wrong;
for my $n (1 .. 10)
{
	my $method = (qw(fsync fdatasync))[ $n % 2 ];
	my ($out, $err) = query($session, <<"SQL");
ALTER SYSTEM SET wal_sync_method = '$method';
SELECT FROM pg_reload_conf();
SELECT FROM sync_probe.probe(duration => '20 ms', label => 'reloaded');
SELECT wal_sync_method FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1
SQL
	push @wrong, "$n: $out" if $out !~ /^\Q$method\E$/m;
}
is(join("\n", @wrong), '', 'right after a reload');

@wrong = ();
for my $n (1 .. 4)
{
	my $method = (qw(fsync fdatasync))[ $n % 2 ];
	my ($out, $err) = query($session, <<"SQL");
ALTER SYSTEM SET wal_sync_method = '$method';
SELECT FROM pg_reload_conf();
SELECT wal_sync_method, wal_sync_method_at_end FROM sync_probe.pgbench(@{[SMALL_RUN]})
SQL
	push @wrong, "$n: $out$err" if $out !~ /^\Q$method|$method\E$/m;
}
is(join("\n", @wrong), '', 'right after a reload, of a workload');

# An edit that nobody asked to load is none.
$node->safe_psql('postgres', "ALTER SYSTEM SET wal_sync_method = 'open_sync'");
($out) = query($session, <<'SQL');
SELECT FROM sync_probe.probe(duration => '20 ms');
SELECT wal_sync_method FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1
SQL
like($out, qr/^fsync$/m, 'an edit without a reload');
query($session, "ALTER SYSTEM SET wal_sync_method = 'fsync'");

# A reload in the middle does not change what is measured.
pause_probe($node, $session, "'pg_wal'");
$node->safe_psql('postgres', "ALTER SYSTEM SET wal_sync_method = 'fdatasync'");
$node->reload;
kill 'CONT', $session->{pid};
finish_query($session);
is($node->safe_psql('postgres', <<'SQL'), 'fsync|fsync', 'a reload during the run');
SELECT r.wal_sync_method, m.method
FROM sync_probe.runs AS r JOIN sync_probe.measurements AS m USING (run_id)
WHERE m.choice = 'current' AND m.test = 'paced' ORDER BY r.run_id DESC LIMIT 1
SQL

$session->quit;
is(leftovers($node), '', 'nothing is left');
$node->stop;
log_ok($node);
done_testing();
