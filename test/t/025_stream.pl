# The stream suite in a real server: what it says while it runs, a stall that is made, its
# limit of bytes, all its endings, and a location in memory.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use File::Path qw(remove_tree);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;
use Time::HiRes qw(sleep time);

# Files of a stream are not larger than its limit.
my $node = probe_cluster('stream', conf => "restart_after_crash = on\n"
	  . "pg_sync_probe.max_stream_write = '48MB'");
add_tablespace($node, 'place');

use constant ENDLESS => "'stream', duration => '300 s', record => false";
use constant UNLIMITED => "LOAD 'pg_sync_probe'; SET pg_sync_probe.max_stream_write = '1TB'";

# --- what is seen of it

my ($status, $out, $err) = $node->psql('postgres', UNLIMITED . <<'SQL');
;
SELECT count(*) FROM sync_probe.probe('place', 'stream', duration => '1200 ms', label => 'seen');
SQL
like($err, qr{NOTICE:  \d+\.\d s, MB/s: \S+ 8 kB [0-9.]+, 64 kB [0-9.]+, 1 MB [0-9.]+(; .*)?$}m,
	'the rates of a round are told');
is((grep { length > 120 } map { s/^psql:.*?: //r } split /\n/, $err), 0,
	'in lines that fit a terminal');

# No two test cases at one time.
is($node->safe_psql('postgres', <<'SQL'), 't|t|t', 'each second belongs to one test case');
SELECT count(*) >= 3, bool_and(gap >= -0.002), min(ordinal) = 1
FROM (SELECT ordinal, extract(epoch FROM lead(began_at) OVER (ORDER BY began_at) - began_at)
          - length_ms / 1000 AS gap
      FROM sync_probe.stream_seconds JOIN sync_probe.runs USING (run_id)
      WHERE label = 'seen') AS s
SQL

# --- a stall: the process is stopped for a while, once it is within a flush

my $session = session($node);
query($session, UNLIMITED);
start_query($session, "SELECT FROM sync_probe.probe('place', 'stream', duration => '6 s',"
	  . " label => 'stopped')");
wait_phase($node, $session, 'measuring');
my ($stopped, $continued) = (time);
for (1 .. 6)
{
	kill 'STOP', $session->{pid};
	sleep 0.6;
	kill 'CONT', $session->{pid};
	sleep rand(0.1);
}
$continued = time;
is($node->safe_psql('postgres', 'SELECT suite, phase FROM sync_probe.running'), 'stream|measuring',
	'it is seen while it runs');
finish_query($session);
is($node->safe_psql('postgres', <<"SQL"), 't|t|t', 'a flush that stalled is found at its time');
SELECT count(*) > 0,
       bool_or(stalled_ms BETWEEN 500 AND 1000 * @{[ $continued - $stopped ]} + 1000
               AND extract(epoch FROM stalled_at)
                   BETWEEN @{[ $stopped - 1 ]} AND @{[ $continued + 1 ]}),
       bool_and(meanwhile ~ '^(the device was (idle|busy) \\d+ %|unknown: )')
FROM sync_probe.stalls JOIN sync_probe.runs USING (run_id)
WHERE label = 'stopped' AND kind = 'flush'
SQL

# --- the limit of bytes

($status, $out, $err) = $node->psql('postgres', <<'SQL');
SELECT count(*) > 2 FROM sync_probe.probe('pg_wal', 'stream', duration => '120 s', label => 'limit');
SELECT sum(bytes) <= 48 * 1048576, sum(bytes) > 47 * 1048576
FROM sync_probe.stream_seconds JOIN sync_probe.runs USING (run_id) WHERE label = 'limit';
SQL
is($out, "t\nt|t", 'a stream writes no more than its limit, and all of it');
like($err, qr/NOTICE:  the run ended after \d+\.\d s: pg_sync_probe\.max_stream_write \(48 MB\) is used up
DETAIL:  What was measured until then counts\. At this rate, the whole duration would write \d\S* [MGT]B\.
HINT:  A superuser can raise the limit/, 'and says so');
is($node->safe_psql('postgres', <<'SQL'), '33554432', 'its files are not larger than that');
SELECT storage ->> 'file_bytes' FROM sync_probe.runs WHERE label = 'limit'
SQL

# --- all endings

for (
	[ 'cancelled', signal_backend($node, 'pg_cancel_backend'),
		qr/canceling statement due to user request/, 1 ],
	[ 'terminated', signal_backend($node, 'pg_terminate_backend'),
		qr/terminating connection due to administrator command/, 0 ],
	[ 'killed', sub { kill_process($node, $_[0]{pid}) }, qr/connection.*(lost|closed)/, 0 ])
{
	my ($ending, $end, $says, $survives) = @$_;
	for my $location (qw(pg_wal place))
	{
		my $name = "$ending at $location";
		$session = session($node);
		query($session, UNLIMITED);
		start_query($session, "SELECT FROM sync_probe.probe('$location', " . ENDLESS . ')');
		wait_phase($node, $session, 'measuring');
		isnt(join('', probe_files($node)), '', "$name: there were files");
		$end->($session);
		($out, $err) = finish_query($session);
		client_told_ok($node, $session, $name, $says, $out, $err);
		is(descriptors($session->{pid}), '', "$name: no descriptor is open") if $survives;
		$survives ? $session->quit : eval { $session->{run}->finish };
		ok(wait_for(sub { !pid_alive($session->{pid}) }), "$name: the backend is gone");
		is(leftovers($node), '', "$name: nothing is left");
		works_ok($node, $name, "'$location', 'stream'");
	}
}

# --- a location in memory: there is no device to ask

SKIP:
{
	my $directory = '/dev/shm/sync_probe_test_' . $$;
	skip 'no memory to write to', 2 unless -w '/dev/shm' && mkdir $directory;
	add_tablespace($node, 'memory', $directory);
	my $filesystem = $node->safe_psql('postgres',
		"SELECT filesystem FROM sync_probe.locations WHERE name = 'memory'");
	SKIP:
	{
		skip "/dev/shm is $filesystem", 2 if $filesystem ne 'tmpfs';
		is($node->safe_psql('postgres', <<'SQL'), 't|t', 'memory: it is measured');
SET client_min_messages = warning;
SELECT bool_and(ops > 0 OR status IN ('no_direct_io', 'stopped')), bool_or(ops > 0)
FROM sync_probe.probe('memory', 'stream', duration => '300 ms', label => 'memory')
SQL
		is($node->safe_psql('postgres', <<'SQL'), 't|0', 'memory: no device has done anything');
SELECT count(*) > 0, count(coalesce(device_writes, device_bytes, device_flushes))
FROM sync_probe.stream_seconds JOIN sync_probe.runs USING (run_id) WHERE label = 'memory'
SQL
	}
	$node->safe_psql('postgres', 'DROP TABLESPACE memory');
	remove_tree($directory);
}

$node->stop;
log_ok($node);
done_testing();
