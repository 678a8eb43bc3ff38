# ALTER EXTENSION pg_sync_probe UPDATE: an updated extension has the objects of a fresh one,
# and keeps the rows of users, from each release.  As that shows nothing before the second one,
# and other tests compare, too: what the comparison finds.

use SyncProbeRelease;
use SyncProbeTest;

my $node = probe_cluster('update', conf => 'wal_level = replica');
my $version = sql($node, 'SELECT extension FROM sync_probe.version()');

# A new database with that version.
sub create ($database, $version)
{
	sql($node, "CREATE DATABASE $database");
	$node->safe_psql($database, "CREATE EXTENSION pg_sync_probe VERSION '$version'");
	return $database;
}

create('fresh', $version);
for my $old (grep { $_ ne $version } kept_versions())
{
	my $database = create('from_' . ($old =~ s/\W/_/gr), $old);
	my $rows = record_history($node, $database);
	$node->safe_psql($database, "ALTER EXTENSION pg_sync_probe UPDATE TO '$version'");
	is(join("\n", differences(map { installed($node, $_) } 'fresh', $database)), '',
		"from $old: updated is as fresh");
	has_history_ok($node, $database, "from $old", $rows);
}

# What pg_dump does not show is of each kind.
$node->safe_psql(create('changed', $version), <<'SQL');
ALTER TABLE sync_probe.runs ADD COLUMN remark text CHECK (remark <> '');
GRANT DELETE ON sync_probe.runs TO pg_monitor;
ALTER EXTENSION pg_sync_probe DROP FUNCTION sync_probe_internal.html_style();
UPDATE pg_extension SET extversion = 'later', extcondition[1] = 'WHERE false'
WHERE extname = 'pg_sync_probe';
DO $$BEGIN EXECUTE replace(pg_get_functiondef('sync_probe_internal.builtin_workloads'::regproc),
    'Update a row', 'New'); END$$;
SQL
my %differ = map { s/^. //r =~ s/(.*); Type: (.*?); .*/$2 $1/r =~ s/: .*//r => 1 }
  differences(map { installed($node, $_) } qw(fresh changed));
is(join("\n", sort keys %differ) . "\n", <<"DIFFER", 'the comparison finds each difference');
ACL TABLE runs
FUNCTION builtin_workloads()
FUNCTION html_style()
TABLE runs
rows of pg_dump sync_probe.runs
version $version
version later
workload upsert
DIFFER

end_tests($node);
