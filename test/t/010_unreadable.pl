# What if the kernel's tables cannot be read, or hold rubbish?  Null and a
# finding, never an error and never a wrong number; timings as ever.
#
# The server gets a mount namespace of its own, in which these tables are
# replaced; a user namespace makes that possible without root.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeTest;

my @unshare = qw(unshare --user --map-current-user --keep-caps --mount --propagation private);

plan skip_all => 'no user and mount namespaces for an unprivileged user here'
  if system("@unshare sh -c 'mount -t tmpfs tmpfs /sys' >/dev/null 2>&1") != 0;

my $rubbish = write_file(PostgreSQL::Test::Utils::tempdir() . '/rubbish',
	map { chr(($_ * 7919 + int($_ / 256)) % 256) } 1 .. 100_000);

# What is no mount, though each line is nearly one.
my $odd_lines = <<'LINES';
36 35 98:0 / / rw - ext4
x y 98:0 / / rw,noatime - ext4 /dev/vda rw
36 35 4294967296:0 / / rw,noatime - ext4 /dev/vda rw
36 35 98:0 / relative rw,noatime - ext4 /dev/vda rw

\000 \999 \
LINES

# How the tables are changed before the server starts ($1 is the file of
# rubbish); what locations and a probe then know.
my @rows = (
	{ name => 'no /sys', change => 'mount -t tmpfs tmpfs /sys',
		filesystem => 't', device => 'f', code => 'device_unknown' },
	{ name => 'an empty /proc', change => 'mount -t tmpfs tmpfs /proc',
		filesystem => 'f', device => 'f', code => 'device_unknown' },
	{ name => 'a directory in the place of mountinfo',
		change => 'mount -t tmpfs tmpfs /proc; mkdir -p /proc/self/mountinfo',
		filesystem => 'f', device => 'f', code => 'device_unknown' },
	{ name => 'a mountinfo of rubbish',
		change => 'mount -t tmpfs tmpfs /proc; mkdir /proc/self; cp "$1" /proc/self/mountinfo',
		filesystem => 'f', device => 'f', code => 'device_unknown' },
	{ name => 'a mountinfo of odd lines',
		change => "mount -t tmpfs tmpfs /proc; mkdir /proc/self; cat >/proc/self/mountinfo"
		  . " <<'LINES'\n${odd_lines}LINES",
		filesystem => 'f', device => 'f', code => 'device_unknown' },
	{ name => 'counters of rubbish', needs_disk => 1,
		change => 'for f in /sys/block/*/stat; do mount --bind "$1" "$f"; done',
		filesystem => 't', device => 't', code => 'counters_unknown' },
	{ name => 'no counters', needs_disk => 1,
		change => 'for f in /sys/block/*; do mount -t tmpfs tmpfs "$f"; mkdir "$f/queue"; echo'
			  . ' "write back" >"$f/queue/write_cache"; done',
		filesystem => 't', device => 't', code => 'counters_unknown' },
	{ name => 'a cache of rubbish', needs_disk => 1, counted => 1,
		change => 'for f in /sys/block/*/queue/write_cache /sys/block/*/queue/fua'
			  . ' /sys/block/*/queue/rotational; do mount --bind "$1" "$f"; done',
		filesystem => 't', device => 't', code => undef });

my $node = probe_cluster('unreadable');
my $has_disk = sql($node,
	"SELECT device IS NOT NULL FROM sync_probe.locations WHERE name = 'pg_wal'") eq 't';

for my $row (@rows)
{
  SKIP:
	{
		skip "$row->{name}: no disk can be named below pg_wal here", 1
			if $row->{needs_disk} && !$has_disk;
		$node->stop;
		command_ok([ @unshare, 'sh', '-ec', "$row->{change}\nshift; exec \"\$@\"", 'sh', $rubbish,
			'pg_ctl', '--wait', '--pgdata', $node->data_dir, '--log', $node->logfile, 'start' ],
			"$row->{name}: the server starts");
		$node->_update_pid(1);

		is(sql($node,
			"SELECT count(*), bool_and((filesystem IS NOT NULL) = '$row->{filesystem}'),"
			  . " bool_and((device IS NOT NULL) = '$row->{device}') FROM sync_probe.locations"),
			'2|t|t', "$row->{name}: what locations knows");
		is(sql($node,
				"SELECT count(*) > 5, bool_and(ops > 0), bool_and((device_bytes_per_op IS NOT"
					  . " NULL) = '" . ($row->{counted} ? 't' : 'f') . "')" .
				" FROM sync_probe.probe(duration => '300 ms') WHERE status = 'ok'"),
			't|t|t', "$row->{name}: a probe measures, and claims no counters that it has not");
		let_runs_count($node);
		my $durable = sql($node,
			"SELECT verdict, durable FROM sync_probe.recommendations WHERE location = 'pg_wal'");
		like($durable, $row->{counted} ? qr/^\w+\|(yes|unknown)$/ : qr/^(?!unsafe)\w+\|unknown$/,
			"$row->{name}: nothing is claimed without evidence");
		my $codes = sql($node,
			"SELECT string_agg(code, ' ') FROM sync_probe.findings WHERE location = 'pg_wal'");
		defined $row->{code} ? like($codes, qr/\b$row->{code}\b/, "$row->{name}: a finding says so")
		  : unlike($codes, qr/flush_missing|write_cache_volatile/,
		  	"$row->{name}: no finding about a cache of which nothing is known");
		is(leftovers($node), '', "$row->{name}: nothing is left");
	}
}
end_tests($node);
