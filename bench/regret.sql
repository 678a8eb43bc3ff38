-- What following an advice loses, against commits as they really are.
CREATE TEMP TABLE truth (place text, round int, load text, method text, us float8);
CREATE TEMP TABLE picks (place text, turn int, load text, advisor text, current text, pick text, verdict text, seconds float8, reason text);
\copy truth FROM 'advice.truth.tsv'
\copy picks FROM 'advice.picks.tsv'
\ir truth.sql

-- A pick of the tool is followed under every load; ours was asked under one.
CREATE TEMP VIEW followed AS
SELECT p.place, r.load, p.advisor, p.current, p.pick, p.verdict, p.seconds,
       r.regret, r.regret_low
FROM picks AS p
JOIN regret AS r ON r.place = p.place AND r.method = p.pick AND (p.load = '-' OR p.load = r.load);

\echo text:
\echo 'text:The truth: microseconds a transaction (median of the rounds), and what each method loses against the best (95 % interval; the best is chosen in one half of the rounds for the other).'
SELECT place, load, min(rounds) AS rounds,
       string_agg(format('%s %s%s', method, round(us::numeric),
           format('%s (%s to %s %%)', CASE WHEN method = best THEN ' **best**' END, to_char(regret_low * 100, 'FM990.0'), to_char(regret_high * 100, 'FM990.0'))),
           ', ' ORDER BY regret) AS "methods"
FROM regret GROUP BY place, load ORDER BY place, load;

\echo text:
\echo 'text:Regret: what following the advice loses. "Outside the noise" is the lower end of its interval. Target: mean at most 1 %, outside the noise never above 3 %, at most a third of the tool''s.'
SELECT place, load, advisor, count(*) AS times,
       to_char(avg(regret) * 100, 'FM990.0') || ' %' AS "mean regret",
       to_char(max(regret) * 100, 'FM990.0') || ' %' AS worst,
       to_char(greatest(max(regret_low), 0) * 100, 'FM990.0') || ' %' AS "worst outside the noise",
       (SELECT string_agg(format('%s %s', n, pick), ', ' ORDER BY n DESC, pick)
        FROM (SELECT pick, count(*) AS n FROM followed AS g
              WHERE (g.place, g.load, g.advisor) = (f.place, f.load, f.advisor) GROUP BY pick) AS c) AS picks
FROM followed AS f
GROUP BY place, load, advisor ORDER BY place, load, advisor;

\echo text:
\echo 'text:Over all file systems. "By the tool''s" is our mean regret by that of the tool''s better setting.'
WITH summed AS (
    SELECT load, advisor, count(*) AS times, avg(regret) AS mean, max(regret) AS worst, max(regret_low) AS sure
    FROM followed GROUP BY GROUPING SETS ((load, advisor), (advisor))
), tool AS (
    SELECT load, min(mean) AS mean FROM summed WHERE advisor <> 'probe' GROUP BY load
)
SELECT coalesce(s.load, 'all') AS load, advisor, times,
       to_char(s.mean * 100, 'FM990.0') || ' %' AS "mean regret",
       to_char(worst * 100, 'FM990.0') || ' %' AS worst,
       to_char(greatest(sure, 0) * 100, 'FM990.0') || ' %' AS "worst outside the noise",
       CASE advisor WHEN 'probe' THEN to_char(s.mean / nullif(t.mean, 0), 'FM990.00') ELSE '-' END AS "by the tool's",
       
       CASE WHEN advisor <> 'probe' THEN '-'
            WHEN s.mean <= 0.01 AND sure <= 0.03 AND s.mean <= t.mean / 3 THEN 'met'
            ELSE '**missed**' || CASE WHEN s.mean > 0.01 THEN ': mean' ELSE '' END
                || CASE WHEN sure > 0.03 THEN ': worst' ELSE '' END
                || CASE WHEN s.mean > t.mean / 3 THEN ': third of the tool''s' ELSE '' END
       END AS target
FROM summed AS s LEFT JOIN tool AS t ON t.load IS NOT DISTINCT FROM s.load
ORDER BY s.load NULLS LAST, advisor;

\echo text:
\echo 'text:By file system, over all loads.'
SELECT place, advisor, count(*) AS times,
       to_char(avg(regret) * 100, 'FM990.0') || ' %' AS "mean regret",
       to_char(max(regret) * 100, 'FM990.0') || ' %' AS worst,
       to_char(greatest(max(regret_low), 0) * 100, 'FM990.0') || ' %' AS "worst outside the noise"
FROM followed GROUP BY place, advisor ORDER BY place, advisor;
