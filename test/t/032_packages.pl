# What packages are made of: META.json follows PGXN's rules and names files that exist; what
# was made from another file still is what that makes.  Versions are in 026_release.pl.

use strict;
use warnings;

use FindBin;
use JSON::PP;
use Test::More;

my $root = "$FindBin::RealBin/../..";

sub contents
{
	my ($file) = @_;
	open my $handle, '<', "$root/$file" or die "could not open $file: $!";
	local $/ = undef;
	return scalar <$handle>;
}

# The first match of a pattern in a file.
sub found
{
	my ($file, $pattern) = @_;
	my ($match) = contents($file) =~ $pattern or die "$file has no $pattern";
	return $match;
}

# -- META.json, by the rules of PGXN's meta-spec 1.0.0

my $meta = decode_json(contents('META.json'));
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
is_deeply([ grep { !-e "$root/$extension->{$_}" } qw(file docfile) ], [],
	'whose files exist');
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

# -- one text

my ($major) = contents('debian/control') =~ /^Package: postgresql-(\d+)/m;
is(contents('debian/control'), contents('debian/control.in') =~ s/PGVERSION/$major/gr,
	'debian/control is made from debian/control.in');
my ($copyright) = contents('debian/copyright') =~ /\nLicense: PostgreSQL\n( .*)\z/s;
my ($license) = contents('LICENSE') =~ /\n\n(.*)\z/s;
is($copyright =~ s/^ \.?//mgr, $license, 'debian/copyright has the text of LICENSE');

done_testing();
