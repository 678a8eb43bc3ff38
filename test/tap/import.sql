-- sync_probe.import_pg_test_fsync() on reports of all versions: the same figures come back, and no
-- advice or finding rests on them.
\ir include/begin.sql

-- each file behind a line with its name, which begins with a form feed
\set files `cd test/fixtures/pg_test_fsync; for f in *.txt; do printf '\f%s\n' $f; cat $f; done`
CREATE TEMP TABLE files AS
SELECT split_part(file, E'\n', 1) AS name, substr(file, strpos(file, E'\n') + 1) AS report
FROM string_to_table(substr(:'files', 2), E'\f') AS file;

-- What a text says, found in another way: a row for each line with a figure or a block size.
-- Microseconds are left out where a version does not print them, and how many writes there are,
-- which 9.1 does not say.
CREATE FUNCTION pg_temp.figures(report text, with_us boolean)
RETURNS TABLE (n bigint, figure text) LANGUAGE sql AS $$
    SELECT row_number() OVER (ORDER BY l.n),
           concat_ws(' ', (regexp_match(line, '(?:Non-[Ss]ync''ed|using (?:one|two)) (\d+kB)'))[1],
                     (regexp_match(line, '(\d+kB) open_sync write'))[1],
                     (regexp_match(line, '^[> ]*([a-z_, ]*[a-z]) +(?:\d|n/a)'))[1],
                     translate((regexp_match(line, '(\d+[.,]\d+) ops/sec'))[1], ',', '.'),
                     (regexp_match(line, 'n/a\*?$'))[1],
                     CASE WHEN with_us THEN (regexp_match(line, '(\d+) usecs/op'))[1] END)
    FROM regexp_split_to_table(report, E'\n') WITH ORDINALITY AS l (line, n)
    WHERE line ~ 'ops/sec|n/a\*?$|kB writes?:$'
$$;

CREATE TEMP TABLE advice AS SELECT * FROM sync_probe.recommendation_details;
CREATE TEMP TABLE found AS SELECT location, severity, code, message FROM sync_probe.findings;
CREATE TEMP TABLE imports AS
SELECT f.name, f.report, i.*
FROM (SELECT * FROM files UNION ALL
      SELECT 'quoted ' || name, regexp_replace(report, '^', '> > ', 'gn') FROM files
      UNION ALL
      SELECT 'with CR ' || name, replace(report, E'\n', E'\r\n') FROM files) AS f,
     sync_probe.import_pg_test_fsync(f.report, f.name) AS i;

SELECT cmp_ok((SELECT count(*) FROM files), '>=', 10::bigint, 'there are reports to import');
SELECT is((SELECT count(*) FROM pg_temp.figures((SELECT min(report) FROM files), true)),
          21::bigint, 'this test finds 18 lines and three sizes');
SELECT is(test_cases, 18, name || ': 18 test cases') FROM imports;
SELECT is(not_understood, NULL, name || ': all is understood') FROM imports;
SELECT results_eq(
    format('SELECT * FROM pg_temp.figures(sync_probe.pg_test_fsync_report(%s), %L)',
           run_id, report ~ 'usecs/op'),
    format('SELECT * FROM pg_temp.figures(%L, true)', replace(report, E'\r', '')),
    name || ': the report has the figures of the text')
FROM imports;

SELECT is(concat_ws(' ', again.test_cases, again.not_understood), '18',
          name || ': the report can be imported')
FROM imports AS i,
     sync_probe.import_pg_test_fsync(sync_probe.pg_test_fsync_report(i.run_id)) AS again
WHERE name !~ ' ';

-- what a run gets, and what it does not
SELECT is_empty($$SELECT FROM sync_probe.runs JOIN imports USING (run_id)
                  WHERE suite <> 'pg_test_fsync' OR imported_at <> now() OR usable_for_advice
                     OR num_nonnulls(location, device, host, system_identifier, started_at) > 0$$,
                'a run says that it was imported, and claims no more');
SELECT results_eq(
    $$SELECT m.ordinal, m.direct_io, m.status, m.ops_per_sec
      FROM imports AS i JOIN sync_probe.measurements AS m USING (run_id)
      WHERE i.name = 'linux-zfs-12xsata-logbias-throughput.txt' AND m.test = 'one_write'
      ORDER BY m.ordinal$$,
    $$VALUES (1, true, 'no_direct_io', NULL::float8), (2, false, 'ok', 330.846),
             (3, false, 'ok', 329.942), (4, false, 'unsupported', NULL),
             (5, true, 'no_direct_io', NULL)$$,
    'n/a* is no_direct_io, n/a is unsupported');
SELECT is((SELECT bool_or(m.direct_io)
           FROM imports AS i JOIN sync_probe.measurements AS m USING (run_id)
           WHERE i.name = '10_after_its_source.txt'), false, 'no direct I/O on that platform');
SELECT is((SELECT string_agg(concat_ws(' ', r.flush_size, m.method), ', ' ORDER BY m.ordinal)
           FROM imports AS i JOIN sync_probe.runs AS r USING (run_id)
           JOIN sync_probe.measurements AS m USING (run_id)
           WHERE i.name = '12_64kb_after_its_source.txt' AND m.test = 'open_sync_sizes'),
          '65536 open_sync 16 kB, 65536 open_sync 8 kB, 65536 open_sync 4 kB, '
          '65536 open_sync 2 kB, 65536 open_sync 1 kB', 'sizes, with blocks of 64 kB');
SELECT is((SELECT array_agg(DISTINCT m.ops) FROM imports AS i
           JOIN sync_probe.measurements AS m USING (run_id)
           WHERE i.name = '9.1_after_its_source.txt' AND m.status = 'ok'), '{2000}'::bigint[],
          '9.1 says how many operations there were');

-- no view takes an import for a run of this server
SELECT set_eq('SELECT * FROM sync_probe.recommendation_details', 'SELECT * FROM advice',
              'advice does not rest on imports');
SELECT set_eq('SELECT location, severity, code, message FROM sync_probe.findings',
              'SELECT * FROM found', 'nor does a finding');

-- several in one text, and parts of one
CREATE FUNCTION pg_temp.got(report text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(concat_ws(': ', i.test_cases, i.not_understood), ' | ' ORDER BY i.run_id)
    FROM sync_probe.import_pg_test_fsync(report) AS i
$$;
CREATE TEMP TABLE whole AS SELECT report FROM files WHERE name = 'liteon-ssd-write-cache-on.txt';
SELECT is(pg_temp.got(regexp_replace(report, '^.*(?=Compare open_sync)', '')), '8',
          'the beginning is cut off') FROM whole;
SELECT matches(pg_temp.got(report || report || substr(report, 1, 925)),
               '^18 [|] 18 [|] 7: fsync .* us$', 'three in one text, the last cut off') FROM whole;
SELECT is(pg_temp.got('Hello,' || E'\n' || replace(report, 'open_sync   ', 'o_sync   ')),
          '16: Hello,' || E'\n' || (SELECT string_agg(btrim(m[1]), E'\n')
                                   FROM regexp_matches(replace(report, 'open_sync   ', 'o_sync   '),
                                                       '\n( +o_sync [^\n]*)', 'g') AS m),
          'lines that are not understood are left out, and named') FROM whole;

-- the first figure of a method, numbers beyond any, and a line that is too long
SELECT is(left(pg_temp.got(E'Compare file sync methods using one 8kB write:\n' || report), 76),
          understood, 'of one section: ' || left(report, 40))
FROM (VALUES (E'fsync 519.180 ops/sec\nfsync 1.000 ops/sec', '1'),
             (repeat('9', 20) || E'kB writes:\nfsync 0.000 ops/sec\nopen_sync '
                  || repeat('9', 20) || '.000 ops/sec',
              '1: ' || repeat('9', 20) || E'kB writes:\nopen_sync ' || repeat('9', 20)
                  || '.000 ops/sec'),
             (E'fsync 519.180 ops/sec\nx' || repeat(' 1.1 ops/sec', 80000),
              '1: x' || repeat(' 1.1 ops/sec', 6))) AS v (report, understood);
SELECT results_eq($$SELECT ordinal, test, method, status, flush_size, ops_per_sec, mean_us
                    FROM sync_probe.measurements JOIN sync_probe.runs USING (run_id)
                    ORDER BY run_id DESC LIMIT 3$$,
    $$SELECT 3, 'one_write', 'fsync', 'ok', 8192, v.*
      FROM (VALUES (519.18::float8, 1926.114::float8), (0, NULL), (519.18, 1926.114)) AS v$$,
    'their rows');
SET LOCAL transaction_read_only = on;
SELECT throws_ok($$SELECT pg_temp.got(report) FROM whole$$, '25006');

\ir include/end.sql
