# SyncProbeRelease.pm
#
# What tests of versions share: rows of every table, and the comparison of what two databases have
# installed.

package SyncProbeRelease;

use Exporter 'import';
use SyncProbeTest;

our @EXPORT = qw(kept_versions record_history history_of has_history_ok installed differences);

# Those whose install scripts are kept, with the current one if it is released.
sub kept_versions
{
	return map { /--(.*)\.sql$/ } glob(source_directory() . '/src/sql/releases/*.sql');
}

# ----------------------------------------------------------------- rows of every table

# Rows in all tables, returned as history_of() does.
sub record_history ($node, $database)
{
	$node->safe_psql($database, <<'SQL');
SET client_min_messages = warning;
SELECT FROM sync_probe.commit_waits('100 ms');
SELECT FROM sync_probe.probe(duration => '100 ms', label => E'it''s "kept" \\ \t é');
SELECT FROM sync_probe.probe('pg_wal', 'pg_test_fsync', '100 ms');
SELECT FROM sync_probe.probe('pg_wal', 'stream', '100 ms');
SELECT FROM sync_probe.probe('pg_wal', 'commit', '1 s');
SELECT sync_probe.import_json(sync_probe.export_json(ARRAY[1::bigint])::text);
SELECT FROM sync_probe.import_pg_test_fsync(sync_probe.pg_test_fsync_report(2));
DELETE FROM sync_probe.runs WHERE run_id = (SELECT max(run_id) FROM sync_probe.runs);
INSERT INTO sync_probe.workloads (workload, script)
    VALUES ('my "own"', E'\\set i 1\nSELECT :i;'), ('queue', 'SELECT 2;'), ('upsert', 'SELECT 3;');
SELECT FROM sync_probe.pgbench('my "own"', clients => 1, transactions => 5, label => 'kept');
INSERT INTO sync_probe.expectations (profile, durable) VALUES ('my "own"', true), ('oltp', true);
SQL
	my %rows = history_of($node, $database);
	$rows{$_} =~ /^\{/ or die "there is nothing in $_" for keys %rows;
	return \%rows;
}

# The rows of users in every table, and where the sequences stand, as text, a hash.  Without nulls,
# as a later version may have further columns.
sub history_of ($node, $database)
{
	my @tables = split /\n/, $node->safe_psql($database, <<'SQL');
SELECT t::regclass || ' ' || c FROM pg_extension, unnest(extconfig, extcondition) AS e (t, c)
WHERE extname = 'pg_sync_probe'
SQL
	return map {
		($_ => $node->safe_psql($database,
				"SELECT jsonb_strip_nulls(to_jsonb(t) - 'log_cnt') FROM (SELECT * FROM $_) AS t"
				  . ' ORDER BY 1'))
	} @tables;
}

# A database has these rows of another, and goes on: further runs, a report of all.
sub has_history_ok ($node, $database, $name, $rows)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my %here = history_of($node, $database);
	is($here{$_}, $rows->{$_}, "$name: $_") for sort keys %$rows;
	is($node->safe_psql($database, <<'SQL'), "t\nSELECT :i;\nt", "$name: it works");
SET client_min_messages = warning;
SELECT p.run_id > (SELECT max(run_id) FROM sync_probe.runs)
FROM sync_probe.probe(duration => '20 ms') AS p LIMIT 1;
SELECT statements -> -1 ->> 'statement'
FROM sync_probe.pgbench('my "own"', clients => 1, transactions => 1);
SELECT length(sync_probe.report_html()) > 10000;
SQL
	return;
}

# ------------------------------------------------------------- what is installed

# What the extension has in a database, one text for each: its objects as pg_dump shows the members
# of an extension where it prepares an upgrade, its tables for pg_dump, and its own rows.
sub installed ($node, $database)
{
	my $file = PostgreSQL::Test::Utils::tempdir() . '/members';
	$node->command_ok([ 'pg_dump', '--binary-upgrade', '--schema-only', '-f', $file, $database ],
		"$database: pg_dump of the members");
	my $dump = slurp_file($file);
	# OIDs, transactions and keys say nothing of the objects; SET default_... stands before the
	# first table, in the entry of whatever comes before it
	$dump =~ s/^SELECT pg_catalog\.binary_upgrade_(?:set_next|create_empty_extension).*\n//mg;
	$dump =~ s/^UPDATE pg_catalog\.pg_class\nSET relfrozenxid = .*\nWHERE .*\n//mg;
	$dump =~ s/^(?:-- For binary upgrade, |\\(?:un)?restrict |SET default_).*\n//mg;
	my @members = grep { /\A-- Name: (?!.*; Type: SEQUENCE SET;)/ }
	  map { s/^(?:--)?\n//mgr } split /^--\n(?=-- .*Name: )/m, $dump;
	die "pg_dump shows no members" if @members < 100;
	return [ @members, split /\n/, $node->safe_psql($database, <<'SQL') ];
SELECT 'version ' || extversion FROM pg_extension WHERE extname = 'pg_sync_probe'
UNION ALL SELECT format('rows of pg_dump %s: %s', t::regclass, c)
FROM pg_extension, unnest(extconfig, extcondition) AS e (t, c) WHERE extname = 'pg_sync_probe'
UNION ALL SELECT format('workload %s: %s', workload, to_jsonb(w))
FROM sync_probe.workloads AS w WHERE builtin
SQL
}

# The first line of each text that only one of two lists has, with a sign for which.
sub differences ($one, $other)
{
	my %texts;
	$texts{$_}-- for @$one;
	$texts{$_}++ for @$other;
	return sort map { ($texts{$_} < 0 ? '- ' : '+ ') . (split /\n/, $_)[0] =~ s/^-- Name: //r }
	  grep { $texts{$_} } keys %texts;
}

1;
