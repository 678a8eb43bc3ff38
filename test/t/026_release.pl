# One place decides each number of a version: pg_sync_probe.control that of the SQL,
# META.json that of the release.  All others say the same.  What was released does not change.
# META.json follows PGXN's rules, and what was made from another file still is what that makes.

use FindBin;
use lib $FindBin::RealBin;
use Digest::SHA;
use JSON::PP ();
use SyncProbeRelease;
use SyncProbeTest;

my $version = default_version();
like($version, qr/^\d+\.\d+$/, 'default_version is the version of the SQL, without a patch');

sub contents_of { return slurp_file(source_file($_[0])) }

my $meta = JSON::PP->new->decode(contents_of('META.json'));
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
	my ($found) = contents_of($name) =~ $pattern;
	is($found, $expected, "$name: the version is that of META.json");
}

# --- the scripts of releases

my %kept;
for my $line (-e source_file('src/sql/releases/SHA256SUMS')
	? split /\n/, contents_of('src/sql/releases/SHA256SUMS') : ())
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
my ($dated) = contents_of('CHANGELOG.md') =~ /^## \Q$version\E \((\d{4}-\d\d-\d\d)\)$/m;
is(defined $dated ? 1 : 0, $kept{$current} // 0, "$version has a date if it is kept");
if ($kept{$current})
{
	ok(joined_script() eq contents_of("src/sql/releases/$current"),
		"$version is released, and make joins the same script; "
		  . 'after a change, default_version must be the next one');
}

# --- META.json, by the rules of PGXN's meta-spec 1.0.0

my $semver = qr/^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z.-]+)?$/;
my %known = map { $_ => 1 } qw(name version abstract maintainer license provides meta-spec
	description generated_by tags no_index prereqs release_status resources);

is_deeply([ grep { !defined $meta->{$_} } qw(name version abstract maintainer license provides
	meta-spec) ], [], 'META.json has all that is required');
is_deeply([ grep { !$known{$_} && !/^[xX]_/ } keys %$meta ], [], 'and nothing unknown');
is($meta->{name}, 'pg_sync_probe', 'its name');
like($meta->{version}, $semver, 'its version is a semantic one');
is($meta->{'meta-spec'}{version}, '1.0.0', 'it follows version 1.0.0 of the rules');
is($meta->{license}, 'postgresql', 'its license by PGXN\'s name');
like($meta->{release_status}, qr/^(?:stable|testing|unstable)$/, 'its status');
is_deeply([ grep { length > 255 || m{[\\/[:cntrl:]]} || !length } @{ $meta->{tags} } ], [],
	'its tags are tags');

my ($extension, @others) = values %{ $meta->{provides} };
is_deeply(\@others, [], 'it provides one extension');
is_deeply([ grep { !-e source_file($extension->{$_}) } qw(file docfile) ], [], 'whose files exist');
is($extension->{abstract}, $meta->{abstract}, 'with the same abstract');

my %phases = map { $_ => 1 } qw(configure build test runtime develop);
my %relations = map { $_ => 1 } qw(requires recommends suggests conflicts);
my @wrong;
for my $phase (keys %{ $meta->{prereqs} })
{
	push @wrong, $phase unless $phases{$phase};
	for my $relation (keys %{ $meta->{prereqs}{$phase} })
	{
		push @wrong, "$phase $relation" unless $relations{$relation};
		my $needs = $meta->{prereqs}{$phase}{$relation};
		push @wrong, grep { $needs->{$_} !~ $semver } keys %$needs;
	}
}
is_deeply(\@wrong, [], 'and what it needs is told by the rules');

# --- one text

my ($major) = contents_of('debian/control') =~ /^Package: postgresql-(\d+)/m;
is(contents_of('debian/control'), contents_of('debian/control.in') =~ s/PGVERSION/$major/gr,
	'debian/control is made from debian/control.in');
my ($copyright) = contents_of('debian/copyright') =~ /\nLicense: PostgreSQL\n( .*)\z/s;
my ($license) = contents_of('LICENSE') =~ /\n\n(.*)\z/s;
is($copyright =~ s/^ \.?//mgr, $license, 'debian/copyright has the text of LICENSE');

# --- what the installed extension says

my $node = probe_cluster('release');
is(sql($node, "SELECT extversion FROM pg_extension WHERE extname = 'pg_sync_probe'"),
	$version, 'what is installed is of that version');
like(sql($node, 'SELECT sync_probe.report_html()'),
	qr/pg_sync_probe \Q$version\E\./, 'and the report says so');
my (undef, undef, $err) = $node->psql('postgres', <<'SQL');
SET client_min_messages = warning;
BEGIN;
ALTER TABLE sync_probe.runs RENAME COLUMN host TO other;
SELECT FROM sync_probe.probe(duration => '20 ms');
SQL
like($err, qr/this version of the extension, \Q$release\E, creates it\.$/m,
	'the library is of the release');

# Each release can be updated to this one.
for my $old (grep { $_ ne $version } kept_versions())
{
	is(sql($node, <<"SQL"), 't', "$old can be updated to $version");
SELECT path IS NOT NULL FROM pg_extension_update_paths('pg_sync_probe')
WHERE source = '$old' AND target = '$version'
SQL
}

end_tests($node);
