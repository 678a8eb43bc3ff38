-- What a workload through SQL costs against pgbench by hand, and what the procedure gains.
CREATE TEMP TABLE runs (place text, turn int, variant text, tps float8, called float8, started float8, finished float8, answered float8);
CREATE TEMP TABLE logs (place text, turn int, transactions bigint, sampling_rate float8, called float8, started float8, finished float8, answered float8,
    before_kb float8, peak_kb float8, after_kb float8);
CREATE TEMP TABLE hot (place text, turn int, variant text, tps float8, p50 float8, p99 float8, second_tps float8[]);
\copy runs FROM 'workload.runs.tsv'
\copy logs FROM 'workload.logs.tsv'
\copy hot FROM 'workload.hot.tsv'

CREATE FUNCTION pg_temp.median(figures float8[]) RETURNS float8 LANGUAGE sql AS
$$ SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FROM unnest(figures) AS f $$;
-- median (least to most)
CREATE FUNCTION pg_temp.spread(figures float8[], digits int) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(format('%s (%s to %s)', round(pg_temp.median(figures)::numeric, digits),
       round(min(f)::numeric, digits), round(max(f)::numeric, digits)), 'n/a') FROM unnest(figures) AS f HAVING count(f) > 0 $$;
CREATE FUNCTION pg_temp.verdict(met boolean) RETURNS text LANGUAGE sql AS
$$ SELECT CASE WHEN met THEN 'met' ELSE '**missed**' END $$;

\echo text:
\echo 'text:The upsert with 16 clients and 8 threads, through sync_probe.pgbench() and by hand: with the command line that the function uses (-P 1 -l), and without progress and log. Transactions per second, median (least to most).'
SELECT place, count(*) FILTER (WHERE variant = 'function') AS turns,
       pg_temp.spread(array_agg(tps) FILTER (WHERE variant = 'function'), 0) AS "pgbench()",
       pg_temp.spread(array_agg(tps) FILTER (WHERE variant = 'same_line'), 0) AS "by hand, same line",
       pg_temp.spread(array_agg(tps) FILTER (WHERE variant = 'plain_line'), 0) AS "by hand, plain line"
FROM runs GROUP BY place ORDER BY place;

\echo text:
\echo 'text:Their ratios within a turn. The last one has no function in it: it is the noise, and what progress and log cost. Target: median at least 0.99.'
SELECT a.place, c.label AS ratio, count(*) AS turns,
       round(min(a.tps / b.tps)::numeric, 3) AS least,
       round(pg_temp.median(array_agg(a.tps / b.tps))::numeric, 3) AS median,
       round(max(a.tps / b.tps)::numeric, 3) AS most,
       CASE WHEN c.above = 'function' THEN pg_temp.verdict(pg_temp.median(array_agg(a.tps / b.tps)) >= 0.99) ELSE '-' END AS target
FROM (VALUES (1, 'function', 'same_line', 'pgbench() by same line'),
             (2, 'function', 'plain_line', 'pgbench() by plain line'),
             (3, 'same_line', 'plain_line', 'same line by plain line')) AS c (n, above, below, label)
JOIN runs AS a ON a.variant = c.above
JOIN runs AS b ON b.variant = c.below AND b.place = a.place AND b.turn = a.turn
GROUP BY a.place, c.n, c.above, c.label ORDER BY a.place, c.n;

\echo text:
\echo 'text:Seconds of these calls in which pgbench did not run: before it started (finding it, the background worker, the schema, the folder), and after its end (its log, the last sessions, dropping the objects, the row). Target: together under 1 s, always.'
SELECT place, count(*) AS calls,
       pg_temp.spread(array_agg(started - called), 3) AS "before",
       pg_temp.spread(array_agg(answered - finished), 3) AS "after",
       round(pg_temp.median(array_agg(started - called + answered - finished))::numeric, 3) AS "together: median",
       round(max(started - called + answered - finished)::numeric, 3) AS most,
       pg_temp.verdict(max(started - called + answered - finished) < 1) AS target
FROM runs WHERE variant = 'function' GROUP BY place ORDER BY place;

\echo text:
\echo 'text:A workload that only says SELECT 1: seconds from the end of pgbench to the answer, which holds the reading of its log and the end of the last sessions, tear-down and recording, as in the short run; and the private memory of the backend, MB, looked at every 50 ms. Target with 1,000,000 transactions: under 2 s in the median, and always less than 32 MB more at the peak than before the call.'
SELECT place, to_char(transactions, 'FM999,999,999') AS transactions, count(*) AS times, min(sampling_rate) AS "share logged",
       pg_temp.spread(array_agg(finished - started), 1) AS "pgbench ran",
       pg_temp.spread(array_agg(answered - finished), 3) AS "from its end to the answer",
       round(pg_temp.median(array_agg(before_kb / 1024))::numeric, 1) AS "before the call",
       pg_temp.spread(array_agg((peak_kb - before_kb) / 1024), 1) AS "more at the peak",
       pg_temp.spread(array_agg((after_kb - before_kb) / 1024), 1) AS "more after it",
       CASE WHEN transactions >= 1000000 THEN
           pg_temp.verdict(pg_temp.median(array_agg(answered - finished)) < 2 AND min(sampling_rate) = 1) ELSE '-' END AS "target: time",
       CASE WHEN transactions >= 1000000 THEN
           pg_temp.verdict(max(peak_kb - before_kb) < 32 * 1024) ELSE '-' END AS "target: memory"
FROM logs GROUP BY place, logs.transactions ORDER BY place, logs.transactions DESC;

-- of the seconds, those of the first and those of the last third
CREATE TEMP TABLE thirds AS
SELECT place, turn, variant, tps, p50, p99, decay.last_by_first
FROM hot, LATERAL (
    SELECT avg(t) FILTER (WHERE n > cardinality(second_tps) - cardinality(second_tps) / 3) /
           nullif(avg(t) FILTER (WHERE n <= cardinality(second_tps) / 3), 0)
    FROM unnest(second_tps) WITH ORDINALITY AS s (t, n)) AS decay (last_by_first);

\echo text:
\echo 'text:The upsert on 100 hot rows. While the function runs its snapshot keeps all row versions that have died since; the procedure has none. "Last third" is the tps in the last third of the seconds by that in the first. Target: median at least 0.9 with the procedure; a snapshot that is held shows there.'
SELECT place, variant, count(*) AS times,
       pg_temp.spread(array_agg(tps), 0) AS tps,
       pg_temp.spread(array_agg(p50), 2) AS "p50, ms",
       pg_temp.spread(array_agg(p99), 2) AS "p99, ms",
       pg_temp.spread(array_agg(last_by_first), 2) AS "last third",
       CASE WHEN variant = 'procedure' THEN pg_temp.verdict(pg_temp.median(array_agg(last_by_first)) >= 0.9) ELSE '-' END AS target
FROM thirds GROUP BY place, variant ORDER BY place, variant;

\echo text:
\echo 'text:The procedure by the function, within a turn. No target: this is what one gains by CALL.'
SELECT p.place, count(*) AS turns,
       pg_temp.spread(array_agg(p.tps / f.tps), 2) AS tps,
       pg_temp.spread(array_agg(p.p50 / nullif(f.p50, 0)), 2) AS "p50",
       pg_temp.spread(array_agg(p.p99 / nullif(f.p99, 0)), 2) AS "p99"
FROM thirds AS p JOIN thirds AS f ON f.variant = 'function' AND f.place = p.place AND f.turn = p.turn
WHERE p.variant = 'procedure' GROUP BY p.place ORDER BY p.place;
