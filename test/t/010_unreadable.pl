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

# How the tables are changed before the server starts ($1 is the file of rubbish), whether that
# takes a disk; what is known then: file system and device of a location, counters of a
# probe; the durability and what findings say.
my $nothing_known = qr/^unknown .*\bdevice_unknown\b/;
my @rows = (
	[ 'no /sys', 'mount -t tmpfs tmpfs /sys', 0, 't|f|f', $nothing_known ],
	[ 'a mountinfo of rubbish',
		'mount -t tmpfs tmpfs /proc; mkdir /proc/self; cp "$1" /proc/self/mountinfo', 0,
		'f|f|f', $nothing_known ],
	[ 'counters of rubbish', 'for f in /sys/block/*/stat; do mount --bind "$1" "$f"; done', 1,
		't|t|f', qr/^unknown .*\bcounters_unknown\b/ ],
	[ 'a cache of rubbish', 'for f in /sys/block/*/queue/write_cache /sys/block/*/queue/fua'
		  . ' /sys/block/*/queue/rotational; do mount --bind "$1" "$f"; done', 1,
		't|t|t', qr/^(?:yes|unknown) (?!.*(?:flush_missing|write_cache_volatile))/ ]);

my $node = probe_cluster('unreadable');
my $has_disk = sql($node,
	"SELECT device IS NOT NULL FROM sync_probe.locations WHERE name = 'pg_wal'") eq 't';

for (@rows)
{
	my ($name, $change, $needs_disk, $known, $says) = @$_;
  SKIP:
	{
		skip "$name: no disk can be named below pg_wal here", 1 if $needs_disk && !$has_disk;
		$node->stop;
		command_ok([ @unshare, 'sh', '-ec', "$change\nshift; exec \"\$@\"", 'sh', $rubbish,
			'pg_ctl', '--wait', '--pgdata', $node->data_dir, '--log', $node->logfile, 'start' ],
			"$name: the server starts");
		$node->_update_pid(1);

		is(sql($node, <<'SQL'), "t|$known", "$name: a probe measures, and claims only what is known");
SELECT bool_and(p.ops > 0), bool_or(l.filesystem IS NOT NULL), bool_or(l.device IS NOT NULL),
    bool_or(p.device_bytes_per_op IS NOT NULL)
FROM sync_probe.probe(duration => '300 ms') AS p, sync_probe.locations AS l WHERE p.status = 'ok'
SQL
		let_runs_count($node);
		like(sql($node, <<'SQL'), $says, "$name: so do advice and findings");
SELECT durable || ' ' || (SELECT string_agg(code, ' ') FROM sync_probe.findings AS f
                          WHERE f.location = r.location)
FROM sync_probe.recommendations AS r WHERE location = 'pg_wal'
SQL
		nothing_left($node, $name);
	}
}
end_tests($node);
