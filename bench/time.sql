-- Seconds to the advice whose regret the section before tells.
\ir picks.sql

CREATE TEMP VIEW asked AS
SELECT * FROM picks WHERE advisor IN ('probe', 'commit', 'trial') OR advisor LIKE 'tool%';

CREATE FUNCTION pg_temp.median(figures float8[]) RETURNS numeric IMMUTABLE LANGUAGE sql
RETURN (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY f)::numeric, 1)
        FROM unnest(figures) AS f);

CREATE FUNCTION pg_temp.target(median numeric, most numeric) RETURNS text LANGUAGE sql
RETURN CASE WHEN median <= most THEN 'met' ELSE '**missed** by ' || median - most || ' s' END;

\echo text:
\echo text:Seconds to the advice, from the call to the answer (ours: files and all, stop_early). The
\echo text:tool was waited for until its first section was complete, four lines; a whole run takes
\echo text:four times as long, 16 lines, at its default 80 s. Target: median at most 2 s, and that a
\echo text:whole default run takes at least 20 times as long.
SELECT place, advisor, count(*) AS times, pg_temp.median(array_agg(seconds)) AS median,
       round(min(seconds)::numeric, 1) AS min, round(max(seconds)::numeric, 1) AS max,
       CASE advisor WHEN 'probe' THEN pg_temp.target(pg_temp.median(array_agg(seconds)), 2)
            ELSE '-' END AS target
FROM asked GROUP BY place, advisor ORDER BY place, advisor;
\echo text:
\echo text:Over all file systems, and by what was said.
SELECT advisor, count(*) AS times, pg_temp.median(array_agg(seconds)) AS median,
       CASE advisor WHEN 'probe' THEN round(80 / pg_temp.median(array_agg(seconds)), 1) END
           AS "a whole default run of the tool takes times as long",
       CASE advisor WHEN 'probe' THEN pg_temp.target(pg_temp.median(array_agg(seconds)), 2)
            ELSE '-' END AS target
FROM asked GROUP BY advisor ORDER BY advisor;
\echo text:
SELECT verdict, CASE WHEN current = pick THEN 'stay' ELSE 'switch' END AS advice,
       count(*) AS times, pg_temp.median(array_agg(seconds)) AS median
FROM asked WHERE advisor = 'probe' GROUP BY 1, 2 ORDER BY 1, 2;

\echo text:
\echo text:How often a probe with the defaults stays undecided, and the suite commit and the trial
\echo text:in their time. Target of the probe: at most 10 %.
SELECT place, advisor, times, undecided, round(100.0 * undecided / times, 1) || ' %' AS share,
       CASE WHEN advisor <> 'probe' THEN '-' WHEN undecided <= 0.1 * times THEN 'met'
            ELSE '**missed** by ' || round(100.0 * undecided / times - 10, 1) || ' %' END AS target
FROM (SELECT coalesce(place, 'all') AS place, advisor, count(*) AS times,
             count(*) FILTER (WHERE verdict = 'undecided') AS undecided
      FROM asked WHERE advisor NOT LIKE 'tool%'
      GROUP BY GROUPING SETS ((place, advisor), (advisor))) AS p
ORDER BY place = 'all', place, advisor;
