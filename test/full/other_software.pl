# What backups and pg_rewind take along of a probe that is measuring, of the file of a power test,
# and of what a killed probe has left.  pg_basebackup and pg_checksums beside a power test are in
# test/t/037_power_test.pl, pg_dump in 027, pg_upgrade in 030, standbys in 003.  Barman with
# backup_method = postgres calls pg_basebackup.

use SyncProbeTest;

my $node = probe_cluster('others', allows_streaming => 1, conf => <<'CONF');
restart_after_crash = on
wal_log_hints = on
wal_keep_size = '64MB' # as pg_rewind reads back to the last common checkpoint
archive_mode = on
archive_command = 'true'
CONF
my $work = PostgreSQL::Test::Utils::tempdir();
my $user = getpwuid($<);
my $host = $node->host;
my $port = $node->port;

# The files below a directory that have our name.
sub ours ($directory)
{
	chomp(my @found = qx(find "$directory" -name '*sync_probe.*' -type f));
	return join ' ', map { s/^\Q$directory\E\///r } @found;
}

# A file that a power test left, at another location than the probe that runs.
my $test = session($node);
start_query($test, "CALL sync_probe.power_test('pg_default')");
wait_phase($node, $test, 'measuring');
kill_process($node, $test->{pid});
my $left = 'base/pgsql_tmp_sync_probe.power_test';
is(ours($node->data_dir), $left, 'the file of a power test is left');
my $probe = start_probe($node, "'pg_wal', " . LONG_PROBE);
like(ours($node->data_dir), qr/pg_wal\/xlogtemp\.\d+\.sync_probe\./, 'a probe has files');

# --- pg_basebackup

$node->backup('pg_basebackup');
is(ours($node->backup_dir . '/pg_basebackup'), '', 'pg_basebackup: leaves them out');
command_ok([ 'pg_verifybackup', $node->backup_dir . '/pg_basebackup' ], 'pg_verifybackup');

# --- pgBackRest

SKIP:
{
	skip 'there is no pgBackRest', 3 if system('command -v pgbackrest >/dev/null') != 0;
	my @pgbackrest = ('pgbackrest', '--config', write_file("$work/pgbackrest.conf", <<"END"));
[global]
repo1-path=$work/repository
log-path=$work
lock-path=$work/lock
log-level-file=off
log-level-console=warn
start-fast=y
compress-type=none
[main]
pg1-path=@{[ $node->data_dir ]}
pg1-port=$port
pg1-socket-path=$host
pg1-user=$user
END
	reload_with($node, 'archive_command', "'@pgbackrest --stanza=main archive-push %p'");
	my ($known) = grep { !/not \[?supported|unable to/i }
	  qx(@pgbackrest --stanza=main stanza-create 2>&1) || 'ok';
	skip 'pgBackRest does not know this version of the server', 3 unless $known;
	command_ok([ @pgbackrest, '--stanza=main', $_ ], "pgBackRest: $_") for qw(check backup);
	is(ours("$work/repository"), '', 'pgBackRest: leaves them out');
}

# --- pg_rewind: into a killed primary, from one that probes

my $standby = add_standby($node, 'promoted', 'archive_mode = off');
$node->stop('immediate');
like(ours($node->data_dir), qr/xlogtemp.*sync_probe|sync_probe.*xlogtemp/s, 'a crash leaves files');
$standby->promote;
sql($standby, 'CREATE TABLE later AS SELECT 1; CHECKPOINT');
my $there = start_probe($standby, "'pg_wal', " . LONG_PROBE);
command_ok([ 'pg_rewind', '--no-sync', '-D', $node->data_dir, '--source-server',
		$standby->connstr('postgres') ], 'pg_rewind');
like(ours($node->data_dir), qr/^(pg_wal\/xlogtemp\S+ ?)+$/,
	'pg_rewind copies pg_wal as it is, and drops the file of a power test');
end_probe($standby, $there);
$node->append_conf('postgresql.conf', "port = $port\nunix_socket_directories = '$host'\n"
	  . "primary_conninfo = '@{[ $standby->connstr ]}'");
$node->set_standby_mode;
$node->start;
is(ours($node->data_dir), '', 'the server sweeps what pg_rewind has copied');
end_tests($node, $standby);
