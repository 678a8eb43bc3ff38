# What commit_waits() sees of real commits: their number, their waits and the parts of
# these, on a primary, with a synchronous standby, and on the standby.

use FindBin;
use lib $FindBin::RealBin;
use JSON::PP;
use SyncProbeTest;

my $clients = 4;
# the log would have a line for each commit
my $primary = probe_cluster('primary', allows_streaming => 1, conf => 'log_statement = none');
sql($primary, 'CREATE TABLE t (i integer)');
my $standby = add_standby($primary, 'standby', "cluster_name = 'standby'");

my $scripts = PostgreSQL::Test::Utils::tempdir;
append_to_file("$scripts/insert.sql", "INSERT INTO t VALUES (1);\n");
append_to_file("$scripts/rollback.sql", "BEGIN;\nINSERT INTO t VALUES (1);\nROLLBACK;\n");
append_to_file("$scripts/asynchronous.sql",
	"SET synchronous_commit = off;\nINSERT INTO t VALUES (1);\n");

# Clients that run a script until the returned function is called.
sub load_with
{
	my ($script) = @_;
	my $log = '';
	local $ENV{PGAPPNAME} = 'load';
	my $pgbench = IPC::Run::start(
		[ 'pgbench', '--no-vacuum', '-c', $clients, '-j', 1, '-T', 600, '-f', "$scripts/$script.sql",
			'-h', $primary->host, '-p', $primary->port, 'postgres' ],
		'<', \undef, '>&', \$log);
	$primary->poll_query_until('postgres', "SELECT count(*) = $clients FROM pg_stat_activity"
		  . " WHERE application_name = 'load' AND pid <> pg_backend_pid()")
	  or die "pgbench does not run: $log";
	return sub {
		$pgbench->signal('TERM');
		$pgbench->finish;
		$primary->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity"
			  . " WHERE application_name = 'load'");
	};
}

# The columns of one call, as a hash.
sub observe
{
	my ($node, $duration) = @_;
	return decode_json(
		sql($node, "SELECT to_json(w) FROM sync_probe.commit_waits('$duration') AS w"));
}

my @parts = map { "${_}_us" } qw(sync write queue commit_delay sync_rep other);

sub adds_up
{
	my ($name, $row) = @_;
	my $sum = 0;
	$sum += $row->{$_} for @parts;
	cmp_ok(abs($sum - $row->{commit_wait_us}), '<=', 0.5, "$name: the parts are the wait")
	  or diag(explain($row));
}

# --- commits of several clients

my $stop = load_with('insert');
my $before = sql($primary, 'SELECT count(*) FROM t');
my $row = observe($primary, '3 s');
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
like($row->{answer}, qr/^(?:yes|hardly|no): /, 'the answer is one');
adds_up('commits', $row);
# one process at a time writes WAL, but a sample takes some microseconds
cmp_ok($row->{wal_busy}, '>=',
	($row->{sync_us} + $row->{write_us}) * $row->{commits_per_sec} / 1e6 - 0.02,
	'WAL is busy while a commit writes or syncs it');
cmp_ok($row->{wal_busy}, '<=', 1, 'and for at most all of the time');

# --- a probe beside that load takes its pace, and is gentle

# The columns that say how a probe was made, and its NOTICE.
sub probe_beside
{
	my ($settings) = @_;
	my ($status, $out, $err) = $primary->psql('postgres', <<"SQL");
@{[$settings // '']}
DO \$\$ BEGIN PERFORM FROM sync_probe.probe(duration => '300 ms'); END \$\$;
SELECT flush_size, round(wal_busy::numeric, 4), (deciding_test = 'saturated') = (wal_busy > 0.5)
FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1
SQL
	return ($out, scalar($err =~ /NOTICE:  sessions of this server are committing: /));
}

# Size and regime of the newest result that saw a load.
my $pace = sql($primary, <<'SQL');
SELECT greatest(round(wal_bytes_per_commit * commits_per_sec / flushes_per_sec), 1),
       round(wal_busy::numeric, 4), true
FROM sync_probe.commit_wait_results ORDER BY result_id DESC LIMIT 1
SQL
is_deeply([ probe_beside() ], [ $pace, 1 ], 'beside load: its pace');
my $look = 'SET pg_sync_probe.commit_waits_max_age = 0;';
my ($out, $told) = probe_beside($look);
like($out, qr/\|t$/, 'beside load: the look alone decides');
is($told, 1, 'beside load: the look sees it');

# --- commit_delay

$primary->append_conf('postgresql.conf', 'commit_siblings = 0');
reload_with($primary, 'commit_delay', 20000);
$row = observe($primary, '3 s');
is($row->{commit_delay}, 20000, 'commit_delay is recorded');
cmp_ok($row->{commit_delay_us}, '>', 0, 'commits wait for it');
adds_up('commit_delay', $row);
reload_with($primary, 'commit_delay', '0');
$stop->();

# --- a probe on the idle server; the load that was seen lately still decides the regime

# what was seen of an idle moment since does not displace it
sql($primary, <<'SQL');
DELETE FROM sync_probe.commit_wait_results WHERE commit_delay > 0;
INSERT INTO sync_probe.commit_wait_results
    (system_identifier, host, answer, started_at, duration, commits_per_sec, committing_sessions,
     wal_busy, flushes_per_sec, wal_bytes_per_commit)
SELECT system_identifier, host, answer, clock_timestamp(), '5 s', 100, 0.01, 0.0123, 100, 8192
FROM sync_probe.commit_wait_results ORDER BY result_id DESC LIMIT 1
SQL
is_deeply([ probe_beside() ], [ $pace, '' ], 'idle: the load that was seen before still counts');
($out, $told) = probe_beside($look);
is($told, '', 'idle: the look sees no load');

# --- a synchronous standby that does not answer

reload_with($primary, 'synchronous_standby_names', "'standby'");
$primary->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
$stop = load_with('insert');
$row = observe($primary, '3 s');
cmp_ok($row->{sync_rep_us}, '>', 0, 'commits wait for the standby') or diag(explain($row));
adds_up('synchronous standby', $row);
reload_with($primary, 'synchronous_standby_names', "''");

# --- the standby

$row = observe($standby, '500 ms');
is($row->{commits_per_sec}, 0, 'standby: no commit');
like($row->{answer}, qr/^nothing commits on a standby: call it on the primary/,
	'standby: and it says so');
is($row->{result_id}, undef, 'standby: nothing is recorded');
$stop->();

# --- rollbacks and asynchronous commits count

for my $script ('rollback', 'asynchronous')
{
	$stop = load_with($script);
	$row = observe($primary, '1 s');
	cmp_ok($row->{commits_per_sec}, '>', 0, "$script: counted");
	$stop->();
}

# --- fsync = off

reload_with($primary, 'fsync', 'off');
$stop = load_with('insert');
$row = observe($primary, '1 s');
like($row->{answer}, qr/^no: fsync is off/, 'fsync off: the answer says so first');
$stop->();
reload_with($primary, 'fsync', 'on');

# --- ends: a cancel, and a backend that is terminated

for (['cancel', qr/canceling statement due to user request/],
	['terminate', qr/terminating connection due to administrator command/])
{
	my ($how, $message) = @$_;
	my $session = session($primary);
	start_query($session, "SELECT sync_probe.commit_waits('10 min')");
	wait_active($primary, $session);
	signal_backend($primary, "pg_${how}_backend")->($session);
	my ($out, $err) = finish_query($session);
	like($out . $err, $message, "$how ends it");
	$session->{run}->kill_kill;
}

done_testing();
