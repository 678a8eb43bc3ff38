# What must not grow: a backend's memory with the length and number of probes,
# the work of locations with their number.  What is refused because it would take
# longer than told.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeTest;

my $node = probe_cluster('limits', allows_streaming => 1);

# --- a duration that has no room for one round of all test cases

my $rows = sql($node, "SELECT count(*) FROM sync_probe.probe(duration => '10 ms')");
fails_ok($node, 'too short', "SELECT FROM sync_probe.probe(duration => '10 ms', duty_cycle => 0.25)",
	'22023', qr/duration 10 ms is too short for one round of all test cases/,
	qr/DETAIL:  At this duty_cycle and flush_interval, \d+ ms are enough\.\n/,
	qr/HINT:  Use a longer duration, a larger duty_cycle, or a shorter flush_interval\.\n/);
is(leftovers($node), '', 'too short: nothing is left');
is(sql($node, <<'SQL'), "$rows|1|1", 'a pace of 0.6 s in a second: one round, no warming up');
SELECT count(*), min(ops) FILTER (WHERE status = 'ok' AND test = 'paced'),
    max(ops) FILTER (WHERE test = 'paced')
FROM sync_probe.probe(duration => '1 s', flush_interval => '600 ms', stop_early => false)
SQL

# --- progress: a line a second at most, short, and none that says what was said

for my $suite (qw(wal pg_test_fsync))
{
	my ($status, $out, $err) = $node->psql('postgres',
		"SELECT FROM sync_probe.probe(suite => '$suite', duration => '3 s', stop_early => false,"
			  . " record => false)");
	my @lines = grep { !/^NOTICE:  (?:writing files|too few rounds)/ }
	  split /\n/, $err =~ s/^psql:<stdin>:\d+: //gmr;
	my $test = $suite eq 'wal' ? '(?:paced|saturated)' : 'one_write';
	my (@close, %said);
	my $before = -1;

	cmp_ok(scalar(@lines), '>', 0, "progress of $suite: there is some");
	my $mean = qr/\w+ \d+ [um]s/;
	my $line = qr/^NOTICE:  \d+\.\d s, $test: $mean(?:, $mean)*$/;
	is(join("\n", grep { !/$line/ } @lines),
		'', "progress of $suite: time, test, and the mean of each method");
	is(join("\n", grep { length > 120 } @lines), '', "progress of $suite: 120 characters at most");
	for (@lines)
	{
		my ($time, $text, $which) = /^NOTICE:  (\S+) s, (.*?(\w+): .*)$/;
		push @close, $_ if $time - $before < 0.9;	# rounded to a tenth
		push @close, $_ if ($said{$which} // '') eq $text;
		($before, $said{$which}) = ($time, $text);
	}
	is(join("\n", @close), '', "progress of $suite: a line a second at most, and only what is new");
}

# --- memory of the backend, in kB

sub memory
{
	my ($pid, $field) = @_;
	return slurp_file("/proc/$pid/status") =~ /^$field:\s+(\d+) kB/m ? $1 : die "no $field of $pid";
}

SKIP:
{
	skip 'memory is read from /proc', 1 unless -e '/proc/self/status';
	my $session = session($node);
	my $pid = $session->{pid};
	my $probe = sub {
		my ($duration) = @_;
		my ($out, $err) = query($session,
			"SELECT sum(ops) > 0 FROM sync_probe.probe(duration => '$duration', stop_early =>"
				  . " false, record => false)");
		is($out, "t\n", "probe of $duration") or diag($err);
	};
	my $contexts = sub { (query($session,
		'SELECT sum(total_bytes) FROM pg_backend_memory_contexts'))[0] };

	# The first one counts whole; later ones get the memory that malloc() kept.
	my $peak = sub {
		my ($name, $duration) = @_;
		append_to_file("/proc/$pid/clear_refs", '5');	# VmHWM begins anew
		my $before = memory($pid, 'VmRSS');
		$probe->($duration);
		my $grown = memory($pid, 'VmHWM') - $before;
		note "$name of $duration: $grown kB";
		cmp_ok($grown, '<', 8 * 1024, "$name of $duration takes less than 8 MB at its peak");
	};
	query($session, 'SELECT FROM sync_probe.locations, sync_probe.running');
	$peak->('first probe', '100 ms');
	my $warm = memory($pid, 'RssAnon');
	my $warm_contexts = $contexts->();
	$peak->('probe', $_) for '1 s', '3 s';
	$probe->('10 ms') for 1 .. 20;
	cmp_ok(memory($pid, 'RssAnon') - $warm, '<', 2 * 1024, 'no memory stays after many probes');
	cmp_ok($contexts->() - $warm_contexts, '<', 64 * 1024, 'nor in a memory context');
	is(descriptors($pid), '', 'nor a descriptor');
	$session->quit;
}

# --- 200 tablespaces

my $tablespaces = join "\n", 'SET allow_in_place_tablespaces = on;',
  map { sprintf "CREATE TABLESPACE in_place_%03d LOCATION '';", $_ } 1 .. 200;
sql($node, $tablespaces);
is(sql($node, <<'SQL'), '202|202|t|201|in_place_200', '200 tablespaces: locations has them all');
SELECT count(*), count(DISTINCT name), bool_and(directory IS NOT NULL AND available_bytes > 0),
       count(*) FILTER (WHERE shares_filesystem_with = 'pg_wal'),
           max(name::text) FILTER (WHERE name LIKE 'in%')
FROM sync_probe.locations
SQL
works_ok($node, '200 tablespaces', "'in_place_200'");
is(sql($node, 'SELECT sync_probe.cleanup()'), 0, '200 tablespaces: cleanup() goes through them');
is(sql($node, <<'SQL'), 'pg_wal', '200 tablespaces: probe_all() probes one file system once');
SELECT string_agg(location, ' ') FROM sync_probe.probe_all(duration => '100 ms')
SQL

end_tests($node);
