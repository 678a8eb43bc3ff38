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
use experimental 'signatures';

use Cwd qw(realpath);
use Exporter ();
use Fcntl qw(:DEFAULT);
use File::Basename qw(dirname);
use File::Glob qw(bsd_glob);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

# A test that takes too long is ended so; an error stops its clusters.
use sigtrap qw(die TERM);

our @EXPORT = (@Test::More::EXPORT, @PostgreSQL::Test::Utils::EXPORT, qw(
	sleep new_cluster probe_cluster cron_conf write_file source_directory build_directory
	add_standby add_tablespace has_other_strings sql messages run_sql reload_with session
	verbose_session start_query query_has_ended finish_query query start_probe pause_probe
	start_commits end_probe wait_for wait_phase wait_active wait_running pid_alive memory
	probe_files server_processes pgbench_children pgbench_sql workload_call workload_schemas
	let_runs_count leftovers nothing_left start_trial restored_ok auto_settings settings_digest
	descriptors open_flags signal_backend signal_client kill_process kill_postmaster stop_smartly
	statement_ended_ok seed_random fails_ok fails_whole_ok works_ok bad_log_lines log_ok end_tests
	WAIT_AT_GATE close_gate open_gate LONG_PROBE SMALL_RUN CLIENT_LOST));

# A test that uses this needs no "use" of the modules above.  What is left is looked for in /proc.
sub import
{
	plan skip_all => 'there is no /proc of Linux' unless -e '/proc/self/stat';
	strict->import;
	warnings->import;
	experimental->import('signatures');
	goto &Exporter::import;
}

sub source_directory { return realpath(dirname(__FILE__) . '/../..') }

# Where make has built the libraries of tests.  The server's makefiles up to 15 say it
# itself, later ones the tmp_check in it.
sub build_directory { return $ENV{TESTDIR} // dirname($ENV{TESTDATADIR}) }

# Longer than any test waits; always ended from outside.
use constant LONG_PROBE => "duration => '300 s', stop_early => false, record => false";

# What the client is told if it is gone.
use constant CLIENT_LOST => 'the client is lost';

# What a server with pg_cron is configured with; nothing where it is not installed.
sub cron_conf
{
	chomp(my $share = qx(pg_config --sharedir));
	return -e "$share/extension/pg_cron.control" ?
	  "shared_preload_libraries = 'pg_cron'\ncron.use_background_workers = on\n" : '';
}

# The shortest run of a workload that makes and drops objects.
use constant SMALL_RUN => "'upsert', clients => 1, transactions => 5, rows => 10";

# A statement that waits as long as there is a file "gate" in the data directory.
use constant WAIT_AT_GATE => q{DO 'BEGIN WHILE (pg_stat_file(''gate'', true)).size IS NOT NULL LOOP
    PERFORM pg_sleep(0.02);
END LOOP; END'};

sub close_gate { return write_file($_[0]->data_dir . '/gate', 'closed') }
sub open_gate { return unlink $_[0]->data_dir . '/gate' }

# A cluster that is not started.  Segments of 1 MB keep the writing of files short; conf is appended
# to postgresql.conf; install_path is that of its server, if that is another one.
sub new_cluster ($name, %opt)
{
	my $node = PostgreSQL::Test::Cluster->new($name, install_path => $opt{install_path});
	$node->init(
		allows_streaming => $opt{allows_streaming} // 0,
		# whatever LANG says, or if nothing does
		extra => [ '--wal-segsize=1', '--encoding=UTF8', '--locale=C', @{ $opt{extra} // [] } ]);
	# the test modules switch fsync off, and with it all advice is to switch it on
	$node->append_conf('postgresql.conf',
		"max_wal_size = '64MB'\nmin_wal_size = '32MB'\nfsync = on\n" . ($opt{conf} // ''));
	return $node;
}

# A started one with the extension in database postgres; faults is the file that tells a library of
# test/fault in its server what to do, by default fail_calls.
sub probe_cluster ($name, %opt)
{
	my $node = new_cluster($name, %opt);
	my $library = ($opt{library} // 'fail_calls') . '.so';
	local $ENV{LD_PRELOAD} = join ' ', $ENV{LD_PRELOAD} // '',
	  $opt{faults} ? build_directory() . "/test/fault/$library" : ();
	local $ENV{SP_FAULT_FILE} = $opt{faults} // '';
	$node->start;
	sql($node, 'CREATE EXTENSION pg_sync_probe');
	return $node;
}

# A started standby that streams from the server; conf is appended to its postgresql.conf.
sub add_standby ($node, $name, $conf = undef)
{
	my $standby = PostgreSQL::Test::Cluster->new($name);
	$node->backup($name);
	$standby->init_from_backup($node, $name, has_streaming => 1);
	$standby->append_conf('postgresql.conf', $conf) if defined $conf;
	$standby->start;
	return $standby;
}

sub write_file ($path, @content)
{
	open my $file, '>:raw', $path or die "$path: $!";
	print $file @content;
	close $file or die "$path: $!";
	return $path;
}

# Creates a tablespace in a new directory (or the given one), and returns that.
sub add_tablespace ($node, $name, $directory = PostgreSQL::Test::Utils::tempdir())
{
	sql($node, "CREATE TABLESPACE $name LOCATION '$directory'");
	return $directory;
}

# The output of statements, of which none may fail.  Nothing below a warning is said.
sub sql ($node, $sql)
{
	local $ENV{PGOPTIONS} = '-c client_min_messages=warning';
	return $node->safe_psql('postgres', $sql);
}

# What psql says of statements.
sub messages ($node, $sql, %opt) { return ($node->psql('postgres', $sql, %opt))[2] }

# Output and messages of statements in a session of their own: SQLSTATEs, and nothing below a
# warning.  Optional: database, role.
sub run_sql ($node, $sql, %opt)
{
	my (undef, $out, $err) = $node->psql($opt{database} // 'postgres',
		"\\set VERBOSITY verbose\nSET client_min_messages = warning;\n$sql",
		extra_params => [ $opt{role} ? ('-U', $opt{role}) : () ]);
	return ($out, $err);
}

# New sessions of the server have that value when this returns.
sub reload_with ($node, $setting, $value)
{
	$node->append_conf('postgresql.conf', "$setting = $value");
	$node->reload;
	$value =~ s/^'(.*)'$/$1/;
	$node->poll_query_until('postgres', "SELECT current_setting('$setting')", $value)
	  or die "$setting did not become $value";
	return;
}

# Can strings be read in another way than the standard's?  PostgreSQL 19 refuses that.
sub has_other_strings ($node)
{
	return $node->psql('postgres', 'SET standard_conforming_strings = off') == 0;
}

# ------------------------------------------------------------------- sessions

sub session ($node, $database = 'postgres')
{
	my $session = $node->background_psql($database, on_error_stop => 0);
	$session->{pid} = $session->query('SELECT pg_backend_pid()');
	return $session;
}

# A session that shows SQLSTATEs, and nothing below a warning.
sub verbose_session ($node, $database = 'postgres')
{
	my $session = session($node, $database);
	query($session, "\\set VERBOSITY verbose\nSET client_min_messages = warning");
	return $session;
}

# Sends SQL and does not wait for its end.  A time limit is that of a call here, not of the session,
# which may sleep as long as a test runs.
sub start_query ($session, $sql)
{
	$session->{timeout}->start;
	$session->{stdout} = $session->{stderr} = '';
	$session->{stdin} .= "$sql;\n\\echo query ended\n\\warn query ended\n";
	$session->{run}->pump_nb;
	return;
}

# The end of a line may arrive after the line.
sub query_has_ended ($session)
{
	$session->{run}->pump_nb if $session->{run}->pumpable;
	return 1 if !$session->{run}->pumpable;
	return $session->{stdout} =~ /query ended\n/ && $session->{stderr} =~ /query ended\n/;
}

# Waits until the query is over, or psql is; returns its output and messages.
sub finish_query ($session)
{
	$session->{timeout}->start;
	$session->{run}->pump until query_has_ended($session);
	my ($out, $err) = ($session->{stdout}, $session->{stderr});
	$session->{stdout} = $session->{stderr} = '';
	s/^query ended\n//mg for $out, $err;
	return ($out, $err);
}

sub query ($session, $sql)
{
	start_query($session, $sql);
	return finish_query($session);
}

# A session that is measuring now; arguments as of sync_probe.probe().
sub start_probe ($node, $arguments)
{
	my $session = session($node);
	start_query($session, "SELECT FROM sync_probe.probe($arguments)");
	wait_phase($node, $session, 'measuring');
	return $session;
}

# Starts a probe that ends by itself, and stops its process while it measures; to be
# continued with SIGCONT.  A process that is stopped elsewhere may be reading a page or hold a
# lock, which others then wait for: so it is seen to measure first, and the query that tells
# whether it still did is given up after a while.  On a slow machine a probe may be over before
# it can be stopped: then a longer one is started.
sub pause_probe ($node, $session, $arguments)
{
	my $phase = "SELECT phase FROM sync_probe.running WHERE pid = $session->{pid}";
	for my $seconds (1, 5, 25, 125)
	{
		start_query($session, 'SELECT count(*) > 5 FROM sync_probe.probe('
			  . "$arguments, duration => '$seconds s', stop_early => false)");
		until (query_has_ended($session))
		{
			next if sql($node, $phase) ne 'measuring';
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
sub let_runs_count ($node)
{
	return sql($node,
		"UPDATE sync_probe.runs SET usable_for_advice = true WHERE suite <> 'pg_test_fsync'");
}

# A session that commits all the time; end_probe() ends it.
sub start_commits ($node)
{
	my $session = session($node);
	query($session, 'CREATE TABLE IF NOT EXISTS committed (n int); TRUNCATE committed');
	start_query($session,
		'DO $$ BEGIN LOOP INSERT INTO committed VALUES (1); COMMIT; END LOOP; END $$');
	$node->poll_query_until('postgres', 'SELECT count(*) > 10 FROM committed') or die 'no commit';
	return $session;
}

# Cancel it, and say what it said.
sub end_probe ($node, $session)
{
	sql($node, "SELECT pg_cancel_backend($session->{pid})");
	my ($out, $err) = finish_query($session);
	$session->quit;
	return $err;
}

# A workload is run by a function or a procedure; both take the same arguments.
sub pgbench_sql { return "SELECT transactions FROM sync_probe.pgbench($_[0])" }

sub workload_call ($kind, $arguments)
{
	return $kind eq 'function' ? pgbench_sql($arguments)
	  : "CALL sync_probe.run_workload($arguments)";
}

# ---------------------------------------------------------------------- waiting

# Until the code returns true; false when that never happened.
sub wait_for ($code)
{
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;
	until ($code->())
	{
		return 0 if time > $end;
		sleep 0.02;
	}
	return 1;
}

sub wait_phase ($node, $session, $phase)
{
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM sync_probe.running
		WHERE pid = $session->{pid} AND phase = '$phase'")
	  or die "the probe never came to '$phase'";
	return;
}

# Until the server executes the statement that the session has sent.
sub wait_active ($node, $session)
{
	$node->poll_query_until('postgres',
		"SELECT state = 'active' FROM pg_stat_activity WHERE pid = $session->{pid}")
	  or die 'no statement is executed';
	return;
}

# Until pgbench runs for that session, or is in another phase, with so many clients connected.
sub wait_running ($node, $session, $clients, $phase = undef)
{
	wait_phase($node, $session, $phase // 'running');
	$node->poll_query_until('postgres', <<"SQL") or die 'the clients of pgbench never came';
SELECT count(*) >= $clients FROM pg_stat_activity
WHERE application_name ~ '^sync_probe_workload_' AND backend_type = 'client backend' AND query <> ''
SQL
	return;
}

# As ps prints it; nothing if there is no such process.
sub process_state ($pid)
{
	return (eval { slurp_file("/proc/$pid/stat") } // '') =~ /\) (\S)/ ? $1 : '';
}

# Of a process, in kB; a field of /proc/PID/status.
sub memory ($pid, $field)
{
	return slurp_file("/proc/$pid/status") =~ /^$field:\s+(\d+) kB/m ? $1 : die "no $field of $pid";
}

# Zombies count as dead.
sub pid_alive ($pid) { return process_state($pid) !~ /^Z?$/ }

# ------------------------------------------------------------------- leftovers

# Whatever has our name in it, in every place where a probe writes.
sub probe_files ($node)
{
	my $data = $node->data_dir;
	return grep { /sync_probe\./ }
	  map { bsd_glob("$_/*") } map { $_, "$_/pgsql_tmp" } "$data/pg_wal", "$data/base",
	  bsd_glob("$data/pg_tblspc/*/PG_*");
}

# Processes with a command line like this that work in the data directory, also those whose
# backend or postmaster is gone.  Zombies have no command line.
sub server_processes ($node, $like)
{
	my $data = realpath($node->data_dir);
	return grep {
		(readlink("/proc/$_/cwd") // '') eq $data
		  && (eval { slurp_file("/proc/$_/cmdline") } // '') =~ $like
	} map { m{(\d+)$} } bsd_glob('/proc/[0-9]*');
}

sub pgbench_children { return server_processes($_[0], qr/^[^\0]*\bpgbench\0/) }

# The background workers that watch a trial.  They have no row in pg_stat_activity.
sub trial_watchdogs { return server_processes($_[0], qr/pg_sync_probe trial/) }

# Schemas that are called as those of workloads, in one database.
sub workload_schemas ($node, $database = 'postgres')
{
	return $node->safe_psql($database,
		"SELECT nspname FROM pg_namespace WHERE nspname ~ '^sync_probe_workload_' ORDER BY 1");
}

# The settings in postgresql.auto.conf.  ALTER SYSTEM drops comments, and moves lines.
sub auto_settings ($node)
{
	return join "\n",
	  sort grep { /^[^#]/ } split /\n/, slurp_file($node->data_dir . '/postgresql.auto.conf');
}

# Of all settings but those that a promotion changes.
sub settings_digest ($node)
{
	return sql($node, "SELECT md5(string_agg(s::text, ',' ORDER BY name)) FROM pg_settings AS s"
		  . " WHERE name NOT IN ('in_hot_standby', 'transaction_read_only')");
}

# A session whose trial has a value like this in place now, and the process ID of its watchdog.
sub start_trial ($node, $call, $value)
{
	my $session = session($node);
	my $auto = $node->data_dir . '/postgresql.auto.conf';
	start_query($session, $call);
	wait_for(sub { slurp_file($auto) =~ /commit_delay = '$value'\n.*trial_restores/s })
	  or die 'no value was tried';
	$session->{watchdog} = (trial_watchdogs($node))[0] or die 'the trial has no watchdog';
	return $session;
}

# After a trial the settings are these again, and nothing is left of it.
sub restored_ok ($node, $name, $before)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_for(sub { auto_settings($node) eq $before }), "$name: the settings are as before")
	  or diag($before, "\n", auto_settings($node));
	nothing_left($node, $name);
	return;
}

# All traces of a probe, trial or workload in the cluster, as text; empty when there are
# none.  Schemas: those of database postgres.
sub leftovers ($node)
{
	my $seen = sql($node, <<'SQL');
SELECT 'lock ' || l::text FROM pg_locks l WHERE locktype = 'advisory' AND database = 0
UNION ALL SELECT 'running ' || r::text FROM sync_probe.running r
UNION ALL SELECT 'process ' || concat_ws(' ', pid, backend_type, application_name, query)
    FROM pg_stat_activity
    WHERE application_name ~ '^sync_probe_workload_' OR backend_type ~ '^pg_sync_probe'
UNION ALL SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname ~ '^sync_probe_workload_'
SQL
	return join "\n", grep { $_ ne '' } $seen, probe_files($node),
	  (map { "pgbench $_" } pgbench_children($node)),
	  (map { "watchdog $_" } trial_watchdogs($node)),
	  map { "file $_" } bsd_glob($node->data_dir . '/pg_sync_probe*');
}

# A session of a run that was given up may still be dropping: poll for it.
sub nothing_left ($node, $name)
{
	my $left;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_for(sub { ($left = leftovers($node)) eq '' }), "$name: nothing is left") or diag($left);
	return;
}

# Descriptors of a process on files of a probe, also on removed ones, on the
# directories that they are in, and on counters: the server itself holds none of
# those open.
sub descriptors ($pid)
{
	my @links = bsd_glob("/proc/$pid/fd/*");
	die "cannot see the descriptors of process $pid" unless @links;
	return join "\n", grep { m{sync_probe\.|/(pg_wal|pgsql_tmp)$|^/sys/} } map { readlink($_)
		// '' } @links;
}

# The flags that decide how a write gets to the device, of descriptors on files whose path is like
# this, as the keys of a hash.  Any of them may be closed meanwhile.
sub open_flags ($pid, $path)
{
	my @infos = map { eval { slurp_file(s/\bfd\b/fdinfo/r) } // '' }
	  grep { (readlink($_) // '') =~ $path } bsd_glob("/proc/$pid/fd/*");
	return map { /^flags:\s*([0-7]+)$/m ? (oct($1) & (O_DIRECT | O_SYNC) => 1) : () } @infos;
}

# --------------------------------------------------------- what ends a statement

# Each of these makes a function that takes the session to be ended.
sub signal_backend ($node, $function) { return sub { sql($node, "SELECT $function($_[0]{pid})") } }
sub signal_client ($signal) { return sub { shift->{run}->signal($signal) } }

# Kills a process of the server as the kernel would do it; the server restarts itself, unless the
# process has just ended by itself: then it returns false.
sub kill_process ($node, $pid)
{
	my $offset = -s $node->logfile;
	# what is stopped cannot end by itself
	kill 'STOP', $pid;
	wait_for(sub { process_state($pid) =~ /^[TZ]?$/ });
	return 0 if !pid_alive($pid);
	kill 'KILL', $pid;
	return $node->wait_for_log(qr/database system is ready to accept connections/, $offset);
}

# Kills the postmaster, and starts the server again when its processes are gone, which notice that.
sub kill_postmaster ($node)
{
	$node->kill9;
	wait_for(sub { !server_processes($node, qr/./) })
	  or die 'a process of a server without a postmaster lives on';

	# as long as nobody waited for it, a killed process seems to hold its locks
	unlink $node->data_dir . '/postmaster.pid', $node->host . '/.s.PGSQL.' . $node->port . '.lock';
	$node->start;
	return;
}

# A smart shutdown waits for its sessions: what they do meanwhile, and then they have to end.
sub stop_smartly ($node, $meanwhile)
{
	my $pid_file = $node->data_dir . '/postmaster.pid';
	system_or_bail('pg_ctl', '-D', $node->data_dir, '-m', 'smart', '-W', 'stop');
	wait_for(sub { slurp_file($pid_file) =~ /^stopping\s*\Z/m }) or die 'no smart shutdown begins';
	$meanwhile->();
	wait_for(sub { !-e $pid_file }) or die 'a smart shutdown does not end';
	$node->stop('fast', fail_ok => 1);	# tells the node object
	return;
}

# The statement ends, and the client got a message like says; "the client is lost" is in the
# server's log instead, with the process ID of the session.  Unless that survives, its backend
# ends, too.
sub statement_ended_ok ($node, $session, $name, $ending)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($out, $err) = finish_query($session);
	my $lost = qr/\[$session->{pid}\] .*FATAL:  connection to client lost$/m;
	$ending->{says} ne CLIENT_LOST
	  ? like($out . $err, $ending->{says}, "$name: the client was told")
	  : ok(wait_for(sub { slurp_file($node->logfile) =~ $lost }), "$name: the server noticed");
	return if $ending->{survives};
	ok(wait_for(sub { !pid_alive($session->{pid}) }), "$name: the backend is gone");
	eval { $session->{run}->finish };	# which psql that was killed makes an error
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
sub fails_ok ($node, $name, $sql, $sqlstate, @messages)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my (undef, $err) = run_sql($node, $sql);
	like($err, qr/ERROR:  $sqlstate: /, "$name: $sqlstate");
	like($err, $_, "$name: says so") for @messages;
	return;
}

sub fails_whole_ok ($node, $name, @refused)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	fails_ok($node, $name, @refused);
	nothing_left($node, $name);
	return;
}

# A short probe returns its rows, and measured something.
sub works_ok ($node, $name, $arguments)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my (undef, $out, $err) = $node->psql('postgres', "SELECT sum(ops) > 0"
		  . " FROM sync_probe.probe($arguments, duration => '50 ms', record => false)");
	is($out, 't', "$name: a probe works") or diag($err);
	return;
}

sub end_tests
{
	for my $node (@_)
	{
		$node->stop;
		log_ok($node);
	}
	done_testing();
	return;
}

# What only a bug could put into the server's log.
sub bad_log_lines ($node, $offset = 0)
{
	return grep { !/LOG:  statement: / && /PANIC:|TRAP:|terminated by signal (?!9\b)
		|resource\ was\ not\ closed|leak(ed)?:?\ |you\ don't\ own\ a\ lock|XX000/x }
	  split /\n/, slurp_file($node->logfile, $offset);
}

sub log_ok ($node)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(join("\n", bad_log_lines($node)), '', $node->name . ': no assertion, leak or panic');
	return;
}

1;
