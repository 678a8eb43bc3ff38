# However a workload ends, nothing of it stays: no pgbench, no session, no schema,
# no directory, no lock.  What a crash or a shutdown left is dropped by the next run of the
# role in that database, or by cleanup(), and nothing else is.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeTest;

plan skip_all => 'processes are looked for in /proc' unless -e '/proc/self/stat';

my $node = probe_cluster('workloads',
	conf => "restart_after_crash = on\nclient_connection_check_interval = '50ms'\n"
		  . 'log_statement = none');
add_tablespace($node, 'place');

my $wait = '$gate$' . WAIT_AT_GATE . '$gate$';

# The sessions of "sleepy" notice nothing by themselves, neither that pgbench is
# gone nor that its objects are to go.
sql($node, <<"SQL");
CREATE DATABASE other;
INSERT INTO sync_probe.workloads (workload, setup, script, teardown) VALUES
('slow set-up', 'CREATE TABLE t (i int); SELECT pg_sleep(60)', 'SELECT 1;', NULL),
('gated script', 'CREATE TABLE t (i int)', $wait || ';', NULL),
('sleepy', 'CREATE TABLE t (i int)', 'SELECT pg_sleep(60);', NULL),
('gated tear-down', 'CREATE TABLE t (i int)', 'SELECT 1;', $wait),
('stubborn tear-down', 'CREATE TABLE t (i int)', 'SELECT 1;', \$\$DO 'BEGIN LOOP
    BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END;
END LOOP; END'\$\$);
CREATE FUNCTION caught(arguments text) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
    EXECUTE 'SELECT FROM sync_probe.pgbench(' || arguments || ')';
    RETURN 'not ended';
EXCEPTION WHEN query_canceled THEN
    PERFORM FROM sync_probe.pgbench(${\SMALL_RUN});
    RETURN 'caught';
END
\$\$;
SQL
$node->safe_psql('other', 'CREATE EXTENSION pg_sync_probe');

# Set-ups and a tear-down that would not end: the last two take a minute each, and so have a cluster
# each.  What psql says goes into a file, see the end.
sub start_slow
{
	my (@statements) = @_;
	my $cluster = probe_cluster('slow' . @statements, conf => "pg_sync_probe.max_duration = '1s'");
	sql($cluster, <<'SQL');
CREATE TABLE locked ();
INSERT INTO sync_probe.workloads (workload, setup, script, teardown) VALUES
('waits', 'SELECT FROM public.locked', 'SELECT 1;', NULL),
('sleeps', 'CREATE TABLE t (i int); SELECT pg_sleep(1000000)', 'SELECT 1;', NULL),
('stays', $$
CREATE TABLE t (i int);
CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1000000); END';
CREATE CONSTRAINT TRIGGER sleep AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION sleep()$$, 'SELECT 1;', 'INSERT INTO t VALUES (1)');
SQL
	my $said = PostgreSQL::Test::Utils::tempdir() . '/said';
	my $psql = IPC::Run::start([ 'psql', '-Xq', '-v', 'VERBOSITY=verbose', '-d',
			$cluster->connstr('postgres'), map { ('-c', $_) } @statements ],
		'<', \undef, '>', '/dev/null', '2>', $said);
	return [ $cluster, $said, $psql ];
}
my @slow = (
	start_slow('BEGIN', 'LOCK TABLE locked',
		"SELECT FROM sync_probe.pgbench('waits', clients => 1, duration => '1 s')", 'ROLLBACK',
		"CALL sync_probe.run_workload('sleeps', clients => 1, duration => '1 s')"),
	start_slow("CALL sync_probe.run_workload('stays', clients => 1, transactions => 1)"));

# Where it is when it ends: phase, workload with how long it runs, sessions.
my $once = 'clients => 1, transactions => 1';
my %places = (
	'setting up' => [ 'setting up', "'slow set-up', $once", 1 ],
	'running' => [ 'running', "'upsert', clients => 3, duration => '300 s', rows => 1000", 3 ],
	'sleeping' => [ 'running', "'sleepy', clients => 2, duration => '300 s'", 2 ],
	'tearing down' => [ 'tearing down', "'gated tear-down', $once", 1 ],
	'stubborn tear-down' => [ 'tearing down', "'stubborn tear-down', $once", 1 ]);

sub wait_place
{
	my ($session, $place) = @_;
	my ($phase, undef, $sessions) = @{ $places{$place} };
	wait_sessions($node, $session, $phase, $sessions);
	return;
}

sub start_workload
{
	my ($place, $kind, $session) = @_;
	$session //= session($node);
	start_query($session, workload_call($kind // 'function', $places{$place}[1]));
	wait_place($session, $place);
	return $session;
}

# ------------------------------------------------------- what may end a workload

my @everywhere = ('setting up', 'running', 'sleeping', 'tearing down');
my $cancel = signal_backend($node, 'pg_cancel_backend');
my $cancelled = qr/ERROR:  57014: canceling statement due to user request/;

# What ends a workload, what the client is told, and whether its session goes on.
# Optional: where (else everywhere), what is sent before it and after it, how it
# is called if not by function and procedure in turn, whether it leaves a schema.
my @endings = (
	{ name => 'pg_cancel_backend', end => $cancel, says => $cancelled, survives => 1,
		where => [ @everywhere, 'stubborn tear-down' ] },
	{ name => 'statement_timeout', before => "SET statement_timeout = '1s'", survives => 1,
		says => qr/ERROR:  57014: canceling statement due to statement timeout/,
		where => ['sleeping'] },
	{ name => 'exception block', before => "SET statement_timeout = '1s'", survives => 1,
		call => sub { "SELECT caught(\$args\$$_[0]\$args\$)" }, kind => 'function',
		says => qr/^caught$/m, where => [ 'setting up', 'sleeping' ] },
	{ name => 'savepoint', before => 'BEGIN; SAVEPOINT s', end => $cancel, kind => 'function',
		says => $cancelled, survives => 1, after => 'ROLLBACK TO s',
		where => [ 'setting up', 'sleeping' ] },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/FATAL:  57P01: terminating connection due to administrator command/ },
	{ name => 'SIGINT to psql', end => signal_client('INT'), says => qr/Cancel request sent/,
		where => ['running'] },
	{ name => 'lost client', end => signal_client('KILL'), says => CLIENT_LOST,
		where => [ 'setting up', 'running' ] },
	{ name => 'SIGKILL to pgbench', end => sub { kill 'KILL', pgbench_children($node) },
		survives => 1, where => [ 'setting up', 'sleeping' ],
		says => qr/ERROR:  38000: pgbench was ended by signal 9 while it (set up|ran) workload/ },
	{ name => 'SIGTERM to pgbench', end => sub { kill 'TERM', pgbench_children($node) },
		survives => 1, where => [ 'running', 'tearing down' ],
		says => qr/(ERROR|WARNING):  38000: pgbench was ended by signal 15 while it / },
	{ name => 'killed backend', end => sub { kill_process($node, $_[0]{pid}) }, leaves => 1,
		says => qr/connection.*(lost|closed)/ });

# How what a crash left goes; the procedure can be called there, too.
my @removals = (
	[ 'cleanup()', 'SELECT sync_probe.cleanup()', '1' ],
	[ 'the next run', pgbench_sql(SMALL_RUN), '5' ],
	[ 'the next call', workload_call('procedure', SMALL_RUN), qr/^\d+\|/ ],
);
my $nremovals = 0;

sub remove_leftovers
{
	my ($name) = @_;
	my ($what, $sql, $expected) = @{ $removals[ $nremovals++ % @removals ] };
	like(workload_schemas($node), qr/^sync_probe_workload_[0-9a-f]{8}$/,
		"$name: the crash left a schema");
	is($node->safe_psql('other', 'SELECT sync_probe.cleanup()'), 0,
		"$name: cleanup() elsewhere does not see it");
	like(workload_schemas($node), qr/./, "$name: and lets it be");
	my $out = sql($node, $sql);
	ref $expected ? like($out, $expected, "$name: $what works")
		: is($out, $expected, "$name: $what works");
	return;
}

sub test_survivor
{
	my ($name, $session, $after) = @_;
	nothing_left($node, "$name, the session lives on");
	is(descriptors($session->{pid}), '', "$name: no descriptor is open");
	query($session, $after) if $after;
	query($session, 'SET statement_timeout = 0');
	my ($out, $err) = query($session, pgbench_sql(SMALL_RUN));
	is($out, "5\n", "$name: the session runs a workload again") or diag($err);
	query($session, 'COMMIT') if $after;
	is(descriptors($session->{pid}), '', "$name: and no descriptor is open again");
	$session->quit;
	return;
}

sub test_ending
{
	my ($ending, $place, $kind) = @_;
	my $name = "$ending->{name}, $kind $place";
	my $session = verbose_session($node);

	query($session, $ending->{before}) if $ending->{before};
	close_gate($node);
	my $arguments = $places{$place}[1];
	start_query($session,
		$ending->{call} ? $ending->{call}->($arguments) : workload_call($kind, $arguments));
	if ($ending->{end})
	{
		wait_place($session, $place);
		isnt(leftovers($node), '', "$name: there is something that could be left");
		isnt(join(' ', pgbench_children($node)), '', "$name: pgbench runs")
			if $places{$place}[0] eq 'running';
		$ending->{end}->($session);
		open_gate($node);
	}
	my ($out, $err) = finish_query($session);
	open_gate($node);
	client_told_ok($node, $session, $name, $ending->{says}, $out, $err);
	if ($ending->{survives})
	{
		test_survivor($name, $session, $ending->{after});
	}
	else
	{
		ok(wait_for(sub { !pid_alive($session->{pid}) }), "$name: the backend is gone");
		eval { $session->{run}->finish };
		remove_leftovers($name) if $ending->{leaves};
	}
	nothing_left($node, $name);
	return;
}

my $n = 0;
for my $ending (@endings)
{
	for my $place (@{ $ending->{where} // \@everywhere })
	{
		test_ending($ending, $place, $ending->{kind} // (qw(function procedure))[ $n++ % 2 ]);
	}
}

# --- a transaction that does not commit

my $rows = 'SELECT count(*) FROM sync_probe.workload_results';
my $before = sql($node, $rows);
is(sql($node, 'BEGIN; ' . pgbench_sql(SMALL_RUN) . '; ROLLBACK'), 5, 'rolled back: it ran');
is(sql($node, $rows), $before, 'rolled back: there is no row');
nothing_left($node, 'rolled back');

# --- ended at any moment: as its processes start, later, and at its end

seed_random();
my $started = sql($node, 'SELECT pg_postmaster_start_time()');
for my $n (1 .. 30)
{
	my $what = $n % 4 ? 'pg_cancel_backend' : 'pg_terminate_backend';
	my $moment = $n > 15 ? rand(0.1) : $n % 8 ? rand(0.4) : 0.9 + rand(0.5);
	my $session = session($node);
	query($session, 'SET client_min_messages = warning');
	start_query($session, workload_call((qw(function procedure))[ $n % 2 ],
		"'upsert', duration => '1 s', clients => 4, rows => 1000"));
	sleep $moment;
	sql($node, "SELECT $what($session->{pid})");
	my ($out, $err) = finish_query($session);
	my $told = $err =~ /(canceling statement|terminating connection) due to/ ? 'ended'
	  : $out =~ /^\d/ && $err eq '' ? 'done' : $err;
	my $left;
	my $gone = wait_for(sub { ($left = leftovers($node)) eq '' });
	ok($gone && $told =~ /^(ended|done)$/, "$what at random, $n of 30: $told")
		or diag("after $moment s: $told $left");
	eval { $session->quit };
}
is(sql($node, 'SELECT pg_postmaster_start_time()'), $started,
	'ended at random: the server has not crashed');

# --- seen from elsewhere, while it runs

my $notice = qr{NOTICE:  upsert in place: \d+ s, \d+ transactions/s, latency [\d.]+ ms$}m;

my $session = session($node);
start_query($session, pgbench_sql("'upsert', 'place', clients => 2, duration => '300 s'"));
ok($node->poll_query_until('other', <<"SQL"), 'sync_probe.running shows it in another database');
SELECT pid = $session->{pid} AND workload = 'upsert' AND suite = 'upsert'
    AND location = 'place' AND phase = 'running' AND percent_done > 0 AND percent_done < 100
FROM sync_probe.running
SQL
for my $sql (pgbench_sql(SMALL_RUN), 'SELECT FROM sync_probe.probe()',
	'SELECT sync_probe.cleanup()')
{
	fails_ok($node, "meanwhile $sql", $sql, '55P03',
		qr/DETAIL:  Process $session->{pid} has been running workload "upsert"/,
		qr/ in tablespace "place" since 2/);
}
ok(wait_for(sub { $session->{run}->pump_nb; $session->{stderr} =~ $notice }),
	'notices tell how far it is');
end_probe($node, $session);
nothing_left($node, 'seen from elsewhere');

# What the procedure is for.
for ([ 'function', 'f' ], [ 'procedure', 't' ], [ 'procedure', 't', 'serializable' ])
{
	my ($kind, $free, $isolation) = (@$_, 'read committed');
	$session = session($node);
	query($session, "SET default_transaction_isolation = '$isolation'");
	start_query($session, workload_call($kind,
		"'upsert', 'place', clients => 2, duration => '300 s'"));
	wait_running($node, $session, 2);
	is(sql($node, "SELECT backend_xmin IS NULL FROM pg_stat_activity WHERE pid = $session->{pid}"),
		$free, "$isolation: the $kind " . ($free eq 't' ? 'holds no snapshot'
			: 'runs in its caller\'s snapshot'));
	end_probe($node, $session);
}

$session = start_probe($node, "'place', " . LONG_PROBE);
fails_ok($node, 'while a probe runs', pgbench_sql(SMALL_RUN), '55P03',
	qr/DETAIL:  Process $session->{pid} has been probing location "place" since 2/);
end_probe($node, $session);
nothing_left($node, 'a probe');

# --- schemas: which are ours, and whose

$session = start_workload('running');
my $marker = sql($node, "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace"
	  . " WHERE nspname ~ '^sync_probe_workload_'");
isnt($marker, '', 'a schema says what it is');
end_probe($node, $session);
nothing_left($node, 'the schema that said so');

sub make_schema
{
	my ($database, $name, $comment, $owner) = @_;
	my $quoted = $comment =~ s/'/''/gr;
	$node->safe_psql($database, qq(CREATE SCHEMA "$name" AUTHORIZATION $owner;
		CREATE TABLE "$name".t ();
		COMMENT ON SCHEMA "$name" IS '$quoted'));
	return;
}

sql($node, <<'SQL');
CREATE ROLE alice LOGIN;
CREATE ROLE bob LOGIN IN ROLE pg_execute_server_program;
GRANT CREATE ON DATABASE postgres TO bob;
GRANT USAGE ON SCHEMA sync_probe TO bob;
GRANT EXECUTE ON FUNCTION sync_probe.pgbench, sync_probe.cleanup TO bob;
SQL
my @foreign = (
	[ 'sync_probe_workload_00000001', '' ],
	[ 'sync_probe_workload_00000003', "$marker." ],
	[ 'sync_probe_workload_0000000A', $marker ],
	[ 'sync_probe_workload_000000010', $marker ],
);
my $foreign_schemas = sub { join "\n", sort @_, map { $_->[0] } @foreign };
make_schema('postgres', @$_, 'postgres') for @foreign;
make_schema('postgres', 'sync_probe_workload_0a11ce00', $marker, 'alice');
make_schema('postgres', 'sync_probe_workload_00000b0b', $marker, 'bob');
make_schema('other', 'sync_probe_workload_abcdef01', $marker, 'postgres');
make_schema('other', 'sync_probe_workload_abcdef02', $marker, 'postgres');
my $elsewhere = workload_schemas($node, 'other');

# Who sweeps how, what that returns, and which schemas are there afterwards.
for (
	[ 'a run of bob', 'bob', pgbench_sql(SMALL_RUN), 5, 'sync_probe_workload_0a11ce00' ],
	[ 'cleanup() of bob', 'bob', 'SELECT sync_probe.cleanup()', 0, 'sync_probe_workload_0a11ce00' ],
	[ 'cleanup() of a superuser', 'postgres', 'SELECT sync_probe.cleanup()', 1 ],
	[ 'a run of a superuser', 'postgres', pgbench_sql(SMALL_RUN), 5 ])
{
	my ($name, $role, $sql, $expected, @schemas) = @$_;
	is(sql($node, $sql, extra_params => [ '-U', $role ]), $expected, $name);
	is(workload_schemas($node), $foreign_schemas->(@schemas), "$name: which schemas stay");
	is(workload_schemas($node, 'other'), $elsewhere, "$name: nothing changes in another database");
}
is($node->safe_psql('other', 'SET client_min_messages = warning; '
	  . pgbench_sql(SMALL_RUN)), 5, 'a run in the other database');
is(workload_schemas($node, 'other'), '', 'drops what was left there');
sql($node, qq(DROP SCHEMA "$_->[0]" CASCADE)) for @foreign;
nothing_left($node, 'after all that was foreign');

# --- sql_bench() keeps the rows that it has, whatever ends it

# Its third operation connects 10,000 times.
sql($node, 'DELETE FROM sync_probe.workload_results');
$session = session($node);
start_query($session, "CALL sync_probe.sql_bench('{pg_default}', 1)");
ok($node->poll_query_until('postgres', 'SELECT count(*) >= 2 FROM sync_probe.workload_results'),
	'sql_bench: others see its rows while it runs');
wait_running($node, $session, 0);
my $sees_all = "SELECT backend_xmin IS NULL FROM pg_stat_activity WHERE pid = $session->{pid}";
is(sql($node, $sees_all), 't', 'sql_bench: it holds no snapshot');
my $told = end_probe($node, $session);
like($told, qr/NOTICE:  alter_table_add \(1 of 45\)\n.*NOTICE:  alter_table_drop \(2 of 45\)\n/s,
	'sql_bench: it tells how far it is');
like($told, qr/ERROR:  canceling statement due to user request/, 'sql_bench: it was cancelled');
my $first_rows = qr/^alter_table_add alter_table_drop\b.*\|1$/;
like(sql($node, <<'SQL'), $first_rows, 'sql_bench: the rows before are there');
SELECT string_agg(workload, ' ' ORDER BY result_id), count(DISTINCT run_group)
FROM sync_probe.workload_results
SQL
cmp_ok(sql($node, <<'SQL'), '>', 2, 'sql_bench: and can be compared');
SELECT count(*) FROM sync_probe.workload_comparison WHERE suite = 'sql_bench'
SQL
nothing_left($node, 'sql_bench');

# --- leftovers on whose tables somebody holds locks

# The server's log tells who waits for a lock.
sql($node, "ALTER DATABASE postgres SET $_") for 'log_lock_waits = on', "deadlock_timeout = '10ms'";
my @locked = map { sprintf 'sync_probe_workload_a11ce0%02x', $_ } 1 .. 12;
make_schema('postgres', $_, $marker, 'alice') for @locked;
$session = session($node);
query($session, 'BEGIN; LOCK TABLE ' . join(', ', map { "$_.t" } @locked)
	  . ' IN ACCESS SHARE MODE');

# Returns on how many tables somebody waited for a lock, and the messages.
sub run_beside_locks
{
	my ($name, $role, $sql, $expected) = @_;
	my $offset = -s $node->logfile;
	my ($out, $err) = run_sql($node, $sql, role => $role);
	is($out, $expected, "$name: it works") or diag($err);
	is(workload_schemas($node), join("\n", @locked), "$name: the schemas are still there");
	my $log = slurp_file($node->logfile, $offset);
	my %tables = map { $_ => 1 } $log =~ /still waiting for AccessExclusiveLock on relation (\d+)/g;
	return (scalar(keys %tables), $err);
}

my $run = pgbench_sql(SMALL_RUN);
my ($waits, $warnings) = run_beside_locks('a run, locked schemas of another role', 'postgres', $run,
	5);
is($waits, 0, 'a run of a superuser waits for no lock on what others left');
sql($node, join ';', map { "ALTER SCHEMA $_ OWNER TO bob" } @locked);
($waits) = run_beside_locks('a run of bob, locked schemas of its own', 'bob', $run, 5);
cmp_ok($waits, '>', 0, 'a run waits for locks on what is its own');
cmp_ok($waits, '<', @locked, 'but not for all of them');
($waits, $warnings) = run_beside_locks('cleanup(), locked schemas', 'postgres',
	'SELECT sync_probe.cleanup()', 0);
cmp_ok($waits, '<', @locked, 'cleanup() does not wait for all of them, either');
is(() = $warnings =~ /WARNING:/g, 1, 'it warns once') or diag($warnings);
like($warnings, qr/WARNING:  55P03: 12 schemas of workloads could not be dropped\n/,
	'it says how many are left');
my $timeout = 'canceling statement due to lock timeout';
like($warnings, qr/DETAIL:  The first is "sync_probe_workload_\w+": $timeout\n/, 'and why');
query($session, 'ROLLBACK');
$session->quit;
is(sql($node, 'SELECT sync_probe.cleanup()'), scalar(@locked),
	'without the locks cleanup() drops them');
sql($node, 'ALTER DATABASE postgres RESET ALL');
nothing_left($node, 'after the locks');

# --- DROP EXTENSION waits for a run, which has read a table and needs another for its record

$session = session($node, 'other');
start_query($session, pgbench_sql("'upsert', clients => 1, duration => '2 s'"));
wait_phase($node, $session, 'running');
is(($node->psql('other', 'DROP EXTENSION pg_sync_probe'))[0], 0, 'DROP EXTENSION beside a run');
my ($count, $errors) = finish_query($session);
like($count, qr/^\d+\n$/, 'DROP EXTENSION: the run ends as usual') or diag($errors);
$session->quit;
$node->safe_psql('other', 'CREATE EXTENSION pg_sync_probe');

# --- the server stops meanwhile

# Its sessions are ended, and new ones are refused, so that the schema stays.
for (
	[ 'fast', 'setting up' ],
	[ 'fast', 'running' ],
	[ 'fast', 'stubborn tear-down' ],
	[ 'immediate', 'tearing down' ],
	[ 'killed', 'running' ])
{
	my ($mode, $place) = @$_;
	my $name = "$mode shutdown, $place";
	close_gate($node);
	$session = start_workload($place);
	my @processes = ($node->{_pid}, split /\n/, sql($node, 'SELECT pid FROM pg_stat_activity'));
	$mode eq 'killed' ? kill_postmaster($node) : $node->stop($mode);
	finish_query($session);
	eval { $session->{run}->finish };
	open_gate($node);
	ok(wait_for(sub { !pgbench_children($node) }), "$name: pgbench is gone");

	# a server starts only where nothing of the one before is left, be it a zombie
	ok(wait_for(sub { !grep { kill 0, $_ } @processes }), "$name: all processes are gone");
	$node->start if $mode ne 'killed';
	is(sql($node, 'SELECT sync_probe.cleanup()'), 1, "$name: what cleanup() finds");
	nothing_left($node, $name);
}

# Sessions there are go on, so that a run has its result; new ones are refused.
$session = verbose_session($node);
close_gate($node);
start_query($session, pgbench_sql("'gated script', clients => 2, transactions => 1"));
wait_running($node, $session, 2);
stop_smartly($node, sub {
	open_gate($node);
	($count, $errors) = finish_query($session);
	is($count, "2\n", 'smart shutdown: the run has a result');
	like($errors, qr/WARNING:  08001: pgbench could not connect while it dropped .*shutting down/s,
		'smart shutdown: and a warning');
	$session->quit;
});
$node->start;
is(sql($node, 'SELECT sync_probe.cleanup()'), 1, 'smart shutdown: what cleanup() finds');
nothing_left($node, 'smart shutdown');

# --- set-ups and a tear-down that would not end, begun above

my @slow_says = (
	[ qr/ERROR:  38000: pgbench .* set up workload "waits"\nDETAIL: .*due to lock timeout/,
		qr/HINT:  The transaction that runs the workload may hold the lock itself/,
		qr/ERROR:  38000: pgbench did not end within 61 s while it set up workload "sleeps"/ ],
	[qr/WARNING:  38000: pgbench did not end within 61 s while it tore down workload "stays"/]);
for (@slow)
{
	my ($cluster, $file, $psql) = @$_;
	my ($said, @says) = ('', @{ shift @slow_says });
	ok(wait_for(sub { $said = slurp_file($file); @says == grep { $said =~ $_ } @says }),
		'what would not end has ended, and says why') or diag($said);
	$psql->kill_kill;
	nothing_left($cluster, 'what took too long');
	is(sql($cluster, <<'SQL'), 5, 'and a workload runs again');
SELECT transactions FROM sync_probe.pgbench(clients => 1, transactions => 5, duration => '1 s');
SQL
}

end_tests($node, map { $_->[0] } @slow);
