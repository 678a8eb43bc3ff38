# Little space, where files are made smaller, and a pg_wal that is somebody else's.  What can be
# told with made-up figures is in 007_faults.pl, as a quota, and how files shrink in
# test/unit/test_suite.c; this is on file systems as they are.

use File::Path;
use SyncProbeTest;

my %place = prepared_filesystems('SP_TEST_EVIDENCE');
plan skip_all => 'SP_TEST_EVIDENCE names no file system to test on (needs root, see script/test)'
  unless grep { $place{$_} } qw(small foreign);

my $node = probe_cluster('free_space', segment_size => 16, allows_streaming => 1);

# --- a small tablespace: 17 files of 4 MB do not fit into it, nor seven of 16

SKIP:
{
	skip 'a small file system: SP_TEST_EVIDENCE does not name one', 1 unless $place{small};
	add_tablespace($node, 'small', "$place{small}");

	# MB that something else has, arguments, MB of a file of the probe, if it does
	for (
		[ 0, "'wal'", 2 ],
		# too little for 17 files: seven are left
		[ 52, "'wal'", 1 ],
		[ 35, "'pg_test_fsync'", 1 ],
		[ 45, "'stream'", 4 ],
		[ 55, "'wal'" ])
	{
		my ($used, $arguments, $expected) = @$_;
		my $name = "a tablespace of 64 MB, $used MB are used, $arguments";
		my $probe = "SELECT FROM sync_probe.probe('small', $arguments, duration => '100 ms')";
		my $megabyte = 'x' x 1024 x 1024;
		append_to_file("$place{small}/used", $megabyte) for 1 .. $used;
		if ($expected)
		{
			is(sql($node, <<"SQL") =~ s/^\n+//r, $expected, "$name: files of $expected MB");
$probe WHERE ops > 0;
SELECT (storage ->> 'file_bytes')::int / 1048576 FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1;
SQL
		}
		else
		{
			fails_ok($node, $name, $probe, '53100', qr/not enough space at location "small"/,
				qr/DETAIL:  Needs \d+ [kM]B plus a reserve of 3277 kB; \d+ [kM]B is available\./);
		}
		unlink "$place{small}/used";
		nothing_left($node, $name);
	}
	sql($node, 'DROP TABLESPACE small');
}

# --- a pg_wal of root that the server may write to

SKIP:
{
	skip 'a pg_wal of root: SP_TEST_EVIDENCE does not name a directory', 1 unless $place{foreign};
	my $theirs = "$place{foreign}/pg_wal";
	isnt((stat $theirs)[4], $>, 'a pg_wal of root: it is not ours');
	$node->stop;
	my $wal = $node->data_dir . '/pg_wal';
	PostgreSQL::Test::Utils::system_or_bail('cp', '-R', "$wal/.", $theirs);
	File::Path::rmtree($wal);
	symlink $theirs, $wal or die $!;
	$node->start;
	works_ok($node, 'a pg_wal of root', "'pg_wal'");
	nothing_left($node, 'a pg_wal of root');
	$node->stop;
	PostgreSQL::Test::Utils::system_or_bail("rm -rf '$theirs'/*");
}

$node->stop('fast', fail_ok => 1);
log_ok($node);
done_testing();
