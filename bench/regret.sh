# shellcheck shell=bash
# regret: what following an advice costs, against commits as they really are, and how
# long one waits for it.
#
# A turn holds, for every load: commits under that load while wal_sync_method is
# switched by reload, in random order, several times each (the truth); then, with
# the last of the methods still set and the load still running, commit_waits() and
# trial(); after the load, what probe() and its suite commit recommend for it, both
# with what commit_waits() saw; and what a DBA picks from pg_test_fsync.
#
# Observations: regret.truth   place round load method us_per_transaction
#               regret.picks   place turn load advisor current pick verdict seconds reason
# (a pick of the tool has no load: it knows none)

# name, clients, transactions a second (0: flat out), rounds a turn, and seconds
# that a method is set: short, since the disk changes; but a mean needs commits
regret_loads=("flat_1 1 0 8 0.3" "flat_8 8 0 8 0.3" "rate_50 4 50 4 0.8" "rate_200 4 200 6 0.4")
settle_seconds=0.05		# after a reload, not counted: the reload itself writes
watched_seconds=3		# of commit_waits(): at 50 a second more than 100 flushes
trial_seconds=30		# 16 rounds of five slots of 0.3 s, and a few more
suite_seconds=15		# at most, of the suite commit

# Who is asked besides the probe.  Trial and suite take two thirds of the time of a turn.
advisors=${BENCH_ADVISORS-trial commit tool}

tool_default_turns=2	# its default takes longer than all the rest: every other turn
regret_turns=${BENCH_TURNS:-10}

# write_rounds SETTING ROUNDS SLOT VALUE...: what psql does during a session of commits:
# each value in random order for a while, round after round.  A value may have a name of
# its own, as NAME=VALUE.  The statistics that a probe asks are of the last slot.
write_rounds() {
	local setting=$1 rounds=$2 slot=$3 round value shuffled
	shift 3
	for ((round = 1; round <= rounds; round++)); do
		shuffled "$@"
		for value in "${shuffled[@]}"; do
			echo "ALTER SYSTEM SET $setting = '${value#*=}';"
			echo "SELECT pg_reload_conf() \\g /dev/null"
			[[ $round -lt $rounds || $value != "${shuffled[-1]}" ]] ||
				echo "SELECT pg_stat_reset_shared('wal') \\g /dev/null"
			echo "SELECT '$(((turn - 1) * rounds + round))', '${value%%=*}',
				extract(epoch FROM clock_timestamp());"
			echo "SELECT pg_sleep($slot) \\g /dev/null"
		done
	done
	echo "SELECT 'end', '-', extract(epoch FROM clock_timestamp());"
}

# list ELEMENT...: an array, as SQL has it.
list() { (IFS=, && printf "'{%s}'" "$*"); }

asks() { [[ " $advisors " == *" $1 "* ]]; }

# What is done while the load goes on, with the last value set.
write_look() { echo "SELECT FROM sync_probe.commit_waits('$watched_seconds s') \\g /dev/null"; }

# write_trial SETTING [VALUE...]: without values it takes the methods of the kind in use.
write_trial() {
	local setting=$1
	shift
	echo "CALL sync_probe.trial('$setting'${1:+, $(list "$@")},
		duration => '$trial_seconds s') \\g /dev/null"
}

# Per slot of the schedule: microseconds a transaction took (flat out: of the
# wall's time; else of its own, without the lag of the rate limit).
time_slots() {
	awk -v "flat=$(($1 == 0))" -v "settle=$settle_seconds" '
		NR == FNR { round[NR] = $1; method[NR] = $2; begin[NR] = $3; slots = NR; next }
		{
			at = $5 + $6 / 1e6
			low = 1; high = slots
			while (high - low > 1) {
				middle = int((low + high) / 2)
				if (begin[middle] <= at) low = middle; else high = middle
			}
			if (at < begin[low] + settle || at >= begin[slots]) next
			n[low]++; sum[low] += $3 - $7
		}
		END {
			for (i = 1; i < slots; i++) {
				if (!n[i]) exit 1
				printf "%s\t%s\t%.2f\n", round[i], method[i],
					flat ? (begin[i + 1] - begin[i] - settle) * 1e6 / n[i] : sum[i] / n[i]
			}
		}' "$work/commits/slots" "$work/commits"/log.*
}

# pgbench_beside_schedule FOLDER PGBENCH-ARGUMENT...: in FOLDER are then pgbench's logs, and
# in "slots" what schedule.sql set when.  SIGALRM tells pgbench that its time is up, so that it
# still writes its logs.
pgbench_beside_schedule() {
	cd "$1"
	shift
	pgbench "$@" -l --log-prefix=log >pgbench.out &
	sleep 0.3
	psql -X -q -A -t -F ' ' -v ON_ERROR_STOP=1 -f schedule.sql >slots
	kill -ALRM $!
	wait $!
}

# commit_session LOAD CLIENTS RATE SCHEDULE: leaves the times of the slots in
# $work/commits/times.
commit_session() {
	local load=$1 clients=$2 rate=$3 seconds=180		# the schedule ends it
	rm -rf -- "$work/commits"
	mkdir_as_user "$work/commits"
	"${as_user[@]}" tee "$work/commits/schedule.sql" >/dev/null <<<"$4"
	# shellcheck disable=SC2046	# two arguments or none
	step_in_shell "$((seconds + 30))" pgbench_beside_schedule "$work/commits" \
		-n -M prepared -f "$build/bench/upsert.sql" -D "rows=$upsert_rows" \
		-c "$clients" -j "$((clients < 2 ? clients : 2))" -T "$seconds" \
		$( ((rate == 0)) || echo "-R $rate") || return
	time_slots "$rate" >"$work/commits/times" ||
		{ echo "$load: a slot without a transaction" >"$work/err"; return 1; }
}

# Commits under a load with each method.  Leaves the last method of the schedule set, and
# its name in $method.
commits_with_methods() {
	local load=$1 clients=$2 rate=$3 rounds=$4 slot=$5 schedule round slot_method us
	schedule=$(write_rounds wal_sync_method "$rounds" "$slot" "${methods[@]}"
		write_look
		! asks trial || write_trial wal_sync_method)
	method=$(sed -n "s/^ALTER SYSTEM SET wal_sync_method = '\(.*\)';/\1/p" <<<"$schedule" |
		tail -n 1)
	forget_runs && commit_session "$load" "$clients" "$rate" "$schedule" || return
	while IFS=$'\t' read -r round slot_method us; do
		observe regret.truth "$place_name" "$round" "$load" "$slot_method" "$us"
	done <"$work/commits/times"
	! asks trial || take_live_advice trial "$load" "$method"
}

# Advice must not rest on what was measured under another load.
forget_runs() { ask "DELETE FROM sync_probe.runs"; }

# What the newest run says of the setting.
take_live_advice() {
	local advisor=$1 load=$2 current=$3 pick verdict seconds reason
	ask "SELECT coalesce(recommended_value, '$current'), verdict,
			extract(epoch FROM finished_at - started_at), reason
		FROM sync_probe.runs WHERE suite = '$advisor' ORDER BY run_id DESC LIMIT 1" || return
	[[ -n $answer ]] || { echo "$load: no run of $advisor" >"$work/err"; return 1; }
	IFS=$'\t' read -r pick verdict seconds reason <<<"$answer"
	observe regret.picks "$place_name" "$turn" "$load" "$advisor" \
		"$current" "$pick" "$verdict" "$seconds" "$reason"
}

# The suite commit, whose load is that of the newest commit_waits().
ask_commit_suite() {
	local load=$1 current=$2
	ask "SELECT count(*) FROM sync_probe.probe('pg_wal', 'commit',
		duration => '$suite_seconds s')" && take_live_advice commit "$load" "$current"
}

seconds_since() { awk "BEGIN { print $EPOCHREALTIME - $1 }"; }

# Our advice for the load that just ran, with the method that is set: the method that is
# recommended, and the best one so far, which an undecided verdict has, too.
ask_probe() {
	local load=$1 current=$2 begin seconds pick verdict best reason
	forget_runs || return
	begin=$EPOCHREALTIME
	ask "SELECT count(*) FROM sync_probe.probe()" || return
	seconds=$(seconds_since "$begin")
	# where the server is unsafe, a probe may recommend nothing: then the method stays
	ask "SELECT coalesce(recommended_value, wal_sync_method), verdict,
			coalesce(best_value, wal_sync_method), reason
		FROM sync_probe.runs WHERE suite = 'wal' ORDER BY run_id DESC LIMIT 1" || return
	IFS=$'\t' read -r pick verdict best reason <<<"$answer"
	observe regret.picks "$place_name" "$turn" "$load" probe \
		"$current" "$pick" "$verdict" "$seconds" "$reason"
	observe regret.picks "$place_name" "$turn" "$load" best \
		"$current" "$best" "$verdict" "$seconds" "$reason"
}

# The tool is asked for its first section, the one that its manual's readers pick
# from, and stopped then; one who lets it end waits for 16 lines instead of 4.
# zfs-fuse dead-locks of stopping it, and of its long runs: there it runs to its
# end, and at -s 1 only.
tool_picks() {
	local per_line=$1 file=$2/pg_wal/xlogtemp.1.bench begin=$EPOCHREALTIME
	local seconds tries pick bounded lines=5
	[[ $place_name != zfs ]] || lines=18
	bounded "$((per_line * lines + 30))" stdbuf -oL "$bindir/pg_test_fsync" \
		-s "$per_line" -f "$file"
	start_job "${bounded[@]}" >"$work/out" 2>"$work/err"
	for ((tries = 0; tries < (per_line * lines + 30) * 20; tries++)); do
		if grep -q 'using two' "$work/out"; then break; fi
		kill -0 "$job" 2>/dev/null || break
		sleep 0.05
	done
	seconds=$(seconds_since "$begin")
	((lines == 18)) || kill -INT -- "-$job" 2>/dev/null || true
	wait_job || true
	pick=$(awk '
		/using two/ { exit }
		$3 == "ops/sec" && $2 + 0 > best { best = $2; pick = $1 }
		END { print pick }' "$work/out")
	step 20 rm -f -- "$file" || return	# which hangs where the tool did
	[[ -n $pick ]] || { echo "pg_test_fsync hung, or printed no figure" >"$work/err"; return 1; }
	observe regret.picks "$place_name" "$turn" - "tool_${per_line}_s" - "$pick" - "$seconds" -
}

ask_tool() {
	tool_picks 1 "$1" || return
	((turn % tool_default_turns)) || [[ $place_name == zfs ]] || tool_picks 5 "$1"
}

advise_at() {
	local place_name=$1 directory=$2 turn load method
	prepare_upsert || return
	sync_methods || return
	local methods shuffled
	read -r -a methods <<<"$answer"
	for ((turn = 1; turn <= regret_turns; turn++)); do
		for load in "${regret_loads[@]}"; do
			# shellcheck disable=SC2086	# its fields are arguments
			commits_with_methods $load && ask_probe "${load%% *}" "$method" || return
			! asks commit || ask_commit_suite "${load%% *}" "$method" || return
		done
		! asks tool || ask_tool "$directory" || return
		printf '%s: turn %d\n' "$place_name" "$turn" >&2
	done
}

measure_regret() {
	# shellcheck disable=SC2034  # of begin_place: room for the workers of the suite commit
	local bench_settings=$bench_settings$'max_worker_processes = 40\n'
	at_each_device regret advise_at
}

# The section of the report: Markdown tables from the observations.
report_regret() {
	cat <<'SQL'
-- What following an advice loses, against commits as they really are.
CREATE TEMP TABLE truth (place text, round int, load text, method text, us float8);
\copy truth FROM 'regret.truth.tsv'

-- From rounds of commits (table truth: place, round, load, method, us) to what
-- each method loses against the best one.
--
-- The unit is the round: methods are compared within a round, by the logarithm
-- of their ratio.  Its median over the rounds is what a method loses, with the
-- interval of the median by order statistics, at 95 %: a disk that stalls for
-- 100 ms does so for whoever is set, and would decide any mean.
--
-- The best method is the one with the least median against the round's own mean.
-- Among equals that is the luckiest, and all others would seem to lose what it
-- was lucky by: so the best is chosen in the even rounds for the odd ones, and
-- the other way round (cross-validation).  A loss can then come out negative.
CREATE TEMP VIEW regret AS
WITH relative AS (
    SELECT place, load, round, round % 2 AS half, method, us,
           ln(us) - avg(ln(us)) OVER (PARTITION BY place, load, round) AS log_us
    FROM truth
), typical AS (
    SELECT place, load, half, method, percentile_cont(0.5) WITHIN GROUP (ORDER BY log_us) AS log_us,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY us) AS us
    FROM relative GROUP BY GROUPING SETS ((place, load, method), (place, load, half, method))
), best AS (
    -- half null: of all rounds
    SELECT DISTINCT ON (place, load, half) place, load, half, method
    FROM typical ORDER BY place, load, half, log_us
), loss AS (
    SELECT t.place, t.load, t.method, count(*) AS rounds,
           array_agg(ln(t.us / o.us) ORDER BY ln(t.us / o.us)) AS losses
    FROM truth AS t
    JOIN best AS b ON b.place = t.place AND b.load = t.load AND b.half = 1 - t.round % 2
    JOIN truth AS o ON o.place = t.place AND o.load = t.load AND o.round = t.round
        AND o.method = b.method
    GROUP BY t.place, t.load, t.method
), ranked AS (
    -- the rank below the median by 1.96 standard deviations of Binomial(n, 1/2)
    SELECT *, greatest(1, floor((rounds + 1) / 2.0 - 0.98 * sqrt(rounds)))::int AS low FROM loss
)
SELECT place, load, typical.method, best.method AS best, rounds, typical.us,
       exp((losses[(rounds + 1) / 2] + losses[rounds / 2 + 1]) / 2) - 1 AS regret,
       exp(losses[low]) - 1 AS regret_low, exp(losses[rounds + 1 - low]) - 1 AS regret_high
FROM ranked
JOIN typical USING (place, load, method)
JOIN best USING (place, load)
WHERE typical.half IS NULL AND best.half IS NULL;

-- What was advised (table picks), with the advisors that need no asking.
CREATE TEMP TABLE picks (place text, turn int, load text, advisor text, current text, pick text,
    verdict text, seconds float8, reason text);
\copy picks FROM 'regret.picks.tsv'

-- "keep" stays with the method that is set, "default" always takes the server's own.
INSERT INTO picks
SELECT place, turn, load, a.advisor, current, a.pick, '-'
FROM picks, pg_settings AS s,
     LATERAL (VALUES ('keep', current), ('default', s.boot_val)) AS a (advisor, pick)
WHERE s.name = 'wal_sync_method' AND picks.advisor = 'probe';

-- A pick of the tool is followed under every load; the others were made under one.
CREATE TEMP VIEW followed AS
SELECT p.place, r.load, p.advisor, p.current, p.pick, p.verdict, p.seconds,
       r.regret, r.regret_low
FROM picks AS p
JOIN regret AS r ON r.place = p.place AND r.method = p.pick AND (p.load = '-' OR p.load = r.load);

-- Where the default is known not to be the best.
CREATE TEMP VIEW better_exists AS
SELECT place, load FROM regret
WHERE method = (SELECT boot_val FROM pg_settings WHERE name = 'wal_sync_method')
  AND regret_low > 0;

CREATE FUNCTION pg_temp.percent(share float8) RETURNS text IMMUTABLE LANGUAGE sql
RETURN to_char(share * 100, 'FM99990.0') || ' %';

\echo
\echo The truth: microseconds a transaction (median of the rounds), and what each method loses
\echo against the best (95 % interval; the best is chosen in one half of the rounds for the
\echo other).
SELECT place, load, min(rounds) AS rounds,
       string_agg(format('%s %s%s', method, round(us::numeric),
           format('%s (%s to %s %%)', CASE WHEN method = best THEN ' **best**' END,
               to_char(regret_low * 100, 'FM990.0'), to_char(regret_high * 100, 'FM990.0'))),
           ', ' ORDER BY regret) AS "methods"
FROM regret GROUP BY place, load ORDER BY place, load;

\echo
\echo Regret: what following the advice loses. "Outside the noise" is the lower end of its
\echo interval. "probe" recommends a method, "best" is its best method so far whatever the
\echo 'verdict, "commit" is what the suite of that name recommends, and "trial" is what trial()'
\echo does beside the load. "keep" stays with the method that is set, "default" takes the
\echo default.
SELECT place, load, advisor, count(*) AS times,
       pg_temp.percent(avg(regret)) AS "mean regret",
       pg_temp.percent(max(regret)) AS worst,
       pg_temp.percent(greatest(max(regret_low), 0)) AS "worst outside the noise",
       (SELECT string_agg(format('%s %s', n, pick), ', ' ORDER BY n DESC, pick)
        FROM (SELECT pick, count(*) AS n FROM followed AS g
              WHERE (g.place, g.load, g.advisor) = (f.place, f.load, f.advisor)
              GROUP BY pick) AS c) AS picks
FROM followed AS f
GROUP BY place, load, advisor ORDER BY place, load, advisor;

-- The targets, and by how much they are missed.
CREATE FUNCTION pg_temp.target(mean float8, sure float8, by_default float8) RETURNS text
LANGUAGE sql
RETURN coalesce('**missed**: ' || nullif(concat_ws(', ',
    CASE WHEN mean > 0.005 THEN 'mean by ' || pg_temp.percent(mean - 0.005) END,
    CASE WHEN sure > 0.03 THEN 'worst by ' || pg_temp.percent(sure - 0.03) END,
    CASE WHEN by_default > 1 / 3.0
         THEN 'by the default''s by ' || to_char(by_default - 1 / 3.0, 'FM9990.00') END),
    ''), 'met');

\echo
\echo 'Over all file systems. "By the tool''s" is the mean regret by that of the tool''s'
\echo better
\echo 'setting. "By the default''s" is the mean regret by that of the default, where the'
\echo default
\echo is known not to be the best ("pairs" of a file system and a load). Target: mean at most
\echo '0.5 %, outside the noise never above 3 %, at most a third of the default''s.'
WITH summed AS (
    SELECT load, advisor, count(*) AS times, avg(regret) AS mean, max(regret) AS worst,
           max(regret_low) AS sure, avg(regret) FILTER (WHERE b.load IS NOT NULL) AS mean_there,
           count(DISTINCT (place, load)) FILTER (WHERE b.load IS NOT NULL) AS pairs
    FROM followed LEFT JOIN better_exists AS b USING (place, load)
    GROUP BY GROUPING SETS ((load, advisor), (advisor))
), tool AS (
    SELECT load, min(mean) AS mean FROM summed WHERE advisor LIKE 'tool%' GROUP BY load
), compared AS (
    SELECT s.*, s.mean / nullif(t.mean, 0) AS by_tool,
           s.mean_there / nullif(d.mean_there, 0) AS by_default
    FROM summed AS s
    LEFT JOIN tool AS t ON t.load IS NOT DISTINCT FROM s.load
    LEFT JOIN summed AS d ON d.load IS NOT DISTINCT FROM s.load AND d.advisor = 'default'
)
SELECT coalesce(load, 'all') AS load, advisor, times,
       pg_temp.percent(mean) AS "mean regret", pg_temp.percent(worst) AS worst,
       pg_temp.percent(greatest(sure, 0)) AS "worst outside the noise",
       CASE WHEN advisor LIKE 'tool%' THEN '-' ELSE to_char(by_tool, 'FM99990.00') END
           AS "by tool's",
       CASE WHEN advisor = 'default' OR pairs = 0 THEN '-'
            ELSE to_char(by_default, 'FM99990.00') END
           AS "by default's",
       pairs,
       CASE WHEN advisor IN ('probe', 'best', 'commit', 'trial')
            THEN pg_temp.target(mean, sure, by_default) ELSE '-'
       END AS target
FROM compared ORDER BY compared.load NULLS LAST, advisor;

\echo
\echo By file system, over all loads. Target: the probe loses at most what the default does.
SELECT place, advisor, times, pg_temp.percent(mean) AS "mean regret",
       pg_temp.percent(worst) AS worst,
       pg_temp.percent(greatest(sure, 0)) AS "worst outside the noise",
       CASE WHEN advisor <> 'probe' THEN '-' WHEN mean <= by_default THEN 'met'
            ELSE '**missed** by ' || pg_temp.percent(mean - by_default) END AS target
FROM (SELECT place, advisor, count(*) AS times, avg(regret) AS mean, max(regret) AS worst,
             max(regret_low) AS sure,
             max(avg(regret)) FILTER (WHERE advisor = 'default') OVER (PARTITION BY place)
                 AS by_default
      FROM followed GROUP BY place, advisor) AS p
ORDER BY place, advisor;

-- The method that was set when the probe was called, and the one it advised.
CREATE TEMP VIEW judged AS
SELECT p.place, p.verdict, c.regret AS before, p.regret AS after,
       CASE WHEN c.regret_low > 0.05 THEN 'more' WHEN c.regret_high < 0.05 THEN 'less'
            ELSE 'unknown' END AS truth,
       p.regret_low > greatest(c.regret_high, 0) AS worse
FROM followed AS p
JOIN regret AS c ON (c.place, c.load, c.method) = (p.place, p.load, p.current)
WHERE p.advisor = 'probe';

\echo
\echo Verdict and truth: what the method that is set loses against the best one, where the
\echo 'interval of its loss lies on one side of the margin of 5 %. "false" is a switch to a'
\echo method that loses more than the one that was set, with intervals apart.
SELECT verdict, count(*) AS probes,
       count(*) FILTER (WHERE truth = 'more') AS "loses more than 5 %",
       count(*) FILTER (WHERE truth = 'less') AS "loses less",
       count(*) FILTER (WHERE truth = 'unknown') AS "not known",
       pg_temp.percent(avg(before)) AS "mean loss as set",
       pg_temp.percent(avg(after)) AS "mean loss as advised",
       CASE verdict WHEN 'switch' THEN count(*) FILTER (WHERE worse)::text ELSE '-' END AS "false"
FROM judged GROUP BY verdict ORDER BY verdict;

-- Seconds to the advice.
CREATE TEMP VIEW asked AS
SELECT * FROM picks WHERE advisor IN ('probe', 'commit', 'trial') OR advisor LIKE 'tool%';

CREATE FUNCTION pg_temp.median(figures float8[]) RETURNS numeric IMMUTABLE LANGUAGE sql
RETURN (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY f)::numeric, 1)
        FROM unnest(figures) AS f);

CREATE FUNCTION pg_temp.in_time(median numeric) RETURNS text LANGUAGE sql
RETURN CASE WHEN median <= 2 THEN 'met' ELSE '**missed** by ' || median - 2 || ' s' END;

\echo
\echo Seconds to the advice, from the call to the answer (ours: files and all, stop_early). The
\echo tool was waited for until its first section was complete, four lines; a whole run takes
\echo four times as long, 16 lines, at its default 80 s. Target: median at most 2 s, and that a
\echo whole default run takes at least 20 times as long.
SELECT place, advisor, count(*) AS times, pg_temp.median(array_agg(seconds)) AS median,
       round(min(seconds)::numeric, 1) AS min, round(max(seconds)::numeric, 1) AS max,
       CASE advisor WHEN 'probe' THEN pg_temp.in_time(pg_temp.median(array_agg(seconds)))
            ELSE '-' END AS target
FROM asked GROUP BY place, advisor ORDER BY place, advisor;
\echo
\echo Over all file systems, and by what was said.
SELECT advisor, count(*) AS times, pg_temp.median(array_agg(seconds)) AS median,
       CASE advisor WHEN 'probe' THEN round(80 / pg_temp.median(array_agg(seconds)), 1) END
           AS "a whole default run of the tool takes times as long",
       CASE advisor WHEN 'probe' THEN pg_temp.in_time(pg_temp.median(array_agg(seconds)))
            ELSE '-' END AS target
FROM asked GROUP BY advisor ORDER BY advisor;
\echo
SELECT verdict, CASE WHEN current = pick THEN 'stay' ELSE 'switch' END AS advice,
       count(*) AS times, pg_temp.median(array_agg(seconds)) AS median
FROM asked WHERE advisor = 'probe' GROUP BY 1, 2 ORDER BY 1, 2;

\echo
\echo How often a probe with the defaults stays undecided, and the suite commit and the trial
\echo in their time. Target of the probe: at most 10 %.
SELECT place, advisor, times, undecided, round(100.0 * undecided / times, 1) || ' %' AS share,
       CASE WHEN advisor <> 'probe' THEN '-' WHEN undecided <= 0.1 * times THEN 'met'
            ELSE '**missed** by ' || round(100.0 * undecided / times - 10, 1) || ' %' END AS target
FROM (SELECT coalesce(place, 'all') AS place, advisor, count(*) AS times,
             count(*) FILTER (WHERE verdict = 'undecided') AS undecided
      FROM asked WHERE advisor NOT LIKE 'tool%'
      GROUP BY GROUPING SETS ((place, advisor), (advisor))) AS p
ORDER BY place = 'all', place, advisor;
SQL
}
