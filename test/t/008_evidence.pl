# What the device's counters say of a sync, on file systems whose syncs reach the
# device, do not, or cannot be told: those of SP_TEST_FILESYSTEMS, and those of
# SP_TEST_EVIDENCE ("nobarrier=/path write_through=/path ...", see
# script/filesystems.sh).
#
# The machine may be busy, and others' flushes can hide what a probe looks for:
# then "unknown" is the right answer, and a probe is repeated until it can tell.
# What must never be seen is a false yes, or a false alarm.

use FindBin;
use lib $FindBin::RealBin;
use File::Path qw(rmtree);
use SyncProbeTest;

my %place = prepared_filesystems(qw(SP_TEST_FILESYSTEMS SP_TEST_EVIDENCE));

use constant STEP_SECONDS => $PostgreSQL::Test::Utils::timeout_default;
use constant TRIES => 10;

# Statements on a session of their own, all within STEP_SECONDS; dies if not: a file system in user
# space (zfs-fuse) can hang.
sub answer
{
	my ($node, $sql, %psql) = @_;
	return sql($node,
		"SET client_min_messages = error; SET statement_timeout = '" . STEP_SECONDS . "s'; $sql",
		timeout => STEP_SECONDS + 10, %psql);
}

sub probe
{
	my ($node, $location, $duration, @more) = @_;
	answer($node, "SELECT FROM sync_probe.probe(" . join(', ', "'$location'",
		"duration => '$duration'", @more) . ')');
	let_runs_count($node);
	return;
}

# What the newest run says: durable, verdict, recommended_method and commands.
sub advice
{
	my ($node, $location) = @_;
	return answer($node, <<"SQL");
SELECT durable, verdict, recommended_method, array_to_string(commands, '; ')
FROM sync_probe.recommendation_details WHERE location = '$location'
SQL
}

# An expression on the row of one finding; nothing where there is no such finding.
sub finding
{
	my ($node, $location, $code, $expression) = @_;
	return answer($node, "SELECT $expression FROM sync_probe.findings"
		  . " WHERE location = '$location' AND code = '$code'");
}

# An expression on the newest run, its measurements being m.
sub measured
{
	my ($node, $location, $expression) = @_;
	return answer($node, <<"SQL");
SELECT $expression
FROM (SELECT * FROM sync_probe.runs WHERE location = '$location' ORDER BY run_id DESC LIMIT 1) r
JOIN sync_probe.measurements m USING (run_id)
WHERE m.ops > 0
SQL
}

# A command on a file system that can hang, and this process with it.
sub bounded
{
	IPC::Run::run([ 'timeout', '-k', 5, STEP_SECONDS, @_ ]) or die "failed or timed out: @_";
	return;
}

sub make_place
{
	my ($node, $name) = @_;
	my $directory = "$place{$name}/evidence";
	bounded('mkdir', $directory);
	answer($node, "CREATE TABLESPACE on_$name LOCATION '$directory'");
	return $directory;
}

# Location and rows of both suites are as they may be: a refusal is for O_DIRECT alone, and a row is
# ok if and only if it has operations.
sub rows_ok
{
	my ($node, $name, $filesystem) = @_;
	like(answer($node, "SELECT filesystem FROM sync_probe.locations WHERE name = 'on_$name'"),
		$filesystem, "$name: locations names it");
	is(answer($node, <<"SQL"), 't|t|t', "$name: the rows of $_") for qw(wal pg_test_fsync);
SELECT count(*) > 5 AND bool_or(status = 'ok'), bool_and((status = 'ok') = (coalesce(ops, 0) > 0)),
    bool_and(status IN ('ok', 'unsupported') OR status = 'no_direct_io' AND direct_io)
FROM sync_probe.probe('on_$name', '$_', duration => '1 s', record => false)
SQL
	is(leftovers($node), '', "$name: nothing is left");
	return;
}

# --------------------------------------------------- one probe of each place

# durable is what is waited for (yes unless it is given), every_run what each run must say
# meanwhile.  least and most are bounds of flushes_per_op, of all methods; usual is the upper one of fdatasync,
# which sends one flush, and kernel threads may add a few.  Findings that are there, and are not.
my $not_unsafe = qr/^(yes|no_cache|unknown)\|(?!unsafe)/;
my @places = (
	{ place => 'ext4', usual => 1.6, has => 'write_cache_volatile loop_device',
		lacks => 'flush_missing barrier_off memory_filesystem' },
	{ place => 'xfs', has => 'write_cache_volatile loop_device',
		lacks => 'flush_missing barrier_off' },
	{ place => 'btrfs', has => 'write_amplification loop_device',
		lacks => 'flush_missing barrier_off',
		evidence => [ 'write_amplification', "(evidence->>'amplification')::float8 > 4" ] },
	{ place => 'nobarrier', durable => 'no', every_run => qr/^no\|unsafe\|\|$/, most => 0.1,
		reason => qr/syncs with \w+ do not reach the device/, has => 'barrier_off loop_device',
		lacks => 'flush_missing memory_filesystem',
		evidence => [ 'barrier_off',
			"severity = 'error' AND evidence->'also_found' ? 'flush_missing'" ] },
	{ place => 'write_through', durable => 'unknown', every_run => qr/^unknown\|(?!unsafe)/,
		most => 0.1, has => 'loop_device',
		lacks => 'flush_missing barrier_off write_cache_volatile' },
	# the kernel counts flushes though its statistics are off
	{ place => 'no_iostats', usual => 1.6, has => 'counters_unknown loop_device',
		lacks => 'flush_missing', unknown => 'm.device_bytes_per_op, m.device_utilization',
		evidence => [ 'counters_unknown', "message ~ 'only its flushes are counted'" ] },
	{ place => 'tmpfs', durable => 'no', every_run => qr/^no\|unsafe\|\|$/, reason => qr/tmpfs/,
		has => 'memory_filesystem', lacks => 'flush_missing device_unknown counters_unknown',
		unknown => 'm.flushes_per_op, m.device_bytes_per_op, m.device_utilization' });

sub test_place
{
	my ($node, $row) = @_;
	my ($name, $durable) = ($row->{place}, $row->{durable} // 'yes');
	my $location = "on_$name";
	my @said;
	rows_ok($node, $name, $name =~ /^(?:xfs|btrfs|tmpfs)$/ ? qr/^$name$/ : qr/^ext4$/);

	# longer ones find more of what others' flushes on the disk below hide
	for my $n (1 .. TRIES)
	{
		probe($node, $location, (2 + $n * ($n - 1) / 4) . ' s');
		push @said, advice($node, $location);
		last if $said[-1] =~ /^$durable\|/;
	}
	like($_, $row->{every_run} // $not_unsafe, "$name: each run says so") for @said;
	my $below = measured($node, $location, <<'SQL');
DISTINCT (SELECT string_agg(d->>'name', ' ') FROM jsonb_array_elements(storage->'disks') d
          WHERE d ? 'below' AND d->>'write_cache' IS DISTINCT FROM 'write back')
SQL
  SKIP:
	{
		skip "$name: $below below takes no flushes, so nothing can prove that they arrive", 1
		  if $durable eq 'yes' && $below ne '';
		like($said[-1], qr/^$durable\|/, "$name: durable is $durable, after " . @said . ' probes')
		  or diag(measured($node, $location,
			'm.ordinal, m.test, m.method, m.mean_us, m.flushes_per_op, r.storage'));
	}
	like(answer($node, 'SELECT reason FROM sync_probe.recommendation_details'
			  . " WHERE location = '$location'"), $row->{reason}, "$name: the reason")
	  if $row->{reason};
	test_measurements($node, $row, $durable);
	is(finding($node, $location, $_, 'count(*)'), 1, "$name: finding $_") for split / /, $row->{has};
	is(finding($node, $location, $_, 'count(*)'), 0, "$name: no finding $_")
	  for split / /, $row->{lacks};
	my ($code, $evidence) = @{ $row->{evidence} // [] };
	is(finding($node, $location, $code, $evidence), 't', "$name: evidence of $code") if $code;
	return;
}

sub test_measurements
{
	my ($node, $row, $durable) = @_;
	my ($name, $location) = ($row->{place}, "on_$row->{place}");
	my @limits = (
		$durable eq 'yes' ? 'm.flushes_per_op >= 0.9' : (),
		$row->{most} ? "m.flushes_per_op < $row->{most}" : (),
		$row->{usual} ? "m.flushes_per_op < $row->{usual} OR m.method <> 'fdatasync'" : (),
		# the kernel counts whole milliseconds, of which a few fast writes take none
		$row->{unknown} ? "num_nonnulls($row->{unknown}) = 0"
		: ('m.device_bytes_per_op >= 0.9 * 8192', 'm.device_utilization BETWEEN 0 AND 1'));

	is(measured($node, $location, "bool_and($_)"), 't', "$name: $_")
	  or diag(measured($node, $location, 'm.test, m.method, m.direct_io, m.ops, m.flushes_per_op'))
	  for @limits;
	is(measured($node, $location, 'max(m.device_utilization) > 0'), 't', "$name: flushes keep it busy")
	  if $durable eq 'yes' && !$row->{unknown};
	return;
}

my $node = probe_cluster('evidence', allows_streaming => 1);
my %directory;
for my $row (@places)
{
  SKIP:
	{
		skip "$row->{place}: no such file system was prepared", 1 unless $place{ $row->{place} };
		$directory{ $row->{place} } = make_place($node, $row->{place});
		test_place($node, $row);
	}
}

# ------------------------------------------------- others use the same device

# Programs of Perl that sync on and on, once they said that they do; they end by
# themselves should nobody end them.
use constant OTHERS_LAST => 5 * STEP_SECONDS;
my %others = (
	appends => 'open my $f, ">", shift or die $!; for (;;) { truncate $f, 0 if sysseek($f, 0, 1) >'
		  . ' 2 ** 24; syswrite $f, "x" x 8192; sync_it($f) }',
	flushes => 'open my $f, "<", shift or die $!; for (;;) { sync_it($f) }');

sub start_others
{
	my ($count, $program, $path) = @_;
	my $start = 'use IO::Handle; alarm ' . OTHERS_LAST . '; $| = 1; my $n = 0;'
	  . 'sub sync_it { $_[0]->sync or die "sync: $!"; print "syncing\n" unless $n++ }';
	my @handles;
	for my $n (1 .. $count)
	{
		my $out = '';
		my $handle = IPC::Run::start([ $^X, '-e', "$start $others{$program}",
			$path . ($program eq 'appends' ? ".$n" : '') ],
			'>', \$out, IPC::Run::timeout(STEP_SECONDS));
		$handle->pump until $out =~ /syncing/;
		push @handles, $handle;
	}
	return @handles;
}

sub end_others
{
	for my $handle (@_)
	{
		$handle->signal('KILL');
		eval { $handle->finish };
	}
	return;
}

# Others can hide a missing flush, but never make one look safe: not even in writes that take as
# long as several of their flushes, and with hardly a rest in between.
my $unsafe = qr/^(no\|unsafe\|\|$|unknown\|(?!unsafe))/;
my %may_be = (ext4 => $not_unsafe, nobarrier => $unsafe);

# Where, what the others do, how many at a time, and with which arguments a probe runs beside them:
# until it has seen them, as there is little time to listen to them on a busy machine.
for (
	[ 'ext4', 'appends', [ 1, 2 ] ],
	[ 'ext4', 'flushes', [1] ],
	[ 'nobarrier', 'flushes', [ 1, 2, 4 ] ],
	[ 'nobarrier', 'flushes', [ 1, 2 ], 'flush_size => 1048576' ],
	[ 'nobarrier', 'flushes', [ 2, 4 ], 'flush_size => 1048576', "flush_interval => '500 us'" ])
{
	my ($place, $program, $counts, @arguments) = @$_;
	my $location = "on_$place";
	my $path = $program eq 'flushes' ? $place{"${place}_device"}
	  : $directory{$place} ? "$directory{$place}/others" : undef;
  SKIP:
	{
		skip "$place, another $program: no such file system was prepared", 1
		  unless $directory{$place} && $path;
		for my $count (@$counts)
		{
			my $name = join ', ', $place, "another $program", @arguments, $count;
			my @handles = start_others($count, $program, $path);
			my $seen = '';
			for (1 .. TRIES)
			{
				probe($node, $location, '1 s', @arguments);
				my $said = advice($node, $location);
				like($said, $may_be{$place}, "$name: durable") or diag(measured($node, $location,
					"m.test, m.method, m.mean_us, m.flushes_per_op, r.storage->'others'"));
				my $code = $said =~ /^unknown/ ? 'durable_unknown' : 'counters_shared';
				$seen = finding($node, $location, $code,
					"(evidence #>> '{others,flushes_per_sec}')::float8 > 0");
				last if $seen eq 't';
			}
			is($seen, 't', "$name: others were seen");
			end_others(@handles);
		}
	}
}

# ------------------------------------------------ a busy server, same device

# A server whose WAL lies on the place, with pgbench on it.  Control windows tell what is ours;
# where the machine is too busy, it takes some probes.
for ([ 'ext4', 'yes' ], [ 'nobarrier', 'no' ])
{
	my ($place, $durable) = @$_;
	my $name = "$place, beside a busy server";
  SKIP:
	{
		skip "$name: no such file system was prepared", 1 unless $directory{$place};
		my $busy = PostgreSQL::Test::Cluster->new("busy_$place");
		$busy->init(extra => [ '--waldir', "$place{$place}/busy_wal" ]);
		$busy->append_conf('postgresql.conf', "fsync = on\nmax_wal_size = 200MB");
		$busy->start;
		$busy->command_ok([ 'pgbench', '-i', '-q', '-s', '2', 'postgres' ],
			"$name: pgbench is ready");
		my $pgbench = IPC::Run::start([ 'pgbench', '-h', $busy->host, '-p', $busy->port, '-n', '-c',
				'8', '-j', '2', '-T', OTHERS_LAST, 'postgres' ], '>', \my $out, '2>', \my $err);
		$busy->poll_query_until('postgres', 'SELECT count(*) > 100 FROM pgbench_history')
		  or die "$place: pgbench does not run";
		my $said;
		for my $n (1 .. TRIES)
		{
			probe($node, "on_$place", '5 s');
			$said = advice($node, "on_$place");
			like($said, $may_be{$place}, "$name: probe $n");
			last if $said =~ /^$durable\|/;
		}
		my $below = measured($node, "on_$place", "DISTINCT r.storage->>'below_write_cache'");
		$durable = 'no_cache' if $durable eq 'yes' && $below eq 'write through';
		like($said, qr/^$durable\|/, "$name: durable is $durable")
		  or diag(measured($node, "on_$place",
			'm.ordinal, m.test, m.method, m.mean_us, m.flushes_per_op, r.storage'));
		is(measured($node, 'on_ext4', <<'SQL'), 't|t', "$name: with control windows, all is seen")
bool_and((r.storage #>> '{others,control_windows}')::int > 0), bool_and(
    (r.storage->'lacking_share'->>m.ordinal::text)::float8 <= 0.05) FILTER (WHERE m.test = 'paced')
SQL
		  if $place eq 'ext4';
		end_others($pgbench);
		$busy->stop('immediate');
		rmtree($busy->data_dir . '/pg_wal');
	}
}

# --------------------------------------------------------- without a record

# Of what could not be recorded the session itself knows what lay there.
SKIP:
{
	skip 'a read-only transaction: no file system without barriers', 1 unless $directory{nobarrier};
	like(answer($node, <<'SQL'), qr/^on_nobarrier\|no\|unsafe\|$/m,
SET default_transaction_read_only = on;
SELECT location, durable, verdict, recommended_method
FROM sync_probe.probe_all(duration => '300 ms')
SQL
		'a read-only transaction: probe_all() knows what is durable');
	is(answer($node, <<'SQL'), 't|t', 'record => false: the facts');
SELECT storage->>'mount_options' ~ 'nobarrier|barrier=0', jsonb_array_length(storage->'disks') > 0
FROM sync_probe_internal.probe_run('on_nobarrier', 'wal', duration => '100 ms', record => false)
SQL
}

# ------------------------------------------------------------ less privileged

answer($node, <<'SQL');
CREATE ROLE prober LOGIN;
GRANT EXECUTE ON FUNCTION sync_probe.probe TO prober;
SQL
probe($node, 'pg_wal', '100 ms');
answer($node, "SELECT FROM sync_probe.probe(duration => '100 ms')",
	extra_params => [ '-U', 'prober' ]);
is(answer($node, <<'SQL'), '1|2', 'a role that may only probe records the same facts');
SELECT count(DISTINCT (storage->'disks', storage->'source', storage->'mount_options')),
    count(storage->'disks')
FROM (SELECT storage FROM sync_probe.runs WHERE location = 'pg_wal' ORDER BY run_id DESC LIMIT 2) s
SQL

# Of several tablespaces on a file system, probe_all() takes one that the role may use.
SKIP:
{
	skip 'no file system of its own in memory', 1 unless $directory{tmpfs};
	mkdir "$place{tmpfs}/allowed" or die "could not make a directory: $!";
	add_tablespace($node, 'z_allowed', "$place{tmpfs}/allowed");
	answer($node, <<'SQL');
GRANT pg_monitor TO prober;
GRANT EXECUTE ON FUNCTION sync_probe.probe_all TO prober;
GRANT CREATE ON TABLESPACE z_allowed TO prober;
SQL
	my (undef, $out, $err) = $node->psql('postgres',
		"SELECT string_agg(location, ' ') FROM sync_probe.probe_all(duration => '20 ms')",
		extra_params => [ '-U', 'prober' ]);
	is($out, 'pg_wal z_allowed', 'probe_all() takes the tablespace that the role may use');
	unlike($err, qr/WARNING:.*(?:z_allowed|on_tmpfs)/, 'and warns of neither');
	answer($node, 'DROP TABLESPACE z_allowed');
	rmdir "$place{tmpfs}/allowed";
}

# A stream in memory: there is no device to ask.
SKIP:
{
	skip 'no file system of its own in memory', 1 unless $directory{tmpfs};
	is(answer($node, <<'SQL') =~ s/^\n+//r, 't|t|0', 'a stream in memory: no device did anything');
SELECT FROM sync_probe.probe('on_tmpfs', 'stream', duration => '300 ms') WHERE run_id IS NULL;
SELECT count(*) > 0, sum(bytes) > 0, count(coalesce(device_bytes, device_flushes))
FROM sync_probe.stream_seconds
SQL
}

# -------------------------------------------------------- nothing stays open

my $counted = $directory{ext4} ? 'on_ext4' : 'pg_wal';
my $session = session($node);
for my $n (0 .. 7)
{
	start_query($session, "SELECT FROM sync_probe.probe('$counted', " . LONG_PROBE . ')');
	$n < 2 ? wait_phase($node, $session, 'measuring') : wait_active($node, $session);
	sleep 0.02 * $n;
	like(descriptors($session->{pid}), qr{^/sys/.*/stat$}m,
		"$counted is measured: its counters are open") if $n < 2 && $directory{ext4};
	sql($node, "SELECT pg_cancel_backend($session->{pid})");
	like((finish_query($session))[1], qr/canceling statement/, "cancelled, $n: the client was told");
	is(descriptors($session->{pid}), '', "cancelled, $n: nothing stays open");
}
# Each fails when the counters are open, or just before.
for (
	[ 'temp_file_limit = 1000', qr/exceeds temp_file_limit/ ],
	[ 'pg_sync_probe.reserve_percent = 100', qr/not enough space/ ])
{
	my ($setting, $says) = @$_;
	query($session, "SET $setting");
	like((query($session, "SELECT FROM sync_probe.probe('$counted')"))[1], $says, "$setting: fails");
	is(descriptors($session->{pid}), '', "$setting: nothing stays open");
	query($session, 'RESET ALL');
}
$session->quit;

# ----------------------------------------------------- names of any characters

SKIP:
{
	my ($name, $odd) = ('a mount with an odd name', 'odd "name\\ ?(');
	skip "$name: none was prepared", 1 unless $place{odd_name};
	$directory{odd_name} = make_place($node, 'odd_name');
	probe($node, 'on_odd_name', '200 ms');
	is(answer($node, "SELECT filesystem, strpos(mount_point, '$odd') > 0 FROM sync_probe.locations"
		  . " WHERE name = 'on_odd_name'"), 'ext4|t', "$name: locations");
	is(measured($node, 'on_odd_name', "DISTINCT strpos(r.storage->>'backing_file', '$odd') > 0"),
		't', "$name: facts");
	is(finding($node, 'on_odd_name', 'loop_device',
		"strpos(evidence->>'backing_file', '$odd') > 0 AND strpos(message, '$odd') > 0"),
		't', "$name: a finding names it");
}

# ------------------------------------------------------- the suite of the tool

SKIP:
{
	skip 'pg_test_fsync: no ext4', 1 unless $directory{ext4};
	is(answer($node, <<'SQL'), 't|t', 'pg_test_fsync: flushes of what syncs, and of nothing else');
SELECT bool_and(flushes_per_op >= 0.9) FILTER (WHERE test IN ('one_write', 'two_writes',
    'open_sync_sizes')),
       bool_and(flushes_per_op < 0.1) FILTER (WHERE test = 'unsynced_write')
FROM sync_probe.probe('on_ext4', 'pg_test_fsync', duration => '2 s', record => false) WHERE ops > 0
SQL
}

is(leftovers($node), '', 'nothing is left');
# the next test finds the places as they were
for my $name (keys %directory)
{
	answer($node, "DROP TABLESPACE on_$name");
	rmtree($directory{$name});
}
$node->stop('fast', fail_ok => 1);
log_ok($node);

# ------------------------------------------ pg_wal there, and a standby's, too

SKIP:
{
	skip 'pg_wal without barriers: no such file system was prepared', 1 unless $place{nobarrier};
	my $moved = probe_cluster('wal_without_barriers', allows_streaming => 1,
		extra => [ '--waldir', "$place{nobarrier}/wal" ]);
	probe($moved, 'pg_wal', '1 s');
	is(advice($moved, 'pg_wal'), 'no|unsafe||', 'pg_wal without barriers: unsafe, and no command');
	is(finding($moved, 'pg_wal', 'barrier_off',
			"severity || ' ' || (evidence->'also_found' ? 'flush_missing')"),
		'error true', 'pg_wal without barriers: barrier_off says it all');

	$moved->backup('backup');
	my $standby = PostgreSQL::Test::Cluster->new('standby_without_barriers');
	$standby->init_from_backup($moved, 'backup', has_streaming => 1);
	my ($from, $to) = ($standby->data_dir . '/pg_wal', "$place{nobarrier}/standby_wal");
	system_or_bail('mv', $from, $to);
	symlink $to, $from or die "could not link $from: $!";
	$standby->start;
	is(answer($standby, "SELECT location, durable, verdict, recommended_method"
		  . " FROM sync_probe.probe_all(duration => '500 ms') WHERE location = 'pg_wal'"),
		'pg_wal|no|unsafe|', 'a standby: probe_all() knows what is durable');
	$standby->stop('immediate', fail_ok => 1);
	$moved->stop('immediate', fail_ok => 1);
	log_ok($_) for $standby, $moved;
	rmtree([ $to, "$place{nobarrier}/wal" ]);
}

# -------------------------------------------------------------------- ZFS

# Last, and in a cluster of its own, as ZFS in user space can hang: that is a
# skip with its reason.
sub test_zfs
{
	my ($zfs) = @_;
	make_place($zfs, 'zfs');
	rows_ok($zfs, 'zfs', qr/^(zfs|fuse\b.*)$/);
	probe($zfs, 'on_zfs', '2 s');
	note 'zfs: ', advice($zfs, 'on_zfs'), ' ', measured($zfs, 'on_zfs', 'DISTINCT r.storage');
	is(measured($zfs, 'on_zfs',
		"DISTINCT r.storage #>> '{zfs,dataset}' ~ '^sync_probe_[0-9]+\$', r.storage #>>"
		  . " '{zfs,pool}' = r.storage #>> '{zfs,dataset}'"),
		't|t', 'zfs: data set and pool are named');
	is(finding($zfs, 'on_zfs', 'zfs_unknown', 'count(*)'), 1, 'zfs: what is not known is said');
	if ($place{zfs_tools})
	{
		is(measured($zfs, 'on_zfs',
			"DISTINCT r.storage #>> '{zfs,data_devices,0}' ~ '/zfs[.]img\$', (r.storage #>>"
			  . " '{zfs,recordsize}')::int > 0"), 't|t', 'zfs: device and record size are known');
		is(finding($zfs, 'on_zfs', 'zfs_log_on_main_pool', 'count(*)'), 1,
			'zfs: finding zfs_log_on_main_pool');
	}
	else
	{
		like(finding($zfs, 'on_zfs', 'zfs_unknown', 'message'), qr/zfs get exited/, 'zfs: and why');
	}
	is(finding($zfs, 'on_zfs', $_, 'count(*)'), 0, "zfs: no finding $_")
		for qw(zfs_sync_disabled flush_missing device_unknown);
	# zfs-fuse does not know the property
	like(advice($zfs, 'on_zfs'), qr/^(yes|unknown)\|(?!unsafe)/,
		'zfs: a property that is not told is no alarm');
	answer($zfs, 'DROP TABLESPACE on_zfs');
	bounded('rmdir', "$place{zfs}/evidence");
	return;
}

SKIP:
{
	skip 'zfs: no such file system was prepared', 1 unless $place{zfs};
	my $zfs = probe_cluster('zfs_evidence');
	my $ended = eval { test_zfs($zfs); 1 };
	my $error = $@;
	$zfs->stop('immediate', fail_ok => 1);
	die $error unless $ended || $error =~ /timeout|timed out/;
	skip "zfs: did not end in " . STEP_SECONDS . " seconds: $error", 1 unless $ended;
	log_ok($zfs);
}

done_testing();
