# The history survives pg_upgrade: from a server of this version, or of another one that has the
# extension, with its programs in SP_TEST_OLD_BINDIR.

use Cwd ();
use SyncProbeRelease;
use SyncProbeTest;

chomp(my $bindir = qx(pg_config --bindir));
my $old = $ENV{SP_TEST_OLD_BINDIR};

# Runs that say of what they are, in a cluster's own history.
my $own = 'SELECT count(label) FROM sync_probe.history()';

# pg_upgrade wants both alike; whether checksums are the default depends on the version.
my @alike = (extra => ['--data-checksums']);
my $from;
{
	# says where the new server finds the extension
	delete local $ENV{TEMP_CONFIG} if $old;
	$from = new_cluster('from', @alike, install_path => $old && $old =~ s{/bin$}{}r);
}
$from->start;
# A server that finds extensions along a path finds '$libdir/...' there for functions, but not for
# LOAD, with which pg_upgrade asks for it.
sql($from, <<'SQL');
CREATE EXTENSION pg_sync_probe;
UPDATE pg_proc SET probin = 'pg_sync_probe' WHERE probin = '$libdir/pg_sync_probe'
SQL
my $rows = record_history($from, 'postgres');
my $identifier = sql($from, 'SELECT system_identifier FROM pg_control_system()');
is(sql($from, $own), 1, 'it had a history');
$from->stop;

my $to = new_cluster('to', @alike);
my $here = Cwd::getcwd();
chdir PostgreSQL::Test::Utils::tempdir() or die "could not enter a folder: $!";
command_ok([ "$bindir/pg_upgrade", '-d', $from->data_dir, '-D', $to->data_dir,
		'-b', $old // $bindir, '-B', $bindir, '-s', $to->host, '-p', $from->port,
		'-P', $to->port, '--link' ], 'pg_upgrade');
chdir $here;
$to->start;

sql($to, 'CREATE DATABASE fresh');
$to->safe_psql('fresh', 'CREATE EXTENSION pg_sync_probe');
my ($fresh, $carried) = map { installed($to, $_) } qw(fresh postgres);
s/'\$libdir\/pg_sync_probe'/'pg_sync_probe'/ for @$fresh;
is(join("\n", differences($fresh, $carried)), '', 'the objects of a fresh install');
has_history_ok($to, 'postgres', 'after pg_upgrade', $rows);

# pg_upgrade made another cluster: doc/updating.md says how the runs become its own
is(sql($to, $own), 0, 'the runs are of another cluster');
sql($to, <<"SQL");
UPDATE sync_probe.runs SET system_identifier = c.system_identifier
FROM pg_control_system() AS c WHERE runs.system_identifier = $identifier
SQL
is(sql($to, $own), 1, 'until that is told');

end_tests($to);
