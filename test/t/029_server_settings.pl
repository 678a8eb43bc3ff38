# Settings that not every server has, and what they change for a probe: how WAL is opened
# (debug_io_direct), how blocks are read (io_method), checksums.
# What a server does not have is skipped.

use FindBin;
use lib $FindBin::RealBin;
use Fcntl qw(:DEFAULT);
use File::Glob qw(bsd_glob);
use SyncProbeTest;

plan skip_all => 'no /proc/PID/fdinfo' unless -d '/proc/self/fdinfo';

use constant RING => 'anon_inode:[io_uring]';

# Blocks are read again and again: the buffers hold a tenth of the table.
my $node = probe_cluster('settings', conf => "shared_buffers = 1MB\nautovacuum = off");
sql($node,
	"CREATE TABLE blocks AS SELECT n, repeat('x', 900) AS filler FROM generate_series(1, 10000) AS n");

# The values of an enum, or nothing where the server has no such setting.
sub values_of
{
	my ($setting) = @_;
	return split /\n/, sql($node,
		"SELECT unnest(enumvals) FROM pg_settings WHERE name = '$setting'");
}

# Restarts with these lines, and says why this is not possible.
sub restart_with
{
	my ($conf) = @_;
	$node->stop;
	write_file($node->data_dir . '/settings.conf', $conf);
	my $offset = -s $node->logfile;
	return '' if $node->start(fail_ok => 1);
	my ($why) = substr(slurp_file($node->logfile), $offset) =~ /((?:FATAL|PANIC):  .*)/;
	return $why // 'the server does not start';
}
$node->append_conf('postgresql.conf', "include_if_exists = 'settings.conf'");

# --------------------------------------------------------------- how WAL is opened

# The flags of descriptors that decide how a write gets to the device, of files whose path
# is like this.
sub open_flags
{
	my ($pid, $path) = @_;
	my %seen;
	for my $descriptor (bsd_glob("/proc/$pid/fd/*"))
	{
		next if (readlink($descriptor) // '') !~ $path;
		open my $info, '<', $descriptor =~ s/\bfd\b/fdinfo/r or next;
		my ($flags) = join('', <$info>) =~ /^flags:\s*([0-7]+)$/m or next;
		$seen{ oct($flags) & (O_DIRECT | O_SYNC) } = 1;
	}
	return %seen;
}

sub flag_names
{
	my ($flags) = @_;
	my $sync = $flags & O_SYNC;
	return join '|', $flags & O_DIRECT ? 'O_DIRECT' : (),
	  $sync == O_SYNC ? 'O_SYNC' : $sync == O_DSYNC ? 'O_DSYNC' : (), 'O_RDWR';
}

# With which flags a backend has the segment open that it commits to.
sub flags_of_server
{
	my ($session, $method) = @_;
	my %seen;
	sql($node, "ALTER SYSTEM SET wal_sync_method = $method");
	$node->reload;
	wait_for(sub { (query($session, 'SHOW wal_sync_method'))[0] eq "$method\n" })
	  or die "wal_sync_method did not become $method";
	# the WAL writer may be faster: then the backend has no need to open it
	wait_for(sub {
		query($session, 'INSERT INTO committed VALUES (1)');
		return %seen = open_flags($session->{pid}, qr{/pg_wal/[0-9A-F]{24}$});
	}) or die 'a backend never opened WAL';
	return keys %seen;
}

# All flags that a probe uses, once those of the server are among them.
sub flags_of_probe
{
	my (@wanted) = @_;
	my $session = start_probe($node, "'pg_wal', " . LONG_PROBE);
	my %seen;
	wait_for(sub {
		%seen = (%seen, open_flags($session->{pid}, qr{/pg_wal/xlogtemp\.\d+\.sync_probe\.\d+$}));
		return !grep { !$seen{$_} } @wanted;
	});
	end_probe($node, $session);
	return \%seen;
}

sub direct_io_is_possible
{
	my $name = $node->data_dir . '/pg_wal/direct_io';
	my $possible = sysopen(my $file, $name, O_RDWR | O_CREAT | O_EXCL | O_DIRECT);
	unlink $name;
	return $possible;
}

sql($node, 'CREATE TABLE committed (i int)');
my $old = $node->pg_version < 16;
for my $row (
	{ conf => 'wal_level = replica' },
	{ conf => "wal_level = minimal\nmax_wal_senders = 0", direct => $old ? qr/open/ : undef },
	{ conf => 'debug_io_direct = wal', since => 16, direct => qr/./ })
{
	my $name = $row->{conf} =~ s/\n.*//sr;
  SKIP:
	{
		skip "$name: not in this version", 4 if $node->pg_version < ($row->{since} // 0);
		skip "$name: this file system has no O_DIRECT", 4
		  if $row->{direct} && !direct_io_is_possible();
		is(restart_with($row->{conf}), '', "$name: the server starts");
		my @methods = grep { $_ ne 'fsync_writethrough' } values_of('wal_sync_method');
		my $session = session($node);
		my %server = map { $_ => [ flags_of_server($session, $_) ] } @methods;
		$session->quit;
		is(join(' ', map { "$_ " . join('+', map { flag_names($_) } @{ $server{$_} }) } @methods),
			join(' ', map {
				"$_ " . flag_names(($row->{direct} && $_ =~ $row->{direct} ? O_DIRECT : 0)
					| ({ open_datasync => O_DSYNC, open_sync => O_SYNC }->{$_} // 0))
			} @methods), "$name: how the server opens WAL");

		my @flags = map { @$_ } values %server;
		my $probe = flags_of_probe(@flags);
		is(join(' ', map { flag_names($_) } grep { !$probe->{$_} } @flags), '',
			"$name: a probe opens files in the same ways");
		is(sql($node, <<'SQL'), join("\n", map {
SELECT DISTINCT method || ' ' || direct_io
FROM sync_probe.probe(duration => '50 ms', record => false)
WHERE test = 'paced' AND status = 'ok' ORDER BY 1
SQL
				"$_ " . ($row->{direct} && $_ =~ $row->{direct} ? 'true' : 'false') } sort @methods),
			"$name: and direct_io says which ones");
	}
}
sql($node, 'ALTER SYSTEM RESET wal_sync_method');

# ------------------------------------------------------------- how blocks are read

# Descriptors of a process on io_uring.
sub rings
{
	my ($pid) = @_;
	return grep { (readlink($_) // '') eq RING } bsd_glob("/proc/$pid/fd/*");
}

sub blocks_ok
{
	my ($session, $name) = @_;
	my ($out, $err) = query($session, 'SELECT sum(n), sum(length(filler)) FROM blocks');
	is("$out$err", "50005000|9000000\n", "$name: blocks are read as before");
	return;
}

# Backends on io_uring have a ring each, inherited from the postmaster.
SKIP:
{
	skip 'io_uring: this server does not have it', 10
	  unless grep { $_ eq 'io_uring' } values_of('io_method');
	my $why = restart_with('io_method = io_uring');
	if ($why)
	{
		restart_with('');
		skip "io_uring: $why", 10 if $why =~ /io_uring/;
		BAIL_OUT($why);
	}
	my $session = session($node);
	query($session, 'SET client_min_messages = warning');
	isnt(scalar(rings($session->{pid})), 0, 'io_uring: a backend uses it');
	for ("'pg_wal', duration => '100 ms'",
		"'pg_wal', 'commit', workers => 2, duration => '1 s', flush_interval => '2 ms'")
	{
		my ($out, $err) = query($session,
			"SELECT sum(ops) > 0 FROM sync_probe.probe($_, record => false)");
		is("$out$err", "t\n", "io_uring: probe($_)");
		blocks_ok($session, 'io_uring, then');
	}

	# a cancel that arrives while a probe flushes
	start_query($session, "SELECT FROM sync_probe.probe('pg_default', 'pg_test_fsync', "
		  . LONG_PROBE . ')');
	wait_phase($node, $session, 'measuring');
	sql($node, "SELECT pg_cancel_backend($session->{pid})");
	like((finish_query($session))[1], qr/canceling statement due to user request/,
		'io_uring: canceled');
	blocks_ok($session, 'io_uring, then');

	# a child process of the backend
	start_query($session, 'SELECT transactions > 0 FROM sync_probe.pgbench('
		  . "'upsert', clients => 2, rows => 100, duration => '3 s')");
	wait_running($node, $session, 2);
	is(join(' ', map { rings($_) } pgbench_children($node)), '',
		'io_uring: pgbench has no descriptor of a ring');
	my ($out, $err) = finish_query($session);
	is("$out$err", "t\n", 'io_uring: a workload');
	$session->quit;
	nothing_left($node, 'io_uring');
}
restart_with('');
log_ok($node);

# ------------------------------------------------------------------------ checksums

{
	my $other = probe_cluster('checksums', extra => ['--data-checksums']);
	my $place = add_tablespace($other, 'place');
	works_ok($other, 'checksums', "'$_'") for qw(pg_wal place);
	is(sql($other, pgbench_sql(SMALL_RUN . ", tablespace => 'place'")), '5',
		'checksums: a workload');

	# what a dead server leaves is no block of a table
	my $session = start_probe($other, "'place', " . LONG_PROBE);
	$other->stop('immediate');
	isnt(join(' ', bsd_glob("$place/*/pgsql_tmp/*sync_probe*")), '', 'checksums: files are left');
	eval { $session->{run}->finish };
	$other->start;
	$other->stop;
	$other->command_like([ 'pg_checksums', '--check', '-D', $other->data_dir ],
		qr/Bad checksums:\s+0$/m, 'checksums: pg_checksums finds no bad one');
}

# ------------------------------------------------------------- statistics of indexes
#
# PostgreSQL 20 keeps them apart from those of tables.  The tablespace of an index is the
# busiest if only the index is read.

my $quiet = probe_cluster('quiet', conf => 'autovacuum = off');
add_tablespace($quiet, 'place');
sql($quiet, $_) for <<'SQL', 'VACUUM ANALYZE keys', <<'SQL';
CREATE TABLE keys (n int PRIMARY KEY USING INDEX TABLESPACE place);
INSERT INTO keys SELECT generate_series(1, 1000)
SQL
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_memoize = off;
SELECT count(k) FROM generate_series(1, 300000) AS g,
    LATERAL (SELECT n FROM keys WHERE n = g % 1000 + 1 OFFSET 0) AS k
SQL
ok($quiet->poll_query_until('postgres', 'SELECT sync_probe_internal.busiest_tablespace()', 'place'),
	'blocks of an index count for its tablespace');
$quiet->stop;

$node->stop;
done_testing();
