# The definitions in monitoring/, with the programs that they are for: a Prometheus reads both
# exporters, which read this cluster; the check for Nagios; pgwatch's statement.

use CPAN::Meta::YAML;
use HTTP::Tiny;
use IPC::Cmd 'can_run';
use JSON::PP;
use SyncProbeTest;

my $root = source_directory();
my $monitoring = "$root/monitoring";
my $json = JSON::PP->new->utf8->canonical;
my $directory = PostgreSQL::Test::Utils::tempdir();

# A tablespace with a name that must be escaped everywhere, as up to PostgreSQL 18 it can have one;
# and all series but that of wear, which needs statistics of an hour.
my $node = probe_cluster('monitoring');
add_tablespace($node, 'hostile');
sql($node, <<'SQL');
UPDATE pg_tablespace SET spcname = E'a "b" \\\\ \'c\'\nd | {e} \u00fc' WHERE spcname = 'hostile';
CREATE ROLE monitor LOGIN IN ROLE pg_monitor;
SELECT FROM (SELECT name FROM sync_probe.locations UNION ALL SELECT 'pg_wal') AS l,
    sync_probe.probe(l.name, duration => '300 ms');
UPDATE sync_probe.measurements SET p99_us = 2 * p50_us;
UPDATE sync_probe.runs SET durable = 'yes';
UPDATE sync_probe.runs SET finished_at = finished_at - interval '45 days'
WHERE run_id = (SELECT min(run_id) FROM sync_probe.runs WHERE location = 'pg_wal');
INSERT INTO sync_probe.commit_wait_results (answer, commit_wait_us, commits_per_sec, wal_busy,
    started_at, system_identifier, host)
SELECT '', 8000, 250, 0.5, now(), * FROM sync_probe_internal.this_server();
SQL
let_runs_count($node);

# What those who may create functions make of the queries of others
sql($node, <<'SQL');
CREATE FUNCTION trap(float8, integer) RETURNS boolean LANGUAGE sql AS 'SELECT 1 / 0 > 0';
CREATE OPERATOR = (LEFTARG = float8, RIGHTARG = integer, FUNCTION = trap);
CREATE OPERATOR < (LEFTARG = float8, RIGHTARG = integer, FUNCTION = trap);
SQL

my @series = @{ $json->decode(sql($node, 'SELECT jsonb_agg(m) FROM sync_probe.metrics AS m')) };
my %names = map { $_->{name} => 1 } @series;

# Series in an order, without values that change.
sub shown
{
	return join "\n", sort map {
		"$_->{name} " . $json->encode($_->{labels})
		  . ($_->{name} =~ /age_seconds$/ ? '' : sprintf ' %g', $_->{value})
	} @_;
}
my %described = map { ("pg_sync_probe_$_" => 1) }
  slurp_file("$root/doc/monitoring.md") =~ /^\| `(\w+)` /mg;
delete $described{pg_sync_probe_device_written_bytes_per_second};
is(join(' ', sort keys %names), join(' ', sort keys %described),
	'doc/monitoring.md has each series');
cmp_ok(scalar(grep { ($_->{labels}{location} // '') =~ /\n/ } @series), '>=', 4,
	'a hostile location');

# --- pgwatch

my $pgwatch = CPAN::Meta::YAML->read_string(slurp_file("$monitoring/pgwatch.yml"))->[0];
my $statement = $pgwatch->{metrics}{sync_probe}{sqls}{15} =~ s/;?\s*$//r;
my @tags = sort map { "tag_$_" } 'name', keys %{ { map { %{ $_->{labels} } } @series } };
is(sql($node, "SELECT string_agg(DISTINCT k, ' ' ORDER BY k)
	FROM ($statement) AS s, jsonb_object_keys(to_jsonb(s)) AS k"), "epoch_ns @tags value",
	'pgwatch: a tag for each label');

# --- Nagios

sub check (@arguments)
{
	IPC::Run::run([ "$monitoring/check_sync_probe", '-U', 'monitor', '-d',
		$node->connstr('postgres'), @arguments ], '>', \my $out, '2>', \my $err);
	return ($? >> 8) . " $out";
}
like(check(-d => $node->connstr('none')), qr/^3 UNKNOWN - .*none/, 'check: no such database');
like(check(-c => q{DO 'BEGIN RAISE WARNING $$x$$; END'}), qr/^(0 OK|1 WARNING - |2 CRITICAL - )/,
	'check: a warning of the server');
like(check(-v => q{flush_p99_ratio=1' OR ''='}), qr/^3 UNKNOWN/, 'check: a limit that is none');
my $real = sql($node, "SELECT pg_get_functiondef('sync_probe_internal.metrics'::regproc)");
for (
	[ [], 'info', '{}', 1, qr/^0 OK$/ ],
	[ [], 'durable', '{"location": "a|b\nc"}', 0,
		qr{^2 CRITICAL - durable \{"location": "a/b\\nc"\} 0$} ],
	[ [], 'finding', '{"code": "tablespace_missing", "severity": "error"}', 1, qr/^2 CRITICAL/ ],
	[ [], 'finding', '{"code": "barrier_off", "severity": "warning"}', 1, qr/^0/ ],
	[ [], 'flush_p99_ratio', '{}', 2.1, qr/^1 WARNING/ ],
	[ [ -v => 'flush_p99_ratio=3' ], 'flush_p99_ratio', '{}', 2.1, qr/^0/ ],
	[ [], 'commit_wait_seconds', '{}', 0.021, qr/^1 WARNING/ ],
	[ [], 'device_written_bytes_per_second', '{}', 2e7, qr/^1/ ],
	[ [], 'run_age_seconds', '{"location": "pg_wal"}', 36 * 86400, qr/^1/ ],
	[ [], 'run_age_seconds', '{"location": "x"}', 36 * 86400, qr/^0/ ],
	[ [], 'advice_info', '{"location": "pg_wal", "verdict": "not probed"}', 1, qr/^1/ ])
{
	my ($limits, $name, $labels, $value, $like) = @$_;
	sql($node, "CREATE OR REPLACE FUNCTION sync_probe_internal.metrics()
		RETURNS TABLE (name text, labels jsonb, value double precision) LANGUAGE sql
		AS \$\$VALUES ('pg_sync_probe_commit_wait_age_seconds', jsonb '{}', 3599::float8),
			('pg_sync_probe_$name', '$labels', $value)\$\$");
	like(check(@$limits), $like, "check: $name $value");
}
sql($node, $real);

# --- Prometheus

my @programs;
# Not later than in END; if this test is killed, they end with it.
END { local $?; $_->kill_kill for @programs }

# Starts a program that listens on a free port, and returns what is before the path of its pages.
my $http = HTTP::Tiny->new(timeout => 60, no_proxy => '127.0.0.1');
sub start_program ($name, $ready, $listen, @arguments)
{
	my $address = '127.0.0.1:' . PostgreSQL::Test::Cluster::get_free_port();
	push @programs, IPC::Run::start([ qw(setpriv --pdeathsig KILL), $name,
			"$listen=$address", @arguments ], '<', \undef, '>&', "$directory/$name.log");
	wait_for(sub { $http->get("http://$address$ready")->{success} })
	  or die "$name: " . slurp_file("$directory/$name.log");
	return $address;
}

# The result of a query of Prometheus, as that prints it.
sub ask ($address, $path, %form)
{
	my $answer = $http->get("http://$address/api/v1/$path?" . $http->www_form_urlencode(\%form));
	die "$form{query}: $answer->{content}" unless $answer->{success};
	return $json->decode($answer->{content})->{data};
}

sub promtool_ok ($name, $in, @arguments)
{
	my $runs = IPC::Run::run([ 'promtool', @arguments ], '<', \$in, '>', \my $out, '2>', \my $err);
	ok($runs && "$out$err" !~ /FAILED/, "promtool: $name") or diag($out, $err);
	return;
}

SKIP:
{
	my @missing = grep { !can_run($_) }
	  qw(prometheus promtool prometheus-postgres-exporter prometheus-sql-exporter setpriv);
	skip "needs @missing (Debian: prometheus, prometheus-postgres-exporter,"
	  . ' prometheus-sql-exporter)', 1 if @missing;

	promtool_ok('test rules', '', qw(test rules), "$monitoring/alerts_test.yml");

	my $url = 'postgres://monitor@/postgres?sslmode=disable&host=' . $node->host
	  . '&port=' . $node->port;
	local $ENV{DATA_SOURCE_NAME} = $url;
	my %exporter = (
		postgres => start_program('prometheus-postgres-exporter', '/metrics',
			'--web.listen-address', "--extend.query-path=$monitoring/postgres_exporter.yml"),
		sql => start_program('prometheus-sql-exporter', '/metrics', '-web.listen-address',
			'-config.file='
			  . write_file("$directory/sql_exporter.yml",
				slurp_file("$monitoring/sql_exporter.yml") =~ s{postgres://\S+}{$url}r
				  =~ s/interval: \K1m/1s/r)));
	my $prometheus = start_program('prometheus', '/-/ready', '--web.listen-address',
		"--storage.tsdb.path=$directory/tsdb", '--config.file='
		  . write_file("$directory/prometheus.yml", "global: {evaluation_interval: 1s}\n",
			slurp_file("$monitoring/prometheus.yml") =~ s{alerts\.yml}{$monitoring/alerts.yml}r
			  =~ s/interval: \K1m/1s/r
			  =~ s/'localhost:9187'/join ', ', map { "'$_'" } values %exporter/er));

	for my $name (sort keys %exporter)
	{
		my $instance = "instance=\"$exporter{$name}\"";
		my $query = "{__name__=~\"pg_sync_probe_.*\", $instance}";
		my $got;
		wait_for(sub { @{ $got = ask($prometheus, 'query', query => $query)->{result} } })
		  or die slurp_file("$directory/prometheus.log");
		my $page = $http->get("http://$exporter{$name}/metrics")->{content};
		promtool_ok("page of $name", join('', $page =~ /^(?:# \w+ )?(?:sql_)?pg_sync_probe.*\n/mg),
			qw(check metrics));
		is(shown(map {
				my %labels = %{ $_->{metric} };
				delete @labels{qw(instance job server col database driver host sql_job user)};
				{ name => delete $labels{__name__}, labels => \%labels, value => $_->{value}[1] };
			} @$got), shown(@series), "$name: Prometheus has all series");
	}

	my $dashboard = $json->decode(slurp_file("$monitoring/grafana.json"));
	for (map { @{ $_->{targets} } } @{ $dashboard->{panels} })
	{
		my $expr = $_->{expr} =~ s/\$instance/.+/r;
		my $got = ask($prometheus, 'query', query => $expr)->{result};
		ok(@$got > 0 || $expr =~ /device_lifetime/, "dashboard: $expr");
	}

	reload_with($node, 'pg_sync_probe.trial_restores', q{'"commit_delay","0","x"'});
	ok(wait_for(sub { 2 == grep { $_->{labels}{alertname} eq 'TrialLeftBehind' }
			  @{ ask($prometheus, 'alerts')->{alerts} } }), 'an alert is red');
	is(join(' ', map { $_->{health} eq 'ok' ? () : $_->{name} }
			map { @{ $_->{rules} } } @{ ask($prometheus, 'rules')->{groups} }), '', 'rules work');
}

$_->kill_kill for splice @programs;
end_tests($node);
