-- What commits lose while a probe, or the tool, runs beside them.
CREATE TEMP TABLE runs (place text, turn int, variant text, part text,
    tps float8, p99 float8, rest_tps float8, rest_p99 float8);
CREATE TEMP TABLE calls (place text, turn int, variant text, seconds float8);
\copy runs FROM 'load.runs.tsv'
\copy calls FROM 'load.calls.tsv'

\echo text:
\echo text:Eight clients that commit flat out, beside a probe with that duty_cycle or
\echo text:pg_test_fsync: tps and p99 by those of the two seconds before and after, median (least
\echo 'text:to most). "whole" is the call and holds the writing of the probe''s files, "measuring"'
\echo text:begins after it. Target: with duty_cycle 0.2 at least 0.98 of the tps.
SELECT place, part, variant, count(*) AS turns,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY rest_tps)::numeric) AS "tps alone",
       format('%s (%s to %s)',
           to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY tps / rest_tps), 'FM990.000'),
           to_char(min(tps / rest_tps), 'FM990.00'),
           to_char(max(tps / rest_tps), 'FM990.00')) AS "tps beside it",
       to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY rest_p99), 'FM99990.00')
           AS "p99 alone, ms",
       format('%s (%s to %s)',
           to_char(percentile_cont(0.5) WITHIN GROUP (ORDER BY p99 / rest_p99), 'FM990.00'),
           to_char(min(p99 / rest_p99), 'FM990.00'),
           to_char(max(p99 / rest_p99), 'FM990.00')) AS "p99 beside it",
       CASE variant WHEN 'probe_0.2' THEN
           CASE WHEN percentile_cont(0.5) WITHIN GROUP (ORDER BY tps / rest_tps) >= 0.98
                THEN 'met' ELSE '**missed**' END
           ELSE '-' END AS target
FROM runs GROUP BY place, part, variant
ORDER BY place, part,
         array_position(ARRAY['probe_0.05', 'probe_0.2', 'probe_1.0', 'tool'], variant);

\echo text:
\echo text:Seconds of the call, of which 3 are the measuring (the tool is stopped after 3).
SELECT place, variant, count(*) AS times,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS median,
       round(min(seconds)::numeric, 1) AS min, round(max(seconds)::numeric, 1) AS max
FROM calls GROUP BY place, variant ORDER BY place, variant;
