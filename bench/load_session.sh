#!/usr/bin/env bash
# load_session.sh BINDIR FOLDER TOOL_FILE SECONDS REST "VARIANT..." PGBENCH-ARGUMENT...
#
# pgbench, and beside it each VARIANT, with a rest of REST seconds before, between
# and after: probe (with the defaults), probe_DUTY_CYCLE, or for SECONDS tool or nothing.  In
# FOLDER are then pgbench's transaction logs, and in "windows" a line for each variant, separated
# by tabs: its name, when it was called, when it returned (in seconds since the epoch), and a probe's verdict and reason.  All are of our process group: who
# ends that ends all.
set -euo pipefail

bindir=$1 folder=$2 tool_file=$3 seconds=$4 rest=$5 variants=$6
shift 6

sql() { "$bindir/psql" -X -q -A -t -F $'\t' -v ON_ERROR_STOP=1 -c "SET client_min_messages = warning" -c "$1"; }

"$bindir/pgbench" "$@" -l --log-prefix="$folder/log" >"$folder/pgbench.out" &
pgbench=$!
sleep 0.5

for variant in $variants; do
	sleep "$rest"
	called=$EPOCHREALTIME
	said=$'-\t-'
	case $variant in
		probe | probe_*)
			duty_cycle=${variant#probe}
			duty_cycle=${duty_cycle#_}
			run=$(sql "SELECT DISTINCT run_id
				FROM sync_probe.probe(duty_cycle => ${duty_cycle:-NULL})")
			returned=$EPOCHREALTIME
			said=$(sql "SELECT verdict, reason
				FROM sync_probe.runs WHERE run_id = $run") ;;
		tool)
			# it knows what to do about SIGINT
			timeout -s INT -k 5 "$seconds" "$bindir/pg_test_fsync" -s 1 -f "$tool_file" >/dev/null || true
			returned=$EPOCHREALTIME ;;
		nothing)
			sleep "$seconds"
			returned=$EPOCHREALTIME ;;
		*) echo "unknown variant \"$variant\"" >&2; exit 2 ;;
	esac
	printf '%s\t%s\t%s\t%s\n' "$variant" "$called" "$returned" "$said"
done >"$folder/windows"
sleep "$rest"

# what tells pgbench that its time is up, so that it still writes its logs
kill -ALRM "$pgbench"
wait "$pgbench"
