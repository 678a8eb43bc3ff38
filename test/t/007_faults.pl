# System calls that fail, one by one, in a real server: an error of the storage
# before anything could be measured ends the probe with a clean error, one while
# it measures costs the rows of that file and no more, and neither leaves a
# trace.  The faults come from test/fault/fail_calls.c, preloaded into the server.
# What the engine makes of each call that fails is tested by test/unit/test_probe_faults.c.

use SyncProbeTest;

my $control_file = PostgreSQL::Test::Utils::tempdir() . '/fault';
my $log_file = "$control_file.log";
# with fsync = off a probe syncs all the same
my $node =
  probe_cluster('faults', allows_streaming => 1, faults => $control_file, conf => 'fsync = off');

# One backend for nearly everything: it must survive, and lose no descriptor.
my $session = verbose_session($node);

# Runs SQL with faults (text as fail_calls.c takes it); returns output, messages
# and the calls that were made, as the library logged them.  The serial number makes each
# text another one, with which the library begins to count anew.
my $serial = 0;
sub with_faults ($faults, $sql)
{
	write_file($control_file, map { "$_\n" } '# ' . $serial++, @$faults);
	write_file($log_file);
	my ($out, $err) = query($session, $sql);
	my @calls = split /\n/, slurp_file($log_file);
	write_file($control_file, '# ' . $serial++);
	chomp $out;
	$err =~ s/^(?:psql:<stdin>:\d+: |LOCATION: .*\n)//mg;
	return ($out, $err, @calls);
}

sub probe_of ($location, $more = 'record => false')
{
	return "sync_probe.probe('$location', duration => '20 ms', $more)";
}
my $probe = 'SELECT count(*) > 0 FROM ' . probe_of('pg_wal');

# What is left after a probe with a fault, as text.
sub traces { return leftovers($node) . descriptors($session->{pid}) }

sub no_trace_ok ($name, $location)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(traces(), '', "$name: no trace is left");
	my ($out, $err) = query($session,
		"SELECT bool_or(ops > 0) AND bool_and(status <> 'error') FROM " . probe_of($location));
	is($out . $err, "t\n", "$name: the next probe works");
	return;
}

# How many calls are like this.
sub count_of ($like, @calls) { return scalar(grep { /$like/ } @calls) }

# The calls after the (last) injected one.
sub after_injection (@calls)
{
	my @after;
	unshift @after, pop @calls while @calls && $calls[-1] !~ /injected$/;
	return @after;
}

# --- an error that ends the probe
my $file = qr{"(?:pg_wal/xlogtemp\.\d+\.sync_probe
	|base/pgsql_tmp/pgsql_tmp_sync_probe\.\d+)\.\d+"}x;
my $directory = qr/"(?:pg_wal|base\/pgsql_tmp)"/;

# The files that a probe creates: free space is read before all of them, and before each.
my @calls = with_faults([], $probe);
my $files = count_of(qr/^create /, @calls);
is(count_of(qr/^pwritev /, with_faults(['pwritev 3 short'], $probe)),
	1 + count_of(qr/^pwritev /, @calls), 'the rest of a short write follows');

my $no_room = qr/DETAIL:  Needs \d+ [kM]B plus a reserve of \d+ [kMG]B; 0 bytes is available\./;
my $no_space = qr/not enough space at location/;
my $no_reserve = qr/DETAIL:  0 bytes is available, less than the reserve of \d+ [kMG]B\./;

# location, fault, SQLSTATE, message
for (
	[ 'pg_default', 'create 2 EMFILE', '53000',
		qr/could not create file $file: Too many open files/ ],
	[ 'pg_default', 'pwritev 3 EDQUOT', '53100',
		qr/could not write file $file: Disk quota exceeded/ ],
	[ 'pg_wal', 'fsync 3 EIO', '58030', qr/could not fsync file $file: Input\/output error/ ],
	[ 'pg_default', 'fsync_directory 1 EIO', '58030',
		qr/could not fsync directory $directory: Input\/output error/ ],
	[ 'pg_wal', 'fstatvfs 1 EIO', '58030',
		qr/could not determine free space of $directory: Input\/output error/ ],
	[ 'pg_wal', 'fstatvfs 1+ 0MB', '53100', qr/$no_space "pg_wal"\n$no_room/ ],
	[ 'pg_wal', 'fstatvfs 2 0MB', '53100',
		qr/$no_space "pg_wal"\n$no_reserve\nHINT:  .* replication slots/ ],
	# while it measures
	[ 'pg_default', "fstatvfs @{[ $files + 2 ]} 0MB", '53100',
		qr/$no_space "pg_default"\n$no_reserve\nHINT:  .* lower pg_sync_probe/ ])
{
	my ($location, $fault, $state, $message) = @$_;
	my $name = "$location, $fault";
	my ($out, $err, @calls) = with_faults([$fault],
		"SELECT FROM sync_probe.probe('$location', " . LONG_PROBE . ')');

	# what does not fit is tried again with fewer files
	cmp_ok(count_of(qr/injected$/, @calls), $fault =~ /\+/ ? '>=' : '==', 1, "$name: is injected");
	like($err, qr/^ERROR:  $state: $message/, "$name: $state");
	is(count_of(qr/^(?:create|open|pwrite|fsync) /, after_injection(@calls)), 0,
		"$name: nothing is written any more");
	no_trace_ok($name, $location);
}

# Suite segments reads free space before each file that it makes while it measures.
@calls = with_faults([],
	"SELECT FROM sync_probe.probe('pg_wal', 'segments', '500 ms', record => false)");
my $created = count_of(qr/^create /, @calls);
cmp_ok($created, '>', 0, 'segments: files are created');
cmp_ok(count_of(qr/^fstatvfs /, @calls), '>=', $created,
	'segments: free space is read before each');

# --- what pg_wal holds counts: segments of 1 MB, max_wal_size is 64 MB
#
# So that no checkpoint removes them, a slot keeps them.

sql($node, "SELECT pg_create_physical_replication_slot('keeps', true)");
sub wal_segments
{
	return sql($node, "SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}\$'");
}

# The rest of max_wal_size, or the least reserve: four segments.
for ([ 20, 44 ], [ 64, 4 ])
{
	my ($segments, $expected) = @$_;
	my $name = "$segments of 64 MB of WAL";
	my $probe_with_free = sub {
		return with_faults([ "fstatvfs 1+ $_[0]MB" ],
			"SET pg_sync_probe.reserve_percent = 0; $probe");
	};
	sql($node, 'SELECT pg_switch_wal() FROM pg_logical_emit_message(true, $$$$, $$$$)')
	  while wal_segments() < $segments;
	my (undef, $err) = $probe_with_free->($expected);
	my ($needed, $reserve) = map { s/ kB$// ? $_ / 1024 : s/ MB$//r } $err =~
	  /DETAIL:  Needs (\S+ \S+) plus a reserve of (\S+ \S+); \S+ \S+ is available\./ or die $err;
	# the server may have made one more meanwhile
	ok($reserve == $expected || $reserve == $expected - 1 && $segments < 64,
		"$name: the reserve is $reserve MB");
	is(($probe_with_free->($reserve + $needed))[0], 't', "$name: enough");
}
query($session, 'RESET pg_sync_probe.reserve_percent');
sql($node, "SELECT pg_drop_replication_slot('keeps')");
is(traces(), '', 'the reserve of WAL: no trace is left');

# --- nor does the WAL of a workload take the reserve, when it begins and while it runs
sql($node, <<'SQL');
INSERT INTO sync_probe.workloads (workload, script) VALUES ('load', 'SELECT pg_current_xact_id();');
ALTER SYSTEM SET fsync = on;
SQL
$node->reload;
wait_for(sub { (query($session, 'SHOW fsync'))[0] eq "on\n" }) or die;
for my $call (pgbench_sql("'load', clients => 1, duration => '300 s'"),
	"CALL sync_probe.trial('commit_delay', '{50}', '300 s', '1 min', workload => 'load')")
{
	for my $n (1, 9)
	{
		my $name = "$call: fstatvfs $n+ 0MB";
		my ($out, $err, @calls) = with_faults(["fstatvfs $n+ 0MB"], $call);
		like($err, qr/^ERROR:  53100: $no_space "pg_wal"\n$no_reserve/m, "$name: it ends");
		is(count_of(qr/^fstatvfs /, @calls), $n, "$name: when it is first told");
		# of a trial, the watchdog ends later
		wait_for(sub { traces() eq '' });
		no_trace_ok($name, 'pg_wal');
	}
}
sql($node, <<'SQL');
DELETE FROM sync_probe.workloads WHERE workload = 'load';
ALTER SYSTEM RESET fsync;
SQL
$node->reload;

# --- an error that costs rows: direct_io, status and detail of them
my ($out, $err) = with_faults(['pwrite 1+ EIO'], <<"SQL");
SELECT DISTINCT direct_io, status, detail
FROM ${\ probe_of('pg_wal', "label => 'fails'")} WHERE status <> 'unsupported' ORDER BY 1, 2
SQL
like($out, qr/^f\|error\|could not pwrite file: Input\/output error(?!\nf)/,
	'a file fails: the rows') or diag($err);
no_trace_ok('a file fails', 'pg_wal');
let_runs_count($node);
($out, $err) = query($session, <<'SQL');
SELECT (SELECT label FROM sync_probe.runs r WHERE r.run_id = v.run_id), verdict, reason
FROM sync_probe.recommendation_details v WHERE location = 'pg_wal'
SQL
like($out, qr/^fails\|\w+\|.+/, 'recommendations rest on a run without a measurement');
is($err, '', 'and say nothing else');

# --- files that cannot be removed
my $cannot = qr/WARNING:  58030: could not remove file $file: Input\/output error/;
($out, $err) = with_faults(['unlinkat 2 EIO'], $probe);
is($out, 't', 'unlinkat: the probe does not fail');
like($err, $cannot, 'unlinkat: a warning');
is(scalar(probe_files($node)), 1, 'unlinkat: one file is left');

($out, $err) = with_faults(['unlinkat 1+ EIO'], 'SELECT sync_probe.cleanup()');
is($out, 0, 'cleanup() does not count what it cannot remove');
like($err, $cannot, 'cleanup() warns');
is((query($session, 'SELECT sync_probe.cleanup()'))[0], "1\n", 'the next cleanup() can');
query($session, "SET statement_timeout = '4s'");
(undef, $err) = with_faults([ 'unlinkat 1 stall', 'unlinkat 2 EIO' ], $probe);
like($err, qr/$cannot.*ERROR:  57014/s, 'a timeout while files are removed');
is(probe_files($node) . descriptors($session->{pid}), '1', 'leaves no other file');
query($session, 'RESET statement_timeout; SELECT sync_probe.cleanup()');

# the error that ended it is the one that is told
($out, $err) = with_faults([ 'fsync 2 EIO', 'unlinkat 1+ EIO' ], $probe);
like($err, $cannot, 'two faults: a warning');
like($err, qr/ERROR:  58030: could not fsync file $file/, 'two faults: the first error');
my @in_the_way = probe_files($node);
is(scalar(@in_the_way), 2, 'two faults: both files are left');

# the same backend, so the same names; files come in another order each time
($out, $err) = with_faults(['unlinkat 1+ EIO'], $probe);
like($err, qr/ERROR:  58P02: could not create file $file: File exists/,
	'what is in the way is not overwritten');
my %there = map { $_ => 1 } probe_files($node);
is(join(' ', grep { !$there{$_} } @in_the_way), '', 'it is still there');
query($session, $probe);
no_trace_ok('the next probe sweeps them', 'pg_wal');

$session->quit;
end_tests($node);
