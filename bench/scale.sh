# shellcheck shell=bash
# shellcheck disable=SC2154	# shared with bench/run and common.sh
# scale: what the views cost with 1,000 tablespaces and 1,000,000 measurements in
# the history, and how often probe_all probes where tablespaces share file systems.
#
# One cluster, which grows: 50 tablespaces on three file systems; then the
# history; then the other tablespaces.  Each statement gets a session of its own
# and runs twice there: who asks once pays for cold caches too.
#
# Observations: scale.times       statement tablespaces turn call rows ms
#               scale.statements  statement target_ms
#               scale.history     runs measurements samples locations bytes
#               scale.probe_all   turn tablespaces filesystems runs rows warnings seconds

scale_turns=${BENCH_TURNS:-11}
scale_probe_turns=$((scale_turns < 3 ? scale_turns : 3))
scale_measurements=${BENCH_MEASUREMENTS:-1000000}
scale_filesystems=3
scale_few=50
scale_many=1000

# Name, target in milliseconds, statement.
scale_newest="(SELECT max(run_id) FROM sync_probe.runs WHERE location = 'pg_wal')"
scale_statements=(
	"locations|200|SELECT * FROM sync_probe.locations"
	"recommendations|20|SELECT * FROM sync_probe.recommendations"
	"findings|20|SELECT * FROM sync_probe.findings"
	"metrics|50|SELECT * FROM sync_probe.metrics"
	"report of this server|1000|SELECT sync_probe.report_html()"
	"report of given runs|2000|SELECT sync_probe.report_html(array_agg(run_id))
		FROM sync_probe.runs WHERE run_id % 1500 = 0"
	"histogram of a run|20|SELECT * FROM sync_probe.latency_histogram(:run)"
	"histogram of the newest run|20|SELECT * FROM sync_probe.latency_histogram($scale_newest)")

scale_cannot() { die "scale: $1: $(tail -n 1 "$work/err")"; }

# Our own folder, where pg_default lies, and places that are elsewhere, until there are three
# file systems in all; pg_wal lies on the first of these places.  Not on zfs: zfs-fuse may hang,
# and there is one cluster only.
scale_directories() {
	local place device seen=" $(stat -c %d "$work") "
	shared_directories=("$work")
	for place in "${places[@]}"; do
		[[ $place != zfs=* ]] || continue
		wal_place=${wal_place:-$place}
		device=$(stat -c %d "${place#*=}")
		if [[ ${#shared_directories[@]} -lt $scale_filesystems && $seen != *" $device "* ]]; then
			seen+="$device "
			shared_directories+=("${place#*=}")
		fi
	done
	[[ -n $wal_place ]] || die "scale: no file system but zfs"
}

# add_tablespaces FIRST LAST DIRECTORY...: in turn below these.
add_tablespaces() {
	local first=$1 last=$2 i directory directories
	shift 2
	directories=("$@")
	for ((i = first; i <= last; i++)); do
		directory=${directories[i % ${#directories[@]}]}/tablespaces/$i
		printf '%s\n' "$directory" >&3
		printf "CREATE TABLESPACE ts_%d LOCATION '%s';\n" "$i" "$directory"
	done 3>"$work/directories" >"$work/tablespaces.sql"
	step 60 xargs -a "$work/directories" mkdir -p -- &&
		psql_step 300 -f "$work/tablespaces.sql"
}

# How many file systems there are is not asked of the extension, nor of SQL.
count_filesystems() {
	ask "SELECT current_setting('data_directory') || '/pg_wal/.'
		UNION ALL SELECT current_setting('data_directory') || '/base'
		UNION ALL SELECT l FROM pg_tablespace, pg_tablespace_location(oid) AS l WHERE l <> ''" ||
		return
	filesystems=$(xargs stat -c %d <<<"$answer" | sort -u | wc -l)
}

scale_probe_all() {
	local turn begin seconds before rows filesystems warnings ask_seconds=120
	count_filesystems || return
	for ((turn = 1; turn <= scale_probe_turns; turn++)); do
		ask "SELECT count(*) FROM sync_probe.runs" || return
		before=$answer
		begin=$EPOCHREALTIME
		ask "SELECT count(*) FROM sync_probe.probe_all(duration => '1 s')" || return
		seconds=$(seconds_since "$begin")
		rows=$answer
		warnings=$(grep -c '^WARNING' "$work/err") || true
		ask "SELECT count(*) - $before FROM sync_probe.runs" || return
		observe scale.probe_all "$turn" "$scale_few" "$filesystems" "$answer" "$rows" \
			"$warnings" "$seconds"
	done
}

# One real run, 5 s long, again and again: of pg_wal and of ten tablespaces.  All of its rounds
# and buckets for the newest run of each, few for the others.  Foreign keys hold by
# construction, checking them takes longer than the rest.
fill_history() {
	cat >"$work/history.sql" <<-'SQL'
		SET client_min_messages = warning;
		DELETE FROM sync_probe.runs;
		SELECT max(run_id) AS template FROM sync_probe.probe(stop_early => false) \gset
		SELECT ceil(:measurements::numeric / count(*)) AS runs FROM sync_probe.measurements \gset
		SET session_replication_role = replica;
		INSERT INTO sync_probe.runs OVERRIDING SYSTEM VALUE
		SELECT n.*
		FROM sync_probe.runs AS t, generate_series(1, :runs) AS i
		JOIN (SELECT name, directory, device FROM sync_probe.locations) AS l
		    ON l.name = CASE i % 11 WHEN 0 THEN 'pg_wal' ELSE 'ts_' || i % 11 END,
		     LATERAL (SELECT now() - (:runs - i) * interval '10 min') AS a (at),
		     LATERAL jsonb_populate_record(t, jsonb_build_object('run_id', :template + i,
		         'location', l.name, 'directory', l.directory, 'device', l.device,
		         'started_at', a.at, 'finished_at', a.at + interval '5 s')) AS n;
		INSERT INTO sync_probe.measurements
		SELECT n.*
		FROM sync_probe.measurements AS m, generate_series(1, :runs) AS i,
		     jsonb_populate_record(m, jsonb_build_object('run_id', :template + i)) AS n;
		INSERT INTO sync_probe_internal.samples
		SELECT :template + i, s.ordinal, s.round_mean_us[:n], s.control_round_mean_us[:n],
		       s.bucket_lower_us[:n], s.bucket_ops[:n]
		FROM sync_probe_internal.samples AS s, generate_series(1, :runs) AS i,
		     LATERAL (SELECT CASE WHEN i > :runs - 11 THEN 1000000 ELSE 8 END) AS c (n);
		RESET session_replication_role;
		DELETE FROM sync_probe.runs WHERE run_id = :template;
		ANALYZE sync_probe.runs, sync_probe.measurements, sync_probe_internal.samples;
		CHECKPOINT;
		SELECT (SELECT count(*) FROM sync_probe.runs),
		       (SELECT count(*) FROM sync_probe.measurements),
		       (SELECT count(*) FROM sync_probe_internal.samples),
		       (SELECT count(DISTINCT location) FROM sync_probe.runs),
		       pg_total_relation_size('sync_probe.runs')
		       + pg_total_relation_size('sync_probe.measurements')
		       + pg_total_relation_size('sync_probe_internal.samples');
	SQL
	psql_step 1200 -A -t -F $'\t' -v "measurements=$scale_measurements" -f "$work/history.sql" ||
		return
	observe scale.history "$(<"$work/out")"
}

# time_statements TABLESPACES: every statement in each turn, in random order.
# ANALYZE as autovacuum, which is off here, would have done.
time_statements() {
	local turn statement sql
	ask "ANALYZE pg_tablespace" || return
	ask "SELECT $scale_newest" || return
	for ((turn = 1; turn <= scale_turns; turn++)); do
		shuffled "${!scale_statements[@]}"
		for statement in "${shuffled[@]}"; do
			IFS='|' read -r -d '' statement _ sql <<<"${scale_statements[statement]}" || true
			printf '%s \\g /dev/null\n\\echo :ROW_COUNT\n' "$sql" "$sql" >"$work/statement.sql"
			psql_step 60 -v "run=$answer" -c '\timing on' -f "$work/statement.sql" || return
			awk -v OFS='\t' -v "statement=$statement" -v "tablespaces=$1" -v "turn=$turn" '
				$1 == "Time:" { ms = $2; next }
				{ print statement, tablespaces, turn, ++call, $1, ms }
			' "$work/out" >>"$observations/scale.times.tsv"
		done
	done
}

measure_scale() {
	local statement name target shuffled shared_directories wal_place= directory
	observe_machine scale
	scale_directories
	begin_place scale "${wal_place%%=*}" "${wal_place#*=}" || scale_cannot "no cluster"
	for statement in "${scale_statements[@]}"; do
		IFS='|' read -r name target _ <<<"$statement"
		observe scale.statements "$name" "$target"
	done

	say "scale: probe_all with $scale_few tablespaces on ${#shared_directories[@]} file systems"
	add_tablespaces 1 "$scale_few" "${shared_directories[@]}" || scale_cannot "no tablespaces"
	scale_probe_all || scale_cannot probe_all

	say "scale: $scale_measurements measurements"
	fill_history || scale_cannot "no history"
	time_statements "$scale_few" || scale_cannot "the views"

	say "scale: $scale_many tablespaces"
	add_tablespaces $((scale_few + 1)) "$scale_many" "$work" || scale_cannot "no tablespaces"
	time_statements "$scale_many" || scale_cannot "the views"

	end_place "${wal_place%%=*}" "${wal_place#*=}"
	for directory in "${shared_directories[@]}"; do
		rm -rf -- "$directory/tablespaces"
	done
}

# The section of the report: Markdown tables from the observations.
report_scale() {
	cat <<'SQL'
-- What grows with the cluster and its history.
CREATE TEMP TABLE times (statement text, tablespaces int, turn int, call int, rows int, ms float8);
CREATE TEMP TABLE statements (n int GENERATED ALWAYS AS IDENTITY, statement text,
    target_ms float8);
CREATE TEMP TABLE history (runs bigint, measurements bigint, samples bigint, locations int,
    bytes bigint);
CREATE TEMP TABLE probe_all (turn int, tablespaces int, filesystems int, runs int, rows int,
    warnings int, seconds float8);
\copy times FROM 'scale.times.tsv'
\copy statements (statement, target_ms) FROM 'scale.statements.tsv'
\copy history FROM 'scale.history.tsv'
\copy probe_all FROM 'scale.probe_all.tsv'

\pset tuples_only on
SELECT format(E'\nHistory: %s runs with %s measurements (%s) of %s locations,\n'
           'all of whose newest runs have their rounds and buckets.',
           to_char(runs, 'FM9,999,999'), to_char(measurements, 'FM9,999,999'),
           pg_size_pretty(bytes), locations)
FROM history;
\pset tuples_only off

\echo
\echo Milliseconds at the client, rows and all: of the first call in a new session, whose
\echo caches are cold, and of the second one. "Met" is said of the median of the first.
WITH call AS (
    SELECT statement, tablespaces, call, min(rows) AS rows, count(*) AS times,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS median,
           format('%s (%s to %s)',
               round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 1),
               round(min(ms)::numeric, 1), round(max(ms)::numeric, 1)) AS shown
    FROM times GROUP BY statement, tablespaces, call
)
SELECT s.statement, f.tablespaces, f.rows, f.times,
       f.shown AS "first call: median (range)", a.shown AS "second call",
       s.target_ms AS target, CASE WHEN f.median < s.target_ms THEN 'yes' ELSE '**no**' END AS met
FROM statements AS s
JOIN call AS f ON f.statement = s.statement AND f.call = 1
JOIN call AS a ON a.statement = s.statement AND a.tablespaces = f.tablespaces AND a.call = 2
ORDER BY s.n, f.tablespaces;

\echo
\echo 'probe_all(duration => ''1 s'') where tablespaces, pg_wal and pg_default share file'
\echo systems (counted with stat). Target: one probe for each file system.
SELECT turn, tablespaces, filesystems AS "file systems", runs AS "probes recorded",
       rows AS "rows returned", warnings,
       round(seconds::numeric, 1) AS seconds,
       CASE WHEN runs = filesystems AND rows = filesystems THEN 'yes' ELSE '**no**' END AS met
FROM probe_all ORDER BY turn;

\pset tuples_only on
SELECT format(E'\nOnly %s file systems instead of 3: no more were given.',
           min(filesystems))
FROM probe_all HAVING min(filesystems) < 3;
\pset tuples_only off
SQL
}
