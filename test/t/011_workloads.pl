# However a workload ends, nothing of it stays: no pgbench, no session, no schema,
# no directory, no lock.  What a crash or a shutdown left is dropped by the next run of the
# role in that database, or by cleanup(), and nothing else is.  Ends at random moments are those of
# test/full/kill_anything.pl.

use SyncProbeTest;

my $node = probe_cluster('workloads',
	conf => "restart_after_crash = on\nclient_connection_check_interval = 0\n"
		  . 'log_statement = none');
add_tablespace($node, 'place');

# The sessions of "sleepy" notice nothing by themselves, neither that pgbench is
# gone nor that its objects are to go.
sql($node, <<"SQL");
INSERT INTO sync_probe.workloads (workload, setup, script, teardown) VALUES
('slow set-up', 'CREATE TABLE t (i int); SELECT pg_sleep(60)', 'SELECT 1;', NULL),
('sleepy', 'CREATE TABLE t (i int)', 'SELECT pg_sleep(60);', NULL),
('renamed', NULL, 'SET application_name = ''renamed''; SELECT pg_sleep(1000);', NULL),
('gated tear-down', 'CREATE TABLE t (i int)', 'SELECT 1;', \$gate\$${\WAIT_AT_GATE}\$gate\$),
('stubborn tear-down', 'CREATE TABLE t (i int)', 'SELECT 1;', \$\$DO 'BEGIN LOOP
    BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END;
END LOOP; END'\$\$);
SQL

# Set-ups that would not end, one of them for a minute: so they have a cluster.
my $slow = probe_cluster('slow', conf => "pg_sync_probe.max_duration = '1s'");
sql($slow, <<'SQL');
CREATE TABLE locked ();
INSERT INTO sync_probe.workloads (workload, setup, script) VALUES
('waits', 'SELECT FROM public.locked', 'SELECT 1;'),
('sleeps', 'CREATE TABLE t (i int); SELECT pg_sleep(1000000)', 'SELECT 1;');
SQL
my $sleeping = verbose_session($slow);
start_query($sleeping, 'BEGIN; LOCK TABLE locked;'
	  . "SELECT FROM sync_probe.pgbench('waits', clients => 1, duration => '1 s'); ROLLBACK;"
	  . "CALL sync_probe.run_workload('sleeps', clients => 1, duration => '1 s')");

# ------------------------------------------------------- what may end a workload

# Where it is when it ends: phase, arguments, sessions.
my $once = 'clients => 1, transactions => 1';
my %places = (
	'setting up' => [ 'setting up', "'slow set-up', $once", 1 ],
	'sleeping' => [ 'running', "'sleepy', clients => 2, duration => '300 s'", 2 ],
	'tearing down' => [ 'tearing down', "'gated tear-down', $once", 1 ],
	'stubborn tear-down' => [ 'tearing down', "'stubborn tear-down', $once", 1 ]);
my @everywhere = ('setting up', 'sleeping', 'tearing down');

# A session whose workload has come there.
sub start_workload ($place, $kind)
{
	my ($phase, $arguments, $sessions) = @{ $places{$place} };
	my $session = verbose_session($node);
	close_gate($node);
	start_query($session, workload_call($kind, $arguments));
	wait_running($node, $session, $sessions, $phase);
	return $session;
}

my $cancel = signal_backend($node, 'pg_cancel_backend');
my $n = 0;

# What ends a workload, what the client is told, whether its session goes on, and where, else
# everywhere.  It is called by function and procedure in turn.
for my $ending (
	{ name => 'pg_cancel_backend', end => $cancel, survives => 1,
		says => qr/ERROR:  57014: canceling statement due to user request/,
		where => [ @everywhere, 'stubborn tear-down' ] },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/FATAL:  57P01: terminating connection due to administrator command/ },
	{ name => 'lost client', end => signal_client('KILL'), says => CLIENT_LOST,
		where => ['sleeping'] },
	{ name => 'SIGKILL to pgbench', end => sub { kill 'KILL', pgbench_children($node) },
		survives => 1,
		says => qr/(ERROR|WARNING):  38000: pgbench was ended by signal 9 while it / },
	{ name => 'killed backend', end => sub { kill_process($node, $_[0]{pid}) },
		says => qr/connection.*(lost|closed)/, where => ['sleeping'] })
{
	for my $place (@{ $ending->{where} // \@everywhere })
	{
		my $kind = (qw(function procedure))[ $n++ % 2 ];
		my $name = "$ending->{name}, $kind $place";
		my $session = start_workload($place, $kind);
		isnt(leftovers($node), '', "$name: there is something that could be left");
		$ending->{end}->($session);
		open_gate($node);
		statement_ended_ok($node, $session, $name, $ending);
		if ($ending->{survives})
		{
			nothing_left($node, "$name, the session lives on");
			is((query($session, pgbench_sql(SMALL_RUN)))[0], "5\n",
				"$name: the session runs a workload again");
			is(descriptors($session->{pid}), '', "$name: no descriptor is open");
			$session->quit;
		}
		is(sql($node, 'SELECT sync_probe.cleanup()'), 1, "$name: the crash left a schema")
		  if $ending->{name} eq 'killed backend';
		nothing_left($node, $name);
	}
}

# --- seen from elsewhere, while it runs

my $session = session($node);
query($session, "SET default_transaction_isolation = 'serializable'");
start_query($session,
	workload_call('procedure', "'upsert', 'place', clients => 2, duration => '300 s'"));
ok($node->poll_query_until('postgres', <<"SQL"), 'sync_probe.running shows it');
SELECT pid = $session->{pid} AND workload = 'upsert' AND suite = 'upsert'
    AND location = 'place' AND phase = 'running' AND percent_done > 0 AND percent_done < 100
FROM sync_probe.running
SQL
fails_ok($node, 'meanwhile another', pgbench_sql(SMALL_RUN), '55P03',
	qr/a workload is running.*Process $session->{pid} began it in location "place" at 2/s);
is(sql($node, "SELECT backend_xmin FROM pg_stat_activity WHERE pid = $session->{pid}"), '',
	'the procedure holds no snapshot');
ok(wait_for(sub { $session->{run}->pump_nb; $session->{stderr} =~
	qr{NOTICE:  upsert in place: \d+ s, \d+ transactions/s, latency [\d.]+ ms$}m }),
	'notices tell how far it is');
end_probe($node, $session);
nothing_left($node, 'seen from elsewhere');

# --- schemas: which are ours, and whose

$session = start_workload('sleeping', 'function');
my $marker = sql($node, "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace"
	  . " WHERE nspname ~ '^sync_probe_workload_'");
end_probe($node, $session);

sub make_schema ($name, $owner = 'postgres', $comment = $marker)
{
	return sql($node, qq(CREATE SCHEMA "$name" AUTHORIZATION $owner; CREATE TABLE "$name".t ();
		COMMENT ON SCHEMA "$name" IS '$comment'));
}

sql($node, <<'SQL');
CREATE ROLE alice LOGIN;
CREATE ROLE bob LOGIN IN ROLE pg_execute_server_program;
GRANT CREATE ON DATABASE postgres TO bob;
GRANT USAGE ON SCHEMA sync_probe TO bob;
GRANT EXECUTE ON FUNCTION sync_probe.pgbench, sync_probe.cleanup TO bob;
SQL
make_schema('sync_probe_workload_00000001', 'postgres', '');
make_schema('sync_probe_workload_00000003', 'postgres', "$marker.");
make_schema('sync_probe_workload_0000000A');
make_schema('sync_probe_workload_000000010');
my $foreign = workload_schemas($node);
make_schema('sync_probe_workload_a11ce000', 'alice');
make_schema('sync_probe_workload_b0b00000', 'bob');

# Who sweeps how, what that returns, and which schemas are there afterwards.
for (
	[ 'a run of bob', 'bob', pgbench_sql(SMALL_RUN), 5, "\nsync_probe_workload_a11ce000" ],
	[ 'of bob', 'bob', 'SELECT sync_probe.cleanup()', 0, "\nsync_probe_workload_a11ce000" ],
	[ 'cleanup() of a superuser', 'postgres', 'SELECT sync_probe.cleanup()', 1, '' ])
{
	my ($name, $role, $sql, $expected, $others) = @$_;
	is((run_sql($node, $sql, role => $role))[0], $expected, $name);
	is(workload_schemas($node), "$foreign$others", "$name: which schemas stay");
}
sql($node, qq(DROP SCHEMA "$_" CASCADE)) for split /\n/, $foreign;

# --- leftovers on whose tables somebody holds locks

# The server's log tells who waits for a lock.
sql($node, "ALTER DATABASE postgres SET $_") for 'log_lock_waits = on', "deadlock_timeout = '10ms'";
my @locked = map { sprintf 'sync_probe_workload_b0b000%02x', $_ } 1 .. 12;
make_schema($_, 'bob') for @locked;
$session = session($node);
query($session, 'BEGIN; LOCK TABLE ' . join(', ', map { "$_.t" } @locked)
	  . ' IN ACCESS SHARE MODE');

# Who does what, what that returns, and on the locks of how many tables it waits.
my $warnings;
for (
	[ 'a run of another', 'postgres', pgbench_sql(SMALL_RUN), 5, qr/^0$/ ],
	[ 'a run of the owner', 'bob', pgbench_sql(SMALL_RUN), 5, qr/^([1-9]|1[01])$/ ],
	[ 'cleanup()', 'postgres', 'SELECT sync_probe.cleanup()', 0, qr/^(\d|1[01])$/ ])
{
	my ($name, $role, $sql, $expected, $some) = @$_;
	my $offset = -s $node->logfile;
	(my $out, $warnings) = run_sql($node, $sql, role => $role);
	is($out, $expected, "$name: it works") or diag($warnings);
	is(workload_schemas($node), join("\n", @locked), "$name: the schemas are still there");
	my %tables = map { $_ => 1 } slurp_file($node->logfile, $offset)
	  =~ /still waiting for AccessExclusiveLock on relation (\d+)/g;
	like(scalar(keys %tables), $some, "$name: waits for none or some of the locks, never for all");
}
like($warnings, qr/\A[^\n]*WARNING:  55P03: 12 schemas of workloads could not be dropped
DETAIL:  The first is "sync_probe_workload_\w+": canceling statement due to lock(?!.*WARNING:)/s,
	'cleanup() says how many are left and why, and warns once');
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

# --- the server stops meanwhile

# Its sessions are ended, and new ones are refused, so that the schema stays.
for (
	[ 'fast', 'stubborn tear-down' ], [ 'immediate', 'tearing down' ], [ 'killed', 'sleeping' ])
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

# --- set-ups that would not end, begun above

my (undef, $said) = finish_query($sleeping);
like($said, $_, 'what would not end has ended, and says why')
  for qr/ERROR:  38000: pgbench .* set up workload "waits"\nDETAIL: .*due to lock timeout/,
  qr/HINT:  The transaction that runs the workload may hold the lock itself/,
  qr/ERROR:  38000: pgbench did not end within 61 s while it set up workload "sleeps"/;
nothing_left($slow, 'what took too long');
$sleeping->quit;

end_tests($node, $slow);
