# SyncProbeTest.pm
#
# What the TAP tests share: clusters with the extension, sessions that probe or
# run workloads in the background, and the search for what these may have left
# behind.
#
# Nothing here asserts a time; whatever has to happen first is polled for.

package SyncProbeTest;

use strict;
use warnings;

use Cwd qw(realpath);
use Exporter 'import';
use File::Basename qw(dirname);
use File::Glob qw(bsd_glob);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

# A test that takes too long is ended so; an error stops its clusters.
use sigtrap qw(die TERM);

our @EXPORT = qw(probe_cluster build_directory add_tablespace has_other_strings
  prepared_filesystems session verbose_session start_query finish_query query start_probe
  pause_probe end_probe wait_for wait_phase wait_running probe_files pgbench_children
  workload_call workload_schemas let_runs_count leftovers nothing_left trial_watchdogs auto_settings
  descriptors signal_backend signal_client kill_process client_told_ok seed_random fails_ok works_ok log_ok
  pid_alive LONG_PROBE SMALL_RUN CLIENT_LOST);

# Longer than any test waits; always ended from outside.
use constant LONG_PROBE => "duration => '300 s', stop_early => false, record => false";

# What the client is told if it is gone.
use constant CLIENT_LOST => 'the client is lost';

# The shortest run of a workload that makes and drops objects.
use constant SMALL_RUN => "'upsert', clients => 1, transactions => 5, rows => 10";

# A started cluster with the extension in database postgres.  Segments of 1 MB
# keep the writing of files short; conf is appended to postgresql.conf.
sub probe_cluster
{
	my ($name, %opt) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my $segment = $opt{segment_size} // 1;

	$node->init(
		allows_streaming => $opt{allows_streaming} // 0,
		# whatever LANG says, or if nothing does
		extra => [ "--wal-segsize=$segment", '--encoding=UTF8', '--locale=C', @{ $opt{extra} // [] } ]);
	$node->append_conf('postgresql.conf', "max_wal_size = '64MB'\nmin_wal_size = '32MB'");
	# the test modules switch it off, and with it all advice is to switch it on
	$node->append_conf('postgresql.conf', 'fsync = on');
	$node->append_conf('postgresql.conf', $opt{conf}) if defined $opt{conf};
	$opt{before_start}->($node) if $opt{before_start};
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION pg_sync_probe');
	return $node;
}

# Creates a tablespace in a new directory (or the given one), and returns that.
sub add_tablespace
{
	my ($node, $name, $directory) = @_;
	$directory //= PostgreSQL::Test::Utils::tempdir();
	$node->safe_psql('postgres', "CREATE TABLESPACE $name LOCATION '$directory'");
	return $directory;
}

# Can strings be read in another way than the standard's?  PostgreSQL 19 refuses that.
sub has_other_strings
{
	my ($node) = @_;
	my ($status, undef, $err) = $node->psql('postgres',
		"\\set VERBOSITY sqlstate\nSET standard_conforming_strings = off", on_error_stop => 1);

	die "standard_conforming_strings: $err" if $status != 0 && $err !~ /ERROR:  0A000$/m;
	return $status == 0;
}

# Where make has built the libraries of tests.  The server's makefiles up to 15 say it
# itself, later ones the tmp_check in it.
sub build_directory
{
	return $ENV{TESTDIR} // dirname($ENV{TESTDATADIR});
}

# File systems that script/filesystems.sh has prepared, by name, of these variables
# ("ext4=/path xfs=/path ...").
sub prepared_filesystems
{
	my (@variables) = @_;
	return map { split /=/, $_, 2 } map { split ' ', $ENV{$_} // '' } @variables;
}

# ------------------------------------------------------------------- sessions

sub session
{
	my ($node, $database, $user) = @_;
	my $session = $node->background_psql($database // 'postgres', on_error_stop => 0,
		extra_params => [ $user ? ('--username', $user) : () ]);
	$session->{pid} = $session->query('SELECT pg_backend_pid()');
	return $session;
}

# A session that shows SQLSTATEs, and nothing below a warning.
sub verbose_session
{
	my ($node) = @_;
	my $session = session($node);
	query($session, "\\set VERBOSITY verbose\nSET client_min_messages = warning");
	return $session;
}

# Sends SQL and does not wait for its end.
sub start_query
{
	my ($session, $sql) = @_;
	$session->{stdout} = $session->{stderr} = '';
	$session->{stdin} .= "$sql;\n\\echo query ended\n\\warn query ended\n";
	$session->{run}->pump_nb;
	return;
}

# The end of a line may arrive after the line.
sub query_has_ended
{
	my ($session) = @_;
	$session->{run}->pump_nb if $session->{run}->pumpable;
	return 1 if !$session->{run}->pumpable;
	return $session->{stdout} =~ /query ended\n/ && $session->{stderr} =~ /query ended\n/;
}

# Waits until the query is over, or psql is; returns its output and messages.
sub finish_query
{
	my ($session) = @_;
	$session->{run}->pump until query_has_ended($session);
	my ($out, $err) = ($session->{stdout}, $session->{stderr});
	$session->{stdout} = $session->{stderr} = '';
	s/^query ended\n//mg for $out, $err;
	return ($out, $err);
}

sub query
{
	my ($session, $sql) = @_;
	start_query($session, $sql);
	return finish_query($session);
}

# A session that is measuring now; arguments as of sync_probe.probe().
sub start_probe
{
	my ($node, $arguments, $database) = @_;
	my $session = session($node, $database);
	start_query($session, "SELECT FROM sync_probe.probe($arguments)");
	wait_phase($node, $session, 'measuring');
	return $session;
}

# Starts a probe that ends by itself, and stops its process while it measures; to be
# continued with SIGCONT.  A process that is stopped elsewhere may be reading a page or hold a
# lock, which others then wait for: so it is seen to measure first, and the query that tells
# whether it still did is given up after a while.  On a slow machine a probe may be over before
# it can be stopped: then a longer one is started.
sub pause_probe
{
	my ($node, $session, $arguments) = @_;
	my $phase = "SELECT phase FROM sync_probe.running WHERE pid = $session->{pid}";
	for my $seconds (1, 5, 25, 125)
	{
		start_query($session, 'SELECT count(*) > 5 FROM sync_probe.probe('
			  . "$arguments, duration => '$seconds s', stop_early => false)");
		until (query_has_ended($session))
		{
			next if $node->safe_psql('postgres', $phase) ne 'measuring';
			kill 'STOP', $session->{pid};
			my ($status, $seen) =
			  $node->psql('postgres', $phase, timeout => 10, timed_out => \my $timed_out);
			return if !$timed_out && $seen eq 'measuring';
			kill 'CONT', $session->{pid};
		}
		finish_query($session);
	}
	die 'the probe was never seen to measure';
}

# Advice rests on runs of enough rounds at the cluster's own pace; the short ones of
# tests have neither.
sub let_runs_count
{
	my ($node) = @_;
	$node->safe_psql('postgres', <<'SQL');
UPDATE sync_probe.runs
SET usable_for_advice = true WHERE suite <> 'pg_test_fsync'
SQL
	return;
}

# Cancel it, and say what it said.
sub end_probe
{
	my ($node, $session) = @_;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{pid})");
	my ($out, $err) = finish_query($session);
	$session->quit;
	return $err;
}

# A workload is run by a function or a procedure; both take the same arguments.
sub workload_call
{
	my ($kind, $arguments) = @_;
	return $kind eq 'procedure' ? "CALL sync_probe.run_workload($arguments)"
	  : "SELECT transactions FROM sync_probe.pgbench($arguments)";
}

# ---------------------------------------------------------------------- waiting

# Until the code returns true; false when that never happened.
sub wait_for
{
	my ($code) = @_;
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return 1 if $code->();
		sleep 0.1;
	}
	return 0;
}

sub wait_phase
{
	my ($node, $session, $phase) = @_;
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM sync_probe.running WHERE pid = $session->{pid} AND phase = '$phase'")
	  or die "the probe never came to '$phase'";
	return;
}

# Until pgbench runs for that session, with so many clients connected.
sub wait_running
{
	my ($node, $session, $clients) = @_;
	wait_phase($node, $session, 'running');
	$node->poll_query_until('postgres', <<"SQL") or die 'the clients of pgbench never came';
SELECT count(*) >= $clients FROM pg_stat_activity
WHERE application_name ~ '^sync_probe_workload_' AND backend_type = 'client backend' AND query <> ''
SQL
	return;
}

# Zombies count as dead.
sub pid_alive
{
	my ($pid) = @_;
	open my $status, '<', "/proc/$pid/stat" or return 0;
	my $line = <$status> // return 0;
	return $line !~ /\) Z/;
}

# ------------------------------------------------------------------- leftovers

# Whatever has our name in it, in every place where a probe writes.
sub probe_files
{
	my ($node) = @_;
	my $data = $node->data_dir;
	return grep { /sync_probe\./ }
	  map { bsd_glob("$_/*") } "$data/pg_wal",
	  bsd_glob("$data/base/pgsql_tmp"),
	  bsd_glob("$data/pg_tblspc/*/PG_*/pgsql_tmp");
}

# The processes of pgbench that backends of this server started, also those whose
# backend is gone: they work in its data directory.  Zombies count as dead.
sub pgbench_children
{
	my ($node) = @_;
	my $data = realpath($node->data_dir);
	my @children;
	for my $directory (bsd_glob('/proc/[0-9]*'))
	{
		open my $stat, '<', "$directory/stat" or next;
		my ($pid, $state) = (<$stat> // '') =~ /^(\d+) \(pgbench\) (\S)/ or next;
		my $cwd = readlink("$directory/cwd") // '';
		push @children, $pid if $state ne 'Z' && $cwd eq $data;
	}
	return @children;
}

# Schemas that are called as those of workloads, in one database.
sub workload_schemas
{
	my ($node, $database) = @_;
	return $node->safe_psql($database // 'postgres',
		"SELECT nspname FROM pg_namespace WHERE nspname ~ '^sync_probe_workload_' ORDER BY 1");
}

# The background workers that watch a trial.  They have no row in pg_stat_activity.
sub trial_watchdogs
{
	my ($node) = @_;
	my $data = realpath($node->data_dir);
	my @watchdogs;
	for my $directory (bsd_glob('/proc/[0-9]*'))
	{
		next if (readlink("$directory/cwd") // '') ne $data;
		open my $file, '<', "$directory/cmdline" or next;
		my ($pid) = $directory =~ /(\d+)$/;
		push @watchdogs, $pid if (<$file> // '') =~ /pg_sync_probe trial/ && pid_alive($pid);
	}
	return @watchdogs;
}

# The settings in postgresql.auto.conf.  ALTER SYSTEM drops comments, and moves lines.
sub auto_settings
{
	my ($node) = @_;
	return join "\n",
	  sort grep { /^[^#]/ } split /\n/, slurp_file($node->data_dir . '/postgresql.auto.conf');
}

# All traces of a probe, trial or workload in the cluster, as text; empty when there are
# none.  Schemas: those of database postgres.
sub leftovers
{
	my ($node) = @_;
	my $seen = $node->safe_psql('postgres', <<'SQL');
SELECT 'lock ' || l::text FROM pg_locks l WHERE locktype = 'advisory' AND database = 0
UNION ALL SELECT 'running ' || r::text FROM sync_probe.running r
UNION ALL SELECT 'pg_wal ' || name FROM pg_ls_waldir() WHERE name LIKE '%sync_probe%'
UNION ALL SELECT spcname || ' ' || f.name FROM pg_tablespace t, pg_ls_tmpdir(t.oid) f
    WHERE spcname <> 'pg_global' AND f.name LIKE '%sync_probe%'
UNION ALL SELECT 'process ' || concat_ws(' ', pid, backend_type, application_name, query)
    FROM pg_stat_activity
    WHERE application_name ~ '^sync_probe_workload_' OR backend_type ~ '^pg_sync_probe'
SQL
	return join "\n", grep { $_ ne '' } $seen, workload_schemas($node), probe_files($node),
	  (map { "pgbench $_" } pgbench_children($node)),
	  (map { "watchdog $_" } trial_watchdogs($node)),
	  map { "file $_" } bsd_glob($node->data_dir . '/pg_sync_probe*');
}

# The worker of a run that was given up may still be dropping: poll for it.
sub nothing_left
{
	my ($node, $name) = @_;
	my $left;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_for(sub { ($left = leftovers($node)) eq '' }), "$name: nothing is left") or diag($left);
	return;
}

# Descriptors of a process on files of a probe, also on removed ones, on the
# directories that they are in, and on counters: the server itself holds none of
# those open.
sub descriptors
{
	my ($pid) = @_;
	my @links = bsd_glob("/proc/$pid/fd/*");
	die "cannot see the descriptors of process $pid" unless @links;
	return join "\n", grep { m{sync_probe\.|/(pg_wal|pgsql_tmp)$|^/sys/} } map { readlink($_)
		// '' } @links;
}

# --------------------------------------------------------- what ends a statement

# Each of these makes a function that takes the session to be ended.
sub signal_backend
{
	my ($node, $function) = @_;
	return sub { $node->safe_psql('postgres', "SELECT $function($_[0]{pid})") };
}

sub signal_client
{
	my ($signal) = @_;
	return sub { shift->{run}->signal($signal) };
}

# Kills a process of the server as the kernel would do it; the server restarts itself.
sub kill_process
{
	my ($node, $pid) = @_;
	my $offset = -s $node->logfile;
	kill 'KILL', $pid;
	$node->wait_for_log(qr/database system is ready to accept connections/, $offset);
	return;
}

# The client got a message like this; "the client is lost" is in the server's log
# instead, with the process ID of the session.
sub client_told_ok
{
	my ($node, $session, $name, $says, @messages) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	if ($says ne CLIENT_LOST)
	{
		like(join('', @messages), $says, "$name: the client was told");
		return;
	}
	my $lost = qr/\[$session->{pid}\] .*FATAL:  connection to client lost$/m;
	ok(wait_for(sub { slurp_file($node->logfile) =~ $lost }), "$name: the server noticed");
	return;
}

# A random sequence that can be repeated with SP_TEST_SEED.
sub seed_random
{
	my $seed = $ENV{SP_TEST_SEED} // int(rand(1e6));
	note "SP_TEST_SEED=$seed";
	srand($seed);
	return;
}

# -------------------------------------------------------------------------- tests

# The statement fails with this SQLSTATE and with messages like all of these.
sub fails_ok
{
	my ($node, $name, $sql, $sqlstate, @messages) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($status, $out, $err) =
	  $node->psql('postgres', "SET client_min_messages = warning;\n\\set VERBOSITY verbose\n$sql");

	isnt($status, 0, "$name: fails");
	like($err, qr/ERROR:  $sqlstate: /, "$name: $sqlstate");
	like($err, $_, "$name: says so") for @messages;
	return $err;
}

# A short probe returns its rows, and measured something.
sub works_ok
{
	my ($node, $name, $arguments) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$arguments .= ', record => false' unless $arguments =~ /record =>/;
	my ($status, $out, $err) = $node->psql('postgres',
		"SELECT sum(ops) > 0 FROM sync_probe.probe($arguments, duration => '50 ms')");

	is($out, 't', "$name: a probe works") or diag($err);
	return $err;
}

# Nothing in the server's log that only a bug could put there.
sub log_ok
{
	my ($node) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @bad = grep { !/LOG:  statement: / && /PANIC:|TRAP:|terminated by signal (?!9\b)
		|resource\ was\ not\ closed|leak(ed)?:?\ |you\ don't\ own\ a\ lock|XX000/x }
	  split /\n/, slurp_file($node->logfile);

	is(join("\n", @bad), '', $node->name . ': no assertion, leak or panic in the log');
	return;
}

1;
