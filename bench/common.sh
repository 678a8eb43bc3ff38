# shellcheck shell=bash
# What the benches share: a cluster whose WAL lies on the file system under
# test, steps that cannot hang, and observations, one line each.
#
# To be sourced after script/common.sh and script/filesystems.sh.
#
# Reads: places (array of "name=directory"), absent_places (names of those that cannot be
# made) and place_settings (of places.sh).  Sets: observations (the folder where benches
# leave what they saw until a file system is done).

observations=
hung=()				# file systems that are given up, with what they hung at
answer=				# of ask

# The cluster's data lies elsewhere than its WAL, and no checkpoint and no
# vacuum comes in between: what is measured is the commit.
bench_settings="
max_wal_size = 256MB
min_wal_size = 256MB
checkpoint_timeout = 1d
autovacuum = off
max_connections = 30
"

# bounded SECONDS COMMAND...: sets the array bounded.  The outer timeout is for
# what not even SIGKILL ends, a process that waits for a dead file system: it
# kills the inner one and so is rid of it.
bounded() {
	local seconds=$1
	shift
	bounded=(timeout -k 5 "$((seconds + 10))" timeout -k 5 "$seconds" "$@")
}

# step SECONDS COMMAND...: as the unprivileged user, never much longer than that.
# Its output goes to the file $work/out and is not shown; status 124 or 137 is a
# hang.
step() {
	local bounded
	bounded "$@"
	run_job "${bounded[@]}" >"$work/out" 2>"$work/err"
}

# step_in_shell SECONDS FUNCTION ARGUMENT...: a function of ours in a shell of its own, which
# finds the server's programs.  Who ends its process group ends all that it started.
step_in_shell() {
	local seconds=$1
	shift
	# shellcheck disable=SC2016
	step "$seconds" env "PATH=$bindir:$PATH" bash -euo pipefail \
		-c "$(declare -f "$1" || true)"$'\n"$@"' bash "$@"
}

# psql_step SECONDS ARGUMENT...
psql_step() {
	local seconds=$1
	shift
	step "$seconds" "$bindir/psql" -X -q -v ON_ERROR_STOP=1 "$@"
}

# ask SQL: its result, columns separated by a tab, in $answer.
ask() {
	psql_step "${ask_seconds:-60}" -A -t -F $'\t' -c "$1" || return
	answer=$(<"$work/out")
}

# observe NAME FIELD...: a line of the bench's observations.
observe() {
	local name=$1
	shift
	(IFS=$'\t' && printf '%s\n' "$*") >>"$observations/$name.tsv"
}

# What kind of thing was measured, for the report: file system by file system.
observe_place() {
	ask "SELECT filesystem, coalesce(device, '-'), coalesce(write_cache, '-'), mount_options
		FROM sync_probe.locations WHERE name = 'pg_wal'" || return
	observe "$1.places" "$2" "$answer"
}

observe_machine() {
	local revision
	revision=$(git -c "safe.directory=$root" -C "$root" describe --always --dirty 2>/dev/null) ||
		revision=unknown
	observe "$1.machine" "$(date -u +%Y-%m-%d)" "$("$pg_config" --version)" "$(uname -sr)" \
		"$(getconf _NPROCESSORS_ONLN)" "$revision"
}

# begin_place BENCH NAME DIRECTORY: a cluster with its pg_wal there.
begin_place() {
	local bench=$1 name=$2 directory=$3
	cluster_conf=$bench_settings${place_settings[$name]:-}
	mkdir_as_user "$work/logs"
	start_cluster -X "$directory/pg_wal" &&
		ask "CREATE EXTENSION pg_sync_probe" &&
		observe_place "$bench" "$name"
}

# A cluster on a file system that hangs cannot be stopped before that is gone.
end_place() {
	local name=$1 directory=$2
	if [[ " ${hung[*]} " == *" $name:"* ]]; then
		release_place "$name"
		end_processes
	fi
	run_job "$bindir/pg_ctl" -D "$work/data" -s -w -t 10 -m immediate stop >/dev/null 2>&1 ||
		end_processes
	rm -rf -- "${work:?}/data"
	step 60 rm -rf -- "$directory/pg_wal" || true		# a dead file system has none
}

# zfs-fuse can dead-lock under parallel writers: only its end frees them.
release_place() { [[ $1 != zfs ]] || end_zfs; }

# at_each_place BENCH FUNCTION: calls FUNCTION NAME DIRECTORY with a cluster
# running there.  Where it fails the file system is given up, which is said
# here and in the results; the others go on.
at_each_place() {
	local bench=$1 function=$2 place name directory
	for name in "${absent_places[@]}"; do
		observe "$bench.skipped" "$name" "cannot be made here"
	done
	for place in "${places[@]}"; do
		name=${place%%=*}
		directory=${place#*=}
		if [[ " ${hung[*]} " == *" $name:"* ]]; then
			observe "$bench.skipped" "$name" "hung before"
			continue
		fi
		say "$bench: $name"
		begin_place "$bench" "$name" "$directory" && "$function" "$name" "$directory" || {
			say "$bench: gave up on $name: $(tail -n 1 "$work/err")"
			observe "$bench.skipped" "$name" "gave up: $(tail -n 1 "$work/err")"
			hung+=("$name:$bench")
		}
		end_place "$name" "$directory"
		keep_observations "$bench"		# whatever the next place does
	done
}

# at_each_device BENCH FUNCTION: the same, where there is a device to wait for.  In
# memory no choice of a method matters.
at_each_device() {
	local place all=("${places[@]}") places=()
	observe_machine "$1"
	for place in "${all[@]}"; do
		if [[ $(stat -f -c %T "${place#*=}") == tmpfs ]]; then
			observe "$1.skipped" "${place%%=*}" "memory: no device to wait for"
		else
			places+=("$place")
		fi
	done
	at_each_place "$@"
}

# The methods that this platform's server knows.
sync_methods() {
	ask "SELECT string_agg(m, ' ') FROM pg_settings, unnest(enumvals) AS m
		WHERE name = 'wal_sync_method' AND m <> 'fsync_writethrough'"
}

# shuffled WORD...: in random order, in the array shuffled.
shuffled() { mapfile -t shuffled < <(printf '%s\n' "$@" | shuf); }

# WAL segments that are used again, as in a cluster that is not new.
reuse_segments() {
	ask "SELECT count(pg_switch_wal()) FROM generate_series(1, 20) AS n,
		LATERAL pg_logical_emit_message(true, 'n', n::text)"
}

# The upsert of the field report, on a table small enough that full-page images
# do not decide the size of a commit.
upsert_rows=10000

prepare_upsert() {
	psql_step 60 -v "rows=$upsert_rows" -f "$build/bench/upsert_setup.sql" &&
		reuse_segments && ask "CHECKPOINT"
}
