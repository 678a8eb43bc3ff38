# What other roles can do to a run: owners of the database, and roles that may do no more than
# connect.  None of them gains a privilege, and none delays a run or a cleanup without end.

use SyncProbeTest;

my $node = probe_cluster('strangers');
sql($node, <<'SQL');
CREATE ROLE mallory LOGIN;
CREATE DATABASE mdb OWNER mallory;
SQL

# --- the owner of a database has set a role for all its sessions

$node->safe_psql('mdb', <<'SQL');
CREATE EXTENSION pg_sync_probe;
CREATE TABLE seen (owner text, session text, users text);
INSERT INTO sync_probe.workloads (workload, setup, script) VALUES ('who',
'CREATE TABLE t (i int)',
$$INSERT INTO public.seen SELECT nspowner::regrole, session_user, current_user
  FROM pg_namespace WHERE nspname = current_schema;$$);
SQL
my $session = session($node, 'mdb');
$node->safe_psql('mdb', 'ALTER DATABASE mdb SET role = mallory',
	extra_params => [ '-U', 'mallory' ]);
is($session->query(pgbench_sql("'who', clients => 1, transactions => 1")), 1,
	'a superuser\'s workload runs there');
is($session->query('SELECT * FROM seen'), 'postgres|postgres|postgres',
	'its objects and sessions are the superuser\'s');
$session->quit;

# --- the owner of a database has types of his own, which grant when a value is checked

sql($node, 'CREATE DATABASE types OWNER mallory');
$node->safe_psql('types', 'CREATE EXTENSION pg_sync_probe');
$node->safe_psql('types', <<'SQL', extra_params => [ '-U', 'mallory' ]);
CREATE SCHEMA types;
CREATE FUNCTION types.grant_all(anyelement) RETURNS pg_catalog.bool LANGUAGE plpgsql AS
	$$ BEGIN ALTER ROLE mallory SUPERUSER; RETURN true; END $$;
SELECT format('CREATE DOMAIN types.%I AS pg_catalog.%1$I CHECK (types.grant_all(VALUE))', t)
FROM unnest('{text,timestamptz,int8,float8,bool,interval,name,int4}'::text[]) AS t \gexec
ALTER DATABASE types SET search_path = types, pg_catalog;
SQL
for ('CALL sync_probe.wait_for_reload()', q(SELECT sync_probe.commit_waits('100 ms')),
	q(CALL sync_probe.trial('commit_delay', '{50}', '2 s')),
	q(SELECT count(*) FROM sync_probe.probe('pg_wal', 'commit', workers => 1, duration => '1 s')),
	'SELECT count(*) FROM sync_probe.recommendation_details',
	'SELECT count(*) FROM sync_probe.findings')
{
	my ($status) = $node->psql('types', "SET client_min_messages = error; $_");
	is($status, 0, "types of a stranger: $_");
}
is(sql($node, q(SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory')), 'f',
	'types of a stranger: he is no superuser');

# --- the owner of a database has set how strings are read

SKIP:
{
	skip 'this server reads strings in one way only', 1 unless has_other_strings($node);
	my $workloads = 'SELECT w FROM sync_probe.workloads AS w WHERE builtin ORDER BY workload';
	sql($node, 'CREATE DATABASE strings OWNER mallory');
	$node->safe_psql('strings', 'ALTER DATABASE strings SET standard_conforming_strings = off',
		extra_params => [ '-U', 'mallory' ]);
	$node->safe_psql('strings', 'CREATE EXTENSION pg_sync_probe');
	is($node->safe_psql('strings', $workloads), sql($node, $workloads),
		'strings are read otherwise: workloads are the same');
}

# --- somebody calls himself by the name of the run, and locks its tables

sql($node, <<'SQL');
INSERT INTO sync_probe.workloads (workload, setup, script) VALUES
('sleepy', 'CREATE TABLE t (i int)', 'SELECT pg_sleep(2);');
SQL
$session = verbose_session($node);
start_query($session, pgbench_sql("'sleepy', clients => 1, transactions => 1"));
wait_running($node, $session, 1);
my $schema = workload_schemas($node);
my $table = sql($node, "SELECT '$schema.t'::regclass::oid");
my $stranger = $node->background_psql('postgres', extra_params => [ '-U', 'mallory' ]);
$stranger->query("SET application_name = '$schema'");
# nextval() takes a lock before it checks a privilege, and the transaction keeps it
$stranger->query("BEGIN; DO 'BEGIN PERFORM nextval(${table}::regclass);"
	  . " EXCEPTION WHEN others THEN NULL; END'");
my ($out, $err) = finish_query($session);
is($out, "1\n", 'the run ends');
like($err, qr/\A[^\n]*WARNING:  38000: .*dropped the schema of workload "sleepy"
DETAIL: .*lock timeout(?!.*WARNING)/s, 'and says what is left');
is($stranger->query('SELECT 1'), 1, 'the stranger goes on');
$stranger->query('ROLLBACK');
$stranger->quit;
is(sql($node, 'SELECT sync_probe.cleanup()'), 1, 'cleanup() drops it');
$session->quit;

# --- somebody drops the extension, which takes a lock before it is refused

$session = start_probe($node, LONG_PROBE);
$stranger = $node->background_psql('postgres', on_error_stop => 0,
	extra_params => [ '-U', 'mallory' ]);
start_query($stranger, 'DROP EXTENSION pg_sync_probe');
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks
    WHERE NOT granted AND classid = 'pg_extension'::regclass") or die 'nobody waits';
my $done = sql($node, 'SELECT percent_done FROM sync_probe.running');
# of 300 s: several times as long as between two looks at who waits
ok($node->poll_query_until('postgres', "SELECT percent_done > $done + 0.3 FROM sync_probe.running"),
	'DROP EXTENSION of a stranger: the probe goes on');
like(end_probe($node, $session), qr/canceling statement due to user request/, 'until canceled');
like((finish_query($stranger))[1], qr/must be owner of extension/, 'and he is refused');
$stranger->quit;

is(leftovers($node), '', 'nothing is left');
end_tests($node);
