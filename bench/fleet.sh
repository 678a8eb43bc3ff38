# shellcheck shell=bash
# shellcheck disable=SC2154	# shared with bench/run and common.sh
# fleet: what fleet_run() costs by the number of nodes: up to 1,000 foreign servers that point
# at eight clusters of this machine, one of which is the one that asks.  The clusters share its
# processors: where nodes have their own, less of this time is left.
#
# Observations: fleet.times  query nodes parallel turn rows errors seconds peak_kb

fleet_turns=${BENCH_TURNS:-3}
fleet_clusters=8
fleet_servers=1000
fleet_cases=("10 8" "100 1" "100 8" "$fleet_servers 8")		# nodes, parallel

fleet_cannot() { die "fleet: $1: $(tail -n 1 "$work/err")"; }

# start_node NUMBER: a cluster beside that of start_cluster, which is node 0.
start_node() {
	local data=$work/node$1 port=$((5432 + $1))
	step 60 "$bindir/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C || return
	"${as_user[@]}" tee -a "$data/postgresql.conf" >/dev/null <<-EOF
		listen_addresses = ''
		unix_socket_directories = '$work/socket'
		port = $port
		$server_conf
		$bench_settings
	EOF
	run_job "$bindir/pg_ctl" -D "$data" -l "$work/logs/node$1.log" -s -w start &&
		PGPORT=$port ask "CREATE EXTENSION pg_sync_probe"
}

# time_fleet QUERY NODES PARALLEL TURN: in a session of its own, whose peak of memory counts.
time_fleet() {
	local ask_seconds=300
	ask "SELECT f.*, extract(epoch FROM clock_timestamp() - statement_timestamp()),
			substring(pg_read_file('/proc/self/status'), 'VmHWM:\s+(\d+)')
		FROM (SELECT count(*), count(error) FROM sync_probe.fleet_run('$1',
			(SELECT array_agg('node_' || i) FROM generate_series(1, $2) AS i)::name[], $3)) AS f" ||
		return
	observe fleet.times "$1" "$2" "$3" "$4" "$answer"
}

measure_fleet() {
	local place=${places[0]} node turn query case nodes parallel
	observe_machine fleet
	begin_place fleet "${place%%=*}" "${place#*=}" || fleet_cannot "no cluster"
	say "fleet: $fleet_clusters clusters"
	for ((node = 1; node < fleet_clusters; node++)); do
		start_node "$node" || fleet_cannot "no node $node"
	done
	ask "CREATE EXTENSION dblink; CREATE EXTENSION postgres_fdw" || fleet_cannot "no dblink"
	ask "DO \$\$ BEGIN FOR i IN 1 .. $fleet_servers LOOP
			EXECUTE format('CREATE SERVER node_%s FOREIGN DATA WRAPPER postgres_fdw
				OPTIONS (host ''$work/socket'', port ''%s'', dbname ''postgres'')',
				i, 5432 + i % $fleet_clusters);
			EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER node_%s
				OPTIONS (user ''postgres'')', i);
		END LOOP; END \$\$" || fleet_cannot "no servers"
	for ((turn = 1; turn <= fleet_turns; turn++)); do
		for query in 'SELECT 1' 'TABLE sync_probe.findings'; do
			for case in "${fleet_cases[@]}"; do
				read -r nodes parallel <<<"$case"
				time_fleet "$query" "$nodes" "$parallel" "$turn" || fleet_cannot "$query"
			done
		done
	done
	end_place "${place%%=*}" "${place#*=}"
	end_processes
}

# The section of the report: a Markdown table from the observations.
report_fleet() {
	cat <<'SQL'
CREATE TEMP TABLE times (query text, nodes int, parallel int, turn int, rows int, errors int,
    seconds float8, peak_kb int);
\copy times FROM 'fleet.times.tsv'
\echo
\echo Seconds of fleet_run() by the number of nodes, on eight clusters of this machine.  Target for
\echo 1,000 nodes, 8 at a time: 30 s, and 100 MB of memory, shared memory included.
SELECT query, nodes, parallel, count(*) AS times, sum(errors) AS errors,
       format('%s (%s to %s)',
           round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 2),
           round(min(seconds)::numeric, 2), round(max(seconds)::numeric, 2))
           AS "seconds: median (range)",
       round((1000 * avg(seconds) / nodes)::numeric, 1) AS "ms a node",
       round(max(peak_kb) / 1024.0) AS "MB at most",
       CASE WHEN nodes < 1000 OR parallel < 8 THEN '-'
            WHEN max(seconds) <= 30 AND max(peak_kb) < 102400 THEN 'yes' ELSE '**no**' END AS met
FROM times GROUP BY query, nodes, parallel ORDER BY query, nodes, parallel;
SQL
}
