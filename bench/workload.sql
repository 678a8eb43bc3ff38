-- What a workload through SQL costs against pgbench by hand, and what the procedure gains.
CREATE TEMP TABLE runs (place text, turn int, variant text, tps float8, called float8,
    started float8, finished float8, answered float8);
CREATE TEMP TABLE logs (place text, turn int, transactions bigint, incomplete int,
    called float8, started float8, finished float8, answered float8,
    before_kb float8, peak_kb float8, after_kb float8);
CREATE TEMP TABLE rates (place text, turn int, variant text, transactions bigint,
    tps float8, incomplete int);
CREATE TEMP TABLE hot (place text, turn int, variant text, tps float8, p50 float8, p99 float8,
    second_tps float8[]);
\copy runs FROM 'workload.runs.tsv'
\copy logs FROM 'workload.logs.tsv'
INSERT INTO runs (place, turn, variant, tps)
SELECT place, turn, 'plain', avg(tps) FROM runs
WHERE variant IN ('plain_line', 'plain_again') GROUP BY place, turn HAVING count(*) = 2;
\copy rates FROM 'workload.rates.tsv'
\copy hot FROM 'workload.hot.tsv'

CREATE FUNCTION pg_temp.median(figures float8[]) RETURNS float8 LANGUAGE sql AS
$$ SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FROM unnest(figures) AS f $$;
-- median (least to most)
CREATE FUNCTION pg_temp.spread(figures float8[], digits int) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(format('%s (%s to %s)', round(pg_temp.median(figures)::numeric, digits),
       round(min(f)::numeric, digits), round(max(f)::numeric, digits)), 'n/a')
    FROM unnest(figures) AS f HAVING count(f) > 0 $$;
CREATE FUNCTION pg_temp.verdict(met boolean) RETURNS text LANGUAGE sql AS
$$ SELECT CASE WHEN met THEN 'met' ELSE '**missed**' END $$;

\echo text:
\echo text:The upsert with 16 clients and 8 threads: through sync_probe.pgbench(), through CALL
\echo text:sync_probe.run_workload(), and by hand with the command line that these use (-P 1 -l,
\echo text:the log in a file), without progress and log, and the same again. Transactions per
\echo text:second, median (least to most).
SELECT place, count(*) FILTER (WHERE variant = 'function') AS turns,
       pg_temp.spread(array_agg(tps) FILTER (WHERE variant = 'function'), 0) AS "pgbench()",
       pg_temp.spread(array_agg(tps) FILTER (WHERE variant = 'procedure'), 0) AS "run_workload()",
       pg_temp.spread(array_agg(tps) FILTER (WHERE variant = 'same_line'), 0)
           AS "by hand, same line",
       pg_temp.spread(array_agg(tps) FILTER (WHERE variant = 'plain_line'), 0)
           AS "by hand, plain line",
       pg_temp.spread(array_agg(tps) FILTER (WHERE variant = 'plain_again'), 0)
           AS "plain line again"
FROM runs GROUP BY place ORDER BY place;

\echo text:
\echo text:Their ratios within a turn; "plain" is the mean of the two plain lines. The last ratio
\echo text:compares a line with itself: it is the noise. Target: median at least 0.98 of plain.
SELECT a.place, c.label AS ratio, count(*) AS turns,
       round(min(a.tps / b.tps)::numeric, 3) AS least,
       round(percentile_cont(0.25) WITHIN GROUP (ORDER BY a.tps / b.tps)::numeric, 3)
           AS "lower quartile",
       round(pg_temp.median(array_agg(a.tps / b.tps))::numeric, 3) AS median,
       round(percentile_cont(0.75) WITHIN GROUP (ORDER BY a.tps / b.tps)::numeric, 3)
           AS "upper quartile",
       round(max(a.tps / b.tps)::numeric, 3) AS most,
       CASE WHEN c.above IN ('function', 'procedure') AND c.below = 'plain' THEN
           pg_temp.verdict(pg_temp.median(array_agg(a.tps / b.tps)) >= 0.98) ELSE '-' END AS target
FROM (VALUES (1, 'function', 'plain', 'pgbench() by plain'),
             (2, 'procedure', 'plain', 'run_workload() by plain'),
             (3, 'function', 'same_line', 'pgbench() by same line'),
             (4, 'same_line', 'plain', 'same line by plain'),
             (5, 'plain_again', 'plain_line', 'plain line by itself')) AS c (n, above, below, label)
JOIN runs AS a ON a.variant = c.above
JOIN runs AS b ON b.variant = c.below AND b.place = a.place AND b.turn = a.turn
GROUP BY a.place, c.n, c.above, c.below, c.label ORDER BY a.place, c.n;

\echo text:
\echo text:Seconds of these calls in which pgbench did not run: before it started (finding it, the
\echo text:background worker, the schema, the temporary directory), and after its end (the rest of
\echo text:its log, the last sessions, dropping the objects, the row). Target: together under 1 s,
\echo text:always.
SELECT place, count(*) AS calls,
       pg_temp.spread(array_agg(started - called), 3) AS "before",
       pg_temp.spread(array_agg(answered - finished), 3) AS "after",
       round(pg_temp.median(array_agg(started - called + answered - finished))::numeric, 3)
           AS "together: median",
       round(max(started - called + answered - finished)::numeric, 3) AS most,
       pg_temp.verdict(max(started - called + answered - finished) < 1) AS target
FROM runs WHERE variant IN ('function', 'procedure') GROUP BY place ORDER BY place;

\echo text:
\echo text:A workload that only says SELECT 1: is each transaction in the log; seconds from the
\echo text:end of pgbench to the answer, with the end of the last sessions, tear-down and
\echo text:recording; and the private memory of the backend, MB, looked at every 50 ms. Target
\echo text:with 1,000,000 transactions: a complete log, always; under 2 s in the median; and
\echo text:always less than 32 MB more at the peak than before the call.
SELECT place, to_char(transactions, 'FM999,999,999') AS transactions, count(*) AS times,
       sum(incomplete) AS "logs with losses",
       pg_temp.spread(array_agg(finished - started), 1) AS "pgbench ran",
       pg_temp.spread(array_agg(answered - finished), 3) AS "from its end to the answer",
       round(pg_temp.median(array_agg(before_kb / 1024))::numeric, 1) AS "before the call",
       pg_temp.spread(array_agg((peak_kb - before_kb) / 1024), 1) AS "more at the peak",
       pg_temp.spread(array_agg((after_kb - before_kb) / 1024), 1) AS "more after it",
       CASE WHEN transactions >= 1000000 THEN
           pg_temp.verdict(pg_temp.median(array_agg(answered - finished)) < 2
               AND sum(incomplete) = 0) ELSE '-' END AS "target: log, time",
       CASE WHEN transactions >= 1000000 THEN
           pg_temp.verdict(max(peak_kb - before_kb) < 32 * 1024) ELSE '-' END AS "target: memory"
FROM logs GROUP BY place, logs.transactions ORDER BY place, logs.transactions DESC;

\echo text:
\echo text:Transactions of one meta-command and no statement, 4 clients and 4 threads: the log at
\echo text:its fastest, through pgbench(), by hand in a file, and by hand without. Thousands of
\echo text:transactions per second. Target of pgbench(): a complete log at more than 100,000
\echo text:transactions per second, always.
SELECT place, variant, count(*) AS times,
       to_char(min(transactions), 'FM999,999,999') AS transactions,
       sum(incomplete) AS "logs with losses",
       pg_temp.spread(array_agg(tps / 1000), 0) AS "thousands per second",
       CASE WHEN variant = 'function'
            THEN pg_temp.verdict(min(tps) > 100000 AND sum(incomplete) = 0) ELSE '-' END AS target
FROM rates GROUP BY place, variant ORDER BY place, variant;

-- of the seconds, those of the first and those of the last third
CREATE TEMP TABLE thirds AS
SELECT place, turn, variant, tps, p50, p99, decay.last_by_first
FROM hot, LATERAL (
    SELECT avg(t) FILTER (WHERE n > cardinality(second_tps) - cardinality(second_tps) / 3) /
           nullif(avg(t) FILTER (WHERE n <= cardinality(second_tps) / 3), 0)
    FROM unnest(second_tps) WITH ORDINALITY AS s (t, n)) AS decay (last_by_first);

\echo text:
\echo text:The upsert on 100 hot rows. While the function runs its snapshot keeps all row versions
\echo text:that have died since; the procedure has none. "Last third" is the tps in the last third
\echo text:of the seconds by that in the first. Target: median at least 0.9 with the procedure; a
\echo text:snapshot that is held shows there.
SELECT place, variant, count(*) AS times,
       pg_temp.spread(array_agg(tps), 0) AS tps,
       pg_temp.spread(array_agg(p50), 2) AS "p50, ms",
       pg_temp.spread(array_agg(p99), 2) AS "p99, ms",
       pg_temp.spread(array_agg(last_by_first), 2) AS "last third",
       CASE WHEN variant = 'procedure'
            THEN pg_temp.verdict(pg_temp.median(array_agg(last_by_first)) >= 0.9)
            ELSE '-' END AS target
FROM thirds GROUP BY place, variant ORDER BY place, variant;

\echo text:
\echo text:The procedure by the function, within a turn. No target: this is what one gains by
\echo text:CALL.
SELECT p.place, count(*) AS turns,
       pg_temp.spread(array_agg(p.tps / f.tps), 2) AS tps,
       pg_temp.spread(array_agg(p.p50 / nullif(f.p50, 0)), 2) AS "p50",
       pg_temp.spread(array_agg(p.p99 / nullif(f.p99, 0)), 2) AS "p99"
FROM thirds AS p
JOIN thirds AS f ON f.variant = 'function' AND f.place = p.place AND f.turn = p.turn
WHERE p.variant = 'procedure' GROUP BY p.place ORDER BY p.place;
