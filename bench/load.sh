# shellcheck shell=bash
# load: what a probe, or the tool, takes from commits that run at the same time.
#
# A turn is a session of pgbench without a pause, beside which a probe with the defaults, one
# with a duty_cycle of 1, pg_test_fsync in the same pg_wal, and nothing at all run in random
# order, with rests between: each is compared with the rests right before and after it.
#
# Observations: load.runs    place turn variant tps p99_ms rest_tps rest_p99_ms
#               load.calls   place turn variant seconds verdict reason

load_turns=${BENCH_TURNS:-8}
load_seconds=5			# of the tool, and of nothing
load_rest=4
load_longest=45			# a probe with the defaults, and its files
load_places=2			# more take long and say little
load_variants=(probe probe_1 tool nothing)

# From pgbench's log (client, transaction, microseconds, script, when it ended in
# seconds and microseconds) sorted by latency, and the windows: the call of a variant, and
# the rests beside it together, less 0.2 s after each change.
summarize_windows() {
	sort -n -k 3,3 "$work/load"/log.* | awk -v "rest=$load_rest" '
		function seen(w,    n, i) {
			n = count[w]
			if (!n || span[w] <= 0) exit 1
			i = int(n * 0.99); if (i < n * 0.99) i++
			return sprintf("%.2f\t%.3f", n / span[w], latency[w, i] / 1000)
		}
		FNR == NR {
			name[++variants] = $1; called[NR] = $2; returned[NR] = $3
			span["call", NR] = $3 - $2
			span["rest", NR] = 2 * (rest - 0.2)
			next
		}
		{
			at = $5 + $6 / 1e6
			for (v = 1; v <= variants; v++) {
				if (at >= called[v] && at < returned[v]) w = "call" SUBSEP v
				else if ((at >= called[v] - rest + 0.2 && at < called[v]) ||
					(at >= returned[v] + 0.2 && at < returned[v] + rest)) w = "rest" SUBSEP v
				else continue
				latency[w, ++count[w]] = $3
			}
		}
		END {
			for (v = 1; v <= variants; v++)
				printf "%s\t%s\t%s\n", name[v], seen("call" SUBSEP v), seen("rest" SUBSEP v)
		}' "$work/load/windows" -
}

# call_beside_pgbench FOLDER TOOL_FILE SECONDS REST "VARIANT..." PGBENCH-ARGUMENT...: each
# VARIANT, with a rest before, between and after.  In FOLDER are then pgbench's logs, and in
# "windows" a line for each: its name, when it was called, when it returned (in seconds since
# the epoch), and a probe's verdict and reason.
call_beside_pgbench() {
	local tool_file=$2 seconds=$3 rest=$4 variants=$5 variant called run pgbench
	local psql=(psql -X -q -A -t -v ON_ERROR_STOP=1 -c "SET client_min_messages = warning")
	cd "$1"
	shift 5
	pgbench "$@" -l --log-prefix=log >pgbench.out &
	pgbench=$!
	sleep 0.5
	for variant in $variants; do
		sleep "$rest"
		called=$EPOCHREALTIME
		run=
		case $variant in
			probe) run=$("${psql[@]}" -c "SELECT min(run_id) FROM sync_probe.probe()") ;;
			probe_1) run=$("${psql[@]}" \
				-c "SELECT min(run_id) FROM sync_probe.probe(duty_cycle => 1)") ;;
			# it knows what to do about SIGINT
			tool) timeout -s INT -k 5 "$seconds" pg_test_fsync -s 1 -f "$tool_file" >&2 || true ;;
			nothing) sleep "$seconds" ;;
		esac
		printf '%s\t%s\t%s\t' "$variant" "$called" "$EPOCHREALTIME"
		"${psql[@]}" -F $'\t' -c "SELECT coalesce(min(verdict), '-'), coalesce(min(reason), '-')
			FROM sync_probe.runs WHERE run_id = ${run:-NULL}"
	done >windows
	sleep "$rest"
	# what tells pgbench that its time is up, so that it still writes its logs
	kill -ALRM "$pgbench"
	wait "$pgbench"
}

load_session() {
	local variants=$1 seconds line
	ask "CHECKPOINT" || return		# so that none begins by itself
	rm -rf -- "$work/load"
	mkdir_as_user "$work/load"
	seconds=$((${#load_variants[@]} * (load_longest + load_rest) + load_rest + 5))
	step_in_shell "$((seconds + 60))" call_beside_pgbench "$work/load" \
		"$directory/pg_wal/xlogtemp.1.bench" "$load_seconds" "$load_rest" "$variants" \
		-n -M prepared -f "$build/bench/upsert.sql" -D "rows=$upsert_rows" \
		-c 8 -j 2 -T "$seconds" || return
	summarize_windows >"$work/load/summary" ||
		{ echo "a window without a transaction" >"$work/err"; return 1; }
	while IFS= read -r line; do
		observe load.runs "$place_name" "$turn" "$line"
	done <"$work/load/summary"
	while IFS= read -r line; do
		observe load.calls "$place_name" "$turn" "$line"
	done < <(awk -F '\t' -v OFS='\t' '{ print $1, $3 - $2, $4, $5 }' "$work/load/windows")
	rm -rf -- "$work/load"
}

load_at() {
	local place_name=$1 directory=$2 turn shuffled
	prepare_upsert || return
	for ((turn = 1; turn <= load_turns; turn++)); do
		shuffled "${load_variants[@]}"
		load_session "${shuffled[*]}" || return
		printf '%s: turn %d\n' "$place_name" "$turn" >&2
	done
}

# Of the places those that have a device, and where the tool may be stopped
# midway: zfs-fuse dead-locks of that.
choose_load_places() {
	local place
	for place in "$@"; do
		case ${place%%=*}:$(stat -f -c %T "${place#*=}") in
			zfs:* | *:fuse*)
				observe load.skipped "${place%%=*}" "stopping the tool can dead-lock its daemon" ;;
			*:tmpfs) observe load.skipped "${place%%=*}" "no device to wait for" ;;
			*)
				if ((${#places[@]} < load_places)); then
					places+=("$place")
				else
					observe load.skipped "${place%%=*}" "not done: $load_places places are enough"
				fi ;;
		esac
	done
}

measure_load() {
	local all=("${places[@]}") places=()
	observe_machine load
	: >"$observations/load.runs.tsv"		# there, even if all is given up
	: >"$observations/load.calls.tsv"
	choose_load_places "${all[@]}"
	at_each_place load load_at
}

# The section of the report: Markdown tables from the observations.
report_load() {
	cat <<'SQL'
-- What commits lose while a probe, or the tool, runs beside them.
CREATE TEMP TABLE runs (place text, turn int, variant text, tps float8, p99 float8,
    rest_tps float8, rest_p99 float8);
CREATE TEMP TABLE calls (place text, turn int, variant text, seconds float8, verdict text,
    reason text);
\copy runs FROM 'load.runs.tsv'
\copy calls FROM 'load.calls.tsv'

\echo
\echo Eight clients that commit flat out, beside a probe with the defaults, one with duty_cycle
\echo 1, pg_test_fsync, or nothing: tps and p99 by those of the four seconds before and after,
\echo median (least to most). The call includes the writing of the files. Target: beside a probe
\echo with the defaults at least 0.97 of the tps.
SELECT place, variant, count(*) AS turns,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY rest_tps)::numeric) AS "tps alone",
       format('%s (%s to %s)',
           to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY tps / rest_tps), 'FM990.000'),
           to_char(min(tps / rest_tps), 'FM990.00'),
           to_char(max(tps / rest_tps), 'FM990.00')) AS "tps beside it",
       to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY rest_p99), 'FM99990.00')
           AS "p99 alone, ms",
       format('%s (%s to %s)',
           to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY p99 / rest_p99), 'FM990.00'),
           to_char(min(p99 / rest_p99), 'FM990.00'),
           to_char(max(p99 / rest_p99), 'FM990.00')) AS "p99 beside it",
       CASE variant WHEN 'probe' THEN
           CASE WHEN percentile_cont(0.5) WITHIN GROUP (ORDER BY tps / rest_tps) >= 0.97
                THEN 'met' ELSE '**missed**' END
           ELSE '-' END AS target
FROM runs GROUP BY place, variant
ORDER BY place,
         array_position(ARRAY['probe', 'probe_1', 'tool', 'nothing'], variant);

\echo
\echo Seconds of the call (the tool is stopped after 5), and what the probe said. Target: a
\echo probe with the defaults is undecided in at most 25 %.
SELECT place, variant, times, median, min, max,
       CASE WHEN variant LIKE 'probe%' THEN undecided::text ELSE '-' END AS undecided,
       CASE WHEN variant LIKE 'probe%' THEN switches::text ELSE '-' END AS switches,
       CASE WHEN variant <> 'probe' THEN '-' WHEN undecided <= 0.25 * times THEN 'met'
            ELSE '**missed**' END AS target
FROM (SELECT place, variant, count(*) AS times,
             round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS median,
             round(min(seconds)::numeric, 1) AS min, round(max(seconds)::numeric, 1) AS max,
             count(*) FILTER (WHERE verdict = 'undecided') AS undecided,
             count(*) FILTER (WHERE verdict = 'switch') AS switches
      FROM calls GROUP BY place, variant) AS c
ORDER BY place, variant;
SQL
}
