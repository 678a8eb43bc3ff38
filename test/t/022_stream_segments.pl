# The suites stream and segments in a real server: what a stream says while it runs, a stall that
# is made, its limit of bytes; names and sizes of segments, and their advice.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeTest;
use Time::HiRes qw(time);

# Files of a stream are not larger than its limit.
my $node = probe_cluster('stream', conf => "pg_sync_probe.max_stream_write = '48MB'");
add_tablespace($node, 'place');

my $unlimited = "LOAD 'pg_sync_probe'; SET pg_sync_probe.max_stream_write = '1TB';";

# --- what is seen of it

my ($status, $out, $err) = $node->psql('postgres', $unlimited . <<'SQL');
SELECT count(*) FROM sync_probe.probe('place', 'stream', duration => '1200 ms', label => 'seen');
SQL
like($err, qr{NOTICE:  \d+\.\d s, MB/s: \S+ 8 kB [0-9.]+, 64 kB [0-9.]+, 1 MB [0-9.]+(; .*)?$}m,
	'the rates of a round are told');
is((grep { length > 120 } map { s/^psql:.*?: //r } split /\n/, $err), 0,
	'in lines that fit a terminal');

# No two test cases at one time.
is(sql($node, <<'SQL'), 't|t|t', 'each second belongs to one test case');
SELECT count(*) >= 3, bool_and(gap >= -0.002), min(ordinal) = 1
FROM (SELECT ordinal, extract(epoch FROM lead(began_at) OVER (ORDER BY began_at) - began_at)
          - length_ms / 1000 AS gap
      FROM sync_probe.stream_seconds JOIN sync_probe.runs USING (run_id)
      WHERE label = 'seen') AS s
SQL

# --- a stall: the process is stopped for a while, once it is within a flush

my $session = session($node);
query($session, $unlimited);
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
is(sql($node, 'SELECT suite, phase FROM sync_probe.running'), 'stream|measuring',
	'it is seen while it runs');
finish_query($session);
is(sql($node, <<"SQL"), 't|t|t', 'a flush that stalled is found at its time');
SELECT count(*) > 0,
       bool_or(stalled_ms BETWEEN 500 AND 1000 * @{[ $continued - $stopped ]} + 1000
               AND extract(epoch FROM stalled_at)
                   BETWEEN @{[ $stopped - 1 ]} AND @{[ $continued + 1 ]}),
       bool_and(meanwhile ~ '^(the device was (idle|busy) \\d+ %|unknown: )')
FROM sync_probe_internal.stalls JOIN sync_probe.runs USING (run_id)
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
is(sql($node, <<'SQL'), '33554432', 'its files are not larger than that');
SELECT storage ->> 'file_bytes' FROM sync_probe.runs WHERE label = 'limit'
SQL

# --- segments: names that the server sweeps, before and after a rename, and sizes

$session = start_probe($node, "'pg_wal', 'segments', " . LONG_PROBE);
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
ok((grep { $_ == 1048576 } keys %sizes) > 0, 'sizes: a segment is as large as the server\'s');
is(join(' ', grep { $_ > 1048576 } sort keys %sizes), '', 'sizes: none is larger');
end_probe($node, $session);
is(leftovers($node), '', 'names: nothing is left');

# --- segments: a run that counts, and settings that it was made with

my $run = sub {
	my ($settings) = @_;
	return sql($node, <<"SQL");
$settings
SELECT FROM sync_probe.probe('pg_wal', 'segments', duration => '2 s') WHERE run_id IS NULL;
UPDATE sync_probe.runs SET usable_for_advice = true;
SELECT string_agg(concat_ws(' ', evidence ->> 'setting', evidence ->> 'current'), ', '
                  ORDER BY evidence ->> 'setting' DESC)
FROM sync_probe.findings
WHERE code = 'cow_wal_settings' AND location = 'pg_wal' AND evidence ? 'run_id';
SQL
};
is($run->('') =~ s/^\n+//r, 'wal_recycle on, wal_init_zero on', 'advice on present settings');
is($run->('SET wal_recycle = off; SET wal_init_zero = off;') =~ s/^\n+//r,
	'wal_recycle off, wal_init_zero off', 'advice on other settings');
is(leftovers($node), '', 'nothing is left');

end_tests($node);
