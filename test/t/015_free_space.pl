# Little space: files that are made smaller, a reserve that others use up while a
# probe runs, a quota; and a pg_wal that is somebody else's.  What can be told
# with made-up figures is in 007_faults.pl; this is on file systems as they are.

use FindBin;
use lib $FindBin::RealBin;
use File::Path;
use SyncProbeTest;

use constant MB => 1024 * 1024;

my %place = prepared_filesystems(qw(SP_TEST_FILESYSTEMS SP_TEST_EVIDENCE));
plan skip_all => 'SP_TEST_EVIDENCE names no file system to test on (needs root, see script/test)'
  unless grep { $place{$_} } qw(small quota foreign tmpfs);

my $node = probe_cluster('free_space', segment_size => 16, allows_streaming => 1);

# A file of so many MB that is really there.
sub fill
{
	my ($path, $megabytes) = @_;
	my $megabyte = 'x' x MB;
	append_to_file($path, $megabyte) for 1 .. $megabytes;
	return;
}

sub available_mb
{
	my ($directory) = @_;
	return (split ' ', (split /\n/, `df -Pk '$directory'`)[-1])[3] / 1024;
}

# --- a small tablespace: 17 files of 4 MB do not fit into it, nor seven of 16

SKIP:
{
	skip 'a small file system: SP_TEST_EVIDENCE does not name one', 1 unless $place{small};
	add_tablespace($node, 'small', "$place{small}");
	my $file_mb = sub {
		my ($suite, $more) = @_;
		return sql($node, <<"SQL");
SELECT FROM sync_probe.probe('small', '$suite', duration => '100 ms'$more) WHERE ops > 0;
SELECT (storage ->> 'file_bytes')::int / 1048576 FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1;
SQL
	};

	# MB that something else has, arguments, MB of a file of the probe
	for (
		[ 'wal', 0, '', 2 ],
		[ 'wal', 0, ', flush_size => 8388608', 8 ],
		[ 'wal', 0, ', flush_size => 65537', 8 ],
		[ 'wal', 30, '', 1 ],
		# too little for 17 files: seven are left
		[ 'wal', 45, '', 1 ],
		[ 'wal', 52, '', 1 ],
		[ 'pg_test_fsync', 0, '', 1 ],
		[ 'pg_test_fsync', 35, '', 1 ],
		[ 'stream', 0, '', 16 ],
		[ 'stream', 45, '', 4 ])
	{
		my ($suite, $used, $more, $expected) = @$_;
		my $name = "a tablespace of 64 MB, $used MB are used, $suite$more";
		fill("$place{small}/used", $used);
		is($file_mb->($suite, $more) =~ s/^\n+//r, $expected, "$name: files of $expected MB");
		unlink "$place{small}/used";
		nothing_left($node, $name);
	}

	# what, MB that something else has
	for (
		[ 'one flush needs more', 0, ", 'wal', flush_size => 8388609" ],
		[ 'not even files of 1 MB', 55, ", 'wal'" ],
		[ 'the files of the tool', 50, ", 'pg_test_fsync'" ])
	{
		my ($what, $used, $arguments) = @$_;
		fill("$place{small}/used", $used);
		fails_ok($node, "a tablespace of 64 MB, $what",
			"SELECT FROM sync_probe.probe('small'$arguments)", '53100',
			qr/not enough space to probe location "small"/,
			qr/DETAIL:  Needs \d+ [kM]B plus a reserve of 3277 kB; \d+ [kM]B is available\./);
		unlink "$place{small}/used";
		nothing_left($node, "a tablespace of 64 MB, $what");
	}
	sql($node, 'DROP TABLESPACE small');
}

# --- a quota: the file system has space, and does not give it

SKIP:
{
	skip 'a quota: SP_TEST_EVIDENCE does not name a file system', 1 unless $place{quota};
	mkdir "$place{quota}/tablespace" or die $!;
	add_tablespace($node, 'quota', "$place{quota}/tablespace");
	cmp_ok(available_mb($place{quota}), '>', 200, 'a quota: the file system has space');
	fails_ok($node, 'a quota', "SELECT FROM sync_probe.probe('quota')", '53100',
		qr/could not write file "pg_tblspc.*": Disk quota exceeded/);
	nothing_left($node, 'a quota');
	sql($node, 'DROP TABLESPACE quota');
}

# --- pg_wal on a file system of twice max_wal_size, with all the WAL it may have

sub wal_files
{
	my ($cluster) = @_;
	return sql($cluster, "SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}\$'");
}

SKIP:
{
	skip 'pg_wal on 600 MB: SP_TEST_FILESYSTEMS does not name a tmpfs', 1 unless $place{tmpfs};
	my $free = available_mb($place{tmpfs});
	skip "pg_wal on 600 MB: it has $free MB", 1 if $free < 590 || $free > 610;

	# the slot keeps all of it, as one does whose standby is gone
	my $full = probe_cluster('full_wal', segment_size => 16, allows_streaming => 1,
		extra => [ '--waldir', "$place{tmpfs}/full_wal" ],
			conf => "max_wal_size = '304MB'\nmin_wal_size = '32MB'\nautovacuum = off");
	sql($full, "SELECT pg_create_physical_replication_slot('gone', true)");
	my $switch = 'SELECT pg_switch_wal() FROM pg_logical_emit_message(true, $$$$, $$$$)';
	sql($full, $switch) while wal_files($full) < 19;
	cmp_ok(available_mb($place{tmpfs}), '<', 304, 'twice max_wal_size: less than that is free');
	works_ok($full, 'twice max_wal_size', "'pg_wal'");

	# what is left has room for the probe and four segments, not for much more WAL
	my $session = start_probe($full, "'pg_wal', " . LONG_PROBE);
	cmp_ok(scalar(grep { -s $_ == 4 * MB } probe_files($full)), '>', 12,
		'WAL that grows: files of the usual size and number are there');
	while (available_mb($place{tmpfs}) > 64)
	{
		last if sql($full, "$switch; SELECT count(*) FROM sync_probe.running") =~ /^0$/m;
	}
	my ($out, $err) = finish_query($session);
	my $no_reserve = qr/DETAIL:  \S+ MB is available, less than the reserve of 64 MB\./;
	like($err, qr/ERROR:  not enough space to go on probing location "pg_wal"\n.*$no_reserve/s,
		'WAL that grows: the probe ends');
	$session->quit;
	nothing_left($full, 'WAL that grows');
	cmp_ok(available_mb($place{tmpfs}), '>', 100, 'WAL that grows: its space is free again');
	is(sql($full, 'SELECT 1'), 1, 'WAL that grows: the server goes on');
	fails_ok($full, 'WAL that has grown', 'SELECT FROM sync_probe.probe(flush_size => 8388609)',
		'53100', qr/not enough space to probe location "pg_wal"/);
	$full->stop;
	log_ok($full);
	File::Path::rmtree("$place{tmpfs}/full_wal");
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
	my $session = start_probe($node, "'pg_wal', " . LONG_PROBE);
	cmp_ok(scalar(probe_files($node)), '>', 3, 'a pg_wal of root: there are files of the probe');
	end_probe($node, $session);
	nothing_left($node, 'a pg_wal of root');
	$node->stop;
	PostgreSQL::Test::Utils::system_or_bail("rm -rf '$theirs'/*");
}

$node->stop('fast', fail_ok => 1);
log_ok($node);
done_testing();
