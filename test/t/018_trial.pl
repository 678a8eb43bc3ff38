# However a trial ends, also one with a workload, the server has the old value again, and changes
# that others make with ALTER SYSTEM meanwhile stay.  What a failure of the machine leaves, is found
# and restored.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeTest;

plan skip_all => 'processes are looked for in /proc' unless -e '/proc/self/stat';

my $node = probe_cluster('trial', allows_streaming => 1,
	conf => "restart_after_crash = on\nclient_connection_check_interval = 0\nlog_statement = none");
my $auto = $node->data_dir . '/postgresql.auto.conf';

# The old value is one that is not the default, so that it has to come back.
sub set_old_value
{
	sql($node, 'ALTER SYSTEM SET commit_delay = 7');
	$node->reload;
	return;
}
sql($node, "ALTER SYSTEM SET work_mem = '5MB'");
sql($node, "ALTER SYSTEM SET application_name = 'it''s kept'");
set_old_value();

my $trial = q{CALL sync_probe.trial('commit_delay', '{0,50}', duration => '%s s', slot => '1 s')};
my $loaded_trial = $trial =~ s/\)$/, workload => 'upsert')/r;
my $before = auto_settings($node);

# ------------------------------------------------------------------- a trial

sub begin_trial
{
	my ($value, $seconds, $call) = @_;
	return start_trial($node, sprintf($call // $trial, $seconds // 300), $value // '(0|50)');
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

sub whole_ok
{
	my ($name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(new_session_shows('commit_delay', 7), "$name: a new session has the old value");
	restored_ok($node, $name, $before);
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
	sleep 2;
	is($failures->(), 2, 'error: the worker reports it once, and tries again');
	rmdir $temporary;
	return;
}

# What ends it, what the client is told, and whether that is only tried without or with a workload.
for my $ending (
	{ name => 'the end', seconds => 5, end => sub { }, says => qr/undecided/, only => 0 },
	{ name => 'error',
		end => sub { $log_offset = -s $node->logfile; wait_for(sub { mkdir $temporary }) },
		says => qr/ERROR:  could not open file "postgresql\.auto\.conf\.tmp"/,
		after => \&allow_writing },
	{ name => 'pg_cancel_backend', end => signal_backend($node, 'pg_cancel_backend'),
		says => qr/canceling statement due to user request/ },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/terminating connection due to administrator command/, over => 1 },
	{ name => 'client killed', end => signal_client('KILL') },
	{ name => 'pgbench killed', end => sub { kill 'KILL', pgbench_children($node) },
		says => qr/pgbench was ended by signal 9 while it ran workload "upsert"/, only => 1 },
	{ name => 'SIGKILL of the session', end => sub { kill_process($node, $_[0]{pid}) },
		leaves => 1 },
	{ name => 'SIGKILL of the watchdog', end => sub { kill_process($node, $_[0]{watchdog}) },
		only => 0 },
	{ name => 'fast stop', leaves => 1,
		end => sub {
			$node->stop('fast');
			is(auto_settings($node), $before, 'fast stop: restored before the end of the server');
			$node->start;
		} })
{
	for my $loaded ($ending->{only} // (0, 1))
	{
		my $name = $ending->{name} . ($loaded ? ', with a workload' : '');
		my $session = begin_trial(undef, $ending->{seconds}, $loaded ? $loaded_trial : $trial);
		if ($loaded)
		{
			isnt(workload_schemas($node), '', "$name: the objects are there");
			isnt(join(' ', pgbench_children($node)), '', "$name: pgbench runs");
		}
		$ending->{end}->($session);
		if ($ending->{says})
		{
			my ($out, $err) = finish_query($session);
			like($out . $err, $ending->{says}, "$name: the client was told");
			# an error while a lock was held must not leave the session deaf
			like((query($session, "SET statement_timeout = '100ms'; SELECT pg_sleep(60)"))[1],
				qr/canceling statement due to statement timeout/,
				"$name: the session can be cancelled") unless $ending->{over};
		}
		$ending->{after}->() if $ending->{after};
		$node->poll_query_until('postgres', 'SELECT sync_probe.cleanup() > 0')
		  or die 'nothing was left' if $loaded && $ending->{leaves};
		whole_ok($name);
		$session->{run}->kill_kill;
	}
}

# --- a smart stop: the trial ends, and the session after it
{
	my $session = begin_trial();
	stop_smartly($node, sub {
		my (undef, $err) = finish_query($session);
		like($err, qr/cannot go on with the trial now/, 'smart stop: the trial ends');
		ok(wait_for(sub { auto_settings($node) eq $before }), 'smart stop: restored');
		$session->quit;
	});
	$node->start;
	whole_ok('smart stop');
}

# --- where no process is left that could: a finding, cleanup(), and the next trial

for (
	[ 'immediate stop', sub { $node->stop('immediate'); $node->start } ],
	[ 'SIGKILL of postmaster', sub { kill_postmaster($node) } ])
{
	my ($name, $end) = @$_;
	my $session = begin_trial();
	$end->();
	my $finding = "FROM sync_probe.findings WHERE code = 'trial_not_restored'";
	is(sql($node, "SELECT severity, evidence ->> 'setting', evidence ->> 'value_before', commands"
			  . " $finding"), 'error|commit_delay|7|{"SELECT sync_probe.cleanup()"}',
		"$name: a finding says so");
	is(sql($node, 'SELECT sync_probe.cleanup()'), 1, "$name: cleanup()");
	is(sql($node, 'SHOW commit_delay'), 7, "$name: the next session has it");
	whole_ok($name);
	is(sql($node, "SELECT count(*) $finding"), 0, "$name: no finding is left");
	is(sql($node, 'SELECT sync_probe.cleanup()'), 0, "$name: cleanup() has nothing to do");
	$session->{run}->kill_kill;
}
{
	my $session = begin_trial();
	kill_postmaster($node);
	my $said = messages($node, sprintf($trial, 4));
	like($said, qr/NOTICE:  restored the setting of an earlier trial/, 'the next trial restores it');
	like($said, qr/commit_delay = 7 us/, 'it compares with the value before');
	whole_ok('the next trial');
	$session->{run}->kill_kill;
}

# Somebody has changed the setting before anything was restored: the newer value stays, also if
# the trial has tried it.  But a value that the marker has announced is the trial's own: it has
# ended between two of its writes.
for my $case ([ 8, '', 8 ], [ 50, '', 50 ], [ 50, 50, 7 ])
{
	my ($value, $next, $after) = @$case;
	my $name = "newer value $value, announced '$next'";
	my $session = begin_trial();
	kill_postmaster($node);
	sql($node, qq(ALTER SYSTEM SET pg_sync_probe.trial_restores = '"commit_delay","7","$next"'));
	sql($node, "ALTER SYSTEM SET commit_delay = $value");
	is(sql($node, 'SELECT sync_probe.cleanup()'), '1', "$name: cleanup()");
	like(auto_settings($node), qr/^commit_delay = '$after'$/m, "$name: then it is $after");
	unlike(auto_settings($node), qr/sync_probe/, "$name: the marker goes");
	set_old_value();
	$session->{run}->kill_kill;
}

# ------------------------------------------------- a slot has the value that it counts for

# The postmaster reads no file while it is stopped: the trial must not go on to the next value.
{
	my $session = begin_trial();
	my $seen = '';
	my $since = time;
	kill 'STOP', $node->{_pid};
	ok(wait_for(
			sub {
				my $now = auto_settings($node);
				($seen, $since) = ($now, time) if $now ne $seen;
				return time - $since > 4;
			}), 'postmaster stopped: the trial stays at one value');
	like($seen, qr/trial_restores/, 'postmaster stopped: and has not ended');
	kill 'CONT', $node->{_pid};
	end_probe($node, $session);
	whole_ok('postmaster stopped');
}

# ----------------------------------------------- ALTER SYSTEM during a trial

# Of another setting: the server merges it, and the trial goes on.
{
	my $session = begin_trial(undef, 7);
	sql($node, "ALTER SYSTEM SET work_mem = '6MB'");
	my ($out, $err) = finish_query($session);
	like($out, qr/undecided/, 'another setting: the trial goes on to its end');
	$before =~ s/5MB/6MB/;
	whole_ok('another setting');
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
	my $session = begin_trial($value);
	sql($node, "ALTER SYSTEM $statement");
	my (undef, $err) = finish_query($session);
	like($err, qr/"commit_delay" was changed during the trial/, "$name: the trial ends");
	ok(new_session_shows('commit_delay', $after), "$name: commit_delay");
	ok(wait_for(sub { auto_settings($node) !~ /sync_probe/ }), "$name: no marker is left");
	nothing_left($node, $name);
	$session->quit;
	set_old_value();
}

# --- a statement that outlasts its slot is part of the reason; one that begins in it has its value
for (
	[ 'SELECT pg_sleep(300)', qr/; 1 session still used the previous value/ ],
	[ 'SELECT pg_sleep(0.1); ' x 100, qr/^(?!.*previous value)/s ])
{
	my ($statements, $says) = @$_;
	my $other = session($node);
	start_query($other, $statements);
	wait_active($node, $other);
	like(sql($node, sprintf($trial, 4)), $says, substr($statements, 0, 20) . ' beside a trial');
	sql($node, "SELECT pg_terminate_backend($other->{pid})");
	$other->{run}->kill_kill;
}

# --- what waits until every process of the server has served an interrupt
{
	sql($node, 'CREATE DATABASE to_drop');
	my $session = begin_trial();
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
	ok(wait_for(sub { $node->psql('postgres', 'CALL sync_probe.wait_for_reload()') == 0 }),
		"$file: after a reload it is not");
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
whole_ok('an error in a file');

# A file that cannot be read for a moment is no empty one.
my $mode = (stat $auto)[2] & 07777;
{
	my $session = begin_trial();
	chmod 0, $auto;
	my (undef, $err) = finish_query($session);
	like($err, qr/could not open file "postgresql\.auto\.conf": Permission denied/,
		'a file that cannot be read: the trial ends');
	chmod $mode, $auto;
	whole_ok('a file that cannot be read');
	$session->quit;
}
for my $case (
	[ 'fsync', 'off', 'on', '55000', qr/while fsync is off/ ],
	[ 'max_worker_processes', '0', '8', '53000', qr/no background worker is free/ ],
	# since 17
	[ 'allow_alter_system', 'off', 'on', '55000', qr/while allow_alter_system is off/ ])
{
	my ($setting, $value, $usual, @says) = @$case;
	next if sql($node, "SELECT count(*) FROM pg_settings WHERE name = '$setting'") == 0;
	$node->append_conf('postgresql.conf', "$setting = $value");
	$node->restart;
	fails_ok($node, "$setting = $value", sprintf($trial, 5), @says);
	restored_ok($node, "$setting = $value", $before);
	$node->adjust_conf('postgresql.conf', $setting, $usual);
	$node->restart;
}

# --- a value from the command line
$node->stop;
command_ok([ 'pg_ctl', '-D', $node->data_dir, '-l', $node->logfile, '-o', '-c commit_delay=5',
		'-w', 'start' ], 'the server starts with an option');
$node->_update_pid(1);
fails_ok($node, 'command line', sprintf($trial, 5), '55000',
	qr/"commit_delay" is still "5" after a reload/, qr/on the command line/);
ok(wait_for(sub { auto_settings($node) eq $before }), 'command line: the settings are as before');
# a restart would keep the option
$node->stop;
$node->start;

# --- a value of the session is not that of the server
like(messages($node, 'SET commit_delay = 10; ' . sprintf($trial, 4)), qr/commit_delay = 7 us/,
	'the current value is that of new sessions');

# --- one at a time
{
	my $session = begin_trial();
	fails_ok($node, "beside it $_", $_, '55P03', qr/a trial is running.*has been trying values/s)
	  for sprintf($trial, 5), 'SELECT sync_probe.probe()', 'SELECT sync_probe.cleanup()';
	is(sql($node, 'SELECT suite, phase FROM sync_probe.running'),
		'trial|measuring', 'sync_probe.running shows it');
	end_probe($node, $session);
	nothing_left($node, 'one at a time');
}

# --- on a standby
{
	my $standby = add_standby($node, 'standby');
	fails_ok($standby, 'standby', sprintf($trial, 5), '25006', qr/on a standby/);
	is($standby->psql('postgres', 'CALL sync_probe.wait_for_reload()'), 0,
		'wait_for_reload() works there');
	$standby->stop;
	log_ok($standby);
}

# --- a marker that somebody else has made, for a setting that no trial has

sql($node, "ALTER SYSTEM SET archive_command = 'true'");
$node->append_conf('postgresql.auto.conf',
	q(pg_sync_probe.trial_restores = '"archive_command","touch forged","true"'));
is(sql($node, 'SELECT sync_probe.cleanup()'), 0, 'a forged marker: cleanup() restores nothing');
like(slurp_file($auto), qr/^archive_command = 'true'$/m, 'a forged marker: the setting stays');

end_tests($node);
