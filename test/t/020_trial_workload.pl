# A trial that makes its own load: with a workload it compares commits on an idle cluster.
# However it ends, the setting is restored, pgbench has ended, and the objects are gone.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;

plan skip_all => 'processes are looked for in /proc' unless -e '/proc/self/stat';

my $node = probe_cluster('trial_workload',
	conf => "max_connections = 40\nrestart_after_crash = on");
my $auto = $node->data_dir . '/postgresql.auto.conf';

# Set-ups that last as long as there is a file "gate" in the data directory.
my $gate = $node->data_dir . '/gate';
my $wait = q{DO 'BEGIN WHILE (pg_stat_file(''gate'', true)).size IS NOT NULL LOOP
    PERFORM pg_sleep(0.02);
END LOOP; END'};

$node->safe_psql('postgres', <<"SQL");
ALTER SYSTEM SET commit_delay = 7;
INSERT INTO sync_probe.workloads (workload, setup, script) VALUES
('gated set-up', 'CREATE TABLE t (i int);' || \$gate\$$wait\$gate\$, 'INSERT INTO t VALUES (1);'),
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

sub restored_ok
{
	my ($name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_for(sub { auto_settings($node) eq $before }), "$name: the settings are as before")
	  or diag($before, "\n", auto_settings($node));
	nothing_left($node, $name);
	return;
}

# A call that fails, and leaves nothing.
sub fails_whole_ok
{
	my ($name, $sql, @says) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	fails_ok($node, $name, $sql, @says);
	restored_ok($name);
	return;
}

# --- on an idle cluster

# Commits of the value that had the fewest, of the last trial.
sub fewest_commits
{
	return $node->safe_psql('postgres', <<'SQL');
SELECT min(ops) FROM sync_probe.measurements
WHERE run_id = (SELECT max(run_id) FROM sync_probe.runs)
SQL
}

is($node->psql('postgres', call('upsert', 6)), 0, 'a trial with a workload works');
like($node->safe_psql('postgres', <<'SQL'), qr/^trial\|upsert\|(?:switch|keep|tie|undecided)\|t$/,
SELECT suite, workload, verdict, reason <> '' FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1
SQL
	'its row says what made the load');
cmp_ok(fewest_commits(), '>', 0, 'transactions have committed with each value');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sync_probe.workload_results'), '0',
	'it is no result of a workload');
restored_ok('idle cluster');

# --- pgbench prints more than a pipe holds
is($node->psql('postgres', call('noisy', 6)), 0, 'a trial with a noisy workload works');
cmp_ok(fewest_commits(), '>', 0, 'it commits nevertheless');
restored_ok('noisy');

{
	my ($status, $out) = $node->psql('postgres', call('only reads', 3));
	like($out, qr/undecided\|.*no transaction that writes has committed/,
		'a workload that only reads has no commits to compare');
	restored_ok('only reads');
}

# --- a value that is far slower costs the users of the server too much

{
	my ($status, $out) = $node->psql('postgres',
		q(CALL sync_probe.trial('commit_delay', '{100000}', duration => '5 s', workload => 'upsert')));
	like($out, qr/no other value is left; 100000 us was left out: in its first 3 slots/,
		'a value that is far slower is left out');
	is($node->safe_psql('postgres', <<'SQL'), 'stopped|0', 'and its row says so');
SELECT status, ops FROM sync_probe.measurements
WHERE value = '100000' AND run_id = (SELECT max(run_id) FROM sync_probe.runs)
SQL
	restored_ok('a value that is far slower');
}

# --- what is refused

$node->safe_psql('postgres', <<'SQL');
CREATE ROLE runner LOGIN;
GRANT USAGE ON SCHEMA sync_probe TO runner;
GRANT EXECUTE ON PROCEDURE sync_probe.trial TO runner;
GRANT ALTER SYSTEM ON PARAMETER commit_delay TO runner;
CREATE ROLE author;
UPDATE sync_probe.workloads SET author = 'author' WHERE workload = 'noisy';
SQL
fails_whole_ok('unknown workload', call('no such', 3), '22023',
	qr/unrecognized workload "no such"/);
fails_whole_ok('counted workload', call($node->safe_psql('postgres', <<'SQL'), 3), '22023',
SELECT workload FROM sync_probe.workloads WHERE transactions > 0 ORDER BY 1 LIMIT 1
SQL
	qr/cannot make load/, qr/runs a fixed number of transactions/);
# Each needs one privilege more than those before it.
for (
	[ qr/EXECUTE on pgbench\(\) or run_workload\(\)/, 'upsert',
		'GRANT EXECUTE ON FUNCTION sync_probe.pgbench TO runner' ],
	[ qr/pg_execute_server_program/, 'upsert', 'GRANT pg_execute_server_program TO runner' ],
	[ qr/permission denied for database/, 'upsert', 'GRANT CREATE ON DATABASE postgres TO runner' ],
	[ qr/permission denied to run workload "noisy"/, 'noisy',
		'GRANT SELECT ON sync_probe.workloads TO runner' ],
	[ qr/is not trusted.*insert a copy under a name of your own/s, 'noisy', 'SELECT' ])
{
	my ($says, $workload, $grant) = @$_;
	my $as_runner = 'SET SESSION AUTHORIZATION runner; ' . call($workload, 3);
	fails_whole_ok("before $grant", $as_runner, '42501', $says);
	$node->safe_psql('postgres', $grant);
}
{
	my ($status, undef, $err) = $node->psql('postgres', call('upsert', 4),
		extra_params => [ '-U', 'runner' ]);
	is($status, 0, 'with all privileges it works') or diag($err);
	$node->safe_psql('postgres', 'ALTER ROLE runner CONNECTION LIMIT 4');
	($status, undef, $err) = $node->psql('postgres', call('upsert', 4),
		extra_params => [ '-U', 'runner' ]);
	is($status, 0, 'with few connections, too') or diag($err);
	like($err, qr/NOTICE:  workload "upsert" runs with 1 client instead of 16/, 'a NOTICE says so');
	restored_ok('runner');
}

# --- the script fails for one client
fails_whole_ok('one client fails', call('one client fails', 60), '38000',
	qr/pgbench (?:exited with status \d|reported an error) while it ran workload "one client fails"/,
	qr/division by zero/);

# --- in the middle of a trial

# A session whose trial has another value in place now.
sub start_trial
{
	my $session = session($node);
	start_query($session, call('upsert', 300));
	wait_for(sub { slurp_file($auto) =~ /commit_delay = '(0|50)'\n.*trial_restores/s })
	  or die 'no value was tried';
	return $session;
}

for my $ending (
	{ name => 'pg_cancel_backend', end => signal_backend($node, 'pg_cancel_backend'),
		says => qr/canceling statement due to user request/ },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/terminating connection due to administrator command/ },
	{ name => 'client killed', end => signal_client('KILL') },
	{ name => 'pgbench killed', end => sub { kill 'KILL', pgbench_children($node) },
		says => qr/pgbench was ended by signal 9 while it ran workload "upsert"/ },
	{ name => 'error of the trial',
		end => sub { wait_for(sub { mkdir "$auto.tmp" }) },
		says => qr/ERROR:  could not open file "postgresql\.auto\.conf\.tmp"/,
		after => sub { rmdir "$auto.tmp" } },
	{ name => 'SIGKILL of the session',
		end => sub {
			kill_process($node, $_[0]{pid});
			# the worker that drops the objects has gone, too
			$node->poll_query_until('postgres', 'SELECT sync_probe.cleanup() > 0')
			  or die 'nothing was left';
		} },
	{ name => 'fast stop', end => sub { $node->stop('fast'); $node->start } })
{
	my $session = start_trial();
	isnt(workload_schemas($node), '', "$ending->{name}: the objects are there");
	isnt(join(' ', pgbench_children($node)), '', "$ending->{name}: pgbench runs");
	$ending->{end}->($session);
	if ($ending->{says})
	{
		my ($out, $err) = finish_query($session);
		like($out . $err, $ending->{says}, "$ending->{name}: the client was told");
	}
	$ending->{after}->() if $ending->{after};
	restored_ok($ending->{name});
	$session->{run}->kill_kill;
}

{
	my $session = start_trial();
	is($node->safe_psql('postgres', 'SELECT suite, workload, phase FROM sync_probe.running'),
		'trial|upsert|measuring', 'sync_probe.running shows both');
	is($node->safe_psql('postgres', <<"SQL"), 't|t', 'it holds no snapshot');
SELECT backend_xmin IS NULL, backend_xid IS NULL FROM pg_stat_activity WHERE pid = $session->{pid}
SQL
	fails_ok($node, 'a workload beside it', workload_call('function', SMALL_RUN), '55P03',
		qr/a trial is running/);
	end_probe($node, $session);
	restored_ok('sync_probe.running');
}

# --- during its set-up

# The server has changed meanwhile, or the trial is to end: what the caller is told.
for (
	[ 'cancel', sub { $node->safe_psql('postgres', "SELECT pg_cancel_backend($_[0]{pid})") },
		qr/canceling statement due to user request/ ],
	[ 'new value',
		sub { $node->safe_psql('postgres', 'ALTER SYSTEM SET commit_delay = 8'); $node->reload },
		qr/"commit_delay" was changed before the trial began/ ],
	[ 'pending change', sub { $node->append_conf('postgresql.conf', '# a change') },
		qr/was changed since the server has read it/ ])
{
	my ($name, $change, $says) = @$_;
	my $session = session($node);
	append_to_file($gate, 'closed');
	start_query($session, call('gated set-up', 5));
	wait_phase($node, $session, 'setting up');
	is(auto_settings($node), $before, "$name: the set-up comes before the first switch");
	$change->($session);
	unlink $gate;
	my ($out, $err) = finish_query($session);
	like($err, $says, "$name: the client was told");
	$session->quit;
	nothing_left($node, $name);
	$node->safe_psql('postgres', 'ALTER SYSTEM SET commit_delay = 7');
	$node->reload;
	$before = auto_settings($node);
}

$node->stop;
log_ok($node);
done_testing();
