-- What was advised (table picks), with the advisors that need no asking.
CREATE TEMP TABLE picks (place text, turn int, load text, advisor text, current text, pick text,
    verdict text, seconds float8, reason text);
\copy picks FROM 'advice.picks.tsv'

-- "keep" stays with the method that is set, "default" always takes the server's own.
INSERT INTO picks
SELECT place, turn, load, a.advisor, current, a.pick, '-'
FROM picks, pg_settings AS s,
     LATERAL (VALUES ('keep', current), ('default', s.boot_val)) AS a (advisor, pick)
WHERE s.name = 'wal_sync_method' AND picks.advisor = 'probe';
