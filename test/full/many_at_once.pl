# Many at once, many in a row, for long: one call runs in the cluster, the others are refused at
# once; and nothing grows.
#
#	SP_PROBES			probes in a row
#	SP_SOAK_MINUTES		how long all calls are repeated after them

use File::Find qw(find);
use List::Util qw(sum0);
use SyncProbeTest;

use constant SESSIONS => 100;

# Segments of shared memory are files of the data directory, where they can be counted.
my $node = probe_cluster('many', allows_streaming => 1, conf => <<'CONF');
max_connections = 200
log_statement = none
autovacuum = off
dynamic_shared_memory_type = mmap
CONF
my @databases = qw(postgres one two);
for (@databases[ 1, 2 ])
{
	sql($node, "CREATE DATABASE $_");
	$node->safe_psql($_, 'CREATE EXTENSION pg_sync_probe');
}
my $standby = add_standby($node, 'standby');

# --------------------------------------------------------------------- many at once

my @probes = map { "SELECT count(*) FROM sync_probe.probe($_, duration => '20 ms')" }
  "'pg_wal', 'wal'", "'pg_default', 'pg_test_fsync'", "'pg_default', 'stream'",
  "'pg_wal', 'segments'";
my @everywhere = (@probes, "CALL sync_probe.power_test('pg_default', '1 s')",
	'SELECT sync_probe.cleanup()');
my @primary = (
	"SELECT count(*) FROM sync_probe.probe('pg_wal', 'commit', duration => '1 s')",
	pgbench_sql(SMALL_RUN), 'CALL sync_probe.run_workload(' . SMALL_RUN . ')',
	"CALL sync_probe.trial('commit_delay', '{50}', '1 s')");

# Every fourth session is one of the standby, the others are spread over the databases.  Returns
# how often each server has answered what: a SQLSTATE or "ok".
sub all_at_once
{
	my %count;
	my @runs = map {
		my $server = $_ % 4 ? $node : $standby;
		my @calls = $_ % 4 ? (@primary, @everywhere) : @everywhere;
		my $run = { name => $server->name, err => '' };
		$run->{handle} = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d',
				$server->connstr($databases[ $_ % @databases ]),
				'-c', $calls[ int($_ / 4) % @calls ] ],
			'<', \'', '>', '/dev/null', '2>', \$run->{err});
		$run;
	} 0 .. SESSIONS - 1;
	for my $run (@runs)
	{
		$run->{handle}->finish;
		my $answer = $run->{err} =~ /(?:ERROR|FATAL|PANIC):  (\w{5}): / ? $1 : 'ok';
		$count{"$run->{name} $answer"}++;
		note($run->{err}) if $answer !~ /^(ok|55P03)$/;
	}
	return join ', ', map { "$_ $count{$_}" } sort keys %count;
}

my %holder = map { $_->name => start_probe($_, "'pg_wal', " . LONG_PROBE) } $node, $standby;
is(all_at_once(), 'many 55P03 75, standby 55P03 25',
	'beside a probe each server refuses all sessions, of three databases');
like(end_probe($_, $holder{ $_->name }), qr/canceling statement due to user request/,
	$_->name . ': it goes on meanwhile') for $node, $standby;
like(all_at_once(), qr/^(many 55P03 \d+, )?many ok \d+, (standby 55P03 \d+, )?standby ok \d+$/,
	SESSIONS . ' sessions: some run, the others are refused');
nothing_left($_, 'many at once') for $node, $standby;

# ----------------------------------------------------------------------- nothing grows

# Without those of relations and of WAL, which the server keeps open.
sub open_files ($pid)
{
	return scalar grep { (readlink($_) // '') !~ m{/(base|global)/\d|/pg_wal/[0-9A-F]{24}$} }
	  glob("/proc/$pid/fd/*");
}

# What a session and the server have now.  The history is removed before, so that the sizes are
# those of what stays; WAL and the status of transactions are bounded elsewhere.  Of the catalog it
# is the rows: how much space dead ones take depends on when they are pruned.
sub sizes ($session)
{
	sql($node, 'TRUNCATE sync_probe.runs, sync_probe.measurements, sync_probe_internal.samples,'
		  . ' sync_probe_internal.stream_seconds, sync_probe.workload_results,'
		  . ' sync_probe.commit_wait_results');
	sql($node, 'VACUUM; CHECKPOINT');
	my ($files, $bytes) = (0, 0);
	find(sub {
		return if !-f $_ || $File::Find::name =~ m{/pg_(wal/[0-9A-F]{24}$|xact|subtrans|multixact)};
		$files++;
		$bytes += -s _ // 0;
	}, $node->data_dir);
	my @pids = ($session->{pid}, $node->{_pid});
	my ($counts, $catalog_bytes) = split /\|/, sql($node, <<'SQL');
SELECT string_agg(format('SELECT count(*) FROM %s', oid::regclass), ' UNION ALL '),
       sum(pg_total_relation_size(oid))
FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r'
SQL
	return {
		memory => sum0(map { memory($_, 'RssAnon') } @pids),
		descriptors => sum0(map { open_files($_) } @pids),
		catalog => sql($node, "SELECT sum(count) FROM ($counts) AS c"),
		files => $files,
		disk => int(($bytes - $catalog_bytes) / 1024) };
}

# By how much each may differ: caches of a session fill slowly.
my %tolerance = (memory => 1024);

# Calls in one session, of which none may fail.  Nothing grows once each has been made some times,
# if the catalog is vacuumed as often, whatever the speed.
sub repeat_ok ($name, $session, $calls, $warm_up, $go_on)
{
	my ($n, $before, %wrong) = (0);
	while ($go_on->($n) || $n <= 2 * $warm_up)
	{
		sql($node, 'VACUUM') if $n % $warm_up == 0;
		$before = sizes($session) if $n == $warm_up;
		my (undef, $err) = query($session, $calls->[ $n++ % @$calls ]);
		$wrong{$1} = 1 if $err =~ /((?:ERROR|FATAL|WARNING):.*)/;
	}
	is(join("\n", keys %wrong), '', "$name: $n calls work");
	my $after = sizes($session);
	for my $what (sort keys %$after)
	{
		cmp_ok($after->{$what} - $before->{$what}, '<=', $tolerance{$what} // 0,
			"$name: $what does not grow: $before->{$what}, $after->{$what}");
	}
	return;
}

my $session = verbose_session($node);
my $probes = $ENV{SP_PROBES} // 1000;
repeat_ok('probes', $session, \@probes, 100, sub { $_[0] < $probes });
my $end = time + 60 * ($ENV{SP_SOAK_MINUTES} // 3);
my @all = (@everywhere, @primary, 'SELECT length(sync_probe.report_html())',
	'SELECT count(*) FROM sync_probe.findings', 'SELECT count(*) FROM sync_probe.metrics');
repeat_ok('all calls', $session, \@all, 3 * @all, sub { time < $end });
$session->quit;
nothing_left($node, 'soak');
end_tests($standby, $node);
