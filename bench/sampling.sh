# shellcheck shell=bash
# shellcheck disable=SC2154	# shared with bench/run, common.sh and waits.sh
# sampling: what a commit_waits() takes from the commits that it watches.
#
# A turn is a session of pgbench with eight clients flat out.  Short windows with
# commit_waits() and three kinds of windows without it take turns, in random order in each
# block of four.  Two of these kinds are the same, and show the noise.  In the third a session
# wakes up as often as commit_waits() does, and samples nothing: where a processor that is
# idle takes long to wake up, commits are faster beside it.  In memory no commit waits, and
# the processors decide: there sampling costs most, and a disk that others use does not matter.
#
# Observations: sampling.windows  place turn block window client_per_sec client_us

sampling_turns=${BENCH_TURNS:-5}
sampling_blocks=20		# of a turn
sampling_seconds=0.25	# of a window: shorter than the disk's ups and downs
sampling_rest=0.05		# before a window: commit_waits() records its row at its end

write_windows() {
	local block window pause shuffled
	for ((block = 1; block <= sampling_blocks; block++)); do
		shuffled sampled alone alone_again awake
		for window in "${shuffled[@]}"; do
			echo "SELECT pg_sleep($sampling_rest) \\g /dev/null"
			if [[ $window == sampled ]]; then
				echo "SELECT extract(epoch FROM started_at), extract(epoch FROM started_at + duration),
					$block, '$window' FROM sync_probe.commit_waits('$sampling_seconds s');"
			else
				pause="pg_sleep($sampling_seconds)"
				[[ $window != awake ]] ||
					pause="count(pg_sleep(0.001)) FROM generate_series(1, 900 * $sampling_seconds)"
				echo "SELECT clock_timestamp() AS begun \\gset"
				echo "SELECT $pause \\g /dev/null"
				echo "SELECT extract(epoch FROM :'begun'::timestamptz),
					extract(epoch FROM clock_timestamp()), $block, '$window';"
			fi
		done
	done
}

sampling_at() {
	local place_name=$1 turn line
	prepare_upsert || return
	for ((turn = 1; turn <= sampling_turns; turn++)); do
		ask "CHECKPOINT" || return
		cut_session sampling 8 0 "$(write_windows)" || return
		while IFS= read -r line; do
			observe sampling.windows "$place_name" "$turn" "$line"
		done <"$work/waits/windows"
		printf '%s: turn %d\n' "$place_name" "$turn" >&2
	done
}

measure_sampling() {
	observe_machine sampling
	: >"$observations/sampling.windows.tsv"		# there, even if all is given up
	at_each_place sampling sampling_at
}
