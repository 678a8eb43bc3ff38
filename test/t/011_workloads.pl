# However a workload ends, nothing of it stays: no pgbench, no session, no schema,
# no directory, no lock.  What a crash or a shutdown left is dropped by the next run of the
# role in that database, or by cleanup(), and nothing else is.  Ends at random moments are those of
# test/full/kill_anything.pl.

use SyncProbeTest;

plan skip_all => 'processes are looked for in /proc' unless -e '/proc/self/stat';

my $node = probe_cluster('workloads',
	conf => "restart_after_crash = on\nclient_connection_check_interval = 0\n"
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
('renamed', NULL, 'SET application_name = ''renamed''; SELECT pg_sleep(1000);', NULL),
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

# Set-ups and a tear-down that would not end, two of them after a minute: so they have a cluster.
my $slow = probe_cluster('slow', conf => "pg_sync_probe.max_duration = '1s'");
sql($slow, <<'SQL');
CREATE TABLE locked ();
INSERT INTO sync_probe.workloads (workload, setup, script, teardown) VALUES
('waits', 'SELECT FROM public.locked', 'SELECT 1;', NULL),
('sleeps', 'CREATE TABLE t (i int); SELECT pg_sleep(1000000)', 'SELECT 1;', NULL),
('stays', NULL, 'SELECT 1;', 'SELECT pg_sleep(1000000)');
SQL
my $sleeping = verbose_session($slow);
start_query($sleeping, 'BEGIN; LOCK TABLE locked;'
	  . "SELECT FROM sync_probe.pgbench('waits', clients => 1, duration => '1 s'); ROLLBACK;"
	  . "CALL sync_probe.run_workload('sleeps', clients => 1, duration => '1 s');"
	  . "CALL sync_probe.run_workload('stays', clients => 1, transactions => 1)");

# ------------------------------------------------------- what may end a workload

# Where it is when it ends: phase, arguments, sessions.
my $once = 'clients => 1, transactions => 1';
my %places = (
	'setting up' => [ 'setting up', "'slow set-up', $once", 1 ],
	'running' => [ 'running', "'upsert', clients => 3, duration => '300 s', rows => 1000", 3 ],
	'sleeping' => [ 'running', "'sleepy', clients => 2, duration => '300 s'", 2 ],
	'tearing down' => [ 'tearing down', "'gated tear-down', $once", 1 ],
	'stubborn tear-down' => [ 'tearing down', "'stubborn tear-down', $once", 1 ]);
my @everywhere = ('setting up', 'running', 'sleeping', 'tearing down');

# A session whose workload has come there.
sub start_workload ($place, $kind)
{
	my ($phase, $arguments, $sessions) = @{ $places{$place} };
	my $session = verbose_session($node);
	close_gate($node);
	start_query($session, $kind eq 'caught' ? "SELECT caught(\$args\$$arguments\$args\$)"
		: workload_call($kind, $arguments));
	wait_running($node, $session, $sessions, $phase);
	return $session;
}

my $cancel = signal_backend($node, 'pg_cancel_backend');
my $n = 0;

# What ends a workload, what the client is told, whether its session goes on.  Optional: where
# (else everywhere), how it is called if not by function and procedure in turn.
for my $ending (
	{ name => 'pg_cancel_backend', end => $cancel, survives => 1,
		says => qr/ERROR:  57014: canceling statement due to user request/,
		where => [ @everywhere, 'stubborn tear-down' ] },
	{ name => 'cancel in an exception block', end => $cancel, survives => 1, kind => 'caught',
		says => qr/^caught$/m, where => [ 'setting up', 'sleeping' ] },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/FATAL:  57P01: terminating connection due to administrator command/ },
	{ name => 'lost client', end => signal_client('KILL'), says => CLIENT_LOST,
		where => [ 'setting up', 'running' ] },
	{ name => 'SIGKILL to pgbench', end => sub { kill 'KILL', pgbench_children($node) },
		survives => 1, says => qr/(ERROR|WARNING):  38000: pgbench was ended by signal 9 while it / },
	{ name => 'killed backend', end => sub { kill_process($node, $_[0]{pid}) },
		says => qr/connection.*(lost|closed)/ })
{
	for my $place (@{ $ending->{where} // \@everywhere })
	{
		my $kind = $ending->{kind} // (qw(function procedure))[ $n++ % 2 ];
		my $name = "$ending->{name}, $kind $place";
		my $session = start_workload($place, $kind);
		isnt(leftovers($node), '', "$name: there is something that could be left");
		is(sql($node, 'SELECT percent_done FROM sync_probe.running'), 100, "$name: all is done")
		  if $place eq 'tearing down';
		$ending->{end}->($session);
		open_gate($node);
		my ($out, $err) = finish_query($session);
		client_told_ok($node, $session, $name, $ending->{says}, $out, $err);
		if ($ending->{survives})
		{
			nothing_left($node, "$name, the session lives on");
			is((query($session, pgbench_sql(SMALL_RUN)))[0], "5\n",
				"$name: the session runs a workload again");
			is(descriptors($session->{pid}), '', "$name: no descriptor is open");
			$session->quit;
		}
		else
		{
			ok(wait_for(sub { !pid_alive($session->{pid}) }), "$name: the backend is gone");
			eval { $session->{run}->finish };
		}
		is(sql($node, 'SELECT sync_probe.cleanup()'), 1, "$name: the crash left a schema")
		  if $ending->{name} eq 'killed backend';
		nothing_left($node, $name);
	}
}

# --- a transaction that does not commit

my $rows = 'SELECT count(*) FROM sync_probe.workload_results';
my $before = sql($node, $rows);
is(sql($node, 'BEGIN; ' . pgbench_sql(SMALL_RUN) . '; ROLLBACK'), 5, 'rolled back: it ran');
is(sql($node, $rows), $before, 'rolled back: there is no row');
nothing_left($node, 'rolled back');

# --- seen from elsewhere, while it runs

my $session = session($node);
query($session, "SET default_transaction_isolation = 'serializable'");
start_query($session,
	workload_call('procedure', "'upsert', 'place', clients => 2, duration => '300 s'"));
ok($node->poll_query_until('other', <<"SQL"), 'sync_probe.running shows it in another database');
SELECT pid = $session->{pid} AND workload = 'upsert' AND suite = 'upsert'
    AND location = 'place' AND phase = 'running' AND percent_done > 0 AND percent_done < 100
FROM sync_probe.running
SQL
fails_ok($node, "meanwhile $_", $_, '55P03',
	qr/DETAIL:  Process $session->{pid} has been running workload "upsert"/,
	qr/ in tablespace "place" since 2/)
  for pgbench_sql(SMALL_RUN), 'SELECT FROM sync_probe.probe()', 'SELECT sync_probe.cleanup()';
my $sees_all = 'SELECT backend_xmin IS NULL FROM pg_stat_activity WHERE pid = ';
is(sql($node, $sees_all . $session->{pid}), 't', 'the procedure holds no snapshot');
ok(wait_for(sub { $session->{run}->pump_nb; $session->{stderr} =~
	qr{NOTICE:  upsert in place: \d+ s, \d+ transactions/s, latency [\d.]+ ms$}m }),
	'notices tell how far it is');
end_probe($node, $session);
nothing_left($node, 'seen from elsewhere');

# --- schemas: which are ours, and whose

$session = start_workload('sleeping', 'function');
my $marker = sql($node, "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace"
	  . " WHERE nspname ~ '^sync_probe_workload_'");
isnt($marker, '', 'a schema says what it is');
end_probe($node, $session);
nothing_left($node, 'the schema that said so');

# Each with a table; the owner is postgres, and the comment the marker, unless given.
sub make_schema ($name, %of)
{
	my $comment = ($of{comment} // $marker) =~ s/'/''/gr;
	$node->safe_psql($of{database} // 'postgres', qq(
		CREATE SCHEMA "$name" AUTHORIZATION ${\ ($of{owner} // 'postgres') };
		CREATE TABLE "$name".t ();
		COMMENT ON SCHEMA "$name" IS '$comment'));
	return;
}

sql($node, <<'SQL');
CREATE ROLE alice LOGIN;
CREATE ROLE bob LOGIN IN ROLE pg_execute_server_program;
GRANT CREATE ON DATABASE postgres TO bob;
GRANT USAGE ON SCHEMA sync_probe TO bob;
GRANT EXECUTE ON FUNCTION sync_probe.pgbench, sync_probe.cleanup TO bob;
SQL
make_schema('sync_probe_workload_00000001', comment => '');
make_schema('sync_probe_workload_00000003', comment => "$marker.");
make_schema('sync_probe_workload_0000000A');
make_schema('sync_probe_workload_000000010');
my $foreign = workload_schemas($node);
make_schema('sync_probe_workload_a11ce000', owner => 'alice');
make_schema('sync_probe_workload_b0b00000', owner => 'bob');
make_schema('sync_probe_workload_abcdef01', database => 'other');

# Who sweeps how, what that returns, and which schemas are there afterwards.
for (
	[ 'a run of bob', 'bob', pgbench_sql(SMALL_RUN), 5, "\nsync_probe_workload_a11ce000" ],
	[ 'cleanup() of bob', 'bob', 'SELECT sync_probe.cleanup()', 0, "\nsync_probe_workload_a11ce000" ],
	[ 'cleanup() of a superuser', 'postgres', 'SELECT sync_probe.cleanup()', 1, '' ],
	[ 'a run of a superuser', 'postgres', pgbench_sql(SMALL_RUN), 5, '' ])
{
	my ($name, $role, $sql, $expected, $others) = @$_;
	is((run_sql($node, $sql, role => $role))[0], $expected, $name);
	is(workload_schemas($node), "$foreign$others", "$name: which schemas stay");
}
is(workload_schemas($node, 'other'), 'sync_probe_workload_abcdef01',
	'nothing changes in another database');
is((run_sql($node, pgbench_sql(SMALL_RUN), database => 'other'))[0], 5, 'a run in the other database');
is(workload_schemas($node, 'other'), '', 'drops what was left there');
sql($node, qq(DROP SCHEMA "$_" CASCADE)) for split /\n/, $foreign;
nothing_left($node, 'after all that was foreign');

# --- leftovers on whose tables somebody holds locks

# The server's log tells who waits for a lock.
sql($node, "ALTER DATABASE postgres SET $_") for 'log_lock_waits = on', "deadlock_timeout = '10ms'";
my @locked = map { sprintf 'sync_probe_workload_a11ce0%02x', $_ } 1 .. 12;
make_schema($_, owner => 'alice') for @locked;
$session = session($node);
query($session, 'BEGIN; LOCK TABLE ' . join(', ', map { "$_.t" } @locked)
	  . ' IN ACCESS SHARE MODE');

# Returns on how many tables somebody waited for a lock, and the messages.
sub run_beside_locks ($name, $role, $sql, $expected)
{
	my $offset = -s $node->logfile;
	my ($out, $err) = run_sql($node, $sql, role => $role);
	is($out, $expected, "$name: it works") or diag($err);
	is(workload_schemas($node), join("\n", @locked), "$name: the schemas are still there");
	my %tables = map { $_ => 1 } slurp_file($node->logfile, $offset)
	  =~ /still waiting for AccessExclusiveLock on relation (\d+)/g;
	return (scalar(keys %tables), $err);
}

my $run = pgbench_sql(SMALL_RUN);
is((run_beside_locks('a superuser', 'postgres', $run, 5))[0], 0,
	'a run of a superuser waits for no lock on what others left');
sql($node, join ';', map { "ALTER SCHEMA $_ OWNER TO bob" } @locked);
my ($waits) = run_beside_locks('bob', 'bob', $run, 5);
ok($waits > 0 && $waits < @locked, 'a run waits for some of the locks on what is its own');
($waits, my $warnings) = run_beside_locks('cleanup()', 'postgres', 'SELECT sync_probe.cleanup()', 0);
cmp_ok($waits, '<', @locked, 'cleanup() does not wait for all of them, either');
like($warnings, qr/\A[^\n]*WARNING:  55P03: 12 schemas of workloads could not be dropped\n/,
	'it says how many are left');
like($warnings, qr/DETAIL:  The first is "sync_probe_workload_\w+": canceling statement due to lock/,
	'and why');
unlike($warnings, qr/WARNING:.*WARNING:/s, 'it warns once');
query($session, 'ROLLBACK');
$session->quit;
is(sql($node, 'SELECT sync_probe.cleanup()'), scalar(@locked),
	'without the locks cleanup() drops them');
sql($node, 'ALTER DATABASE postgres RESET ALL');
nothing_left($node, 'after the locks');

# --- sessions that nobody can know by their name: they notice that pgbench is gone

$session = session($node);
start_query($session, pgbench_sql("'renamed', clients => 1, duration => '300 s'"));
my $renamed = "FROM pg_stat_activity WHERE application_name = 'renamed'";
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 $renamed"), 'renamed: it runs');
end_probe($node, $session);
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 $renamed"), 'renamed: it ends');
nothing_left($node, 'renamed');

# --- a leftover whose drop outlives the pgbench that began it

my $leftover = 'sync_probe_workload_510ef00d';
make_schema($leftover);
sql($node, <<"SQL");
CREATE FUNCTION sleep_at_drop() RETURNS event_trigger LANGUAGE plpgsql
SET client_connection_check_interval = 0 AS \$\$
BEGIN
    PERFORM pg_sleep(1000) FROM pg_event_trigger_dropped_objects()
    WHERE object_identity LIKE '$leftover%';
END\$\$;
CREATE EVENT TRIGGER sleep_at_drop ON sql_drop EXECUTE FUNCTION sleep_at_drop();
CREATE TABLE drops (beside bigint);
INSERT INTO sync_probe.workloads (workload, script) VALUES ('sees drops',
    'INSERT INTO drops SELECT count(*) FROM pg_stat_activity WHERE wait_event = ''PgSleep'';');
SELECT FROM sync_probe.pgbench('sees drops', clients => 1, transactions => 1);
DROP EVENT TRIGGER sleep_at_drop;
SQL
is(sql($node, 'SELECT beside FROM drops'), 0, 'no drop goes on beside a run');
is(sql($node, 'SELECT sync_probe.cleanup()'), 1, 'what was not dropped is left to cleanup()');
sql($node, 'DROP TABLE drops; DROP FUNCTION sleep_at_drop');

# --- sql_bench() keeps the rows that it has, whatever ends it

# Its third operation connects 10,000 times.
sql($node, 'DELETE FROM sync_probe.workload_results');
$session = session($node);
start_query($session, "CALL sync_probe.sql_bench('{pg_default}', 1)");
ok($node->poll_query_until('postgres', 'SELECT count(*) >= 2 FROM sync_probe.workload_results'),
	'sql_bench: others see its rows while it runs');
wait_running($node, $session, 0);
is(sql($node, $sees_all . $session->{pid}), 't', 'sql_bench: it holds no snapshot');
my $told = end_probe($node, $session);
like($told, qr/NOTICE:  alter_table_add \(1 of 45\)\n.*NOTICE:  alter_table_drop \(2 of 45\)\n/s,
	'sql_bench: it tells how far it is');
like($told, qr/ERROR:  canceling statement due to user request/, 'sql_bench: it was cancelled');
like(sql($node, <<'SQL'), qr/^alter_table_add alter_table_drop\b.*\|1$/,
SELECT string_agg(workload, ' ' ORDER BY result_id), count(DISTINCT run_group)
FROM sync_probe.workload_results
SQL
	'sql_bench: the rows before are there');
nothing_left($node, 'sql_bench');

# --- DROP EXTENSION waits for a run, which has read a table and needs another for its record

$session = session($node, 'other');
start_query($session, pgbench_sql("'upsert', clients => 1, duration => '2 s'"));
wait_phase($node, $session, 'running');
is(($node->psql('other', 'DROP EXTENSION pg_sync_probe'))[0], 0, 'DROP EXTENSION beside a run');
like((finish_query($session))[0], qr/^\d+\n$/, 'DROP EXTENSION: the run ends as usual');
$session->quit;

# --- the server stops meanwhile

# Its sessions are ended, and new ones are refused, so that the schema stays.
for (
	[ 'fast', 'running' ],
	[ 'fast', 'stubborn tear-down' ],
	[ 'immediate', 'tearing down' ],
	[ 'killed', 'running' ])
{
	my ($mode, $place) = @$_;
	my $name = "$mode shutdown, $place";
	$session = start_workload($place, 'function');
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
	my ($count, $errors) = finish_query($session);
	is($count, "2\n", 'smart shutdown: the run has a result');
	like($errors, qr/WARNING:  08001: pgbench could not connect while it dropped .*shutting down/s,
		'smart shutdown: and a warning');
	$session->quit;
});
$node->start;
is(sql($node, 'SELECT sync_probe.cleanup()'), 1, 'smart shutdown: what cleanup() finds');
nothing_left($node, 'smart shutdown');

# --- set-ups and a tear-down that would not end, begun above

my (undef, $said) = finish_query($sleeping);
like($said, $_, 'what would not end has ended, and says why')
  for qr/ERROR:  38000: pgbench .* set up workload "waits"\nDETAIL: .*due to lock timeout/,
  qr/HINT:  The transaction that runs the workload may hold the lock itself/,
  qr/ERROR:  38000: pgbench did not end within 61 s while it set up workload "sleeps"/,
  qr/WARNING:  38000: pgbench did not end within 61 s while it tore down workload "stays"/;
nothing_left($slow, 'what took too long');
is((query($sleeping, pgbench_sql(SMALL_RUN)))[0], "5\n", 'and a workload runs again');
$sleeping->quit;

end_tests($node, $slow);
