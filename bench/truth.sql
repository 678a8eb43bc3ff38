-- From rounds of commits (table truth: place, round, load, method, us) to what
-- each method loses against the best one.
--
-- The unit is the round: methods are compared within a round, by the logarithm
-- of their ratio.  Its median over the rounds is what a method loses, with the
-- interval of the median by order statistics, at 95 %: a disk that stalls for
-- 100 ms does so for whoever is set, and would decide any mean.  The best method
-- is the one with the least median against the round's own mean.
CREATE TEMP VIEW regret AS
WITH relative AS (
    SELECT place, load, round, method, us, ln(us) - avg(ln(us)) OVER (PARTITION BY place, load, round) AS log_us
    FROM truth
), typical AS (
    SELECT place, load, method, percentile_cont(0.5) WITHIN GROUP (ORDER BY log_us) AS log_us,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY us) AS us
    FROM relative GROUP BY place, load, method
), best AS (
    SELECT DISTINCT ON (place, load) place, load, method
    FROM typical ORDER BY place, load, log_us
), loss AS (
    SELECT t.place, t.load, t.method, b.method AS best, count(*) AS rounds,
           array_agg(ln(t.us / o.us) ORDER BY ln(t.us / o.us)) AS losses
    FROM truth AS t
    JOIN best AS b USING (place, load)
    JOIN truth AS o ON o.place = t.place AND o.load = t.load AND o.round = t.round AND o.method = b.method
    GROUP BY t.place, t.load, t.method, b.method
), ranked AS (
    -- the rank below the median by 1.96 standard deviations of Binomial(n, 1/2)
    SELECT *, greatest(1, floor((rounds + 1) / 2.0 - 0.98 * sqrt(rounds)))::int AS low FROM loss
)
SELECT place, load, method, best, rounds, typical.us,
       -- among equals the pairs may say otherwise than the round's mean
       greatest(exp((losses[(rounds + 1) / 2] + losses[rounds / 2 + 1]) / 2) - 1, 0) AS regret,
       exp(losses[low]) - 1 AS regret_low, exp(losses[rounds + 1 - low]) - 1 AS regret_high
FROM ranked JOIN typical USING (place, load, method);
