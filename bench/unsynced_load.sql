-- Statements of about ten seconds each, which write WAL all the time.
SELECT 'INSERT INTO bulk SELECT n, repeat(''x'', 500) FROM generate_series(1, 2000000) AS n'
FROM generate_series(1, 100) \gexec
