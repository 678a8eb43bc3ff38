# Little space, where files are made smaller, and a pg_wal that is somebody else's.  What can be
# told with made-up figures is in 007_faults.pl, as a quota, and how files shrink in
# test/unit/test_suite.c; this is on file systems as they are.

use File::Path;
use SyncProbeTest;

my %place = prepared_filesystems('SP_TEST_EVIDENCE');
plan skip_all => 'SP_TEST_EVIDENCE names no file system to test on (needs root, see script/test)'
  unless grep { $place{$_} } qw(small foreign);

my $node = probe_cluster('free_space', segment_size => 16, allows_streaming => 1);

# --- a small tablespace

SKIP:
{
	skip 'a small file system: SP_TEST_EVIDENCE does not name one', 1 unless $place{small};
	add_tablespace($node, 'small', "$place{small}");

	# too little for 17 files of 2 MB: seven are left
	write_file("$place{small}/used", 'x' x (52 * 1024 * 1024));
	is(sql($node, <<'SQL') =~ s/^\n+//r, 1, 'a tablespace of 64 MB, 52 MB are used: smaller files');
SELECT FROM sync_probe.probe('small', duration => '100 ms') WHERE ops > 0;
SELECT (storage ->> 'file_bytes')::int / 1048576 FROM sync_probe.runs;
SQL
	unlink "$place{small}/used";
	nothing_left($node, 'a small tablespace');
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

end_tests($node);
