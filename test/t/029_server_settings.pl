# How the server opens WAL, with wal_level and debug_io_direct, is how a probe does.  Which
# tablespace is the busiest by the statistics.  What a server does not have is skipped.

use Fcntl qw(O_DIRECT);
use SyncProbeTest;

my $node = probe_cluster('settings',
	conf => "autovacuum = off\ninclude_if_exists = 'settings.conf'");
add_tablespace($node, 'place');
sql($node, 'CREATE TABLE committed (i int)');

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
	[ 'wal_level = replica' ], [ "wal_level = minimal\nmax_wal_senders = 0" ],
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
