# shellcheck shell=bash
# nulls: how often the verdict is a false switch where all methods are truly equal.
#
# A probe by the engine, without a server (nulls.c): every case has the calls and open
# flags of the current method.  So each switch is false, and an estimate that is not 1
# is noise.  The flush intervals take turns, in random order.
#
# Observations: nulls.probes   place turn interval_us current, and the line of nulls.c
#               nulls.rounds   place turn interval_us test label us...   (compressed)
# (an interval of 0: back to back decides, as beside a load)

null_intervals_us="5000 1000 500 0"
null_other_us=5000			# of the paced flushes that are only shown
null_seconds=5				# the default duration of probe()
null_flush_size=8192
null_turns=${BENCH_TURNS:-10}

build_nulls() {
	run_job cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 "-I$build/src" \
		"$build/bench/nulls.c" "$build"/src/engine/*/*.c -lm -o "$build/nulls"
}

# probe_null DIRECTORY INTERVAL_US
probe_null() {
	local directory=$1 interval=$2 current shuffled options=() paced_us=$2
	shuffled "${methods[@]}"
	current=${shuffled[0]}
	((interval > 0)) || options=(-b) paced_us=$null_other_us
	step 60 "$build/nulls" "${options[@]}" -r "$directory/rounds" "$directory/files" "$current" \
		"$null_seconds" "$paced_us" "$null_flush_size" "$((RANDOM * 32768 + RANDOM + 1))" null ||
		return
	observe nulls.probes "$place_name" "$turn" "$interval" "$current" "$(<"$work/out")"
	sed "s/^/$place_name\t$turn\t$interval\t/" "$directory/rounds" |
		gzip -9n >>"$observations/nulls.rounds.tsv.gz"
}

nulls_at() {
	local place_name=$1 directory=$2/nulls turn interval methods shuffled intervals
	sync_methods || return
	read -r -a methods <<<"$answer"
	step 20 mkdir -p "$directory/files" || return
	for ((turn = 1; turn <= null_turns; turn++)); do
		# shellcheck disable=SC2086	# words
		shuffled $null_intervals_us
		intervals=("${shuffled[@]}")
		for interval in "${intervals[@]}"; do
			probe_null "$directory" "$interval" || return
		done
		printf '%s: turn %d\n' "$place_name" "$turn" >&2
	done
	step 20 rm -rf -- "$directory"
}

measure_nulls() {
	build_nulls || die "bench/nulls.c does not compile"
	at_each_device nulls nulls_at
}
