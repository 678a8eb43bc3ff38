# The history survives pg_dump and restore in every format: all rows, numbers that go on, and
# workloads of users; into another database, and where the extension is already.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeRelease;
use SyncProbeTest;

my $node = probe_cluster('dump');
record_history($node, 'postgres');
sql($node, <<'SQL');
INSERT INTO sync_probe.workloads (workload, script, suite) VALUES ('upsert', 'SELECT 3;', 'mine');
CREATE ROLE reader;
GRANT SELECT ON sync_probe.runs TO reader;
ALTER DATABASE postgres SET pg_sync_probe.margin = 0.1;
SQL
my %there = history_of($node, 'postgres');
like($there{$_}, qr/^\{/, "$_ has rows") for sort keys %there;
my $export =
  'SELECT sync_probe.export_json(array_agg(run_id ORDER BY run_id)) FROM sync_probe.runs';
my $exported = sql($node, $export);
# a deleted run was the newest: its number is not used again
my %next = map { $_ => sql($node, "SELECT last_value FROM sync_probe.$_") }
  qw(runs_run_id_seq commit_wait_results_result_id_seq workload_results_result_id_seq);
cmp_ok($next{runs_run_id_seq}, '>', sql($node, 'SELECT max(run_id) FROM sync_probe.runs'),
	'the sequence is ahead of its rows');
my $objects = installed($node, 'postgres');
my $folder = PostgreSQL::Test::Utils::tempdir();

# The restored database has what the dumped one had, and works.
sub database_ok
{
	my ($name) = @_;
	my $database = 'restored';
	my %here = history_of($node, $database);
	is($here{$_}, $there{$_}, "$name: the rows of $_") for sort keys %there;
	is($node->safe_psql($database, $export), $exported, "$name: the same export");
	is($node->safe_psql($database, "SELECT last_value FROM sync_probe.$_"), $next{$_},
		"$name: $_ goes on") for sort keys %next;
	is(join("\n", differences($objects, installed($node, $database))), '',
		"$name: the objects are the same");
	works_with_history_ok($node, $database, $name);
	sql($node, "DROP DATABASE $database");
	return;
}

my @restore = ('pg_restore', '--exit-on-error', '-d', 'restored');
my @psql = ('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', 'restored', '-f');

# What restores which file; with options that is dumped before.
for (
	[ 'custom', \@restore, 'custom', '-Fc' ],
	[ 'custom, in two jobs', [ @restore, '-j2' ], 'custom' ],
	[ 'directory, in two jobs', [ @restore, '-j2' ], 'directory', '-Fd', '-j2' ],
	[ 'plain', \@psql, 'plain', '-Fp' ],
	[ 'as INSERT', \@psql, 'inserts', '--rows-per-insert=7' ],
	# objects first, rows later
	[ 'schema alone', \@psql, 'schema', '--schema-only' ],
	[ 'then the data', \@psql, 'data', '--data-only' ],
	# into a database that has the extension
	[ 'the history alone', \@restore, 'history', '-Fc', '--data-only', '-t', 'sync_probe*.*' ])
{
	my ($name, $command, $file, @options) = @$_;
	$node->command_ok([ 'pg_dump', @options, '-f', "$folder/$file", 'postgres' ],
		"pg_dump @options") if @options;
	sql($node, 'CREATE DATABASE restored TEMPLATE template0') if $file ne 'data';
	$node->safe_psql('restored',
		'CREATE EXTENSION pg_sync_probe; GRANT SELECT ON sync_probe.runs TO reader')
	  if $file eq 'history';
	$node->command_ok([ @$command, "$folder/$file" ], "$name: restore");
	$file eq 'schema'
	  ? is($node->safe_psql('restored', 'SELECT count(*) FROM sync_probe.runs'), 0, "$name: no rows")
	  : database_ok($name);
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

# --- who gets what

is(sql($node, <<"SQL"), 't', 'a grant of the user is dumped');
SELECT pg_read_file('$folder/plain') ~ 'GRANT SELECT ON TABLE sync_probe.runs TO reader'
SQL

end_tests($node);
