# Workloads in bad surroundings: servers that cannot be written, programs that are
# not pgbench, passwords, odd names, too few connections, full disks.  A clean
# error that says what is wrong, or a result that is right, and nothing left.

use strict;
use warnings;
use utf8;

use Encode qw(encode_utf8);
use FindBin;
use lib $FindBin::RealBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;

plan skip_all => 'processes are looked for in /proc' unless -e '/proc/self/stat';

# A worker of autovacuum counts as a session of its database.
my $node = probe_cluster('workload_faults', allows_streaming => 1,
	conf => "max_connections = 20\nlog_statement = none\nautovacuum = off");
my @kinds = qw(function procedure);

sub count_results
{
	return $node->safe_psql('postgres', 'SELECT count(*) FROM sync_probe.workload_results');
}

sub add_workload
{
	my ($name, $setup, $script, $teardown) = @_;
	my $value = sub { defined $_[0] ? "\$text\$$_[0]\$text\$" : 'NULL' };
	$node->safe_psql('postgres',
		"INSERT INTO sync_probe.workloads (workload, setup, script, teardown) VALUES ("
		  . join(', ', map { $value->($_) } $name, $setup, $script, $teardown) . ')');
	return;
}

# Statements in a session of their own: their last output, and what was said.
sub run_sql
{
	my ($sql, %opt) = @_;
	my ($status, $out, $err) = $node->psql($opt{database} // 'postgres',
		"\\set VERBOSITY verbose\nSET client_min_messages = warning;\n$sql",
		extra_params => [ $opt{role} ? ('-U', $opt{role}) : () ]);
	return ($out, $err);
}

# A run that works, as it must after each fault and beside it.
sub workload_ok
{
	my ($name, $sql, $expected, %opt) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($out, $err) = run_sql($sql, %opt);
	is($out, $expected, "$name: it works") or diag($err);
	nothing_left($node, $name);
	return;
}

# --- what cannot be written

my $backup = 'backup';
$node->backup($backup);
my $standby = PostgreSQL::Test::Cluster->new('workload_standby');
$standby->init_from_backup($node, $backup, has_streaming => 1);
$standby->start;
for my $kind (@kinds)
{
	my $call = workload_call($kind, SMALL_RUN);
	fails_ok($standby, "standby, $kind", $call, '25006', qr/cannot run a workload on a standby/,
		qr/HINT:  sync_probe\.probe\(\) works on a standby, too/);
	fails_ok($node, "read-only session, $kind", "SET default_transaction_read_only = on; $call",
		'25006', qr/read-only transaction/);
}
fails_ok($node, 'read-only transaction', 'BEGIN READ ONLY; ' . workload_call('function', SMALL_RUN),
	'25006', qr/read-only transaction/);
is(leftovers($standby), '', 'standby: nothing is left');
$standby->stop;
log_ok($standby);

# --- programs that are not the pgbench we need: what is there, what is said

my $hang = "trap '' TERM\nexec sleep 600";
for (
	[ 'nothing', undef, qr/could not find program ".*\/pgbench"/, qr/HINT:  Install the package/ ],
	[ 'a file that cannot be executed', [ 0644, 'exit 0' ], qr/could not find program/,
		qr/operating system user of the server must be able to execute it/ ],
	[ 'a directory', [ 0755 ], qr/could not find program/ ],
	[ 'another version', [ 0755, 'echo "pgbench (PostgreSQL) 9.6.1"' ],
		qr/pgbench" is of version 9, expected \d+/,
		qr/HINT:  Set pg_sync_probe.pgbench_directory/ ],
	[ 'another program', [ 0755, 'echo hello' ], qr/pgbench" is not pgbench/,
		qr/DETAIL:  It exited with status 0: hello/ ],
	[ 'one that fails', [ 0755, "echo 'no library' >&2; exit 3" ], qr/pgbench" is not pgbench/,
		qr/DETAIL:  It exited with status 3: no library/ ],
	[ 'one that kills itself', [ 0755, 'kill -9 $$' ], qr/pgbench" is not pgbench/,
		qr/was ended by signal 9/ ],
	[ 'one that says nothing', [ 0755, 'exit 0' ], qr/pgbench" is not pgbench/ ],
	[ 'one that says rubbish', [ 0755, 'head -c 100000 /dev/urandom' ], qr/pgbench" is not pgbench/ ],
	[ 'one that hangs', [ 0755, $hang ], qr/pgbench" is not pgbench/, qr/did not end within 10 s/ ])
{
	my ($name, $program, @says) = @$_;
	my $directory = PostgreSQL::Test::Utils::tempdir();
	if ($program)
	{
		my ($mode, $text) = @$program;
		append_to_file("$directory/pgbench", "#!/bin/sh\n$text\n") if defined $text;
		mkdir "$directory/pgbench" unless defined $text;
		chmod $mode, "$directory/pgbench";
	}
	fails_ok($node, "pgbench is $name",
		"LOAD 'pg_sync_probe'; SET pg_sync_probe.pgbench_directory = '$directory'; " .
		workload_call('function', SMALL_RUN), '58P01', @says);
	nothing_left($node, "pgbench is $name");
}

# One that has the right version, but does something else then: what is said.
my $version = (split /\n/, `pgbench --version`)[0];
for (
	[ 'prints no summary', 'echo hello', '38000', qr/printed a summary that is not understood/ ],
	[ 'dies', 'kill -9 $$', '38000', qr/was ended by signal 9/ ],
	[ 'fails', "echo 'something bad' >&2; exit 1", '38000', qr/exited with status 1/,
		qr/DETAIL:  something bad/ ],
	[ 'says too much', 'head -c 3000000 /dev/zero | tr "\0" x >&2; exit 1', '38000',
		qr/exited with status 1/ ])
{
	my ($name, $text, @says) = @$_;
	my $directory = PostgreSQL::Test::Utils::tempdir();
	append_to_file("$directory/pgbench",
		"#!/bin/sh\nif [ \"\$1\" = --version ]; then echo '$version'; else\n$text\nfi\n");
	chmod 0755, "$directory/pgbench";
	fails_ok($node, "pgbench $name",
		"LOAD 'pg_sync_probe'; SET pg_sync_probe.pgbench_directory = '$directory'; " .
		workload_call('function', SMALL_RUN), @says);
	nothing_left($node, "pgbench $name");
}

# --- its transaction log: whole, not whole, or something else in its place

# Says what pgbench says of ten transactions, in two threads, and logs them.
my $summary = "$FindBin::RealBin/../fixtures/pgbench/15_prepared.out";
my $lines = 'lines() { for n in $(seq 1 $1); do echo "0 $n 250 0 1795280639 $n"; done; }';
my $log = qr/WARNING:  01000: the transaction log of pgbench is not complete\n/;
for (
	[ 'whole', 'lines 4 >$log; lines 6 >$log.1' ],
	[ 'whole, of one thread', ': >$log; lines 10 >$log.1' ],
	[ 'slow', 'exec 4>$log.1; for n in 1 2 3 4 5; do lines 1 >&4; printf "0 1 2" >&4; sleep 0.1;'
		  . ' echo "50 0 1 1" >&4; done' ],
	[ 'with files beside it',
		'lines 10 >$log.1; touch $log.2 $log.x; mkdir $log.d; mkfifo $log.3 $log.d/fifo;'
		  . ' ln -s /etc/passwd $log.4' ],
	[ 'never written', ':', qr/DETAIL:  It holds 0 of 10 transactions; unreadable lines: 0\./ ],
	[ 'short', 'lines 9 >$log', qr/DETAIL:  It holds 9 of 10 transactions; unreadable lines: 0\./ ],
	[ 'long', 'lines 9 >$log; lines 2 >$log.1',
		qr/DETAIL:  It holds 11 of 10 transactions; unreadable lines: 0\./ ],
	[ 'cut', 'lines 9 >$log; printf "0 10 25" >$log.1',
		qr/DETAIL:  It holds 9 of 10 transactions; unreadable lines: 1\./ ],
	[ 'cut twice', 'printf "0 10 25" >$log; lines 10 | head -c -1 >$log.1',
		qr/DETAIL:  It holds 9 of 10 transactions; unreadable lines: 2\./ ],
	[ 'rubbish', 'lines 10 >$log; head -c 2000000 /dev/zero >$log.1',
		qr/DETAIL:  It holds 10 of 10 transactions; unreadable lines: 1\./ ],
	[ 'a file', 'lines 4 >$log.1; rm $log; lines 6 >$log',
		qr/DETAIL:  It holds 4 of 10 transactions; unreadable lines: 0\./ ],
	[ 'another FIFO', 'lines 4 >$log.1; rm $log; mkfifo $log',
		qr/DETAIL:  It holds 4 of 10 transactions; unreadable lines: 0\./ ],
	[ 'removed', 'rm $log; lines 10 >$log.1' ],
	[ 'moved', 'mv $log $log.x; lines 4 >$log.x; lines 6 >$log.1' ])
{
	my ($name, $logs, $incomplete) = @$_;
	my $directory = PostgreSQL::Test::Utils::tempdir();
	append_to_file("$directory/pgbench", <<"SH");
#!/bin/sh
if [ "\$1" = --version ]; then echo '$version'; exit; fi
for a in "\$@"; do case \$a in --log-prefix=*) log=\${a#--log-prefix=}.\$\$;; esac; done
$lines
$logs
sed 's/processed: .*/processed: 10/' $summary
SH
	chmod 0755, "$directory/pgbench";
	my $before = count_results();
	my ($out, $err) = run_sql(
		"LOAD 'pg_sync_probe'; SET pg_sync_probe.pgbench_directory = '$directory'; " .
		"SELECT transactions FROM sync_probe.pgbench("
		  . "'upsert', clients => 2, threads => 2, transactions => 5)");
	is($out, 10, "log, $name: it works");
	is(count_results(), $before + 1, "log, $name: the row is recorded");
	$incomplete ? like($err, $log, "log, $name: a warning") : is($err, '', "log, $name: no warning");
	like($err, $incomplete, "log, $name: the numbers") if $incomplete;
	nothing_left($node, "log, $name");
}

# --- passwords

my $hba = slurp_file($node->data_dir . '/pg_hba.conf');
my $passwords = PostgreSQL::Test::Utils::tempdir();

sub set_hba
{
	my ($lines) = @_;
	unlink $node->data_dir . '/pg_hba.conf';
	append_to_file($node->data_dir . '/pg_hba.conf', "$lines\n$hba");
	$node->reload;
	return;
}

sub password_file
{
	my ($name, $password, $mode) = @_;
	append_to_file("$passwords/$name", "*:*:*:secret:$password\n");
	chmod $mode, "$passwords/$name";
	return "$passwords/$name";
}

$node->safe_psql('postgres',
	"CREATE ROLE secret LOGIN SUPERUSER PASSWORD 'right'; CREATE ROLE refused LOGIN SUPERUSER");
set_hba("local all secret scram-sha-256\n"
	  . "host all secret all scram-sha-256\nlocal all refused reject");
ok(wait_for(sub { ($node->psql('postgres', 'SELECT 1',
	extra_params => [ '-w', '-U', 'refused' ]))[0] != 0 }), 'the new rules are there');
for (
	[ 'no password', 'secret', undef, qr/HINT: .*role "secret".*pg_sync_probe.pgbench_passfile/ ],
	[ 'a wrong password', 'secret', password_file('wrong', 'wrong', 0600),
		qr/password authentication failed/ ],
	[ 'a password file that all may read', 'secret', password_file('open', 'right', 0644),
		qr/group or world access/ ],
	[ 'no such password file', 'secret', "$passwords/none", qr/no password supplied/ ],
	[ 'a role that is rejected', 'refused', undef, qr/pg_hba\.conf rejects/ ],
	[ 'the right password', 'secret', password_file('right', 'right', 0600) ])
{
	my ($name, $role, $file, $says) = @$_;
	my $sql = "LOAD 'pg_sync_probe'; "
	  . ($file ? "SET pg_sync_probe.pgbench_passfile = '$file'; " : '')
	  . "SET ROLE $role; " . workload_call('function', SMALL_RUN);
	if ($says)
	{
		fails_ok($node, $name, $sql, '08001', qr/pgbench could not connect/, $says,
			qr/HINT: .*pgbench_passfile/);
		nothing_left($node, $name);
		next;
	}
	workload_ok($name, $sql, 5);
}
set_hba('');

# --- names in which everything has to be quoted, and variables everywhere

my $odd = encode_utf8(q{we ird'="\\db é});
my $colons = encode_utf8(q{a:client_id b :rows :'schema' $1 -- é});
my $identifier = sub { '"' . ($_[0] =~ s/"/""/gr) . '"' };
my $variables = <<'SQL';
INSERT INTO sync_probe.workloads (workload, setup, script, teardown, protocol)
SELECT 'variables ' || protocol, $$
CREATE TABLE :schema.t (what text, value text);
CREATE TABLE placed (i int) TABLESPACE :tablespace;
CREATE TABLE unplaced ();
INSERT INTO t VALUES ('1 set-up', :'tablespace'), ('2 rows', :rows), ('3 schema', :'schema'),
    ('4 quoted', ':rows'),
    ('5 user', current_user), ('6 database', current_database()),
    ('7 default', (SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = reltablespace
        WHERE c.oid = 'unplaced'::regclass));
$$, $$
INSERT INTO t SELECT '8 script', :'tablespace' WHERE :rows = 7 AND :'schema' = current_schema()
    AND :client_id = 0;
INSERT INTO :schema.placed VALUES (:rows);
CREATE TEMP TABLE IF NOT EXISTS temporary (i int) TABLESPACE :"tablespace";
$$, $$
CREATE TABLE public.seen AS
SELECT DISTINCT what, CASE WHEN value = current_schema() THEN 'the schema' ELSE value END AS value
FROM :schema.t
UNION ALL SELECT '9 rows', count(*)::text FROM placed
UNION ALL SELECT '9 tear-down', :'tablespace';
$$, protocol FROM unnest('{simple,extended,prepared}'::text[]) AS protocol
SQL

for my $name ($odd, $colons)
{
	my $quoted = $identifier->($name);
	my $directory = PostgreSQL::Test::Utils::tempdir();
	$node->safe_psql('postgres', "CREATE ROLE $quoted LOGIN SUPERUSER");
	$node->safe_psql('postgres', "CREATE DATABASE $quoted");
	$node->safe_psql('postgres', "CREATE TABLESPACE $quoted LOCATION '$directory'");
	$node->safe_psql($name, "CREATE EXTENSION pg_sync_probe; $variables");
	my $literal = "'" . ($name =~ s/'/''/gr) . "'";
	for my $protocol (qw(simple extended prepared))
	{
		my $kind = $protocol eq 'simple' ? 'procedure' : 'function';
		my $title = "$name, $protocol";
		my ($out, $err) = run_sql(workload_call($kind,
			"'variables $protocol', $literal, clients => 1, transactions => 3, rows => 7"),
			database => $name, role => $name);
		$kind eq 'function' ? is($out, 3, "$title: it works")
			: like($out, qr/^\d+\|/, "$title: it works");
		is($err, '', "$title: without a word");
		is($node->safe_psql($name,
			'SELECT what, value FROM public.seen ORDER BY 1, 2; DROP TABLE public.seen'),
			<<"OUT" =~ s/\n\z//r, "$title: all values") if $err eq '';
1 set-up|$name
2 rows|7
3 schema|the schema
4 quoted|:rows
5 user|$name
6 database|$name
7 default|$name
8 script|$name
9 rows|3
9 tear-down|$name
OUT
		is($node->safe_psql($name,
			'SELECT tablespace FROM sync_probe.workload_results ORDER BY result_id DESC LIMIT 1'),
			$name, "$title: the result names the tablespace") if $err eq '';
		is(workload_schemas($node, $name), '', "$title: no schema is left");
		nothing_left($node, $title);
	}
	$node->safe_psql('postgres', "DROP DATABASE $quoted");
	$node->safe_psql('postgres', "DROP TABLESPACE $quoted");
	$node->safe_psql('postgres', "DROP ROLE $quoted");
}

# --- scripts that are wrong, in pgbench's own words

add_workload('syntax error', undef, 'SELEC 1;');
add_workload('no such table', undef, 'SELECT * FROM no_such_table;');
add_workload('bad meta-command', undef, '\set i random(');
add_workload('no such meta-command', undef, '\nonsense');
add_workload('no statement', undef, '-- nothing');
add_workload('division', undef, "\\set i 1 / 0\nSELECT 1;");
add_workload('talks of connections', undef,
	q{DO $$ BEGIN RAISE 'connection to server is a phrase with password'; END $$;});
for (
	[ 'syntax error', qr/DETAIL: .*syntax error at or near "SELEC"/s ],
	[ 'no such table', qr/DETAIL: .*relation "no_such_table" does not exist/s ],
	[ 'bad meta-command', qr/DETAIL: .*script\.sql:1: syntax error/s ],
	[ 'no such meta-command', qr/DETAIL: .*invalid command.*nonsense/s ],
	[ 'no statement', qr/DETAIL: .*empty command list/s ],
	[ 'division', qr/DETAIL: .*division by zero/s ],
	[ 'talks of connections', qr/DETAIL: .*connection to server is a phrase/s ])
{
	my ($workload, $says) = @$_;
	for my $kind (@kinds)
	{
		fails_ok($node, "$workload, $kind", workload_call($kind,
			"'$workload', clients => 2, transactions => 2"), '38000',
			qr/pgbench exited with status \d while it ran workload "$workload"/, $says);
		nothing_left($node, "$workload, $kind");
	}
}

# Failures that pgbench goes on after are counted, even if there is nothing else.
add_workload('only failures', undef, q{DO $$ BEGIN RAISE SQLSTATE '40001'; END $$;});
is((run_sql("SELECT transactions, failed, tps IS NULL OR tps = 0, latency_mean_ms IS NULL"
	  . " FROM sync_probe.pgbench('only failures', clients => 2, transactions => 3)"))[0],
	'0|6|t|t', 'only failures: they are counted');
nothing_left($node, 'only failures');

# Clients that are connected after the end: pgbench's summary has no rate then, as that of
# a run that was aborted.
for my $kind (@kinds)
{
	my ($out, $err) = run_sql(workload_call($kind, "'upsert', clients => 2, rows => 10,"
		  . q{ duration => '1 s', settings => '{"post_auth_delay": "2"}', label => 'late'}) . ';'
		  . "SELECT transactions, failed, tps, seconds IS NULL, latency_mean_ms IS NULL"
		  . " FROM sync_probe.workload_results WHERE label = 'late'"
		  . ' ORDER BY result_id DESC LIMIT 1');
	like($out, qr/^0\|0\|0\|t\|t$/m, "late clients, $kind: there was no transaction");
	like($err, qr/WARNING: .*workload "upsert" has begun no transaction/,
		"late clients, $kind: a warning");
	like($err, qr/HINT: .*Choose a longer duration/, "late clients, $kind: what to do");
	unlike($err, qr/ERROR/, "late clients, $kind: no error");
	nothing_left($node, "late clients, $kind");
}

my $shell = PostgreSQL::Test::Utils::tempdir() . '/made_by_shell';
add_workload('shell', undef,
	"\\shell touch $shell\n\\setshell n echo 42\nSELECT 1 / (:n = 42)::int;");
workload_ok('\shell and \setshell', workload_call('function',
	"'shell', clients => 1, transactions => 2"), 2);
ok(-e $shell, '\shell was executed');
add_workload('files', undef,
	'\shell cd base/pgsql_tmp/*.workload && touch log.1 log.2 && mkdir log.d && touch log.d/x &&'
	  . ' mkfifo log.3 && ln -s /etc/passwd log.4');
workload_ok('\shell that makes files beside the log',
	workload_call('function', "'files', clients => 1, transactions => 1"), 1);

# --- settings reach the sessions of a workload as they are

my %settings = (
	'DateStyle' => 'SQL, DMY',
	'search_path' => '"we ird\\", public, pg_temp',
	'work_mem' => '12 MB',
	'my.text' => q{ a  b\\c\\\\d 'e' "f" =g },
	'my.empty' => '',
	'my.lines' => "one\n\ttwo",
);
sub json_text { return '"' . ($_[0] =~ s/(["\\])/\\$1/gr =~ s/\n/\\n/gr =~ s/\t/\\t/gr) . '"' }
my $json = '{'
  . join(', ', map { json_text($_) . ': ' . json_text($settings{$_}) } sort keys %settings)
  . ', "enable_seqscan": false}';
my %expected = (%settings, work_mem => '12MB', enable_seqscan => 'off');
my $names = join ', ', map { "'$_'" } sort keys %expected;
$node->safe_psql('postgres', 'CREATE TABLE public.settings (name text, value text)');
add_workload('settings', undef,
	"INSERT INTO public.settings SELECT n, current_setting(n, true) FROM unnest(ARRAY[$names]) n;");
workload_ok('settings', workload_call('function',
	"'settings', clients => 1, transactions => 1, settings => \$json\$$json\$json\$"), 1);
for my $name (sort keys %expected)
{
	my $hex = $node->safe_psql('postgres',
		"SELECT encode(convert_to(value, 'UTF8'), 'hex') FROM public.settings"
		  . " WHERE name = '$name'");
	my $value = pack('H*', $hex);
	ok($value =~ s/^sync_probe_workload_[0-9a-f]{8}, //,
		'the schema of the run is first in the search_path') if $name eq 'search_path';
	is($value, $expected{$name}, "setting $name reaches the sessions");
}
is($node->safe_psql('postgres',
	"SELECT settings = \$json\$$json\$json\$::jsonb FROM sync_probe.workload_results"
	  . " ORDER BY result_id DESC LIMIT 1"),
	't', 'settings are recorded as they were given');

# Nobody else sees the values: the arguments of a process are everybody's.
{
	my $session = session($node);
	add_workload('secret', undef,
		"SELECT 1 / (current_setting('my.secret') = 's3cret')::int;\nSELECT pg_sleep(60);");
	start_query($session, workload_call('function',
		"'secret', clients => 1, duration => '60 s', settings => '{\"my.secret\": \"s3cret\"}'"));
	wait_running($node, $session, 1);
	ok($node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity"
			  . " WHERE application_name ~ '^sync_probe_workload_'"
			  . " AND query = 'SELECT pg_sleep(60);'"),
		'a setting acts');
	my ($pgbench) = pgbench_children($node);
	my $arguments = slurp_file("/proc/$pgbench/cmdline") =~ tr/\0/ /r;
	like($arguments, qr/^pgbench .* --log .*dbname='postgres'/,
		'all can see the arguments of pgbench');
	unlike($arguments, qr/s3cret|my\.|search_path/, 'but not the settings');
	end_probe($node, $session);
	nothing_left($node, 'a secret setting');
}

# --- a role with the privileges it takes and no more

add_tablespace($node, 'place');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE runner LOGIN IN ROLE pg_execute_server_program;
GRANT CREATE ON DATABASE postgres TO runner;
GRANT CREATE ON TABLESPACE place TO runner;
GRANT USAGE ON SCHEMA sync_probe TO runner;
GRANT EXECUTE ON FUNCTION sync_probe.pgbench TO runner;
GRANT EXECUTE ON PROCEDURE sync_probe.run_workload TO runner;
SQL
for my $kind (@kinds)
{
	my $before = count_results();
	my ($out, $err) = run_sql(
		workload_call($kind, "'upsert', 'place', clients => 2, transactions => 5"),
		role => 'runner');
	like($out, $kind eq 'function' ? qr/^10$/ : qr/^\d+\|/, "a role without more, $kind: it works")
		or diag($err);
	is(count_results(), $before + 1, "a role without more, $kind: the row is recorded");
	nothing_left($node, "a role without more, $kind");
}
like((run_sql("INSERT INTO sync_probe.workload_results (run_group, workload) VALUES (1, 'w')",
	role => 'runner'))[1],
	qr/ERROR:  42501: /, 'a role without more cannot write rows itself');

# --- connections: what limits them; what the hint says can be run, can

sub alone_ok
{
	my ($name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"),
		"$name: nobody else is there");
	return;
}

# What, who, how many clients he asks for, the limits of role and database; what
# is said, and how many clients there can be.
add_workload('reconnects', undef, 'SELECT 1;');
$node->safe_psql('postgres', 'GRANT SELECT ON sync_probe.workloads TO runner');
$node->safe_psql('postgres',
	"UPDATE sync_probe.workloads SET new_connections = true WHERE workload = 'reconnects'");
for (
	[ 'max_connections', 'postgres', 20, -1, -1,
		qr/max_connections limits sessions to 20; in use: 1\./, 18 ],
	[ 'max_connections, not superuser', 'runner', 20, -1, -1,
		qr/max_connections, without reserved connections, limits sessions to 17; in use: 1\./, 15 ],
	[ 'of the role', 'runner', 5, 4, -1,
		qr/The role's CONNECTION LIMIT limits sessions to 4; in use: 1\./, 2 ],
	[ 'of the database', 'runner', 5, -1, 5,
		qr/The database's CONNECTION LIMIT limits sessions to 5; in use: 1\./, 3 ],
	[ 'of the role, none', 'runner', 5, 1, -1,
		qr/The role's CONNECTION LIMIT limits sessions to 1; in use: 1\..*HINT:  Wait/s, 0 ],
	[ 'of all, the role allows least', 'runner', 20, 4, 6, qr/DETAIL:  /, 2 ],
	[ 'of all, the database allows least', 'runner', 20, 7, 5, qr/DETAIL:  /, 3 ])
{
	my ($name, $role, $clients, $of_role, $of_database, $says, $most) = @$_;
	$node->safe_psql('postgres',
		"ALTER ROLE runner CONNECTION LIMIT $of_role;"
		  . " ALTER DATABASE postgres CONNECTION LIMIT $of_database");
	alone_ok($name);
	my ($out, $err) = run_sql(workload_call('function',
		"'upsert', clients => $clients, transactions => 1"), role => $role);
	like($err, qr/ERROR:  53300: not enough free connections for $clients clients\nDETAIL:  /,
		"$name: too many clients");
	like($err, $says, "$name: the numbers");
	nothing_left($node, "$name: too many clients");
	my ($hint) = $err =~ /HINT:  Argument "clients" can be at most (\d+) now\./;
	is($hint // 0, $most, "$name: how many there can be");
	next unless $most;
	alone_ok($name);
	workload_ok("$name: so many clients", workload_call('function',
		"'upsert', clients => $most, transactions => 20"), 20 * $most, role => $role);

	# A client that connects anew may find that its last session has not ended yet: this is
	# an error at once, or does not matter.
	alone_ok($name);
	($out, $err) = run_sql(workload_call('function',
		"'reconnects', clients => $most, transactions => 50"), role => $role);
	like("$out$err", qr/^${\(50 * $most)}$|ERROR:  53300: not enough free connections/,
		"$name: so many clients that connect anew");
	nothing_left($node, "$name: so many clients that connect anew");
}
$node->safe_psql('postgres', 'ALTER DATABASE postgres CONNECTION LIMIT -1');
$node->safe_psql('postgres', 'ALTER ROLE runner CONNECTION LIMIT -1');

# --- the transaction log takes no space: no limit of space is its

for ("LOAD 'pg_sync_probe'; SET pg_sync_probe.reserve_percent = 100", 'SET temp_file_limit = 0')
{
	workload_ok($_, "$_; " . workload_call('function',
		"'upsert', clients => 2, transactions => 200"), 400);
}

# How the clients are spread, and when they connect: each transaction is logged.
for ([ 16, 16, 'upsert' ], [ 16, 5, 'upsert' ], [ 3, 100, 'upsert' ], [ 1, 1, 'upsert' ],
	[ 7, 3, 'reconnects' ])
{
	my ($clients, $threads, $workload) = @$_;
	my ($out, $err) = run_sql(workload_call('function',
		"'$workload', clients => $clients, threads => $threads, transactions => 50"));
	is("$out$err", 50 * $clients,
		"$workload, $clients clients, $threads threads: each transaction is logged");
}

# --- what role and database have set otherwise

add_workload('encoded', undef, 'INSERT INTO seen VALUES (E\'\\\\\', \'PLACE\');', undef);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE seen (a text, b text);
UPDATE sync_probe.workloads SET script = replace(script, 'PLACE', U&'\00e9')
    WHERE workload = 'encoded';
SQL
for my $setting ("client_encoding = 'LATIN1'", 'standard_conforming_strings = off')
{
  SKIP:
	{
		skip 'this server reads strings in one way only', 2
		  unless $setting =~ /encoding/ || has_other_strings($node);
		$node->safe_psql('postgres', "TRUNCATE seen; ALTER DATABASE postgres SET $setting");
		workload_ok($setting, workload_call('function',
			"'encoded', clients => 1, transactions => 1"), 1);
		$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET ALL');
		is($node->safe_psql('postgres', q{SELECT a = E'\\\\' AND b = U&'\00e9' FROM seen}), 't',
			"$setting: the script comes as it was written");
	}
}

# --- memory: what a run leaves in the backend does not grow with its transactions

my $session = session($node);
my $rss = sub { slurp_file("/proc/$session->{pid}/status") =~ /^VmRSS:\s+(\d+) kB/m ? $1
	: die 'no VmRSS' };
add_workload('nothing', undef, '\set i 1');
my $run = sub { query($session, "SET client_min_messages = warning;"
	  . workload_call('function', "'nothing', clients => $_[0], transactions => $_[1]")) };
$run->(1, 100);
my $small = $rss->();
for ([ 1, 2000000 ], [ 4, 500000 ])
{
	my ($clients, $transactions) = @$_;
	my ($out, $err) = $run->($clients, $transactions);
	is("$out$err", "2000000\n", "2000000 transactions, $clients clients: each is logged");
	cmp_ok($rss->() - $small, '<', 4 * 1024,
		"2000000 transactions, $clients clients: less than 4 MB more");
}
$run->(1, 100) for 1 .. 10;
cmp_ok($rss->() - $small, '<', 4 * 1024, 'nor do ten runs take more');

# pgbench waits until its log is read.
start_query($session, "SET client_min_messages = warning;"
	  . workload_call('function', "'nothing', clients => 2, duration => '15 s'"));
wait_phase($node, $session, 'running');
kill 'STOP', $session->{pid};
sleep 2;
kill 'CONT', $session->{pid};
like(join('', finish_query($session)), qr/^\d+\n\z/,
	'a backend that stands still for a while loses nothing');
$session->quit;
nothing_left($node, 'many transactions');

# --- servers that are set up unusually

$node->append_conf('postgresql.conf', "max_worker_processes = 1");	# one is the server's own
$node->restart;
for my $kind (@kinds)
{
	fails_ok($node, "no worker can be had, $kind", workload_call($kind, SMALL_RUN), '53000',
		qr/could not start a background worker for workload "upsert"/,
			qr/DETAIL:  No worker process is free; max_worker_processes is 1/,
			qr/HINT: .*max_worker_processes/);
	nothing_left($node, "no worker can be had, $kind");
}
# Enough for one thread, not for 15; descriptors that the server inherits count, and prove
# leaves some open that runs several tests at once.
$node->append_conf('postgresql.conf', "max_worker_processes = 8\nmax_files_per_process = 72");
$node->restart;
for my $kind (@kinds)
{
	fails_ok($node, "not enough descriptors, $kind",
		workload_call($kind, "'upsert', clients => 15, threads => 15, transactions => 5"), '53000',
		qr/not enough file descriptors to run ".*\/pgbench"/,
			qr/DETAIL:  It needs \d+ in this session, and \d+ are free/,
		qr/HINT:  Lower threads; each .*\. Alternatively, raise max_files_per_process\./);
	nothing_left($node, "not enough descriptors, $kind");
}
workload_ok('fewer threads', workload_call('function',
	"'upsert', clients => 15, threads => 1, transactions => 5"), 75);
$node->append_conf('postgresql.conf', "max_files_per_process = 1000");

# A tablespace on a small file system that only this server sees: it needs no
# root, but a kernel that lets users have mount namespaces.
my $small_disk = PostgreSQL::Test::Utils::tempdir();
my @unshare = qw(unshare --user --map-current-user --keep-caps --mount --propagation private);
SKIP:
{
	skip 'no user and mount namespaces for an unprivileged user here: no disk can be full', 1
	  if system("@unshare sh -c 'mount -t tmpfs tmpfs $small_disk' >/dev/null 2>&1") != 0;
	$node->stop;
	command_ok([ @unshare, 'sh', '-ec',
		"mount -t tmpfs -o size=24M,mode=0700 tmpfs '$small_disk'\nexec \"\$@\"", 'sh',
		'pg_ctl', '--wait', '--pgdata', $node->data_dir, '--log', $node->logfile, 'start' ],
			'a server with a small disk starts');
	$node->_update_pid(1);
	add_tablespace($node, 'small_disk', $small_disk);
	add_workload('fills in set-up',
		"CREATE TABLE t AS SELECT repeat('x', 1000) FROM generate_series(1, 100000)", 'SELECT 1;');
	add_workload('fills while it runs', 'CREATE TABLE t (t text)',
		"INSERT INTO t SELECT repeat('x', 1000) FROM generate_series(1, 1000);");
	for my $kind (@kinds)
	{
		fails_ok($node, "full disk in the set-up, $kind",
			workload_call($kind, "'fills in set-up', 'small_disk', clients => 1, transactions =>"
			  . " 1"),
			'53100', qr/could not set up workload "fills in set-up": could not extend file /,
			qr/No space left on device/);
		nothing_left($node, "full disk in the set-up, $kind");
		fails_ok($node, "full disk while it runs, $kind",
			workload_call($kind, "'fills while it runs', 'small_disk', clients => 2, duration =>"
			  . " '60 s'"),
			'38000', qr/while it ran workload "fills while it runs"/,
				qr/DETAIL: .*could not extend file .*No space left on device/s);
		nothing_left($node, "full disk while it runs, $kind");
		workload_ok("the disk that was full, $kind",
			workload_call('function', "'upsert', 'small_disk', clients => 2, transactions => 5"),
			10);
	}
	$node->safe_psql('postgres', 'DROP TABLESPACE small_disk');
}

# Where it listens, and where we connect.  A client takes a comma for the end of a
# host's name; we go around one by a link.
my $usual = $node->host;
my $comma = PostgreSQL::Test::Utils::tempdir_short() . '/a,b';
my $link = PostgreSQL::Test::Utils::tempdir_short() . '/link';
mkdir $comma;
symlink $comma, $link;
my $no_socket = qr/ERROR:  08001: pgbench cannot connect through a socket in directory/;
my $too_long = length($node->data_dir . '/.s.PGSQL.' . $node->port) > 100;
for (
	[ '', '127.0.0.1', '127.0.0.1' ],
	[ '', '*', '127.0.0.1' ],
	[ qq("$comma", $usual), '', $usual ],
	[ qq($usual, "$comma"), '', $usual ],
	[ qq("$comma"), '127.0.0.1', '127.0.0.1' ],
	$too_long ? () : [ '.', '', $node->data_dir ],
	[ qq("$comma"), '', $link,
		qr/$no_socket "\Q$comma\E"\nDETAIL: .*comma.*\nHINT: .*unix_socket_directories/ ])
{
	my ($directories, $address, $host, $fails) = @$_;
	my $name = "unix_socket_directories = '$directories', listen_addresses = '$address'";
	my @psql = ('psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-h', $host, '-p', $node->port, '-d',
		'postgres', '-c', 'SET client_min_messages = warning');
	my ($out, $err);
	$node->append_conf('postgresql.conf',
		"unix_socket_directories = '$directories'\nlisten_addresses = '$address'");
	$node->restart;
	for my $kind (@kinds)
	{
		IPC::Run::run([ @psql, '-c', workload_call($kind, SMALL_RUN) ], '<', \'', '>', \$out, '2>',
			\$err);
		like($fails ? $err : $out, $fails // ($kind eq 'function' ? qr/^5$/ : qr/^\d+\|/),
			"$name, $kind") or diag($err);
	}
	IPC::Run::run([ @psql, '-c',
		'SELECT sync_probe.cleanup(), (SELECT count(*) FROM pg_namespace'
		  . ' WHERE nspname ~ \'^sync_probe_workload_\')' ],
		'<', \'', '>', \$out, '2>', \$err);
	is($out, "0|0\n", "$name: nothing is left") or diag($err);
}

$node->stop;
log_ok($node);
done_testing();
