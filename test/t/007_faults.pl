# System calls that fail, one by one, in a real server: an error of the storage
# before anything could be measured ends the probe with a clean error, one while
# it measures costs the rows of that file and no more, and neither leaves a
# trace.  The faults come from test/fault/fail_calls.c, preloaded into the server.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeTest;

plan skip_all => 'preloading is only tried on Linux' if $^O ne 'linux';

my $control_file = PostgreSQL::Test::Utils::tempdir() . '/fault';
my $log_file = "$control_file.log";
my $node = probe_cluster('faults', allows_streaming => 1, faults => $control_file,
	conf => "fsync = off\npg_sync_probe.max_stream_write = '1MB'");

# One backend for nearly everything: it must survive, and lose no descriptor.
my $session = verbose_session($node);
my $first_checkpointer = checkpointer();

sub checkpointer
{
	return sql($node, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
}

# Overwrites a file; the serial number makes each text another one, with which
# the library begins to count anew.
my $serial = 0;
sub set_faults
{
	write_file($control_file, map { "$_\n" } '# ' . $serial++, @_);
	write_file($log_file);
	return;
}

# Runs SQL with faults (text as fail_calls.c takes it); returns output, messages
# and the calls that were made, as the library logged them.
sub with_faults
{
	my ($faults, $sql) = @_;
	set_faults(@$faults);
	my ($out, $err) = query($session, $sql);
	my @calls = split /\n/, slurp_file($log_file);
	set_faults();
	chomp $out;
	$err =~ s/^(?:psql:<stdin>:\d+: |LOCATION: .*\n)//mg;
	return ($out, $err, @calls);
}

sub probe_of
{
	my ($location, $suite, $more, $duration) = @_;
	$more //= ', record => false';
	$duration //= '20 ms';
	return "sync_probe.probe('$location', '$suite', '$duration'$more)";
}

# The same, of SQL as a function of the duration of a probe: on slow storage a short
# one does not come to the n-th call.
sub until_injected
{
	my ($faults, $sql) = @_;
	my @result;
	for my $duration ('20 ms', '1 s', '20 s')
	{
		@result = with_faults($faults, $sql->($duration));
		last if !@$faults || grep { /injected$/ } @result;
	}
	return @result;
}

# What is wrong after a probe with a fault, as text; empty when nothing is.
sub traces
{
	return join "\n", grep { $_ ne '' } leftovers($node), descriptors($session->{pid}),
	  (checkpointer() eq $first_checkpointer ? '' : 'the server restarted');
}

sub no_trace_ok
{
	my ($name, $location) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(traces(), '', "$name: no trace is left");
	my ($out, $err) = query($session,
		"SELECT bool_or(ops > 0) AND bool_and(status <> 'error') FROM "
		  . probe_of($location, 'wal'));
	is($out . $err, "t\n", "$name: the next probe works");
	return;
}

# --- before any case could run

my $file = qr{"(?:pg_wal/xlogtemp\.\d+\.sync_probe
	|base/pgsql_tmp/pgsql_tmp_sync_probe\.\d+)\.\d+"}x;
my $directory = qr/"(?:pg_wal|base\/pgsql_tmp)"/;

# How often the server of this version, and so the wal suite, writes to lay out 1 MB.
my $writes = $node->pg_version >= 18 ? 1 : 4;

# The files that a probe creates: free space is read before all of them, and before each.
my %files = map { my $suite = $_; my (undef, undef, @calls) = with_faults([],
		'SELECT FROM ' . probe_of('pg_wal', $suite));
	($suite => scalar grep { /^create / } @calls) } qw(wal pg_test_fsync);

# So it is before each file that suite segments makes while it measures.
{
	my (undef, undef, @calls) = with_faults([],
		'SELECT FROM ' . probe_of('pg_wal', 'segments', undef, '500 ms'));
	my $created = grep { /^create / } @calls;
	cmp_ok($created, '>', 0, 'segments: files are created');
	cmp_ok(scalar(grep { /^fstatvfs / } @calls), '>=', $created,
		'segments: free space is read before each');
}

my $no_room = qr/DETAIL:  Needs \d+\.0 MB plus a reserve of \S+ [MG]B; 0 bytes is available\./;
my $goes_on = qr/not enough space to go on probing location/;
my $no_reserve = qr/DETAIL:  0 bytes is available, less than the reserve of \S+ [MG]B\./;

# location, suite, faults, SQLSTATE, message
for (
	[ 'pg_wal', 'wal', 'create 1 EROFS', '42501',
		qr/could not create file $file: Read-only file system/ ],
	[ 'pg_default', 'wal', 'create 4 EMFILE', '53000',
		qr/could not create file $file: Too many open files/ ],
	[ 'pg_default', 'pg_test_fsync', 'create 9 EDQUOT', '53100',
		qr/could not create file $file: Disk quota exceeded/ ],
	[ 'pg_wal', 'wal', 'pwritev 1 EIO', '58030', qr/could not write file $file: Input\/output error/ ],
	[ 'pg_default', 'pg_test_fsync', 'pwrite 17 ENOSPC', '53100',
		qr/could not write file $file: No space left on device/ ],
	# why a write was short, is what the next one says
	[ 'pg_wal', 'wal', "pwritev 3 short\npwritev 4 ENOSPC", '53100',
		qr/could not write file $file: No space left on device/ ],
	[ 'pg_default', 'pg_test_fsync', "pwrite 3 short\npwrite 4 EDQUOT", '53100',
		qr/could not write file $file: Disk quota exceeded/ ],
	[ 'pg_wal', 'wal', 'fsync 3 EDQUOT', '53100',
		qr/could not fsync file $file: Disk quota exceeded/ ],
	[ 'pg_default', 'wal', 'fsync_directory 1 EIO', '58030',
		qr/could not fsync directory $directory: Input\/output error/ ],
	[ 'pg_wal', 'wal', 'fstatvfs 1 EIO', '58030',
		qr/could not determine free space of $directory: Input\/output error/ ],
	[ 'pg_wal', 'wal', 'fstatvfs 1+ 0MB', '53100',
		qr/not enough space to probe location "pg_wal"\n$no_room/ ],
	[ 'pg_wal', 'wal', 'fstatvfs 2 0MB', '53100',
		qr/$goes_on "pg_wal"\n$no_reserve\nHINT:  WAL has grown/ ],
	[ 'pg_default', 'wal', 'fstatvfs 5 0MB', '53100',
		qr/$goes_on "pg_default"\n$no_reserve\nHINT:  Other processes have used/ ],
	# while it measures
	[ 'pg_wal', 'wal', "fstatvfs @{[ $files{wal} + 2 ]} 0MB", '53100', qr/$goes_on "pg_wal"/ ],
	[ 'pg_default', 'pg_test_fsync', "fstatvfs @{[ $files{pg_test_fsync} + 2 ]} 0MB", '53100',
		qr/$goes_on "pg_default"/ ],
	# after the files of the beginning, which ask less often
	[ 'pg_wal', 'segments', 'fstatvfs 6+ 0MB', '53100', qr/$goes_on "pg_wal"/ ],
	[ 'pg_default', 'segments', 'fstatvfs 6+ 0MB', '53100', qr/$goes_on "pg_default"/ ],
	# its files are not larger than the limit
	[ 'pg_wal', 'stream', 'pwritev 2 ENOSPC', '53100',
		qr/could not write file $file: No space left on device/ ])
{
	my ($location, $suite, $fault, $state, $message) = @$_;
	my @faults = split /\n/, $fault;
	my $name = join ', ', $location, $suite, @faults;
	my ($out, $err, @calls) = with_faults(\@faults,
		$fault =~ /^fstatvfs/ ? "SELECT FROM sync_probe.probe('$location', '$suite', " . LONG_PROBE . ')'
		: 'SELECT FROM ' . probe_of($location, $suite));

	# what does not fit is tried again with fewer files
	my $injected = grep { /injected$/ } @calls;
	is($fault =~ /\+/ && $injected > @faults ? scalar(@faults) : $injected, scalar(@faults),
		"$name: is injected");
	like($err, qr/^ERROR:  $state: $message/, "$name: $state");
	is(scalar(grep { /^(?:create|open|pwrite|fsync) / } after_injection(@calls)), 0,
		"$name: nothing is written any more");
	no_trace_ok($name, $location);
}

# The calls after the (last) injected one.
sub after_injection
{
	my @calls = @_;
	my @after;
	while (@calls && $calls[-1] !~ /injected$/)
	{
		unshift @after, pop @calls;
	}
	return @after;
}

# --- what pg_wal holds counts: segments of 1 MB, max_wal_size is 64 MB
#
# So that no checkpoint removes them, a slot keeps them.

sql($node, "SELECT pg_create_physical_replication_slot('keeps', true)");
sub wal_segments
{
	return sql($node, "SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}\$'");
}

# The least that a probe needs: a file of 1 MB for each case.
my $needed;

# segments that are there, what is free beside it: in MB, or above what is needed; whether that is
# enough
for ([ 20, 30, 0 ], [ 20, 60, 1 ], [ 64, '+4', 1 ], [ 64, '+3', 0 ])
{
	my ($segments, $free, $enough) = @$_;
	sql($node, 'SELECT pg_switch_wal() FROM pg_logical_emit_message(true, $$$$, $$$$)')
	  while wal_segments() < $segments;
	my $before = wal_segments();
	$free += $needed if $free =~ /^\+/;
	my ($out, $err) = with_faults(["fstatvfs 1+ ${free}MB"],
		"SET pg_sync_probe.reserve_percent = 0; SELECT bool_or(ops > 0) FROM "
		  . probe_of('pg_wal', 'wal') . '; RESET pg_sync_probe.reserve_percent');

	# the server may have made one more meanwhile, and four segments are the least reserve
	my $reserve = join '|', map { $_ < 60 ? 64 - $_ : '4\.0' } $before .. wal_segments();
	my $says = qr/DETAIL:  Needs (\d+)\.0 MB plus a reserve of (?:$reserve) MB; $free\S* MB is/;
	$enough ? is($out . $err, 't', "$before of 64 MB of WAL, $free MB are free: enough")
	  : like($err, $says, "$before of 64 MB of WAL, $free MB are free: too little");
	($needed) = $err =~ $says unless $needed;
}
sql($node, "SELECT pg_drop_replication_slot('keeps')");
is(traces(), '', 'the reserve of WAL: no trace is left');

# --- while it measures: the n-th call on a file, by the number that ends its name
#
# Laying out a file makes 1 create, 1 fsync and 1 open, and $writes pwritev in the
# wal suite, 128 pwrite in the other.

# Rows that could not be measured, one a line.
sub failures
{
	my ($faults, $location, $suite, $more) = @_;
	return until_injected($faults, sub {
		return <<"SQL" });
SELECT concat_ws(' ', test, method, CASE WHEN direct_io THEN 'O_DIRECT' END,
                 status || coalesce(': ' || detail, ''))
FROM ${\ probe_of($location, $suite, $more, @_)}
WHERE status <> 'ok' AND status <> 'unsupported' ORDER BY ordinal
SQL
}

my $io = 'Input/output error';
my $no_space = 'No space left on device';
my $direct = 'no_direct_io: could not %s file: Invalid argument';

# Here or on a file system without O_DIRECT: what is missing without a fault.
my %without_fault = map { $_ => (failures([], 'pg_wal', $_))[0] } qw(wal pg_test_fsync);

# The number of the file of a case.  The files of suite wal are in the order of the paced
# cases, then that of the control, then those of the cases with O_DIRECT.
my %number;
for my $row (split /\n/, (query($session, <<'SQL'))[0])
SELECT 'wal ' || method, ordinal - 1
FROM sync_probe.probe(duration => '20 ms', record => false) WHERE test = 'paced'
UNION ALL
SELECT 'wal direct ' || method, (SELECT count(*) FROM sync_probe.probe(duration => '20 ms',
           record => false) WHERE test = 'paced') + row_number() OVER (ORDER BY ordinal)
FROM sync_probe.probe(duration => '20 ms', record => false) WHERE direct_io
UNION ALL
SELECT format('tool %s %s', test, method), min(ordinal) - 1
FROM sync_probe.probe('pg_wal', 'pg_test_fsync', '20 ms', record => false) GROUP BY test, method
SQL
{
	my ($case, $number) = split /\|/, $row;
	$number{$case} = $number;
}
$number{'wal control'} = grep { /^wal \w+$/ } keys %number;

sub both { my ($what) = @_; return [ map { "$_ $what" } qw(paced saturated) ] }

# suite, fault with the case whose file has it, rows that are lost, other arguments
for (
	[ 'wal', 'fdatasync 3 EIO .{wal fdatasync}',
		both("fdatasync error: could not fdatasync file: $io") ],
	[ 'wal', 'fsync 5 ENOSPC .{wal fsync}', both("fsync error: could not fsync file: $no_space") ],
	[ 'wal', 'pwrite 3 EIO .{wal open_sync}', both("open_sync error: could not pwrite file: $io") ],
	[ 'wal', "pwrite 2 short .{wal fsync}\npwrite 3 EDQUOT .{wal fsync}",
		both('fsync error: could not pwrite file: Disk quota exceeded') ],
	[ 'wal', "pwritev @{[ $writes + 1 ]} short .{wal fdatasync}\n"
		  . "pwritev @{[ $writes + 2 ]} ENOSPC .{wal fdatasync}",
		both("fdatasync error: could not pwrite file: $no_space"), ', flush_size => 1000000' ],
	# what could be written after all
	[ 'wal', 'pwritev 1 short .{wal fdatasync}', [] ],
	[ 'pg_test_fsync', 'pwrite 5 short .{tool one_write fdatasync}', [] ],
	[ 'wal', 'open 1 EMFILE .{wal fdatasync}',
		both('fdatasync error: could not open file: Too many open files') ],
	[ 'wal', 'open 1 EINVAL .{wal direct open_datasync}',
		[ 'saturated open_datasync O_DIRECT ' . sprintf $direct, 'open' ] ],
	[ 'wal', 'pwrite 1 EINVAL .{wal direct open_sync}',
		[ 'saturated open_sync O_DIRECT ' . sprintf $direct, 'pwrite' ] ],
	# the second copy of the current method has no row of its own
	[ 'wal', 'fdatasync 1 EIO .{wal control}', [] ],
	[ 'wal', 'fdatasync 2 EINTR .{wal fdatasync}', [] ],
	[ 'pg_test_fsync', 'fdatasync 2 EIO .{tool one_write fdatasync}',
		[ "one_write fdatasync error: could not fdatasync file: $io" ] ],
	[ 'pg_test_fsync', 'open 5 EMFILE .{tool non_write_descriptor write_fsync_close}',
		[ 'non_write_descriptor write_fsync_close error: could not open file: Too many open'
		  . ' files' ] ],
	[ 'pg_test_fsync', 'fsync 2 EIO .{tool non_write_descriptor write_close_fsync}',
		[ "non_write_descriptor write_close_fsync error: could not fsync file: $io" ] ],
	[ 'pg_test_fsync', 'pwrite 129 ENOSPC .{tool unsynced_write write}',
		[ "unsynced_write write error: could not pwrite file: $no_space" ] ],
	# everything fails, each file in its own way
	[ 'wal', 'pwrite 1+ EIO', undef ],
	[ 'wal', 'open 1+ EIO', undef ])
{
	my ($suite, $fault, $lost, $more) = @$_;
	$fault =~ s/\{(.*?)\}/$number{$1} \/\/ die "no case $1"/ge;
	my $label = $fault =~ s/\n/, /r;
	my $name = "pg_wal, $suite, $label";
	my $can_direct = $without_fault{wal} !~ /no_direct_io/;
  SKIP:
	{
		skip "$name: there is no O_DIRECT here", 1
		  if !$can_direct && "@{ $lost // [] }" =~ /O_DIRECT (?!no_direct_io: could not open)/;
		$more = ($more // '') . ($suite eq 'wal' ? ", label => '$label'" : ', record => false');
		my ($out, $err, @calls) = failures([ split /\n/, $fault ], 'pg_wal', $suite, $more);
		my %expected = map { $_ => 1 } split(/\n/, $without_fault{$suite}), @{ $lost // [] };

		cmp_ok(scalar(grep { /injected$/ } @calls), '>', 0, "$name: is injected");
		is($err, '', "$name: the probe does not fail");
		if ($lost)
		{
			is_deeply([ sort split /\n/, $out ], [ sort keys %expected ],
				"$name: the rows of that file are lost");
		}
		else
		{
			my $supported = sql($node, "SELECT count(*) FROM "
				  . probe_of('pg_default', $suite) . " WHERE status <> 'unsupported'");
			is(scalar(split /\n/, $out), $supported, "$name: all rows are lost");
		}
		my ($failed) = map { /^\w+ (\S+) \w+ injected/ ? $1 : () } @calls;
		my @again = grep { / \Q$failed\E / && !/^unlinkat / } after_injection(@calls);
		if ($fault =~ /EINTR|short [.\d]+$/)
		{
			cmp_ok(scalar(@again), '>', 0, "$name: it is tried again");
		}
		else
		{
			is(join("\n", @again), '', "$name: the file is not touched again");
		}
		if ($suite eq 'wal')
		{
			let_runs_count($node);
			($out, $err) = query($session, <<"SQL");
SELECT (SELECT label FROM sync_probe.runs r WHERE r.run_id = v.run_id), verdict, reason
FROM sync_probe.recommendation_details v WHERE location = 'pg_wal'
SQL
			like($out, qr/^\Q$label\E\|\w+\|.+/, "$name: recommendations answers");
			is($err, '', "$name: and says nothing else");
		}
		no_trace_ok($name, 'pg_wal');
	}
}

# --- files that cannot be removed

for my $location (qw(pg_wal pg_default))
{
	my $probe = 'SELECT count(*) > 0 FROM ' . probe_of($location, 'wal');
	my $cannot = qr/WARNING:  58030: could not remove file $file: Input\/output error/;
	my ($out, $err) = with_faults(['unlinkat 2 EIO'], $probe);
	is($out, 't', "$location, unlinkat: the probe does not fail");
	like($err, $cannot, "$location, unlinkat: a warning");
	is(scalar(probe_files($node)), 1, "$location, unlinkat: one file is left");

	($out, $err) = with_faults(['unlinkat 1+ EIO'], 'SELECT sync_probe.cleanup()');
	is($out, 0, "$location, unlinkat: cleanup() does not count what it cannot remove");
	like($err, $cannot, "$location, unlinkat: cleanup() warns");
	is((query($session, 'SELECT sync_probe.cleanup()'))[0], "1\n",
		"$location, unlinkat: the next cleanup() can");
	is(traces(), '', "$location, unlinkat: no trace is left");

	# the error that ended it is the one that is told
	($out, $err) = with_faults([ "pwritev @{[ $writes + 1 ]} EIO", 'unlinkat 1+ EROFS' ], $probe);
	like($err, qr/WARNING:  42501: could not remove file $file: Read-only file system/,
		"$location, pwrite and unlinkat: a warning");
	like($err, qr/ERROR:  58030: could not write file $file: Input\/output error/,
		"$location, pwrite and unlinkat: the first error");
	my @in_the_way = probe_files($node);
	is(scalar(@in_the_way), 2, "$location, pwrite and unlinkat: both files are left");

	# the same backend, so the same names; files come in another order each time
	($out, $err) = with_faults(['unlinkat 1+ EIO'], $probe);
	like($err, qr/ERROR:  58P02: could not create file $file: File exists/,
		"$location, unlinkat: what is in the way is not overwritten");
	my %there = map { $_ => 1 } probe_files($node);
	is(join(' ', grep { !$there{$_} } @in_the_way), '', "$location, unlinkat: it is still there");
	is(descriptors($session->{pid}), '', "$location, unlinkat: no descriptor is left");
	is(join('', query($session, 'SELECT bool_or(ops > 0) FROM ' . probe_of($location, 'wal'))), "t\n",
		"$location, unlinkat: the next probe works");
	is(traces(), '', "$location, unlinkat: and sweeps");
}

# --- the n-th call, whichever it is, until a probe has no more of them

my $lines = sql($node, 'SELECT count(*) FROM ' . probe_of('pg_default', 'pg_test_fsync'));

for my $call (qw(create open pwrite fsync fdatasync))
{
	my ($n, $runs, $clean) = (1, 0, 0);
	my @wrong;

	while (!$clean && $runs++ < 40)
	{
		my ($out, $err, @calls) = with_faults(["$call $n EIO"], <<"SQL");
SELECT count(*), count(*) FILTER (WHERE status = 'error')
FROM sync_probe.probe('pg_default', 'pg_test_fsync', '10 ms', record => false)
SQL
		$clean = !grep { /injected$/ } @calls;
		my $lost = $clean ? 0 : 1;
		push @wrong, "$call $n: $out$err"
		  if $err =~ /^ERROR/
		  ? $out ne '' || $clean
		  || $err !~ /^ERROR:  58030: could not \w+ file $file: Input\/output error\n/
		  : $out ne "$lines|$lost" || $err ne '';
		my $files = probe_files($node);
		push @wrong, "$call $n: $files files are left" if $files;
		my $open = descriptors($session->{pid});
		push @wrong, "$call $n: open are $open" if $open ne '';
		$n = int($n * 1.7) + 1;
	}
	ok($clean, "the n-th $call: clean after $runs runs, n = $n");
	is(join("\n", @wrong), '', "the n-th $call: an error, or one file's row");
}
is(traces(), '', 'the n-th call: no trace is left');

# --- fsync = off is the server's business

is(sql($node, 'SHOW fsync'), 'off', 'fsync is off');
for my $suite (qw(wal pg_test_fsync))
{
	my ($out, $err, @calls) = with_faults([], 'SELECT FROM ' . probe_of('pg_wal', $suite));
	for my $call (qw(fsync fdatasync))
	{
		# more than the laying out of the files: the fsync of each is one
		my %files = map { /^create (\S+) done$/ ? ($1 => 1) : () } @calls;
		my $made = grep { /^$call \S+ done$/ } @calls;
		cmp_ok($made, '>', $call eq 'fsync' ? scalar(keys %files) : 0,
			"fsync = off, $suite: $call is called");
	}
	is(scalar(grep { /^fsync_directory \S+ done$/ } @calls), 1,
		"fsync = off, $suite: the directory, too");
}

$session->quit;
end_tests($node);
