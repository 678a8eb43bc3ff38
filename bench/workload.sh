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
	ask "SELECT pg_reload_conf()" || return
	ask "SELECT count(pg_switch_wal()) FROM generate_series(1, 20) AS n, LATERAL pg_logical_emit_message(true, 'n', n::text)"
}

checkpoint_and_rest() {
	ask "CHECKPOINT" || return
	step 10 sleep "$workload_rest"
}

# What a DBA would write down from the workload's row: its set-up, its script.
write_by_hand() {
	ask "SELECT setup FROM sync_probe.workloads WHERE workload = 'upsert'" || return
	printf 'CREATE SCHEMA by_hand;\nSET LOCAL search_path = by_hand, pg_temp;\n%s\n' "$answer" >"$work/workload/setup.sql"
	ask "SELECT script FROM sync_probe.workloads WHERE workload = 'upsert'" || return
	printf '%s\n' "${answer//:rows/$workload_rows}" >"$work/workload/script.sql"
}

# by_hand SECONDS ARGUMENT...: sets tps.  The sessions get the settings that the
# function's get.
by_hand() {
	local seconds=$1
	shift
	step 60 "$bindir/psql" -X -q -1 -v ON_ERROR_STOP=1 -f "$work/workload/setup.sql" || return
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

# call_workload SECONDS CALL [COMMAND...]: what workload_call.sql tells of it, by
# psql, or by COMMAND with psql's command line.  NOTICEs are sent, as to a user.
call_workload() {
	local seconds=$1 call=$2
	shift 2
	step "$((seconds + 60))" "$@" "$bindir/psql" -X -q -A -t -F $'\t' -P 'null=\N' -v ON_ERROR_STOP=1 \
		-v "call=$call" -f "$build/bench/workload_call.sql" || return
	IFS=$'\t' read -r called started finished answered tps p50 p99 transactions second_tps <"$work/out"
	incomplete=$(grep -c 'transaction log of pgbench is not complete' "$work/err") || true
}

run_workload_variant() {
	local called='\N' started='\N' finished='\N' answered='\N' tps p50 p99 transactions second_tps incomplete
	local call="('upsert', clients => $workload_clients, threads => $workload_threads,
		duration => '$workload_seconds s', rows => $workload_rows)"
	case $1 in
		function) call_workload "$workload_seconds" "SELECT result_id FROM sync_probe.pgbench$call" ;;
		procedure) call_workload "$workload_seconds" "CALL sync_probe.run_workload$call" ;;
		same_line) by_hand "$workload_seconds" -P 1 -l "--log-prefix=$work/workload/log" ;;
		plain_*) by_hand "$workload_seconds" ;;
	esac || return
	observe workload.runs "$place_name" "$turn" "$1" "$tps" "$called" "$started" "$finished" "$answered"
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
	by_hand "$((workload_seconds < 5 ? workload_seconds : 5))" || return	# the first one is slower
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
	call_workload "$(($1 / 2000 + 60))" "SELECT result_id FROM sync_probe.pgbench('bench_select', clients => $log_clients,
		threads => $log_clients, transactions => $(($1 / log_clients)))" \
		bash "$build/bench/workload_session.sh" "$work/workload" || return
	memory=$(memory_of_call) || { echo "no samples of the backend's memory" >"$work/err"; return 1; }
	observe workload.logs "$place_name" "$turn" "$transactions" "$incomplete" \
		"$called" "$started" "$finished" "$answered" "$memory"
}

compare_logs() {
	ask "INSERT INTO sync_probe.workloads (workload, script, protocol) VALUES ('bench_select', 'SELECT 1;', 'prepared')" || return
	take_turns logs "$log_turns" read_log "$log_transactions" "$log_transactions_short"
}

# No statement, so nothing but pgbench and its log takes time.
run_rate_variant() {
	local called started finished answered tps p50 p99 second_tps incomplete=0
	local transactions=$((rate_transactions * log_clients))
	local hand=("$bindir/pgbench" -n -r -f "$work/workload/nothing.sql" -c "$log_clients" -j "$log_clients" -t "$rate_transactions")
	case $1 in
		function)
			call_workload 120 "SELECT result_id FROM sync_probe.pgbench('bench_nothing', clients => $log_clients,
				threads => $log_clients, transactions => $rate_transactions)" ;;
		log_file) step 120 "${hand[@]}" -P 1 -l "--log-prefix=$work/workload/log" && take_tps && remove_logs ;;
		no_log) step 120 "${hand[@]}" && take_tps ;;
	esac || return
	observe workload.rates "$place_name" "$turn" "$1" "$transactions" "$tps" "$incomplete"
}

compare_rates() {
	ask "INSERT INTO sync_probe.workloads (workload, script) VALUES ('bench_nothing', '\set i 1')" || return
	echo '\set i 1' >"$work/workload/nothing.sql"
	take_turns rates "$rate_turns" run_rate_variant "${rate_variants[@]}"
}

run_hot_variant() {
	local called started finished answered tps p50 p99 transactions second_tps incomplete call
	call="('upsert', clients => $workload_clients, threads => $workload_threads, duration => '$hot_seconds s', rows => $hot_rows)"
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
	prepare_wal && write_by_hand && compare_runs && compare_logs && compare_rates && compare_hot || return
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
