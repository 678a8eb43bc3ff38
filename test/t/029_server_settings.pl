# Settings that not every server has, and what they change for a probe: how WAL is opened
# (debug_io_direct), how blocks are read (io_method).
# What a server does not have is skipped.

use Fcntl qw(:DEFAULT);
use File::Glob qw(bsd_glob);
use SyncProbeTest;

plan skip_all => 'no /proc/PID/fdinfo' unless -d '/proc/self/fdinfo';

# Blocks are read again and again: the buffers hold a tenth of the table.
my $node = probe_cluster('settings',
	conf => "shared_buffers = 1MB\nautovacuum = off\ninclude_if_exists = 'settings.conf'");
add_tablespace($node, 'place');
sql($node, <<'SQL');
CREATE TABLE blocks AS SELECT n, repeat('x', 900) AS filler FROM generate_series(1, 10000) AS n;
CREATE TABLE committed (i int);
SQL

# Restarts with these lines; or, where the server says that it lacks something, without, and
# returns what it said.
sub restart_with ($conf, $lacks = undef)
{
	my $file = $node->data_dir . '/settings.conf';
	$node->stop;
	write_file($file, $conf);
	my $offset = -s $node->logfile;
	return if $node->start(fail_ok => defined $lacks);
	my ($said) = slurp_file($node->logfile, $offset) =~ /((?:LOG|FATAL|PANIC):  .*$lacks.*)/
	  or die 'the server does not start';
	unlink $file;
	$node->start;
	return $said;
}

# --------------------------------------------------------------- how WAL is opened

# The flags of descriptors that decide how a write gets to the device, of files whose path
# is like this.
sub open_flags ($pid, $path)
{
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

sub octal { return join ' ', map { sprintf '%o', $_ } @_ }

# With which flags a backend has the segment open that it commits to.
sub flags_of_server ($session, $method)
{
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
sub flags_of_probe (@wanted)
{
	my $session = start_probe($node, "'pg_wal', " . LONG_PROBE);
	my %seen;
	wait_for(sub {
		%seen = (%seen, open_flags($session->{pid}, qr{/pg_wal/xlogtemp\.\d+\.sync_probe\.\d+$}));
		return !grep { !$seen{$_} } @wanted;
	});
	end_probe($node, $session);
	return \%seen;
}

my @methods = grep { $_ ne 'fsync_writethrough' } split /\n/,
  sql($node, "SELECT unnest(enumvals) FROM pg_settings WHERE name = 'wal_sync_method' ORDER BY 1");
for (
	[ 'wal_level = replica' ],
	[ "wal_level = minimal\nmax_wal_senders = 0" ],
	[ 'debug_io_direct = wal', qr/debug_io_direct|Invalid argument/ ])
{
	my ($name) = $_->[0] =~ /(.*)/;
	my $lacks = restart_with(@$_);
  SKIP:
	{
		skip "$name: $lacks", 2 if $lacks;
		my $session = session($node);
		my %server = map { $_ => [ flags_of_server($session, $_) ] } @methods;
		$session->quit;
		my @flags = map { @$_ } values %server;
		note 'flags: ', octal(@flags);
		my $probe = flags_of_probe(@flags);
		is(octal(grep { !$probe->{$_} } @flags), '',
			"$name: a probe opens files in the same ways as the server");
		my @direct = grep { grep { $_ & O_DIRECT } @{ $server{$_} } } @methods;
		is(sql($node, <<'SQL'), "@direct", "$name: and direct_io says which ones are direct");
SELECT coalesce(string_agg(DISTINCT method, ' ' ORDER BY method), '')
FROM sync_probe.probe(duration => '50 ms', record => false)
WHERE test = 'paced' AND status = 'ok' AND direct_io
SQL
	}
}
sql($node, 'ALTER SYSTEM RESET wal_sync_method');

# ------------------------------------------------------------- how blocks are read

# Descriptors of a process on io_uring.
sub rings ($pid)
{
	return grep { (readlink($_) // '') eq 'anon_inode:[io_uring]' } bsd_glob("/proc/$pid/fd/*");
}

# Backends on io_uring have a ring each, inherited from the postmaster.
SKIP:
{
	my $lacks = restart_with('io_method = io_uring', qr/io_method|io_uring/);
	skip "io_uring: $lacks", 8 if $lacks;
	my $session = session($node);
	query($session, 'SET client_min_messages = warning');
	isnt(scalar(rings($session->{pid})), 0, 'io_uring: a backend uses it');
	for ("'pg_wal', duration => '100 ms'",
		"'pg_wal', 'commit', workers => 2, duration => '1 s', flush_interval => '2 ms'")
	{
		is(join('', query($session,
				"SELECT sum(ops) > 0 FROM sync_probe.probe($_, record => false)")), "t\n",
			"io_uring: probe($_)");
	}

	# a cancel that arrives while a probe flushes
	start_query($session, "SELECT FROM sync_probe.probe('pg_default', 'pg_test_fsync', "
		  . LONG_PROBE . ')');
	wait_phase($node, $session, 'measuring');
	sql($node, "SELECT pg_cancel_backend($session->{pid})");
	like((finish_query($session))[1], qr/canceling statement due to user request/,
		'io_uring: canceled');

	# a child process of the backend
	start_query($session, 'SELECT transactions > 0 FROM sync_probe.pgbench('
		  . "'upsert', clients => 2, rows => 100, duration => '3 s')");
	wait_running($node, $session, 2);
	is(join(' ', map { rings($_) } pgbench_children($node)), '',
		'io_uring: pgbench has no descriptor of a ring');
	is(join('', finish_query($session)), "t\n", 'io_uring: a workload');
	is(join('', query($session, 'SELECT sum(n), sum(length(filler)) FROM blocks')),
		"50005000|9000000\n", 'io_uring: then blocks are read as before');
	$session->quit;
	nothing_left($node, 'io_uring');
}

# ------------------------------------------------------------- statistics of indexes
#
# PostgreSQL 20 keeps them apart from those of tables.  The tablespace of an index is the
# busiest if only the index is read.

sql($node, $_) for <<'SQL', 'VACUUM ANALYZE keys', 'SELECT pg_stat_reset()', <<'SQL';
CREATE TABLE keys (n int PRIMARY KEY USING INDEX TABLESPACE place);
INSERT INTO keys SELECT generate_series(1, 1000)
SQL
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_memoize = off;
SELECT count(k) FROM generate_series(1, 300000) AS g,
    LATERAL (SELECT n FROM keys WHERE n = g % 1000 + 1 OFFSET 0) AS k
SQL
ok($node->poll_query_until('postgres', 'SELECT sync_probe_internal.busiest_tablespace()', 'place'),
	'blocks of an index count for its tablespace');

end_tests($node);
