# However a trial ends, the server has the old value again, and changes that others make with
# ALTER SYSTEM meanwhile stay.  What a failure of the machine leaves, is found and restored.

use strict;
use warnings;

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
$node->safe_psql('postgres', "ALTER SYSTEM SET application_name = 'it''s kept'");
$node->reload;

my $trial = q{CALL sync_probe.trial('commit_delay', '{0,50}', duration => '%s s', slot => '1 s')};
my $before = auto_settings($node);

# ------------------------------------------------------------------- a trial

# A session whose trial has that value in place now.
sub start_trial
{
	my (%opt) = @_;
	my $session = session($node);
	my $value = $opt{value} // '(0|50)';
	start_query($session, $opt{call} // sprintf($trial, 300));
	wait_for(sub { slurp_file($auto) =~ /commit_delay = '$value'\n.*trial_restores/s })
	  or die 'no value was tried';
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
	ok(wait_for(sub { auto_settings($node) eq $before }), "$name: the settings are as before")
	  or diag($before, "\n", auto_settings($node));
	ok(new_session_shows('commit_delay', 7), "$name: a new session has the old value");
	nothing_left($node, $name);
	return;
}

# The server crashes and starts again.
sub crash
{
	my ($pid) = @_;
	my $offset = -s $node->logfile;
	kill 'KILL', $pid;
	$node->wait_for_log(qr/database system is ready to accept connections/, $offset);
	return;
}

# --- endings after which the setting is restored without further ado

# ALTER SYSTEM can write no file, in the session and in the worker.
my $temporary = "$auto.tmp";
my $log_offset;

sub allow_writing
{
	my $failures = sub {
		my $count = () = slurp_file($node->logfile, $log_offset) =~
		  /ERROR:  could not open file "postgresql\.auto\.conf\.tmp"/g;
		return $count;
	};
	ok(wait_for(sub { $failures->() == 2 }), 'error: the session and the worker report it');
	# after 0.2 s, 0.4 s, and so on
	sleep 4;
	is($failures->(), 2, 'error: the worker reports it once, and tries again');
	rmdir $temporary;
	return;
}

my @endings = (
	{ name => 'the end', call => sprintf($trial, 5), end => sub { }, says => qr/undecided/ },
	{ name => 'error',
		end => sub { $log_offset = -s $node->logfile; wait_for(sub { mkdir $temporary }) },
		says => qr/ERROR:  could not open file "postgresql\.auto\.conf\.tmp"/,
		after => \&allow_writing },
	{ name => 'pg_cancel_backend', end => signal_backend($node, 'pg_cancel_backend'),
		says => qr/canceling statement due to user request/ },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/terminating connection due to administrator command/, over => 1 },
	{ name => 'client killed', end => signal_client('KILL') },
	{ name => 'SIGKILL of the session', end => sub { crash($_[0]{pid}) } },
	{ name => 'SIGKILL of the watchdog', end => sub { crash($_[0]{watchdog}) } },
	{ name => 'fast stop',
		end => sub {
			$node->stop('fast');
			is(auto_settings($node), $before, 'fast stop: restored before the end of the server');
			$node->start;
		} });

for my $ending (@endings)
{
	my $session = start_trial(%$ending);
	$ending->{end}->($session);
	if ($ending->{says})
	{
		my ($out, $err) = finish_query($session);
		like($out . $err, $ending->{says}, "$ending->{name}: the client was told");
		# an error while a lock was held must not leave the session deaf
		if (!$ending->{over})
		{
			(undef, $err) = query($session, "SET statement_timeout = '100ms'; SELECT pg_sleep(60)");
			like($err, qr/canceling statement due to statement timeout/,
				"$ending->{name}: the session can be cancelled");
		}
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
	ok(wait_for(sub { auto_settings($node) eq $before }), 'smart stop: restored');
	$session->quit;
	$stop->finish;
	$node->_update_pid(0);
	$node->start;
	restored_ok('smart stop');
}

# --- where no process is left that could: a finding, cleanup(), and the next trial

sub kill_postmaster
{
	my ($session) = @_;
	my $postmaster = $node->{_pid};
	kill 'KILL', $postmaster;
	# it counts as running until its parent has noticed
	wait_for(sub { !grep { pid_alive($_) } $postmaster, @{$session}{qw(pid watchdog)} })
	  or die 'a process lives on';
	wait_for(sub { !kill 0, $postmaster }) or die 'the postmaster stays';
	$node->{_pid} = undef;
	$node->start;
	return;
}

for my $case (
	[ 'immediate stop', sub { $node->stop('immediate'); $node->start } ],
	[ 'SIGKILL of postmaster', \&kill_postmaster ])
{
	my ($name, $end) = @$case;
	my $session = start_trial();
	$end->($session);
	my $finding = "FROM sync_probe.findings WHERE code = 'trial_not_restored'";
	is($node->safe_psql('postgres', "SELECT severity, evidence ->> 'setting',"
			  . " evidence ->> 'value_before', commands $finding"),
		'error|commit_delay|7|{"SELECT sync_probe.cleanup()"}', "$name: a finding says so");
	is($node->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), '1', "$name: cleanup()");
	is($node->safe_psql('postgres', 'SHOW commit_delay'), '7', "$name: the next session has it");
	restored_ok($name);
	is($node->safe_psql('postgres', "SELECT count(*) $finding"), '0', "$name: no finding is left");
	is($node->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), '0',
		"$name: cleanup() has nothing to do");
	$session->{run}->kill_kill;
}
{
	my $session = start_trial();
	kill_postmaster($session);
	my (undef, undef, $err) = $node->psql('postgres', sprintf($trial, 4));
	like($err, qr/NOTICE:  restored the setting of an earlier trial/, 'the next trial restores it');
	like($err, qr/commit_delay = 7 us/, 'it compares with the value before');
	restored_ok('the next trial');
	$session->{run}->kill_kill;
}

# Somebody has changed the setting before anything was restored: the newer value stays, also if
# the trial has tried it.  But a value that the marker has announced is the trial's own: it has
# ended between two of its writes.
for my $case ([ 8, '', 8 ], [ 50, '', 50 ], [ 50, 50, 7 ])
{
	my ($value, $next, $after) = @$case;
	my $name = "newer value $value, announced '$next'";
	my $session = start_trial();
	kill_postmaster($session);
	$node->safe_psql('postgres',
		qq(ALTER SYSTEM SET pg_sync_probe.trial_restores = '"commit_delay","7","$next"'));
	$node->safe_psql('postgres', "ALTER SYSTEM SET commit_delay = $value");
	is($node->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), '1', "$name: cleanup()");
	like(auto_settings($node), qr/^commit_delay = '$after'$/m, "$name: then it is $after");
	unlike(auto_settings($node), qr/sync_probe/, "$name: the marker goes");
	$node->safe_psql('postgres', 'ALTER SYSTEM SET commit_delay = 7');
	$node->reload;
	$session->{run}->kill_kill;
}

# ------------------------------------------------- a slot has the value that it counts for

# The postmaster reads no file while it is stopped: the trial must not go on to the next value.
{
	my $session = start_trial();
	my $seen = '';
	my $since = time;
	kill 'STOP', $node->{_pid};
	ok(wait_for(
			sub {
				my $now = auto_settings($node);
				($seen, $since) = ($now, time) if $now ne $seen;
				return time - $since > 8;
			}), 'postmaster stopped: the trial stays at one value');
	like($seen, qr/trial_restores/, 'postmaster stopped: and has not ended');
	kill 'CONT', $node->{_pid};
	end_probe($node, $session);
	restored_ok('postmaster stopped');
}

# ----------------------------------------------- ALTER SYSTEM during a trial

# Of another setting: the server merges it, and the trial goes on.
{
	my $session = start_trial(call => sprintf($trial, 7));
	$node->safe_psql('postgres', "ALTER SYSTEM SET work_mem = '6MB'");
	my ($out, $err) = finish_query($session);
	like($out, qr/undecided/, 'another setting: the trial goes on to its end');
	$before =~ s/5MB/6MB/;
	restored_ok('another setting');
	$session->quit;
}

# Of its own: the value in place then, the statement, commit_delay after it.
my @changes = (
	[ '0', 'SET commit_delay = 70', 70 ],
	[ '50', 'SET commit_delay = 50', 50 ],
	[ '50', 'RESET commit_delay', 0 ],
	[ '50', 'RESET ALL', 0 ]);
for my $change (@changes)
{
	my ($value, $statement, $after) = @$change;
	my $name = "ALTER SYSTEM $statement beside $value";
	my $session = start_trial(value => $value);
	$node->safe_psql('postgres', "ALTER SYSTEM $statement");
	my (undef, $err) = finish_query($session);
	like($err, qr/"commit_delay" was changed during the trial/, "$name: the trial ends");
	ok(new_session_shows('commit_delay', $after), "$name: commit_delay");
	ok(wait_for(sub { auto_settings($node) !~ /sync_probe/ }), "$name: no marker is left");
	nothing_left($node, $name);
	$session->quit;
	$node->safe_psql('postgres', 'ALTER SYSTEM SET commit_delay = 7');
	$node->reload;
}

# --- a statement that outlasts its slot
{
	my $long = session($node);
	start_query($long, 'SELECT pg_sleep(300)');
	wait_for(sub {
		$node->safe_psql('postgres',
			"SELECT state FROM pg_stat_activity WHERE pid = $long->{pid}") eq 'active'
	}) or die 'no statement runs';
	my (undef, $out) = $node->psql('postgres', sprintf($trial, 4));
	like($out, qr/; 1 session still used the previous value/, 'it is part of the reason');
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($long->{pid})");
	$long->{run}->kill_kill;

	# one that begins in its slot has the value of the slot
	my $short = session($node);
	start_query($short, 'SELECT pg_sleep(0.1); ' x 100);
	(undef, $out) = $node->psql('postgres', sprintf($trial, 4));
	unlike($out, qr/previous value/, 'short statements are not');
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($short->{pid})");
	$short->{run}->kill_kill;
}

# --- what waits until every process of the server has served an interrupt
{
	$node->safe_psql('postgres', 'CREATE DATABASE to_drop');
	my $session = start_trial();
	is($node->psql('postgres', "SET statement_timeout = '60s'; DROP DATABASE to_drop"), 0,
		'DROP DATABASE during a trial');
	end_probe($node, $session);
	nothing_left($node, 'DROP DATABASE');
}

# --------------------------------------------------------- where it is refused

# A file with a change that a reload would activate, also if it was moved there.
for my $file (qw(pg_hba.conf postgresql.auto.conf moved))
{
	my $path = $node->data_dir . '/' . ($file eq 'moved' ? 'postgresql.conf' : $file);
	my $modified = (stat $path)[9];
	sleep 0.1;
	append_to_file($path, "# a change\n");
	utime $modified, $modified, $path if $file eq 'moved';
	fails_ok($node, "$file changed", sprintf($trial, 5), '55000',
		qr/file ".*" was changed since the server has read it/);
	$node->reload;
	ok(wait_for(sub { $node->psql('postgres', sprintf($trial, 4)) == 0 }),
		"$file: after a reload a trial works");
}

# A file with an error is not read, and a reload changes nothing.
$before = auto_settings($node);
my $broken = $node->data_dir . '/broken.conf';
append_to_file($broken, 'no setting = = 1');
$node->append_conf('postgresql.conf', "include_if_exists = 'broken.conf'");
$node->reload;
fails_ok($node, 'an error in a file', $_, '55000',
	qr/" was changed since the server has read it/, qr/pg_file_settings shows errors/)
  for sprintf($trial, 5), 'CALL sync_probe.wait_for_reload()';
unlink $broken;
$node->reload;
restored_ok('an error in a file');

# A file that cannot be read for a moment is no empty one.
my $mode = (stat $auto)[2] & 07777;
{
	my $session = start_trial();
	chmod 0, $auto;
	my (undef, $err) = finish_query($session);
	like($err, qr/could not open file "postgresql\.auto\.conf": Permission denied/,
		'a file that cannot be read: the trial ends');
	chmod $mode, $auto;
	restored_ok('a file that cannot be read');
	$session->quit;
}
for my $case (
	[ 'fsync', 'off', 'on', '55000', qr/while fsync is off/ ],
	[ 'max_worker_processes', '0', '8', '53000', qr/no background worker is free/ ],
	# since 17
	[ 'allow_alter_system', 'off', 'on', '55000', qr/while allow_alter_system is off/ ])
{
	my ($setting, $value, $usual, @says) = @$case;
	next if $node->safe_psql('postgres',
		"SELECT count(*) FROM pg_settings WHERE name = '$setting'") == 0;
	$node->append_conf('postgresql.conf', "$setting = $value");
	$node->restart;
	fails_ok($node, "$setting = $value", sprintf($trial, 5), @says);
	is(auto_settings($node), $before, "$setting = $value: the settings are as before");
	nothing_left($node, "$setting = $value");
	$node->adjust_conf('postgresql.conf', $setting, $usual);
	$node->restart;
}

# --- a value from the command line
$node->stop;
command_ok([ 'pg_ctl', '-D', $node->data_dir, '-l', $node->logfile, '-o', '-c commit_delay=5',
		'-w', 'start' ],
	'the server starts with an option');
$node->_update_pid(1);
fails_ok($node, 'command line', sprintf($trial, 5), '55000',
	qr/"commit_delay" is still "5" after a reload/, qr/on the command line/);
ok(wait_for(sub { auto_settings($node) eq $before }), 'command line: the settings are as before');
# a restart would keep the option
$node->stop;
$node->start;

# --- a value of the session is not that of the server
{
	my (undef, undef, $err) = $node->psql('postgres', 'SET commit_delay = 10; ' . sprintf($trial, 4));
	like($err, qr/commit_delay = 7 us/, 'the current value is that of new sessions');
}

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
	is($standby->psql('postgres', 'CALL sync_probe.wait_for_reload()'), 0,
		'wait_for_reload() works there');
	$standby->stop;
	log_ok($standby);
}

# --- a marker that somebody else has made, for a setting that no trial has

$node->safe_psql('postgres', "ALTER SYSTEM SET archive_command = 'true'");
$node->append_conf('postgresql.auto.conf',
	q(pg_sync_probe.trial_restores = '"archive_command","touch forged","true"'));
is($node->safe_psql('postgres', 'SELECT sync_probe.cleanup()'), 0,
	'a forged marker: cleanup() restores nothing');
like(slurp_file($auto), qr/^archive_command = 'true'$/m, 'a forged marker: the setting stays');

$node->stop;
log_ok($node);
done_testing();
