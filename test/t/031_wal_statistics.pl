# The pace that a probe takes from the server's statistics is that of this server's commits, or
# it is said to be unknown: after resets, on a standby, and after its promotion.
#
# Each commit is one flush, and nothing else writes WAL.  So the mean flush is the WAL of all
# commits, divided by their number.  No probe takes its pace from commit_waits(), for which
# commit_waits_max_age is 0.

use SyncProbeTest;

# With fewer than 1,000 flushes a probe does not ask the statistics.
use constant COMMITS => 1200;

my $primary = probe_cluster('primary', allows_streaming => 1, conf => <<'CONF');
autovacuum = off
checkpoint_timeout = '1d'
wal_writer_delay = '10s'
bgwriter_delay = '10s'
wal_receiver_status_interval = '1s'
synchronous_commit = on
wal_sync_method = fdatasync
log_statement = none
pg_sync_probe.commit_waits_max_age = 0
CONF
sql($primary, 'CREATE TABLE t (padding text)');
my $standby = add_standby($primary, 'standby', "cluster_name = 'standby'");

# Since 18 the flushes of each kind of process are counted, in a view of their own.
my $by_process = sql($primary,
	"SELECT count(*) > 0 FROM pg_attribute WHERE attrelid = to_regclass('pg_stat_io')"
	  . " AND attname = 'write_bytes'") eq 't';
my @views = ('wal', $by_process ? 'io' : ());

# A session reports to the statistics before it is gone.
sub wait_for_reports ($node)
{
	return $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity"
		  . " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
	  || die 'sessions do not end';
}

sub reset_views ($node, @names)
{
	wait_for_reports($node);
	return sql($node, 'SELECT ' . join(', ', map { "pg_stat_reset_shared('$_')" } @names));
}

# Since when the statistics count the WAL that is written now, and how many commits there were.
my ($position, $commits);

sub count_from ($node, $from)
{
	($position, $commits) = (sql($node, "SELECT $from"), 0);
	return;
}

sub commit_rows ($node, $bytes)
{
	sql($node, "INSERT INTO t VALUES (repeat('x', $bytes));\n" x COMMITS);
	$commits += COMMITS;
	wait_for_reports($node);
	return;
}

sub reset_and_commit ($node, $bytes)
{
	reset_views($node, @views);
	count_from($node, 'pg_current_wal_insert_lsn()');
	return commit_rows($node, $bytes);
}

# The WAL of a commit.
sub mean_wal { return sql($_[0], "SELECT (pg_current_wal_insert_lsn() - '$position') / $commits") }

# What a probe takes for the size of a flush is that of the commits, or 8192 if bytes is undef.
# unknown: what its NOTICE says to be unknown, why, and what is used instead; none without it.
sub pace_ok ($name, $node, $bytes, @unknown)
{
	my ($status, $size, $err) = $node->psql('postgres', "SELECT DISTINCT (run).flush_size"
		  . " FROM sync_probe_internal.probe_run('pg_wal', 'wal', duration => '50 ms')");
	my $about = $bytes // 8192;
	cmp_ok(abs($size - $about), '<=', defined $bytes ? 0.1 * $about : 0,
		"$name: $size bytes, of " . int($about)) or diag($err);
	my $notice = !@unknown ? '' :
	  sprintf("%s of this server unknown: %s\nDETAIL:  %s are used instead.\nHINT:  ", @unknown);
	is(($err =~ /NOTICE:  (.* unknown: .*\nDETAIL:  .*\nHINT:  )/)[0] // '', $notice,
		"$name: what is unknown");
	return;
}

# --- a primary; resets at different times; before 18 one view counts bytes and flushes

reset_and_commit($primary, 100);
pace_ok('primary', $primary, mean_wal($primary));
reset_views($primary, 'io') if $by_process;
commit_rows($primary, 1500);
pace_ok('resets apart', $primary, $by_process
	? (undef, 'flush size', 'pg_stat_wal and pg_stat_io were reset at different times',
		'8192 bytes')
	: mean_wal($primary));

# --- a reset while commit_waits() counts
#
# A busy machine may not be done with the reset before the call ends: then again, with more time.

my $session = session($primary);
my ($in_time, $out);
for my $seconds (5, 20, 80)
{
	start_query($session,
		"SELECT flushes_per_sec IS NULL AS lost FROM sync_probe.commit_waits('$seconds s')");
	$primary->poll_query_until('postgres', "SELECT clock_timestamp() - query_start > '1 s'"
		  . " FROM pg_stat_activity WHERE pid = $session->{pid}") or die 'the session is gone';
	$in_time = sql($primary, "SELECT FROM pg_stat_reset_shared('$views[-1]');\n"
		  . "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $session->{pid}") =~ /t$/;
	($out) = finish_query($session);
	last if $in_time;
}
ok($in_time, 'commit_waits() goes on after the reset');
is($out, "t\n", 'flushes of two times are not subtracted');
$session->quit;

# --- a standby: each commit waits for its flush there

$primary->append_conf('postgresql.conf', "synchronous_standby_names = '*'");
$primary->reload;
$primary->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_replication"
	  . " WHERE sync_state = 'sync'") or die 'the standby is not synchronous';
reset_views($standby, @views);
count_from($primary, 'pg_current_wal_insert_lsn()');
commit_rows($primary, 1000);
my $received = mean_wal($primary);
$primary->wait_for_catchup($standby);
$standby->poll_query_until('postgres', "SELECT fsyncs >= @{[COMMITS]} FROM pg_stat_io"
	  . " WHERE backend_type = 'walreceiver' AND object = 'wal' AND context = 'normal'")
  || die 'the walreceiver does not report' if $by_process;
pace_ok('standby', $standby, $by_process
	? ($received, 'flush interval', 'this server is a standby', '5 ms')
	: (undef, 'flush size and interval', 'this server is a standby', '8192 bytes and 5 ms'));
is(sql($standby, "SELECT flushes_per_sec IS NULL FROM sync_probe.commit_waits('100 ms')"), 't',
	'standby: commit_waits() counts no flushes');

my $rate = "SELECT split_part(basis, '; ', 1) FROM sync_probe.device_lifetime('pg_wal', 1, 1)";
is(sql($standby, $rate), 'pg_stat_wal does not count what a standby receives',
	'standby: recovery has not ended');

# --- promoted: the statistics go on, and what it did itself begins here

$primary->stop;
$standby->promote;
is(sql($standby, $rate), 'pg_stat_wal includes time as a standby',
	'promoted: recovery has ended since');
count_from($standby, 'pg_last_wal_replay_lsn()');
commit_rows($standby, 1500);
pace_ok('promoted', $standby, $by_process
	? (mean_wal($standby), 'flush interval', 'pg_stat_io includes time as a standby', '5 ms')
	: (undef, 'flush size and interval', 'pg_stat_wal includes time as a standby',
		'8192 bytes and 5 ms'));
reset_and_commit($standby, 1500);
pace_ok('promoted, and reset', $standby, mean_wal($standby));

end_tests($primary, $standby);
