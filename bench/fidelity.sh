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
			WHEN 'open_sync_sizes' THEN format('%s x %skB', 16 / kb, kb)
			WHEN 'unsynced_write' THEN 'write'
			ELSE method END,
			coalesce(ops_per_sec::text, '\N')
		FROM sync_probe.probe('pg_wal', suite => 'pg_test_fsync', duration => '18 s',
			stop_early => false, record => false),
			CAST(substring(method FROM '([0-9]+) kB$') AS integer) AS kb
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
		{ print $1, $2, $1 in ours ? ours[$1] : "\\N" }' \
		"$work/fidelity.ours" "$work/fidelity.tool")
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

# The section of the report: Markdown tables from the observations.
report_fidelity() {
	cat <<'SQL'
-- The lines of pg_test_fsync, by the tool and by ours.
CREATE TEMP TABLE lines (n serial, place text, turn int, line text, tool float8, ours float8);
\copy lines (place, turn, line, tool, ours) FROM 'fidelity.lines.tsv'

CREATE TEMP VIEW paired AS
SELECT n, place, turn, line, tool, ours / tool AS ratio,
       abs(tool / lag(tool) OVER (PARTITION BY place, line ORDER BY turn) - 1) AS again
FROM lines;

-- "again" is what the tool's own runs differ by from one turn to the next.
CREATE TEMP VIEW compared AS
SELECT s.*, row_number() OVER (PARTITION BY place ORDER BY first) AS position,
       CASE WHEN line LIKE 'unsynced_write%' THEN ratio >= 0.98
            ELSE ratio BETWEEN 0.97 AND 1.03 END AS met
FROM (SELECT place, line, min(n) AS first, count(ratio) AS turns,
             percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio) AS ratio,
             min(ratio) AS low, max(ratio) AS high,
             percentile_cont(0.5) WITHIN GROUP (ORDER BY tool) AS tool,
             percentile_cont(0.5) WITHIN GROUP (ORDER BY again) AS again
      FROM paired GROUP BY place, line) AS s;

CREATE TEMP VIEW place_order AS
SELECT place, row_number() OVER (ORDER BY min(n)) AS place_position FROM lines GROUP BY place;

\echo
\echo 'Operations a second, ours by the tool''s, in the same turn: median (least to most).'
\echo Bold is outside of the target: 0.97 to 1.03 for a line that syncs, at least 0.98 for
\echo the unsynced write. n/a: the platform or the file system cannot do it.
SELECT line, place,
       CASE WHEN ratio IS NULL THEN 'n/a'
            ELSE format(CASE WHEN met THEN '%s (%s to %s)' ELSE '**%s** (%s to %s)' END,
                 to_char(ratio, 'FM990.000'), to_char(low, 'FM990.00'),
                 to_char(high, 'FM990.00')) END AS cell,
       place_position
FROM compared JOIN place_order USING (place) ORDER BY position
\crosstabview line place cell place_position

\echo
\echo 'What this machine allows: how much the tool''s own runs differ, from one turn to the'
\echo next (median), and its operations a second (median).
SELECT line, place,
       CASE WHEN tool IS NULL THEN 'n/a'
            ELSE format('%s (%s/s)', coalesce(to_char(again * 100, 'FM990.0') || ' %', '-'),
                to_char(tool, 'FM9999999990')) END AS cell,
       place_position
FROM compared JOIN place_order USING (place) ORDER BY position
\crosstabview line place cell place_position

\echo
\echo In short. The last column counts the lines outside of the target by more than the tool
\echo differs from itself.
SELECT c.place, max(turns) AS turns, count(ratio) AS lines,
       count(*) FILTER (WHERE met) AS "within target",
       to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio), 'FM990.000') AS median,
       to_char(min(ratio), 'FM990.000') AS lowest, to_char(max(ratio), 'FM990.000') AS highest,
       coalesce(to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY again) * 100, 'FM990.0')
           || ' %', '-') AS "tool against itself",
       CASE WHEN max(turns) > 1 THEN
            (count(*) FILTER (WHERE NOT met AND
                CASE WHEN line LIKE 'unsynced_write%' THEN 0.98 - ratio
                  ELSE greatest(0.97 - ratio, ratio - 1.03) END > again))::text
            ELSE '-' END AS "outside by more"
FROM compared AS c JOIN place_order AS o USING (place)
GROUP BY c.place, o.place_position ORDER BY o.place_position;
SQL
}
