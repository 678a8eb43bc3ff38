# However a trial ends, also one with a workload, the server has the old value again, pgbench has
# ended, its objects are gone, and changes that others make with ALTER SYSTEM meanwhile stay.  What
# a failure of the machine leaves, is found and restored.

use SyncProbeTest;

my $node = probe_cluster('trial', allows_streaming => 1, conf => <<'CONF');
max_connections = 40
restart_after_crash = on
client_connection_check_interval = 0
log_statement = none
CONF
my $auto = $node->data_dir . '/postgresql.auto.conf';

# The old value is one that is not the default, so that it has to come back.
sub set_settings
{
	sql($node, <<'SQL');
ALTER SYSTEM SET work_mem = '5MB';
ALTER SYSTEM SET application_name = 'it''s kept';
ALTER SYSTEM SET commit_delay = 7;
SQL
	$node->reload;
	return auto_settings($node);
}
my $usual = set_settings();

sub with_delay ($value)
{
	my $line = $value eq '' ? '' : "commit_delay = '$value'\n";
	return $usual =~ s/^commit_delay = '7'\n/$line/mr;
}

sub call ($seconds, @arguments)
{
	return "CALL sync_probe.trial('commit_delay', '{0,50}', duration => '$seconds s'"
	  . join('', map { ", $_" } @arguments) . ')';
}
my $slot = "slot => '1 s'";
my $loaded = "workload => 'upsert'";

# The value in sessions that begin now, and nothing is left.
sub whole_ok ($name, $settings = undef)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($value) = ($settings //= $usual) =~ /^commit_delay = '(.*)'$/m;
	ok($node->poll_query_until('postgres', 'SHOW commit_delay', $value // 0),
		"$name: a new session has the value");
	restored_ok($node, $name, $settings);
	return;
}

# ------------------------------------------------------- while a trial runs
# ALTER SYSTEM can write no file, in the session and in the worker, which then tries again.
my $temporary = "$auto.tmp";
my $unwritable = qr/ERROR:  could not open file "postgresql\.auto\.conf\.tmp"/;
my $log_offset;

sub allow_writing
{
	ok(wait_for(sub { 2 == (() = slurp_file($node->logfile, $log_offset) =~ /$unwritable/g) }),
		'error: the session and the worker report it');
	return rmdir $temporary;
}

# The postmaster reads no file while it is stopped: the trial must not go on to the next value.
sub stop_postmaster ($session)
{
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
	# by the signal itself: before somebody has connected, the trial may end because nothing commits
	kill 'INT', $session->{pid};
	return kill 'CONT', $node->{_pid};
}

sub stop_smart ($session)
{
	stop_smartly($node, sub {
		my (undef, $err) = finish_query($session);
		like($err, qr/cannot go on with the trial now/, 'smart stop: the trial ends');
		ok(wait_for(sub { auto_settings($node) eq $usual }), 'smart stop: restored');
		$session->quit;
	});
	return $node->start;
}

sub fast_stop
{
	$node->stop('fast');
	is(auto_settings($node), $usual, 'fast stop: restored before the end of the server');
	return $node->start;
}

sub look_beside ($session)
{
	fails_ok($node, "beside it $_", $_, '55P03', qr/a trial is running/)
	  for call(5), 'SELECT sync_probe.probe()', 'SELECT sync_probe.cleanup()',
	  pgbench_sql(SMALL_RUN);
	is(sql($node, 'SELECT suite, workload, phase FROM sync_probe.running'),
		'trial|upsert|measuring', 'sync_probe.running shows it');
	is(sql($node, <<"SQL"), 't|t', 'it holds no snapshot');
SELECT backend_xmin IS NULL, backend_xid IS NULL FROM pg_stat_activity WHERE pid = $session->{pid}
SQL
	# what waits until every process of the server has served an interrupt
	sql($node, 'CREATE DATABASE to_drop');
	is($node->psql('postgres', "SET statement_timeout = '60s'; DROP DATABASE to_drop"), 0,
		'DROP DATABASE beside it');
	return signal_backend($node, 'pg_cancel_backend')->($session);
}

my $mode = (stat $auto)[2] & 07777;
my $unreadable = qr/could not open file "postgresql\.auto\.conf": Permission denied/;
my $canceled = qr/canceling statement due to user request/;
my $changed = qr/"commit_delay" was changed during the trial/;

# What is done to it, and what the client is told.  load: with a workload, whose clean-up differs
# after an error, a FATAL one, a crash and a shutdown.  over: the session is.  leaves: objects of
# the workload, for cleanup().  value: the one in place then.  settings: those afterwards.
for my $row (
	[ 'error', sub { $log_offset = -s $node->logfile; wait_for(sub { mkdir $temporary }) },
		$unwritable, then => \&allow_writing ],
	[ 'pg_terminate_backend', signal_backend($node, 'pg_terminate_backend'),
		qr/terminating connection due to administrator command/, over => 1, load => 1 ],
	[ 'client killed', signal_client('KILL') ],
	[ 'pgbench killed', sub { kill 'KILL', pgbench_children($node) },
		qr/pgbench was ended by signal 9 while it ran workload "upsert"/, load => 1 ],
	[ 'SIGKILL of the session', sub { kill_process($node, $_[0]{pid}) }, undef,
		load => 1, leaves => 1 ],
	[ 'fast stop', \&fast_stop, undef, load => 1, leaves => 1 ], [ 'smart stop', \&stop_smart ],
	[ 'postmaster stopped', \&stop_postmaster, $canceled ],
	[ 'beside it', \&look_beside, $canceled, load => 1 ],
	# a file that cannot be read for a moment is no empty one
	[ 'unreadable file', sub { chmod 0, $auto }, $unreadable, then => sub { chmod $mode, $auto } ],
	$node->pg_version < 17 ? () : [ 'allow_alter_system', sub {
			reload_with($node, 'allow_alter_system', 'off');
			signal_backend($node, 'pg_cancel_backend')->(@_) }, $canceled, load => 1,
		then => sub { restored_ok($node, 'not allowed', $usual);
			reload_with($node, 'allow_alter_system', 'on') } ],
	# the server merges changes of other settings, and the trial goes on
	[ 'another setting', sub { sql($node, "ALTER SYSTEM SET work_mem = '6MB'") },
		qr/undecided/, seconds => 7, settings => $usual =~ s/5MB/6MB/r ],
	map { my ($value, $change, $settings) = @$_;
		[ "$change beside $value", sub { sql($node, "ALTER SYSTEM $change") }, $changed,
			value => $value, settings => $settings ] }
	[ 0, 'SET commit_delay = 70', with_delay(70) ], [ 50, 'SET commit_delay = 50', with_delay(50) ],
	[ 50, 'RESET commit_delay', with_delay('') ], [ 50, 'RESET ALL', '' ])
{
	my ($name, $do, $says, %opt) = @$row;
	my $session = start_trial($node,
		call($opt{seconds} // 300, $slot, $opt{load} ? $loaded : ()), $opt{value} // '(0|50)');
	ok(workload_schemas($node) ne '' && pgbench_children($node), "$name: pgbench runs")
	  if $opt{load};
	$do->($session);
	if ($says)
	{
		my ($out, $err) = finish_query($session);
		like($out . $err, $says, "$name: the client was told");
		# an error while a lock was held must not leave the session deaf
		like((query($session, "SET statement_timeout = '100ms'; SELECT pg_sleep(60)"))[1],
			qr/canceling statement due to statement timeout/,
			"$name: the session can be cancelled") unless $opt{over};
	}
	$opt{then}->() if $opt{then};
	$node->poll_query_until('postgres', 'SELECT sync_probe.cleanup() > 0')
	  or die 'nothing was left' if $opt{leaves};
	whole_ok($name, $opt{settings});
	$session->{run}->kill_kill;
	set_settings() if defined $opt{settings};
}

# --- an edit of another file acts once the trial has ended; one with an error, once it is corrected
sql($node, 'ALTER SYSTEM RESET commit_delay');
$node->reload;
for ([ 'commit_delay = 8', qr/undecided.*"commit_delay" is "8" after a reload/s, 0 ],
	[ 'oops = 1', qr/"commit_delay" is "(0|50)" after a reload/, 1 ])
{
	my ($line, $says, $cleaned) = @$_;
	my $edited = start_trial($node, call(7, $slot), '50');
	$node->append_conf('postgresql.conf', $line);
	like(join('', finish_query($edited)), $says, "$line: the client was told");
	ok(wait_for(sub { !pid_alive($edited->{watchdog}) }) && sql($node, 'SELECT 1'),
		"$line: the watchdog has ended");
	$node->adjust_conf('postgresql.conf', $line =~ s/ .*//r, undef);
	is(sql($node, 'SELECT sync_probe.cleanup()'), $cleaned, "$line: cleanup()");
	$node->reload unless $cleaned;
	ok($node->poll_query_until('postgres', 'SHOW commit_delay', 0), "$line: it is over");
}
set_settings();

# --- a statement that outlasts its slot is part of the reason; one that begins in it has its value
for (
	[ 'SELECT pg_sleep(300)', qr/; 1 session still used the previous value/ ],
	[ 'SELECT pg_sleep(0.1); ' x 100, qr/^(?!.*previous value)/s ])
{
	my ($statements, $says) = @$_;
	my $other = session($node);
	start_query($other, $statements);
	wait_active($node, $other);
	like(sql($node, call(4)), $says, substr($statements, 0, 20) . ' beside a trial');
	sql($node, "SELECT pg_terminate_backend($other->{pid})");
	$other->{run}->kill_kill;
}

# ------------------ where no process is left that could: a finding, cleanup(), and the next trial
my $finding = "FROM sync_probe.findings WHERE code = 'trial_not_restored'";
my $cleanup = 'SELECT sync_probe.cleanup()';
my $left = start_trial($node, call(300, $slot), '(0|50)');
$node->stop('immediate');
$node->start;
is(sql($node, "SELECT severity, evidence ->> 'setting', evidence ->> 'value_before', commands"
		  . " $finding"), 'error|commit_delay|7|{"SELECT sync_probe.cleanup()"}',
	'immediate stop: a finding says so');
is(sql($node, $cleanup), 1, 'immediate stop: cleanup()');
whole_ok('immediate stop');
is(sql($node, "SELECT count(*) $finding"), 0, 'immediate stop: no finding is left');
is(sql($node, $cleanup), 0, 'immediate stop: cleanup() has nothing to do');
$left->{run}->kill_kill;

$left = start_trial($node, call(300, $slot), '(0|50)');
my $waits = session($node);
start_query($waits, "SELECT FROM sync_probe.commit_waits('300 s')");
wait_active($node, $waits);
kill_postmaster($node);
like((finish_query($waits))[1], qr/unexpected postmaster exit/, 'commit_waits() ends, too');
my $said = messages($node, call(4));
like($said, qr/NOTICE:  cleaned up after an earlier trial/, 'the next trial restores');
like($said, qr/commit_delay = 7 us/, 'it compares with the value before');
whole_ok('the next trial');
$left->{run}->kill_kill;

# Somebody may have changed the setting before anything was restored: the newer value stays, also
# if the trial has tried it.  But a value that the marker has announced is the trial's own: it has
# ended between two of its writes.
for ([ 'newer value', 8, '', 8 ], [ 'newer value, which was tried', 50, '', 50 ],
	[ 'announced value', 50, 50, 7 ])
{
	my ($name, $value, $next, $after) = @$_;
	sql($node, qq(LOAD 'pg_sync_probe';
		ALTER SYSTEM SET pg_sync_probe.trial_restores = '"commit_delay","7","$next"';
		ALTER SYSTEM SET commit_delay = $value));
	is(sql($node, $cleanup), 1, "$name: cleanup()");
	whole_ok($name, with_delay($after));
	set_settings();
}
# a marker that somebody else has made, for a setting that no trial has
sql($node, "ALTER SYSTEM SET archive_command = 'true'");
$node->append_conf('postgresql.auto.conf',
	q(pg_sync_probe.trial_restores = '"archive_command","touch forged","true"'));
is(sql($node, $cleanup), 0, 'a forged marker: cleanup() restores nothing');
like(slurp_file($auto), qr/^archive_command = 'true'$/m, 'a forged marker: the setting stays');
sql($node, 'ALTER SYSTEM RESET ALL');
$node->reload;
$usual = set_settings();

# ------------------------------------------------- with a workload, to its end

sql($node, <<"SQL");
INSERT INTO sync_probe.workloads (workload, setup, script) VALUES
('gated set-up', \$\$CREATE TABLE t (i int); ${\WAIT_AT_GATE}\$\$, 'INSERT INTO t VALUES (1);'),
('one client fails', 'CREATE TABLE t (i int)', 'INSERT INTO t VALUES (1 / (:client_id - 3));'),
('only reads', NULL, 'SELECT 1;');
CREATE ROLE runner LOGIN;
GRANT USAGE ON SCHEMA sync_probe TO runner;
GRANT EXECUTE ON PROCEDURE sync_probe.trial TO runner;
GRANT ALTER SYSTEM ON PARAMETER commit_delay TO runner;
SQL

# With each value transactions have committed.  A value that is far slower costs the users of the
# server too much, and is left out.
for (
	[ 'upsert', call(6, $loaded), qr/\|(?:switch|keep|undecided)\|/, 't|trial|upsert' ],
	[ 'only reads', call(3, "workload => 'only reads'"),
		qr/undecided\|.*no transaction that writes has committed/, 'f|trial|only reads' ],
	[ 'slow value', call(5, $loaded) =~ s/\{0,50\}/{100000}/r,
		qr/\|undecided\|7\|no other value is left; 100000 us was left out: in its first 3 slots/,
		'f|trial|upsert' ])
{
	my ($name, $sql, $says, $run) = @$_;
	like(sql($node, $sql), $says, "$name: its verdict");
	is(sql($node, <<'SQL'), $run, "$name: its run");
SELECT min(ops) > 0, suite, workload
FROM sync_probe.measurements JOIN sync_probe.runs USING (run_id)
GROUP BY run_id, suite, workload ORDER BY run_id DESC LIMIT 1
SQL
	restored_ok($node, $name, $usual);
}
is(sql($node, 'SELECT count(*) FROM sync_probe.workload_results'), '0', 'none is a workload');

# What a workload refuses: sql/workloads.sql has its privileges, 012 the connections.
my $as_runner = 'SET SESSION AUTHORIZATION runner; ' . call(4, $loaded);
my ($counted) = split /\n/,
  sql($node, 'SELECT workload FROM sync_probe.workloads WHERE transactions > 0 ORDER BY 1');
for (
	[ 'counted', call(3, "workload => '$counted'"), '22023', qr/cannot make load/,
		qr/runs a fixed number of transactions/ ],
	[ 'a role', $as_runner, '42501', qr/GRANT pg_execute_server_program TO runner;/ ],
	[ 'one client fails', call(60, "workload => 'one client fails'"), '38000',
		qr/pgbench (?:exited with status \d|reported an error) while it ran workload/,
		qr/division by zero/ ])
{
	my ($name, @refused) = @$_;
	fails_ok($node, $name, @refused);
	restored_ok($node, $name, $usual);
}
sql($node, "GRANT $_ TO runner") for 'pg_execute_server_program', 'CREATE ON DATABASE postgres';
for ([ 4, qr/NOTICE:  workload "upsert" runs with 1 client instead of 16\n(?!.*ERROR)/s ],
	[ 2, qr/ERROR:  not enough free connections for 1 client\n/ ])
{
	my ($limit, $says) = @$_;
	sql($node, "ALTER ROLE runner CONNECTION LIMIT $limit");
	like(messages($node, call(4, $loaded), extra_params => [ '-U', 'runner' ]), $says,
		"a role with $limit connections");
}

# Sessions that have a value of their own follow no trial.
for ('ROLE postgres', 'DATABASE postgres', 'ROLE postgres IN DATABASE postgres', 'ROLE ALL')
{
	sql($node, "ALTER $_ SET commit_delay = 9");
	fails_ok($node, "own value of $_", call(3, $loaded), '55000',
		qr/"commit_delay" is set for the role or the database/, qr/ALTER $_ RESET commit_delay;/);
	sql($node, "ALTER $_ RESET commit_delay");
}

fails_ok($node, 'a role that ends with the commit', <<'SQL', '55000', qr/user has changed/);
DO $$ DECLARE a bigint; b text; c text; d text; BEGIN SET LOCAL ROLE runner; CALL sync_probe.trial(
'commit_delay', '{50}', run_id => a, verdict => b, recommended_value => c, reason => d); END $$
SQL

# The server has changed during the set-up.
for (
	[ 'new value', sub { sql($node, 'ALTER SYSTEM SET commit_delay = 8'); $node->reload },
		qr/"commit_delay" was changed before the trial began/ ],
	[ 'pending change', sub { $node->append_conf('postgresql.conf', '# a change') },
		qr/was changed since the server has read it/ ])
{
	my ($name, $change, $says) = @$_;
	my $session = session($node);
	close_gate($node);
	start_query($session, call(5, "workload => 'gated set-up'"));
	wait_phase($node, $session, 'setting up');
	is(auto_settings($node) . sql($node, 'SELECT backend_xmin IS NULL FROM pg_stat_activity'
		  . " WHERE pid = $session->{pid}"), "${usual}t",
		"$name: the set-up comes before the first switch, and holds no snapshot");
	$change->();
	open_gate($node);
	like((finish_query($session))[1], $says, "$name: the client was told");
	$session->quit;
	nothing_left($node, $name);
	set_settings();
}

# --------------------------------------------------------- where it is refused

# Its arguments, of which some have the server's own message, and the privileges of the session
# user and of the current user.
sql($node, 'REVOKE ALL ON PARAMETER commit_delay FROM runner');
for (
	[ "'work_mem', '{1MB}'", '22023', qr/setting "work_mem" cannot be tried/,
		qr/can be tried are wal_sync_method, commit_delay, .*, wal_writer_flush_after\./ ],
	[ "'no_such_setting'", '42704', qr/unrecognized configuration parameter "no_such_setting"/ ],
	[ 'NULL', '22023', qr/argument "setting" must not be null/ ],
	[ "'commit_delay'", '22023', qr/no value of "commit_delay" to compare/ ],
	[ "'wal_writer_delay', '{0.2s}'", '22023', qr/to compare with the current one, "200ms"/ ],
	[ "duration => '0.5 s'", '22023', qr/duration "00:00:00.5" is out of range/ ],
	[ "slot => '0.1 s'", '22023', qr/slot "00:00:00.1" is out of range/ ],
	[ "slot => '10 s', duration => '20 s'", '22023', qr/duration of 20 s is too short for one/ ],
	# the slots of more sessions are longer
	[ "'commit_delay', '{10}', '1 s', '0.3 s', 'upsert'", '22023',
		qr/slot of 0\.3 s is too short for the sessions of this server/ ],
	[ "label => repeat('x', 257)", '22023', qr/label of 257 bytes is too long/ ],
	[ 'BEGIN; CALL sync_probe.trial()', '25001',
		qr/sync_probe\.trial\(\) cannot run inside a transaction block/ ],
	[ 'SET default_transaction_read_only = on; CALL sync_probe.trial()', '25006',
		qr/in a read-only transaction/ ],
	map { [ "$_ runner; CALL sync_probe.trial()", '42501',
			qr/permission denied to set parameter "wal_sync_method"/ ] }
	  'SET ROLE', 'SET SESSION AUTHORIZATION')
{
	my ($call, @refused) = @$_;
	fails_ok($node, $call, $call =~ /CALL/ ? $call : "CALL sync_probe.trial($call)", @refused);
}

# without commits: what is recorded
sql($node, 'CALL sync_probe.trial(\'commit_delay\', \'{0}\', \'2 s\')');
is(sql($node, <<'SQL'),
SELECT location, suite, setting, r.verdict, recommended_value, max_regret, longer_duration,
       directory IS NOT NULL, usable_for_advice, workload,
       string_agg(concat_ws(' ', method, choice, status), ',' ORDER BY ordinal)
FROM sync_probe.runs AS r JOIN sync_probe.measurements AS m USING (run_id)
WHERE reason = 'no transaction that writes has committed; repeat it while sessions write'
  AND relative_speed IS NULL
  AND test = setting
GROUP BY r.run_id ORDER BY run_id DESC LIMIT 1
SQL
	'pg_wal|trial|commit_delay|undecided|7|||t|t||7 current stopped,0 stopped',
	'without commits: its rows');

# A reload would activate the change of a file, or has rejected it.  A file that is moved there
# keeps its time.
my $broken = $node->data_dir . '/broken.conf';
my $newer = qr/file ".*" was changed since the server has read it/;

sub change_file ($file)
{
	my $path = $node->data_dir . '/' . $file;
	my $modified = (stat $path)[9];
	sleep 0.1;
	append_to_file($path, "# a change\n");
	return utime $modified, $modified, $path;
}

sub restart_with_workers ($number)
{
	$node->append_conf('postgresql.conf', "max_worker_processes = $number");
	return $node->restart;
}

for (
	map({ my $file = $_;
		[ $file, sub { change_file($file) }, sub { $node->reload }, '55000', $newer ] }
		qw(pg_hba.conf postgresql.auto.conf postgresql.conf)),
	[ 'an error in a file',
		sub {
			append_to_file($broken, 'no setting = = 1');
			$node->append_conf('postgresql.conf', "include_if_exists = 'broken.conf'");
			$node->reload;
			fails_ok($node, 'an error in a file', 'CALL sync_probe.wait_for_reload()', '55000',
				$newer, qr/pg_file_settings shows an error/);
		}, sub { unlink $broken; $node->reload }, '55000', $newer ],
	# a value from the command line, which a restart would keep
	[ 'command line', sub {
			$node->stop;
			system_or_bail('pg_ctl', '-D', $node->data_dir, '-l', $node->logfile, '-o',
				'-c commit_delay=5', '-w', 'start');
			$node->_update_pid(1);
		}, sub { $node->stop; $node->start }, '55000',
		qr/"commit_delay" is "5" after a reload/, qr/on the command line/ ],
	[ 'max_worker_processes', sub { restart_with_workers(0) }, sub { restart_with_workers(8) },
		'53000', qr/no background worker is free/ ],
	map { my $setting = $_;
		[ $setting, sub { reload_with($node, $setting, 'off') },
			sub { reload_with($node, $setting, 'on') }, '55000', qr/while $setting is off/ ] }
	'fsync', $node->pg_version < 17 ? () : 'allow_alter_system')
{
	my ($name, $do, $undo, @refused) = @$_;
	$do->();
	fails_ok($node, $name, call(5), @refused);
	$undo->();
	ok(wait_for(sub { $node->psql('postgres', 'CALL sync_probe.wait_for_reload()') == 0 }),
		"$name: not after a reload");
	restored_ok($node, $name, $usual);
}

# a value of the session is not that of the server
like(messages($node, 'SET commit_delay = 10; ' . call(4)), qr/commit_delay = 7 us/,
	'the current value is that of new sessions');

my $standby = add_standby($node, 'standby');
fails_ok($standby, 'standby', call(5), '25006', qr/on a standby/);
is($standby->psql('postgres', 'CALL sync_probe.wait_for_reload()'), 0,
	'wait_for_reload() works there');

end_tests($standby, $node);
