# Bars where the encoding lacks block characters; and runs that go to another server: to
# another cluster, to a database of another encoding, by a role that may do no more, and not
# on a standby.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;

my $node = probe_cluster('history', allows_streaming => 1);
$node->safe_psql('postgres', <<'SQL');
SET client_min_messages = warning;
SELECT FROM sync_probe.probe(duration => '500 ms', label => 'wal');
SELECT FROM sync_probe.probe('pg_wal', 'pg_test_fsync', '300 ms', label => 'tool');
SELECT FROM sync_probe.probe('pg_wal', 'stream', '3 s', label => 'stream');
SELECT FROM sync_probe.probe('pg_wal', 'commit', '1 s', label => 'commit');
SQL

is($node->safe_psql('postgres',
		"SELECT storage ->> 'kernel' FROM sync_probe.runs WHERE suite = 'wal'"),
	join(' ', (POSIX::uname())[ 0, 2 ]), 'a run records the kernel');

# ------------------------------------------------------------------------ round trip

my $export =
  'SELECT sync_probe.export_json(array_agg(run_id ORDER BY run_id)) FROM sync_probe.runs';
my $document = $node->safe_psql('postgres', $export);
my $other = probe_cluster('other');

# Import into a database of a cluster; returns the numbers of the new runs, one a line.
sub import_into
{
	my ($node, $database, $document) = @_;
	my $literal = $document =~ s/'/''/gr;
	return $node->safe_psql($database, "SELECT sync_probe.import_json('$literal')");
}

is(import_into($other, 'postgres', $document), "1\n2\n3\n4", 'another cluster: four runs');
is($other->safe_psql('postgres', $export), $document, 'another cluster: they are as they were');
is($other->safe_psql('postgres',
		'SELECT count(*) FROM sync_probe.recommendations WHERE basis IS NOT NULL'),
	0, 'another cluster: they are no advice');
is(import_into($node, 'postgres', $document), "5\n6\n7\n8", 'the same cluster: once more');
is($node->safe_psql('postgres', $export . ' WHERE imported_at IS NOT NULL'), $document,
	'the same cluster: they are as they were');
is($node->safe_psql('postgres', 'SELECT run_id FROM sync_probe.history()'), 1,
	'the same cluster: imported runs have no part in its history');
is($node->safe_psql('postgres',
		"SELECT string_agg(DISTINCT ratio::text, ',') FROM sync_probe.compare('{1,5}')"
		  . ' WHERE value_us > 0'),
	1, 'an imported run compares as equal to its original');

# --------------------------------------------------------------------- encodings

my $blocks = qr/\xe2\x96/;
my @bars = ('SELECT string_agg(bar, $$$$) FROM sync_probe.latency_histogram',
	'SELECT string_agg(bar, $$$$) FROM sync_probe.compare($${1}$$)',
	'SELECT string_agg(bar, $$$$) FROM sync_probe.history()');
$node->safe_psql('postgres',
	"UPDATE sync_probe.runs SET label = 'd\xc3\xa9j\xc3\xa0 vu' WHERE run_id = 1");

for (qw(LATIN1 SQL_ASCII))
{
	my $database = lc;
	$node->safe_psql('postgres',
		"CREATE DATABASE $database ENCODING '$_' LOCALE 'C' TEMPLATE template0");
	$node->safe_psql($database, 'CREATE EXTENSION pg_sync_probe');
	is(import_into($node, $database, $document), "1\n2\n3\n4", "$_ database: import");
	is($node->safe_psql($database, $export), $document, "$_ database: export");
	# history() is of the cluster's own runs
	$node->safe_psql($database, 'UPDATE sync_probe.runs SET imported_at = NULL');
}
for (@bars)
{
	like($node->safe_psql('postgres', "SET client_encoding = 'UTF8'; $_"), $blocks,
		"UTF8 on both sides: blocks: $_");
	like($node->safe_psql('postgres', "SET client_encoding = 'LATIN1'; $_"), qr/^#+$/,
		"a LATIN1 client: $_");
	for my $database (qw(latin1 sql_ascii))
	{
		like($node->safe_psql($database, "SET client_encoding = '$_->[0]'; $_->[1]"), qr/^#+$/,
			"a database in $database, a client in $_->[0]: $_->[1]")
		  for [ 'UTF8', $_ ], [ 'LATIN1', $_ ];
	}
}
is($node->safe_psql('postgres',
		"SET client_encoding = 'LATIN1'; SELECT DISTINCT run FROM sync_probe.compare('{1}')"),
	"d\xe9j\xe0 vu", 'a LATIN1 client: a label');

# A document in UTF8 has letters that LATIN1 lacks: the server says so before it reads it.
my ($status, $out, $err) = $node->psql('latin1',
	"SET client_encoding = 'UTF8'; SELECT sync_probe.import_json('{\"format\": \"\xe2\x96\x88\"}')");
like($err, qr/has no equivalent in encoding "LATIN1"/, 'a letter that the database lacks');

# -------------------------------------------------------------------- privileges

my $literal = $document =~ s/'/''/gr;
my $import = "SELECT sync_probe.import_json('$literal')";
$node->safe_psql('postgres', 'CREATE ROLE importer; CREATE ROLE nobody;'
	  . ' GRANT EXECUTE ON FUNCTION sync_probe.import_json TO importer');
fails_ok($node, 'a role without EXECUTE', "SET ROLE nobody; $import", '42501',
	qr/permission denied for function import_json/);
is($node->safe_psql('postgres', "SET ROLE importer; SELECT count(*) FROM ($import) AS i"), 4,
	'EXECUTE is enough to import');
fails_ok($node, 'the importer', "SET ROLE importer; $_", '42501',
	qr/permission denied for table runs/)
  for 'SELECT * FROM sync_probe.runs', 'DELETE FROM sync_probe.runs';

# Names that a caller puts in front of the path are not used, and settings are restored.
is($node->safe_psql('postgres', <<"SQL"), "3\nAsia/Kolkata", 'what the caller has set');
CREATE SCHEMA trap;
CREATE FUNCTION trap.now() RETURNS timestamptz
	LANGUAGE sql AS 'SELECT 1 / 0; SELECT NULL::timestamptz';
CREATE TEMP TABLE runs (a integer);
CREATE TEMP TABLE measurements (a integer);
SET search_path = trap, pg_temp, pg_catalog;
SET timezone = 'Asia/Kolkata';
SET intervalstyle = 'iso_8601';
SELECT count(*) - 1 FROM ($import) AS i;
SHOW timezone;
SQL

# ------------------------------------------------------- where nothing can be written

fails_ok($node, 'read-only transaction', "BEGIN; SET TRANSACTION READ ONLY; $import", '25006',
	qr/cannot execute nextval/);
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
fails_ok($standby, 'standby', $import, '25006', qr/cannot execute nextval/);
is($standby->safe_psql('postgres', 'SELECT count(*) FROM sync_probe.history()'), 1,
	'a standby shows the history of its primary');
is($standby->safe_psql('postgres', "SELECT sync_probe.export_json('{1}') IS NOT NULL"), 't',
	'and exports it');

# a statement that fails leaves nothing
my $broken = $document =~ s/"status": "ok"(?!.*"status": "ok")/"status": "fine"/r;
isnt($broken, $document, 'the last status is another one');
my $before = $node->safe_psql('postgres', 'SELECT count(*) FROM sync_probe.runs');
fails_ok($node, 'a bad value in the last run', 'SELECT sync_probe.import_json('
	  . "'" . ($broken =~ s/'/''/gr) . "')", '23514',
	qr/violates check constraint "measurements_status_check"/);
is($node->safe_psql('postgres', 'SELECT count(*) FROM sync_probe.runs'), $before,
	'all or nothing');

$_->stop for $standby, $node, $other;
log_ok($_) for $node, $standby, $other;
done_testing();
