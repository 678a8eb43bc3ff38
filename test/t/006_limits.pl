# What must not grow: messages while a probe runs, what a stream writes, a backend's memory, the
# work of locations with their number.  Many probes in a row are in test/full/many_at_once.pl.

use SyncProbeTest;

my $node = probe_cluster('limits');

# --- progress: a short line a second at most

my %line = (
	wal => qr/(paced|saturated): \w+ \d+ [um]s(, \w+ \d+ [um]s)*/,
	stream => qr{MB/s: \S+ 8 kB [0-9.]+, 64 kB [0-9.]+, 1 MB [0-9.]+(; .*)?});

for my $suite (sort keys %line)
{
	my $err = messages($node, "LOAD 'pg_sync_probe';"
		  . " SET pg_sync_probe.max_stream_write = '1TB'; SELECT FROM sync_probe.probe(suite =>"
		  . " '$suite', duration => '3 s', stop_early => false, record => false)");
	my @lines = grep { !/^NOTICE:  (?:writing files|too few samples)/ }
	  split /\n/, $err =~ s/^psql:<stdin>:\d+: //gmr;
	cmp_ok(scalar(@lines), '>', 0, "progress of $suite: there is some");
	is(join("\n", grep { !/^NOTICE:  \d+\.\d s, $line{$suite}$/ || length > 120 } @lines),
		'', "progress of $suite: time, and means or rates, in 120 characters at most");
	# rounded to a tenth
	my @times = map { /^NOTICE:  (\S+) s, / } @lines;
	is(join("\n", map { $times[$_] - $times[ $_ - 1 ] < 0.9 ? $lines[$_] : () } 1 .. $#times), '',
		"progress of $suite: a line a second at most");
}

# --- a short probe: a longer one would get advice, unless its pace is given

my @short = map { messages($node, "SELECT FROM sync_probe.probe(duration => '20 ms'$_)") }
  '', ", flush_interval => '2 ms'";
like($short[0], qr/NOTICE:  too few samples for advice/, 'a short probe has none');
unlike($short[1], qr/too few/, 'a given pace never has');

# --- what a stream may write

my (undef, $within, $err) = $node->psql('postgres', <<'SQL');
LOAD 'pg_sync_probe';
SET pg_sync_probe.max_stream_write = '48MB';
SELECT sum(ops * pg_size_bytes(test)) <= 48 * 1048576
FROM sync_probe.probe('pg_wal', 'stream', duration => '120 s');
SELECT sum(bytes) <= 48 * 1048576, min((storage ->> 'file_bytes')::int) <= 48 * 1048576
FROM sync_probe_internal.stream_seconds JOIN sync_probe.runs USING (run_id)
SQL
is($within, "t\nt|t", 'a stream writes no more than its limit');
like($err, qr/NOTICE:  the run ended after \d+\.\d s: .*max_stream_write \(48 MB\) is used up
DETAIL:  .*\. At this rate, the whole duration would write \d\S* [MGT]B\.
HINT:  A superuser can raise the limit/, 'a stream says that it has written its limit');

# --- memory of the backend, in kB

my $session = session($node);
query($session, 'SELECT FROM sync_probe.locations, sync_probe.running');
append_to_file("/proc/$session->{pid}/clear_refs", '5');	# VmHWM begins anew
my $before = memory($session->{pid}, 'VmRSS');
(my $out, $err) = query($session, 'SELECT sum(ops) > 0 FROM sync_probe.probe('
	  . "duration => '3 s', stop_early => false, record => false)");
is($out, "t\n", 'a probe of 3 s') or diag($err);
cmp_ok(memory($session->{pid}, 'VmHWM') - $before, '<', 8 * 1024,
	'it takes less than 8 MB at its peak');
$session->quit;

# --- 200 tablespaces

sub create_tablespaces
{
	sql($node, join "\n", 'SET allow_in_place_tablespaces = on;',
		map { sprintf "CREATE TABLESPACE in_place_%03d LOCATION '';", $_ } @_);
}

# Those that are examined if this one is named.
sub examined
{
	return sql($node, "SELECT string_agg(name, ' ')"
		  . " FROM sync_probe_internal.examine_locations(NULL, '{$_[0]}')");
}

create_tablespaces(1 .. 98);
my $left = sql($node, "SELECT oid FROM pg_tablespace WHERE spcname = 'in_place_050'");
($left) = glob $node->data_dir . "/pg_tblspc/$left/PG_*";
append_to_file("$left/pgsql_tmp_sync_probe.power_test", 'numbers');
is(examined('in_place_098'), 'pg_wal pg_default in_place_050 in_place_098',
	'100 locations: files of power tests are looked for in all');
create_tablespaces(99 .. 200);
is(sql($node, <<'SQL'), '202|202|t|201', '200 tablespaces: locations has them all');
SELECT count(*), count(DISTINCT name), bool_and(directory IS NOT NULL AND available_bytes > 0),
       count(*) FILTER (WHERE shares_filesystem_with = 'pg_wal')
FROM sync_probe.locations
SQL
is(examined('in_place_100'), 'pg_wal pg_default in_place_100', '200 tablespaces: few are examined');
is(sql($node, 'SELECT sync_probe.cleanup()'), 1, '200 tablespaces: cleanup() goes through them');
is(sql($node, <<'SQL'), 'pg_wal', '200 tablespaces: probe_all() probes one file system once');
SELECT string_agg(location, ' ') FROM sync_probe.probe_all(duration => '100 ms')
SQL

end_tests($node);
