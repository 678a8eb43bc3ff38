# shellcheck shell=bash
# scale: what the views cost with 1,000 tablespaces and 1,000,000 measurements in
# the history, and how often probe_all probes where tablespaces share file systems.
#
# One cluster, which grows: 50 tablespaces on three file systems; then the
# history; then the other tablespaces.  Each statement gets a session of its own
# and runs twice there: who asks once pays for cold caches too.
#
# Observations: scale.times       statement tablespaces turn call rows ms
#               scale.statements  statement target_ms present sql
#               scale.history     runs measurements samples locations bytes
#               scale.probe_all   turn tablespaces filesystems runs rows warnings seconds

scale_turns=${BENCH_TURNS:-11}
scale_probe_turns=$((scale_turns < 3 ? scale_turns : 3))
scale_measurements=1000000
scale_filesystems=3
scale_few=50
scale_many=1000

scale_cannot() { die "scale: $1: $(tail -n 1 "$work/err")"; }

# zfs-fuse last: it may hang, and there is one cluster only.
scale_order() {
	local place last=()
	ordered=()
	for place in "${places[@]}"; do
		if [[ $place == zfs=* ]]; then last+=("$place"); else ordered+=("$place"); fi
	done
	ordered+=("${last[@]}")
}

# Our own folder, where pg_default lies, and places that are elsewhere, until
# there are three file systems in all; pg_wal lies on the first of these places.
scale_directories() {
	local place device seen=" $(stat -c %d "$work") "
	shared_directories=("$work")
	for place in "${ordered[@]}"; do
		((${#shared_directories[@]} < scale_filesystems)) || break
		device=$(stat -c %d "${place#*=}")
		[[ $seen != *" $device "* ]] || continue
		seen+="$device "
		shared_directories+=("${place#*=}")
		[[ ${#shared_directories[@]} -gt 2 ]] || wal_place=$place
	done
	((${#shared_directories[@]} == scale_filesystems)) ||
		say "scale: ${#shared_directories[@]} file systems to share instead of $scale_filesystems: no other place is on one of its own"
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
		step 300 "$bindir/psql" -X -q -v ON_ERROR_STOP=1 -f "$work/tablespaces.sql"
}

observe_shared_places() {
	ask "SELECT 'of ' || name, filesystem, coalesce(device, '-'), coalesce(write_cache, '-'), mount_options
		FROM sync_probe.locations WHERE shares_filesystem_with IS NULL AND name <> 'pg_wal'" || return
	[[ -z $answer ]] || observe scale.places "$answer"
}

# How many file systems there are is not asked of the extension, nor of SQL.
count_filesystems() {
	ask "SELECT current_setting('data_directory') || '/pg_wal/.'
		UNION ALL SELECT current_setting('data_directory') || '/base'
		UNION ALL SELECT l FROM pg_tablespace, pg_tablespace_location(oid) AS l WHERE l <> ''" || return
	filesystems=$(xargs stat -c %d <<<"$answer" | sort -u | wc -l)
}

scale_probe_all() {
	local turn begin seconds before rows filesystems warnings
	count_filesystems || return
	for ((turn = 1; turn <= scale_probe_turns; turn++)); do
		ask "SELECT count(*) FROM sync_probe.runs" || return
		before=$answer
		begin=$EPOCHREALTIME
		ask_seconds=120 ask "SELECT count(*) FROM sync_probe.probe_all(duration => '1 s')" || return
		seconds=$(awk "BEGIN { print $EPOCHREALTIME - $begin }")
		rows=$answer
		warnings=$(grep -c '^WARNING' "$work/err") || true
		ask "SELECT count(*) - $before FROM sync_probe.runs" || return
		observe scale.probe_all "$turn" "$scale_few" "$filesystems" "$answer" "$rows" "$warnings" "$seconds"
	done
}

# columns_but TABLE COLUMN...: the others, in $answer.
columns_but() {
	local table=$1
	shift
	ask "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = 'sync_probe.$table'::regclass AND attnum > 0 AND NOT attisdropped
		AND attgenerated = '' AND attname <> ALL (string_to_array('$*', ' '))"
}

# One real run, 5 s long, again and again: of pg_wal and of ten tablespaces.  All
# of its rounds and buckets for the newest run of each, few for the others.
# Foreign keys hold by construction, checking them takes longer than the rest.
fill_history() {
	local template runs
	ask "DELETE FROM sync_probe.runs" || return
	ask "SELECT max(run_id) FROM sync_probe.probe(stop_early => false)" || return
	template=$answer
	ask "SELECT ceil($scale_measurements.0 / count(*)) FROM sync_probe.measurements WHERE run_id = $template" || return
	runs=$answer
	columns_but runs run_id location started_at finished_at directory device || return
	ask_seconds=300 ask "INSERT INTO sync_probe.runs (location, started_at, finished_at, directory, device, $answer)
		SELECT l.name,
		       now() - ($runs - i) * interval '10 min', now() - ($runs - i) * interval '10 min' + interval '5 s',
		       l.directory, l.device, $answer
		FROM sync_probe.runs, generate_series(1, $runs) AS i
		JOIN (SELECT name, directory, device FROM sync_probe.locations) AS l
		    ON l.name = CASE i % 11 WHEN 0 THEN 'pg_wal' ELSE 'ts_' || i % 11 END
		WHERE run_id = $template ORDER BY i" || return
	columns_but measurements run_id || return
	ask_seconds=300 ask "SET session_replication_role = replica;
		INSERT INTO sync_probe.measurements (run_id, $answer)
		SELECT i, $answer
		FROM generate_series($template + 1, $template + $runs) AS i, sync_probe.measurements
		WHERE run_id = $template" || return
	ask_seconds=300 ask "SET session_replication_role = replica;
		INSERT INTO sync_probe_internal.samples
		SELECT i, s.ordinal,
		       CASE WHEN newest THEN round_mean_us ELSE round_mean_us[:8] END,
		       CASE WHEN newest THEN control_round_mean_us ELSE control_round_mean_us[:8] END,
		       CASE WHEN newest THEN bucket_lower_us ELSE bucket_lower_us[:8] END,
		       CASE WHEN newest THEN bucket_ops ELSE bucket_ops[:8] END
		FROM generate_series($template + 1, $template + $runs) AS i,
		     LATERAL (SELECT i > $template + $runs - 11) AS n (newest),
		     sync_probe_internal.samples AS s
		WHERE s.run_id = $template" || return
	ask "DELETE FROM sync_probe.runs WHERE run_id = $template" || return
	ask_seconds=120 ask "ANALYZE sync_probe.runs, sync_probe.measurements, sync_probe_internal.samples" || return
	ask_seconds=120 ask "CHECKPOINT" || return
	ask_seconds=120 ask "SELECT (SELECT count(*) FROM sync_probe.runs), (SELECT count(*) FROM sync_probe.measurements),
		(SELECT count(*) FROM sync_probe_internal.samples), (SELECT count(DISTINCT location) FROM sync_probe.runs),
		pg_total_relation_size('sync_probe.runs') + pg_total_relation_size('sync_probe.measurements') +
		pg_total_relation_size('sync_probe_internal.samples')" || return
	observe scale.history "$answer"
}

# A view that this version has not got is said, not left out.
add_statement() {
	local name=$1 target=$2 relation=$3 sql=$4
	ask "SELECT to_regclass('sync_probe.$relation') IS NOT NULL" || return
	observe scale.statements "$name" "$target" "$answer" "$sql"
	[[ $answer != t ]] || statements+=("$name|$sql")
}

choose_statements() {
	local run ordinal
	ask "SELECT run_id, ordinal FROM sync_probe.measurements
		WHERE run_id = (SELECT max(run_id) FROM sync_probe.runs WHERE location = 'pg_wal') AND test = 'paced' AND status = 'ok'
		ORDER BY ordinal LIMIT 1" || return
	read -r run ordinal <<<"$answer"
	add_statement locations 200 locations "SELECT * FROM sync_probe.locations" &&
		add_statement recommendations 20 recommendations "SELECT * FROM sync_probe.recommendations" &&
		add_statement findings 20 findings "SELECT * FROM sync_probe.findings" &&
		add_statement "report of this server" 1000 runs "SELECT sync_probe.report_html()" &&
		add_statement "report of given runs" 2000 runs \
			"SELECT sync_probe.report_html(array_agg(run_id)) FROM sync_probe.runs WHERE run_id % 1500 = 0" &&
		add_statement "histogram of a measurement" 20 latency_histogram \
			"SELECT * FROM sync_probe.latency_histogram WHERE run_id = $run AND ordinal = $ordinal" &&
		add_statement "histogram by test and method" 20 latency_histogram \
			"SELECT * FROM sync_probe.latency_histogram WHERE run_id = $run AND test = 'paced' AND method = 'fdatasync'" &&
		add_statement "histogram of a run" 20 latency_histogram \
			"SELECT * FROM sync_probe.latency_histogram WHERE run_id = $run" &&
		add_statement "histogram of the newest run" 20 latency_histogram \
			"SELECT * FROM sync_probe.latency_histogram WHERE run_id = (SELECT max(run_id) FROM sync_probe.runs WHERE location = 'pg_wal')"
}

# time_statements TABLESPACES: every statement in each turn, in random order.
# ANALYZE as autovacuum, which is off here, would have done.
time_statements() {
	local turn statement sql
	ask "ANALYZE pg_tablespace" || return
	for ((turn = 1; turn <= scale_turns; turn++)); do
		shuffled "${statements[@]}"
		for statement in "${shuffled[@]}"; do
			sql=${statement#*|}
			step 60 "$bindir/psql" -X -q -v ON_ERROR_STOP=1 -o /dev/null -c '\timing on' \
				-c "$sql" -c '\echo :ROW_COUNT' -c "$sql" -c '\echo :ROW_COUNT' || return
			awk -v OFS='\t' -v "statement=${statement%%|*}" -v "tablespaces=$1" -v "turn=$turn" '
				$1 == "Time:" { ms = $2; next }
				{ print statement, tablespaces, turn, ++call, $1, ms }
			' "$work/out" >>"$observations/scale.times.tsv"
		done
	done
}

measure_scale() {
	local ordered shuffled statements=() shared_directories wal_place= directory
	observe_machine scale
	scale_order
	wal_place=${ordered[0]}
	scale_directories
	begin_place scale "${wal_place%%=*}" "${wal_place#*=}" || scale_cannot "no cluster"

	say "scale: probe_all with $scale_few tablespaces on ${#shared_directories[@]} file systems"
	add_tablespaces 1 "$scale_few" "${shared_directories[@]}" && observe_shared_places || scale_cannot "no tablespaces"
	scale_probe_all || scale_cannot probe_all

	say "scale: $scale_measurements measurements"
	fill_history || scale_cannot "no history"
	choose_statements || scale_cannot "no statements"
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
    target_ms float8, present bool, sql text);
CREATE TEMP TABLE history (runs bigint, measurements bigint, samples bigint, locations int,
    bytes bigint);
CREATE TEMP TABLE probe_all (turn int, tablespaces int, filesystems int, runs int, rows int,
    warnings int, seconds float8);
\copy times FROM 'scale.times.tsv'
\copy statements (statement, target_ms, present, sql) FROM 'scale.statements.tsv'
\copy history FROM 'scale.history.tsv'
\copy probe_all FROM 'scale.probe_all.tsv'

\pset tuples_only on
SELECT format(E'\nHistory: %s runs with %s measurements (%s) of %s locations, '
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

\pset tuples_only on
SELECT format(E'\nsync_probe.%s: does not exist in this version.', statement)
FROM statements WHERE NOT present ORDER BY n;
\pset tuples_only off

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
