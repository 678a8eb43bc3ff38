# Workloads in bad surroundings: programs that are not pgbench, passwords, odd names, too few
# connections.  A clean error that says what is wrong, or a result that is right, and nothing left.
# Servers that cannot be written are in 003_standby.pl.

use utf8;
use Encode qw(encode_utf8);
use JSON::PP;
use SyncProbeTest;

# A worker of autovacuum counts as a session of its database.
my $node = probe_cluster('workload_faults',
	conf => "max_connections = 20\nlog_statement = none\nautovacuum = off");

sub add_workload ($name, $script)
{
	return sql($node, 'INSERT INTO sync_probe.workloads (workload, script)'
		  . " VALUES ('$name', \$text\$$script\$text\$)");
}

# A run that works, as it must after each fault and beside it.
sub workload_ok ($name, $sql, $expected, %opt)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($out, $err) = run_sql($node, $sql, %opt);
	is($out, $expected, "$name: it works") or diag($err);
	nothing_left($node, $name);
	return;
}

# --- programs that are not the pgbench we need

my $call = pgbench_sql(SMALL_RUN);

# SQL after which a script for the shell is run in place of pgbench.
sub with_program ($mode, $text)
{
	my $directory = PostgreSQL::Test::Utils::tempdir();
	chmod $mode, write_file("$directory/pgbench", "#!/bin/sh\n$text\n");
	return "LOAD 'pg_sync_probe'; SET pg_sync_probe.pgbench_directory = '$directory'; ";
}

# It sets up as the real one does, and does something else then.
chomp(my $pgbench = `sh -c 'command -v pgbench'`);
my $honest = <<"SH";
case "\$*" in *--log-prefix=*) ;; *) exec "$pgbench" "\$@" ;; esac
SH
fails_whole_ok($node, 'pgbench cannot be executed', with_program(0644, 'exit 0') . $call, '58P01',
	qr/could not find program ".*\/pgbench"/, qr/HINT:  Install the package/);
fails_whole_ok($node, 'pgbench fails', with_program(0755, "echo 'no library' >&2; exit 3") . $call,
	'38000', qr/exited with status 3 while it set up/, qr/DETAIL:  no library/);
fails_whole_ok($node, 'pgbench has no summary', with_program(0755, "${honest}echo hello") . $call,
	'38000', qr/printed a summary that is not understood/);
fails_whole_ok($node, 'more often than its objects are there',
	pgbench_sql("'drop_index', clients => 1, transactions => 9"), '38000', qr/while it ran/,
	qr/HINT:  Operations of sql-bench .* clients => 1, and no more transactions than by default/);

# --- the tablespace is dropped while it runs

add_tablespace($node, 'gone');
sql($node, <<'SQL');
INSERT INTO sync_probe.workloads (workload, setup, script, teardown)
VALUES ('drops', 'DROP TABLESPACE gone;', 'SELECT 1;', 'CREATE TABLE public.torn_down ();')
SQL
fails_whole_ok($node, 'tablespace dropped',
	pgbench_sql("'drops', 'gone', clients => 1, transactions => 1"), '08001',
	qr/could not connect while it ran workload "drops"/, qr/tablespace "gone" does not exist/i);
sql($node, 'DROP TABLE torn_down');

# --- its transaction log: whole, not whole, or something else in its place

# Says what pgbench says of ten transactions, in two threads, and logs them.
my $summary = source_directory() . '/test/fixtures/pgbench/15_prepared.out';
my $lines = 'lines() { for n in $(seq 1 $1); do echo "0 $n 250 0 1795280639 $n"; done; }';
for (
	[ 'with files beside it',
		'lines 10 >$log.1; touch $log.2 $log.x; mkdir $log.d; mkfifo $log.3 $log.d/fifo;'
		  . ' ln -s /etc/passwd $log.4', qr/^\z/ ],
	[ 'another FIFO', 'lines 4 >$log.1; rm $log; mkfifo $log',
		qr/WARNING:  01000: the transaction log of pgbench is not complete
DETAIL:  It holds 4 of 10 transactions; unreadable lines: 0\./ ])
{
	my ($name, $logs, $says) = @$_;
	my $program = with_program(0755, <<"SH");
${honest}for a in "\$@"; do case \$a in --log-prefix=*) log=\${a#--log-prefix=}.\$\$;; esac; done
$lines
$logs
sed 's/processed: .*/processed: 10/' $summary
SH
	my ($out, $err) = run_sql($node, $program
		  . pgbench_sql("'upsert', clients => 2, threads => 2, transactions => 5"));
	is($out, 10, "log, $name: it works");
	like($err, $says, "log, $name: what is said");
	nothing_left($node, "log, $name");
}

# --- passwords

my $hba = $node->data_dir . '/pg_hba.conf';
my $rules = slurp_file($hba);
my $passfile = PostgreSQL::Test::Utils::tempdir() . '/passfile';
chmod 0600, write_file($passfile, "*:*:*:secret:right\n");
sql($node, "CREATE ROLE secret LOGIN SUPERUSER PASSWORD 'right'");
write_file($hba, "local all secret scram-sha-256\nhost all secret all scram-sha-256\n$rules");
$node->reload;
# No SQL: a psql that cannot connect may have ended before it could be written to.
ok(wait_for(sub { ($node->psql('postgres', '',
	extra_params => [ '-w', '-U', 'secret' ]))[0] != 0 }), 'the new rules are there');
fails_whole_ok($node, 'no password', "SET ROLE secret; $call", '08001',
	qr/pgbench could not connect/, qr/DETAIL:  pgbench: error: .*no password supplied/,
	qr/HINT: .*role "secret".*pg_sync_probe.pgbench_passfile/);
workload_ok('the right password', "LOAD 'pg_sync_probe';"
	  . "SET pg_sync_probe.pgbench_passfile = '$passfile'; SET ROLE secret; $call", 5);

# --- names in which everything has to be quoted, and variables everywhere

my $name = encode_utf8(q{a:client_id ird'="\db :rows :'schema' $1 -- é});
my $variables = <<'SQL';
INSERT INTO sync_probe.workloads (workload, setup, script, teardown, protocol)
SELECT protocol, $$
CREATE TABLE :schema.t TABLESPACE :tablespace AS SELECT :rows AS n;
CREATE TABLE unplaced ();
$$, $$
\set i random(1, :rows)
INSERT INTO t SELECT 7
WHERE :rows = 7 AND :client_id = 0 AND :transactions = 3 AND :i BETWEEN 1 AND 7;
$$, $$
CREATE TABLE public.seen AS
SELECT count(*), sum(n), ':schema' = current_schema(), current_user, current_database(),
    (SELECT spcname FROM pg_class AS c JOIN pg_tablespace AS s ON s.oid = reltablespace
     WHERE c.oid = 'unplaced'::regclass)
FROM t;
$$, protocol FROM unnest('{simple,prepared}'::text[]) AS protocol
SQL

my $quoted = '"' . ($name =~ s/"/""/gr) . '"';
my $literal = "'" . ($name =~ s/'/''/gr) . "'";
add_tablespace($node, $quoted);
sql($node, "CREATE ROLE $quoted LOGIN SUPERUSER; CREATE DATABASE $quoted");
$node->safe_psql($name, "CREATE EXTENSION pg_sync_probe; $variables");
for my $protocol (qw(simple prepared))
{
	my ($out, $err) = run_sql($node,
		pgbench_sql("'$protocol', $literal, clients => 1, transactions => 3, rows => 7"),
		database => $name, role => $name);
	is("$out$err", 3, "odd names, $protocol: it works, without a word");
	is($node->safe_psql($name, <<'SQL'), "4|28|t|$name|$name|$name\n$name", "odd names, $protocol");
SELECT * FROM public.seen;
DROP TABLE public.seen;
SELECT tablespace FROM sync_probe.workload_results ORDER BY result_id DESC LIMIT 1;
SQL
	is(workload_schemas($node, $name), '', "odd names, $protocol: no schema is left");
}
sql($node, "DROP DATABASE $quoted; DROP TABLESPACE $quoted; DROP ROLE $quoted");

# --- scripts that are wrong: pgbench's own words are the detail

add_workload('talks of connections',
	q{DO $$ BEGIN RAISE 'connection to server is a phrase with password'; END $$;});
fails_whole_ok($node, 'talks of connections',
	pgbench_sql("'talks of connections', clients => 2, transactions => 2"), '38000',
	qr/pgbench exited with status \d while it ran workload "talks of connections"/,
	qr/DETAIL: .*connection to server is a phrase/s);

# Failures that pgbench goes on after are counted, even if there is nothing else.
add_workload('only failures', q{DO $$ BEGIN RAISE SQLSTATE '40001'; END $$;});
is((run_sql($node, "SELECT transactions, failed, tps IS NULL OR tps = 0, latency_mean_ms IS NULL"
	  . " FROM sync_probe.pgbench('only failures', clients => 2, transactions => 3)"))[0],
	'0|6|t|t', 'only failures: they are counted');
nothing_left($node, 'only failures');

# Clients that are connected after the end: pgbench's summary has no rate then, as that of
# a run that was aborted.
my ($out, $err) = run_sql($node, 'SELECT transactions, failed, tps, latency_p50_ms IS NULL'
	  . " FROM sync_probe.pgbench('upsert', clients => 2, rows => 10, duration => '1 s',"
	  . q{ settings => '{"post_auth_delay": "2"}')});
is($out, '0|0|0|t', 'late clients: there was no transaction');
like($err, qr/\A.*WARNING: .*workload "upsert" has begun no transaction\nDETAIL.*\nHINT: .*longer/,
	'late clients: a warning');
nothing_left($node, 'late clients');

# While it waits for a \shell, pgbench ignores SIGINT; so may the program.
my $session = session($node);
my $pid_file = PostgreSQL::Test::Utils::tempdir() . '/pid';
add_workload('stubborn', "\\shell trap '' INT; echo \$\$ >$pid_file; exec sleep 1000");
start_query($session, pgbench_sql("'stubborn', clients => 1, duration => '60 s'"));
wait_for(sub { -s $pid_file }) or die 'the program does not run';
my ($pid) = slurp_file($pid_file) =~ /(\d+)/;
sql($node, "SELECT pg_cancel_backend($session->{pid})");
finish_query($session);
ok(wait_for(sub { !pid_alive($pid) }), '\shell ends with a cancelled run');
$session->quit;
nothing_left($node, 'a \shell that ignores signals');

# --- settings reach the sessions of a workload as they are

my %settings = (
	'DateStyle' => 'SQL, DMY', 'search_path' => '"we ird\\", public, pg_temp', 'work_mem' => '12 MB',
	'my.text' => q{ a  b\\c\\\\d 'e' "f" =g }, 'my.empty' => '', 'my.lines' => "one\n\ttwo",
);
my $json = encode_json({ %settings, enable_seqscan => JSON::PP::false });
my %expected = (%settings, work_mem => '12MB', enable_seqscan => 'off');
my $names = join ', ', map { "'$_'" } sort keys %expected;
sql($node, 'CREATE TABLE public.settings (name text, value text)');
add_workload('settings', "INSERT INTO public.settings SELECT n, current_setting(n, true)"
	  . " FROM unnest(ARRAY[$names]) AS n; ${\WAIT_AT_GATE};");
close_gate($node);
$session = session($node);
start_query($session, pgbench_sql(
	"'settings', clients => 1, transactions => 1, settings => \$json\$$json\$json\$"));
wait_running($node, $session, 1);
# nobody else sees the values: the arguments of a process are everybody's
my $arguments = slurp_file("/proc/${\ pgbench_children($node)}/cmdline") =~ tr/\0/ /r;
like($arguments, qr/^pgbench .* --log .*dbname='postgres'/, 'all can see the arguments of pgbench');
unlike($arguments, qr/my\.|search_path/, 'but not the settings');
open_gate($node);
is((finish_query($session))[0], "1\n", 'settings: it works');
$session->quit;
nothing_left($node, 'settings');
my $seen = decode_json(sql($node, 'SELECT json_object_agg(name, value) FROM public.settings'));
ok($seen->{search_path} =~ s/^sync_probe_workload_[0-9a-f]{8}, //,
	'the schema of the run is first in the search_path');
is_deeply($seen, \%expected, 'settings reach the sessions');

# --- connections: what limits them; what the hint says can be run, can

sql($node, <<'SQL');
CREATE ROLE runner LOGIN IN ROLE pg_execute_server_program;
GRANT CREATE ON DATABASE postgres TO runner;
GRANT USAGE ON SCHEMA sync_probe TO runner;
GRANT EXECUTE ON FUNCTION sync_probe.pgbench TO runner;
SQL

# What, who, how many clients he asks for, the limits of role and database; how many clients there
# can be.
for (
	[ 'max_connections', 'postgres', 20, 3, 3, 18 ],
	[ 'max_connections, not superuser', 'runner', 20, -1, -1, 15 ],
	[ 'of the role', 'runner', 5, 4, 6, 2 ], [ 'of the database', 'runner', 5, 7, 5, 3 ])
{
	my ($name, $role, $clients, $of_role, $of_database, $most) = @$_;
	sql($node, "ALTER ROLE runner CONNECTION LIMIT $of_role;"
		  . " ALTER DATABASE postgres CONNECTION LIMIT $of_database");
	for my $n ($clients, $most)
	{
		# a backend that ends leaves pg_stat_activity before it frees its slot
		wait_for(sub { !server_processes($node, qr/\[local\]/) }) or die 'a backend does not end';
		my ($out, $err) = run_sql($node,
			pgbench_sql("'upsert', clients => $n, transactions => 20"), role => $role);
		like("$out$err", $n <= $most ? qr/^${\(20 * $n)}$/
			: qr/ERROR:  53300: not enough free .*\nDETAIL:  There are enough for $most within/,
			"$name: $n clients");
	}
	nothing_left($node, $name);
}
sql($node, 'ALTER DATABASE postgres CONNECTION LIMIT -1');

# --- what role and database have set otherwise

# é and a backslash, which begins no escape
add_workload('encoded', encode_utf8(q{INSERT INTO seen VALUES ('é\\');}));
sql($node, 'CREATE TABLE seen (text text)');
for my $setting ("client_encoding = 'LATIN1'", 'standard_conforming_strings = off')
{
  SKIP:
	{
		skip 'this server reads strings in one way only', 2
		  unless $setting =~ /encoding/ || has_other_strings($node);
		sql($node, "ALTER DATABASE postgres SET $setting");
		workload_ok($setting, pgbench_sql("'encoded', clients => 1, transactions => 1"), 1);
		sql($node, 'ALTER DATABASE postgres RESET ALL');
		is(sql($node, 'DELETE FROM seen RETURNING text'), encode_utf8('é\\'),
			"$setting: the script comes as it was written");
	}
}

# --- where the server listens, and where we connect

my $too_long = length($node->data_dir . '/.s.PGSQL.' . $node->port) > 100;
for (
	[ '', '127.0.0.1', '127.0.0.1' ], [ '', '*', '127.0.0.1' ],
	$too_long ? () : [ '.', '', $node->data_dir ])
{
	my ($directories, $address, $host) = @$_;
	my $name = "unix_socket_directories = '$directories', listen_addresses = '$address'";
	$node->append_conf('postgresql.conf',
		"unix_socket_directories = '$directories'\nlisten_addresses = '$address'");
	$node->restart;
	my ($status, $out, $err) = $node->psql('postgres', "SET client_min_messages = warning; $call",
		connstr => "host=$host port=${\ $node->port} dbname=postgres");
	is($out, 5, "$name: it works") or diag($err);
}

end_tests($node);
