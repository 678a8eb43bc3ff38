# The history survives pg_dump and restore in every format: all rows, numbers that go on, and
# workloads of users; into another database, and where the extension is already.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeRelease;
use SyncProbeTest;
use Test::More;

my $node = probe_cluster('dump');
record_history($node, 'postgres');
$node->safe_psql('postgres', <<'SQL');
SET client_min_messages = warning;
INSERT INTO sync_probe.workloads (workload, script, suite) VALUES ('upsert', 'SELECT 3;', 'mine');
CREATE ROLE reader;
GRANT SELECT ON sync_probe.runs TO reader;
ALTER DATABASE postgres SET pg_sync_probe.margin = 0.1;
SQL
my %there = history_of($node, 'postgres');
like($there{$_}, qr/^\{/, "$_ has rows") for sort keys %there;
my $export =
  'SELECT sync_probe.export_json(array_agg(run_id ORDER BY run_id)) FROM sync_probe.runs';
my $exported = $node->safe_psql('postgres', $export);
# a deleted run was the newest: its number is not used again
my %next = map { $_ => $node->safe_psql('postgres', "SELECT last_value FROM sync_probe.$_") }
  qw(runs_run_id_seq commit_wait_results_result_id_seq workload_results_result_id_seq);
cmp_ok($next{runs_run_id_seq}, '>',
	$node->safe_psql('postgres', 'SELECT max(run_id) FROM sync_probe.runs'),
	'the sequence is ahead of its rows');
my $folder = PostgreSQL::Test::Utils::tempdir();

# The restored database has what the dumped one had, and works.
sub restored_ok
{
	my ($name, $database) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my %here = history_of($node, $database);
	is($here{$_}, $there{$_}, "$name: the rows of $_") for sort keys %there;
	is($node->safe_psql($database, $export), $exported, "$name: the same export");
	is($node->safe_psql($database, "SELECT last_value FROM sync_probe.$_"), $next{$_},
		"$name: $_ goes on") for sort keys %next;
	is(join("\n", differences(installed($node, 'postgres'), installed($node, $database))), '',
		"$name: the objects are the same");
	works_with_history_ok($node, $database, $name);
	$node->safe_psql('postgres', "DROP DATABASE $database");
	return;
}

sub restore_ok
{
	my ($name, @command) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$node->command_ok([@command], "$name: restore");
	restored_ok($name, 'restored');
	return;
}

sub dump_ok
{
	my ($file, @options) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$node->command_ok([ 'pg_dump', @options, '-f', "$folder/$file", 'postgres' ],
		"pg_dump @options");
	return;
}

# --- whole databases

my @restore = ('pg_restore', '--exit-on-error', '-d', 'restored');
my @psql = ('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', 'restored');

dump_ok('custom', '-Fc');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
restore_ok('custom', @restore, "$folder/custom");

$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
restore_ok('custom, in two jobs', @restore, '-j2', "$folder/custom");

dump_ok('directory', '-Fd', '-j2');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
restore_ok('directory, in two jobs', @restore, '-j2', "$folder/directory");

dump_ok('plain');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
restore_ok('plain', @psql, '-f', "$folder/plain");

dump_ok('inserts', '--rows-per-insert=7');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
restore_ok('as INSERT', @psql, '-f', "$folder/inserts");

# --- objects first, rows later

dump_ok('schema', '--schema-only');
dump_ok('data', '--data-only');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
$node->command_ok([ @psql, '-f', "$folder/schema" ], 'schema alone: restore');
is($node->safe_psql('restored', 'SELECT count(*) FROM sync_probe.runs'), 0,
	'schema alone: no rows');
restore_ok('then the data', @psql, '-f', "$folder/data");

# --- the history alone, into a database that has the extension

dump_ok('history', '-Fc', '--data-only', '-t', 'sync_probe.*');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->safe_psql('restored',
	'CREATE EXTENSION pg_sync_probe; GRANT SELECT ON sync_probe.runs TO reader');
restore_ok('the history alone', @restore, "$folder/history");

# --- where a run has the same number already, nothing is restored by halves

$node->safe_psql('postgres', 'CREATE DATABASE restored');
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

# --- who gets what

is($node->safe_psql('postgres', <<"SQL"), 't', 'a grant of the user is dumped');
SELECT pg_read_file('$folder/plain') ~ 'GRANT SELECT ON TABLE sync_probe.runs TO reader'
SQL

$node->stop;
log_ok($node);
done_testing();
