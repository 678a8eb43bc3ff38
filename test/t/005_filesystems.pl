# A tablespace, and pg_wal, on each file system that SP_TEST_FILESYSTEMS names
# ("ext4=/path xfs=/path ..."): every row is measured or says why not, and the
# files are gone afterwards.
#
# Each step is bounded, as a file system in user space (zfs-fuse) can hang: that
# is a skip with its reason, and the rest of the file system's steps with it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use File::Path qw(rmtree);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;

my %filesystems = prepared_filesystems('SP_TEST_FILESYSTEMS');
plan skip_all => 'SP_TEST_FILESYSTEMS names no file system to test on (needs root, see script/test)'
	unless %filesystems;

use constant STEP_SECONDS => $PostgreSQL::Test::Utils::timeout_default;

# What locations may call it, where that is not just its name; which statuses a
# row may have there besides ok: O_DIRECT is refused by some of them, and what
# the platform lacks is lacking everywhere.
my %called = (zfs => qr/^(zfs|fuse\b.*)$/);
my %statuses = map { $_ => { ok => 1, unsupported => 1, no_direct_io => 1 } } keys %filesystems;

# Statements on a session of their own, all within STEP_SECONDS; undef if not.
sub step
{
	my ($node, $name, $sql) = @_;
	my $out = '';
	my $timed_out;
	my ($status, $stdout, $stderr) = $node->psql('postgres',
		"SET client_min_messages = warning; SET statement_timeout = '" . STEP_SECONDS . "s'; $sql",
		timeout => STEP_SECONDS + 10, timed_out => \$timed_out);
	if ($timed_out || $stderr =~ /statement timeout/)
	{
		note "$name: $stderr";
		return undef;
	}
	diag("$name: $stderr") if $status;
	return $stdout;
}

# Rows of one probe that are not as they may be, or the word for none.
sub bad_rows
{
	my ($node, $name, $location, $suite) = @_;
	my $out = step($node, $name,
		"SELECT test, method, direct_io, status, ops, detail"
			  . " FROM sync_probe.probe('$location', '$suite', duration => '1 s')");
	return undef unless defined $out;
	my @rows = map { [ split /\|/, $_, 6 ] } split /\n/, $out;
	return 'no rows' unless @rows > 5 && grep { $_->[3] eq 'ok' } @rows;

	# A refusal is for O_DIRECT alone; a row is ok if and only if it has operations.
	return join "\n", map { join '|', @$_ } grep {
		my ($test, $method, $direct, $status, $ops) = @$_;
		!$statuses{ (split ' ', $name)[0] }{$status}
		  || ($status eq 'no_direct_io' && $direct ne 't')
		  || (($status eq 'ok') != ($ops > 0))
	} @rows;
}

# Runs the steps of a file system until one hangs.
sub test_steps
{
	my ($filesystem, @steps) = @_;
	for (@steps)
	{
		my ($name, $got, $expected) = @$_;
		my $value = $got->("$filesystem $name");
	  SKIP:
		{
			skip "$filesystem: $name did not end in " . STEP_SECONDS . ' seconds', 1 unless defined $value;
			ref $expected ? like($value, $expected, "$filesystem: $name")
				: is($value, $expected, "$filesystem: $name");
		}
		return 0 unless defined $value;
	}
	return 1;
}

sub location_is
{
	my ($node, $filesystem, $location) = @_;
	return [ 'locations names it',
		sub { step($node, shift, "SELECT filesystem FROM sync_probe.locations"
		  . " WHERE name = '$location'") },
		$called{$filesystem} // $filesystem ];
}

sub probe_steps
{
	my ($node, $filesystem, $location) = @_;
	return ((map { my $suite = $_;
			[ "$suite at $location", sub { bad_rows($node, shift, $location, $suite) },
				'' ] } qw(wal pg_test_fsync)),
		[ "nothing is left at $location", sub { leftovers($node) }, '' ]);
}

for my $filesystem (grep { !$filesystems{$_} } qw(ext4 xfs btrfs zfs tmpfs))
{
  SKIP: { skip "$filesystem: SP_TEST_FILESYSTEMS does not name one", 1 }
}

my $node = probe_cluster('filesystems', allows_streaming => 1);
for my $filesystem (sort keys %filesystems)
{
	# --- a tablespace there
	my $directory = "$filesystems{$filesystem}/tablespace";
	mkdir $directory or die "could not make $directory: $!";
	my $ended = test_steps($filesystem,
		[ 'a tablespace', sub { step($node, shift,
			"CREATE TABLESPACE on_$filesystem LOCATION '$directory'") }, '' ],
		location_is($node, $filesystem, "on_$filesystem"),
		probe_steps($node, $filesystem, "on_$filesystem"),
		[ 'DROP TABLESPACE', sub { step($node, shift, "DROP TABLESPACE on_$filesystem") }, '' ]);
	rmtree($directory) if $ended;

	# --- pg_wal there
  SKIP:
	{
		skip "$filesystem: a tablespace hung, pg_wal is not tried", 1 unless $ended;
		my $wal = "$filesystems{$filesystem}/wal";
		my ($free) = (split ' ', (split /\n/, `df -Pk '$filesystems{$filesystem}'`)[-1])[3];
		skip "$filesystem: no room for pg_wal, $free kB are free", 1 if $free < 200 * 1024;
		my ($moved, $made);
		eval {
			local $SIG{ALRM} = sub { die "timed out\n" };
			alarm STEP_SECONDS;
			$moved = probe_cluster("wal_on_$filesystem", allows_streaming => 1,
				extra => [ '--waldir', $wal ]);
			$made = 1;
		};
		alarm 0;
		skip "$filesystem: no cluster with pg_wal there: $@", 1 unless $made;
		test_steps($filesystem,
			location_is($moved, $filesystem, 'pg_wal'),
			probe_steps($moved, $filesystem, 'pg_wal'),
			[ 'recommendations', sub { step($moved, shift,
				"SELECT location, current_method, verdict IS NOT NULL, reason IS NOT NULL"
					  . " FROM sync_probe.recommendation_details WHERE holds_wal") },
				qr/^pg_wal\|\w+\|t\|t$/ ]);
		$moved->stop('immediate', fail_ok => 1);
		log_ok($moved);
		rmtree($wal);
	}
}

# --- of several tablespaces on a file system, probe_all() takes one that the role may use

SKIP:
{
	skip 'no file system of its own in memory', 2 unless $filesystems{tmpfs};
	for my $name (qw(a_first b_allowed))
	{
		mkdir "$filesystems{tmpfs}/$name" or die "could not make a directory: $!";
		$node->safe_psql('postgres', "CREATE TABLESPACE $name LOCATION '$filesystems{tmpfs}/$name'");
	}
	$node->safe_psql('postgres', <<'SQL');
CREATE ROLE prober LOGIN IN ROLE pg_monitor;
GRANT EXECUTE ON FUNCTION sync_probe.probe, sync_probe.probe_all TO prober;
GRANT CREATE ON TABLESPACE b_allowed TO prober;
SQL
	my $locations = "SELECT string_agg(location, ' ') FROM sync_probe.probe_all(duration => '20 ms')";
	my ($status, $out, $err) = $node->psql('postgres', $locations, extra_params => [ '-U', 'prober' ]);
	is($out, 'pg_wal b_allowed', 'probe_all() takes the tablespace that the role may use')
		or diag($err);
	unlike($err, qr/WARNING/, 'and warns of nothing');
}

$node->stop('immediate', fail_ok => 1);
log_ok($node);
done_testing();
