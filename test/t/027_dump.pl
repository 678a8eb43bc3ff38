# The history survives pg_dump and restore, with tables in any order, by COPY and INSERT: all rows,
# numbers that go on, and workloads of users; into another database, and where the extension is.

use SyncProbeRelease;
use SyncProbeTest;

my $node = probe_cluster('dump');
my $rows = record_history($node, 'postgres');
sql($node, <<'SQL');
CREATE ROLE reader;
GRANT SELECT ON sync_probe.runs TO reader;
ALTER DATABASE postgres SET pg_sync_probe.margin = 0.1;
SQL
# a deleted run was the newest: its number is not used again
is(sql($node, 'SELECT last_value > (SELECT max(run_id) FROM sync_probe.runs)'
	  . ' FROM sync_probe.runs_run_id_seq'), 't', 'the sequence is ahead of its rows');
my $objects = installed($node, 'postgres');
my $folder = PostgreSQL::Test::Utils::tempdir();

my @restore = ('pg_restore', '--exit-on-error', '-d', 'restored');

# What restores which file, and the options of its dump: the restored database has what the dumped
# one had, and works.
for (
	[ 'directory, in two jobs', [ @restore, '-j2' ], 'directory', '-Fd', '-j2' ],
	[ 'as INSERT', [qw(psql -Xq -v ON_ERROR_STOP=1 -d restored -f)], 'inserts',
		'--rows-per-insert=7' ],
	# into a database that has the extension
	[ 'the history alone', \@restore, 'history', '-Fc', '--data-only', '-t', 'sync_probe*.*' ])
{
	my ($name, $command, $file, @options) = @$_;
	$node->command_ok([ 'pg_dump', @options, '-f', "$folder/$file", 'postgres' ],
		"pg_dump @options");
	sql($node, 'CREATE DATABASE restored TEMPLATE template0');
	$node->safe_psql('restored',
		'CREATE EXTENSION pg_sync_probe; GRANT SELECT ON sync_probe.runs TO reader')
	  if $file eq 'history';
	$node->command_ok([ @$command, "$folder/$file" ], "$name: restore");
	is(join("\n", differences($objects, installed($node, 'restored'))), '',
		"$name: the objects are the same");
	has_history_ok($node, 'restored', $name, $rows);
	sql($node, 'DROP DATABASE restored');
}

# --- where a run has the same number already, nothing is restored by halves

sql($node, 'CREATE DATABASE restored');
$node->safe_psql('restored', <<'SQL');
CREATE EXTENSION pg_sync_probe;
SET client_min_messages = warning;
SELECT FROM sync_probe.probe(duration => '20 ms');
SQL
my %before = history_of($node, 'restored');
$node->command_fails_like([ @restore, '--single-transaction', "$folder/history" ],
	qr/duplicate key value violates unique constraint "\w+_pkey"/,
	'a history beside another: numbers that are taken are an error');
my %after = history_of($node, 'restored');
is_deeply(\%after, \%before, 'a history beside another: nothing has changed');

end_tests($node);
