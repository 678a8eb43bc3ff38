# However a workload ends, nothing of it stays: no pgbench, no session, no schema,
# no directory, no lock, no worker.  What a crash left is dropped by the next run of the
# role in that database, or by cleanup(), and nothing else is.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use File::Path qw(rmtree);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;
use Time::HiRes qw(sleep);

plan skip_all => 'processes are looked for in /proc' unless -e '/proc/self/stat';

my $node = probe_cluster('workloads',
	conf => "restart_after_crash = on\nclient_connection_check_interval = '50ms'\n"
		  . 'log_statement = none');
add_tablespace($node, 'place');

# A tear-down or script with this waits as long as there is a file "gate" in the data
# directory.
my $gate = $node->data_dir . '/gate';
my $wait = q{DO 'BEGIN WHILE (pg_stat_file(''gate'', true)).size IS NOT NULL LOOP
    PERFORM pg_sleep(0.02);
END LOOP; END'};

# The sessions of "sleepy" notice nothing by themselves, neither that pgbench is
# gone nor that its objects are to go.
$node->safe_psql('postgres', <<"SQL");
CREATE DATABASE other;
INSERT INTO sync_probe.workloads (workload, setup, script, teardown) VALUES
('slow set-up', 'CREATE TABLE t (i int); SELECT pg_sleep(60)', 'SELECT 1;', NULL),
('gated set-up', 'CREATE TABLE t (i int);' || \$gate\$$wait\$gate\$, 'SELECT 1;', NULL),
('gated script', 'CREATE TABLE t (i int)', \$gate\$$wait;\$gate\$, NULL),
('sleepy', 'CREATE TABLE t (i int)', 'SELECT pg_sleep(60);', NULL),
('gated tear-down', 'CREATE TABLE t (i int)', 'SELECT 1;', \$gate\$$wait\$gate\$),
('endless tear-down', 'CREATE TABLE t (i int)', 'SELECT 1;', 'SELECT pg_sleep(60)'),
('reluctant tear-down', 'CREATE TABLE t (i int)', 'SELECT 1;', \$\$DO 'BEGIN
    PERFORM pg_sleep(60);
EXCEPTION WHEN query_canceled THEN
    PERFORM pg_advisory_lock(7);
    PERFORM pg_sleep(60);
END'\$\$),
('stubborn tear-down', 'CREATE TABLE t (i int)', 'SELECT 1;', \$\$DO 'BEGIN LOOP
    BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END;
END LOOP; END'\$\$);
CREATE FUNCTION caught(workload name, clients int, transactions int) RETURNS text
    LANGUAGE plpgsql AS \$\$
BEGIN
    PERFORM FROM sync_probe.pgbench(workload, clients => clients, transactions => transactions);
    RETURN 'not ended';
EXCEPTION WHEN query_canceled THEN
    PERFORM FROM sync_probe.pgbench('upsert', clients => 1, transactions => 5, rows => 10);
    RETURN 'caught';
END
\$\$;
SQL
$node->safe_psql('other', 'CREATE EXTENSION pg_sync_probe');

# Set-ups and a tear-down that would not end, on a cluster of their own; see the end for
# what is said.
my $slow = probe_cluster('slow_set_up', conf => "pg_sync_probe.max_duration = '1s'");
$slow->safe_psql('postgres', <<'SQL');
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
my $slow_script = PostgreSQL::Test::Utils::tempdir() . '/script';
append_to_file($slow_script, <<'SQL');
\set VERBOSITY verbose
BEGIN;
LOCK TABLE locked;
SELECT FROM sync_probe.pgbench('waits', clients => 1, duration => '1 s');
ROLLBACK;
CALL sync_probe.run_workload('sleeps', clients => 1, duration => '1 s');
CALL sync_probe.run_workload('stays', clients => 1, transactions => 1);
SQL
my $slow_psql = IPC::Run::start([ 'psql', '-Xq', '-d', $slow->connstr('postgres'), '-f',
	$slow_script ],
	'<', \undef, '>', '/dev/null', '2>', "$slow_script.messages");

# Where it is when it ends: phase, workload with how long it runs, clients.
my %places = (
	'setting up' => [ 'setting up', "'slow set-up', clients => 1, transactions => 1", 0 ],
	'running' => [ 'running', "'upsert', clients => 3, duration => '300 s', rows => 1000", 3 ],
	'sleeping' => [ 'running', "'sleepy', clients => 2, duration => '300 s'", 2 ],
	'tearing down' => [ 'tearing down', "'gated tear-down', clients => 1, transactions => 1", 0 ],
	'endless tear-down' => [ 'tearing down', "'endless tear-down', clients => 1, transactions => 1",
		0 ],
	'reluctant tear-down' => [ 'tearing down',
		"'reluctant tear-down', clients => 1, transactions => 1", 0 ],
	'stubborn tear-down' => [ 'tearing down',
		"'stubborn tear-down', clients => 1, transactions => 1", 0 ],
);

sub wait_place
{
	my ($session, $place) = @_;
	my ($phase, undef, $clients) = @{ $places{$place} };
	wait_phase($node, $session, $phase);
	wait_running($node, $session, $clients) if $clients;
	return;
}

sub close_gate { append_to_file($gate, 'closed'); return }
sub open_gate { unlink $gate; return }

sub start_workload
{
	my ($place, $kind, $session) = @_;
	$session //= session($node);
	start_query($session, workload_call($kind // 'function', $places{$place}[1]));
	wait_place($session, $place);
	return $session;
}

# ------------------------------------------------------- what may end a workload

sub signal_pgbench
{
	my ($signal) = @_;
	return sub { kill $signal, pgbench_children($node) };
}

sub worker
{
	return $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type ~ '^pg_sync_probe'");
}

sub terminate_worker
{
	$node->safe_psql('postgres', 'SELECT pg_terminate_backend(' . worker() . ')');
	return;
}

# As a shutdown does: the postmaster signals the process, and then its group.
sub terminate_worker_twice
{
	terminate_worker();
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND granted");
	terminate_worker();
	return;
}

my @everywhere = ('setting up', 'running', 'sleeping', 'tearing down');
my $cancelled = qr/ERROR:  57014: canceling statement due to user request/;
my $timed_out = qr/ERROR:  57014: canceling statement due to statement timeout/;
my $lost = qr/connection.*(lost|closed)/;
my $exited = qr/ERROR:  38000: pgbench exited with status \d+/;
my $not_set_up = qr/could not set up workload "slow set-up"/;
my $not_torn_down = qr/could not tear down workload "gated tear-down"/;

# What ends a workload, what the client is told, and whether its session goes on.
# Optional: where (else everywhere), what is sent before it and after it, how it
# is called if not by function and procedure in turn, whether cleanup() drops a
# schema after it (it does, or the next run does, in turn).
my @endings = (
	{ name => 'pg_cancel_backend', end => signal_backend($node, 'pg_cancel_backend'),
		says => $cancelled, survives => 1 },
	{ name => 'statement_timeout', before => "SET statement_timeout = '1s'", says => $timed_out,
		survives => 1 },
	{ name => 'lost transaction', before => 'BEGIN',
		end => signal_backend($node, 'pg_cancel_backend'), kind => 'function',
		says => $cancelled, survives => 1, after => 'ROLLBACK', where => [ 'setting up', 'running' ] },
	{ name => 'savepoint', before => 'BEGIN; SAVEPOINT s',
		end => signal_backend($node, 'pg_cancel_backend'), kind => 'function',
		says => $cancelled, survives => 1, after => 'ROLLBACK TO s',
			where => [ 'setting up', 'sleeping' ] },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/FATAL:  57P01: terminating connection due to administrator command/ },
	{ name => 'SIGINT to psql', end => signal_client('INT'), says => qr/Cancel request sent/,
		where => [ 'running' ] },
	{ name => 'lost client', end => signal_client('KILL'), says => CLIENT_LOST },
	{ name => 'SIGKILL to pgbench', end => signal_pgbench('KILL'), survives => 1,
		where => [ 'running', 'sleeping' ],
		says => qr/ERROR:  38000: pgbench was ended by signal 9 while it ran workload/ },
	{ name => 'SIGTERM to pgbench', end => signal_pgbench('TERM'), survives => 1,
		where => [ 'running', 'sleeping' ],
		says => qr/ERROR:  38000: pgbench was ended by signal 15 while it ran workload/ },
	{ name => 'terminated worker', end => \&terminate_worker,
		survives => 1, where => [ 'running', 'sleeping' ],
		says => qr/$exited while it ran workload.*DETAIL: .*terminating connection/s },
	{ name => 'terminated worker', end => \&terminate_worker,
		survives => 1, where => [ 'setting up' ],
		says => qr/ERROR:  55000: $not_set_up: its background worker has ended.*HINT:  /s },
	{ name => 'terminated worker', end => \&terminate_worker,
		survives => 1, where => [ 'tearing down' ],
		says => qr/WARNING:  57014: $not_torn_down: canceling statement/ },
	{ name => 'worker terminated twice', end => \&terminate_worker_twice,
		survives => 1, where => ['reluctant tear-down'],
		says => qr/WARNING:  57014: could not tear down .*"reluctant tear-down": canceling statement/ },
	{ name => 'killed backend', end => sub { kill_process($node, $_[0]{pid}) }, says => $lost,
		leaves => { running => 1, sleeping => 1, 'tearing down' => 1 } },
	{ name => 'killed worker', end => sub { kill_process($node, worker()) }, says => $lost,
		where => [ 'setting up', 'running' ],
		leaves => { running => 1 } },
);

# How what a crash left goes; the procedure can be called there, too.
my @removals = (
	[ 'cleanup()', 'SELECT sync_probe.cleanup()', '1' ],
	[ 'the next run', workload_call('function', SMALL_RUN), '5' ],
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
	my $out = $node->safe_psql('postgres', "SET client_min_messages = warning; $sql");
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
	my ($out, $err) = query($session, workload_call('function', SMALL_RUN));
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
	close_gate();
	start_query($session, workload_call($kind, $places{$place}[1]));
	if ($ending->{end})
	{
		wait_place($session, $place);
		isnt(leftovers($node), '', "$name: there is something that could be left");
		isnt(join(' ', pgbench_children($node)), '', "$name: pgbench runs")
			if $places{$place}[0] eq 'running';
		$ending->{end}->($session);
	}
	open_gate() if $ending->{end};
	my ($out, $err) = finish_query($session);
	open_gate();
	client_told_ok($node, $session, $name, $ending->{says}, $out, $err);
	if ($ending->{survives})
	{
		test_survivor($name, $session, $ending->{after});
	}
	else
	{
		ok(wait_for(sub { !pid_alive($session->{pid}) }), "$name: the backend is gone");
		eval { $session->{run}->finish };
		remove_leftovers($name) if $ending->{leaves}{$place};
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

# --- caught in PL/pgSQL: the transaction goes on, and runs another one

for ([ 'slow set-up', 1, 1 ], [ 'sleepy', 2, 1 ], [ 'gated tear-down', 1, 1 ])
{
	my ($workload, $clients, $transactions) = @$_;
	my $name = "caught in a block: $workload";
	my $session = session($node);
	query($session, "SET client_min_messages = warning; SET statement_timeout = '1s'");
	close_gate();
	my ($out, $err) = query($session, "SELECT caught('$workload', $clients, $transactions)");
	open_gate();
	is($out, "caught\n", "$name: it is caught") or diag($err);
	nothing_left($node, "$name, the session lives on");
	is(descriptors($session->{pid}), '', "$name: no descriptor is open");
	$session->quit;
}
like(($node->psql('postgres',
	<<'SQL'))[2], qr/WARNING:  caught (25001|2D000)$/m, 'a procedure that cannot commit says so');
DO $$
DECLARE
    id bigint;
    tps float8;
    mean float8;
    p99 float8;
BEGIN
    CALL sync_probe.run_workload(clients => 1, transactions => 1, result_id => id, tps => tps,
                                 latency_mean_ms => mean, latency_p99_ms => p99);
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'caught %', SQLSTATE;
END
$$
SQL
nothing_left($node, 'a procedure that cannot commit');

# --- a transaction of the user's that does not commit: no row, no object

my $rows = 'SELECT count(*) FROM sync_probe.workload_results';
my $before = $node->safe_psql('postgres', $rows);
is($node->safe_psql('postgres', 'SET client_min_messages = warning; BEGIN; '
	  . workload_call('function', SMALL_RUN) . '; ROLLBACK'),
	5, 'rolled back: it ran');
is($node->safe_psql('postgres', $rows), $before, 'rolled back: there is no row');
nothing_left($node, 'rolled back');

# --- cancelled at any moment: as its worker starts, later, and at its end

seed_random();
my $session = session($node);
query($session, 'SET client_min_messages = warning');
for my $n (1 .. 150)
{
	my $moment = $n > 50 ? rand(0.03) : $n % 16 ? rand(0.5) : 1.9 + rand(0.6);
	start_query($session, workload_call((qw(function procedure))[ $n % 2 ],
		"'upsert', duration => '2 s', clients => 4, rows => 1000"));
	sleep $moment;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{pid})");
	my ($out, $err) = finish_query($session);
	my $told = $err =~ /canceling statement due to user request/ ? 'cancelled' : $out =~ /^\d/
		&& $err eq '' ? 'done' : $err;
	my $left;
	my $gone = wait_for(sub { ($left = descriptors($session->{pid}) . leftovers($node)) eq '' });
	ok($gone && $told =~ /^(cancelled|done)$/, "cancelled at random, $n of 150: $told")
		or diag("after $moment s: $told $left");
}
$session->quit;

# --- anything else that may end at any moment: who, by which signal

my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
for my $n (1 .. 16)
{
	my $what = (qw(backend worker pgbench client))[ $n % 4 ];
	$session = session($node);
	query($session, 'SET client_min_messages = warning');
	start_query($session, workload_call((qw(function procedure))[ $n / 4 % 2 ],
		"'upsert', duration => '1 s', clients => 4, rows => 1000"));
	sleep rand(0.3);
	if ($what eq 'client') { $session->{run}->signal('KILL') }
	elsif ($what eq 'pgbench') { kill((qw(TERM KILL))[ $n / 8 % 2 ], pgbench_children($node)) }
	else
	{
		my $who = $what eq 'worker' ? "backend_type ~ '^pg_sync_probe'" : "pid = $session->{pid}";
		$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $who");
	}
	my ($out, $err) = finish_query($session);
	my $left;
	my $gone = wait_for(sub { ($left = leftovers($node)) eq '' });
	ok($gone, "$what ended at random, $n of 16") or diag("$out $err $left");
	note "$out$err";
	eval { $session->quit };
}
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started,
	'ended at random: the server has not crashed');

# --- seen from elsewhere, while it runs

my $notice = qr{NOTICE:  upsert in place: \d+ s, \d+ transactions/s, latency [\d.]+ ms$}m;

for (
	[ 'duration', "'upsert', 'place', clients => 2, duration => '300 s'", "duration = '300 s'" ],
	[ 'transactions', "'upsert', 'place', clients => 2, transactions => 10000000",
		'duration IS NULL' ])
{
	my ($what, $arguments, $length) = @$_;
	$session = session($node);
	start_query($session, workload_call('function', $arguments));
	for my $database (qw(postgres other))
	{
		ok($node->poll_query_until($database,
			<<"SQL"), "$what: sync_probe.running shows it in database $database");
SELECT pid = $session->{pid} AND database = 'postgres' AND workload = 'upsert' AND suite = 'upsert'
    AND location = 'place'
    AND phase = 'running' AND transactions > 0 AND percent_done > 0 AND percent_done < 100
        AND rounds IS NULL AND $length
FROM sync_probe.running
SQL
	}
	for my $sql (workload_call('function', SMALL_RUN), workload_call('procedure', SMALL_RUN),
		'SELECT FROM sync_probe.probe()', 'SELECT FROM sync_probe.probe_all()',
			'SELECT sync_probe.cleanup()')
	{
		fails_ok($node, "$what: meanwhile $sql", $sql, '55P03',
			qr/DETAIL:  Process $session->{pid} has been running workload "upsert"/,
			qr/ in tablespace "place" since 2/);
	}
	ok(wait_for(sub { $session->{run}->pump_nb; $session->{stderr} =~ $notice }),
		"$what: notices tell how far it is");
	end_probe($node, $session);
	nothing_left($node, "$what: seen from elsewhere");
}

# What the procedure is for.
for ([ 'function', 'f' ], [ 'procedure', 't' ], [ 'procedure', 't', 'repeatable read' ],
	[ 'procedure', 't', 'serializable' ])
{
	my ($kind, $free, $isolation) = (@$_, 'read committed');
	$session = session($node);
	query($session, "SET default_transaction_isolation = '$isolation'");
	start_query($session, workload_call($kind,
		"'upsert', 'place', clients => 2, duration => '300 s'"));
	wait_running($node, $session, 2);
	is($node->safe_psql('postgres',
		"SELECT backend_xmin IS NULL FROM pg_stat_activity WHERE pid = $session->{pid}"),
		$free, "$isolation: the $kind " . ($free eq 't' ? 'holds no snapshot'
			: 'runs in its caller\'s snapshot'));
	end_probe($node, $session);
}

$session = start_probe($node, "'place', " . LONG_PROBE);
for my $kind (qw(function procedure))
{
	fails_ok($node, "the $kind while a probe runs", workload_call($kind, SMALL_RUN), '55P03',
		qr/DETAIL:  Process $session->{pid} has been probing location "place" since 2/);
}
end_probe($node, $session);
nothing_left($node, 'a probe');

# --- a worker that still tears down is alive: what it has is not swept

$session = start_workload('endless tear-down');
end_probe($node, $session);
my $kept = workload_schemas($node);
isnt($kept, '', 'a tear-down that goes on: its schema is still there');
for my $sql ('SELECT sync_probe.cleanup()', workload_call('function', SMALL_RUN))
{
	is($node->safe_psql('postgres', "SET client_min_messages = warning; $sql"),
		$sql =~ /cleanup/ ? 0 : 5, "a tear-down that goes on: $sql works");
	is(workload_schemas($node), $kept, "a tear-down that goes on: $sql does not interfere");
}
terminate_worker();
nothing_left($node, 'a tear-down that went on');

# --- schemas and directorys: which are ours, and whose

my $marker;
$session = start_workload('running');
$marker = $node->safe_psql('postgres',
	"SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace"
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

$node->safe_psql('postgres', <<'SQL');
CREATE ROLE alice LOGIN;
CREATE ROLE bob LOGIN IN ROLE pg_execute_server_program;
GRANT CREATE ON DATABASE postgres TO bob;
GRANT USAGE ON SCHEMA sync_probe TO bob;
GRANT EXECUTE ON FUNCTION sync_probe.pgbench, sync_probe.cleanup TO bob;
SQL
my @foreign = (
	[ 'sync_probe_workload_00000001', '' ],
	[ 'sync_probe_workload_00000002', 'mine' ],
	[ 'sync_probe_workload_00000003', "$marker." ],
	[ 'sync_probe_workload_', $marker ],
	[ 'sync_probe_workload_1', $marker ],
	[ 'sync_probe_workload_0000000g', $marker ],
	[ 'sync_probe_workload_0000000A', $marker ],
	[ 'sync_probe_workload_000000010', $marker ],
	[ 'sync_probe_workload_00000004 ', $marker ],
);
my $foreign_schemas = sub { join "\n", sort @_, map { $_->[0] } @foreign };
make_schema('postgres', @$_, 'postgres') for @foreign;
make_schema('postgres', 'sync_probe_workload_0a11ce00', $marker, 'alice');
make_schema('postgres', 'sync_probe_workload_00000b0b', $marker, 'bob');
make_schema('other', 'sync_probe_workload_abcdef01', $marker, 'postgres');
make_schema('other', 'sync_probe_workload_abcdef02', $marker, 'postgres');
my $elsewhere = workload_schemas($node, 'other');

# Not ours in base/pgsql_tmp, however alike: name, and kind unless it is a directory.
my $temporary = $node->data_dir . '/base/pgsql_tmp';
my $target = PostgreSQL::Test::Utils::tempdir() . '/target';
mkdir $temporary;
mkdir $target;
append_to_file("$target/kept", 'kept');
my @foreign_files = (
	[ 'pgsql_tmp999999.0', 'file' ],
	[ 'pgsql_tmp_sync_probe.999998.workload', 'file' ],
	[ 'pgsql_tmp_sync_probe.999997.workload', 'link' ],
	[ 'pgsql_tmp_sync_probe.workload' ],
	[ 'pgsql_tmp_sync_probe.0.workload' ],
	[ 'pgsql_tmp_sync_probe.-9.workload' ],
	[ 'pgsql_tmp_sync_probe.09.workload' ],
	[ 'pgsql_tmp_sync_probe. 9.workload' ],
	[ 'pgsql_tmp_sync_probe.999999.workload~' ],
	[ 'pgsql_tmp_sync_probe.999999.workloads' ],
	[ 'pgsql_tmp_sync_probe.99999999999999999999.workload' ],
	[ 'my_pgsql_tmp_sync_probe.999999.workload' ],
	[ 'sync_probe.999999.workload' ],
);
for (@foreign_files)
{
	my ($path, $kind) = ("$temporary/$_->[0]", $_->[1] // 'directory');
	$kind eq 'directory' ? mkdir($path) : $kind eq 'link' ? symlink($target, $path)
		: append_to_file($path, 'something');
}
my $missing = sub { join ' ', grep { !-l "$temporary/$_"
	&& !-e _ } map { $_->[0] } @foreign_files };
is($missing->(), '', 'foreign directorys were made');

# One directory of a dead process, with what a run has in it.
sub make_dead_directory
{
	my $path = "$temporary/pgsql_tmp_sync_probe.999999.workload";
	mkdir $path, 0700;
	append_to_file("$path/script.sql", 'SELECT 1');
	symlink $target, "$path/link";
	return;
}

# Who sweeps how, what that returns, and which schemas are there afterwards.
for (
	[ 'a run of bob', 'bob', workload_call('function', SMALL_RUN), 5, 'sync_probe_workload_0a11ce00' ],
	[ 'cleanup() of bob', 'bob', 'SELECT sync_probe.cleanup()', 1, 'sync_probe_workload_0a11ce00' ],
	[ 'cleanup() of a superuser', 'postgres', 'SELECT sync_probe.cleanup()', 2 ],
	[ 'a run of a superuser', 'postgres', workload_call('function', SMALL_RUN), 5 ],
	[ 'cleanup() with nothing but a directory', 'postgres', 'SELECT sync_probe.cleanup()', 1 ])
{
	my ($name, $role, $sql, $expected, @schemas) = @$_;
	make_dead_directory();
	is($node->safe_psql('postgres', "SET client_min_messages = warning; $sql",
		extra_params => [ '-U', $role ]), $expected, $name);
	is(workload_schemas($node), $foreign_schemas->(@schemas), "$name: which schemas stay");
	is(workload_schemas($node, 'other'), $elsewhere, "$name: nothing changes in another database");
	ok(!-e "$temporary/pgsql_tmp_sync_probe.999999.workload",
		"$name: the directory of a dead process goes");
	is($missing->(), '', "$name: no foreign directory or file goes");
	ok(-s "$target/kept", "$name: nothing is removed behind a link");
}
is($node->safe_psql('other', 'SET client_min_messages = warning; '
	  . workload_call('function', SMALL_RUN)), 5, 'a run in the other database');
is(workload_schemas($node, 'other'), '', 'drops what was left there');
$node->safe_psql('postgres', qq(SET client_min_messages = warning; DROP SCHEMA "$_->[0]" CASCADE))
	for @foreign;
rmtree([ map { "$temporary/$_->[0]" } grep { ($_->[1] // '') eq '' } @foreign_files ]);
unlink map { "$temporary/$_->[0]" } @foreign_files;
nothing_left($node, 'after all that was foreign');

# --- sql_bench() keeps the rows that it has, whatever ends it

# Its third operation connects 10,000 times.
$node->safe_psql('postgres', 'DELETE FROM sync_probe.workload_results');
$session = session($node);
start_query($session, "CALL sync_probe.sql_bench('{pg_default}', 1)");
ok($node->poll_query_until('postgres', 'SELECT count(*) >= 2 FROM sync_probe.workload_results'),
	'sql_bench: others see its rows while it runs');
wait_running($node, $session, 0);
my $sees_all = "SELECT backend_xmin IS NULL FROM pg_stat_activity WHERE pid = $session->{pid}";
is($node->safe_psql('postgres', $sees_all), 't', 'sql_bench: it holds no snapshot');
my $told = end_probe($node, $session);
like($told, qr/NOTICE:  alter_table_add \(1 of 45\)\n.*NOTICE:  alter_table_drop \(2 of 45\)\n/s,
	'sql_bench: it tells how far it is');
like($told, qr/ERROR:  canceling statement due to user request/, 'sql_bench: it was cancelled');
like($node->safe_psql('postgres',
	<<'SQL'), qr/^alter_table_add alter_table_drop\b.*\|1$/, 'sql_bench: the rows before are there');
SELECT string_agg(workload, ' ' ORDER BY result_id), count(DISTINCT run_group)
FROM sync_probe.workload_results
SQL
cmp_ok($node->safe_psql('postgres', <<'SQL'), '>', 2, 'sql_bench: and can be compared');
SELECT count(*) FROM sync_probe.workload_comparison WHERE suite = 'sql_bench'
SQL
nothing_left($node, 'sql_bench');

# --- leftovers on whose tables somebody holds locks

# The server's log tells who waits for a lock.
$node->safe_psql('postgres', "ALTER DATABASE postgres SET $_")
  for 'log_lock_waits = on', "deadlock_timeout = '10ms'";
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
	my (undef, $out, $err) = $node->psql('postgres', "SET client_min_messages = warning; $sql",
		extra_params => [ '-U', $role ]);
	is($out, $expected, "$name: it works") or diag($err);
	is(workload_schemas($node), join("\n", @locked), "$name: the schemas are still there");
	my $log = slurp_file($node->logfile, $offset);
	my %tables = map { $_ => 1 } $log =~ /still waiting for AccessExclusiveLock on relation (\d+)/g;
	return (scalar(keys %tables), $err);
}

my $run = workload_call('function', SMALL_RUN);
my ($waits, $warnings) = run_beside_locks('a run, locked schemas of another role', 'postgres', $run,
	5);
is($waits, 0, 'a run of a superuser waits for no lock on what others left');
$node->safe_psql('postgres', join ';', map { "ALTER SCHEMA $_ OWNER TO bob" } @locked);
($waits) = run_beside_locks('a run of bob, locked schemas of its own', 'bob', $run, 5);
cmp_ok($waits, '>', 0, 'a run waits for locks on what is its own');
cmp_ok($waits, '<', @locked, 'but not for all of them');
($waits, $warnings) = run_beside_locks('cleanup(), locked schemas', 'postgres',
	'SELECT sync_probe.cleanup()', 0);
cmp_ok($waits, '<', @locked, 'cleanup() does not wait for all of them, either');
is(() = $warnings =~ /WARNING:/g, 1, 'it warns once') or diag($warnings);
like($warnings, qr/WARNING:  12 schemas of workloads could not be dropped\n/,
	'it says how many are left');
my $timeout = 'canceling statement due to lock timeout';
like($warnings, qr/DETAIL:  The first is "sync_probe_workload_\w+": $timeout\n/,
	'and why');
query($session, 'ROLLBACK');
$session->quit;
is($node->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), scalar(@locked),
	'without the locks cleanup() drops them');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET ALL');
nothing_left($node, 'after the locks');

# --- DROP EXTENSION waits for a run, which has read a table and needs another for its record

$session = session($node, 'other');
start_query($session, workload_call('function', "'upsert', clients => 1, duration => '2 s'"));
wait_phase($node, $session, 'running');
is(($node->psql('other', 'DROP EXTENSION pg_sync_probe'))[0], 0, 'DROP EXTENSION beside a run');
my ($count, $errors) = finish_query($session);
like($count, qr/^\d+\n$/, 'DROP EXTENSION: the run ends as usual') or diag($errors);
$session->quit;
$node->safe_psql('other', 'CREATE EXTENSION pg_sync_probe');

# --- the server stops meanwhile

# The user's tear-down is cut short, but the schema goes; unless it catches even
# that, again and again: then it is ended after some seconds, and the schema stays.
my %modes = (
	fast => [ @everywhere, 'endless tear-down', 'stubborn tear-down' ],
	immediate => [ 'setting up', 'running', 'tearing down' ],
	killed => [ 'setting up', 'running' ],
);
for my $mode (sort keys %modes)
{
	for my $place (@{ $modes{$mode} })
	{
		close_gate();
		$session = start_workload($place);
		my @processes = ($node->{_pid}, split /\n/, $node->safe_psql('postgres',
			'SELECT pid FROM pg_stat_activity'));
		$mode eq 'killed' ? $node->kill9 : $node->stop($mode);
		finish_query($session);
		eval { $session->{run}->finish };
		open_gate();
		ok(wait_for(sub { !pgbench_children($node) }), "$mode shutdown, $place: pgbench is gone");

		# a server starts only where nothing of the one before is left, be it a zombie
		ok(wait_for(sub { !grep { kill 0, $_ } @processes }),
			"$mode shutdown, $place: all processes are gone");
		$node->start;
		my $left = $place eq 'stubborn tear-down' || ($mode ne 'fast' && $place ne 'setting up') ? 1 : 0;
		is($node->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), $left,
			"$mode shutdown, $place: what cleanup() finds");
		nothing_left($node, "$mode shutdown, $place");
	}
}

# Sessions there are go on, new ones are refused.
for (
	[ 'running', "'gated script', clients => 2, transactions => 1", qr/^2\n$/ ],
	[ 'setting up', "'gated set-up', clients => 1, transactions => 1",
		qr/ERROR:  08001: pgbench could not connect.*shutting down/s ],
	[ 'tearing down', "'gated tear-down', clients => 1, transactions => 1", qr/^1\n$/ ])
{
	my ($phase, $arguments, $says) = @$_;
	$session = verbose_session($node);
	close_gate();
	start_query($session, workload_call('function', $arguments));
	$phase eq 'running' ? wait_running($node, $session, 2) : wait_phase($node, $session, $phase);
	system_or_bail('pg_ctl', '-D', $node->data_dir, '-m', 'smart', '-W', 'stop');
	ok(wait_for(sub { slurp_file($node->data_dir . '/postmaster.pid') =~ /^stopping\s*\Z/m }),
		"smart shutdown, $phase: is under way");
	open_gate();
	my ($out, $err) = finish_query($session);
	like("$out$err", $says, "smart shutdown, $phase: what the client is told");
	$session->quit;
	ok(wait_for(sub { !-e $node->data_dir . '/postmaster.pid' }),
		"smart shutdown, $phase: the server stops");
	$node->stop('fast', fail_ok => 1);	# tells the node object
	$node->start;
	is($node->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), 0,
		"smart shutdown, $phase: cleanup() finds nothing");
	nothing_left($node, "smart shutdown, $phase");
}

# --- set-ups and a tear-down that would not end, begun above

my $slow_messages;
my $have_ended = sub {
	$slow_messages = slurp_file("$slow_script.messages");
	return 3 == (() = $slow_messages =~ /(?:ERROR|WARNING): /g);
};
ok(wait_for($have_ended), 'set-ups that would not end have ended') or $slow_psql->kill_kill;
$slow_psql->finish;
like($slow_messages, qr/ERROR:  55P03: could not set up workload "waits": $timeout/,
	'a set-up does not wait for ever for a lock');
like($slow_messages, qr/HINT:  The transaction that runs the workload may hold the lock itself/,
	'and says who may hold it');
like($slow_messages,
	qr/ERROR:  57014: could not set up workload "sleeps" within 61 s\nDETAIL: .*max_duration/,
	'a set-up has a limit');
like($slow_messages,
	qr/WARNING:  57014: could not tear down workload "stays": canceled because it did not end in time/,
	'a tear-down has a limit');
nothing_left($slow, 'set-ups and a tear-down that took too long');
is($slow->safe_psql('postgres', <<'SQL'), 5, 'and a workload runs again');
SET client_min_messages = warning;
SELECT transactions FROM sync_probe.pgbench(clients => 1, transactions => 5, duration => '1 s');
SQL
$slow->stop;
log_ok($slow);

$node->stop;
log_ok($node);
done_testing();
