#!/usr/bin/env bash
# commit_session.sh BINDIR FOLDER PGBENCH-ARGUMENT...
#
# pgbench, and beside it psql with FOLDER/schedule.sql, which switches
# wal_sync_method.  In FOLDER are then pgbench's transaction logs, and in "slots"
# what was set when.  Both are of our process group: who ends that ends both.
set -euo pipefail

bindir=$1 folder=$2
shift 2

"$bindir/pgbench" "$@" -l --log-prefix="$folder/log" >"$folder/pgbench.out" &
pgbench=$!
sleep 0.3
"$bindir/psql" -X -q -A -t -F ' ' -v ON_ERROR_STOP=1 -f "$folder/schedule.sql" >"$folder/slots"
# what tells pgbench that its time is up, so that it still writes its logs
kill -ALRM "$pgbench"
wait "$pgbench"
