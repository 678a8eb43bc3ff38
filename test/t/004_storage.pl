# Storage that goes away, refuses, fills up or was moved, and servers that are
# set up unusually: a clean error or a true answer, and nothing left.

use FindBin;
use lib $FindBin::RealBin;
use Cwd qw(realpath);
use File::Path qw(rmtree);
use SyncProbeTest;

my $node = probe_cluster('storage', allows_streaming => 1, conf => 'fsync = off');
my %place = map { $_ => add_tablespace($node, $_) } qw(gone target_gone linked closed
	dropped crowded);
my $outside = PostgreSQL::Test::Utils::tempdir();

sub version_directory { return (glob("$place{$_[0]}/PG_*"))[0] }
sub replace_temporary_directory
{
	my ($name, $make) = @_;
	my $path = version_directory($name) . '/pgsql_tmp';
	rmtree($path);
	return $make->($path);
}

# --- what storage can be like: location, how it gets so, what a probe says

my $temporary = qr/"pg_tblspc.*pgsql_tmp"/;
my @no_directory = ('58P01', qr/tablespace "\w*gone" has no directory/,
	qr/DETAIL:  Could not open directory $temporary: No such file or directory\./,
	qr/HINT:  Is its file system mounted\?/);
for (
	[ 'gone', sub { rmtree(version_directory('gone')) }, @no_directory ],
	[ 'target_gone', sub { rmtree($place{target_gone}) }, @no_directory ],
	[ 'linked', sub { replace_temporary_directory('linked', sub { symlink($outside, shift) }) },
		'42809', qr/could not open directory $temporary: Not a directory/ ],
	[ 'closed', sub { replace_temporary_directory('closed', sub { mkdir(shift, 0500) }) },
		'42501', qr/could not create file "pg_tblspc.*: Permission denied/ ])
{
	my ($location, $make, @says) = @$_;
  SKIP:
	{
		skip "$location: root may write everywhere", 1 if $location eq 'closed' && $> == 0;
		$make->();
		fails_ok($node, $location, "SELECT FROM sync_probe.probe('$location', duration => '20 ms')",
			@says);
		is(leftovers($node), '', "$location: nothing is left") if $location eq 'closed';
		is(sql($node, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), 0,
			"$location: no lock is left");
		works_ok($node, "$location, elsewhere", "'pg_default'");
		is(sql($node, "SELECT count(*) FROM sync_probe.locations WHERE name = '$location'"), 1,
			"$location: locations still answers");
	}
}
is(join(' ', glob("$outside/*")), '', 'nothing was written behind a link');

my ($status, $out, $err) = $node->psql('postgres',
	"SELECT string_agg(location, ' ') FROM sync_probe.probe_all(duration => '20 ms')");
like($out, qr/^pg_wal/, 'probe_all() goes on');
like($err, qr/WARNING:  could not probe location "target_gone": tablespace "target_gone" has no directory/,
	'and warns of what is gone');
unlike($err, qr/^(DETAIL|HINT): *$/m, 'without empty lines');
is(sql($node, "SELECT verdict, durable, reason LIKE 'fsync is off: %', commands[1]"
	  . " FROM sync_probe.recommendation_details WHERE location = 'pg_wal'"),
	'unsafe|no|t|ALTER SYSTEM SET fsync = on', 'fsync = off: the advice is to switch it on');
is(sql($node, "SELECT string_agg(location, ' ' ORDER BY location) FROM sync_probe.findings"
	  . " WHERE code = 'tablespace_missing' AND severity = 'error'"),
	'gone target_gone', 'a finding of what is gone');
is(sql($node, 'SELECT sync_probe.cleanup()'), 0, 'cleanup() goes on, too');

# --- what others do while it measures

my $session = start_probe($node, "'dropped', " . LONG_PROBE);
fails_ok($node, 'DROP TABLESPACE while it is probed', 'DROP TABLESPACE dropped', '55000',
	qr/tablespace "dropped" is not empty/);
end_probe($node, $session);
is(($node->psql('postgres', 'DROP TABLESPACE dropped'))[0], 0,
	'DROP TABLESPACE after it was probed');
fails_ok($node, 'dropped', "SELECT FROM sync_probe.probe('dropped')", '42704',
	qr/location "dropped" does not exist/);

# What happens to the first of its files; each is a warning and no error.
my $stranger = "$outside/stranger";
for (
	[ 'removed', sub { unlink $_[0] } ],
	[ 'renamed', sub { rename $_[0], "$outside/renamed" } ],
	[ 'replaced', sub { unlink $_[0]; append_to_file($_[0], 'not yours') }, 1 ],
	[ 'replaced by a link', sub { append_to_file($stranger,
		'not yours'); unlink $_[0]; symlink $stranger, $_[0] }, 1 ])
{
	my ($name, $do, $stays) = @$_;
	$session = session($node);
	pause_probe($node, $session, "'crowded'");
	my ($file) = grep { /\.$session->{pid}\.0$/ } probe_files($node);
	$do->($file);
	kill 'CONT', $session->{pid};
	($out, $err) = finish_query($session);
	is($out, "t\n", "a file is $name: the probe returns its rows");
	like($err, qr/WARNING:  probe file "pg_tblspc.*\.$session->{pid}\.0" is no longer there/,
		"a file is $name: a warning");
	unlike($err, qr/ERROR/, "a file is $name: no error");
	ok(-s $file, "a file is $name: the stranger's is not removed") if $stays;
	unlink $file, $stranger;
	is(join("\n", probe_files($node)), '', "a file is $name: nothing else is left");
	$session->quit;
}

# --- settings that change what a probe can do; O_DIRECT is in 029_server_settings.pl

fails_ok($node, 'segments of 1 MB', 'SELECT FROM sync_probe.probe(flush_size => 1048577)', '22023',
	qr/flush_size 1048577 is out of range/, qr/between 1 and 1048576 bytes/);
works_ok($node, 'segments of 1 MB', "flush_size => 1048576");

# What was written meanwhile is unsynced after fsync was switched on.
my $fsync_was_off = "SELECT count(*) FROM sync_probe.findings WHERE code = 'fsync_was_off'";
is(sql($node, <<"SQL"), 0, 'fsync = off has a finding of its own');
DO 'BEGIN PERFORM FROM sync_probe.probe(duration => ''20 ms''); END';
$fsync_was_off
SQL
reload_with($node, 'fsync', 'on');
is(sql($node, $fsync_was_off), 1, 'fsync was off: a finding says so');

$node->append_conf('postgresql.conf', 'max_files_per_process = 64');
$node->restart;
is(sql($node, $fsync_was_off), 0, 'until the server is restarted');
# Few descriptors: enough for one suite, whose descriptors must be given back
# each time, and too few for the other.
my $setting = 'max_files_per_process';
for (
	[ 'wal', qr/^t\nt\nt\nt$/, qr/^(?!.*ERROR)/s ],
	[ 'pg_test_fsync', qr/^$/,
		qr/ERROR:  53000: not enough file descriptors.*DETAIL:  Needs \d+\..*HINT: .*$setting/s ])
{
	my ($suite, $expected, $says) = @$_;
	my $sql = "SELECT sum(ops) > 0"
		  . " FROM sync_probe.probe(suite => '$suite', duration => '20 ms', record => false);\n";
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n" . $sql x 4);
	like($out, $expected, "max_files_per_process = 64: $suite");
	like($err, $says, "max_files_per_process = 64: what $suite says");
	is(leftovers($node), '', "max_files_per_process = 64: nothing is left of $suite");
}

# --- a server that shuts down, and one without a postmaster

$session = session($node);
stop_smartly($node, sub {
	for (
		[ 'SELECT FROM sync_probe.probe()', 'probe' ],
		[ 'SELECT FROM sync_probe.probe_all()', 'probe' ],
		[ 'SELECT sync_probe.cleanup()', 'clean up' ],
		[ 'SELECT FROM sync_probe.pgbench()', 'run a workload' ],
		[ 'CALL sync_probe.run_workload()', 'run a workload' ])
	{
		my ($sql, $verb) = @$_;
		like((query($session, "\\set VERBOSITY verbose\n$sql"))[1],
			qr/ERROR:  55000: cannot $verb now\n.*DETAIL:  The server is shutting down/s,
			"smart shutdown: $sql");
	}
	$session->quit;
});

IPC::Run::run([ 'postgres', '--single', '-D', $node->data_dir, 'postgres' ],
	'<', \"SELECT * FROM sync_probe.probe()\n", '>', \$out, '2>', \$err,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
like($err, qr/ERROR:  cannot probe now/, 'single-user mode');
log_ok($node);

# --- pg_wal moved elsewhere, as DBAs do it; with segments of the usual size

my $elsewhere = PostgreSQL::Test::Utils::tempdir() . '/wal';
my $moved = probe_cluster('moved', segment_size => 16, allows_streaming => 1,
	extra => [ '--waldir', $elsewhere ]);
$session = start_probe($moved, "'pg_wal', " . LONG_PROBE);
my @there = glob("$elsewhere/xlogtemp.$session->{pid}.sync_probe.*");
cmp_ok(scalar(@there), '>', 3, 'moved pg_wal: the files are where WAL is');
is(-s $there[0], 4 * 1024 * 1024, 'moved pg_wal: of 4 MB each');
end_probe($moved, $session);
is(leftovers($moved), '', 'moved pg_wal: nothing is left');
is(sql($moved, "SELECT directory FROM sync_probe.locations WHERE name = 'pg_wal'"),
	$elsewhere, 'moved pg_wal: locations knows');

# Links in the place of a tablespace: as its last component, before it, and nowhere.
my $places = realpath(PostgreSQL::Test::Utils::tempdir());
mkdir "$places/$_" for 'real', map { "real/$_" } 1 .. 4;
symlink('real/1', "$places/link");
symlink('real', "$places/way");
my %links = (way_2 => 'way/2', link_1 => 'link', real_3 => 'real/3', way_4 => 'way/4');
sql($moved, "CREATE TABLESPACE $_ LOCATION '$places/$links{$_}'") for keys %links;
is(sql($moved, "SELECT name, directory FROM sync_probe.locations WHERE directory LIKE '$places/%'"),
	join("\n", map { "$_|$places/real/" . substr($_, -1) } sort keys %links),
	'tablespaces behind links: locations resolves them');

end_tests($moved);
