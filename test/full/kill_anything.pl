# Kill anything, any time: whatever ends or stops a call at a random moment, the commits that others
# got acknowledged meanwhile are there, the settings are as before, and nothing of the call is left.
#
#	SP_KILLS			moments of each kind; 200 take five hours
#	SP_TEST_SEED		the same moments again, as far as processes keep to them

use List::Util qw(min);
use SyncProbeTest;

my $kills = $ENV{SP_KILLS} // 10;
my $node = probe_cluster('kill', allows_streaming => 1, conf => <<'CONF');
max_connections = 60
wal_keep_size = '1GB'
restart_after_crash = on
log_statement = none
allow_in_place_tablespaces = on
CONF

# How long the calls take, and what those of a kind were told.
my (%seconds, %told);
my $temporary = PostgreSQL::Test::Utils::tempdir();

# In the data directory, so that each standby has its own.
my $make_place = "CREATE TABLESPACE place LOCATION ''";

# Calls are made in a database of their own, which some kinds drop.  postgresql.auto.conf has the
# setting of trials in its last line, where a trial leaves it.
sql($node, <<"SQL");
$make_place;
CREATE EXTENSION amcheck;
CREATE TABLE upserts (key int PRIMARY KEY, n int);
CREATE TABLE versions (key int, n int, PRIMARY KEY (key, n));
ALTER SYSTEM SET work_mem = '5MB';
ALTER SYSTEM SET commit_delay = 7;
CREATE DATABASE model;
SQL
$node->safe_psql('model', 'CREATE EXTENSION pg_sync_probe');
sub make_database { return sql($node, 'CREATE DATABASE work TEMPLATE model') }
make_database();
$node->reload;

# ------------------------------------------------------------------ what runs

# place: it uses the tablespace; standby: it runs there, too; like: processes of it that can be
# killed beside the backend; sparse: it needs a server that hardly commits; long: its end is not
# awaited.
my $pgbench = qr/^[^\0]*\bpgbench\0/;
my $worker = qr/pg_sync_probe commit worker/;
my $watchdog = qr/pg_sync_probe trial/;
my $small = "clients => 2, rows => 100, duration => '1 s'";
my %calls = (
	(map {
		my ($suite, $location) = @$_;
		("probe $suite" => { sql => "SELECT count(*) FROM sync_probe.probe('$location', '$suite',"
				  . " duration => '1 s', stop_early => false)",
				standby => 1, place => $location eq 'place' })
	} [ 'wal', 'pg_wal' ], [ 'pg_test_fsync', 'place' ], [ 'stream', 'pg_default' ],
		[ 'segments', 'place' ]),
	'commit suite' => { like => $worker, sparse => 1, sql => 'SELECT count(*) FROM'
		  . " sync_probe.probe('pg_wal', 'commit', workers => 3, duration => '2 s')" },
	'pgbench' => { like => $pgbench, place => 1, sql => pgbench_sql("'upsert', 'place', $small") },
	'run_workload()' => { like => $pgbench, sql => workload_call('procedure', "'upsert', $small") },
	'trial()' => { like => $watchdog, sql =>
		  "CALL sync_probe.trial('commit_delay', '{50}', '2 s')" },
	'trial() on a load' => { like => qr/$watchdog|$pgbench/, sql =>
		  "CALL sync_probe.trial('commit_delay', '{50}', '2 s', workload => 'upsert')" },
	'power_test()' => { standby => 1, sql => "CALL sync_probe.power_test('pg_default', '1 s')" },
	'sql_bench()' => { like => $pgbench, long => 1, sql =>
		  "CALL sync_probe.sql_bench('{pg_default}', 0.0001)" });

# --------------------------------------------------------------- a load beside it

# Upserts of keys that the clients share; a line for each commit that the server has acknowledged.
# The clients come back when the server does.
my $acknowledged = "$temporary/acknowledged";

sub start_load ($server, $sparse)
{
	my ($clients, $pause) = $sparse ? (1, 0.2) : (3, 0.005);
	my $script = write_file("$temporary/upserts.sql", <<"SQL" x ($sparse ? 5 : 100));
SELECT 1 + random() * 4 AS key \\gset
WITH u AS (INSERT INTO upserts AS u VALUES (:key, 1)
    ON CONFLICT (key) DO UPDATE SET n = u.n + 1 RETURNING key, n)
INSERT INTO versions SELECT * FROM u RETURNING key, n;
SELECT FROM pg_sleep($pause);
SQL
	my $on = write_file("$temporary/load", 'on');
	my $psql = "psql -XAtq -v ON_ERROR_STOP=1 -f '$script' -d '${\ $server->connstr('postgres') }'";
	return map { IPC::Run::start([ 'sh', '-c', "while test -e '$on'; do $psql; sleep 0.1; done" ],
		'<', \'', '>>', "$acknowledged.$_", '2>', '/dev/null') } 1 .. $clients;
}

sub stop_load (@load)
{
	unlink "$temporary/load";
	$_->finish for @load;
	return;
}

# How many commits were acknowledged since that was last forgotten, and how many of them are lost.
sub count_acknowledged ($server)
{
	my @all = map { split /\n/, slurp_file($_) } glob("$acknowledged.*");
	write_file($acknowledged, map { "$_\n" } grep { /^\d+\|\d+$/ } @all);
	return split /\|/, sql($server, <<"SQL");
CREATE TEMP TABLE acknowledged (key int, n int);
COPY acknowledged FROM '$acknowledged' (DELIMITER '|');
SELECT count(*), count(*) - count(v) + count(*) - count(DISTINCT (a.key, a.n))
FROM acknowledged AS a LEFT JOIN versions AS v USING (key, n);
SQL
}

# -------------------------------------------------------------- what is done to it

# A process of the call that looks like this, if there still is one.
sub one_process ($like)
{
	my @found = server_processes($node, $like);
	return $found[ rand @found ];
}

my $missed;

sub kill_one ($like)
{
	return sub {
		my $pid = one_process($like);
		$missed = !$pid || !($like eq $pgbench ? kill('KILL', $pid) : kill_process($node, $pid));
	};
}

sub kill_backend ($session) { return kill_process($node, $session->{pid}) }

sub stop_one ($session)
{
	my $pid = rand(2) < 1 && one_process(qr/$pgbench|$worker|$watchdog/) || $session->{pid};
	kill 'STOP', $pid;
	sleep 10;
	return kill 'CONT', $pid;
}

# The server may refuse that, as something is in use.
sub statement ($database, $sql)
{
	return sub {
		my (undef, undef, $err) =
		  $node->psql($database, "\\set VERBOSITY verbose\n$sql", timeout => 60);
		$told{"refused $1"}++ if $err =~ /ERROR:  (\w{5}):/;
	};
}

sub restart ($mode) { return sub { $node->stop($mode); $node->start } }

# What ends or stops the call; for: only such calls; like: only those with such a process, and not
# before it is there; crash: what is left may wait for cleanup(); undo: what is done afterwards.
my @kinds = (
	{ name => 'cancel', do => signal_backend($node, 'pg_cancel_backend') },
	{ name => 'terminate', do => signal_backend($node, 'pg_terminate_backend') },
	{ name => 'statement_timeout', do => sub { } },
	{ name => 'client gone', do => signal_client('KILL') },
	{ name => 'SIGKILL of the backend', do => \&kill_backend, crash => 1 },
	{ name => 'SIGKILL of a worker', do => kill_one($worker), like => $worker, crash => 1 },
	{ name => 'SIGKILL of the watchdog', do => kill_one($watchdog), like => $watchdog, crash => 1 },
	{ name => 'SIGKILL of pgbench', do => kill_one($pgbench), like => $pgbench },
	{ name => 'SIGSTOP of a process', do => \&stop_one },
	{ name => 'fast stop', do => restart('fast'), crash => 1 },
	{ name => 'immediate stop', do => restart('immediate'), crash => 1 },
	{ name => 'DROP TABLESPACE', for => 'place',
		do => statement('postgres', 'DROP TABLESPACE place'),
		undo => sub { $node->psql('postgres', $make_place) } },
	{ name => 'DROP EXTENSION', do => statement('work', 'DROP EXTENSION pg_sync_probe'),
		undo => statement('work', 'CREATE EXTENSION IF NOT EXISTS pg_sync_probe') },
	{ name => 'DROP DATABASE', do => statement('postgres', 'DROP DATABASE work WITH (FORCE)'),
		undo => sub { sql($node, 'DROP DATABASE IF EXISTS work WITH (FORCE)'); make_database() } },
	{ name => 'promotion', for => 'standby', do => sub { $_[0]{server}->promote } },
	{ name => 'SIGKILL, temporary files kept', do => \&kill_backend, crash => 1,
		before => sub { reload_with($node, 'remove_temp_files_after_crash', 'off') } });

# ------------------------------------------------------------------- the state after it

my $auto = slurp_file($node->data_dir . '/postgresql.auto.conf');

# All that may be left, also in the other database.
sub all_left ($server)
{
	return join "\n", grep { $_ ne '' } leftovers($server), workload_schemas($server, 'work'),
	  sql($server, 'SELECT slot_name FROM pg_replication_slots');
}

# Until it is as it should be; else what it is.
sub not_as ($what, $expected, $code)
{
	my $is;
	return if wait_for(sub { ($is = eval { $code->() } // $@) eq $expected });
	return "$what: " . substr($is, 0, 3000);
}

# What is wrong after it.  Only an immediate stop leaves no process that restores the setting of a
# trial.
sub faults ($server, $kind, $said, $settings, $offset)
{
	my $file = $server->data_dir . '/postgresql.auto.conf';
	my $restored = sub { not_as('postgresql.auto.conf', $auto, sub { slurp_file($file) }) };
	my @faults = not_as('the server', 0, sub { $server->psql('postgres', 'SELECT 1') });
	push @faults, $restored->() if $kind->{name} ne 'immediate stop';
	push @faults, not_as('cleanup()', 0, 
		sub { $server->psql('work', 'SELECT sync_probe.cleanup()') })
	  if $kind->{crash} || $said =~ /WARNING:.*while it dropped/;
	push @faults, $restored->(), not_as('left', '', sub { all_left($server) }),
	  not_as('settings', $settings, sub { settings_digest($server) });
	push @faults, $said if $said =~ /XX\d\d\d:/;
	return (@faults, bad_log_lines($server, $offset));
}

# --------------------------------------------------------------------- one moment

# A session whose call runs.
sub start_call ($server, $kind, $call)
{
	my $session = verbose_session($server, 'work');
	$session->{server} = $server;
	query($session, 'SET statement_timeout = ' . (1 + int rand(1000 * $seconds{$call})))
	  if $kind->{name} eq 'statement_timeout';
	start_query($session, $calls{$call}{sql});
	wait_for(sub { query_has_ended($session) || one_process($kind->{like}) }) if $kind->{like};
	return $session;
}

# Returns whether the call still ran then, how many commits were acknowledged, and what is wrong.
sub one_moment ($server, $kind, $call)
{
	my $settings = settings_digest($server);
	my $offset = -s $server->logfile;
	my @load = start_load($server, $calls{$call}{sparse});
	my $session = start_call($server, $kind, $call);
	sleep(rand($seconds{$call})) if $kind->{name} ne 'statement_timeout';
	my $during = !query_has_ended($session);
	$missed = 0;
	$kind->{do}->($session);

	statement('work', "SELECT pg_cancel_backend($session->{pid})")->() if $calls{$call}{long};
	my @faults = wait_for(sub { query_has_ended($session) && (!pid_alive($session->{pid})
		|| $session->{run}->pumpable) }) ? () : 'the call does not end';
	my $said = $session->{stderr};
	my $open = @faults || !pid_alive($session->{pid}) ? '' : eval { descriptors($session->{pid}) };
	push @faults, "descriptors: $open" if $open;
	$session->{run}->kill_kill;
	$told{ $said =~ /(?:ERROR|FATAL):  (\w{5}):/ ? $1 : $said =~ /connection/ ? 'lost' : 'none' }++;
	$kind->{undo}->() if $kind->{undo};
	push @faults, faults($server, $kind, $said, $settings, $offset);
	stop_load(@load);
	my ($count, $lost) = count_acknowledged($server);
	push @faults, "$lost of $count acknowledged commits are lost" if $lost != 0;
	$during = $said =~ / 57014: / if $kind->{name} eq 'statement_timeout';
	return ($during && !$missed, $count, @faults);
}

my @amcheck = qw(pg_amcheck --all --install-missing --heapallindexed);

# A standby is promoted once.
sub with_standby ($n, $code)
{
	my $standby = PostgreSQL::Test::Cluster->new("standby$n");
	$standby->init_from_backup($node, 'origin', has_streaming => 1);
	$standby->start;
	my @result = $code->($standby);
	$standby->command_ok(\@amcheck, "standby $n: pg_amcheck finds nothing");
	$standby->stop;
	log_ok($standby);
	$standby->clean_node;
	return @result;
}

# ---------------------------------------------------------------------------- all

seed_random();
for my $call (sort keys %calls)
{
	my $session = verbose_session($node, 'work');
	my $begin = Time::HiRes::time();
	my (undef, $err) = query($session, $calls{$call}{sql});
	unlike($err, qr/ERROR|FATAL/, "$call, undisturbed");
	$seconds{$call} = min(Time::HiRes::time() - $begin, 3);
	$session->quit;
}
nothing_left($node, 'undisturbed');
$node->backup('origin');

for my $kind (@kinds)
{
	next if $kind->{name} !~ ($ENV{SP_KINDS} // '');
	my ($name, $like) = @$kind{qw(name like)};
	my @of = grep { $calls{$_}{ $kind->{for} // 'sql' }
		  && (!$like || ($calls{$_}{like} // '') =~ /\Q$like\E/) } sort keys %calls;
	my ($in_the_middle, $commits, $failed) = (0, 0, 0);
	%told = ();
	$kind->{before}->() if $kind->{before};
	for my $n (1 .. $kills)
	{
		my $call = $of[ $n % @of ];
		my $promoted = $name eq 'promotion';
		unlink glob("$acknowledged.*") if $n == 1 || $promoted;
		my ($during, $count, @faults) = !$promoted ? one_moment($node, $kind, $call)
		  : with_standby($n, sub { one_moment($_[0], $kind, $call) });
		$in_the_middle++ if $during;
		$commits = $promoted ? $commits + $count : $count;
		$failed++ if @faults;
		fail("$name, $n, $call: $_") for @faults;
	}
	is($failed, 0, "$name: after $kills kills all is whole");
	ok(!$told{'refused 55006'}, "$name WITH (FORCE) is not refused") if $name eq 'DROP DATABASE';
	diag("$name: $kills kills, $in_the_middle in the middle, $commits commits; told: ",
		join ', ', map { "$_ $told{$_}" } sort keys %told);
	$node->command_ok(\@amcheck, "$name: pg_amcheck finds nothing");
}
end_tests($node);
