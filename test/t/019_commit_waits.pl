# What commit_waits() sees of real commits: their number, their waits and the parts of
# these, on a primary, with a synchronous standby, and on the standby.

use JSON::PP;
use SyncProbeTest;

my $clients = 4;
# the log would have a line for each commit
my $primary = probe_cluster('primary', allows_streaming => 1,
	conf => "log_statement = none\ncommit_siblings = 0");
sql($primary, 'CREATE TABLE t (i integer)');
my $standby = add_standby($primary, 'standby', "cluster_name = 'standby'");

my $directory = PostgreSQL::Test::Utils::tempdir;

# Clients that insert rows until the returned function is called.
sub load_with ($first = '')
{
	my $script = write_file("$directory/script", "$first\nINSERT INTO t VALUES (1);\n");
	my $log = '';
	my $count = "SELECT count(*) FROM pg_stat_activity"
	  . " WHERE application_name = 'load' AND pid <> pg_backend_pid()";
	local $ENV{PGAPPNAME} = 'load';
	my $pgbench = IPC::Run::start(
		[ 'pgbench', '--no-vacuum', '-c', $clients, '-j', 1, '-T', 600, '-f', $script,
			'-h', $primary->host, '-p', $primary->port, 'postgres' ],
		'<', \undef, '>&', \$log);
	$primary->poll_query_until('postgres', $count, $clients) or die "pgbench does not run: $log";
	return sub {
		$pgbench->signal('TERM');
		$pgbench->finish;
		$primary->poll_query_until('postgres', $count, 0) or die 'its sessions do not end';
	};
}

# The columns of one call, as a hash.  The parts are the wait.
sub observe ($name, $node, $duration)
{
	my $row = decode_json(
		sql($node, "SELECT to_json(w) FROM sync_probe.commit_waits('$duration') AS w"));
	my $sum = 0;
	$sum += $row->{"${_}_us"} // 0 for qw(sync write queue commit_delay sync_rep);
	cmp_ok($sum - ($row->{commit_wait_us} // 0), '<=', 0.5, "$name: the parts are of the wait")
	  or diag(explain($row));
	return $row;
}

# --- commits of several clients

my $stop = load_with();
my $before = sql($primary, 'SELECT count(*) FROM t');
my $row = observe('commits', $primary, '3 s');
my $inserted = sql($primary, 'SELECT count(*) FROM t') - $before;
is($row->{committers}, $clients, 'each client is seen committing');
# other processes may end transactions, too: autovacuum
my $commits = $row->{commits_per_sec} * 3;
ok($commits > 0 && $commits <= $inserted * 1.2 + 100, "$commits commits, $inserted rows");
cmp_ok($row->{commit_wait_us}, '>', 0, 'they wait');
ok($row->{wait_share} > 0 && $row->{wait_share} <= 1, 'for a share of the active time');
cmp_ok($row->{wal_bytes_per_commit}, '>', 24, 'each commit has at least a record');
is($row->{commit_delay_us}, 0, 'without commit_delay nothing waits for it');
is($row->{sync_rep_us}, 0, 'nothing waits for a standby');
# one process at a time writes WAL, but a sample takes some microseconds
cmp_ok($row->{wal_busy}, '>=',
	($row->{sync_us} + $row->{write_us}) * $row->{commits_per_sec} / 1e6 - 0.02,
	'WAL is busy while a commit writes or syncs it');
cmp_ok($row->{wal_busy}, '<=', 1, 'and for at most all of the time');

# --- a probe beside that load takes its pace, and is gentle

# The columns that say how a probe was made, and its NOTICE.
sub probe_beside ($settings = '')
{
	my (undef, $out, $err) = $primary->psql('postgres', <<"SQL");
$settings
DO \$\$ BEGIN PERFORM FROM sync_probe.probe(duration => '300 ms'); END \$\$;
SELECT flush_size, test, seen = 50 OR (test = 'saturated') = (seen > 50)
FROM sync_probe.runs JOIN sync_probe.measurements AS m USING (run_id),
     LATERAL (SELECT coalesce(substring(reason FROM 'written or synced (\\d+) %')::int, 0))
         AS s (seen)
WHERE m.verdict IS NOT NULL
ORDER BY run_id DESC LIMIT 1
SQL
	return ($out, scalar($err =~ /NOTICE:  sessions of this server are committing: /));
}

# Size and regime of the newest result that saw a load.
my $pace = sql($primary, <<'SQL');
SELECT greatest(round(wal_bytes_per_commit * commits_per_sec / flushes_per_sec), 1),
       CASE WHEN wal_busy > 0.5 THEN 'saturated' ELSE 'paced' END, true
FROM sync_probe.commit_wait_results ORDER BY started_at DESC LIMIT 1
SQL
is_deeply([ probe_beside() ], [ $pace, 1 ], 'beside load: its pace');
my $look = 'SET pg_sync_probe.commit_waits_max_age = 0;';
my ($out, $told) = probe_beside($look);
like($out, qr/\|t$/, 'beside load: the look alone decides');
is($told, 1, 'beside load: the look sees it');

# --- commit_delay

reload_with($primary, 'commit_delay', 20000);
$row = observe('commit_delay', $primary, '3 s');
cmp_ok($row->{commit_delay_us}, '>', 0, 'commits wait for it');
reload_with($primary, 'commit_delay', '0');
$stop->();

# --- a probe on the idle server; the load that was seen lately still decides the regime

# test/tap/commits.sql: what was seen of an idle moment since does not displace it
sql($primary, 'DELETE FROM sync_probe.commit_wait_results WHERE commit_delay_us > 0');
is_deeply([ probe_beside() ], [ $pace, '' ], 'idle: the load that was seen before still counts');
is((probe_beside($look))[1], '', 'idle: the look sees no load');

# --- other commits, and one that waits for a standby

reload_with($primary, 'synchronous_standby_names', "'standby'");
$primary->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
  or die 'the standby is not synchronous';
for ([ 'sync_rep_us', '' ], [ 'commits_per_sec', 'SET synchronous_commit = off;' ])
{
	my ($figure, $first) = @$_;
	$stop = load_with($first);
	cmp_ok(observe("load $first", $primary, '2 s')->{$figure}, '>', 0, "load $first: $figure");
	$stop->();
}

$row = observe('standby', $standby, '500 ms');
is($row->{commits_per_sec}, 0, 'standby: no commit');
like($row->{answer}, qr/^nothing commits on a standby: call it on the primary/,
	'standby: and it says so');
is(sql($standby, "SELECT count(*) FROM sync_probe.commit_wait_results
	WHERE started_at = '$row->{started_at}'"), 0, 'standby: nothing is recorded');
fails_ok($standby, 'the commit suite', "SELECT FROM sync_probe.probe('pg_wal', 'commit')", 55000,
	qr/cannot run the commit suite now/, qr/This server is a standby/);

end_tests($primary, $standby);
