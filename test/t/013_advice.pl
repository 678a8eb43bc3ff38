# Advice that is followed: commands are statements that a client can execute as they
# are, and what is recorded is the setting that holds, also right after a reload.

use SyncProbeTest;

# Without replica, open_* would be O_DIRECT on 15, and the row below would have to know.
my $node = probe_cluster('advice', conf => "wal_sync_method = fdatasync\nwal_level = replica");

# --- a change between methods that must not meet; test/tap/recommendations.sql has other commands

# A real run that recommends this method, by decree.
sql($node, <<'SQL');
SELECT FROM sync_probe.probe(duration => '100 ms');
UPDATE sync_probe.runs SET verdict = 'switch', recommended_value = 'open_sync',
    best_value = 'open_sync', durable = 'yes', reason = 'it is faster';
SQL
let_runs_count($node);
is(sql($node, <<'SQL'), "ALTER SYSTEM SET wal_sync_method = 'open_sync'; SELECT"
SELECT array_to_string(commands, '; ') FROM sync_probe.recommendation_details
WHERE location = 'pg_wal'
SQL
	  . ' pg_catalog.pg_reload_conf(); CALL sync_probe.wait_for_reload(); CHECKPOINT', 'a change');
is(sql($node, <<'SQL'), 'fdatasync|open_sync|t', 'a change: the finding says why');
SELECT f.evidence ->> 'method', f.evidence ->> 'recommended_method', f.commands = r.commands
FROM sync_probe.findings AS f JOIN sync_probe.recommendation_details AS r USING (location)
WHERE f.code = 'sync_method_change'
SQL

# This statement keeps the old method until it ends, and another session waits for that.
my $newest = 'SELECT checkpoint_lsn FROM pg_control_checkpoint()';
my $checkpoint = sql($node, $newest);
my $busy = session($node);
start_query($busy, 'SELECT pg_sleep(4)');
wait_active($node, $busy);
my ($status, $out, $err) = $node->psql('postgres', <<"SQL");
SELECT unnest(commands) FROM sync_probe.recommendation_details WHERE location = 'pg_wal' \\gexec
SELECT state FROM pg_stat_activity WHERE pid = $busy->{pid}
SQL
is($out, "t\nidle", 'a change: the statement has ended when the commands are through');
like($err, qr/NOTICE:.*waiting.*\nDETAIL:  Processes: $busy->{pid}\.$/, 'a change: and was named');
isnt(sql($node, $newest), $checkpoint, 'a change: with a checkpoint');
$busy->quit;
ok($node->poll_query_until('postgres', "SELECT current_setting('wal_sync_method') = 'open_sync'"),
	'a change: the server follows');
is(sql($node, "SELECT count(*) FROM sync_probe.findings WHERE code = 'sync_method_change'"),
	'0', 'a change: nothing is left to say');

like(messages($node, "BEGIN;\nCALL sync_probe.wait_for_reload();"),
	qr/ERROR:  CALL sync_probe.wait_for_reload\(\) cannot run inside a transaction block$/m,
	'not in a transaction block');

# The postmaster has not read the file while it is stopped; then no session can begin.
# test/tap/reload.sql has what else is waited for.
my $session = session($node);
my $waiting = session($node);
kill 'STOP', $node->{_pid};
query($waiting, "ALTER SYSTEM SET commit_siblings = 6; SELECT pg_reload_conf()");
start_query($waiting, 'CALL sync_probe.wait_for_reload()');
sleep 3;
like((query($session, "SELECT state FROM pg_stat_activity WHERE pid = $waiting->{pid}"))[0],
	qr/^active$/, 'postmaster stopped: it waits');
kill 'CONT', $node->{_pid};
finish_query($waiting);
is(sql($node, 'SHOW commit_siblings'), '6', 'postmaster stopped: then new sessions have the value');
$waiting->quit;

# --- the method that is recorded is the one that holds

# In one session a statement may come before the reload that the one before it asked for.
for (
	[ 10, 'a probe', 'wal_sync_method FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1',
		"SELECT FROM sync_probe.probe(duration => '20 ms');" ],
	[ 4, 'a workload',
		"server_settings ->> 'wal_sync_method' FROM sync_probe.pgbench(${\SMALL_RUN})" ])
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
like((query($session, <<'SQL'))[0], qr/^fsync$/m, 'an edit without a reload');
SELECT FROM sync_probe.probe(duration => '20 ms');
SELECT wal_sync_method FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1
SQL
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
