# shellcheck shell=bash
# fidelity: are the lines of our pg_test_fsync suite those of pg_test_fsync?
#
# A turn holds, in random order, a run of the tool and one of ours, on the same
# file system and for about the same time; lines are compared within a turn.
#
# Observations: fidelity.lines   place turn line tool_ops_per_sec our_ops_per_sec
# (\N where one has no number: the platform or the file system cannot do it)

fidelity_turns=${BENCH_TURNS:-5}

# Of what the tool printed, in $work/out: a line's name, as ours are called, and
# its operations a second.
tool_lines() {
	awk '
		/one [0-9]+kB write:/ { section = "one_write" }
		/two [0-9]+kB writes:/ { section = "two_writes" }
		/different write sizes:/ { section = "open_sync_sizes" }
		/non-write file descriptor/ { section = "non_write_descriptor" }
		/^Non-sync/ { section = "unsynced_write" }
		/^ .* (n\/a|[0-9.]+ ops\/sec)/ {
			ops = / ops\/sec/ ? $0 : "\\N"
			sub(/ ops\/sec.*/, "", ops)
			sub(/.* /, "", ops)
			name = $0
			sub(/ +(n\/a|[0-9.]+ ops\/sec).*/, "", name)
			sub(/^ +/, "", name)
			gsub(/, /, "_", name)
			if (section == "open_sync_sizes")
				name = $1 " x " $3
			printf "%s %s\t%s\n", section, name, ops
		}' "$work/out"
}

run_tool() {
	local file=$directory/pg_wal/xlogtemp.1.bench
	step 120 "$bindir/pg_test_fsync" -s 1 -f "$file" || return
	tool_lines >"$work/fidelity.tool"
	step 20 rm -f -- "$file"
}

run_ours() {
	local ask_seconds=120
	ask "SELECT test || ' ' || CASE test
			WHEN 'open_sync_sizes' THEN format('%s x %skB', writes_per_sync, write_size / 1024)
			WHEN 'unsynced_write' THEN 'write'
			ELSE method END,
			coalesce(ops_per_sec::text, '\N')
		FROM sync_probe.probe('pg_wal', suite => 'pg_test_fsync', duration => '18 s', stop_early => false, record => false)
		ORDER BY ordinal" || return
	printf '%s\n' "$answer" >"$work/fidelity.ours"
}

# Both have their numbers: line by line, in the tool's order.
observe_lines() {
	local line tool ours
	while IFS=$'\t' read -r line tool ours; do
		observe fidelity.lines "$place_name" "$turn" "$line" "$tool" "$ours"
	done < <(awk -F '\t' -v OFS='\t' '
		NR == FNR { ours[$1] = $2; next }
		{ print $1, $2, $1 in ours ? ours[$1] : "\\N" }' "$work/fidelity.ours" "$work/fidelity.tool")
}

compare_at() {
	local place_name=$1 directory=$2 turn which shuffled
	for ((turn = 1; turn <= fidelity_turns; turn++)); do
		shuffled tool ours
		for which in "${shuffled[@]}"; do
			"run_$which" || return
		done
		observe_lines
		printf '%s: turn %d\n' "$place_name" "$turn" >&2
	done
}

measure_fidelity() {
	observe_machine fidelity
	: >"$observations/fidelity.lines.tsv"	# there, even if all is given up
	at_each_place fidelity compare_at
}
