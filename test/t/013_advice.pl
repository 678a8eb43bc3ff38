# Advice that is followed: commands are statements that a client can execute as they
# are, and what is recorded is the setting that holds, also right after a reload.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeTest;

# Without replica, open_* would be O_DIRECT on 15, and record_switch() would have to know.
my $node = probe_cluster('advice', conf => "wal_sync_method = fsync\nwal_level = replica");

# A real run that recommends this method, by decree.
sub record_switch
{
	my ($method) = @_;
	sql($node, <<"SQL");
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
	return sql($node, <<'SQL');
SELECT verdict, current_method, recommended_method,
    coalesce(array_to_string(commands, '; '), 'nothing to do')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal'
SQL
}

# The server has what it was told, in its processes, not only in the file.
sub method_is
{
	my ($method) = @_;
	return $node->poll_query_until('postgres',
		"SELECT current_setting('wal_sync_method') = '$method'");
}

sub checkpoint { return sql($node, 'SELECT checkpoint_lsn FROM pg_control_checkpoint()') }

my $commands =
  "SELECT unnest(commands) FROM sync_probe.recommendation_details WHERE location = 'pg_wal'";

record_switch('fdatasync');
is(advice(), "switch|fsync|fdatasync|ALTER SYSTEM SET wal_sync_method = 'fdatasync'; SELECT"
	  . " pg_reload_conf()", 'a switch');
is(sql($node, "$commands \\gexec"), 't', 'psql executes the commands with \gexec');
ok(method_is('fdatasync'), 'and the server follows');
is(advice(), 'keep|fdatasync|fdatasync|nothing to do', 'what was followed is kept');
is(sql($node, "SELECT reason FROM sync_probe.recommendation_details WHERE location = 'pg_wal'"),
	'chosen instead of fsync: it is faster', 'and said to be so');

# as a driver does: each element alone, in the extended protocol
sql($node, 'ALTER SYSTEM RESET wal_sync_method; SELECT pg_reload_conf()');
ok(method_is('fsync'), 'once more');
for my $command (split /\n/, sql($node, $commands))
{
	my ($status, $out, $err) = $node->psql('postgres', undef, extra_params => [ '-c', $command ]);
	is($status, 0, "psql -c '$command'") or diag($err);
}
ok(method_is('fdatasync'), 'the server follows');

# --- a change between methods that must not meet

for my $change ([ 'fdatasync', 'open_sync' ], [ 'open_sync', 'fdatasync' ])
{
	my ($from, $to) = @$change;
	my $name = "from $from to $to";
	ok(method_is($from), "$name: at first");
	record_switch($to);
	is(advice(), "switch|$from|$to|ALTER SYSTEM SET wal_sync_method = '$to'; SELECT"
		  . ' pg_reload_conf(); CALL sync_probe.wait_for_reload(); CHECKPOINT', "$name: commands");
	is(sql($node, <<'SQL'), "$from|$to|t", "$name: the finding says why");
SELECT f.evidence ->> 'method', f.evidence ->> 'recommended_method', f.commands = r.commands
FROM sync_probe.findings AS f JOIN sync_probe.recommendation_details AS r USING (location)
WHERE f.code = 'sync_method_change'
SQL

	# This statement keeps the old method until it ends, and another session waits for that.
	my $checkpoint = checkpoint();
	my $busy = session($node);
	start_query($busy, 'SELECT pg_sleep(4)');
	wait_active($node, $busy);
	my ($status, $out, $err) = $node->psql('postgres',
		"$commands \\gexec\nSELECT state FROM pg_stat_activity WHERE pid = $busy->{pid}");
	is($out, "t\nidle", "$name: it has ended when the commands are through");
	like($err, qr/NOTICE:.*waiting.*\nDETAIL:  Processes: $busy->{pid}\.$/, "$name: and was named");
	isnt(checkpoint(), $checkpoint, "$name: with a checkpoint");
	finish_query($busy);
	$busy->quit;
	ok(method_is($to), "$name: the server follows");
	is(sql($node, "SELECT count(*) FROM sync_probe.findings WHERE code = 'sync_method_change'"),
		'0', "$name: nothing is left to say");
}

like(messages($node, "BEGIN;\nCALL sync_probe.wait_for_reload();"),
	qr/ERROR:  invalid transaction termination/, 'not in a transaction block');

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
like(messages($node, 'CALL sync_probe.wait_for_reload()'),
	qr/WARNING:.*unknown.*\nDETAIL:.*off in processes: $silent->{pid}\./, 'a silent session');
$silent->quit;

# --- what wait_for_reload() waits for

# Does a session that has asked for a reload wait for that process, and end once the code has been
# called?
sub waits_for_ok
{
	my ($pid, $release, $name) = @_;
	my $waiting = session($node);
	query($waiting, 'SELECT pg_reload_conf()');
	start_query($waiting, 'CALL sync_probe.wait_for_reload()');
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
	is(sql($node, 'SHOW commit_siblings'), '6',
		'postmaster stopped: then new sessions have the value');
	$waiting->quit;
}

# A worker of autovacuum that is busy with one table.
sql($node, <<'SQL');
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
	my $pid = sql($node, $vacuums);
	waits_for_ok($pid, sub {
			sql($node,
				'DROP TABLE to_vacuum; ALTER SYSTEM RESET autovacuum_naptime; SELECT pg_reload_conf()');
		}, 'autovacuum');
}

# The checkpointer, stopped while it writes or syncs.
{
	my $checkpointer = "pid, coalesce(wait_event, 'none') FROM pg_stat_activity"
	  . " WHERE backend_type = 'checkpointer'";
	my ($pid, $state) = split /\|/, sql($node, "SELECT $checkpointer");
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
	sql($node, "SELECT pg_terminate_backend($busy->{pid})");
	waits_for_ok($pid, sub { kill 'CONT', $pid }, 'checkpointer');
	$_->{run}->kill_kill for $busy, $checkpoints;
	sql($node, 'DROP TABLE to_write');
}
$session_beside->quit;

# --- the method that is recorded is the one that holds

# In one session a statement may come before the reload that the one before it asked for.
my $session = session($node);
for (
	[ 10, 'a probe', 'wal_sync_method FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1',
		"SELECT FROM sync_probe.probe(duration => '20 ms');" ],
	[ 4, 'a workload', "server_settings ->> 'wal_sync_method' FROM sync_probe.pgbench(${\SMALL_RUN})" ])
{
	my ($times, $name, $recorded, $first) = @$_;
	my @wrong;
	for my $n (1 .. $times)
	{
		my $method = (qw(fsync fdatasync))[ $n % 2 ];
		my ($out, $err) = query($session, "ALTER SYSTEM SET wal_sync_method = '$method';"
			  . " SELECT FROM pg_reload_conf(); @{[$first // '']} SELECT $recorded");
		push @wrong, "$n: $out$err" if $out !~ /^$method$/m;
	}
	is(join("\n", @wrong), '', "right after a reload, of $name");
}

# An edit that nobody asked to load is none.
sql($node, "ALTER SYSTEM SET wal_sync_method = 'open_sync'");
my ($out) = query($session, <<'SQL');
SELECT FROM sync_probe.probe(duration => '20 ms');
SELECT wal_sync_method FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1
SQL
like($out, qr/^fsync$/m, 'an edit without a reload');
query($session, "ALTER SYSTEM SET wal_sync_method = 'fsync'");

# A reload in the middle does not change what is measured.
pause_probe($node, $session, "'pg_wal'");
sql($node, "ALTER SYSTEM SET wal_sync_method = 'fdatasync'");
$node->reload;
kill 'CONT', $session->{pid};
finish_query($session);
is(sql($node, <<'SQL'), 'fsync|fsync', 'a reload during the run');
SELECT r.wal_sync_method, m.method
FROM sync_probe.runs AS r JOIN sync_probe.measurements AS m USING (run_id)
WHERE m.choice = 'current' AND m.test = 'paced' ORDER BY r.run_id DESC LIMIT 1
SQL

$session->quit;
is(leftovers($node), '', 'nothing is left');
end_tests($node);
