#!/usr/bin/env bash
# load_session.sh BINDIR FOLDER TOOL_FILE SECONDS REST "VARIANT..." PGBENCH-ARGUMENT...
#
# pgbench, and beside it each VARIANT for SECONDS, with a rest of REST seconds
# before, between and after.  In FOLDER are then pgbench's transaction logs, and
# in "windows" a line for each variant: its name, when it was called and when it
# returned, and when it began to measure (both in seconds since the epoch).  All
# are of our process group: who ends that ends all.
set -euo pipefail

bindir=$1 folder=$2 tool_file=$3 seconds=$4 rest=$5 variants=$6
shift 6

sql() { "$bindir/psql" -X -q -A -t -v ON_ERROR_STOP=1 -c "SET client_min_messages = warning" -c "$1"; }

"$bindir/pgbench" "$@" -l --log-prefix="$folder/log" >"$folder/pgbench.out" &
pgbench=$!
sleep 0.5

for variant in $variants; do
	sleep "$rest"
	called=$EPOCHREALTIME
	measuring=$called
	case $variant in
		probe_*)
			run=$(sql "SELECT DISTINCT run_id FROM sync_probe.probe(duration => '$seconds s',
				stop_early => false, duty_cycle => ${variant#probe_})")
			returned=$EPOCHREALTIME
			measuring=$(sql "SELECT extract(epoch FROM finished_at - duration) FROM sync_probe.runs WHERE run_id = $run") ;;
		tool)
			# it knows what to do about SIGINT
			timeout -s INT -k 5 "$seconds" "$bindir/pg_test_fsync" -s 1 -f "$tool_file" >/dev/null || true
			returned=$EPOCHREALTIME ;;
		*) echo "unknown variant \"$variant\"" >&2; exit 2 ;;
	esac
	echo "$variant $called $returned $measuring"
done >"$folder/windows"
sleep "$rest"

# what tells pgbench that its time is up, so that it still writes its logs
kill -ALRM "$pgbench"
wait "$pgbench"
