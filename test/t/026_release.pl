# One place decides each number of a version: pg_sync_probe.control that of the SQL,
# META.json that of the release.  All others say the same.  What was released does not change.

use Digest::SHA;
use JSON::PP ();
use SyncProbeRelease;
use SyncProbeTest;

my $root = source_directory();

sub contents_of { return slurp_file("$root/$_[0]") }

my ($version) = contents_of('pg_sync_probe.control') =~ /^default_version = '(.*)'$/m;
my $meta = JSON::PP->new->decode(contents_of('META.json'));
my $release = $meta->{version};
my $provided = $meta->{provides}{pg_sync_probe};

like($version, qr/^\d+\.\d+$/, 'default_version is the version of the SQL, without a patch');
like($release, qr/^\Q$version\E\.\d+$/, 'META.json: version is default_version and a patch');
is($provided->{version}, $release, 'META.json: what it provides');
is(join(' ', grep { !-e "$root/$_" } @$provided{qw(file docfile)}), '', 'and its files exist');

# The first version that a file names, as it must be.  A release of a package may follow.
my $short = $release =~ s/\.0$//r;
for (
	[ 'CHANGELOG.md', qr/^## (\S+) \((?:\d{4}-\d\d-\d\d|not released)\)$/m, $short ],
	[ 'debian/changelog', qr/\A\S+ \(([^-)]+)(?:-[^)]+)?\) /, $release ],
	[ 'rpm/postgresql-pg_sync_probe.spec', qr/^Version:\s+(\S+)$/m, $release ],
	[ 'doc/installing.md', qr{--prefix=pg_sync_probe-(\S+)/}, $release ])
{
	my ($name, $pattern, $expected) = @$_;
	is((contents_of($name) =~ $pattern)[0], $expected, "$name: the version is that of META.json");
}

# --- the scripts of releases, with a checksum for each

my $current = "pg_sync_probe--$version.sql";
my $list = "$root/src/sql/releases/SHA256SUMS";
my %sums = -e $list ? reverse slurp_file($list) =~ /^(\w+)  (.*)$/mg : ();
my %scripts = map { ($_ => 1) } keys %sums, map { "pg_sync_probe--$_.sql" } kept_versions();
is(Digest::SHA->new(256)->addfile("$root/src/sql/releases/$_")->hexdigest, $sums{$_},
	"$_ is as it was released") for sort keys %scripts;

my $node = probe_cluster('release');

# 1.0.1 has the same SQL as 1.0, so only the first release of a version keeps a script.
my $released = contents_of('CHANGELOG.md') =~ /^## \Q$version\E \(\d{4}-\d\d-\d\d\)$/m;
is(!!$released, !!$sums{$current}, "$version has a date if it is kept");
ok(!$released || contents_of("src/sql/releases/$current")
	  eq slurp_file(build_directory() . "/$current"),
	'make joins the released script; after a change, default_version must be the next one');

# --- one text

my ($major) = contents_of('debian/control') =~ /^Package: postgresql-(\d+)/m;
is(contents_of('debian/control'), contents_of('debian/control.in') =~ s/PGVERSION/$major/gr,
	'debian/control is made from debian/control.in');
my ($copyright) = contents_of('debian/copyright') =~ /\nLicense: PostgreSQL\n( .*)\z/s;
my ($license) = contents_of('LICENSE') =~ /\n\n(.*)\z/s;
is($copyright =~ s/^ \.?//mgr, $license, 'debian/copyright has the text of LICENSE');

# --- what the installed extension says

like(sql($node, 'SELECT sync_probe.report_html()'),
	qr/pg_sync_probe \Q$version\E\./, 'the report says so');
is(sql($node, 'SELECT library, extension FROM sync_probe.version()'), "$release|$version",
	'version() knows both');

end_tests($node);
