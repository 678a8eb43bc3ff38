# What the device's counters say of a sync, on file systems whose syncs reach the
# device, do not, or cannot be told: those of SP_TEST_FILESYSTEMS, and those of
# SP_TEST_EVIDENCE ("nobarrier=/path write_through=/path ...", see
# script/filesystems.sh).
#
# The machine may be busy, and others' flushes can hide what a probe looks for:
# then "unknown" is the right answer, and a probe is repeated until it can tell.
# What must never be seen is a false yes, or a false alarm.

use File::Path qw(rmtree);
use SyncProbeTest;

my %place = map { split /=/, $_, 2 }
  map { split ' ', $ENV{$_} // '' } qw(SP_TEST_FILESYSTEMS SP_TEST_EVIDENCE);

use constant STEP_SECONDS => $PostgreSQL::Test::Utils::timeout_default;
use constant TRIES => 10;

# Statements on a session of their own, all within STEP_SECONDS; dies if not: a file system in user
# space (zfs-fuse) can hang.
sub answer ($node, $sql)
{
	return $node->safe_psql('postgres',
		"SET client_min_messages = error; SET statement_timeout = '" . STEP_SECONDS . "s'; $sql",
		timeout => STEP_SECONDS + 10);
}

sub probe ($node, $location, $duration, @more)
{
	answer($node, "SELECT FROM sync_probe.probe(" . join(', ', "'$location'",
		"duration => '$duration'", @more) . ')');
	let_runs_count($node);
	return;
}

# What the newest run says: durable, verdict, recommended_method and commands.
sub advice ($node, $location)
{
	return answer($node, <<"SQL");
SELECT durable, verdict, recommended_method, array_to_string(commands, '; ')
FROM sync_probe.recommendation_details WHERE location = '$location'
SQL
}

# An expression on the newest run, its measurements being m, and what the device did for them d.
sub measured ($node, $location, $expression)
{
	return answer($node, <<"SQL");
SELECT $expression
FROM (SELECT * FROM sync_probe.runs WHERE location = '$location' ORDER BY run_id DESC LIMIT 1) r
JOIN sync_probe.measurements m USING (run_id),
LATERAL (SELECT (r.storage #>> ARRAY['device_bytes_per_op', m.ordinal::text])::float8 AS bytes,
                (r.storage #>> ARRAY['device_utilization', m.ordinal::text])::float8 AS busy) d
WHERE m.ops > 0
SQL
}

# A command on a file system that can hang, and this process with it.
sub bounded
{
	IPC::Run::run([ 'timeout', '-k', 5, STEP_SECONDS, @_ ]) or die "failed or timed out: @_";
	return;
}

# A tablespace on a file system, by default the one of that name; returns its directory.
sub make_place ($node, $name, $where = $name)
{
	my $directory = "$place{$where}/$name";
	bounded('mkdir', $directory);
	answer($node, "CREATE TABLESPACE on_$name LOCATION '$directory'");
	return $directory;
}

# locations names the file system; of the rows of a probe a refusal is for O_DIRECT alone, and a row
# is ok if and only if it has operations.
sub rows_ok ($node, $name, $filesystem)
{
	like(answer($node, "SELECT filesystem FROM sync_probe.locations WHERE name = 'on_$name'"),
		$filesystem, "$name: locations names it");
	is(answer($node, <<"SQL"), 't|t|t', "$name: the rows");
SELECT count(*) > 5 AND bool_or(status = 'ok'), bool_and((status = 'ok') = (coalesce(ops, 0) > 0)),
    bool_and(status IN ('ok', 'unsupported') OR status = 'no_direct_io' AND direct_io)
FROM sync_probe.probe('on_$name', 'pg_test_fsync', duration => '1 s', record => false)
SQL
	return;
}

# --------------------------------------------------- one probe of each place

# What each run may say where syncs reach the device.
my $not_unsafe = qr/^(yes|no_cache|unknown)\|(?!unsafe)/;

# Of all methods; the kernel counts whole milliseconds, of which a few fast writes take none.
my $counted = 'd.bytes >= 0.9 * 8192 AND d.busy BETWEEN 0 AND 1';
my $synced = "bool_and($counted AND m.flushes_per_op >= 0.9) AND max(d.busy) > 0";
# fdatasync sends one flush, and kernel threads may add a few
my $one_flush = "bool_and(m.flushes_per_op < 1.6) FILTER (WHERE m.method = 'fdatasync')";
my $not_synced = "bool_and($counted AND m.flushes_per_op < 0.1)";

# durable is what is waited for, every_run what each run must say meanwhile; what the counters say
# of each case, and the findings, of those that are the same on each machine.
my @codes = qw(barrier_off counters_unknown flush_missing loop_device memory_filesystem);
my @places = (
	(map { { place => $_, durable => 'yes', every_run => $not_unsafe, codes => 'loop_device',
		counters => $_ eq 'ext4' ? "$synced AND $one_flush" : $synced } } qw(ext4 xfs btrfs)),
	{ place => 'nobarrier', durable => 'no', every_run => qr/^no\|unsafe\|\|$/,
		counters => $not_synced, codes => 'barrier_off loop_device' },
	{ place => 'write_through', durable => 'unknown', every_run => qr/^unknown\|(?!unsafe)/,
		counters => $not_synced, codes => 'loop_device' },
	# the kernel counts flushes though its statistics are off
	{ place => 'no_iostats', durable => 'yes', every_run => $not_unsafe,
		counters => "bool_and(m.flushes_per_op >= 0.9) AND $one_flush"
		  . ' AND count(coalesce(d.bytes, d.busy)) = 0',
		codes => 'counters_unknown loop_device' },
	{ place => 'tmpfs', durable => 'no', every_run => qr/^no\|unsafe\|\|$/,
		counters => 'count(coalesce(m.flushes_per_op, d.bytes, d.busy)) = 0',
		codes => 'memory_filesystem' });

# Probes until durable is known: longer ones find more of what others' flushes hide.
sub probe_until ($node, $name, $place, $durable, $every_run, @arguments)
{
	my $said;
	for my $n (1 .. TRIES)
	{
		probe($node, "on_$place", (2 + $n * ($n - 1) / 4) . ' s', @arguments);
		$said = advice($node, "on_$place");
		like($said, $every_run, "$name: probe $n");
		last if $said =~ /^$durable\|/;
	}
	my $below = measured($node, "on_$place", <<'SQL');
DISTINCT (SELECT string_agg(d->>'name', ' ') FROM jsonb_array_elements(storage->'disks') d
          WHERE d ? 'below' AND d->>'write_cache' IS DISTINCT FROM 'write back')
SQL
  SKIP:
	{
		skip "$name: $below below takes no flushes, so nothing can prove that they arrive", 1
		  if $durable eq 'yes' && $below ne '';
		like($said, qr/^$durable\|/, "$name: durable is $durable")
		  or diag(measured($node, "on_$place",
			'm.ordinal, m.test, m.method, m.mean_us, m.flushes_per_op, r.storage'));
	}
	return;
}

my $node = probe_cluster('evidence', allows_streaming => 1);
my %directory;
for my $row (@places)
{
	my $name = $row->{place};
  SKIP:
	{
		skip "$name: no such file system was prepared", 1 unless $place{$name};
		$directory{$name} = make_place($node, $name);
		rows_ok($node, $name, $name =~ /^(?:xfs|btrfs|tmpfs)$/ ? qr/^$name$/ : qr/^ext4$/);
		probe_until($node, $name, $name, @$row{qw(durable every_run)});
		is(measured($node, "on_$name", $row->{counters}), 't', "$name: $row->{counters}")
		  or diag(measured($node, "on_$name",
			'm.test, m.method, m.direct_io, m.ops, m.flushes_per_op'));
		is(answer($node, <<"SQL"), $row->{codes}, "$name: findings");
SELECT string_agg(code, ' ' ORDER BY code) FROM sync_probe.findings
WHERE location = 'on_$name' AND code = ANY ('{@{[ join ',', @codes ]}}')
SQL
	}
}

# ------------------------------------------------- others use the same device

# They can hide a missing flush, but never make one look safe: in writes that take as long as
# several of their flushes, with hardly a rest in between.
SKIP:
{
	my $name = 'nobarrier, beside others';
	skip "$name: no such file system was prepared", 1
	  unless $directory{nobarrier} && $place{nobarrier_device};
	# these flush the device on and on, and end by themselves should nobody end them
	my $program = 'use IO::Handle; alarm ' . 5 * STEP_SECONDS
	  . '; open my $f, "<", shift or die; for (;;) { $f->sync or die }';
	my @others = map { IPC::Run::start([ $^X, '-e', $program, $place{nobarrier_device} ]) } 1 .. 4;
	my $seen = '';
	# on a busy machine there is little time to listen to them
	for (1 .. TRIES)
	{
		probe_until($node, $name, 'nobarrier', '(?:no|unknown)',
			qr/^(no\|unsafe\|\|$|unknown\|(?!unsafe))/,
			'flush_size => 1048576', "flush_interval => '500 us'");
		$seen = measured($node, 'on_nobarrier',
			"DISTINCT (r.storage #>> '{others,flushes_per_sec}')::float8 > 0");
		last if $seen eq 't';
	}
	is($seen, 't', "$name: they were seen");
	$_->kill_kill for @others;
}

# ------------------------------------------------------------------ in memory

# Of several tablespaces on a file system, probe_all() takes one that the role may use.  A stream
# has no device to ask.
SKIP:
{
	skip 'no file system of its own in memory', 1 unless $directory{tmpfs};
	$directory{z_allowed} = make_place($node, 'z_allowed', 'tmpfs');
	answer($node, <<'SQL');
CREATE ROLE prober LOGIN IN ROLE pg_monitor;
GRANT EXECUTE ON FUNCTION sync_probe.probe, sync_probe.probe_all TO prober;
GRANT CREATE ON TABLESPACE on_z_allowed TO prober;
SQL
	my (undef, $out, $err) = $node->psql('postgres',
		"SELECT string_agg(location, ' ') FROM sync_probe.probe_all(duration => '20 ms')",
		extra_params => [ '-U', 'prober' ]);
	is($out, 'pg_wal on_z_allowed', 'probe_all() takes the tablespace that the role may use');
	unlike($err, qr/WARNING:.*on_(?:z_allowed|tmpfs)/, 'and warns of neither');

	is(answer($node, <<'SQL') =~ s/^\n+//r, 't|t|0', 'a stream in memory: no device did anything');
SELECT FROM sync_probe.probe('on_tmpfs', 'stream', duration => '300 ms') WHERE run_id IS NULL;
SELECT count(*) > 0, sum(bytes) > 0, count(device_bytes)
FROM sync_probe_internal.stream_seconds
SQL
}

# ----------------------------------------------------- names of any characters

SKIP:
{
	my ($name, $odd) = ('a mount with an odd name', 'odd "name\\ ?(');
	skip "$name: none was prepared", 1 unless $place{odd_name};
	$directory{odd_name} = make_place($node, 'odd_name');
	probe($node, 'on_odd_name', '200 ms');
	is(answer($node, "SELECT filesystem, strpos(mount_point, '$odd') > 0 FROM sync_probe.locations"
		  . " WHERE name = 'on_odd_name'"), 'ext4|t', "$name: locations");
	is(answer($node, <<"SQL"), 't', "$name: a finding names it");
SELECT strpos(evidence->>'backing_file', '$odd') > 0 AND strpos(message, '$odd') > 0
FROM sync_probe.findings WHERE location = 'on_odd_name' AND code = 'loop_device'
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

# -------------------------------------------------------------------- ZFS

# Last, and in a cluster of its own, as ZFS in user space can hang: that is a
# skip with its reason.
sub test_zfs ($zfs)
{
	make_place($zfs, 'zfs');
	rows_ok($zfs, 'zfs', qr/^(zfs|fuse\b.*)$/);
	probe($zfs, 'on_zfs', '2 s');
	my $known = $place{zfs_tools} ? 't' : '';
	is(measured($zfs, 'on_zfs', <<'SQL'), "t|t|$known|$known", 'zfs: what is recorded of it');
DISTINCT r.storage #>> '{zfs,dataset}' ~ '^sync_probe_[0-9]+$',
    r.storage #>> '{zfs,pool}' = r.storage #>> '{zfs,dataset}',
    r.storage #>> '{zfs,data_devices,0}' ~ '/zfs[.]img$',
    (r.storage #>> '{zfs,recordsize}')::int > 0
SQL
	like(answer($zfs, "SELECT message FROM sync_probe.findings WHERE code = 'zfs_unknown'"),
		qr/zfs get exited/, 'zfs: why nothing more is known') unless $known;
	# zfs-fuse does not know the property
	like(advice($zfs, 'on_zfs'), qr/^(yes|unknown)\|(?!unsafe)/,
		'zfs: a property that is not told is no alarm');
	answer($zfs, 'DROP TABLESPACE on_zfs');
	bounded('rmdir', "$place{zfs}/zfs");
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
