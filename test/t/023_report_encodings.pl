# The report in databases of other encodings: all text becomes ASCII, and no encoding, and no
# byte that is wrong in one, is an error.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;

my $node = probe_cluster('report_encodings');

# Encoding, bytes of a label in it, and how HTML has them.
my @labels = (
	[ 'UTF8', 'c3a4 e282ac f09f9880', '&#228; &#8364; &#128512;' ],
	[ 'LATIN1', 'e4 20 df', '&#228; &#223;' ],
	[ 'LATIN9', 'a4', '&#8364;' ],
	[ 'WIN1252', '80 81', '&#8364;&#65533;' ],
	[ 'EUC_JP', 'a4a2 41', '&#12354;A' ],
	# one character there, two in Unicode
	[ 'EUC_JIS_2004', 'a4f7', '&#12363;&#12442;' ],
	# bytes without a meaning: UTF-8 where they are valid, here not in the middle and the end
	[ 'SQL_ASCII', 'c3a4 ff 41 e282', '&#228;&#65533;A&#65533;&#65533;' ]);

for my $case (@labels)
{
	my ($encoding, $bytes, $html) = @$case;
	my $database = lc "in_$encoding";
	$bytes =~ s/ /$encoding eq 'UTF8' ? '20' : ''/ge;
	$node->safe_psql('postgres',
		"CREATE DATABASE $database ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
	$node->safe_psql($database, 'CREATE EXTENSION pg_sync_probe');

	# octets, as no client encoding can send each of them
	my $page = $node->safe_psql($database, <<"SQL");
SET client_encoding = '$encoding';
INSERT INTO sync_probe.runs (suite, label)
VALUES ('wal', convert_from('\\x$bytes', '$encoding'));
SELECT sync_probe.report_html('{1}');
SQL
	unlike($page, qr/[^\x09\x0A\x20-\x7E]/, "$encoding: the page is ASCII");
	like($page, qr/<td>\Q$html\E</, "$encoding: the label is in it");
}

# A client with another encoding gets the same bytes.
my @pages = map {
	$node->safe_psql('in_utf8', "SET client_encoding = '$_'; SELECT sync_probe.report_html('{1}')")
} qw(UTF8 LATIN1 EUC_JP);
is($pages[1], $pages[0], 'the same page for a client in LATIN1');
is($pages[2], $pages[0], 'and in EUC_JP');

done_testing();
