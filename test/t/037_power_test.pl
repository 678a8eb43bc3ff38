# A power test: its file survives a killed process and an immediate stop, and nothing else; its
# result is that of the blocks in the file, whatever happened to them.  A power cut is what a killed
# backend is, as far as the file goes, and another boot id in its blocks; the cut itself is for the
# laboratory.

use List::Util qw(min);
use POSIX qw(mkfifo);
use SyncProbeTest;

my $faults = PostgreSQL::Test::Utils::tempdir() . '/fault';
my $node = probe_cluster('power_test', allows_streaming => 1, faults => $faults,
	conf => 'restart_after_crash = on');
my $place = add_tablespace($node, 'place');
my $data = $node->data_dir;
my $name = 'pgsql_tmp_sync_probe.power_test';
my %file = (pg_wal => "$data/pg_wal/$name", pg_default => "$data/base/$name",
	place => (glob("$data/pg_tblspc/*/PG_*"))[0] . "/$name");

# Blocks of the ring: a segment of 1 MB.
use constant { BLOCK => 8192, BLOCKS => 128 };

# A session that has shown a number of at least that.
sub start_test ($location, $number, $arguments = '')
{
	my $session = session($node);
	start_query($session, "CALL sync_probe.power_test('$location'$arguments)");
	wait_for(sub {
		$session->{run}->pump_nb;
		shown($session->{stderr}) >= $number;
	}) or die "no number $number: $session->{stderr}";
	return $session;
}

# The last number that a client was shown.
sub shown { return ($_[0] =~ /INFO:  sync_probe: (\d+) is synced$/mg)[-1] // 0 }

# Ends a test as a power cut does; returns what the client has seen.
sub cut ($session)
{
	kill_process($node, $session->{pid});
	my ($out, $err) = finish_query($session);
	eval { $session->{run}->finish };
	return shown($err);
}

# CRC-32C, before its last complement.
sub crc ($bytes, $crc)
{
	for my $byte (unpack 'C*', $bytes)
	{
		$crc ^= $byte;
		$crc = $crc & 1 ? $crc >> 1 ^ 0x82F63B78 : $crc >> 1 for 1 .. 8;
	}
	return $crc;
}

# What makes blocks those of another boot, by XOR: checksums of equal length differ by that of the
# difference.
my $difference = "\0" x 76 . "\1" . "\0" x (BLOCK - 81);
my $other_boot = (pack('L', crc($difference, 0)) . $difference) x BLOCKS;

sub restart_machine ($location)
{
	return write_file($file{$location}, slurp_file($file{$location}) ^ $other_boot);
}

sub result ($number, $location, $columns = 'durable, lost')
{
	return sql($node, "SELECT $columns FROM sync_probe.power_test_result($number, '$location')");
}

sub findings
{
	return sql($node, "SELECT location, code FROM sync_probe.findings"
		  . " WHERE code ~ '^power_test' ORDER BY 2, 1");
}

sub durable
{
	return sql($node, "SELECT verdict || ' ' || durable FROM sync_probe.recommendations"
		  . " WHERE location = 'pg_wal'");
}

# --- the storage refuses: it may have lost its power
#
# First, as the server is not started with faults again.

for ([ 'fdatasync 1 EIO', 0, qr/\A\S+ ERROR:  could not fsync file "base\/$name": [^\n]*\z/ ],
	[ 'fdatasync 20 EIO', 1, qr/ERROR:  could not fsync file/ ],
	[ 'pwrite 20 ENOSPC', 1, qr/ERROR:  could not write file/ ])
{
	my ($fault, $stays, $says) = @$_;
	write_file($faults, "$fault\n");
	like(messages($node, "CALL sync_probe.power_test('pg_default', '30 s')"), $says, $fault);
	write_file($faults, '');
	is(-e $file{pg_default} ? result(19, 'pg_default') : 'gone', $stays ? 'unknown|0' : 'gone',
		"$fault: the file " . ($stays ? 'stays' : 'is gone'));
	sql($node, 'SELECT sync_probe.cleanup()');
}

# --- all that was shown is there, at each location

my %seen;
for my $location (qw(place pg_default pg_wal))
{
	my $session = start_test($location, BLOCKS + 50);
	is(sql($node, 'SELECT location, suite, phase FROM sync_probe.running'),
		"$location|power_test|measuring", "$location: it is shown while it runs");
	fails_ok($node, "$location: a second test", 'CALL sync_probe.power_test()', '55P03',
		qr/a power test is running/);
	is(findings(), '', "$location: no finding while it runs");
	$seen{$location} = cut($session);
	is(-s $file{$location}, BLOCK * BLOCKS, "$location: its file is left");
	is(result($seen{$location}, $location), 'unknown|0', "$location: unknown in the same boot");
	restart_machine($location);
	is(result($seen{$location}, $location,
			'durable, lost, method, newest_number >= last_number, started_at < now()'),
		'proven|0|fdatasync|t|t', "$location: proven");
	is(result(0, $location), 'unknown|0', "$location: unknown if the client saw nothing");
	is(result('NULL', $location), 'unknown|0', "$location: or null");
	fails_ok($node, "$location: another test there", "CALL sync_probe.power_test('$location')",
		'55000', qr/location "$location" has the file of an earlier power test/, qr/cleanup\(\)/);
}
is(sql($node, 'SELECT location, suite, durable, usable_for_advice, device IS NOT DISTINCT FROM'
	  . ' (SELECT device FROM sync_probe.locations WHERE name = location) FROM sync_probe.runs'),
	join("\n", map { "$_|power_test|proven|f|t" } qw(place pg_default pg_wal)), 'each is a run');
is(durable(), 'not probed proven', 'advice: proven');
like(sql($node, 'SELECT reason FROM sync_probe.recommendation_details'),
	qr/^never probed; proven by the power test of \d{4}-\S+ on .+ \(run \d+\): numbers /,
	'advice: with the date');
is(findings(), join("\n", map { "$_|power_test_left" } qw(pg_default pg_wal place)),
	'each file is a finding');
like(messages($node, "BEGIN READ ONLY; SELECT sync_probe.power_test_result($seen{pg_wal})"),
	qr/NOTICE:  nothing was recorded: the transaction is read-only$/m, 'read-only');

# --- what other programs make of such files

my $copy = PostgreSQL::Test::Utils::tempdir();
$node->backup('beside', backup_options => [ '-T', "$place=$copy" ]);
my $backup = $node->backup_dir . '/beside';
is(join(' ', grep { -e } glob("{$copy/PG_*,$backup/base,$backup/pg_wal}/$name")), '',
	'pg_basebackup leaves them out');
fails_ok($node, 'DROP TABLESPACE', 'DROP TABLESPACE place', '42809', qr/$name": Not a directory/);
my $action = sql($node, 'SHOW data_checksums') eq 'on' ? '--check' : '--enable';
$node->stop;
PostgreSQL::Test::Utils::command_ok([ 'pg_checksums', $action, '--no-sync', '-D', $data ],
	'pg_checksums passes over them');
$node->start;
is(join(' ', grep { !-s $file{$_} } sort keys %file), '', 'a restart keeps them');
is(sql($node, "SELECT sum(ops) > 0 FROM sync_probe.probe('pg_wal', duration => '20 ms')"), 't',
	'a probe works beside one');
is(join(' ', grep { !-s $file{$_} } sort keys %file), '', 'and does not sweep it');

# --- the blocks of pg_wal, as a dishonest device may leave them

sql($node, 'SELECT sync_probe.cleanup()');
is(join(' ', grep { -e $file{$_} } sort keys %file), '', 'cleanup() removes them');
is(sql($node, "DROP TABLESPACE place; SELECT 'dropped'"), 'dropped', 'DROP TABLESPACE after it');
my $session = start_test('pg_wal', BLOCKS + 50);
my $last = cut($session);
restart_machine('pg_wal');
my $now = slurp_file($file{pg_wal});
my $newest = result($last, 'pg_wal', 'newest_number');

# The block of a number, and the file with another one there.
sub of { return substr($now, $_[0] % BLOCKS * BLOCK, BLOCK) }
sub with { my $new = $now; substr($new, $_[0] % BLOCKS * BLOCK, BLOCK) = $_[1]; return $new }

# A block that its checksum fits, changed from that byte on.
sub forged ($number, $at, $bytes)
{
	my $block = of($number);
	substr($block, $at, length $bytes) = $bytes;
	return pack('L', crc(substr($block, 4), 0xFFFFFFFF) ^ 0xFFFFFFFF) . substr($block, 4);
}

my $one = $newest - 9;
my $end = $newest - ($newest + 1) % BLOCKS;    # in the last block of the file
# what whole blocks prove, also older ones: test/unit/test_power_test.c
for (
	[ 'a torn block', with($one, substr(of($one), 0, 4096) . substr(of($one - 1), 4096)),
		'refuted|1' ],
	[ 'a block in another place', with($one, of($newest - 8)), 'refuted|1' ],
	[ 'one of a later test', with($end, forged($end, 16, pack('Qqq', 1, $end, 1 << 60))),
		'refuted|126' ],
	[ 'forged', with($one, forged($one, 40, pack('l', 1 << 30))), 'refuted|1' ],
	# how long the ring was nobody knows then: it has at most 2048 blocks
	[ 'empty', '', 'refuted|' . min($last, 2047) ], [ 'as it was', $now, 'proven|0' ])
{
	my ($case, $content, $expected) = @$_;
	write_file($file{pg_wal}, $content);
	is(result($last, 'pg_wal'), $expected, $case);
	next unless $case eq 'empty';
	is(durable(), 'unsafe refuted', 'advice: refuted');
	is(findings(), "pg_wal|power_test_left\npg_wal|power_test_lost", 'a finding says so');
	is(sql($node, "SELECT ok, value FROM sync_probe.expect('oltp') WHERE expectation = 'durable'"),
		'f|refuted', 'so does expect()');
	is(sql($node, "SELECT value FROM sync_probe.metrics WHERE name = 'pg_sync_probe_durable'"
		  . " AND labels ->> 'location' = 'pg_wal'"), 0, 'and metrics');
	like(sql($node, 'SELECT sync_probe.report_html()'), qr/class="tag refuted"/, 'and the report');
}
like(durable(), qr/^\w+.* proven$/, 'the newest result counts');
is(findings(), 'pg_wal|power_test_left', 'in findings, too');
is(sql($node, "SELECT ok, value FROM sync_probe.expect('oltp') WHERE expectation = 'durable'"),
	't|proven', 'in expect(), too');

# --- what is no file of this cluster's

write_file($file{pg_wal}, with($newest, forged($newest, 8, pack('QQqq', 1, 2, $newest, 1 << 60))));
fails_ok($node, 'another cluster', 'SELECT sync_probe.power_test_result(1)', '55000',
	qr/is of a power test of another cluster\nDETAIL:  Its system identifier is 1\./);
for (
	[ 'a link', sub { symlink "$data/postgresql.conf", $_[0] } ],
	[ 'a pipe', sub { mkfifo($_[0], 0600) } ], [ 'a directory', sub { mkdir $_[0] } ])
{
	my ($case, $make) = @$_;
	unlink $file{pg_wal};
	$make->($file{pg_wal}) or die "$case: $!";
	fails_ok($node, $case, 'SELECT sync_probe.power_test_result(1)', '58P01',
		qr/has no file of a power test/, qr/DETAIL:  There is no regular file "pg_wal\/$name"\./);
	fails_ok($node, "$case, a test", 'CALL sync_probe.power_test()', '58P02',
		qr/could not create file "pg_wal\/$name": File exists/);
	is(sql($node, 'SELECT sync_probe.cleanup()'), 0, "$case: cleanup() leaves it");
}
rmdir $file{pg_wal};

# --- other ends

for (
	[ 'pg_cancel_backend', signal_backend($node, 'pg_cancel_backend'), qr/due to user request/ ],
	[ 'pg_terminate_backend', signal_backend($node, 'pg_terminate_backend'), qr/terminating/ ],
	[ 'a killed postmaster', sub { kill_postmaster($node) }, qr/unexpected postmaster exit/ ],
	[ 'its time', sub { }, qr/NOTICE:  the power test has ended without a power cut/, ", '1 s'" ])
{
	my ($end, $do, $says, $arguments) = @$_;
	$session = start_test('pg_default', 1, $arguments // '');
	$do->($session);
	like((finish_query($session))[1], $says, "$end: the client is told");
	eval { $session->quit };
	nothing_left($node, $end);
}

# Another method, with fsync = off, in a transaction; and a server that has no time for anything.
reload_with($node, 'wal_sync_method', 'open_datasync');
is(durable(), 'not probed unknown', 'of another method nothing is proven');
reload_with($node, 'fsync', 'off');
$session = session($node);
query($session, 'BEGIN READ ONLY');
start_query($session, "CALL sync_probe.power_test('pg_default')");
wait_for(sub { $session->{run}->pump_nb; shown($session->{stderr}) }) or die;
$node->stop('immediate');
$node->start;
my (undef, $err) = finish_query($session);
eval { $session->{run}->finish };
is(result(shown($err), 'pg_default', 'durable, method'), 'unknown|open_datasync',
	'an immediate stop');
is(durable(), 'unsafe no', 'fsync = off is worse');
is(sql($node, 'SELECT sync_probe.cleanup()'), 1, 'cleanup() again');
nothing_left($node, 'cleanup()');

end_tests($node);
