# Many servers: fleet_run() on nodes of all sorts, what ends it and what is left then, real probes,
# and what collect_fleet() imports.  Invented nodes: test/tap/fleet_views.sql.

use IO::Select;
use IO::Socket::INET;
use SyncProbeTest;

my $here = probe_cluster('here', conf => 'log_min_messages = notice');
plan skip_all => 'dblink or postgres_fdw is not installed' if sql($here,
	"SELECT count(*) FROM pg_available_extensions WHERE name IN ('dblink', 'postgres_fdw')") < 2;
sql($here, 'CREATE SCHEMA "my ""tools"; CREATE EXTENSION dblink SCHEMA "my ""tools";
	CREATE EXTENSION postgres_fdw');

# As few clusters as possible: databases and roles make more nodes.
my $north = probe_cluster('north', allows_streaming => 1, conf => 'max_connections = 30');
sql($north, <<"SQL");
CREATE ROLE fleet LOGIN PASSWORD 'r1ght-secret' IN ROLE pg_monitor;
CREATE DATABASE bare;
CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
CREATE FUNCTION pass_gate() RETURNS bigint LANGUAGE plpgsql AS \$\$
BEGIN
    ${\WAIT_AT_GATE};
    -- one that has answered, and not yet ended, is idle
    RETURN (SELECT count(*) FROM pg_stat_activity WHERE query ~ 'pass[_]gate' AND state = 'active');
END\$\$;
SQL
my $hba = $north->data_dir . '/pg_hba.conf';
write_file($hba, "local all fleet scram-sha-256\n", slurp_file($hba));
$north->reload;
my $standby = add_standby($north, 'standby');
# takes connections, and never says a word
my $deaf = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1') or die "no socket: $!";

# A foreign server at north unless the options say otherwise, and a mapping for everybody.
sub add_node ($name, $server = {}, $user = {}, $wrapper = 'postgres_fdw')
{
	my $list = sub (%o) { join ', ', map { "$_ '$o{$_}'" } keys %o };
	my $options =
	  $list->(host => $north->host, port => $north->port, dbname => 'postgres', %$server);
	sql($here, "CREATE SERVER \"$name\" FOREIGN DATA WRAPPER $wrapper
		OPTIONS ($options); CREATE USER MAPPING FOR public SERVER \"$name\"
		OPTIONS (@{[ $list->(user => 'postgres', %$user) ]})");
	return;
}

my %wrong = (user => 'fleet', password => 'wr0ng-secret');
my @deaf = ({ host => '127.0.0.1', port => $deaf->sockport }, \%wrong);
add_node('north', { use_remote_estimate => 'true' });
add_node('of dblink', {}, {}, 'dblink_fdw');
add_node('standby', { host => $standby->host, port => $standby->port });
add_node($_, { dbname => $_ }) for qw(bare latin);
add_node('secret', {}, { user => 'fleet', password => 'r1ght-secret' });
add_node('wrong', {}, \%wrong);
add_node('closed', { host => '127.0.0.1', port => 1 }, \%wrong);
add_node('deaf', { %{ $deaf[0] }, connect_timeout => 2 }, $deaf[1]);
# whose owner could change where it leads: not for a superuser
add_node('theirs');
sql($here, 'CREATE ROLE owner; ALTER SERVER theirs OWNER TO owner');
sql($here, "CREATE ROLE somebody; CREATE SERVER unmapped FOREIGN DATA WRAPPER postgres_fdw;
	CREATE USER MAPPING FOR somebody SERVER unmapped OPTIONS (user 'postgres')");

# fleet_run() returns a row for each of these servers, with a result or an error like that.
sub rows_ok ($name, $arguments, $expected, $role = undef)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($out, $err) = run_sql($here, <<"SQL", role => $role);
SELECT server || '=' || coalesce(result #>> '{}', error) FROM sync_probe.fleet_run($arguments);
SQL
	my %seen = $out =~ /^([\w ]+)=(.*)$/mg;
	is_deeply([ sort grep { ($seen{$_} // '') =~ $expected->{$_} } keys %$expected ],
		[ sort keys %seen ], $name) or diag($out, $err);
	unlike("$out$err", qr/r1ght|wr0ng/, "$name: no password is shown");
	return;
}

# --- nodes of all sorts: each is a row

my $before = -s $here->logfile;
my $row = qr/^\[\{"e": "é", "q": 1, "standby": false\}\]$/;
rows_ok('those with a mapping',
	q{'SELECT 1 AS q, ''é'' AS e, pg_is_in_recovery() AS standby -- rows', NULL, 3},
	{ (map { ($_ => $row) } qw(north secret latin bare), 'of dblink'),
		standby => qr/"standby": true/,
		wrong => qr/^could not establish connection: .*password authentication failed/,
		closed => qr/^could not establish connection: .*refused/,
		deaf => qr/^could not establish connection: .*timeout expired/ });
# the owner of a node's database could have an operator that is a trap
sql($north, 'ALTER DATABASE postgres SET search_path = public, pg_catalog');
rows_ok('names are the server\'s own', q{'SELECT current_setting(''search_path'') AS p', '{north}'},
	{ north => qr/"pg_catalog, pg_temp"/ });
rows_ok('a list', q{'TABLE sync_probe.recommendations;', '{unmapped,bare,north,bare}'},
	{ unmapped => qr/^user mapping not found/, north => qr/^\[.*"location": "pg_wal"/,
		bare => qr/^relation "sync_probe.recomm.* does not exist; is extension .* there\?$/ });
fails_ok($here, 'a stranger\'s server', q{SELECT FROM sync_probe.fleet_run('SELECT 1', '{theirs}')},
	'42501', qr/owner of server "theirs" is no superuser/,
	qr/ALTER SERVER theirs OWNER TO postgres;/);

for (
	[ 'SELECT 1; SELECT 2',
		qr/^syntax error at .*; the statement must be one SELECT, TABLE, VALUES or WITH$/ ],
	[ 'SELECT 1/0', qr/^division by zero$/ ],
	[ 'SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(60)', qr/due to user request$/ ],
	[ 'SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)', qr/administrator command/ ],
	[ 'SELECT 1) AS q; DO $a$BEGIN ASSERT false; END$a$; SELECT (SELECT 2',
		qr/^assertion failed$/ ],
	[ q{SELECT 1) AS q; SELECT 'no json' FROM (SELECT 2}, qr/^invalid input syntax for type json/ ],
	[ 'SELECT 1) q;' . 'SELECT 1;' x 100 . 'SELECT 1 FROM (SELECT 2', qr/^it sent more than 100 / ],
	[ 'SELECT pg_sleep(600)', qr/due to statement timeout$/ ])
{
	my ($statement, $error) = @$_;
	my $limit = $statement =~ /600/ ? '1 s' : '1 min';
	rows_ok($statement, "\$s\$$statement\$s\$, '{north}', time_limit => '$limit'",
		{ north => $error });
}

# --- rights are the caller's

sql($here, <<'SQL');
CREATE ROLE "D BA" LOGIN;
GRANT EXECUTE ON FUNCTION sync_probe.fleet_run TO "D BA";
GRANT USAGE ON FOREIGN SERVER north, secret, unmapped, theirs TO "D BA";
CREATE USER MAPPING FOR "D BA" SERVER north OPTIONS (user 'fleet', password 'r1ght-secret');
SQL
my $denied = (run_sql($here, 'SELECT FROM sync_probe.fleet_run(\'SELECT 1\')', role => 'D BA'))[1];
like($denied, qr/42501: permission denied for schema "my ""tools" of extension "dblink"$/m,
	'a role: the schema of dblink');
my ($grant) = $denied =~ /^HINT:  (GRANT .*;)$/m;
is($grant, 'GRANT USAGE ON SCHEMA "my ""tools" TO "D BA";', 'what grants it');
sql($here, "$grant ALTER SCHEMA \"my \"\"tools\" OWNER TO owner");
fails_ok($here, 'the functions of dblink can be replaced',
	q{SELECT FROM sync_probe.fleet_run('SELECT 1')}, '42501',
	qr/owner, who owns the schema of extension "dblink", is no superuser/);
sql($here, 'ALTER SCHEMA "my ""tools" OWNER TO pg_database_owner');
my $fleet = qr/^\[\{"u": "fleet"\}\]$/;
rows_ok('a role: servers that it may use, its own mapping', q{'SELECT current_user AS u'},
	{ north => $fleet, secret => $fleet }, 'D BA');
rows_ok('a role: no USAGE', q{'SELECT current_user AS u', '{north,latin}'},
	{ north => $fleet, latin => qr/^permission denied for foreign server latin/ }, 'D BA');
my $log = substr(slurp_file($here->logfile), $before);
unlike($log =~ s/CREATE USER MAPPING.*//gr, qr/wr0ng|r1ght/, 'no password in the log');

# --- as many at a time as allowed

my @many = map { "n$_" } 1 .. 10;
add_node($_) for @many;
my $running = "SELECT count(*) FROM pg_stat_activity WHERE query ~ 'pass[_]gate'";

# A session in which fleet_run() waits at the gate of that many nodes.
sub start_fleet ($arguments, $nodes)
{
	close_gate($north);
	my $session = verbose_session($here);
	query($session, "SELECT FROM \"my \"\"tools\".dblink_connect('mine', 'north')");
	start_query($session, "SELECT server, result -> 0 -> 'n', error
		FROM sync_probe.fleet_run('SELECT public.pass_gate() AS n', $arguments)");
	$north->poll_query_until('postgres', $running, $nodes) or die 'nobody came to the gate';
	return $session;
}

# Nothing of it is left, here and there.
sub ended_ok ($session, $name)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($north->poll_query_until('postgres', $running, '0'), "$name: the nodes' part has ended");
	is((query($session, 'SELECT unnest("my ""tools".dblink_get_connections())'))[0], "mine\n",
		"$name: only the user's connection is left");
	open_gate($north);
	return;
}

my $session = start_fleet("'{@{[ join ',', @many ]}}', 3", 3);
open_gate($north);
my ($out, $err) = finish_query($session);
my @together = sort { $b <=> $a } $out =~ /^n\d+\|(\d+)\|$/mg;
is(scalar(@together), 10, 'each node has its row') or diag($out, $err);
is($together[0], 3, 'three at a time');
ended_ok($session, 'three at a time');

# --- a node that does not answer is given up

$session = start_fleet("'{n1,n2}', time_limit => '5 s'", 2);
my $stopped = sql($north, "SELECT min(pid) FROM pg_stat_activity WHERE query ~ 'pass[_]gate'");
kill 'STOP', $stopped;
open_gate($north);
($out, $err) = finish_query($session);
like($out, qr/^n\d\|\|no answer within 00:00:05$/m, 'a node that does not answer');
like($out, qr/^n\d\|\d\|$/m, 'beside one that does');
kill 'CONT', $stopped;
ended_ok($session, 'no answer');

# --- a node that takes the connection, and is silent

$session = verbose_session($here);
add_node('silent', @deaf);
add_node('mute', { %{ $deaf[0] }, connect_timeout => 60 }, $deaf[1]);
like((query($session, "SELECT server, error FROM sync_probe.fleet_run('SELECT 1', '{n1,silent}', 1,
		'2 s')"))[0], qr/^n1\|\nsilent\|could not establish connection: .*timeout expired\n$/,
	'a node that is silent has its row, beside one that answers');
query($session, "SELECT FROM sync_probe.fleet_run('SELECT 1', '{n1}', 1, '2 s')");
is((query($session, 'SELECT pg_sleep(3)'))[1], '', 'and no limit is left');
# Limits that end while the connection is made: on some of these it is there already.
query($session, "SELECT FROM generate_series(1, 400) AS i, LATERAL sync_probe.fleet_run('SELECT 1',
	'{n1}', 1, (1 + i % 16) * interval '1 ms')");
is((query($session, 'SELECT "my ""tools".dblink_get_connections()'))[0], "\n",
	'none is left whose time was over');
# Errors of calls within calls, which anybody can make, as one: few fit on the server's stack.
query($session, <<'SQL');
CREATE FUNCTION pg_temp.dblink_connect(a text, b text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF a = '**********' THEN PERFORM pg_sleep(1);
    ELSE PERFORM sync_probe_internal.connect_within(500, 'pg_temp', a || '*', b);
    END IF;
    RETURN 'OK';
END $$;
SELECT sync_probe_internal.connect_within(500, 'pg_temp', '', '')
SQL
is((query($session, 'SELECT 1'))[0], "1\n", 'calls within calls: the server goes on');
# Up to 15, libpq serves no interrupts while it waits.  So the node hangs up, after the interrupt.
my $queue = IO::Select->new($deaf);
for ([ 'user request', sub { sql($here, "SELECT pg_cancel_backend($session->{pid})") } ],
	[ 'statement timeout', sub { sleep 2 } ])
{
	my ($why, $end) = @$_;
	$deaf->accept while $queue->can_read(0);
	query($session, "SET statement_timeout = '1 s'") if $why =~ /timeout/;
	start_query($session, "SELECT FROM sync_probe.fleet_run('SELECT 1', '{mute,n1}', 1)");
	wait_for(sub { $queue->can_read(0) || query_has_ended($session) }) or die 'nobody came';
	$end->();
	wait_for(sub { $deaf->accept if $queue->can_read(0); query_has_ended($session) });
	like((finish_query($session))[1], qr/57014.*canceling statement due to $why/,
		"while it connects: $why");
}

# --- cancel

$session = start_fleet("'{n1,n2,n3,n4}', 2", 2);
sql($here, "SELECT pg_cancel_backend($session->{pid})");
like((finish_query($session))[1], qr/57014/, 'cancel: the call ends');
ended_ok($session, 'cancel');

# --- probes

# these three share a machine, two of them a cluster, which has one probe at a time
is(sql($here, <<'SQL'), "closed||t|f\nnorth|pg_wal|f|t\nof dblink|pg_wal|f|t\nstandby|pg_wal|f|t",
SELECT server, location, error IS NOT NULL, verdict IS NOT NULL
FROM sync_probe.probe_fleet('100 ms', 1, '{north,"of dblink",standby,closed}') ORDER BY 1
SQL
	'real probes');
is(sql($north, 'SELECT count(*) FROM sync_probe.runs'), 2, 'recorded there');
like(sql($here, q{SELECT error FROM sync_probe.probe_fleet('-1 s', servers => '{north}')}),
	qr/^duration "-00:00:01" is out of range: /, 'what is wrong for the node is its error');

# --- collecting

sub collect ($servers)
{
	return sql($here, "SELECT server, imported, remaining, error
		FROM sync_probe.collect_fleet('{$servers}', 1) ORDER BY server COLLATE \"C\"");
}

my $rows = "SELECT md5(string_agg(r::text, '' ORDER BY r::text)) FROM (
	SELECT to_jsonb(r) - '{run_id,imported_at,usable_for_advice}'::text[] || jsonb_build_object('n',
		(SELECT count(*) FROM sync_probe.measurements AS m WHERE m.run_id = r.run_id)) AS r
	FROM sync_probe.runs AS r) AS r";
# in order of their names, so that the standby gives again what the node of dblink gave
$north->wait_for_catchup($standby);
is(collect('"of dblink",standby,bare'), <<'ROWS' =~ s/\n\z//r, 'two runs, from one of two nodes');
bare|0||relation "sync_probe.runs" does not exist; is extension pg_sync_probe there?
of dblink|2|0|
standby|0|0|
ROWS
is(sql($here, $rows), sql($north, $rows), 'they are the same');
is(collect('north'), 'north|0|0|', 'nothing is imported twice');

# 150 more, of which two times two end at the same moment; a function that must not be called
sql($north, <<'SQL');
CREATE FUNCTION concat(bigint, text, text) RETURNS text LANGUAGE sql AS 'SELECT (1 / 0)::text';
INSERT INTO sync_probe.runs OVERRIDING SYSTEM VALUE
SELECT n.* FROM sync_probe.runs AS r, generate_series(1, 150) AS i,
    jsonb_populate_record(r, jsonb_build_object('run_id', 1000 + i, 'label', i, 'finished_at',
        r.finished_at + (CASE i WHEN 101 THEN 100 WHEN 2 THEN 1 ELSE i END) * interval '1 s')) AS n
WHERE r.run_id = 2;
SQL
is(collect('north'), 'north|101|49|', 'a hundred at a time, and those of the same moment');
is(collect('north,secret'), "north|49|0|\nsecret|0|0|", 'the rest');
is(sql($here, $rows), sql($north, $rows), 'they are the same');
# a copy on another machine goes on by itself; a run can be committed after a newer one
sql($north, "UPDATE sync_probe.runs SET host = 'copy' WHERE run_id = 1;
	UPDATE sync_probe.runs SET finished_at = finished_at - interval '0.5 s' WHERE run_id = 1150;
	UPDATE sync_probe.runs SET host = 'guest', imported_at = now() WHERE run_id = 1001");
is(collect('north'), 'north|2|0|', 'these two, and not what the node imported');

end_tests($here, $standby, $north);
