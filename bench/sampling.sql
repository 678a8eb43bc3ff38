-- What a commit_waits() takes from the commits that it watches.
CREATE TEMP TABLE windows (place text, turn int, block int, part text, tps float8, us float8);
\copy windows FROM 'sampling.windows.tsv'

-- median (least to most)
CREATE FUNCTION pg_temp.spread(figures float8[], digits int) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(format('%s (%s to %s)',
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY f)::numeric, digits),
       round(min(f)::numeric, digits), round(max(f)::numeric, digits)), 'n/a')
    FROM unnest(figures) AS f HAVING count(f) > 0 $$;

-- A window by the geometric mean of both without commit_waits(), or by the other one of these.
CREATE TEMP VIEW costs AS
SELECT place, turn, block, s.tps / sqrt(a.tps * b.tps) AS sampled, b.tps / a.tps AS noise,
       sqrt(a.tps * b.tps) AS alone,
       s.us / sqrt(a.us * b.us) AS sampled_us
FROM windows AS s
JOIN windows AS a USING (place, turn, block)
JOIN windows AS b USING (place, turn, block)
WHERE s.part = 'sampled' AND a.part = 'alone' AND b.part = 'alone_again';

-- the median's interval by order statistics, at 95 %
CREATE FUNCTION pg_temp.median_interval(figures float8[]) RETURNS text LANGUAGE sql AS
$$ SELECT format('%s to %s', round(sorted[low]::numeric, 3), round(sorted[n + 1 - low]::numeric, 3))
   FROM (SELECT array_agg(f ORDER BY f), count(*)::int,
                greatest(1, floor((count(*) + 1) / 2.0 - 0.98 * sqrt(count(*))))::int
         FROM unnest(figures) AS f) AS s (sorted, n, low) $$;

\echo text:
\echo text:Eight clients that commit flat out, with commit_waits() beside them, by the mean of two
\echo text:windows without it within a second: tps and latency, median (least to most), and the 95 %
\echo 'text:interval of the median of tps. "Noise" is the tps of the one window without it by that'
\echo text:of the other.
SELECT place, count(*) AS blocks,
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY alone)::numeric) AS "tps alone",
       pg_temp.spread(array_agg(sampled), 3) AS "tps beside it",
       pg_temp.median_interval(array_agg(sampled)) AS "interval of the median",
       pg_temp.spread(array_agg(sampled_us), 3) AS "latency beside it",
       pg_temp.spread(array_agg(noise), 3) AS noise,
       pg_temp.median_interval(array_agg(noise)) AS "its interval"
FROM costs GROUP BY place ORDER BY place;
