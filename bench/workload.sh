# shellcheck shell=bash
# shellcheck disable=SC2154	# shared with bench/run and common.sh
# workload: what running pgbench through SQL costs against running it by hand, and
# what the procedure gains over the function.
#
# A turn of runs holds, in random order, the upsert through pgbench(), through
# run_workload(), and three times by hand: with the command line that these use,
# with its log in a file, and twice without progress and log, which shows the noise.
# Each has its own schema, and a checkpoint and a rest before it.  Then the log:
# a long and a short run of SELECT 1, with the backend's memory; and transactions
# without any statement, as fast as pgbench can make them, with the log through
# SQL, in a file, and not at all.  Then a few hot rows, by the function, whose
# snapshot keeps dead row versions, and by the procedure, which has none.
#
# Observations: workload.runs  place turn variant tps called started finished answered
#               workload.logs  place turn transactions incomplete called started finished answered
#                              before_kb peak_kb after_kb
#               workload.rates place turn variant transactions tps incomplete
#               workload.hot   place turn variant tps p50_ms p99_ms second_tps
# (times are seconds since the epoch, by the server's clock, and \N by hand; started
# and finished are pgbench's; kB are the backend's private memory; incomplete is the
# number of warnings about the log)

workload_turns=${BENCH_TURNS:-15}
workload_seconds=${BENCH_SECONDS:-5}
workload_clients=16
workload_threads=8
workload_rows=500000
workload_rest=2
workload_variants=(function procedure same_line plain_line plain_again)

log_turns=$((workload_turns < 3 ? workload_turns : 3))
log_clients=4
log_transactions=${BENCH_LOG_TRANSACTIONS:-1000000}
log_transactions_short=4000

rate_turns=$((workload_turns < 5 ? workload_turns : 5))
rate_transactions=2000000	# of each of its clients
rate_variants=(function log_file no_log)

hot_turns=$((workload_turns < 3 ? workload_turns : 3))
hot_seconds=${BENCH_HOT_SECONDS:-30}
hot_rows=100

# No checkpoint may begin by itself in a run, and new WAL segments are no part of
# what is compared: such a cluster has segments to use again.
prepare_wal() {
	ask "ALTER SYSTEM SET max_wal_size = '768MB'" || return
	ask "SELECT pg_reload_conf()" && reuse_segments
}

checkpoint_and_rest() {
	ask "CHECKPOINT" || return
	step 10 sleep "$workload_rest"
}

# What a DBA would write down from the workload's row: its set-up, its script.
write_by_hand() {
	ask "SELECT setup FROM sync_probe.workloads WHERE workload = 'upsert'" || return
	printf 'CREATE SCHEMA by_hand;\nSET LOCAL search_path = by_hand, pg_temp;\n%s\n' "$answer" \
		>"$work/workload/setup.sql"
	ask "SELECT script FROM sync_probe.workloads WHERE workload = 'upsert'" || return
	printf '%s\n' "${answer//:rows/$workload_rows}" >"$work/workload/script.sql"
}

# by_hand SECONDS ARGUMENT...: sets tps.  The sessions get the settings that the
# function's get.
by_hand() {
	local seconds=$1
	shift
	psql_step 60 -1 -f "$work/workload/setup.sql" || return
	step "$((seconds + 60))" env "PGOPTIONS=-c search_path=by_hand,pg_temp -c default_tablespace=" \
		"$bindir/pgbench" -M prepared -n -r "$@" -f "$work/workload/script.sql" \
		-c "$workload_clients" -j "$workload_threads" -T "$seconds" || return
	take_tps || return
	ask "DROP SCHEMA by_hand CASCADE" || return
	remove_logs
}

# What pgbench said: sets tps.
take_tps() {
	tps=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$work/out")
	[[ -n $tps ]] || { echo "pgbench said no tps" >"$work/err"; return 1; }
}

remove_logs() { step 60 find "$work/workload" -name 'log.*' -delete; }

# One run by :call, which gives its result_id: when that was called and answered, and what was
# recorded.  With :pid_file, the backend's number goes there, and there is a rest on both sides
# of the call for a look at its memory.
write_call() {
	cat >"$work/workload/call.sql" <<-'SQL'
		\if :{?pid_file}
		SELECT pg_backend_pid() \g :pid_file
		SELECT pg_sleep(0.3) \g /dev/null
		\endif
		SELECT clock_timestamp() AS called \gset
		:call \gset
		SELECT clock_timestamp() AS answered \gset
		\if :{?pid_file}
		SELECT pg_sleep(0.3) \g /dev/null
		\endif
		SELECT extract(epoch FROM :'called'::timestamptz), extract(epoch FROM started_at),
		       extract(epoch FROM finished_at), extract(epoch FROM :'answered'::timestamptz),
		       tps, latency_p50_ms, latency_p99_ms, transactions, second_tps
		FROM sync_probe.workload_results WHERE result_id = :result_id;
	SQL
}

# psql_and_memory FOLDER ARGUMENT...: psql, and beside it a look at its backend's private memory
# every 50 ms: in FOLDER/memory a line for each, seconds since the epoch and kB.  Shared buffers
# are not counted: a backend that has touched them has not allocated them.
psql_and_memory() {
	local folder=$1 psql backend kb
	shift
	psql "$@" -v "pid_file=$folder/pid" &
	psql=$!
	timeout 10 bash -c 'until [[ -s $1 ]]; do sleep 0.05; done' bash "$folder/pid"
	backend=$(<"$folder/pid")
	while kb=$(grep RssAnon "/proc/$backend/status" 2>/dev/null); do
		echo "$EPOCHREALTIME ${kb//[^0-9]/}"
		sleep 0.05
	done >"$folder/memory"
	wait "$psql"
}

# call_workload SECONDS CALL [FUNCTION ARGUMENT]: sets what call.sql tells of it, by psql, or by
# FUNCTION with psql's command line.  NOTICEs are sent, as to a user.
call_workload() {
	local seconds=$1 call=$2
	shift 2
	(($# > 0)) || set -- psql
	step_in_shell "$((seconds + 60))" "$@" -X -q -A -t -F $'\t' -P 'null=\N' -v ON_ERROR_STOP=1 \
		-v "call=$call" -f "$work/workload/call.sql" || return
	IFS=$'\t' read -r called started finished answered tps p50 p99 transactions second_tps \
		<"$work/out"
	incomplete=$(grep -c 'transaction log of pgbench is not complete' "$work/err") || true
}

run_workload_variant() {
	local called='\N' started='\N' finished='\N' answered='\N'
	local tps p50 p99 transactions second_tps incomplete
	local call="('upsert', clients => $workload_clients, threads => $workload_threads,
		duration => '$workload_seconds s', rows => $workload_rows)"
	case $1 in
		function)
			call_workload "$workload_seconds" "SELECT result_id FROM sync_probe.pgbench$call" ;;
		procedure) call_workload "$workload_seconds" "CALL sync_probe.run_workload$call" ;;
		same_line) by_hand "$workload_seconds" -P 1 -l "--log-prefix=$work/workload/log" ;;
		plain_*) by_hand "$workload_seconds" ;;
	esac || return
	observe workload.runs "$place_name" "$turn" "$1" "$tps" \
		"$called" "$started" "$finished" "$answered"
}

# take_turns WHAT COUNT COMMAND ITEM...: COMMAND for each item, in a new order each turn.
take_turns() {
	local what=$1 count=$2 command=$3 turn item shuffled
	shift 3
	for ((turn = 1; turn <= count; turn++)); do
		shuffled "$@"
		for item in "${shuffled[@]}"; do
			checkpoint_and_rest && "$command" "$item" || return
		done
		printf '%s: %s, turn %d\n' "$place_name" "$what" "$turn" >&2
	done
}

compare_runs() {
	by_hand "$workload_seconds" || return		# the first one is slower
	take_turns runs "$workload_turns" run_workload_variant "${workload_variants[@]}"
}

# From samples "time kB": the last before the call, the most since, the last.
memory_of_call() {
	awk -v "called=$called" -v OFS='\t' '
		$1 < called { before = $2; next }
		$2 > peak { peak = $2 }
		{ after = $2 }
		END { if (!before || !after) exit 1; print before, peak, after }' "$work/workload/memory"
}

read_log() {
	local called started finished answered tps p50 p99 transactions second_tps incomplete memory
	step 60 rm -f -- "$work/workload/pid" "$work/workload/memory" || return
	call_workload "$(($1 / 2000 + 60))" "SELECT result_id FROM sync_probe.pgbench('bench_select',
		clients => $log_clients, threads => $log_clients,
		transactions => $(($1 / log_clients)))" \
		psql_and_memory "$work/workload" || return
	memory=$(memory_of_call) ||
		{ echo "no samples of the backend's memory" >"$work/err"; return 1; }
	observe workload.logs "$place_name" "$turn" "$transactions" "$incomplete" \
		"$called" "$started" "$finished" "$answered" "$memory"
}

compare_logs() {
	ask "INSERT INTO sync_probe.workloads (workload, script, protocol)
		VALUES ('bench_select', 'SELECT 1;', 'prepared')" || return
	take_turns logs "$log_turns" read_log "$log_transactions" "$log_transactions_short"
}

# No statement, so nothing but pgbench and its log takes time.
run_rate_variant() {
	local called started finished answered tps p50 p99 second_tps incomplete=0
	local transactions=$((rate_transactions * log_clients))
	local hand=("$bindir/pgbench" -n -r -f "$work/workload/nothing.sql"
		-c "$log_clients" -j "$log_clients" -t "$rate_transactions")
	case $1 in
		function)
			call_workload 120 "SELECT result_id FROM sync_probe.pgbench('bench_nothing',
				clients => $log_clients, threads => $log_clients,
				transactions => $rate_transactions)" ;;
		log_file)
			step 120 "${hand[@]}" -P 1 -l "--log-prefix=$work/workload/log" &&
				take_tps && remove_logs ;;
		no_log) step 120 "${hand[@]}" && take_tps ;;
	esac || return
	observe workload.rates "$place_name" "$turn" "$1" "$transactions" "$tps" "$incomplete"
}

compare_rates() {
	ask "INSERT INTO sync_probe.workloads (workload, script)
		VALUES ('bench_nothing', '\set i 1')" || return
	echo '\set i 1' >"$work/workload/nothing.sql"
	take_turns rates "$rate_turns" run_rate_variant "${rate_variants[@]}"
}

run_hot_variant() {
	local called started finished answered tps p50 p99 transactions second_tps incomplete call
	call="('upsert', clients => $workload_clients, threads => $workload_threads,
		duration => '$hot_seconds s', rows => $hot_rows)"
	case $1 in
		function) call="SELECT result_id FROM sync_probe.pgbench$call" ;;
		procedure) call="CALL sync_probe.run_workload$call" ;;
	esac
	call_workload "$hot_seconds" "$call" || return
	observe workload.hot "$place_name" "$turn" "$1" "$tps" "$p50" "$p99" "$second_tps"
}

compare_hot() {
	take_turns "hot rows" "$hot_turns" run_hot_variant function procedure
}

workload_at() {
	local place_name=$1
	mkdir_as_user "$work/workload"
	write_call
	prepare_wal && write_by_hand && compare_runs && compare_logs && compare_rates &&
		compare_hot || return
	step 60 rm -rf -- "$work/workload"
}

# What SQL costs depends little on the file system: a disk is enough, and memory,
# where nothing waits and the processors decide; unless others are asked for.
choose_workload_places() {
	local place disk=
	if [[ -n ${BENCH_PLACES:-} ]] || ((${#directories[@]} > 0)); then
		places=("$@")
		return
	fi
	for place in "$@"; do
		if [[ $place == tmpfs=* || -z $disk ]]; then
			places+=("$place")
			[[ $place == tmpfs=* ]] || disk=$place
		else
			observe workload.skipped "${place%%=*}" "not done: one disk is enough"
		fi
	done
}

measure_workload() {
	local all=("${places[@]}") places=()
	observe_machine workload
	: >"$observations/workload.runs.tsv"		# there, even if all is given up
	: >"$observations/workload.logs.tsv"
	: >"$observations/workload.rates.tsv"
	: >"$observations/workload.hot.tsv"
	choose_workload_places "${all[@]}"
	at_each_place workload workload_at
}

# The section of the report: Markdown tables from the observations.
report_workload() {
	cat <<'SQL'
-- What a workload through SQL costs against pgbench by hand, and what the procedure gains.
CREATE TEMP TABLE runs (place text, turn int, variant text, tps float8, called float8,
    started float8, finished float8, answered float8);
CREATE TEMP TABLE logs (place text, turn int, transactions bigint, incomplete int,
    called float8, started float8, finished float8, answered float8,
    before_kb float8, peak_kb float8, after_kb float8);
CREATE TEMP TABLE rates (place text, turn int, variant text, transactions bigint,
    tps float8, incomplete int);
CREATE TEMP TABLE hot (place text, turn int, variant text, tps float8, p50 float8, p99 float8,
    second_tps float8[]);
\copy runs FROM 'workload.runs.tsv'
\copy logs FROM 'workload.logs.tsv'
INSERT INTO runs (place, turn, variant, tps)
SELECT place, turn, 'plain', avg(tps) FROM runs
WHERE variant IN ('plain_line', 'plain_again') GROUP BY place, turn HAVING count(*) = 2;
\copy rates FROM 'workload.rates.tsv'
\copy hot FROM 'workload.hot.tsv'

CREATE FUNCTION pg_temp.median(figures float8[]) RETURNS float8 LANGUAGE sql AS
$$ SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FROM unnest(figures) AS f $$;
-- median (least to most)
CREATE FUNCTION pg_temp.spread(figures float8[], digits int) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(format('%s (%s to %s)', round(pg_temp.median(figures)::numeric, digits),
       round(min(f)::numeric, digits), round(max(f)::numeric, digits)), 'n/a')
    FROM unnest(figures) AS f HAVING count(f) > 0 $$;
CREATE FUNCTION pg_temp.verdict(met boolean) RETURNS text LANGUAGE sql AS
$$ SELECT CASE WHEN met THEN 'met' ELSE '**missed**' END $$;

\echo
\echo The upsert with 16 clients and 8 threads: through sync_probe.pgbench(), through CALL
\echo sync_probe.run_workload(), and by hand with the command line that these use (-P 1 -l,
\echo the log in a file), without progress and log, and the same again. Transactions per
\echo second, median (least to most).
SELECT r.place, v.shown AS variant, count(*) AS turns,
       pg_temp.spread(array_agg(r.tps), 0) AS "transactions per second"
FROM (VALUES (1, 'function', 'pgbench()'), (2, 'procedure', 'run_workload()'),
             (3, 'same_line', 'by hand, same line'), (4, 'plain_line', 'by hand, plain line'),
             (5, 'plain_again', 'plain line again')) AS v (n, variant, shown)
JOIN runs AS r USING (variant)
GROUP BY r.place, v.n, v.shown ORDER BY r.place, v.n;

\echo
\echo Their ratios within a turn; "plain" is the mean of the two plain lines. The last ratio
\echo compares a line with itself: it is the noise. Target: median at least 0.98 of plain.
SELECT a.place, c.label AS ratio, count(*) AS turns,
       round(min(a.tps / b.tps)::numeric, 3) AS least,
       round(percentile_cont(0.25) WITHIN GROUP (ORDER BY a.tps / b.tps)::numeric, 3)
           AS "lower quartile",
       round(pg_temp.median(array_agg(a.tps / b.tps))::numeric, 3) AS median,
       round(percentile_cont(0.75) WITHIN GROUP (ORDER BY a.tps / b.tps)::numeric, 3)
           AS "upper quartile",
       round(max(a.tps / b.tps)::numeric, 3) AS most,
       CASE WHEN c.above IN ('function', 'procedure') AND c.below = 'plain' THEN
           pg_temp.verdict(pg_temp.median(array_agg(a.tps / b.tps)) >= 0.98) ELSE '-' END AS target
FROM (VALUES (1, 'function', 'plain', 'pgbench() by plain'),
             (2, 'procedure', 'plain', 'run_workload() by plain'),
             (3, 'function', 'same_line', 'pgbench() by same line'),
             (4, 'same_line', 'plain', 'same line by plain'),
             (5, 'plain_again', 'plain_line', 'plain line by itself')) AS c (n, above, below, label)
JOIN runs AS a ON a.variant = c.above
JOIN runs AS b ON b.variant = c.below AND b.place = a.place AND b.turn = a.turn
GROUP BY a.place, c.n, c.above, c.below, c.label ORDER BY a.place, c.n;

\echo
\echo Seconds of these calls in which pgbench did not run: before it started (finding it, the
\echo background worker, the schema, the temporary directory), and after its end (the rest of
\echo its log, the last sessions, dropping the objects, the row). Target: together under 1 s,
\echo always.
SELECT place, count(*) AS calls,
       pg_temp.spread(array_agg(started - called), 3) AS "before",
       pg_temp.spread(array_agg(answered - finished), 3) AS "after",
       round(pg_temp.median(array_agg(started - called + answered - finished))::numeric, 3)
           AS "together: median",
       round(max(started - called + answered - finished)::numeric, 3) AS most,
       pg_temp.verdict(max(started - called + answered - finished) < 1) AS target
FROM runs WHERE variant IN ('function', 'procedure') GROUP BY place ORDER BY place;

\echo
\echo A workload that only says SELECT 1: is each transaction in the log; and seconds from
\echo the end of pgbench to the answer, with the end of the last sessions, tear-down and
\echo recording. Target with 1,000,000 transactions: a complete log, always, and under 2 s in
\echo the median.
SELECT place, to_char(transactions, 'FM999,999,999') AS transactions, count(*) AS times,
       sum(incomplete) AS "logs with losses",
       pg_temp.spread(array_agg(finished - started), 1) AS "pgbench ran",
       pg_temp.spread(array_agg(answered - finished), 3) AS "from its end to the answer",
       CASE WHEN transactions >= 1000000 THEN
           pg_temp.verdict(pg_temp.median(array_agg(answered - finished)) < 2
               AND sum(incomplete) = 0) ELSE '-' END AS target
FROM logs GROUP BY place, logs.transactions ORDER BY place, logs.transactions DESC;

\echo
\echo The private memory of the backend in these calls, MB, looked at every 50 ms. Target with
\echo 1,000,000 transactions: always less than 32 MB more at the peak than before the call.
SELECT place, to_char(transactions, 'FM999,999,999') AS transactions,
       round(pg_temp.median(array_agg(before_kb / 1024))::numeric, 1) AS "before the call",
       pg_temp.spread(array_agg((peak_kb - before_kb) / 1024), 1) AS "more at the peak",
       pg_temp.spread(array_agg((after_kb - before_kb) / 1024), 1) AS "more after it",
       CASE WHEN transactions >= 1000000 THEN
           pg_temp.verdict(max(peak_kb - before_kb) < 32 * 1024) ELSE '-' END AS target
FROM logs GROUP BY place, logs.transactions ORDER BY place, logs.transactions DESC;

\echo
\echo Transactions of one meta-command and no statement, 4 clients and 4 threads: the log at
\echo its fastest, through pgbench(), by hand in a file, and by hand without. Thousands of
\echo transactions per second. Target of pgbench(): a complete log at more than 100,000
\echo transactions per second, always.
SELECT place, variant, count(*) AS times,
       to_char(min(transactions), 'FM999,999,999') AS transactions,
       sum(incomplete) AS "logs with losses",
       pg_temp.spread(array_agg(tps / 1000), 0) AS "thousands per second",
       CASE WHEN variant = 'function'
            THEN pg_temp.verdict(min(tps) > 100000 AND sum(incomplete) = 0) ELSE '-' END AS target
FROM rates GROUP BY place, variant ORDER BY place, variant;

-- of the seconds, those of the first and those of the last third
CREATE TEMP TABLE thirds AS
SELECT place, turn, variant, tps, p50, p99, decay.last_by_first
FROM hot, LATERAL (
    SELECT avg(t) FILTER (WHERE n > cardinality(second_tps) - cardinality(second_tps) / 3) /
           nullif(avg(t) FILTER (WHERE n <= cardinality(second_tps) / 3), 0)
    FROM unnest(second_tps) WITH ORDINALITY AS s (t, n)) AS decay (last_by_first);

\echo
\echo The upsert on 100 hot rows. While the function runs its snapshot keeps all row versions
\echo that have died since; the procedure has none. "Last third" is the tps in the last third
\echo of the seconds by that in the first. Target: median at least 0.9 with the procedure; a
\echo snapshot that is held shows there.
SELECT place, variant, count(*) AS times,
       pg_temp.spread(array_agg(tps / 1000), 1) AS "thousands per second",
       pg_temp.spread(array_agg(p50), 2) AS "p50, ms",
       pg_temp.spread(array_agg(p99), 2) AS "p99, ms",
       pg_temp.spread(array_agg(last_by_first), 2) AS "last third",
       CASE WHEN variant = 'procedure'
            THEN pg_temp.verdict(pg_temp.median(array_agg(last_by_first)) >= 0.9)
            ELSE '-' END AS target
FROM thirds GROUP BY place, variant ORDER BY place, variant;

\echo
\echo The procedure by the function, within a turn. No target: this is what one gains by
\echo CALL.
SELECT p.place, count(*) AS turns,
       pg_temp.spread(array_agg(p.tps / f.tps), 2) AS tps,
       pg_temp.spread(array_agg(p.p50 / nullif(f.p50, 0)), 2) AS "p50",
       pg_temp.spread(array_agg(p.p99 / nullif(f.p99, 0)), 2) AS "p99"
FROM thirds AS p
JOIN thirds AS f ON f.variant = 'function' AND f.place = p.place AND f.turn = p.turn
WHERE p.variant = 'procedure' GROUP BY p.place ORDER BY p.place;
SQL
}
