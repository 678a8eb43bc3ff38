# What if the kernel's tables cannot be read?  Null and a finding, never an error and never a
# wrong number; timings as ever.  Tables that hold rubbish are read by unit tests.
#
# The server gets a mount namespace of its own, in which these tables are
# replaced; a user namespace makes that possible without root.

use SyncProbeTest;

my @unshare = qw(unshare --user --map-current-user --keep-caps --mount --propagation private);

plan skip_all => 'no user and mount namespaces for an unprivileged user here'
  if system("@unshare sh -c 'mount -t tmpfs tmpfs /sys' >/dev/null 2>&1") != 0;

my $node = probe_cluster('unreadable');

# What is covered before the server starts, and whether the file systems are known then.
for ([ '/sys', 't' ], [ '/proc', 'f' ])
{
	my ($directory, $filesystem) = @$_;
	my $name = "an empty $directory";
	$node->stop;
	command_ok([ @unshare, 'sh', '-ec', "mount -t tmpfs tmpfs $directory; exec \"\$@\"", 'sh',
		'pg_ctl', '--wait', '--pgdata', $node->data_dir, '--log', $node->logfile, 'start' ],
		"$name: the server starts");
	$node->_update_pid(1);

	sql($node, "SELECT FROM sync_probe.probe(duration => '300 ms')");
	is(sql($node, <<'SQL'), "t|$filesystem|0", "$name: a probe measures, and claims no counters");
SELECT bool_and(m.ops > 0), bool_and(l.filesystem IS NOT NULL),
    count(coalesce(l.device, r.storage #>> ARRAY['device_bytes_per_op', m.ordinal::text],
                   r.storage #>> ARRAY['device_utilization', m.ordinal::text]))
FROM sync_probe.locations AS l, sync_probe.runs AS r
JOIN sync_probe.measurements AS m USING (run_id)
WHERE r.run_id = (SELECT max(run_id) FROM sync_probe.runs) AND m.status = 'ok'
SQL
	let_runs_count($node);
	like(sql($node, <<'SQL'), qr/^unknown .*\bdevice_unknown\b/, "$name: as do advice, findings");
SELECT durable || ' ' || (SELECT string_agg(code, ' ') FROM sync_probe.findings AS f
                          WHERE f.location = r.location)
FROM sync_probe.recommendations AS r WHERE location = 'pg_wal'
SQL
	nothing_left($node, $name);
}
end_tests($node);
