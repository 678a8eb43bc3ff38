# shellcheck shell=bash
# nulls: how often the verdict is a false switch where all methods are truly equal.
#
# A probe by the engine, without a server (nulls.c): every case has the calls and open
# flags of the current method.  So each switch is false, and an estimate that is not 1
# is noise.  The flush intervals take turns, in random order.
#
# Observations: nulls.probes   place turn interval_us current, and the line of nulls.c
# (an interval of 0: back to back decides, as beside a load)

null_intervals_us="5000 1000 500 0"
null_seconds=5				# the default duration of probe()
null_flush_size=8192
null_turns=${BENCH_TURNS:-10}

build_nulls() {
	run_job cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 "-I$build/src" \
		"$build/bench/nulls.c" "$build"/src/engine/*/*.c -lm -o "$build/nulls"
}

# probe_null DIRECTORY INTERVAL_US
probe_null() {
	local directory=$1 interval=$2 shuffled
	shuffled "${methods[@]}"
	step 20 rm -rf -- "$directory" && step 20 mkdir "$directory" &&
		step 60 "$build/nulls" "$directory" "${shuffled[0]}" "$null_seconds" "$interval" \
			"$null_flush_size" "$((RANDOM * 32768 + RANDOM + 1))" || return
	observe nulls.probes "$place_name" "$turn" "$interval" "${shuffled[0]}" "$(<"$work/out")"
}

nulls_at() {
	local place_name=$1 directory=$2/nulls turn interval methods shuffled intervals
	sync_methods || return
	read -r -a methods <<<"$answer"
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

# The section of the report: Markdown tables from the observations.
report_nulls() {
	cat <<'SQL'
-- Probes where all methods are the current one: what is said, and how far off.
CREATE TEMP TABLE probes (place text, turn int, interval_us int, current text, verdict text,
    recommended text, best text, max_regret float8, deciding text, seconds float8, noise float8,
    paced_rounds int, saturated_rounds int, speeds text[], reason text);
\copy probes FROM 'nulls.probes.tsv'

-- The estimates of all cases, with the control's.
CREATE TEMP VIEW estimates AS
SELECT place, turn, interval_us, deciding, speeds[i][2]::float8 AS paced,
       speeds[i][5]::float8 AS saturated
FROM probes, generate_subscripts(speeds, 1) AS i;

\echo
\echo Every method is measured with the calls of the current one, so all are equal, and a
\echo switch is false. "Farthest" is the largest difference of an estimate from 1.
\echo Target: at most 1 % switches, and at most 10 % undecided.
SELECT p.place, CASE p.interval_us WHEN 0 THEN 'back to back'
                ELSE trim_scale(p.interval_us / 1000.0) || ' ms' END AS "decided by", p.times,
       p.keep, p.undecided, p.false AS "false switches", p.median AS "median seconds",
       p.most AS "most seconds", e.paced AS "farthest, paced", e.saturated AS "farthest, saturated",
       CASE WHEN p.false <= 0.01 * p.times AND p.undecided <= 0.1 * p.times THEN 'met'
            ELSE '**missed**' || CASE WHEN p.false > 0.01 * p.times THEN ': switches' ELSE '' END
                || CASE WHEN p.undecided > 0.1 * p.times THEN ': undecided' ELSE '' END
       END AS target
FROM (SELECT place, interval_us, count(*) AS times,
             count(*) FILTER (WHERE verdict = 'keep') AS keep,
             count(*) FILTER (WHERE verdict = 'undecided') AS undecided,
             count(*) FILTER (WHERE verdict NOT IN ('keep', 'undecided')) AS false,
             round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS median,
             round(max(seconds)::numeric, 1) AS most
      FROM probes GROUP BY place, interval_us) AS p
JOIN (SELECT place, interval_us,
             to_char(max(abs(nullif(paced, 'NaN') - 1)) * 100, 'FM990.0') || ' %' AS paced,
             to_char(max(abs(nullif(saturated, 'NaN') - 1)) * 100, 'FM990.0') || ' %' AS saturated
      FROM estimates GROUP BY place, interval_us) AS e USING (place, interval_us)
ORDER BY p.place, p.interval_us DESC;

\echo
\echo All together, and the estimates of the methods by their distance from 1.
SELECT deciding AS "decided by", count(*) AS probes,
       count(*) FILTER (WHERE verdict = 'switch') AS "false switches",
       count(*) FILTER (WHERE verdict = 'undecided') AS undecided,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS "median seconds",
       e.paced AS "distance, paced", e.saturated AS "distance, saturated"
FROM probes
JOIN (SELECT deciding,
             to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY nullif(abs(paced - 1), 'NaN'))
                     * 100, 'FM990.0') || ' %' AS paced,
             to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY nullif(abs(saturated - 1), 'NaN'))
                     * 100, 'FM990.0') || ' %' AS saturated
      FROM estimates GROUP BY deciding) AS e USING (deciding)
GROUP BY deciding, e.paced, e.saturated ORDER BY deciding;
SQL
}
