# However a trial ends, postgresql.auto.conf is the same file with the same content as
# before, and the server has the old value.  What a failure of the machine leaves, is found
# and restored.

use strict;
use warnings;

use File::Copy qw(copy);
use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;
use Time::HiRes qw(sleep);

plan skip_all => 'processes are looked for in /proc' unless -e '/proc/self/stat';

my $node = probe_cluster('trial', allows_streaming => 1,
	conf => "restart_after_crash = on\nclient_connection_check_interval = 0");
my $auto = $node->data_dir . '/postgresql.auto.conf';

# The old value is one that is not the default, so that it has to come back.
$node->safe_psql('postgres', "ALTER SYSTEM SET commit_delay = 7");
$node->safe_psql('postgres', "ALTER SYSTEM SET work_mem = '5MB'");
$node->append_conf('postgresql.auto.conf', "# by hand, it's kept");
$node->reload;

my $trial = q{CALL sync_probe.trial('commit_delay', '{0,50}', duration => '%s s', slot => '1 s')};

# Content, inode and link count.
sub identity
{
	my @status = stat $auto;
	return join "\n", @status[ 1, 2, 3, 4, 5, 9 ], slurp_file($auto);
}

my $before = identity();

# ------------------------------------------------------------------- a trial

# A session whose trial has another value in place now.
sub start_trial
{
	my (%opt) = @_;
	my $session = session($node);
	query($session, $opt{before}) if $opt{before};
	start_query($session, $opt{call} // sprintf($trial, 300));
	wait_for(sub { slurp_file($auto) =~ /commit_delay = '(0|50)'\n/ }) or die 'no value was tried';
	$session->{watchdog} = (trial_watchdogs($node))[0] or die 'the trial has no watchdog';
	return $session;
}

# The value in sessions that begin now.  No connection is possible for a moment after a crash.
sub new_session_shows
{
	my ($setting, $value) = @_;
	return wait_for(
		sub {
			my ($status, $out) = $node->psql('postgres', "SHOW $setting");
			return $status == 0 && $out eq $value;
		});
}

sub restored_ok
{
	my ($name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_for(sub { identity() eq $before }), "$name: the same file with the same content")
	  or diag($before, identity());
	ok(new_session_shows('commit_delay', 7), "$name: a new session has the old value");
	nothing_left($node, $name);
	return;
}

sub wait_dead
{
	my (@pids) = @_;
	wait_for(sub { !grep { pid_alive($_) } @pids }) or die 'a process lives on';
	return;
}

# A postmaster that was killed counts as running until its parent has noticed.
sub start_again
{
	my ($postmaster) = @_;
	wait_for(sub { !kill 0, $postmaster }) or die 'the postmaster stays';
	$node->{_pid} = undef;
	$node->start;
	return;
}

# The server crashes and starts again, or the test starts it.
sub crash
{
	my ($signal, @pids) = @_;
	my $offset = -s $node->logfile;
	kill $signal, @pids;
	$node->wait_for_log(qr/database system is ready to accept connections/, $offset);
	return;
}

sub stop_and_start
{
	my ($session, $mode) = @_;
	$node->stop($mode);
	is(identity(), $before, "$mode stop: restored before the end of the server");
	$node->start;
	return;
}

my @endings = (
	{ name => 'the end', call => sprintf($trial, 5), end => sub { }, says => qr/undecided/ },
	{ name => 'error', end => sub { mkdir $node->data_dir . '/pg_sync_probe.trial_next' },
		says => qr/ERROR:  could not put file/,
		after => sub { rmdir $node->data_dir . '/pg_sync_probe.trial_next' } },
	{ name => 'pg_cancel_backend', end => signal_backend($node, 'pg_cancel_backend'),
		says => qr/canceling statement due to user request/ },
	{ name => 'statement_timeout', before => "SET statement_timeout = '2s'", end => sub { },
		says => qr/canceling statement due to statement timeout/ },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/terminating connection due to administrator command/ },
	{ name => 'client killed', end => signal_client('KILL') },
	{ name => 'SIGKILL of the session', end => sub { crash('KILL', $_[0]{pid}) } },
	{ name => 'SIGKILL of the watchdog', end => sub { crash('KILL', $_[0]{watchdog}) } },
	{ name => 'SIGKILL of both', end => sub { crash('KILL', @{ $_[0] }{qw(pid watchdog)}) } },
	{ name => 'SIGABRT of the watchdog', end => sub { crash('ABRT', $_[0]{watchdog}) } },
	{ name => 'SIGKILL of another session',
		end => sub {
			my $other = session($node);
			crash('KILL', $other->{pid});
			$other->{run}->kill_kill;
		} },
	{ name => 'fast stop', end => sub { stop_and_start($_[0], 'fast') } },
	{ name => 'immediate stop', end => sub { stop_and_start($_[0], 'immediate') } },
	{ name => 'SIGKILL of the postmaster',
		end => sub {
			my $postmaster = $node->{_pid};
			kill 'KILL', $postmaster;
			wait_dead(@{ $_[0] }{qw(pid watchdog)});
			is(identity(), $before, 'SIGKILL of the postmaster: restored without it');
			start_again($postmaster);
		} },
	{ name => 'SIGSTOP of the session',
		end => sub {
			kill 'STOP', $_[0]{pid};
			ok(wait_for(sub { identity() eq $before }), 'the watchdog restores');
			kill 'CONT', $_[0]{pid};
		}, says => qr/was changed during the trial/ });

for my $ending (@endings)
{
	my $session = start_trial(%$ending);
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

# --- a smart stop: the trial ends, and the session after it
{
	my $session = start_trial();
	my $stop = IPC::Run::start([ 'pg_ctl', '-D', $node->data_dir, '-m', 'smart', '-w', 'stop' ],
		'>', \my $out);
	my (undef, $err) = finish_query($session);
	like($err, qr/cannot go on with the trial now/, 'smart stop: the trial ends');
	$session->quit;
	$stop->finish;
	$node->_update_pid(0);
	is(identity(), $before, 'smart stop: restored');
	$node->start;
	restored_ok('smart stop');
}

# --- a crash after which the server stays down
$node->safe_psql('postgres', 'ALTER SYSTEM SET restart_after_crash = off');
$node->reload;
$before = identity();
{
	my $session = start_trial();
	my $postmaster = $node->{_pid};
	kill 'KILL', $session->{watchdog};
	wait_dead($postmaster);
	is(identity(), $before, 'restart_after_crash = off: restored by the session');
	start_again($postmaster);
	restored_ok('restart_after_crash = off');
	$session->{run}->kill_kill;
}
$node->safe_psql('postgres', 'ALTER SYSTEM RESET restart_after_crash');
$node->reload;
$before = identity();

# ------------------------------------------------ all processes gone at once

sub fail_like_a_machine
{
	my $session = start_trial();
	my $postmaster = $node->{_pid};
	kill 'STOP', @{$session}{qw(pid watchdog)};
	kill 'KILL', $postmaster;
	kill 'KILL', @{$session}{qw(pid watchdog)};
	wait_dead($postmaster, @{$session}{qw(pid watchdog)});
	$session->{run}->kill_kill;
	return $postmaster;
}

sub finding_ok
{
	my ($server, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $expected = 'error|commit_delay|7|{"SELECT sync_probe.cleanup()"}';
	is($server->safe_psql('postgres', <<'SQL'), $expected, $name);
SELECT severity, evidence ->> 'setting', evidence ->> 'value_before', commands
FROM sync_probe.findings WHERE code = 'trial_not_restored'
SQL
	return;
}

my $postmaster = fail_like_a_machine();
isnt(identity(), $before, 'power failure: a value of the trial is left');
start_again($postmaster);
finding_ok($node, 'power failure: a finding tells so');
is($node->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), '1', 'cleanup() restores it');
restored_ok('power failure and cleanup()');
is($node->safe_psql('postgres', <<'SQL'), '0', 'then the finding has gone');
SELECT count(*) FROM sync_probe.findings WHERE code = 'trial_not_restored'
SQL
is($node->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), '0', 'cleanup() has nothing to do');

start_again(fail_like_a_machine());
{
	my (undef, $out, $err) = $node->psql('postgres', sprintf($trial, 4));
	like($err, qr/NOTICE:  restored the setting of an earlier trial/, 'the next trial restores it');
	like($err, qr/commit_delay = 7 us/, 'it compares with the value before');
	restored_ok('power failure and the next trial');
}

# --- a base backup that was taken during a trial
{
	# An idle server ends a trial after three rounds: they must outlast a slow backup.
	my $session = start_trial(call => q{CALL sync_probe.trial('commit_delay', '{0,50}',
		duration => '300 s', slot => '10 s')});
	$node->backup('during_a_trial');
	is($node->safe_psql('postgres', <<"SQL"), 't|t', 'a trial holds no snapshot');
SELECT backend_xmin IS NULL, backend_xid IS NULL FROM pg_stat_activity WHERE pid = $session->{pid}
SQL
	end_probe($node, $session);
	restored_ok('a base backup during a trial');

	my $copy = PostgreSQL::Test::Cluster->new('copy');
	$copy->init_from_backup($node, 'during_a_trial');
	$copy->start;
	finding_ok($copy, 'the copy has a finding');
	is($copy->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), '1', 'cleanup() restores there');
	is($copy->safe_psql('postgres', 'SHOW commit_delay'), '7', 'the copy has the old value');
	is($copy->safe_psql('postgres', 'SHOW work_mem'), '5MB', 'and the other settings');
	nothing_left($copy, 'the copy');
	$copy->stop;
}

# ----------------------------------------------- ALTER SYSTEM during a trial

# The statement, commit_delay and work_mem after it.
my @changes = (
	[ "ALTER SYSTEM SET work_mem = '6MB'", '7', '6MB' ],
	[ 'ALTER SYSTEM SET commit_delay = 70', '70', '6MB' ],
	[ 'ALTER SYSTEM SET commit_delay = 7', '7', '6MB' ],
	[ 'ALTER SYSTEM RESET commit_delay', '0', '6MB' ],
	[ 'ALTER SYSTEM RESET ALL', '0', '4MB' ]);
for my $change (@changes)
{
	my ($statement, $commit_delay, $work_mem) = @$change;
	my $session = start_trial();
	$node->safe_psql('postgres', $statement);
	my (undef, $err) = finish_query($session);
	like($err, qr/was changed during the trial/, "$statement: the trial ends");
	ok(new_session_shows('commit_delay', $commit_delay), "$statement: commit_delay");
	ok(new_session_shows('work_mem', $work_mem), "$statement: work_mem");
	# the watchdog takes it out, after the session has told its error
	ok(wait_for(sub { slurp_file($auto) !~ /sync_probe/ }), "$statement: no marker is left")
	  or diag(slurp_file($auto));
	nothing_left($node, $statement);
	$session->quit;
}

# ----------------------------------------------------- open_* and old statements

my $open = q{CALL sync_probe.trial('wal_sync_method', '{open_datasync}', duration => '3 s')};
{
	my (undef, $out, $err) = $node->psql('postgres', $open);
	like($err, qr/wal_sync_method = open_datasync: /, 'open_datasync is tried where nothing writes');
	unlike($out, qr/left out/, 'and not left out');

	# commits that no one waits for
	my $writer = session($node);
	$node->safe_psql('postgres', 'CREATE TABLE filled (n integer)');
	start_query($writer, <<'SQL');
SET synchronous_commit = off;
DO $$ BEGIN LOOP INSERT INTO filled VALUES (1); COMMIT; END LOOP; END $$
SQL
	$node->poll_query_until('postgres', 'SELECT EXISTS (SELECT FROM filled)') or die 'nobody writes';
	my $offset = -s $node->logfile;
	(undef, $out, $err) = $node->psql('postgres', $open);
	like($out, qr/open_datasync was left out: (?:WAL is written|a statement lasts)/,
		'it is left out beside asynchronous commits');
	unlike(slurp_file($node->logfile, $offset), qr/changed to "open_datasync"/,
		'and not switched to while they are made');
	$node->safe_psql('postgres', 'ALTER SYSTEM SET wal_sync_method = open_datasync');
	$node->reload;
	ok(new_session_shows('wal_sync_method', 'open_datasync'), 'open_datasync is current');
	(undef, $out, $err) = $node->psql('postgres', "CALL sync_probe.trial(duration => '3 s')");
	like($out, qr/undecided.*the current value cannot be tried beside others/,
		'then there is no trial beside asynchronous commits');
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET wal_sync_method');
	$node->reload;
	(undef, $out, $err) = $node->psql('postgres', sprintf($trial, 4));
	like($out, qr/up to 1 sessions ran a statement that was older than a slot/,
		'a statement that is older than its slot is told');
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($writer->{pid})");
	$writer->{run}->kill_kill;
	ok(new_session_shows('wal_sync_method', 'fdatasync'), 'the method is as before');
	nothing_left($node, 'open_datasync');
}

# --------------------------------------------------------- where it is refused

# A file with a change that a reload would activate.
for my $file (qw(postgresql.conf pg_hba.conf pg_ident.conf postgresql.auto.conf))
{
	sleep 0.1;
	$node->append_conf($file, '# a change');
	fails_ok($node, "$file changed", sprintf($trial, 5), '55000',
		qr/file ".*\Q$file\E" was changed since the server has read it/);
	$node->reload;
	ok(wait_for(sub { $node->psql('postgres', sprintf($trial, 4)) == 0 }),
		"$file: after a reload a trial works");
}
$node->append_conf('postgresql.conf', "max_connections = many");
$node->reload;
fails_ok($node, 'an error in a file', sprintf($trial, 5), 'F0000|55000', qr/changed|contains errors/);
$node->append_conf('postgresql.conf', "max_connections = 20");
$node->adjust_conf('postgresql.conf', 'max_connections', '20');
$node->restart;

for my $case (
	[ 'fsync', 'off', qr/while fsync is off/ ],
	[ 'max_worker_processes', '0', qr/no background worker is free/, '53000' ])
{
	my ($setting, $value, $message, $sqlstate) = @$case;
	$node->append_conf('postgresql.conf', "$setting = $value");
	$node->restart;
	$before = identity();
	fails_ok($node, "$setting = $value", sprintf($trial, 5), $sqlstate // '55000', $message);
	is(identity(), $before, "$setting = $value: the file is as before");
	nothing_left($node, "$setting = $value");
	$node->adjust_conf('postgresql.conf', $setting, $setting eq 'fsync' ? 'on' : '8');
	$node->restart;
}

# --- a value from the command line
$node->stop;
command_ok([ 'pg_ctl', '-D', $node->data_dir, '-l', $node->logfile, '-o', '-c commit_delay=5',
		'-w', 'start' ],
	'the server starts with an option');
$node->_update_pid(1);
fails_ok($node, 'command line', sprintf($trial, 5), '55000', qr/a reload would not change/,
	qr/Its value is from: command line/);
# a restart would keep the option
$node->stop;
$node->start;

# --- one at a time
{
	my $session = start_trial();
	fails_ok($node, 'a second trial', sprintf($trial, 5), '55P03', qr/a trial is running/);
	fails_ok($node, 'a probe', 'SELECT sync_probe.probe()', '55P03', qr/has been trying values/);
	fails_ok($node, 'a cleanup', 'SELECT sync_probe.cleanup()', '55P03', qr/a trial is running/);
	is($node->safe_psql('postgres', 'SELECT suite, phase FROM sync_probe.running'),
		'trial|measuring', 'sync_probe.running shows it');
	end_probe($node, $session);
	nothing_left($node, 'one at a time');
}

# --- on a standby
{
	$node->backup('for_standby');
	my $standby = PostgreSQL::Test::Cluster->new('standby');
	$standby->init_from_backup($node, 'for_standby', has_streaming => 1);
	$standby->start;
	fails_ok($standby, 'standby', sprintf($trial, 5), '25006', qr/on a standby/);
	$standby->stop;
	log_ok($standby);
}

# --- a file that the server may only read

my $mode = (stat $auto)[2] & 07777;
chmod 0400, $auto;
my $read_only = identity();
my ($status, undef, $stderr) = $node->psql('postgres', sprintf($trial, 6));
is($status, 0, 'a file that is read-only: a trial') or diag($stderr);
is(identity(), $read_only, 'a file that is read-only: it is the same');
chmod $mode, $auto;

# --- a marker that somebody else has made, for a setting that no trial has

$node->safe_psql('postgres', "ALTER SYSTEM SET archive_command = 'true'");
$node->append_conf('postgresql.auto.conf',
	"pg_sync_probe.trial_restores = 'archive_command=touch forged'");
is($node->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), 0,
	'a forged marker: cleanup() restores nothing');
like(slurp_file($auto), qr/^archive_command = 'true'$/m, 'a forged marker: the setting stays');
is($node->safe_psql('postgres',
	q(SELECT count(*) FROM sync_probe.findings WHERE code = 'trial_not_restored')), 0,
	'a forged marker: no finding');

# --- a file with an error

$node->append_conf('postgresql.auto.conf', 'no setting at all = = 1');
is($node->safe_psql('postgres', 'SELECT count(*) > 0 FROM sync_probe.findings'), 't',
	'a file with an error: findings show the rest');

$node->stop;
log_ok($node);
done_testing();
