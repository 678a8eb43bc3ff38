# shellcheck shell=bash
# shellcheck disable=SC2154	# shared with bench/run and common.sh
# delay: what a commit_delay gains that was chosen by rule, by the suite commit, by a trial,
# or by hand.
#
# A turn begins with a probe, half of whose flush time, back to back, is the rule of the manual.
# Then, for every load, one session of pgbench: a reload switches commit_delay over all values
# and the rule's, in random order, several times each (the truth, and what one would find by
# hand); then, with 0 set and the load still running, commit_waits() and trial().  After the load
# comes the suite commit, with what commit_waits() saw.
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
	ask "SELECT coalesce(recommended_value::integer, 0), verdict,
			extract(epoch FROM finished_at - started_at), reason
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

# The section of the report: Markdown tables from the observations.
report_delay() {
	cat <<'SQL'
-- What a commit_delay gains that was chosen by rule, by the suite commit, by trial, by hand.
CREATE TEMP TABLE truth (place text, load text, round int, value text, us float8);
CREATE TEMP TABLE picks (place text, load text, turn int, advisor text, pick int, verdict text,
    seconds float8, reason text);
\copy truth FROM 'delay.truth.tsv'
\copy picks FROM 'delay.picks.tsv'

-- Commits per second with a value by those without a delay, within a round.
CREATE TEMP VIEW relative AS
SELECT v.place, v.load, v.round, v.round % 2 AS half, v.value, 1e6 / v.us AS tps,
       zero.us / v.us AS gain
FROM truth AS v
JOIN truth AS zero ON zero.place = v.place AND zero.load = v.load AND zero.round = v.round
    AND zero.value = '0';

-- The median, and its 95 % interval by order statistics.
CREATE TEMP VIEW gains AS
SELECT place, load, value, rounds, tps, gain, sorted[low] AS gain_low,
       sorted[rounds + 1 - low] AS gain_high
FROM (SELECT place, load, value, count(*)::int AS rounds,
             percentile_cont(0.5) WITHIN GROUP (ORDER BY tps) AS tps,
             percentile_cont(0.5) WITHIN GROUP (ORDER BY gain) AS gain,
             array_agg(gain ORDER BY gain) AS sorted,
             greatest(1, floor((count(*) + 1) / 2.0 - 0.98 * sqrt(count(*))))::int AS low
      FROM relative GROUP BY place, load, value) AS s;

\echo
\echo The truth: transactions per second with each commit_delay, by those with 0, median of the
\echo 'rounds (95 % interval). "rule" is half of the flush time of the probe before.'
SELECT g.place, g.load, g.value || CASE g.value WHEN 'rule' THEN coalesce(
           (SELECT format(' (%s to %s us)', min(pick), max(pick)) FROM picks AS p
            WHERE p.place = g.place AND p.load = g.load AND p.advisor = 'rule'), '')
           ELSE ' us' END AS commit_delay,
       g.rounds, round(g.tps::numeric) AS tps,
       CASE WHEN g.value = '0' THEN '1' ELSE
           format('%s (%s to %s)', round(g.gain::numeric, 3), round(g.gain_low::numeric, 3),
                  round(g.gain_high::numeric, 3)) END AS "by 0"
FROM gains AS g ORDER BY g.place, g.load, g.value = 'rule', nullif(g.value, 'rule')::int;

-- The best value in one half of the rounds, measured in the other half: the luckiest of all
-- rounds would seem to gain what it was lucky by.
CREATE TEMP VIEW by_hand AS
WITH typical AS (
    SELECT place, load, half, value, percentile_cont(0.5) WITHIN GROUP (ORDER BY gain) AS gain
    FROM relative WHERE value <> 'rule' GROUP BY place, load, half, value
), best AS (
    SELECT DISTINCT ON (place, load, half) place, load, half, value
    FROM typical ORDER BY place, load, half, gain DESC
)
SELECT b.place, b.load, 'by hand' AS advisor, b.value::int AS pick, t.gain, g.gain_low, g.gain_high
FROM best AS b
JOIN typical AS t ON t.place = b.place AND t.load = b.load AND t.value = b.value
    AND t.half = 1 - b.half
JOIN gains AS g ON g.place = b.place AND g.load = b.load AND g.value = b.value;

CREATE TEMP VIEW followed AS
SELECT p.place, p.load, p.advisor, p.pick, p.verdict, p.seconds, g.gain, g.gain_low, g.gain_high
FROM picks AS p
JOIN gains AS g ON g.place = p.place AND g.load = p.load
    AND g.value = CASE p.advisor WHEN 'rule' THEN 'rule' ELSE p.pick::text END
UNION ALL
SELECT place, load, advisor, pick, '-', NULL, gain, gain_low, gain_high FROM by_hand;

\echo
\echo What following each gains: transactions per second with the chosen value by those with 0,
\echo mean over the turns, the least of them, and the worst that is outside the noise (the
\echo upper end of its interval, if below 1). "by hand" chooses the best value in one half of the
\echo rounds, and is judged by the other half. Where a verdict is undecided, 0 stays.
SELECT place, load, advisor, count(*) AS times,
       round(avg(gain)::numeric, 3) AS "tps by 0", round(min(gain)::numeric, 3) AS least,
       round(least(min(gain_high), 1)::numeric, 3) AS "worst outside the noise",
       count(*) FILTER (WHERE verdict = 'undecided') AS undecided,
       coalesce(round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1)::text, '-')
           AS seconds,
       (SELECT string_agg(format('%s us', pick) || CASE WHEN n > 1 THEN format(' (%s times)', n)
                                                   ELSE '' END, ', ' ORDER BY n DESC, pick)
        FROM (SELECT pick, count(*) AS n FROM followed AS o
              WHERE (o.place, o.load, o.advisor) = (f.place, f.load, f.advisor)
              GROUP BY pick) AS c) AS picks
FROM followed AS f GROUP BY place, load, advisor
ORDER BY place, load, array_position(ARRAY['rule', 'commit', 'trial', 'by hand'], advisor);

\echo
\echo Over all places and loads.
SELECT advisor, count(*) AS times, round(avg(gain)::numeric, 3) AS "tps by 0",
       round(min(gain)::numeric, 3) AS least,
       round(least(min(gain_high), 1)::numeric, 3) AS "worst outside the noise"
FROM followed GROUP BY advisor
ORDER BY array_position(ARRAY['rule', 'commit', 'trial', 'by hand'], advisor);
SQL
}
