# shellcheck shell=bash
# unsynced: WAL that counts as flushed and is not on the disk, while wal_sync_method changes.
#
# Each turn of a scenario starts a load, changes the method by a reload, and lets
# unsynced_pages.pl look: right after the reload, after a checkpoint that does not wait for
# the statements that run, and after the commands that the extension advises.  Live runs
# compare methods of one kind: beside and after them no page may be missing.  The load goes
# on all the time.
#
# Observations: unsynced.checks  place scenario turn moment, and the figures of the program

unsynced_turns=${BENCH_TURNS:-3}
unsynced_places=1			# the rules are the server's, not the file system's
unsynced_jobs=()			# process groups of the load
# scenario, the methods that follow each other, what loads, and what begins after the reload
unsynced_scenarios=(
	"mixed load, fsync and fdatasync:fdatasync fsync:bulk async sync:"
	"mixed load, fdatasync to open_datasync:fdatasync open_datasync:bulk async sync:"
	"bulk inserts, fdatasync to open_datasync:fdatasync open_datasync:bulk:bulk"
	"bulk inserts, open_datasync to fdatasync:open_datasync fdatasync:bulk:bulk"
	"async commits, fdatasync to open_datasync:fdatasync open_datasync:async:"
	"oltp with synchronous commits, fdatasync to open_datasync:fdatasync open_datasync:sync:"
)

# live runs beside a mixed load, each with these methods set
unsynced_live=(
	"suite commit:SELECT FROM sync_probe.probe('pg_wal', 'commit', duration => '10 s',
		workers => 2, flush_interval => '2 ms', stop_early => false)"
	"trial:CALL sync_probe.trial(duration => '10 s')"
)
unsynced_kinds="fdatasync open_datasync"

# Lets the cluster change the method, and says nothing of when each process does.
set_method() {
	ask "ALTER SYSTEM SET wal_sync_method = '$1'" && ask "SELECT pg_reload_conf()"
}

start_load() {
	local kind
	for kind in $1; do
		case $kind in
			bulk) start_job "$bindir/psql" -X -q -f "$build/bench/unsynced_load.sql" ;;
			async) start_job env PGOPTIONS="-c synchronous_commit=off" "$bindir/pgbench" -n -M prepared \
				-f "$build/bench/upsert.sql" -D "rows=$upsert_rows" -c 4 -T 600 ;;
			sync) start_job "$bindir/pgbench" -n -M prepared \
				-f "$build/bench/upsert.sql" -D "rows=$upsert_rows" -c 8 -T 600 ;;
		esac >"$work/load.log" 2>&1
		unsynced_jobs+=("$job")
		job=
	done
}

end_load() {
	local process
	for process in "${unsynced_jobs[@]}"; do
		kill -TERM -- "-$process" 2>/dev/null || true
		wait "$process" 2>/dev/null || true
	done
	unsynced_jobs=()
	ask "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
}

# look MOMENT CHECKS: the program needs root, to read what lies below a file system.
look() {
	local moment=$1 checks=$2 status=0 figures
	figures=$(timeout -k 5 120 perl "$root/bench/unsynced_pages.pl" --psql "$bindir/psql" \
		--wal-dir "$directory/pg_wal" --checks "$checks" --gap 0.05 --since "$since" --tsv \
		2>"$work/err") || status=$?
	((status < 2)) || return
	observe unsynced.checks "$place_name" "$scenario" "$turn" "$moment" "$figures"
}

# Everything that was written so far is on the disk, also what initdb wrote without a sync.
start_clean() {
	ask "TRUNCATE bulk" && ask "CHECKPOINT" || return
	step 60 find "$directory/pg_wal" -maxdepth 1 -type f -exec sync -d {} + || return
	ask "SELECT pg_current_wal_lsn()" || return
	since=$answer
}

unsynced_turn() {
	local before=$1 after=$2 load=$3 later_load=$4 since n
	# shellcheck disable=SC2034  # of ask: for as long as a statement of the load lasts
	local ask_seconds=180
	set_method "$before" && ask "CALL sync_probe.wait_for_reload()" && start_clean || return
	start_load "$load"
	sleep 1
	if [[ "$before $after" == *open* ]]; then
		set_method "$after" || return
		start_load "$later_load"
		look "after the reload" 20 || return
		ask "CHECKPOINT" && look "after a checkpoint" 20 || return
		# the statements that began before the reload end, and the load goes on
		ask "CALL sync_probe.wait_for_reload()" && ask "CHECKPOINT" || return
		look "after the commands" 20 || return
	else
		for n in 1 2 3 4; do
			set_method "$after" && look "after the reload" 5 || return
			set_method "$before" && look "after the reload" 5 || return
		done
	fi
}

# live_turn METHOD SQL
live_turn() {
	local since run
	# shellcheck disable=SC2034  # of ask
	local ask_seconds=180
	set_method "$1" && ask "CALL sync_probe.wait_for_reload()" && start_clean || return
	start_load "bulk async sync"
	start_job "$bindir/psql" -X -q -v ON_ERROR_STOP=1 -c "$2" >"$work/live.log" 2>&1
	run=$job
	job=
	look "beside the run" 20 || { kill -TERM -- "-$run"; wait "$run"; return 1; }
	wait "$run" || { cp -- "$work/live.log" "$work/err"; return 1; }
	look "after the run" 20
}

# The load ends also after an error, whose words are kept.
end_turn() {
	cp -- "$work/err" "$work/first_err"
	end_load || return
	(($1 == 0)) || { cp -- "$work/first_err" "$work/err"; return 1; }
}

unsynced_at() {
	local place_name=$1 directory=$2 turn entry scenario methods load later_load failed
	prepare_upsert && ask "CREATE TABLE bulk (n integer, filler text)" || return
	for ((turn = 1; turn <= unsynced_turns; turn++)); do
		for entry in "${unsynced_scenarios[@]}"; do
			IFS=: read -r scenario methods load later_load <<<"$entry"
			failed=0
			# shellcheck disable=SC2086
			unsynced_turn $methods "$load" "$later_load" || failed=1
			end_turn "$failed" || return
		done
		for entry in "${unsynced_live[@]}"; do
			for methods in $unsynced_kinds; do
				scenario="${entry%%:*}, $methods"
				failed=0
				live_turn "$methods" "${entry#*:}" || failed=1
				end_turn "$failed" || return
			done
		done
		printf '%s: turn %d\n' "$place_name" "$turn" >&2
	done
}

# What lies where on the disk is known of ext4 and xfs on a loop device, to root.
choose_unsynced_places() {
	local place type
	for place in "$@"; do
		type=$(stat -f -c %T "${place#*=}")
		if [[ $(id -u) != 0 || ! $type =~ ^(ext2/ext3|xfs)$ ||
			$(findmnt -n -o SOURCE -T "${place#*=}") != /dev/loop* ]]; then
			observe unsynced.skipped "${place%%=*}" "needs root, and ext4 or xfs on a loop device"
		elif ((${#places[@]} == unsynced_places)); then
			observe unsynced.skipped "${place%%=*}" "not done: $unsynced_places place is enough"
		else
			places+=("$place")
		fi
	done
}

measure_unsynced() {
	local all=("${places[@]}") places=()
	# shellcheck disable=SC2034  # of begin_place: no checkpoint by itself in the middle of a load
	local bench_settings=${bench_settings/max_wal_size = 256MB/max_wal_size = 600MB}
	observe_machine unsynced
	: >"$observations/unsynced.checks.tsv"		# there, even if all is given up
	choose_unsynced_places "${all[@]}"
	at_each_place unsynced unsynced_at
}
