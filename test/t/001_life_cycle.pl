# However a probe ends, nothing of it stays: no file, no descriptor, no lock, no
# row in sync_probe.running.  What a dead process left is swept by the next one.

use SyncProbeTest;

my $node = probe_cluster('life_cycle',
	conf => "restart_after_crash = on\nclient_connection_check_interval = '50ms'");
add_tablespace($node, 'place');

# Ended by a timeout, caught in PL/pgSQL: what was opened inside of the block
# must go with the block, while the transaction lives on.
sql($node, <<'SQL');
CREATE FUNCTION caught(location name) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM sync_probe.probe(location, duration => '300 s', stop_early => false);
    RETURN 'not ended';
EXCEPTION WHEN query_canceled THEN
    PERFORM FROM sync_probe.probe(location, duration => '20 ms');
    RETURN 'caught';
END
$$;
SQL

# How a probe ends: what is sent before it, how it is started if not as usual, what ends it, what
# the client is told, whether its session goes on after it, whether that is tried with every suite.
my $cancel = signal_backend($node, 'pg_cancel_backend');
my $cancelled = qr/canceling statement due to user request/;
my @endings = (
	{ name => 'pg_cancel_backend', end => $cancel, says => $cancelled, survives => 1,
		everywhere => 1 },
	{ name => 'cancel between writes', phase => 'writing files', end => $cancel,
		arguments => 'duty_cycle => 0.001, ', says => $cancelled, survives => 1 },
	{ name => 'savepoint', before => 'BEGIN; SAVEPOINT s', end => $cancel, says => $cancelled,
		survives => 1, after => 'ROLLBACK TO s' },
	{ name => 'exception block', before => "SET statement_timeout = '1s'",
		call => sub { "SELECT caught('$_[0]')" }, says => qr/^caught$/m, survives => 1 },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/terminating connection due to administrator command/ },
	{ name => 'lost client', end => signal_client('KILL'), says => CLIENT_LOST },
	{ name => 'killed backend', end => sub { kill_process($node, $_[0]{pid}) },
		says => qr/connection.*(lost|closed)/, everywhere => 1 });

sub test_ending ($ending, $location, $suite)
{
	my $name = "$ending->{name}, $suite at $location";
	my $more = ($ending->{arguments} // '') . LONG_PROBE;
	my $call = $ending->{call} // sub { "SELECT FROM sync_probe.probe('$_[0]', '$_[1]', $more)" };
	my $session = session($node);

	# reporting looks for interrupts, which must not be what notices the end
	query($session, 'SET client_min_messages = warning');
	query($session, $ending->{before}) if $ending->{before};
	start_query($session, $call->($location, $suite));
	if ($ending->{end})
	{
		wait_phase($node, $session, $ending->{phase} // 'measuring');
		isnt(join('', probe_files($node)), '', "$name: there were files");
		$ending->{end}->($session);
	}

	my ($out, $err) = finish_query($session);
	client_told_ok($node, $session, $name, $ending->{says}, $out, $err);
	query($session, $ending->{after}) if $ending->{after};

	if ($ending->{survives})
	{
		is(descriptors($session->{pid}) . leftovers($node), '',
			"$name: nothing is left while the session lives on");
		query($session, "SET statement_timeout = 0");
		($out, $err) = query($session,
			"SELECT sum(ops) > 0 FROM sync_probe.probe('$location', duration => '20 ms')");
		is($out, "t\n", "$name: the session probes again") or diag($err);
		query($session, 'COMMIT');
		is(descriptors($session->{pid}), '', "$name: and no descriptor is open again");
		$session->quit;
		return;
	}
	ok(wait_for(sub { !pid_alive($session->{pid}) }), "$name: the backend is gone");
	eval { $session->{run}->finish };
	is(leftovers($node), '', "$name: nothing is left");
	works_ok($node, $name, "'$location'");
	return;
}

# One suite sleeps between its operations, the others never do; one renames its files.
my @everywhere = ([ 'pg_wal', 'wal' ], [ 'place', 'pg_test_fsync' ], [ 'pg_default', 'stream' ],
	[ 'pg_wal', 'segments' ], [ 'place', 'segments' ]);
for my $ending (@endings)
{
	test_ending($ending, @$_) for @everywhere[ $ending->{everywhere} ? 0 .. $#everywhere : 1 ];
}

# --- cancelled at any moment, also while it writes its files or records

seed_random();
my $session = session($node);
for my $n (1 .. 24)
{
	my $location = (qw(pg_wal place pg_default))[ $n % 3 ];
	my $suite = (qw(wal pg_test_fsync stream segments))[ $n % 4 ];
	start_query($session, "SELECT sum(ops) > 0"
		  . " FROM sync_probe.probe('$location', '$suite', duration => '200 ms')");
	sleep rand(0.3);
	sql($node, "SELECT pg_cancel_backend($session->{pid})");
	my ($out, $err) = finish_query($session);
	my $told = $err =~ /canceling statement due to user request/ ? 'cancelled'
	  : $out eq "t\n" ? 'done' : $err;
	my $left = descriptors($session->{pid}) . leftovers($node);
	ok($told =~ /^(cancelled|done)$/ && $left eq '', "cancelled at random, $n of 24: $told")
	  or diag("$told $left");
}
$session->quit;
is(sql($node, <<'SQL'), 't', 'a run is recorded as a whole or not at all');
SELECT bool_and(EXISTS (SELECT FROM sync_probe.measurements m WHERE m.run_id = r.run_id)
            AND EXISTS (SELECT FROM sync_probe_internal.samples s WHERE s.run_id = r.run_id))
FROM sync_probe.runs r WHERE suite IN ('wal', 'pg_test_fsync')
SQL

# --- files of processes that died while the server lived on

my $pg_wal = $node->data_dir . '/pg_wal';
my ($pgsql_tmp) = glob($node->data_dir . '/pg_tblspc/*/PG_*/pgsql_tmp');

# What is not ours, or not a file.  Process 999999 does not run probes; a pid has no sign and no
# blanks.
my $target = write_file(PostgreSQL::Test::Utils::tempdir() . '/target', 'something');
my @directories = ("$pg_wal/xlogtemp.999999.sync_probe.1",
	"$pgsql_tmp/pgsql_tmp_sync_probe.999999.1");
my @links = ("$pg_wal/xlogtemp.999999.sync_probe.2", "$pgsql_tmp/pgsql_tmp_sync_probe.999999.2");
my @files = (
	map({ "$pg_wal/$_" } 'xlogtemp.999999', 'xlogtemp.999999.sync_probe',
		'xlogtemp.999999.sync_probe.', 'xlogtemp.999999.sync_probe.0x',
		'xlogtemp.999999.sync_probe.0.0', 'xlogtemp..sync_probe.0', 'xlogtemp.-9.sync_probe.0',
		'xlogtemp. 9.sync_probe.+0', 'xlogtemp.9.sync_probe.00',
		'xlogtemp.99999999999999999999.sync_probe.0', 'my_xlogtemp.999999.sync_probe.0',
		'pgsql_tmp_sync_probe.999999.0'),
	map({ "$pgsql_tmp/$_" } 'pgsql_tmp999999.0', 'pgsql_tmp_sync_probe.999999',
		'pgsql_tmp_sync_probe.999999.0~', 'pgsql_tmp_sync_probe. 999999. 0',
		'xlogtemp.999999.sync_probe.0'));
mkdir($_) or die "$_: $!" for @directories;
symlink($target, $_) or die "$_: $!" for @links;
write_file($_, 'something') for @files;
my @dead = ("$pg_wal/xlogtemp.999999.sync_probe.0", "$pgsql_tmp/pgsql_tmp_sync_probe.999999.0");

# Each way of sweeping, and which of the two dead files it takes.
for (
	[ 'a probe of pg_wal',
		"SELECT sum(ops) > 0 FROM sync_probe.probe('pg_wal', duration => '20 ms')", 't', 0 ],
	[ 'a probe of a tablespace',
		"SELECT sum(ops) > 0 FROM sync_probe.probe('place', duration => '20 ms')", 't', 1 ],
	[ 'cleanup()', 'SELECT sync_probe.cleanup()', 2, 0, 1 ])
{
	my ($name, $sql, $expected, @swept) = @$_;
	write_file($_, 'something') for @dead;
	is(sql($node, $sql), $expected, $name);
	is(join(' ', grep { !-e $dead[$_] } 0 .. 1), "@swept", "$name: removes what the dead left");
	is(join(' ', grep { !-l && !-e } @directories, @links, @files), '',
		"$name: removes nothing else");
}
ok(-s $target, 'nothing was written or removed behind a link');
rmdir($_) for @directories;
unlink(@links, @files);
sql($node, 'DROP TABLESPACE place');
end_tests($node);
