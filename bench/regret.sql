-- What following an advice loses, against commits as they really are.
CREATE TEMP TABLE truth (place text, round int, load text, method text, us float8);
\copy truth FROM 'advice.truth.tsv'
\ir picks.sql
\ir truth.sql

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

\echo text:
\echo text:The truth: microseconds a transaction (median of the rounds), and what each method loses
\echo text:against the best (95 % interval; the best is chosen in one half of the rounds for the
\echo text:other).
SELECT place, load, min(rounds) AS rounds,
       string_agg(format('%s %s%s', method, round(us::numeric),
           format('%s (%s to %s %%)', CASE WHEN method = best THEN ' **best**' END,
               to_char(regret_low * 100, 'FM990.0'), to_char(regret_high * 100, 'FM990.0'))),
           ', ' ORDER BY regret) AS "methods"
FROM regret GROUP BY place, load ORDER BY place, load;

\echo text:
\echo text:Regret: what following the advice loses. "Outside the noise" is the lower end of its
\echo text:interval. "probe" recommends a method, "best" is its best method so far whatever the
\echo 'text:verdict, "commit" is what the suite of that name recommends, and "trial" is what trial()'
\echo text:does beside the load. "keep" stays with the method that is set, "default" takes the
\echo text:default.
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

\echo text:
\echo 'text:Over all file systems. "By the tool''s" is the mean regret by that of the tool''s'
\echo text:better
\echo 'text:setting. "By the default''s" is the mean regret by that of the default, where the'
\echo text:default
\echo text:is known not to be the best ("pairs" of a file system and a load). Target: mean at most
\echo 'text:0.5 %, outside the noise never above 3 %, at most a third of the default''s.'
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
           AS "by the tool's",
       CASE WHEN advisor = 'default' OR pairs = 0 THEN '-'
            ELSE to_char(by_default, 'FM99990.00') END
           AS "by the default's",
       pairs,
       CASE WHEN advisor IN ('probe', 'best', 'commit', 'trial')
            THEN pg_temp.target(mean, sure, by_default) ELSE '-'
       END AS target
FROM compared ORDER BY compared.load NULLS LAST, advisor;

\echo text:
\echo text:By file system, over all loads. Target: the probe loses at most what the default does.
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

\echo text:
\echo text:Verdict and truth: what the method that is set loses against the best one, where the
\echo 'text:interval of its loss lies on one side of the margin of 5 %. "false" is a switch to a'
\echo text:method that loses more than the one that was set, with intervals apart.
SELECT verdict, count(*) AS probes,
       count(*) FILTER (WHERE truth = 'more') AS "loses more than 5 %",
       count(*) FILTER (WHERE truth = 'less') AS "loses less",
       count(*) FILTER (WHERE truth = 'unknown') AS "not known",
       pg_temp.percent(avg(before)) AS "mean loss as set",
       pg_temp.percent(avg(after)) AS "mean loss as advised",
       CASE verdict WHEN 'switch' THEN count(*) FILTER (WHERE worse)::text ELSE '-' END AS "false"
FROM judged GROUP BY verdict ORDER BY verdict;
