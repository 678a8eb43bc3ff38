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

\echo text:
\echo 'text:Operations a second, ours by the tool''s, in the same turn: median (least to most).'
\echo text:Bold is outside of the target: 0.97 to 1.03 for a line that syncs, at least 0.98 for
\echo text:the unsynced write. n/a: the platform or the file system cannot do it.
SELECT line, place,
       CASE WHEN ratio IS NULL THEN 'n/a'
            ELSE format(CASE WHEN met THEN '%s (%s to %s)' ELSE '**%s** (%s to %s)' END,
                 to_char(ratio, 'FM990.000'), to_char(low, 'FM990.00'),
                 to_char(high, 'FM990.00')) END AS cell,
       place_position
FROM compared JOIN place_order USING (place) ORDER BY position
\crosstabview line place cell place_position

\echo text:
\echo 'text:What this machine allows: how much the tool''s own runs differ, from one turn to the'
\echo text:next (median), and its operations a second (median).
SELECT line, place,
       CASE WHEN tool IS NULL THEN 'n/a'
            ELSE format('%s (%s/s)', coalesce(to_char(again * 100, 'FM990.0') || ' %', '-'),
                to_char(tool, 'FM9999999990')) END AS cell,
       place_position
FROM compared JOIN place_order USING (place) ORDER BY position
\crosstabview line place cell place_position

\echo text:
\echo text:In short. The last column counts the lines outside of the target by more than the tool
\echo text:differs from itself.
SELECT c.place, max(turns) AS turns, count(ratio) AS lines,
       count(*) FILTER (WHERE met) AS "within the target",
       to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio), 'FM990.000') AS "median line",
       to_char(min(ratio), 'FM990.000') AS lowest, to_char(max(ratio), 'FM990.000') AS highest,
       coalesce(to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY again) * 100, 'FM990.0')
           || ' %', '-') AS "tool against itself",
       CASE WHEN max(turns) > 1 THEN
            (count(*) FILTER (WHERE NOT met AND
                CASE WHEN line LIKE 'unsynced_write%' THEN 0.98 - ratio
                  ELSE greatest(0.97 - ratio, ratio - 1.03) END > again))::text
            ELSE '-' END AS "outside by more than that"
FROM compared AS c JOIN place_order AS o USING (place)
GROUP BY c.place, o.place_position ORDER BY o.place_position;
