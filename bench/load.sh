# shellcheck shell=bash
# load: what a probe, or the tool, takes from commits that run at the same time.
#
# A turn is a session of pgbench without a pause, beside which a probe with the defaults, one
# with a duty_cycle of 1, pg_test_fsync in the same pg_wal, and nothing at all run in random
# order, with rests between: each is compared with the rests right before and after it.
#
# Observations: load.runs    place turn variant window tps p99_ms rest_tps rest_p99_ms
#               load.calls   place turn variant seconds verdict reason
# Windows: "whole" is the call, and so holds the probe's writing of its files;
# "measuring" comes after that.

load_turns=${BENCH_TURNS:-8}
load_seconds=5			# of the tool, and of nothing
load_rest=4
load_longest=45			# a probe with the defaults, and its files
load_places=2			# more take long and say little
load_variants=(probe probe_1 tool nothing)

# From pgbench's log (client, transaction, microseconds, script, when it ended in
# seconds and microseconds) sorted by latency, and the windows: both windows of a
# variant, and the rests beside it together, less 0.2 s after each change.
summarize_windows() {
	sort -n -k 3,3 "$work/load"/log.* | awk -v "rest=$load_rest" '
		function seen(w,    n, i) {
			n = count[w]
			if (!n || span[w] <= 0) exit 1
			i = int(n * 0.99); if (i < n * 0.99) i++
			return sprintf("%.2f\t%.3f", n / span[w], latency[w, i] / 1000)
		}
		FNR == NR {
			name[++variants] = $1; called[NR] = $2; returned[NR] = $3; measuring[NR] = $4
			span["whole", NR] = $3 - $2
			span["measuring", NR] = $3 - $4
			span["rest", NR] = 2 * (rest - 0.2)
			next
		}
		{
			at = $5 + $6 / 1e6
			for (v = 1; v <= variants; v++) {
				if (at >= called[v] && at < returned[v]) { w = "whole" SUBSEP v; latency[w, ++count[w]] = $3 }
				if (at >= measuring[v] && at < returned[v]) { w = "measuring" SUBSEP v; latency[w, ++count[w]] = $3 }
				if ((at >= called[v] - rest + 0.2 && at < called[v]) || (at >= returned[v] + 0.2 && at < returned[v] + rest)) {
					w = "rest" SUBSEP v; latency[w, ++count[w]] = $3
				}
			}
		}
		END {
			for (v = 1; v <= variants; v++)
				for (k = 1; k <= 2; k++) {
					part = k == 1 ? "whole" : "measuring"
					printf "%s\t%s\t%s\t%s\n", name[v], part, seen(part SUBSEP v), seen("rest" SUBSEP v)
				}
		}' "$work/load/windows" -
}

load_session() {
	local variants=$1 seconds line
	ask "CHECKPOINT" || return		# so that none begins by itself
	rm -rf -- "$work/load"
	mkdir_as_user "$work/load"
	seconds=$((${#load_variants[@]} * (load_longest + load_rest) + load_rest + 5))
	step "$((seconds + 60))" bash "$build/bench/load_session.sh" "$bindir" "$work/load" \
		"$directory/pg_wal/xlogtemp.1.bench" "$load_seconds" "$load_rest" "$variants" \
		-n -M prepared -f "$build/bench/upsert.sql" -D "rows=$upsert_rows" -c 8 -j 2 -T "$seconds" || return
	summarize_windows >"$work/load/summary" || { echo "a window without a transaction" >"$work/err"; return 1; }
	while IFS= read -r line; do
		observe load.runs "$place_name" "$turn" "$line"
	done <"$work/load/summary"
	while IFS= read -r line; do
		observe load.calls "$place_name" "$turn" "$line"
	done < <(awk -F '\t' -v OFS='\t' '{ print $1, $3 - $2, $5, $6 }' "$work/load/windows")
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
			zfs:* | *:fuse*) observe load.skipped "${place%%=*}" "stopping the tool midway can dead-lock its daemon" ;;
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
