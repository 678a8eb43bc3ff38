# What backups and pg_rewind take along of a probe that is measuring, of the file of a power test,
# and of what a killed probe has left.  pg_basebackup and pg_checksums beside a power test are in
# test/t/037_power_test.pl, pg_dump in 027, pg_upgrade in 030, standbys in 003.

use SyncProbeTest;
use File::Basename qw(dirname);

my $node = probe_cluster('others', allows_streaming => 1, conf => "restart_after_crash = on\n"
	  . "wal_log_hints = on\narchive_mode = on\narchive_command = 'true'");
my $work = PostgreSQL::Test::Utils::tempdir();
my $user = getpwuid($<);
my $host = $node->host;
my $port = $node->port;

sub has ($program) { return grep { -x "$_/$program" } split /:/, $ENV{PATH} }

sub runs_ok ($name, @command)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($out, $err);
	ok(IPC::Run::run(\@command, '<', \undef, '>', \$out, '2>', \$err), $name) or diag($out, $err);
	return;
}

# The files below a directory that have our name.
sub ours ($directory)
{
	chomp(my @found = qx(find "$directory" -name '*sync_probe.*' -type f));
	return join ' ', map { s/^\Q$directory\E\///r } @found;
}

# A cluster from what is in backup_dir/name starts, and nothing has to be cleaned up there.
sub starts_ok ($name, $copy = PostgreSQL::Test::Cluster->new($name))
{
	$copy->init_from_backup($node, $name);
	$copy->append_conf('postgresql.conf', 'archive_mode = off');
	$copy->start;
	$copy->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no end of recovery';
	is(sql($copy, 'SELECT sync_probe.cleanup()'), 0, "$name: nothing to clean up");
	works_ok($copy, $name, "'pg_wal'");
	$copy->stop;
	log_ok($copy);
	return;
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
runs_ok('pg_verifybackup', 'pg_verifybackup', $node->backup_dir . '/pg_basebackup');
starts_ok('pg_basebackup');

# --- pgBackRest

SKIP:
{
	skip 'there is no pgBackRest', 7 unless has('pgbackrest');
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
	skip 'pgBackRest does not know this version of the server', 7 unless $known;
	runs_ok('pgBackRest: stanza', @pgbackrest, '--stanza=main', 'check');
	runs_ok('pgBackRest: backup', @pgbackrest, '--stanza=main', 'backup');
	is(ours("$work/repository"), '', 'pgBackRest: leaves them out');
	my $copy = PostgreSQL::Test::Cluster->new('pgbackrest');
	mkdir $node->backup_dir . '/pgbackrest', 0700;
	runs_ok('pgBackRest: restore', @pgbackrest, '--stanza=main', '--type=immediate',
		'--target-action=promote', '--pg1-path', $node->backup_dir . '/pgbackrest',
		"--recovery-option=restore_command=@pgbackrest --stanza=main --pg1-path=@{[
			$copy->data_dir ]} archive-get %f %p", 'restore');
	starts_ok('pgbackrest', $copy);
}

# --- Barman

SKIP:
{
	skip 'there is no Barman', 4 unless has('barman');
	mkdir "$work/barman";
	my $connection = "host=$host port=$port user=$user dbname=postgres";
	my @barman = ('barman', '-c', write_file("$work/barman.conf", <<"END"));
[barman]
barman_user = $user
barman_home = $work/barman
log_file = $work/barman.log
[main]
description = main
conninfo = $connection
streaming_conninfo = $connection
backup_method = postgres
streaming_archiver = on
slot_name = barman
path_prefix = @{[ dirname(qx(which pg_ctl)) ]}
END
	runs_ok('Barman: slot', @barman, 'receive-wal', '--create-slot', 'main');
	my $receiver = IPC::Run::start([ @barman, 'receive-wal', 'main' ], '<', \undef,
		'>', "$work/out", '2>&1');
	$node->poll_query_until('postgres',
		"SELECT active FROM pg_replication_slots WHERE slot_name = 'barman'") or die 'no receiver';
	runs_ok('Barman: WAL', @barman, 'switch-wal', '--force', '--archive', 'main');
	runs_ok('Barman: backup', @barman, 'backup', 'main');
	is(ours("$work/barman"), '', 'Barman: leaves them out');
	$receiver->kill_kill;
}

# --- pg_rewind: into a killed primary, from one that probes

my $standby = add_standby($node, 'promoted', 'archive_mode = off');
$node->stop('immediate');
like(ours($node->data_dir), qr/xlogtemp.*sync_probe|sync_probe.*xlogtemp/s, 'a crash leaves files');
$standby->promote;
sql($standby, 'CREATE TABLE later AS SELECT 1; CHECKPOINT');
my $there = start_probe($standby, "'pg_wal', " . LONG_PROBE);
runs_ok('pg_rewind', 'pg_rewind', '--no-sync', '-D', $node->data_dir, '--source-server',
	$standby->connstr('postgres'));
like(ours($node->data_dir), qr/^(pg_wal\/xlogtemp\S+ ?)+$/,
	'pg_rewind copies pg_wal as it is, and drops the file of a power test');
end_probe($standby, $there);
$node->append_conf('postgresql.conf', "port = $port\nunix_socket_directories = '$host'\n"
	  . "primary_conninfo = '@{[ $standby->connstr ]}'");
$node->set_standby_mode;
$node->start;
is(ours($node->data_dir), '', 'the server sweeps what pg_rewind has copied');
end_tests($node, $standby);
