#!/usr/bin/env bash
# workload_session.sh FOLDER PSQL-COMMAND...
#
# psql, and beside it a look at its backend's private memory every 50 ms.  psql
# writes the backend's number to FOLDER/pid (see workload_call.sql); in FOLDER/memory
# is then a line for each look: seconds since the epoch, kB.  Shared buffers are not
# counted: a backend that has touched them has not allocated them.
set -euo pipefail

folder=$1
shift

# Neither starts a process, which would take time from what is measured.
exec {never}<> <(:)
pause() { read -r -t 0.05 -u "$never" || true; }

private_kb() {
	local key value
	kb=
	while read -r key value _; do
		[[ $key != RssAnon: ]] || kb=$value
	done <"/proc/$backend/status" && [[ -n $kb ]]
} 2>/dev/null

"$@" -v "pid_file=$folder/pid" &
psql=$!
until [[ -s $folder/pid ]] || ! kill -0 "$psql" 2>/dev/null; do
	pause
done
if [[ -s $folder/pid ]]; then
	backend=$(<"$folder/pid")
	while private_kb; do
		echo "$EPOCHREALTIME $kb"
		pause
	done >"$folder/memory"
fi
wait "$psql"
