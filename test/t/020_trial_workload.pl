# A trial that makes its own load: with a workload it compares commits on an idle cluster.
# However it fails, the setting is restored, pgbench has ended, and the objects are gone.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeTest;

plan skip_all => 'processes are looked for in /proc' unless -e '/proc/self/stat';

my $node = probe_cluster('trial_workload',
	conf => "max_connections = 40\nrestart_after_crash = on\nlog_statement = none");

my $wait = '$gate$' . WAIT_AT_GATE . '$gate$';

sql($node, <<"SQL");
ALTER SYSTEM SET commit_delay = 7;
INSERT INTO sync_probe.workloads (workload, setup, script) VALUES
('gated set-up', 'CREATE TABLE t (i int);' || $wait, 'INSERT INTO t VALUES (1);'),
('one client fails', 'CREATE TABLE t (i int)', 'INSERT INTO t VALUES (1 / (:client_id - 3));'),
('only reads', NULL, 'SELECT 1;'),
('noisy', 'CREATE TABLE t (i int)', \$\$DO 'BEGIN
    RAISE WARNING ''%'', repeat(''x'', 2000);
    INSERT INTO t VALUES (1);
END';\$\$);
SQL
$node->reload;

sub call
{
	my ($workload, $seconds) = @_;
	return "CALL sync_probe.trial('commit_delay', '{0,50}', duration => '$seconds s',"
	  . " workload => '$workload')";
}

my $before = auto_settings($node);

# A call that fails, and leaves nothing.
sub fails_restored_ok
{
	my ($name, $sql, @says) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	fails_ok($node, $name, $sql, @says);
	restored_ok($node, $name, $before);
	return;
}

# --- on an idle cluster

# Commits of the value that had the fewest, of the last trial.
sub fewest_commits
{
	return sql($node, <<'SQL');
SELECT min(ops) FROM sync_probe.measurements
WHERE run_id = (SELECT max(run_id) FROM sync_probe.runs)
SQL
}

is($node->psql('postgres', call('upsert', 6)), 0, 'a trial with a workload works');
like(sql($node, <<'SQL'), qr/^trial\|upsert\|(?:switch|keep|tie|undecided)\|t$/,
SELECT suite, workload, verdict, reason <> '' FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1
SQL
	'its row says what made the load');
cmp_ok(fewest_commits(), '>', 0, 'transactions have committed with each value');
is(sql($node, 'SELECT count(*) FROM sync_probe.workload_results'), '0',
	'it is no result of a workload');
restored_ok($node, 'idle cluster', $before);

# --- pgbench prints more than a pipe holds
is($node->psql('postgres', call('noisy', 6)), 0, 'a trial with a noisy workload works');
cmp_ok(fewest_commits(), '>', 0, 'it commits nevertheless');
restored_ok($node, 'noisy', $before);

{
	my ($status, $out) = $node->psql('postgres', call('only reads', 3));
	like($out, qr/undecided\|.*no transaction that writes has committed/,
		'a workload that only reads has no commits to compare');
	restored_ok($node, 'only reads', $before);
}

# --- a value that is far slower costs the users of the server too much

{
	my ($status, $out) = $node->psql('postgres',
		q(CALL sync_probe.trial('commit_delay', '{100000}', duration => '5 s', workload => 'upsert')));
	like($out, qr/no other value is left; 100000 us was left out: in its first 3 slots/,
		'a value that is far slower is left out');
	is(sql($node, <<'SQL'), 'stopped|0', 'and its row says so');
SELECT status, ops FROM sync_probe.measurements
WHERE method = '100000' AND run_id = (SELECT max(run_id) FROM sync_probe.runs)
SQL
	restored_ok($node, 'a value that is far slower', $before);
}

# --- what is refused

sql($node, <<'SQL');
CREATE ROLE runner LOGIN;
GRANT USAGE ON SCHEMA sync_probe TO runner;
GRANT EXECUTE ON PROCEDURE sync_probe.trial TO runner;
GRANT ALTER SYSTEM ON PARAMETER commit_delay TO runner;
SQL
fails_restored_ok('unknown workload', call('no such', 3), '22023',
	qr/unrecognized workload "no such"/);
fails_restored_ok('counted workload', call(sql($node, <<'SQL'), 3), '22023',
SELECT workload FROM sync_probe.workloads WHERE transactions > 0 ORDER BY 1 LIMIT 1
SQL
	qr/cannot make load/, qr/runs a fixed number of transactions/);
# Each needs one privilege more than those before it.
for (
	[ qr/pg_execute_server_program/, 'upsert', 'GRANT pg_execute_server_program TO runner' ],
	[ qr/permission denied for database/, 'upsert', 'GRANT CREATE ON DATABASE postgres TO runner' ])
{
	my ($says, $workload, $grant) = @$_;
	my $as_runner = 'SET SESSION AUTHORIZATION runner; ' . call($workload, 3);
	fails_restored_ok("before $grant", $as_runner, '42501', $says);
	sql($node, $grant);
}
{
	my @runner = (extra_params => [ '-U', 'runner' ]);
	is($node->psql('postgres', call('upsert', 4), @runner), 0, 'with all privileges it works');
	sql($node, 'ALTER ROLE runner CONNECTION LIMIT 4');
	my ($status, undef, $err) = $node->psql('postgres', call('upsert', 4), @runner);
	is($status, 0, 'with few connections, too') or diag($err);
	like($err, qr/NOTICE:  workload "upsert" runs with 1 client instead of 16/, 'a NOTICE says so');
	restored_ok($node, 'runner', $before);
}

# --- the script fails for one client
fails_restored_ok('one client fails', call('one client fails', 60), '38000',
	qr/pgbench (?:exited with status \d|reported an error) while it ran workload "one client fails"/,
	qr/division by zero/);

# --- in the middle of a trial; how it ends is in 018_trial.pl

{
	my $session = start_trial($node, call('upsert', 300), '(0|50)');
	is(sql($node, 'SELECT suite, workload, phase FROM sync_probe.running'),
		'trial|upsert|measuring', 'sync_probe.running shows both');
	is(sql($node, <<"SQL"), 't|t', 'it holds no snapshot');
SELECT backend_xmin IS NULL, backend_xid IS NULL FROM pg_stat_activity WHERE pid = $session->{pid}
SQL
	fails_ok($node, 'a workload beside it', pgbench_sql(SMALL_RUN), '55P03',
		qr/a trial is running/);
	end_probe($node, $session);
	restored_ok($node, 'sync_probe.running', $before);
}

# --- during its set-up

# The server has changed meanwhile, or the trial is to end: what the caller is told.
for (
	[ 'cancel', sub { sql($node, "SELECT pg_cancel_backend($_[0]{pid})") },
		qr/canceling statement due to user request/ ],
	[ 'new value',
		sub { sql($node, 'ALTER SYSTEM SET commit_delay = 8'); $node->reload },
		qr/"commit_delay" was changed before the trial began/ ],
	[ 'pending change', sub { $node->append_conf('postgresql.conf', '# a change') },
		qr/was changed since the server has read it/ ])
{
	my ($name, $change, $says) = @$_;
	my $session = session($node);
	close_gate($node);
	start_query($session, call('gated set-up', 5));
	wait_phase($node, $session, 'setting up');
	is(auto_settings($node), $before, "$name: the set-up comes before the first switch");
	$change->($session);
	open_gate($node);
	my ($out, $err) = finish_query($session);
	like($err, $says, "$name: the client was told");
	$session->quit;
	nothing_left($node, $name);
	sql($node, 'ALTER SYSTEM SET commit_delay = 7');
	$node->reload;
	$before = auto_settings($node);
}

end_tests($node);
