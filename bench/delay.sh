# shellcheck shell=bash
# shellcheck disable=SC2154	# shared with bench/run, common.sh and advice.sh
# delay: what a commit_delay gains that was chosen by rule, by the suite commit, by a trial,
# or by hand.
#
# A turn begins with a probe, half of whose flush time, back to back, is the rule of the manual.  Then, for every load,
# one session of pgbench: a reload switches commit_delay over all values and the rule's, in
# random order, several times each (the truth, and what one would find by hand); then, with
# 0 set and the load still running, commit_waits() and trial().  After the load comes the
# suite commit, with what commit_waits() saw.
#
# Observations: delay.truth  place load round value us_per_transaction
#               delay.picks  place load turn advisor pick verdict seconds reason
# (the value of the rule's slots is "rule"; microseconds)

# name, clients, rounds a turn, and seconds that a value is set
delay_loads=("flat_8 8 4 0.5" "flat_16 16 4 0.5")
delay_values=(0 20 50 100 200)
delay_trial_seconds=40		# six slots a round, which are longer with more sessions
delay_turns=${BENCH_TURNS:-5}

set_commit_delay() {
	echo "ALTER SYSTEM SET commit_delay = $1;"
	echo "SELECT pg_reload_conf() \\g /dev/null"
}

# The manual's rule, from our probe: sets rule, and rule_seconds.
ask_rule() {
	local begin
	forget_runs || return
	begin=$EPOCHREALTIME
	ask "SELECT count(*) FROM sync_probe.probe(duration => '2 s', stop_early => false)" || return
	rule_seconds=$(seconds_since "$begin")
	ask "SELECT round(mean_us / 2) FROM sync_probe.measurements
		WHERE test = 'saturated' AND choice = 'current'" || return
	rule=$answer
	[[ -n $rule ]] || { echo "the probe has no flush time" >"$work/err"; return 1; }
}

# observe_pick LOAD ADVISOR: from the newest run.  What is undecided stays 0.
observe_pick() {
	local load=$1 advisor=$2 pick verdict seconds reason
	ask "SELECT coalesce(recommended_value::integer, 0), verdict, extract(epoch FROM finished_at - started_at), reason
		FROM sync_probe.runs WHERE suite = '$advisor' ORDER BY run_id DESC LIMIT 1" || return
	[[ -n $answer ]] || { echo "$load: no run of $advisor" >"$work/err"; return 1; }
	IFS=$'\t' read -r pick verdict seconds reason <<<"$answer"
	observe delay.picks "$place_name" "$load" "$turn" "$advisor" \
		"$pick" "$verdict" "$seconds" "$reason"
}

choose_delay() {
	local load=$1 clients=$2 rounds=$3 slot=$4 schedule line
	# shellcheck disable=SC2034	# of write_trial
	local trial_seconds=$delay_trial_seconds
	schedule=$(write_rounds commit_delay "$rounds" "$slot" "${delay_values[@]}" "rule=$rule"
		set_commit_delay 0
		write_look
		write_trial commit_delay "${delay_values[@]}")
	commit_session "$load" "$clients" 0 "$schedule" || return
	while IFS= read -r line; do
		observe delay.truth "$place_name" "$load" "$line"
	done <"$work/commits/times"
	observe delay.picks "$place_name" "$load" "$turn" rule "$rule" - "$rule_seconds" -
	observe_pick "$load" trial || return
	ask "SELECT count(*) FROM sync_probe.probe('pg_wal', 'commit', duration => '$suite_seconds s',
		commit_delays => $(list "${delay_values[@]}"))" || return
	observe_pick "$load" commit
}

delay_at() {
	local place_name=$1 turn load rule rule_seconds
	prepare_upsert || return
	for ((turn = 1; turn <= delay_turns; turn++)); do
		ask_rule || return
		for load in "${delay_loads[@]}"; do
			# shellcheck disable=SC2086	# its fields are arguments
			choose_delay $load || return
		done
		printf '%s: turn %d\n' "$place_name" "$turn" >&2
	done
}

measure_delay() {
	# shellcheck disable=SC2034  # of begin_place: room for clients, and for as many workers
	local bench_settings=$bench_settings$'max_connections = 50\nmax_worker_processes = 50\n'
	: >"$observations/delay.truth.tsv"		# there, even if all is given up
	: >"$observations/delay.picks.tsv"
	at_each_device delay delay_at
}
