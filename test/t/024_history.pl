# Runs that go to another server: to another cluster, to databases of other encodings, by a role
# that may do no more.  And reports and bars in these encodings.

use FindBin;
use lib $FindBin::RealBin;
use POSIX ();
use SyncProbeTest;

my $node = probe_cluster('history');
sql($node, <<'SQL');
SELECT FROM sync_probe.probe(duration => '500 ms', label => 'wal');
SELECT FROM sync_probe.probe('pg_wal', 'pg_test_fsync', '300 ms', label => 'tool');
SELECT FROM sync_probe.probe('pg_wal', 'stream', '3 s', label => 'stream');
SELECT FROM sync_probe.probe('pg_wal', 'commit', '1 s', label => 'commit');
SQL

is(sql($node, "SELECT storage ->> 'kernel' FROM sync_probe.runs WHERE suite = 'wal'"),
	join(' ', (POSIX::uname())[ 0, 2 ]), 'a run records the kernel');

# ------------------------------------------------------------------------ round trip

my $export =
  'SELECT sync_probe.export_json(array_agg(run_id ORDER BY run_id)) FROM sync_probe.runs';
my $document = sql($node, $export);
my $other = probe_cluster('other');

# Import into a database of a cluster; returns the numbers of the new runs, one a line.
sub import_into
{
	my ($node, $database, $document) = @_;
	my $literal = $document =~ s/'/''/gr;
	return $node->safe_psql($database, "SELECT sync_probe.import_json('$literal')");
}

is(import_into($other, 'postgres', $document), "1\n2\n3\n4", 'another cluster: four runs');
is(sql($other, $export), $document, 'another cluster: they are as they were');
is(sql($other, 'SELECT count(*) FROM sync_probe.recommendations WHERE basis IS NOT NULL'),
	0, 'another cluster: they are no advice');
is(import_into($node, 'postgres', $document), "5\n6\n7\n8", 'the same cluster: once more');
is(sql($node, $export . ' WHERE imported_at IS NOT NULL'), $document,
	'the same cluster: they are as they were');
is(sql($node, 'SELECT run_id FROM sync_probe.history()'), 1,
	'the same cluster: imported runs have no part in its history');
is(sql($node, "SELECT string_agg(DISTINCT ratio::text, ',') FROM sync_probe.compare('{1,5}')"
		  . ' WHERE value_us > 0'), 1, 'an imported run compares as equal to its original');

# --------------------------------------------------------------------- encodings
#
# A report is ASCII, whatever bytes a label has.  Runs are imported and exported, and bars drawn,
# with what the encoding has.

# Encoding, bytes of a label in it, and how HTML has them.
my @labels = (
	[ 'UTF8', 'c3a4 20 e282ac 20 f09f9880', '&#228; &#8364; &#128512;' ],
	[ 'LATIN1', 'e4 20 df', '&#228; &#223;' ],
	[ 'LATIN9', 'a4', '&#8364;' ],
	[ 'WIN1252', '80 81', '&#8364;&#65533;' ],
	[ 'EUC_JP', 'a4a2 41', '&#12354;A' ],
	# one character there, two in Unicode
	[ 'EUC_JIS_2004', 'a4f7', '&#12363;&#12442;' ],
	# bytes without a meaning: UTF-8 where they are valid, here not in the middle and the end
	[ 'SQL_ASCII', 'c3a4 ff 41 e282', '&#228;&#65533;A&#65533;&#65533;' ]);

for (@labels)
{
	my ($encoding, $bytes, $html) = @$_;
	my $database = lc $encoding;
	sql($node, "CREATE DATABASE $database ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
	$node->safe_psql($database, 'CREATE EXTENSION pg_sync_probe');
	if ($encoding =~ /LATIN1|ASCII/)
	{
		is(import_into($node, $database, $document), "1\n2\n3\n4", "$encoding: import");
		is($node->safe_psql($database, $export), $document, "$encoding: export");
		# history() is of the cluster's own runs
		$node->safe_psql($database, 'UPDATE sync_probe.runs SET imported_at = NULL');
	}

	# octets, as no client encoding can send each of them
	my $page = $node->safe_psql($database, <<"SQL");
SET client_encoding = '$encoding';
INSERT INTO sync_probe.runs (run_id, suite, label)
VALUES (99, 'wal', convert_from(decode('$bytes', 'hex'), '$encoding'));
SELECT sync_probe.report_html('{99}');
SQL
	unlike($page, qr/[^\x09\x0A\x20-\x7E]/, "$encoding: the page is ASCII");
	like($page, qr/>\Q$html\E</, "$encoding: the label is in it");
}

# A client with another encoding gets the same bytes.
my @pages = map {
	$node->safe_psql('utf8', "SET client_encoding = '$_'; SELECT sync_probe.report_html('{99}')")
} qw(UTF8 LATIN1 EUC_JP);
is($pages[$_], $pages[0], "the same page for a client in $_") for 1 .. 2;

sql($node, "UPDATE sync_probe.runs SET label = 'd\xc3\xa9j\xc3\xa0 vu' WHERE run_id = 1");
for my $from ('latency_histogram', 'compare($${1}$$)', 'history()')
{
	my $bars = "SELECT string_agg(bar, \$\$\$\$) FROM sync_probe.$from";
	like(sql($node, "SET client_encoding = 'UTF8'; $bars"), qr/\xe2\x96/,
		"UTF8 on both sides: blocks: $from");
	for (
		[ 'postgres', 'LATIN1' ], [ 'latin1', 'UTF8' ], [ 'latin1', 'LATIN1' ],
		[ 'sql_ascii', 'UTF8' ], [ 'sql_ascii', 'LATIN1' ])
	{
		my ($database, $client) = @$_;
		like($node->safe_psql($database, "SET client_encoding = '$client'; $bars"), qr/^#+$/,
			"a database in $database, a client in $client: $from");
	}
}
is(sql($node, "SET client_encoding = 'LATIN1'; SELECT DISTINCT run FROM sync_probe.compare('{1}')"),
	"d\xe9j\xe0 vu", 'a LATIN1 client: a label');

# A document in UTF8 has letters that LATIN1 lacks: the server says so before it reads it.
like(($node->psql('latin1', "SET client_encoding = 'UTF8';"
		  . " SELECT sync_probe.import_json('{\"format\": \"\xe2\x96\x88\"}')"))[2],
	qr/has no equivalent in encoding "LATIN1"/, 'a letter that the database lacks');

# -------------------------------------------------------------------- privileges

my $literal = $document =~ s/'/''/gr;
my $import = "SELECT sync_probe.import_json('$literal')";
sql($node, 'CREATE ROLE importer; CREATE ROLE nobody;'
	  . ' GRANT EXECUTE ON FUNCTION sync_probe.import_json TO importer');
fails_ok($node, 'a role without EXECUTE', "SET ROLE nobody; $import", '42501',
	qr/permission denied for function import_json/);
is(sql($node, "SET ROLE importer; SELECT count(*) FROM ($import) AS i"), 4,
	'EXECUTE is enough to import');
fails_ok($node, 'the importer', "SET ROLE importer; $_", '42501',
	qr/permission denied for table runs/)
  for 'SELECT * FROM sync_probe.runs', 'DELETE FROM sync_probe.runs';

# Names that a caller puts in front of the path are not used, and settings are restored.
is(sql($node, <<"SQL"), "3\nAsia/Kolkata", 'what the caller has set');
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

# a statement that fails leaves nothing
my $broken = $document =~ s/"status": "ok"(?!.*"status": "ok")/"status": "fine"/r;
isnt($broken, $document, 'the last status is another one');
my $before = sql($node, 'SELECT count(*) FROM sync_probe.runs');
fails_ok($node, 'a bad value in the last run', 'SELECT sync_probe.import_json('
	  . "'" . ($broken =~ s/'/''/gr) . "')", '23514',
	qr/violates check constraint "measurements_status_check"/);
is(sql($node, 'SELECT count(*) FROM sync_probe.runs'), $before, 'all or nothing');

end_tests($node, $other);
