-- What commit_waits() says of commits, against what clients see.
CREATE TEMP TABLE slots (place text, turn int, load text, method text, counted float8,
    waited_us float8, client_tps float8, client_us float8);
\copy slots FROM 'waits.slots.tsv'

-- median (least to most)
CREATE FUNCTION pg_temp.spread(figures float8[], digits int) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(format('%s (%s to %s)',
       round(percentile_cont(0.5) WITHIN GROUP (ORDER BY f)::numeric, digits),
       round(min(f)::numeric, digits), round(max(f)::numeric, digits)), 'n/a')
    FROM unnest(figures) AS f HAVING count(f) > 0 $$;
CREATE FUNCTION pg_temp.median(figures float8[]) RETURNS numeric LANGUAGE sql AS
$$ SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f)::numeric FROM unnest(figures) AS f $$;

-- A method by fdatasync, within a turn: twice the same quotient, from two sources.
CREATE TEMP VIEW relative AS
SELECT m.place, m.load, m.turn, replace(m.method, '_again', ' again') AS method,
       m.client_us / b.client_us AS client_us, m.waited_us / b.waited_us AS waited_us,
       m.client_tps / b.client_tps AS client_tps, m.counted / nullif(b.counted, 0) AS counted
FROM slots AS m
JOIN slots AS b ON b.place = m.place AND b.load = m.load AND b.turn = m.turn
    AND b.method = 'fdatasync'
WHERE m.method <> 'fdatasync';

\echo text:
\echo text:How well sample and client agree: all ratios of a method to fdatasync, within a turn.
\echo text:Correlation of the logarithms; the ratio by sample by that by client, its median and the
\echo text:range of the middle two thirds; how often both say that the method is slower, or both that
\echo 'text:it is faster; how far the count is off at most. "Noise" is how much the client''s latency'
\echo text:differs between the two slots of fdatasync in a turn, median.
SELECT place, load, count(*) AS ratios,
       round(corr(ln(client_us), ln(waited_us))::numeric, 3) AS correlation,
       format('%s (%s to %s)', round(pg_temp.median(array_agg(waited_us / client_us)), 3),
           round(percentile_cont(1 / 6.0) WITHIN GROUP (ORDER BY waited_us / client_us)::numeric, 3),
           round(percentile_cont(5 / 6.0) WITHIN GROUP (ORDER BY waited_us / client_us)::numeric, 3))
           AS "sample by client",
       format('%s of %s', count(*) FILTER (WHERE (client_us > 1) = (waited_us > 1)), count(*))
           AS "same direction",
       round(100 * (exp(pg_temp.median(array_agg(abs(ln(client_us)))
                                       FILTER (WHERE method = 'fdatasync again'))) - 1)) || ' %'
           AS noise,
       round(max(abs(counted / client_tps - 1))::numeric * 100, 2) || ' %' AS "count, most off"
FROM relative GROUP BY place, load ORDER BY place, load;

\echo text:
\echo text:Each method by fdatasync, within a turn: latency as pgbench saw it and the wait that
\echo text:commit_waits() sampled in the same time; transactions per second as pgbench saw them and
\echo 'text:commits that commit_waits() counted. Median (least to most). "Sample by client" is the'
\echo text:quotient of the two ratios, within a turn: 1 if the sample says the same as the clients.
\echo 'text:"fdatasync again" compares the method with itself: its spread is the noise of the'
\echo text:machine.
SELECT place, load, method, count(*) AS turns,
       pg_temp.spread(array_agg(client_us), 3) AS "latency by client",
       pg_temp.spread(array_agg(waited_us), 3) AS "wait by sample",
       pg_temp.spread(array_agg(waited_us / client_us), 3) AS "sample by client",
       pg_temp.spread(array_agg(client_tps), 3) AS "tps by client",
       pg_temp.spread(array_agg(counted), 3) AS "by count",
       pg_temp.spread(array_agg(counted / client_tps), 3) AS "count by client"
FROM relative GROUP BY place, load, method ORDER BY place, load, method;

\echo text:
\echo text:The sampled wait against the latency of the whole transaction, which holds the wait, and
\echo text:what the server and the client do besides: microseconds, median (least to most). Then
\echo text:transactions per second, and the commits that were counted by those in the same time.
SELECT place, load, replace(method, '_again', ' again') AS method, count(*) AS turns,
       pg_temp.spread(array_agg(client_us), 0) AS "latency by client",
       pg_temp.spread(array_agg(waited_us), 0) AS "wait by sample",
       pg_temp.spread(array_agg(waited_us / client_us), 3) AS "wait by latency",
       round(pg_temp.median(array_agg(client_us - waited_us))) AS "the rest, median",
       pg_temp.spread(array_agg(client_tps), 0) AS "tps by client",
       pg_temp.spread(array_agg(counted / client_tps), 4) AS "count by client"
FROM slots GROUP BY place, load, method ORDER BY place, load, method;
