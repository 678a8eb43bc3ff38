-- Seconds to the advice whose regret the section before tells.
CREATE TEMP TABLE picks (place text, turn int, load text, advisor text, current text, pick text, verdict text, seconds float8, reason text);
\copy picks FROM 'advice.picks.tsv'

\echo text:
\echo 'text:Seconds to the advice, from the call to the answer (ours: files and all, stop_early). A whole run of the tool has 18 lines; "first section" is what was waited for here, five lines and no more. Target: median at most 4 s, a whole default run at least 20 times that.'
SELECT place, advisor, count(*) AS times,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS median,
       round(min(seconds)::numeric, 1) AS min, round(max(seconds)::numeric, 1) AS max,
       string_agg(DISTINCT verdict, ', ') AS verdicts
FROM picks GROUP BY place, advisor ORDER BY place, advisor;
SELECT coalesce(advisor, '') AS advisor, count(*) AS times,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS median,
       CASE advisor WHEN 'probe' THEN round((90 / percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds))::numeric, 1) END AS "times faster than 18 lines of 5 s"
FROM picks GROUP BY advisor ORDER BY advisor;
SELECT verdict, current = pick AS stays, count(*) AS times,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS median
FROM picks WHERE advisor = 'probe' GROUP BY 1, 2 ORDER BY 1, 2;
