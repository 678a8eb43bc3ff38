# The commit suite: workers flush WAL with methods of their own, change nothing that
# others see, and end however the run ends.  The archive beside it keeps working.

use SyncProbeTest;

use constant WORKER => 'pg_sync_probe commit worker';

# Always ended from outside.
use constant LONG_RUN => "'pg_wal', 'commit', workers => 3, " . LONG_PROBE;

my $archive_command = q('test -s "%p"');
my $node = probe_cluster('commits', allows_streaming => 1, conf => <<"CONF");
autovacuum = off
max_worker_processes = 12
wal_recycle = off
wal_sync_method = fdatasync
restart_after_crash = on
archive_mode = on
archive_command = $archive_command
CONF
sql($node, 'CREATE TABLE written (n int)');
my $write = 'INSERT INTO written VALUES (1); SELECT pg_switch_wal()';

sub commit_call { return "SELECT FROM sync_probe.probe('pg_wal', 'commit', $_[0])" }

sub wal_position { return sql($_[0], 'SELECT pg_current_wal_insert_lsn()') }

# How much WAL the server has written since.
sub bytes_since ($server, $position)
{
	return sql($server, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$position')");
}

# Kinds of records since, but for those of other resource managers.
sub records_since ($position, $column)
{
	# flushes WAL without a transaction, and removes none, as a checkpoint does
	sql($node, 'SELECT pg_switch_wal()');
	return sql($node, <<"SQL");
SELECT string_agg(DISTINCT $column, ',' ORDER BY $column)
FROM pg_get_wal_records_info('$position', pg_current_wal_flush_lsn())
WHERE resource_manager = 'XLOG' AND record_type = 'NOOP'
   OR resource_manager = 'Transaction' AND record_type IN ('COMMIT', 'ABORT')
SQL
}
my ($no_inspection) = $node->psql('postgres', 'CREATE EXTENSION pg_walinspect');

# The process ID of a worker.  A run measures before the server shows its workers.
sub a_worker
{
	my $workers = "FROM pg_stat_activity WHERE backend_type = '${\WORKER}'";
	$node->poll_query_until('postgres', "SELECT count(*) > 0 $workers") or die 'no worker is shown';
	return sql($node, "SELECT min(pid) $workers");
}

# --- a run, and what it records

# methods: test/tap/commits.sql
is(sql($node, <<'SQL'), 'commit_delay 0 current ok, commit_delay 10 ok|t', 'a row for each value');
SELECT string_agg(concat_ws(' ', test, method, choice, status), ', ' ORDER BY ordinal),
       bool_and(ops > 0 AND ops_per_sec > 0 AND p50_us <= max_us AND relative_speed > 0)
FROM sync_probe.probe('pg_wal', 'commit', workers => 3, flush_size => 300, duration => '2 s',
    commit_delays => '{0,10}', stop_early => false)
SQL
is(sql($node, <<'SQL'), 'commit|commit_delay|t|3|300||t|f|t|t', 'the run');
SELECT suite, setting, verdict IS NOT NULL, workers, flush_size,
       flush_interval, filesystem IS NOT NULL, usable_for_advice,
       (SELECT bool_and(m.ops = (SELECT sum(n) FROM unnest(s.bucket_ops) AS n))
        FROM sync_probe.measurements AS m
        JOIN sync_probe_internal.samples AS s USING (run_id, ordinal)
        WHERE run_id = r.run_id),
       (SELECT min(cardinality(s.round_mean_us)) > 1
        FROM sync_probe_internal.samples AS s WHERE s.run_id = r.run_id)
FROM sync_probe.runs AS r ORDER BY run_id DESC LIMIT 1
SQL

SKIP:
{
	skip 'no pg_walinspect', 2 if $no_inspection;
	# the header of a record depends on its size
	for my $size (27, 3000)
	{
		my $from = wal_position($node);
		sql($node, commit_call(
			"workers => 1, flush_size => $size, duration => '500 ms', record => false"));
		is(records_since($from, 'record_length::text'), $size, "records are of $size bytes");
	}
}

# paced, it commits as often as it is told
cmp_ok(sql($node, <<'SQL'), '<', 3 / 0.02 * 1.5, 'paced: no more commits than asked for');
SELECT sum(ops) FROM sync_probe.probe('pg_wal', 'commit', workers => 4, duration => '3 s',
    flush_interval => '20 ms', stop_early => false, record => false)
SQL

# --- while it runs: nobody's setting is touched, and everybody sees the workers
my $session = start_probe($node, LONG_RUN . ", methods => '{fsync}'");
is(sql($node, <<"SQL"), '3|fdatasync|0|commit|measuring',
SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = '@{[WORKER]}'),
       current_setting('wal_sync_method'), current_setting('commit_delay'), suite, phase
FROM sync_probe.running
SQL
	'workers show, and settings are as before');
end_probe($node, $session);

# --- workers write with leave of the leader only

# Stop the session in a slot, and not where it holds what others need, nor while it makes a segment,
# which would come into its place later.  Returns the position of WAL.
sub stop_leader ($run)
{
	for (1 .. 50)
	{
		# it does something else before the first slot, and between two of them
		sleep 0.1;
		kill 'STOP', $run->{pid};
		my @lsn = map { ($node->psql('postgres', 'SELECT pg_current_wal_insert_lsn()',
			timeout => 10, timed_out => \my $timed_out))[1] } 1 .. 5;
		# workers that leave a slot still write for a moment
		return $lsn[0] if $lsn[0] && $lsn[2] && $lsn[0] ne $lsn[2] && $lsn[2] ne $lsn[4]
		  && !-e $node->data_dir . "/pg_wal/xlogtemp.$run->{pid}";
		kill 'CONT', $run->{pid};
	}
	die 'the leader was never stopped in a slot';
}

sub stands_still_ok ($name)
{
	my $before = '';
	ok(wait_for(sub {
			my $now = wal_position($node);
			return 1 if $now eq $before;
			$before = $now;
			sleep 1;
			return 0;
		}), "$name: workers stop");
	return;
}

sub goes_on_ok ($name, $run)
{
	my $lsn = wal_position($node);
	kill 'CONT', $run->{pid};
	ok($node->poll_query_until('postgres', "SELECT pg_current_wal_insert_lsn() > '$lsn'"),
		"$name: they go on");
	return;
}

# a leader that hangs makes no segment, which on a full disk would be a PANIC in a worker
$session = start_probe($node, LONG_RUN . ", flush_size => 20000, flush_interval => '20 ms'");
my $stopped_lsn = stop_leader($session);
stands_still_ok('the leader hangs');
cmp_ok(bytes_since($node, $stopped_lsn), '<', 4 * 1024 * 1024,
	'the leader hangs: and they do so within three segments');
is(sql($node, <<'SQL'), 1, 'the leader hangs: others have a segment left');
SELECT count(*) FROM pg_ls_waldir()
WHERE name = pg_walfile_name(pg_current_wal_insert_lsn()
    + (SELECT setting::bigint FROM pg_settings WHERE name = 'wal_segment_size'))
SQL

# Others write WAL meanwhile, and a checkpoint removes what was before.  Segments that are made anew
# would be archived in the place of the old ones.
my $old_segments = <<'SQL';
SELECT count(*) FROM pg_ls_waldir(), pg_control_checkpoint()
WHERE name ~ '^[0-9A-F]{24}$' AND name < pg_walfile_name(redo_lsn)
SQL
sql($node, $write) for 1 .. 8;
ok(wait_for(sub {
		sql($node, 'INSERT INTO written VALUES (1); CHECKPOINT');
		return sql($node, $old_segments) == 0;
	}), 'the leader hangs: checkpoints remove old segments');
goes_on_ok('the leader goes on', $session);
is(sql($node, $old_segments), 0, 'the leader goes on: no old segment comes back');
end_probe($node, $session);

# With small records the segments last.  A reload may have changed the kind of method.
$session = start_probe($node, LONG_RUN . ", commit_delays => '{10}', flush_size => 27, "
	  . "flush_interval => '20 ms'");
stop_leader($session);
$node->reload;
stands_still_ok('a reload');
goes_on_ok('the method is as before', $session);
stop_leader($session);
$node->append_conf('postgresql.conf', 'wal_sync_method = open_datasync');
$node->reload;
stands_still_ok('another method');
my $changed_lsn = wal_position($node);
kill 'CONT', $session->{pid};
my ($out, $err) = finish_query($session);
$session->quit;
like($err, qr/NOTICE:  the commit suite ends early: wal_sync_method was changed to open_datasync$/m,
	'another method: the run ends');
SKIP:
{
	skip 'no pg_walinspect', 1 if $no_inspection;
	is(records_since($changed_lsn, 'record_type'), 'ABORT',
		'another method: workers flush nothing with the one before');
}
reload_with($node, 'wal_sync_method', 'fdatasync');

# --- how it ends
for (
	[ 'cancel', signal_backend($node, 'pg_cancel_backend'),
		qr/canceling statement due to user request/ ],
	[ 'terminate', signal_backend($node, 'pg_terminate_backend'),
		qr/terminating connection due to administrator command/ ],
	[ 'worker terminated', sub { sql($node, 'SELECT pg_terminate_backend(' . a_worker() . ')') },
		qr/ERROR:  a background worker of the commit suite has ended/ ],
	[ 'SIGKILL of the leader', sub { kill_process($node, $_[0]{pid}) }, qr/server closed/ ],
	[ 'SIGKILL of the postmaster', sub { kill_postmaster($node) },
		qr/server closed|unexpected postmaster exit/ ])
{
	my ($name, $end, $says) = @$_;
	my $run = start_probe($node, LONG_RUN);
	$end->($run);
	my ($out, $err) = finish_query($run);
	like($out . $err, $says, "$name: says so");
	unlike((query($run, commit_call("workers => 2, duration => '1 s'")))[1], qr/ERROR|FATAL/,
		'cancel: the session can go on') if $name eq 'cancel';
	eval { $run->quit };
	nothing_left($node, $name);
}

# --- what stood beside it
sql($node, $write);
ok(wait_for(sub { sql($node,
		'SELECT archived_count > 0 AND failed_count = 0 FROM pg_stat_archiver') eq 't' }),
	'the archive works');

# --- refused: what is done to the server and undone again, and why; on a standby: 019

# Whether the last attempt to archive has failed is as expected when this returns.
sub archive_with ($command, $fails)
{
	reload_with($node, 'archive_command', $command);
	sql($node, $write);
	return $node->poll_query_until('postgres',
		'SELECT last_failed_time > last_archived_time FROM pg_stat_archiver', $fails);
}

my $slot = "SELECT pg_create_physical_replication_slot('lazy', true)";
my $drop_slot = "SELECT pg_drop_replication_slot('lazy')";
for (
	[ 'a slot that would be lost',
		sub { reload_with($node, 'max_slot_wal_keep_size', '1GB'); sql($node, $slot) },
		sub { sql($node, $drop_slot); reload_with($node, 'max_slot_wal_keep_size', '-1') },
		qr/slot "lazy" is lost after \d+ MB of WAL/ ],
	[ 'fsync', sub { reload_with($node, 'fsync', 'off') },
		sub { reload_with($node, 'fsync', 'on') }, qr/fsync is off/ ],
	[ 'archive', sub { archive_with("'false'", 't') },
		sub { archive_with($archive_command, 'f') }, qr/last attempt to archive WAL has failed/ ],
	[ 'a slot that nobody reads', sub { sql($node, <<"SQL") },
$slot;
CREATE TABLE bulk AS SELECT repeat('x', 1000) AS t FROM generate_series(1, 80000);
SQL
		sub { sql($node, $drop_slot) }, qr/slot "lazy" retains more WAL than max_wal_size/ ])
{
	my ($name, $do, $undo, $says) = @$_;
	$do->();
	fails_whole_ok($node, $name, commit_call('workers => 1'), 55000,
		qr/cannot run the commit suite now/, $says);
	fails_ok($node, "$name: a load", "CALL sync_probe.trial(workload => 'upsert')", 55000, $says);
	$undo->();
}
sql($node, 'ALTER SYSTEM SET fsync = off');
fails_whole_ok($node, 'an edit that was not loaded', commit_call('workers => 1'), 55000,
	qr/postgresql\.auto\.conf" was changed since the server has read it/);
sql($node, 'ALTER SYSTEM RESET fsync');
$node->reload;
fails_whole_ok($node, 'more workers than there are', commit_call('workers => 64'), 53400,
	qr/not enough background workers/,
	qr/Needed: 64\. Free: \d+ of max_worker_processes \(12\)\./);

# a bound on WAL, beside a slot that has reserved none and is never lost
reload_with($node, 'max_slot_wal_keep_size', '1MB');
sql($node, "CHECKPOINT; SELECT pg_create_physical_replication_slot('unused')");
my $wal_before = wal_position($node);
$err = messages($node, "SET pg_sync_probe.max_commit_wal = '1MB'; "
	  . commit_call("workers => 3, flush_size => 100000, duration => '20 s', label => 'bound'"));
my $ends_early = qr/NOTICE:  the commit suite ends early: the server has written/;
like($err, qr/$ends_early .* of WAL\s+HINT:  \S+max_commit_wal limits/, 'max_commit_wal: a notice');
is(sql($node, "SELECT count(*) FROM sync_probe.runs JOIN sync_probe.measurements USING (run_id)"
		  . " WHERE label = 'bound'"), 2, 'max_commit_wal: the rows so far');
# the rest is that of the run's row and of other processes
cmp_ok(bytes_since($node, $wal_before), '<', 2 * 1024 * 1024,
	'max_commit_wal: workers write no more');

# --- methods of the other kind; the default is all of the kind in use

for ([ 'open_sync', 'fdatasync' ], [ 'fdatasync', 'open_datasync' ])
{
	my ($method, $current) = @$_;
	reload_with($node, 'wal_sync_method', $current);
	fails_ok($node, "$method beside $current",
		commit_call("methods => '{$current,$method}'"), 22023,
		qr/method "$method" must not be used beside "$current"/,
		qr/takes WAL that others have only written as flushed/,
		qr/use sync_probe\.probe\(\) with suite 'wal'/);
}
is(sql($node, <<'SQL'), 'open_datasync current ok, open_sync ok',
SELECT string_agg(concat_ws(' ', method, CASE choice WHEN 'current' THEN choice END, status), ', '
                  ORDER BY method)
FROM sync_probe.probe('pg_wal', 'commit', workers => 2, duration => '2 s')
SQL
	'open_datasync is compared with open_sync only');
$session = start_probe($node, LONG_RUN);
my $worker = a_worker();
my %flags;
ok(wait_for(sub {
		%flags = (%flags, open_flags($worker, qr{/pg_wal/[0-9A-F]{24}$}));
		return keys %flags > 1;
	}), 'a worker opens WAL with the flags of both');
end_probe($node, $session);

# --- the load that commit_waits() saw

my $writer = start_commits($node);
sql($node, "SELECT FROM sync_probe.commit_waits('1 s')");
fails_ok($node, 'beside load', commit_call("duration => '3 s'"), 55000,
	qr/suite "commit" cannot run beside the load of this server/,
	qr/DETAIL:  In 0\.3 s, \d+\.\d sessions were committing on average\.$/m,
	qr/HINT:  CALL sync_probe\.trial\(\) compares values on that load\.$/m);
end_probe($node, $writer);
like(messages($node, commit_call("duration => '3 s'")),
	qr/NOTICE:  workers: \d+; pauses between commits, as in .* that saw commits: [\d.]+ ms$/m,
	'a notice of the load');
is(sql($node, <<'SQL'), 't|t|t', 'workers and size are those of commit_waits()');
SELECT r.workers = w.committers, abs(r.flush_size - w.wal_bytes_per_commit) < 1,
       r.flush_interval IS NULL
FROM (SELECT * FROM sync_probe.runs ORDER BY run_id DESC LIMIT 1) AS r,
     (SELECT * FROM sync_probe.commit_wait_results ORDER BY started_at DESC LIMIT 1) AS w
SQL

# a load that begins later
$session = start_probe($node, LONG_RUN);
$writer = start_commits($node);
(undef, $err) = finish_query($session);
like($err, qr/the commit suite ends early: .* sessions of this server are committing now$/m,
	'a load that begins later ends it');
$session->quit;
end_probe($node, $writer);

# --- few workers, and little space

my $faults = PostgreSQL::Test::Utils::tempdir() . '/fault';
# the reserve is that of four segments
my $small = probe_cluster('small', faults => $faults, extra => ['--wal-segsize=16'],
	conf => <<'CONF');
max_worker_processes = 4
autovacuum = off
pg_sync_probe.reserve_percent = 0
CONF
$err = messages($small, commit_call("duration => '2 s', record => false"));
like($err, qr/NOTICE:  using 3 of 8 workers; max_worker_processes \(4\) is exhausted$/m,
	'the default number of workers is lowered');

sub let_be_free { return write_file($faults, "fstatvfs 1+ $_[0]MB pg_wal\n") }

# Near the end of a segment workers need another one.
sql($small, $_) for 'SELECT pg_switch_wal()', "SELECT pg_logical_emit_message(true, '', '')";
# WAL of workers takes half of what is free above the reserve of 64 MB, if two segments fit
for ([ 104, '20 MB' ], [ 90, '0 bytes' ])
{
	my ($free, $written) = @$_;
	let_be_free($free);
	my $begin = wal_position($small);
	$err = messages($small, commit_call(
		"workers => 3, flush_size => 100000, duration => '20 s', record => false"));
	like($err, qr/$ends_early $written of WAL\s+HINT:  Free space/, "$free MB free: a notice");
	cmp_ok(bytes_since($small, $begin), '<=',
		(split ' ', $written)[0] * 1024 * 1024 + 100000, "$free MB free: no more is written");
}
# suite wal makes its files smaller: usually they need 60 MB
let_be_free(76);
is(sql($small, <<'SQL') =~ s/^\n+//r, 't', '12 MB above the reserve: files of 1 MB or less');
SELECT FROM sync_probe.probe(duration => '100 ms') WHERE ops > 0;
SELECT (storage ->> 'file_bytes')::int <= 1048576 FROM sync_probe.runs
SQL
let_be_free(60);
fails_ok($small, 'less than the reserve', commit_call('workers => 3'), 53100,
	qr/not enough space at location "pg_wal"/,
	qr/60 MB is available, less than the reserve of 64 MB/);

# A round of nine slots of a second, without a need for segments.  Space shrinks in the first.
let_be_free(1000);
sql($small, 'SELECT pg_switch_wal()');
my $run = start_probe($small, "'pg_wal', 'commit', workers => 3, flush_size => 100000, "
	  . "flush_interval => '125 ms', commit_delays => '{1,2,3,4,5,6,7}', " . LONG_PROBE);
# a worker has asked when it started: only the leader by itself looks from now on
my $shrunk = wal_position($small);
$small->poll_query_until('postgres',
	"SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$shrunk') > 500000")
  or die 'the workers do not write';
$shrunk = wal_position($small);
let_be_free(60);
(undef, $err) = finish_query($run);
$run->quit;
like($err, qr/ERROR:  not enough space at location/, 'space shrinks: an error');
cmp_ok(bytes_since($small, $shrunk), '<', 2 * 1024 * 1024,
	'space shrinks: workers do not wait for the end of a slot');

nothing_left($_, $_->name) for $node, $small;
end_tests($node, $small);
