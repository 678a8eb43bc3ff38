# Suite segments: however it ends, no file of it stays; its files have names that the server
# sweeps, before and after a rename; and the reserve of free space is checked for each.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;
use Time::HiRes qw(sleep);

use constant MB => 1024 * 1024;

my $library = build_directory() . '/test/fault/fail_calls.so';
my $control_file = PostgreSQL::Test::Utils::tempdir() . '/fault';

my $node = probe_cluster('segments', conf => 'restart_after_crash = on');
if ($^O eq 'linux')
{
	$node->stop;
	# the server's environment; psql is started without
	local $ENV{LD_PRELOAD} = join ' ', $library, grep { defined } $ENV{LD_PRELOAD};
	local $ENV{SP_FAULT_FILE} = $control_file;
	$node->start;
}
add_tablespace($node, 'place');

sub segments { return "sync_probe.probe('$_[0]', 'segments', " . LONG_PROBE . ')' }

# --- names and sizes, while they come and go

my $session = start_probe($node, "'pg_wal', 'segments', " . LONG_PROBE);
my %seen;
my %sizes;
for (1 .. 300)
{
	for my $file (probe_files($node))
	{
		my $size = -s $file;
		$seen{ $file =~ s{.*/}{}r }++;
		$sizes{$size}++ if defined $size;
	}
	last if keys %seen > 5 && $_ > 50;
	sleep 0.01;
}
my $ours = qr/^xlogtemp\.$session->{pid}\.sync_probe\.(\d+)$/;
is(join(' ', grep { $_ !~ $ours } sort keys %seen), '', 'names: all are swept after a crash');
ok((grep { /$ours/ && $1 >= 48 } keys %seen) > 0, 'names: files were seen after their rename');
ok((grep { $_ == MB } keys %sizes) > 0, 'sizes: a segment is as large as the server\'s');
is(join(' ', grep { $_ > MB } sort keys %sizes), '', 'sizes: none is larger');
end_probe($node, $session);
is(leftovers($node), '', 'names: nothing is left');

# --- cancelled at any moment

seed_random();
$session = session($node);
for my $n (1 .. 12)
{
	my $location = (qw(pg_wal place))[ $n % 2 ];
	start_query($session, 'SELECT FROM ' . segments($location));
	sleep rand(0.4);
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{pid})");
	my ($out, $err) = finish_query($session);
	like($err, qr/canceling statement due to user request/, "cancelled at random, $n of 12");
	is(descriptors($session->{pid}) . leftovers($node), '', "cancelled at random, $n: nothing left");
}
$session->quit;

# --- a killed backend, and a crash of the server

for my $location (qw(pg_wal place))
{
	$session = start_probe($node, "'$location', 'segments', " . LONG_PROBE);
	kill_process($node, $session->{pid});
	finish_query($session);
	ok(wait_for(sub { !pid_alive($session->{pid}) }), "killed at $location: the backend is gone");
	eval { $session->{run}->finish };
	is(leftovers($node), '', "killed at $location: nothing is left after the restart");
	works_ok($node, "killed at $location", "'$location'");
}

# --- the reserve is checked for each segment that is created

SKIP:
{
	skip 'preloading is only tried on Linux', 4 if $^O ne 'linux';
	my $set_fault = sub {
		open my $file, '>', $control_file or die "$control_file: $!";
		print $file @_;
		close $file;
	};

	$session = session($node);
	for my $location (qw(pg_wal place))
	{
		# after the files of the beginning, which ask less often
		$set_fault->("# $location\nfstatvfs 6+ 0MB\n");
		my ($out, $err) = query($session, 'SELECT FROM ' . segments($location));
		like($err, qr/not enough space to go on probing location "$location"/,
			"no space at $location: the probe ends");
		$set_fault->('');
		is(leftovers($node), '', "no space at $location: nothing is left");
	}
	$session->quit;
}

# --- a run that counts, and settings that it was made with

my $run = sub {
	my ($settings) = @_;
	return $node->safe_psql('postgres', <<"SQL");
SET client_min_messages = warning;
$settings
SELECT FROM sync_probe.probe('pg_wal', 'segments', duration => '2 s') WHERE run_id IS NULL;
UPDATE sync_probe.runs SET usable_for_advice = true;
SELECT string_agg(setting || ' ' || current_value, ', ' ORDER BY setting DESC)
FROM sync_probe.segment_advice WHERE location = 'pg_wal';
SQL
};
is($run->('') =~ s/^\n+//r, 'wal_recycle on, wal_init_zero on', 'advice on present settings');
is($run->('SET wal_recycle = off; SET wal_init_zero = off;') =~ s/^\n+//r,
	'wal_recycle off, wal_init_zero off', 'advice on other settings');
is(leftovers($node), '', 'nothing is left');

$node->stop;
log_ok($node);
done_testing();
