# shellcheck shell=bash
# shellcheck disable=SC2154	# shared with bench/run and common.sh
# waits: what commit_waits() says of commits, against what clients see.
#
# A turn holds, for every load, one session of pgbench, in which a reload switches
# wal_sync_method over all methods in random order, the one that is compared with twice.
# After each switch commit_waits() runs, and pgbench's log is cut at the begin and the
# end of its sampling: both tell of the same commits.
#
# Observations: waits.slots  place turn load method counted_per_sec waited_us
#                            client_per_sec client_us
# (a method that is measured again has the suffix "_again"; waited_us is \N if no commit
# was seen)

# name, clients, transactions a second (0: flat out), seconds of a slot.  The first one
# comes after a checkpoint, and writes the full-page images of that to WAL.
waits_loads=("flat_8 8 0 1.5" "flat_1 1 0 1.5" "rate_200 8 200 2" "rate_50 8 50 2")
waits_base=fdatasync	# what the other methods are compared with
waits_settle=0.2		# after a switch, not counted: a session takes it with its next statement
waits_turns=${BENCH_TURNS:-10}

# What psql does beside pgbench.  Of each window its begin and end, and what was seen.
write_slots() {
	local seconds slot shuffled
	seconds=$(awk "BEGIN { print $1 - $waits_settle }")
	shuffled "${methods[@]}" "${waits_base}_again"
	for slot in "${shuffled[@]}"; do
		echo "ALTER SYSTEM SET wal_sync_method = '${slot%_again}';"
		echo "SELECT pg_reload_conf() \\g /dev/null"
		echo "SELECT pg_sleep($waits_settle) \\g /dev/null"
		echo "SELECT extract(epoch FROM started_at), extract(epoch FROM started_at + duration),
			wal_sync_method || '${slot#"${slot%_again}"}', commits_per_sec,
			coalesce(commit_wait_us::text, '\\N')
			FROM sync_probe.commit_waits('$seconds s');"
	done
}

# For each window: what was seen, transactions that clients saw end per second, and their
# mean latency in microseconds, without the lag of the rate limit.
cut_log() {
	awk -v OFS='\t' '
		NR == FNR {
			begin[NR] = $1; end[NR] = $2; $1 = $2 = ""
			seen[NR] = substr($0, 3); windows = NR
			next
		}
		{
			at = $5 + $6 / 1e6
			for (w = 1; w <= windows; w++)
				if (at >= begin[w] && at < end[w]) { n[w]++; sum[w] += $3 - $7 }
		}
		END {
			for (w = 1; w <= windows; w++) {
				if (!n[w]) exit 1
				print seen[w], sprintf("%.2f", n[w] / (end[w] - begin[w])), sprintf("%.1f", sum[w] / n[w])
			}
			if (!windows) exit 1
		}' "$work/waits/slots" "$work/waits"/log.*
}

# cut_session LOAD CLIENTS RATE SCHEDULE: leaves what cut_log() says in $work/waits/windows.
cut_session() {
	local load=$1 clients=$2 rate=$3 seconds=120	# the schedule ends it
	rm -rf -- "$work/waits"
	mkdir_as_user "$work/waits"
	"${as_user[@]}" tee "$work/waits/schedule.sql" >/dev/null <<<"$4"
	# shellcheck disable=SC2046	# two arguments or none
	step "$((seconds + 30))" bash "$build/bench/commit_session.sh" "$bindir" "$work/waits" \
		-n -M prepared -f "$build/bench/upsert.sql" -D "rows=$upsert_rows" \
		-c "$clients" -j "$((clients < 2 ? clients : 2))" -T "$seconds" \
		$( ((rate == 0)) || echo "-R $rate") || return
	cut_log >"$work/waits/windows" ||
		{ echo "$load: a window without a transaction" >"$work/err"; return 1; }
}

waits_at() {
	local place_name=$1 turn entry load clients rate seconds line methods
	prepare_upsert || return
	sync_methods || return
	read -r -a methods <<<"$answer"
	for ((turn = 1; turn <= waits_turns; turn++)); do
		ask "CHECKPOINT" || return
		for entry in "${waits_loads[@]}"; do
			read -r load clients rate seconds <<<"$entry"
			cut_session "$load" "$clients" "$rate" "$(write_slots "$seconds")" || return
			while IFS= read -r line; do
				observe waits.slots "$place_name" "$turn" "$load" "$line"
			done <"$work/waits/windows"
		done
		printf '%s: turn %d\n' "$place_name" "$turn" >&2
	done
}

measure_waits() {
	: >"$observations/waits.slots.tsv"		# there, even if all is given up
	at_each_device waits waits_at
}
