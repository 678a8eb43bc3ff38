-- What grows with the cluster and its history.
CREATE TEMP TABLE times (statement text, tablespaces int, turn int, call int, rows int, ms float8);
CREATE TEMP TABLE statements (n int GENERATED ALWAYS AS IDENTITY, statement text,
    target_ms float8, present bool, sql text);
CREATE TEMP TABLE history (runs bigint, measurements bigint, samples bigint, locations int,
    bytes bigint);
CREATE TEMP TABLE probe_all (turn int, tablespaces int, filesystems int, runs int, rows int,
    warnings int, seconds float8);
\copy times FROM 'scale.times.tsv'
\copy statements (statement, target_ms, present, sql) FROM 'scale.statements.tsv'
\copy history FROM 'scale.history.tsv'
\copy probe_all FROM 'scale.probe_all.tsv'

\pset tuples_only on
SELECT format(E'text:\ntext:History: %s runs with %s measurements (%s) of %s locations, '
           'all of whose newest runs have their rounds and buckets.',
           to_char(runs, 'FM9,999,999'), to_char(measurements, 'FM9,999,999'),
           pg_size_pretty(bytes), locations)
FROM history;
\pset tuples_only off

\echo text:
\echo text:Milliseconds at the client, rows and all: of the first call in a new session, whose
\echo text:caches are cold, and of the second one. "Met" is said of the median of the first.
WITH call AS (
    SELECT statement, tablespaces, call, min(rows) AS rows, count(*) AS times,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS median,
           format('%s (%s to %s)',
               round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 1),
               round(min(ms)::numeric, 1), round(max(ms)::numeric, 1)) AS shown
    FROM times GROUP BY statement, tablespaces, call
)
SELECT s.statement, f.tablespaces, f.rows, f.times,
       f.shown AS "first call: median (range)", a.shown AS "second call",
       s.target_ms AS target, CASE WHEN f.median < s.target_ms THEN 'yes' ELSE '**no**' END AS met
FROM statements AS s
JOIN call AS f ON f.statement = s.statement AND f.call = 1
JOIN call AS a ON a.statement = s.statement AND a.tablespaces = f.tablespaces AND a.call = 2
ORDER BY s.n, f.tablespaces;

\pset tuples_only on
SELECT format(E'text:\ntext:sync_probe.%s: does not exist in this version.', statement)
FROM statements WHERE NOT present ORDER BY n;
\pset tuples_only off

\echo text:
\echo 'text:probe_all(duration => ''1 s'') where tablespaces, pg_wal and pg_default share file'
\echo text:systems (counted with stat). Target: one probe for each file system.
SELECT turn, tablespaces, filesystems AS "file systems", runs AS "probes recorded",
       rows AS "rows returned", warnings,
       round(seconds::numeric, 1) AS seconds,
       CASE WHEN runs = filesystems AND rows = filesystems THEN 'yes' ELSE '**no**' END AS met
FROM probe_all ORDER BY turn;

\pset tuples_only on
SELECT format(E'text:\ntext:Only %s file systems instead of 3: no more were given.',
           min(filesystems))
FROM probe_all HAVING min(filesystems) < 3;
\pset tuples_only off
