# However a probe ends, nothing of it stays: no file, no descriptor, no lock, no
# row in sync_probe.running.  What a dead process left is swept by the next one.  Ends at random
# moments are those of test/full/kill_anything.pl.

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

# How a probe ends: how it is started if not as usual, what ends it, what the client is told,
# whether its session goes on after it.
my $cancel = signal_backend($node, 'pg_cancel_backend');
my $cancelled = qr/canceling statement due to user request/;
my @endings = (
	{ name => 'pg_cancel_backend', end => $cancel, says => $cancelled, survives => 1 },
	{ name => 'cancel between writes', phase => 'writing files', end => $cancel,
		arguments => 'duty_cycle => 0.001, ', says => $cancelled, survives => 1 },
	{ name => 'exception block', says => qr/^caught$/m, survives => 1,
		call => sub { "SET statement_timeout = '1s'; SELECT caught('$_[0]')" } },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/terminating connection due to administrator command/ },
	{ name => 'lost client', end => signal_client('KILL'), says => CLIENT_LOST },
	{ name => 'killed backend', end => sub { kill_process($node, $_[0]{pid}) },
		says => qr/connection.*(lost|closed)/ });

sub test_ending ($ending, $location, $suite)
{
	my $name = "$ending->{name}, $suite at $location";
	my $more = ($ending->{arguments} // '') . LONG_PROBE;
	my $call = $ending->{call} // sub { "SELECT FROM sync_probe.probe('$_[0]', '$_[1]', $more)" };
	# without notices: reporting looks for interrupts, which must not be what notices the end
	my $session = verbose_session($node);

	start_query($session, $call->($location, $suite));
	if ($ending->{end})
	{
		wait_phase($node, $session, $ending->{phase} // 'measuring');
		isnt(join('', probe_files($node)), '', "$name: there were files");
		$ending->{end}->($session);
	}

	statement_ended_ok($node, $session, $name, $ending);

	if ($ending->{survives})
	{
		is(descriptors($session->{pid}) . leftovers($node), '',
			"$name: nothing is left while the session lives on");
		query($session, "SET statement_timeout = 0");
		my ($out, $err) = query($session,
			"SELECT sum(ops) > 0 FROM sync_probe.probe('$location', duration => '20 ms')");
		is($out, "t\n", "$name: the session probes again") or diag($err);
		is(descriptors($session->{pid}), '', "$name: and no descriptor is open again");
		$session->quit;
		return;
	}
	is(leftovers($node), '', "$name: nothing is left");
	works_ok($node, $name, "'$location'");
	return;
}

test_ending($_, 'place', 'pg_test_fsync') for @endings;

# One suite sleeps between its operations, the others never do; one renames its files.
test_ending($endings[0], @$_) for [ 'pg_wal', 'wal' ], [ 'pg_default', 'stream' ],
  [ 'pg_wal', 'segments' ], [ 'place', 'segments' ];

# --- files of processes that died while the server lived on

my $pg_wal = $node->data_dir . '/pg_wal';
my ($pgsql_tmp) = glob($node->data_dir . '/pg_tblspc/*/PG_*/pgsql_tmp');

# What is not ours, or not a file.  Process 999999 does not run probes; a pid has no sign and no
# blanks.
my ($in_wal, $in_tmp) = ("$pg_wal/xlogtemp", "$pgsql_tmp/pgsql_tmp_sync_probe");
my $target = write_file(PostgreSQL::Test::Utils::tempdir() . '/target', 'something');
my @directories = ("$in_wal.999999.sync_probe.1", "$in_tmp.999999.1");
my @links = ("$in_wal.999999.sync_probe.2", "$in_tmp.999999.2");
my @files = (
	map({ "$in_wal.$_" } '999999', '999999.sync_probe', '999999.sync_probe.',
		'999999.sync_probe.0x', '.sync_probe.0', '-9.sync_probe.0', ' 9.sync_probe.+0',
		'9.sync_probe.00', '99999999999999999999.sync_probe.0'),
	map({ "$in_tmp.$_" } '999999', '999999.0~', ' 999999. 0'),
	"$pg_wal/my_xlogtemp.999999.sync_probe.0", "$pg_wal/pgsql_tmp_sync_probe.999999.0",
	"$pgsql_tmp/pgsql_tmp999999.0", "$pgsql_tmp/xlogtemp.999999.sync_probe.0");
mkdir($_) or die "$_: $!" for @directories;
symlink($target, $_) or die "$_: $!" for @links;
write_file($_, 'something') for @files;
my @dead = ("$in_wal.999999.sync_probe.0", "$in_tmp.999999.0");

# Each way of sweeping, and which of the two dead files it takes.
my $probe = 'SELECT sum(ops) > 0 FROM sync_probe.probe';
for (
	[ 'a probe of pg_wal', "$probe('pg_wal', duration => '20 ms')", 't', 0 ],
	[ 'a probe of a tablespace', "$probe('place', duration => '20 ms')", 't', 1 ],
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
