-- From rounds of commits (table truth: place, round, load, method, us) to what
-- each method loses against the best one.
--
-- The unit is the round: methods are compared within a round, by the logarithm
-- of their ratio.  Its median over the rounds is what a method loses, with the
-- interval of the median by order statistics, at 95 %: a disk that stalls for
-- 100 ms does so for whoever is set, and would decide any mean.
--
-- The best method is the one with the least median against the round's own mean.
-- Among equals that is the luckiest, and all others would seem to lose what it
-- was lucky by: so the best is chosen in the even rounds for the odd ones, and
-- the other way round (cross-validation).  A loss can then come out negative.
CREATE TEMP VIEW regret AS
WITH relative AS (
    SELECT place, load, round, round % 2 AS half, method, us,
           ln(us) - avg(ln(us)) OVER (PARTITION BY place, load, round) AS log_us
    FROM truth
), typical AS (
    SELECT place, load, half, method, percentile_cont(0.5) WITHIN GROUP (ORDER BY log_us) AS log_us,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY us) AS us
    FROM relative GROUP BY GROUPING SETS ((place, load, method), (place, load, half, method))
), best AS (
    -- half null: of all rounds
    SELECT DISTINCT ON (place, load, half) place, load, half, method
    FROM typical ORDER BY place, load, half, log_us
), loss AS (
    SELECT t.place, t.load, t.method, count(*) AS rounds,
           array_agg(ln(t.us / o.us) ORDER BY ln(t.us / o.us)) AS losses
    FROM truth AS t
    JOIN best AS b ON b.place = t.place AND b.load = t.load AND b.half = 1 - t.round % 2
    JOIN truth AS o ON o.place = t.place AND o.load = t.load AND o.round = t.round
        AND o.method = b.method
    GROUP BY t.place, t.load, t.method
), ranked AS (
    -- the rank below the median by 1.96 standard deviations of Binomial(n, 1/2)
    SELECT *, greatest(1, floor((rounds + 1) / 2.0 - 0.98 * sqrt(rounds)))::int AS low FROM loss
)
SELECT place, load, typical.method, best.method AS best, rounds, typical.us,
       exp((losses[(rounds + 1) / 2] + losses[rounds / 2 + 1]) / 2) - 1 AS regret,
       exp(losses[low]) - 1 AS regret_low, exp(losses[rounds + 1 - low]) - 1 AS regret_high
FROM ranked
JOIN typical USING (place, load, method)
JOIN best USING (place, load)
WHERE typical.half IS NULL AND best.half IS NULL;
