--
-- sync_probe.import_pg_test_fsync() on the reports in test/fixtures/pg_test_fsync: the same
-- figures come back, whatever the version, and no advice or finding rests on them.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS pg_sync_probe;

-- each file behind a line with its name, which begins with a form feed
\cd test/fixtures/pg_test_fsync
\set files `for f in *.txt; do printf '\f%s\n' "$f"; cat "$f"; done`
CREATE TEMP TABLE files AS
SELECT split_part(file, E'\n', 1) AS name, substr(file, strpos(file, E'\n') + 1) AS report
FROM string_to_table(substr(:'files', 2), E'\f') AS file;

-- What a text says, found without the parser: a row for each line with a figure, and one for
-- each line that says more.  Microseconds are left out where a version does not print them.
CREATE FUNCTION pg_temp.figures(report text, with_us boolean)
RETURNS TABLE (n bigint, figure text) LANGUAGE sql AS $$
    SELECT row_number() OVER (ORDER BY l.n),
           concat_ws(' ', (regexp_match(line, '^(\d+ [a-z]+) per test$'))[1],
                     (regexp_match(line, '(?:Non-[Ss]ync''ed|using (?:one|two)) (\d+kB)'))[1],
                     (regexp_match(line, '(?:(\d+) \* +)?\d+kB open_sync write'))[1],
                     (regexp_match(line, '(\d+kB) open_sync write'))[1],
                     (regexp_match(line, '^ *([a-z_, ]*[a-z]) +(?:\d|n/a)'))[1],
                     translate((regexp_match(line, '(\d+[.,]\d+) ops/sec'))[1], ',', '.'),
                     (regexp_match(line, 'n/a\*?$'))[1],
                     CASE WHEN with_us THEN (regexp_match(line, '(\d+) usecs/op'))[1] END)
    FROM regexp_split_to_table(report, E'\n') WITH ORDINALITY AS l (line, n)
    WHERE line ~ 'per test$|ops/sec|n/a\*?$|kB writes?:$'
$$;

-- how many writes there are is not said by 9.1
CREATE FUNCTION pg_temp.plain(report text, with_us boolean)
RETURNS TABLE (n bigint, figure text) LANGUAGE sql AS $$
    SELECT f.n, regexp_replace(f.figure, '^\d+ (\d+kB )', '\1')
    FROM pg_temp.figures(report, with_us) AS f
$$;

SELECT plan((SELECT count(*)::integer * 7 FROM files) + 23);

-- before the first import
CREATE TEMP TABLE advice AS SELECT * FROM sync_probe.recommendation_details;
CREATE TEMP TABLE found AS SELECT location, severity, code, message FROM sync_probe.findings;

CREATE TEMP TABLE imports AS
SELECT f.name, f.report, i.*
FROM files AS f, sync_probe.import_pg_test_fsync(f.report, f.name) AS i;

SELECT cmp_ok((SELECT count(*) FROM files), '>=', 10::bigint, 'there are reports to import');
SELECT results_eq('SELECT name FROM imports ORDER BY name', 'SELECT name FROM files ORDER BY name',
                  'one run for each');
SELECT cmp_ok((SELECT count(*) FROM pg_temp.figures((SELECT min(report) FROM files), true)), '=',
              22::bigint, 'this test finds 18 lines, three sizes and the seconds');

SELECT is(missing, NULL, name || ': nothing is missing') FROM imports;
SELECT is(test_cases, 18, name || ': 18 lines') FROM imports;
SELECT results_eq(
    format('SELECT * FROM pg_temp.plain(sync_probe.pg_test_fsync_report(%s), %L)',
           run_id, report ~ 'usecs/op'),
    format('SELECT * FROM pg_temp.plain(%L, true)', report),
    name || ': the report has the figures of the text')
FROM imports;

-- a second turn
CREATE TEMP TABLE again AS
SELECT f.name, f.run_id AS first_run, i.*
FROM imports AS f, sync_probe.import_pg_test_fsync(sync_probe.pg_test_fsync_report(f.run_id)) AS i;
SELECT results_eq(
    format($$SELECT test, method, direct_io, status, write_size, writes_per_sync, ops_per_sec,
                    mean_us, ops, ordinal
             FROM sync_probe.measurements WHERE run_id = %s ORDER BY ordinal$$, run_id),
    format($$SELECT test, method, direct_io, status, write_size, writes_per_sync, ops_per_sec,
                    mean_us, ops, ordinal
             FROM sync_probe.measurements WHERE run_id = %s ORDER BY ordinal$$, first_run),
    name || ': the import of the report is the same')
FROM again;
SELECT is((SELECT duration FROM sync_probe.runs WHERE run_id = a.run_id),
          (SELECT duration FROM sync_probe.runs WHERE run_id = a.first_run),
          name || ': it took the same time')
FROM again AS a;
SELECT is(missing, NULL, name || ': nothing is missing in the report') FROM again;
SELECT is((SELECT count(DISTINCT (m.test, m.method, m.write_size)) FROM sync_probe.measurements AS m
           WHERE m.run_id = i.run_id), 18::bigint, name || ': 18 different test cases')
FROM imports AS i;

-- what a run gets, and what it does not
SELECT results_eq(
    $$SELECT DISTINCT source, suite, username, imported_at, location, device, host,
             system_identifier, server_version_num, started_at, usable_for_advice
      FROM sync_probe.runs WHERE label LIKE '%.txt'$$,
    $$VALUES ('pg_test_fsync', 'pg_test_fsync', current_user, now(), NULL::name, NULL::text,
              NULL::text, NULL::bigint, NULL::integer, NULL::timestamptz, false)$$,
    'a run says that it was imported, and claims no more');
SELECT is((SELECT duration FROM sync_probe.runs WHERE label = 'liteon-ssd-write-cache-on.txt'),
          interval '80 s', 'its duration is that of the 16 lines with figures');
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
SELECT results_eq(
    $$SELECT m.test, array_agg(DISTINCT m.write_size ORDER BY m.write_size)
      FROM imports AS i JOIN sync_probe.measurements AS m USING (run_id)
      WHERE i.name = '12_64kb_after_its_source.txt' GROUP BY m.test ORDER BY min(m.ordinal)$$,
    $$VALUES ('one_write', '{65536}'::integer[]), ('two_writes', '{65536}'),
             ('open_sync_sizes', '{1024,2048,4096,8192,16384}'),
             ('non_write_descriptor', '{65536}'), ('unsynced_write', '{65536}')$$,
    'sizes of a server with blocks of 64 kB');
SELECT is((SELECT array_agg(DISTINCT m.ops) FROM imports AS i
           JOIN sync_probe.measurements AS m USING (run_id)
           WHERE i.name = '9.1_after_its_source.txt' AND m.status = 'ok'), '{2000}'::bigint[],
          '9.1 says how many operations there were');

-- what the authors of the reports found out by hand
SELECT results_eq(
    $$SELECT DISTINCT ON (i.name) i.name, m.method
      FROM imports AS i JOIN sync_probe.measurements AS m USING (run_id)
      WHERE m.test = 'one_write' AND i.name ~ '^(liteon|linux-ext4)'
      ORDER BY i.name, m.ops_per_sec DESC NULLS LAST$$,
    $$VALUES ('linux-ext4-on-zvol.txt', 'open_sync'),
             ('liteon-ssd-write-cache-off.txt', 'open_datasync'),
             ('liteon-ssd-write-cache-on.txt', 'open_datasync')$$,
    'the fastest method of each');
SELECT results_eq(
    $$SELECT y.method, round((n.mean_us / y.mean_us)::numeric, 1)
      FROM imports AS i JOIN sync_probe.measurements AS y USING (run_id),
           imports AS j JOIN sync_probe.measurements AS n USING (run_id)
      WHERE i.name = 'liteon-ssd-write-cache-on.txt' AND j.name = 'liteon-ssd-write-cache-off.txt'
        AND y.ordinal = n.ordinal AND y.test = 'one_write' AND y.status = 'ok' ORDER BY y.ordinal$$,
    $$VALUES ('open_datasync', 27.8), ('fdatasync', 26.6), ('fsync', 55.7), ('open_sync', 56.6)$$,
    'how much longer a write takes without the write cache');

-- no view takes an import for a run of this server
SELECT set_eq('SELECT * FROM sync_probe.recommendation_details', 'SELECT * FROM advice',
              'advice does not rest on imports');
SELECT set_eq('SELECT location, severity, code, message FROM sync_probe.findings',
              'SELECT * FROM found', 'nor does a finding');
SELECT is_empty('SELECT * FROM sync_probe.latency_histogram JOIN imports USING (run_id)',
                'an import has no histogram');

-- translated: the figures are taken, and what else the text says is missing
\cd translated
\set files `for f in *.txt; do printf '\f%s\n' "$f"; cat "$f"; done`
CREATE TEMP TABLE translated AS
SELECT f.name, f.report, i.*
FROM (SELECT split_part(file, E'\n', 1), substr(file, strpos(file, E'\n') + 1)
      FROM string_to_table(substr(:'files', 2), E'\f') AS file) AS f (name, report),
     sync_probe.import_pg_test_fsync(f.report, f.name) AS i;
SELECT results_eq('SELECT name, test_cases FROM translated ORDER BY name',
                  $$VALUES ('15_de.txt', 16), ('15_fr.txt', 18), ('15_ja.txt', 16)$$,
                  'translated: 16 figures, and n/a where it is not translated');
SELECT is_empty($$SELECT name, missing FROM translated
                  WHERE missing !~ ('^the seconds per test; whether open_\* used O_DIRECT;'
                      ' the block size(; the line fsync_writethrough in "\w+ writes?")*$')$$,
                'translated: what is missing');
SELECT results_eq(
    $$SELECT t.name, m.ops_per_sec
      FROM translated AS t JOIN sync_probe.measurements AS m USING (run_id)
      WHERE m.status = 'ok' ORDER BY t.name, m.ordinal$$,
    $$SELECT t.name, f[1]::float8
      FROM translated AS t,
           regexp_matches(t.report, '(\d+\.\d{3}) \S', 'g') WITH ORDINALITY AS r (f, n)
      ORDER BY t.name, r.n$$,
    'translated: the figures, in their places');

-- what is missing
CREATE FUNCTION pg_temp.missing(pattern text, report text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(coalesce(i.missing, 'nothing'), ' | ' ORDER BY i.run_id)
    FROM sync_probe.import_pg_test_fsync(regexp_replace(report, pattern, '')) AS i
$$;
CREATE TEMP TABLE whole AS SELECT report FROM files WHERE name = 'liteon-ssd-write-cache-on.txt';
SELECT is(pg_temp.missing('\n *fsync  .*', report),
          'the end, after fdatasync in "one 8kB write"', 'cut off in the first section')
FROM whole;
SELECT is(pg_temp.missing('^.*(?=\n        write, close)', report),
          'the beginning, before write, close, fsync in "fsync on non-write file descriptor"',
          'the head is cut off')
FROM whole;
SELECT is(pg_temp.missing('Compare[^\n]* two.*(?=Compare open_sync)', report),
          'the section "two 8kB writes"', 'a section is left out')
FROM whole;
SELECT is(pg_temp.missing('(?<=open_sync )[^\n]*', report),
          'the line open_sync in "one 8kB write"', 'a line has no figure')
FROM whole;
SELECT is(pg_temp.missing('zzz', report || report || substr(report, 1, 925)),
          'nothing | nothing | the end, after fsync in "two 8kB writes"', 'three in one text')
FROM whole;
SELECT results_eq(
    format($$SELECT n, figure FROM pg_temp.plain(sync_probe.pg_test_fsync_report(%s), true)
             WHERE n > 1$$,
           (SELECT max(run_id) FROM sync_probe.import_pg_test_fsync(
               regexp_replace(report, 'Compare[^\n]* two.*(?=Compare open_sync)', '')))),
    format($$SELECT n, figure FROM pg_temp.plain(
                 regexp_replace(%L, 'Compare[^\n]* two.*(?=Compare open_sync)', ''), true)
             WHERE n > 1$$, report),
    'what was missing stays missing in the report')
FROM whole;

SELECT * FROM finish();
ROLLBACK;
