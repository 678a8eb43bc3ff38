# Every call fails once: the n-th system call of a kind that the extension makes fails with each
# errno that fits, for n = 1, 2, 4 ... until none is left to fail, and then all of them; a sync
# stalls; there is no memory.  Then the client got a documented SQLSTATE, or rows, nothing is left,
# the settings are as before, and the same backend can probe.
#
#	SP_FAULTS			the values of n for each call and errno
#	SP_SECONDS			how long each action is tried; what is left then is counted
#	SP_ACTIONS, SP_CALLS	only those whose name is like this

use File::Basename qw(basename);
use List::Util qw(uniq);
use SyncProbeTest;

my $most = $ENV{SP_FAULTS} // 3;
my $control_file = PostgreSQL::Test::Utils::tempdir() . '/fault';
my $node = probe_cluster('every_call', allows_streaming => 1, faults => $control_file,
	library => 'fail_every_call', conf => <<'CONF');
pg_sync_probe.max_stream_write = '1MB'
log_statement = none
autovacuum = off
CONF
sql($node, "ALTER SYSTEM SET work_mem = '5MB'; ALTER SYSTEM SET commit_delay = 7");
$node->reload;

my %actions = (
	(map { ("probe $_->[0]" => "SELECT DISTINCT status FROM sync_probe.probe('$_->[1]', '$_->[0]',"
			  . " duration => '30 ms')") } [ 'wal', 'pg_wal' ], [ 'pg_test_fsync', 'pg_default' ],
		[ 'stream', 'pg_default' ], [ 'segments', 'pg_wal' ]),
	'commit suite' => 'SELECT DISTINCT status FROM'
	  . " sync_probe.probe('pg_wal', 'commit', workers => 2, duration => '2 s')",
	'workload' => pgbench_sql(SMALL_RUN),
	'trial' => "CALL sync_probe.trial('commit_delay', '{50}', '2 s')",
	'power_test' => "CALL sync_probe.power_test('pg_default', '1 s')",
	'locations' => 'SELECT count(*) > 0 FROM sync_probe.locations',
	'cleanup' => 'SELECT sync_probe.cleanup()');

my @open = qw(EIO EMFILE ENFILE EINTR);
my @create = qw(EIO ENOSPC EDQUOT EROFS);
my @write = qw(EIO ENOSPC EDQUOT EINTR short);
my @sync = qw(EIO ENOSPC EDQUOT EINTR stall);

# waitpid() is not among them: with WNOHANG it has no error for a child that exists.
my %calls = ((map { ($_ => \@open) } qw(open open_path fopen)), create => [ @open, @create ],
	opendir => [qw(EIO EMFILE ENFILE)], fdopendir => ['ENOMEM'],
	(map { ($_ => ['EIO']) } qw(readdir fstat fstatat stat lstat readlink fstatvfs)),
	(map { ($_ => \@create) } qw(mkdir mkfifo rename)),
	(map { ($_ => [qw(EIO EROFS)]) } qw(unlink unlinkat rmdir)),
	(map { ($_ => ['ENOMEM']) } qw(malloc realloc)),
	dup2 => [qw(EINTR EMFILE)], fork => [qw(EAGAIN ENOMEM)], execve => [qw(EIO ENOMEM)],
	shm_open => [qw(EMFILE ENFILE ENOSPC)], posix_fallocate => [qw(ENOSPC EINTR)],
	read => [qw(EIO EINTR)], pread => [qw(EIO EINTR)], write => \@write, pwrite => \@write,
	pwritev => \@write, (map { ($_ => \@sync) } qw(fsync fsync_directory fdatasync)),
	close => [qw(EIO EINTR ENOSPC)]);

# --------------------------------------------------------------- the state after it

my $auto = slurp_file($node->data_dir . '/postgresql.auto.conf');
my $settings = settings_digest($node);
my $session;

sub begin_session
{
	$session = verbose_session($node);
	query($session, "SET statement_timeout = '30 s'; SELECT sync_probe.cleanup()");
	return;
}

# What is left and was not told.  A power test leaves its file: its first numbers are durable.
sub left_untold ($action, $err)
{
	return map { "left without a word: $_" } grep {
		my $file = basename($_);
		!($action eq 'power_test' && $file =~ /power_test$/) && $err !~ /(WARNING|ERROR).*\Q$file\E/
	} uniq(probe_files($node), directories());
}

sub directories { return glob($node->data_dir . '/base/pgsql_tmp/*sync_probe*') }

# What is wrong, or nothing.
sub state_now
{
	return join "\n", grep { $_ ne '' } leftovers($node), descriptors($session->{pid}),
	  slurp_file("/proc/$session->{pid}/task/$session->{pid}/children"), directories(),
	  (slurp_file($node->data_dir . '/postgresql.auto.conf') eq $auto ? '' : 'auto.conf changed'),
	  (settings_digest($node) eq $settings ? '' : 'settings changed');
}

sub faults ($action, $err)
{
	my @faults;
	push @faults, "undocumented: $err" if $err =~ /PANIC:|server closed/
	  || grep { !/^(?:08|22|25|28|38|42|53|55|58|F0)/ } $err =~ /(?:ERROR|FATAL):  (\w{5}):/g;
	return (@faults, 'the backend has ended') if !pid_alive($session->{pid});
	push @faults, left_untold($action, $err);
	my ($works, $why) = query($session, "SELECT bool_or(ops > 0) AND bool_and(status <> 'error')"
		  . " FROM sync_probe.probe('pg_wal', 'wal', duration => '20 ms', record => false)");
	push @faults, "the next probe does not work: $works$why" if "$works$why" ne "t\n";
	query($session, 'SELECT sync_probe.cleanup()');
	my $left;
	push @faults, "left: $left" if !wait_for(sub { ($left = state_now()) eq '' });
	return @faults;
}

# ---------------------------------------------------------------------------- all

my ($serial, %failed, %told) = (0);

# Whether a call failed, and what the client got.  Only faults are logged where there is no log yet.
sub with_fault ($call, $n, $errno, $sql)
{
	unlink "$control_file.log";
	write_file($control_file, "# @{[ $serial++ ]}\n$call $n $errno");
	my ($out, $err) = query($session, $sql);
	my $injected = unlink "$control_file.log";
	write_file($control_file, '# ' . $serial++);
	return ($injected, $out, $err);
}

begin_session();
note("n = 1, 2, 4 ..., at most $most values");
for my $action (grep { $_ =~ ($ENV{SP_ACTIONS} // '') } sort keys %actions)
{
	my ($wrong, $left_out) = (0, 0);
	unlike((query($session, $actions{$action}))[1], qr/ERROR|FATAL/, "$action: works undisturbed");
	my $end = time + ($ENV{SP_SECONDS} // 60);
	for my $call (grep { $_ =~ ($ENV{SP_CALLS} // '') } sort keys %calls)
	{
		ERRNO: for my $errno (@{ $calls{$call} })
		{
			$left_out++, next if time > $end;
			# a call that a signal has interrupted is repeated, and of stalls one is enough
			my $once = $errno =~ /^(EINTR|short|stall)$/;
			for my $n ((map { 2**$_ } 0 .. ($errno eq 'stall' ? 0 : $most - 1)), $once ? () : '1+')
			{
				my ($injected, $out, $err) = with_fault($call, $n, $errno, $actions{$action});
				last ERRNO if !$injected && $n eq '1';
				next if !$injected;
				$failed{$call}++;
				$told{ $err =~ /(?:ERROR|FATAL):  (\w{5}):/ ? $1
					: $out =~ /^error$/m ? 'row with an error' : 'none' }++;
				my @faults = faults($action, $err) or next;
				fail("$action, $call $n $errno: $_") for @faults;
				$wrong++;
				$session->{run}->kill_kill;
				begin_session();
			}
		}
	}
	is($wrong, 0, "$action: all is whole after each call that failed");
	diag("$action: left out for lack of time: $left_out pairs of call and errno") if $left_out;
}
sub numbers (%of) { return join ', ', map { "$_ $of{$_}" } sort keys %of }
diag('calls failed: ', numbers(%failed), '; told: ', numbers(%told));
cmp_ok(scalar(keys %failed), '>', 0, 'calls failed');
$session->quit;
end_tests($node);
