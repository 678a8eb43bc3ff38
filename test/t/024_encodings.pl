# The history in databases of other encodings: a report is ASCII, whatever bytes a label has; runs
# are imported and exported, and bars drawn, with what the encoding has.

use SyncProbeTest;

my $node = probe_cluster('history');
sql($node, <<'SQL');
SELECT FROM sync_probe.probe(duration => '500 ms', label => 'wal');
SELECT FROM sync_probe.probe('pg_wal', 'stream', '1 s', label => 'stream');
SQL
my $export =
  'SELECT sync_probe.export_json(array_agg(run_id ORDER BY run_id)) FROM sync_probe.runs';
my $document = sql($node, $export);

# Encoding, bytes of a label in it, and how HTML has them.  UTF-8: test/tap/html.sql.
for (
	[ 'LATIN1', 'e4 20 df', '&#228; &#223;' ], [ 'WIN1252', '80 81', '&#8364;&#65533;' ],
	# one character there, two in Unicode
	[ 'EUC_JIS_2004', 'a4f7', '&#12363;&#12442;' ],
	# bytes without a meaning: UTF-8 where they are valid, here not in the middle and the end
	[ 'SQL_ASCII', 'c3a4 ff 41 e282', '&#228;&#65533;A&#65533;&#65533;' ])
{
	my ($encoding, $bytes, $html) = @$_;
	my $database = lc $encoding;
	sql($node, "CREATE DATABASE $database ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
	$node->safe_psql($database, 'CREATE EXTENSION pg_sync_probe');
	is($node->safe_psql($database,
			"SELECT sync_probe.import_json(\$json\$$document\$json\$);\n$export"),
		"1\n2\n$document", "$encoding: runs are imported and exported");

	# octets, as no client encoding can send each of them
	my $page = $node->safe_psql($database, <<"SQL");
SET client_encoding = '$encoding';
INSERT INTO sync_probe.runs (run_id, suite, label) OVERRIDING SYSTEM VALUE
VALUES (99, 'wal', convert_from(decode('$bytes', 'hex'), '$encoding'));
SELECT sync_probe.report_html('{99}');
SQL
	unlike($page, qr/[^\x09\x0A\x20-\x7E]/, "$encoding: the page is ASCII");
	like($page, qr/>\Q$html\E</, "$encoding: the label is in it");
}

# test/tap/bar.sql has those of a database in UTF8
for my $database (qw(latin1 sql_ascii))
{
	is($node->safe_psql($database, "SET client_encoding = 'UTF8'; SELECT sync_probe.bar(1, 2)"),
		'##', "a bar in a database in $database");
}

end_tests($node);
