# One place decides each number of a version: pg_sync_probe.control that of the SQL,
# META.json that of the release.  All others say the same.  What was released does not change.

use strict;
use warnings;

use Digest::SHA;
use FindBin;
use lib $FindBin::RealBin;
use JSON::PP ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeRelease;
use SyncProbeTest;
use Test::More;

my $version = default_version();
like($version, qr/^\d+\.\d+$/, 'default_version is the version of the SQL, without a patch');

my $meta = JSON::PP->new->decode(slurp_file(source_file('META.json')));
my $release = $meta->{version};
like($release, qr/^\Q$version\E\.\d+$/, 'META.json: version is default_version and a patch');
is($meta->{provides}{pg_sync_probe}{version}, $release, 'META.json: what it provides');

# The first version that a file names, as it must be.  A release of a package may follow.
my $short = $release =~ s/\.0$//r;
for (
	[ 'CHANGELOG.md', qr/^## (\S+) \((?:\d{4}-\d\d-\d\d|not released)\)$/m, $short ],
	[ 'debian/changelog', qr/\A\S+ \(([^-)]+)(?:-[^)]+)?\) /, $release ],
	[ 'rpm/postgresql-pg_sync_probe.spec', qr/^Version:\s+(\S+)$/m, $release ],
	[ 'doc/installing.md', qr{--prefix=pg_sync_probe-(\S+)/}, $release ])
{
	my ($name, $pattern, $expected) = @$_;
	my ($found) = slurp_file(source_file($name)) =~ $pattern;
	is($found, $expected, "$name: the version is that of META.json");
}

# --- the scripts of releases

my %kept;
for my $line (-e source_file('src/sql/releases/SHA256SUMS')
	? split /\n/, slurp_file(source_file('src/sql/releases/SHA256SUMS')) : ())
{
	my ($sum, $name) = $line =~ /^([0-9a-f]{64})  (pg_sync_probe--[0-9.]+\.sql)$/;
	ok(defined $name, "SHA256SUMS: $line");
	$kept{$name} = 1;
	is(Digest::SHA->new(256)->addfile(source_file("src/sql/releases/$name"))->hexdigest, $sum,
		"$name is as it was released");
}
is(join(' ', grep { !$kept{ (split m{/})[-1] } } glob(source_file('src/sql/releases/*.sql'))), '',
	'each script of a release has a checksum');

# 1.0.1 has the same SQL as 1.0, so only the first release of a version keeps a script.
my $current = "pg_sync_probe--$version.sql";
my ($dated) = slurp_file(source_file('CHANGELOG.md')) =~ /^## \Q$version\E \((\d{4}-\d\d-\d\d)\)$/m;
is(defined $dated ? 1 : 0, $kept{$current} // 0, "$version has a date if it is kept");
if ($kept{$current})
{
	ok(joined_script() eq slurp_file(source_file("src/sql/releases/$current")),
		"$version is released, and make joins the same script; "
		  . 'after a change, default_version must be the next one');
}

# --- what the installed extension says

my $node = probe_cluster('release');
is($node->safe_psql('postgres',
		"SELECT extversion FROM pg_extension WHERE extname = 'pg_sync_probe'"),
	$version, 'what is installed is of that version');
like($node->safe_psql('postgres', 'SELECT sync_probe.report_html()'),
	qr/pg_sync_probe \Q$version\E\./, 'and the report says so');
my (undef, undef, $err) = $node->psql('postgres', <<'SQL');
SET client_min_messages = warning;
DO $$
BEGIN
    EXECUTE format('CREATE FUNCTION of_another_version() RETURNS text LANGUAGE c AS %L, %L',
                   (SELECT probin FROM pg_proc WHERE oid = 'sync_probe.bar'::regproc),
                   'sync_probe_bar');
END
$$;
SELECT of_another_version();
SQL
like($err, qr/library of pg_sync_probe, which is version \Q$release\E$/m,
	'the library is of the release');

# Each release can be updated to this one.
for my $old (grep { $_ ne $version } kept_versions())
{
	is($node->safe_psql('postgres', <<"SQL"), 't', "$old can be updated to $version");
SELECT path IS NOT NULL FROM pg_extension_update_paths('pg_sync_probe')
WHERE source = '$old' AND target = '$version'
SQL
}

$node->stop;
log_ok($node);
done_testing();
