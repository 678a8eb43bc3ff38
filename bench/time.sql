-- Seconds to the advice whose regret the section before tells.
CREATE TEMP TABLE picks (place text, turn int, load text, advisor text, current text, pick text, verdict text, seconds float8, reason text);
\copy picks FROM 'advice.picks.tsv'

\echo text:
\echo 'text:Seconds to the advice, from the call to the answer (ours: files and all, stop_early). The tool was waited for until its first section was complete, four lines; a whole run takes four times as long, 16 lines, at its default 80 s. Target: median at most 4 s, and that a whole default run takes at least 20 times as long.'
SELECT place, advisor, count(*) AS times,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS median,
       round(min(seconds)::numeric, 1) AS min, round(max(seconds)::numeric, 1) AS max,
       string_agg(DISTINCT verdict, ', ') AS verdicts
FROM picks GROUP BY place, advisor ORDER BY place, advisor;
\echo text:
\echo 'text:Over all file systems, and by what was said.'
SELECT advisor, count(*) AS times,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS median,
       CASE advisor WHEN 'probe' THEN round((80 / percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds))::numeric, 1) END AS "a whole default run of the tool takes times as long"
FROM picks GROUP BY advisor ORDER BY advisor;
\echo text:
SELECT verdict, CASE WHEN current = pick THEN 'stay' ELSE 'switch' END AS advice, count(*) AS times,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::numeric, 1) AS median
FROM picks WHERE advisor = 'probe' GROUP BY 1, 2 ORDER BY 1, 2;
