-- What a commit_waits() takes from the commits that it watches.
CREATE TEMP TABLE windows (place text, turn int, block int, part text, tps float8, us float8);
\copy windows FROM 'sampling.windows.tsv'

-- A window by the geometric mean of both without commit_waits(), or by the other one of these.
CREATE TEMP VIEW costs AS
SELECT place, turn, block, s.tps / sqrt(a.tps * b.tps) AS sampled,
       w.tps / sqrt(a.tps * b.tps) AS awake, s.tps / w.tps AS sampled_by_awake,
       b.tps / a.tps AS noise, sqrt(a.tps * b.tps) AS alone
FROM windows AS s
JOIN windows AS w USING (place, turn, block)
JOIN windows AS a USING (place, turn, block)
JOIN windows AS b USING (place, turn, block)
WHERE s.part = 'sampled' AND w.part = 'awake' AND a.part = 'alone' AND b.part = 'alone_again';

-- The median, and its 95 % interval by order statistics.
CREATE FUNCTION pg_temp.with_interval(figures float8[]) RETURNS text LANGUAGE sql AS
$$ SELECT format('%s (%s to %s)',
       round(((sorted[(n + 1) / 2] + sorted[n / 2 + 1]) / 2)::numeric, 3),
       round(sorted[low]::numeric, 3), round(sorted[n + 1 - low]::numeric, 3))
   FROM (SELECT array_agg(f ORDER BY f), count(*)::int,
                greatest(1, floor((count(*) + 1) / 2.0 - 0.98 * sqrt(count(*))))::int
         FROM unnest(figures) AS f) AS s (sorted, n, low) $$;

\echo text:
\echo text:Eight clients that commit flat out: transactions per second with commit_waits() beside
\echo text:them, by those of two windows without it within 1.2 seconds. "Awake" is the same of a
\echo 'text:session that wakes up as often and samples nothing. "Noise" is one of the two windows by'
\echo text:the other. Median (its 95 % interval).
SELECT place, count(*) AS blocks,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY alone)::numeric) AS "tps alone",
       pg_temp.with_interval(array_agg(sampled)) AS "tps beside commit_waits()",
       format('%s to %s', round(min(sampled)::numeric, 2), round(max(sampled)::numeric, 2))
           AS "least to most",
       pg_temp.with_interval(array_agg(awake)) AS awake,
       pg_temp.with_interval(array_agg(sampled_by_awake)) AS "commit_waits() by awake",
       pg_temp.with_interval(array_agg(noise)) AS noise
FROM costs GROUP BY place ORDER BY place;
