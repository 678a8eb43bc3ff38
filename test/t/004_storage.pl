# Storage that goes away, refuses, fills up or was moved, and servers that are
# set up unusually: a clean error or a true answer, and nothing left.

use File::Path qw(rmtree);
use SyncProbeTest;

my $outside = PostgreSQL::Test::Utils::tempdir();
# pg_wal is elsewhere, as DBAs move it
my $node = probe_cluster('storage', conf => 'fsync = off', extra => [ '--waldir', "$outside/wal" ]);
my %place = map { $_ => add_tablespace($node, $_) } qw(gone linked closed crowded);
my $empty = PostgreSQL::Test::Utils::tempdir();

my %temporary = map { $_ => (glob("$place{$_}/PG_*"))[0] . '/pgsql_tmp' } qw(linked closed);

# --- what storage can be like: location, how it gets so, what a probe says

my $temporary = qr/"pg_tblspc.*pgsql_tmp"/;
for (
	[ 'gone', sub { rmtree($place{gone}) }, '58P01', qr/tablespace "gone" has no directory/,
		qr/DETAIL:  Could not open directory $temporary: No such file or directory\./,
		qr/HINT:  Is its file system mounted\?/ ],
	[ 'linked', sub { symlink($empty, $temporary{linked}) }, '42809',
		qr/could not open directory $temporary: Not a directory/ ],
	[ 'closed', sub { mkdir($temporary{closed}, 0500) }, '42501',
		qr/could not create file "pg_tblspc.*: Permission denied/ ])
{
	my ($location, $make, @says) = @$_;
	$make->();
	fails_whole_ok($node, $location,
		"SELECT FROM sync_probe.probe('$location', duration => '20 ms')", @says);
	is(sql($node, "SELECT count(*) FROM sync_probe.locations WHERE name = '$location'"), 1,
		"$location: locations still answers");
}
is(join(' ', glob("$empty/*")), '', 'nothing was written behind a link');

my ($status, $out, $err) = $node->psql('postgres',
	"SELECT string_agg(location, ' ') FROM sync_probe.probe_all(duration => '20 ms')");
like($out, qr/^pg_wal/, 'probe_all() goes on');
like($err,
	qr/WARNING:  could not probe location "gone": tablespace "gone" has no directory\nDETAIL/,
	'and warns of what is gone');
is(sql($node, "SELECT string_agg(location, ' ' ORDER BY location) FROM sync_probe.findings"
	  . " WHERE code = 'tablespace_missing' AND severity = 'error'"), 'gone',
	'a finding of what is gone');
is(sql($node, "SELECT verdict, durable, reason LIKE 'fsync is off: %', commands[1]"
	  . " FROM sync_probe.recommendation_details WHERE location = 'pg_wal'"),
	'unsafe|no|t|ALTER SYSTEM SET fsync = on', 'fsync = off: the advice is to switch it on');
like(sql($node, "SELECT answer FROM sync_probe.commit_waits('100 ms')"), qr/^no: fsync is off/,
	'fsync = off: commit_waits() answers so');
like(sql($node, 'SELECT sync_probe.report_html()'),
	qr/<h1>Commits are not safe: fsync is off<.*unsafe<[^:]*: fsync is/s, 'so does the report');
is(sql($node, 'SELECT sync_probe.cleanup()'), 0, 'cleanup() goes on, too');

# --- pg_wal elsewhere

my $session = start_probe($node, "'pg_wal', " . LONG_PROBE);
my @there = glob("$outside/wal/xlogtemp.$session->{pid}.sync_probe.*");
cmp_ok(scalar(@there), '>', 3, 'moved pg_wal: the files are where WAL is');
end_probe($node, $session);
is(sql($node, "SELECT directory FROM sync_probe.locations WHERE name = 'pg_wal'"),
	"$outside/wal", 'moved pg_wal: locations knows');

# --- what others do to the first of its files: a warning and no error

my $stranger = write_file("$outside/stranger", 'not yours');
for ([ 'removed' ], [ 'replaced by a link', $stranger ])
{
	my ($name, $target) = @$_;
	$session = session($node);
	pause_probe($node, $session, "'crowded'");
	my ($file) = grep { /\.$session->{pid}\.0$/ } probe_files($node);
	unlink $file;
	symlink $target, $file if $target;
	kill 'CONT', $session->{pid};
	($out, $err) = finish_query($session);
	is($out, "t\n", "a file is $name: the probe returns its rows");
	like($err, qr/WARNING:  probe file "pg_tblspc.*\.$session->{pid}\.0" is no longer there/,
		"a file is $name: a warning");
	ok(-l $file && -s $file, "a file is $name: the stranger's is not removed") if $target;
	unlink $file;
	is(join("\n", probe_files($node)), '', "a file is $name: nothing else is left");
	$session->quit;
}

# --- settings that change what a probe can do; O_DIRECT is in 029_server_settings.pl

# What was written meanwhile is unsynced after fsync was switched on.
sql($node, "SELECT FROM sync_probe.probe(duration => '20 ms')");
reload_with($node, 'fsync', 'on');
is(sql($node, "SELECT count(*) FROM sync_probe.findings WHERE code = 'fsync_was_off'"), 1,
	'fsync was off: a finding says so');

$node->append_conf('postgresql.conf', 'max_files_per_process = 64');
$node->restart;
# Few descriptors: enough for one suite, whose descriptors must be given back
# each time, and too few for the other.
my $few = "duration => '20 ms', record => false);\n";
is(sql($node, "SELECT sum(ops) > 0 FROM sync_probe.probe($few" x 4), "t\nt\nt\nt",
	'max_files_per_process = 64: wal');
fails_whole_ok($node, 'max_files_per_process = 64: pg_test_fsync',
	"SELECT FROM sync_probe.probe(suite => 'pg_test_fsync', $few", '53000',
	qr/not enough file descriptors.*DETAIL:  Needs \d+\..*HINT: .*max_files_per_process/s);

# --- a server that shuts down, and one without a postmaster

$session = verbose_session($node);
stop_smartly($node, sub {
	for (
		[ 'SELECT FROM sync_probe.probe()', 'probe' ],
		[ 'SELECT sync_probe.cleanup()', 'clean up' ],
		[ 'SELECT FROM sync_probe.pgbench()', 'run a workload' ],
		[ 'CALL sync_probe.run_workload()', 'run a workload' ])
	{
		my ($sql, $verb) = @$_;
		like((query($session, $sql))[1],
			qr/ERROR:  55000: cannot $verb now\n.*DETAIL:  The server is shutting down/s,
			"smart shutdown: $sql");
	}
	$session->quit;
});

IPC::Run::run([ 'postgres', '--single', '-D', $node->data_dir, 'postgres' ],
	'<', \"SELECT * FROM sync_probe.probe()\n", '>', \$out, '2>', \$err,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
like($err, qr/ERROR:  cannot probe now/, 'single-user mode');
end_tests($node);
