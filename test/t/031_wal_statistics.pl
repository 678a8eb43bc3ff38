# The pace that a probe takes from the server's statistics is that of this server's commits, or
# it is said to be unknown: after resets, on a standby, and after its promotion.
#
# Each commit is one flush, and nothing else writes WAL.  So the mean flush is the WAL of all
# commits, divided by their number.  No probe takes its pace from commit_waits(), for which
# commit_waits_max_age is 0.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;

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
$primary->safe_psql('postgres', 'CREATE TABLE t (padding text)');
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', "cluster_name = 'standby'");
$standby->start;

# Since 18 the flushes of each kind of process are counted, in a view of their own.
my $by_process = $primary->safe_psql('postgres',
	"SELECT current_setting('server_version_num')::integer >= 160000") eq 't'
  && $primary->safe_psql('postgres',
	"SELECT count(*) > 0 FROM pg_stat_io WHERE object = 'wal'") eq 't';
my $view = $by_process ? 'pg_stat_io' : 'pg_stat_wal';
note("flushes are counted in $view");

# A session reports to the statistics before it is gone.
sub wait_for_reports
{
	my ($node) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity"
		  . " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
	  or die 'sessions do not end';
	return;
}

sub reset_statistics
{
	my ($node, @views) = @_;
	wait_for_reports($node);
	$node->safe_psql('postgres', 'SELECT ' . join(', ', map { "pg_stat_reset_shared('$_')" } @views));
	return;
}

# Since when the statistics of a node count its WAL, and how many commits there were.
my %counted;

sub count_from
{
	my ($node, $position) = @_;
	$counted{ $node->name } =
	  { position => $node->safe_psql('postgres', "SELECT $position"), commits => 0 };
	return;
}

sub reset_all
{
	my ($node) = @_;
	reset_statistics($node, 'wal', $by_process ? 'io' : ());
	count_from($node, 'pg_current_wal_insert_lsn()');
	return;
}

sub commit_rows
{
	my ($node, $bytes) = @_;
	$node->safe_psql('postgres', "INSERT INTO t VALUES (repeat('x', $bytes));\n" x COMMITS);
	$counted{ $node->name }{commits} += COMMITS;
	wait_for_reports($node);
	return;
}

# The WAL of a commit.
sub mean_wal
{
	my ($node) = @_;
	my $counted = $counted{ $node->name };
	return $node->safe_psql('postgres', 'SELECT (pg_current_wal_insert_lsn()'
		  . " - '$counted->{position}') / $counted->{commits}");
}

# What a probe takes: the size in bytes, its source, the source of the interval, messages.
sub pace_of
{
	my ($node) = @_;
	my ($status, $out, $err) = $node->psql('postgres',
		"SELECT FROM sync_probe.probe(duration => '50 ms')");
	is($status, 0, 'a probe succeeds') or diag($err);
	my @pace = split /\|/, $node->safe_psql('postgres',
		'SELECT flush_size, flush_size_source, flush_interval_source,'
		  . ' observed_flush_interval IS NULL FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1');
	return (@pace, $err);
}

sub about
{
	my ($value, $expected, $name) = @_;
	cmp_ok(abs($value - $expected), '<=', 0.1 * $expected,
		"$name: $value bytes, of " . int($expected));
	return;
}

sub knows
{
	my ($node, $name) = @_;
	my $bytes = mean_wal($node);
	my ($size, $size_source, $interval_source, $unobserved, $err) = pace_of($node);
	about($size, $bytes, "$name: the flush size is that of its commits");
	is("$size_source $interval_source $unobserved", "$view $view f", "$name: sources");
	unlike($err, qr/unknown/, "$name: nothing is unknown");
	return;
}

# A NOTICE says what is unknown, why, and what is used instead.
sub tells
{
	my ($name, $messages, $what, $why, $instead) = @_;
	my $notice = "NOTICE:  $what of this server unknown: $why\nDETAIL:  $instead are used instead.\n";
	like($messages, qr/\Q$notice\EHINT:  \S/, "$name: a notice about the $what");
	return;
}

# --- a primary

reset_all($primary);
commit_rows($primary, 100);
knows($primary, 'primary');

# --- resets at different times

reset_statistics($primary, 'io') if $by_process;
commit_rows($primary, 1500);
if ($by_process)
{
	my ($size, $size_source, $interval_source, $unobserved, $err) = pace_of($primary);
	is("$size $size_source", '8192 default', 'resets apart: the flush size is unknown');
	is("$interval_source $unobserved", "$view f", 'resets apart: the flush interval is known');
	tells('resets apart', $err, 'flush size',
		'pg_stat_wal and pg_stat_io were reset at different times', '8192 bytes');
	my ($status, $out, $told) = $primary->psql('postgres',
		"SELECT FROM sync_probe.probe(duration => '50 ms', flush_size => 8192)");
	unlike($told, qr/unknown/, 'resets apart: not if a size is given');
}
else
{
	# one view counts bytes and flushes
	knows($primary, 'no reset');
}
reset_all($primary);
commit_rows($primary, 1500);
knows($primary, 'reset together');

# --- a reset while commit_waits() counts
#
# A busy machine may not be done with reset and commits before the call ends: then again, with
# more time.

reset_all($primary);
my $session = session($primary);
my $counts = "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $session->{pid}"
  . " AND query ~ 'commit_waits' AND state = 'active'";
my ($in_time, $out);
for my $seconds (5, 20, 80)
{
	start_query($session, "SELECT 'flushes', flushes, flushes_source"
		  . " FROM sync_probe.commit_waits('$seconds s')");
	$primary->poll_query_until('postgres', "SELECT clock_timestamp() - query_start > '1 s'"
		  . " FROM pg_stat_activity WHERE pid = $session->{pid}") or die 'the session is gone';
	$primary->safe_psql('postgres',
		"SELECT pg_stat_reset_shared('@{[$by_process ? 'io' : 'wal']}')");
	$primary->safe_psql('postgres', "INSERT INTO t VALUES ('x');\n" x 100);
	$in_time = $primary->safe_psql('postgres', $counts) eq 't';
	($out) = finish_query($session);
	last if $in_time;
}
ok($in_time, 'commit_waits() goes on after the reset');
like($out, qr/^\s*flushes\s*\|\s*\|\s*$/m, 'flushes of two times are not subtracted');
$session->quit;

# --- a standby: each commit waits for its flush there

$primary->append_conf('postgresql.conf', "synchronous_standby_names = '*'");
$primary->reload;
$primary->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_replication"
	  . " WHERE sync_state = 'sync'") or die 'the standby is not synchronous';
reset_statistics($standby, 'wal', $by_process ? 'io' : ());
count_from($primary, 'pg_current_wal_insert_lsn()');
commit_rows($primary, 1000);
my $received = mean_wal($primary);
$primary->wait_for_catchup($standby);
$standby->poll_query_until('postgres', "SELECT fsyncs >= @{[COMMITS]} FROM pg_stat_io"
	  . " WHERE backend_type = 'walreceiver' AND object = 'wal' AND context = 'normal'")
  || die 'the walreceiver does not report' if $by_process;

my ($status, $sizes, $err) = $standby->psql('postgres', "SELECT DISTINCT write_size"
	  . " FROM sync_probe.probe(duration => '50 ms')");
if ($by_process)
{
	about($sizes, $received, 'standby: the flush size is that of the walreceiver');
	tells('standby', $err, 'flush interval', 'this server is a standby', '5 ms');
}
else
{
	is($sizes, 8192, 'standby: the flush size is the default');
	tells('standby', $err, 'flush size and interval', 'this server is a standby',
		'8192 bytes and 5 ms');
}
is($standby->safe_psql('postgres',
	"SET client_min_messages = warning;"
	  . " SELECT flushes IS NULL, flushes_source IS NULL FROM sync_probe.commit_waits('100 ms')"),
	't|t', 'standby: commit_waits() counts no flushes');

# --- how long an SSD lasts

sub wal_rate
{
	my ($node) = @_;
	return $node->safe_psql('postgres', "SELECT wal_bytes_per_sec, wal_rate_source"
		  . " FROM sync_probe.device_lifetime('pg_wal', 300000000000, 5000)");
}
like(wal_rate($primary), qr/^\|pg_stat_wal covers only/, 'primary: its rate of WAL');
is(wal_rate($standby), '|pg_stat_wal does not count what a standby receives',
	'standby: its rate of WAL is unknown');

# --- promoted: the statistics go on

my $recovery_end = 'SELECT CASE WHEN recovery_end > clock_timestamp() THEN 1'
  . " WHEN recovery_end < pg_postmaster_start_time() THEN -1 ELSE 0 END"
  . ' FROM sync_probe_internal.recovery_end()';
is($primary->safe_psql('postgres', $recovery_end), -1, 'primary: it never was in recovery');
is($standby->safe_psql('postgres', $recovery_end), 1, 'standby: recovery has not ended');
$primary->stop;
$standby->promote;
is($standby->safe_psql('postgres', $recovery_end), 0, 'promoted: recovery ended since the start');
is(wal_rate($standby), '|pg_stat_wal includes time as a standby',
	'promoted: its rate of WAL is unknown');

# what it did itself begins here
count_from($standby, 'pg_last_wal_replay_lsn()');
commit_rows($standby, 1500);
my $own = mean_wal($standby);
my ($size, $size_source, $interval_source, $unobserved, $told) = pace_of($standby);
is("$interval_source $unobserved", 'default t', 'promoted: the flush interval is unknown');
if ($by_process)
{
	about($size, $own, 'promoted: the flush size is that of its commits');
	is($size_source, $view, 'promoted: its source');
	tells('promoted', $told, 'flush interval', 'pg_stat_io includes time as a standby', '5 ms');
}
else
{
	is("$size $size_source", '8192 default', 'promoted: the flush size is unknown, too');
	tells('promoted', $told, 'flush size and interval', 'pg_stat_wal includes time as a standby',
		'8192 bytes and 5 ms');
}

reset_all($standby);
commit_rows($standby, 1500);
knows($standby, 'promoted, and reset');
$standby->restart;
commit_rows($standby, 1500);
knows($standby, 'restarted');

$standby->stop;
log_ok($_) for $primary, $standby;
done_testing();
