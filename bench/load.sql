-- What commits lose while a probe, or the tool, runs beside them.
CREATE TEMP TABLE runs (place text, turn int, variant text, part text,
    tps float8, p99 float8, rest_tps float8, rest_p99 float8);
CREATE TEMP TABLE calls (place text, turn int, variant text, seconds float8, verdict text,
    reason text);
\copy runs FROM 'load.runs.tsv'
\copy calls FROM 'load.calls.tsv'

\echo text:
\echo text:Eight clients that commit flat out, beside a probe with the defaults, one with duty_cycle
\echo text:1, pg_test_fsync, or nothing: tps and p99 by those of the four seconds before and after,
\echo 'text:median (least to most). "whole" is the call and holds the writing of the probe''s files,'
\echo 'text:"measuring" begins after it. Target: beside a probe with the defaults at least 0.97 of'
\echo text:the tps.
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
       CASE variant WHEN 'probe' THEN
           CASE WHEN percentile_cont(0.5) WITHIN GROUP (ORDER BY tps / rest_tps) >= 0.97
                THEN 'met' ELSE '**missed**' END
           ELSE '-' END AS target
FROM runs GROUP BY place, part, variant
ORDER BY place, part,
         array_position(ARRAY['probe', 'probe_1', 'tool', 'nothing'], variant);

\echo text:
\echo text:Seconds of the call (the tool is stopped after 5), and what the probe said. Target: a
\echo text:probe with the defaults is undecided in at most 25 %.
SELECT place, variant, times, median, min, max,
       CASE WHEN variant LIKE 'probe%' THEN undecided::text ELSE '-' END AS undecided,
       CASE WHEN variant LIKE 'probe%' THEN switches::text ELSE '-' END AS switches,
       CASE WHEN variant <> 'probe' THEN '-' WHEN undecided <= 0.25 * times THEN 'met'
            ELSE '**missed**' END AS target
FROM (SELECT place, variant, count(*) AS times,
             round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS median,
             round(min(seconds)::numeric, 1) AS min, round(max(seconds)::numeric, 1) AS max,
             count(*) FILTER (WHERE verdict = 'undecided') AS undecided,
             count(*) FILTER (WHERE verdict = 'switch') AS switches
      FROM calls GROUP BY place, variant) AS c
ORDER BY place, variant;
