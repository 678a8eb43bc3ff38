--
-- pg_test_fsync_report
--
-- A run of the pg_test_fsync suite in the layout of that program.
--
CREATE FUNCTION sync_probe.pg_test_fsync_report(run_id bigint)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- a report of the program has no location
    from_report boolean;
    size text;
    report text;
BEGIN
    PERFORM sync_probe_internal.require_run('pg_test_fsync_report()', run_id,
        '{sync_probe.runs,sync_probe.measurements}', 'pg_test_fsync');
    SELECT r.location IS NULL,
           -- unknown in an import that lacks the heading
           CASE WHEN r.flush_size % 1024 = 0 THEN format('%skB ', r.flush_size / 1024) ELSE '' END
    INTO from_report, size FROM sync_probe.runs AS r
    WHERE r.run_id = pg_test_fsync_report.run_id;

    WITH line AS (
        SELECT m.test, m.ordinal, m.status, m.direct_io, m.method LIKE 'open%' AS is_open, m.ops,
               m.mean_us,
               format('        %-30s%s',
                   CASE m.test
                       -- 16 kB in each sync
                       WHEN 'open_sync_sizes' THEN format('%2s * %2skB open_sync write%s',
                            16 / nullif(k.kb, 0), k.kb, CASE WHEN k.kb < 16 THEN 's' ELSE '' END)
                       WHEN 'non_write_descriptor' THEN replace(m.method, '_', ', ')
                       ELSE m.method END,
                   CASE WHEN m.ops_per_sec IS NOT NULL
                        THEN format('%13s ops/sec  %6s usecs/op',
                                    -- of a probe, ops_per_sec has fewer decimals
                                    to_char(CASE WHEN from_report THEN m.ops_per_sec
                                                 ELSE 1e6 / nullif(m.mean_us, 0) END,
                                            'FM999999999990.000'),
                                    to_char(m.mean_us, 'FM999999999990'))
                        ELSE format('%21s', CASE m.status WHEN 'no_direct_io' THEN 'n/a*'
                                                          WHEN 'unsupported' THEN 'n/a'
                                                          ELSE m.status END) END) AS text
        FROM sync_probe.measurements AS m,
             LATERAL (SELECT substring(m.method FROM ' ([0-9]{1,2}) kB$')::integer) AS k (kb)
        WHERE m.run_id = pg_test_fsync_report.run_id
    ), block AS (
        SELECT s.position,
               format(E'%s\n%s%s', replace(s.heading, '{size}', size),
                      string_agg(l.text, E'\n' ORDER BY l.ordinal),
                      CASE WHEN bool_or(l.status = 'no_direct_io') AND s.has_note THEN
                           E'\n* This file system and its mount options do not support direct I/O.'
                      END) AS text
        FROM line AS l
        JOIN (VALUES
            (1, 'one_write', true, E'Compare file sync methods using one {size}write:\n'
                                   '(in wal_sync_method preference order)'),
            (2, 'two_writes', true, E'Compare file sync methods using two {size}writes:\n'
                                    '(in wal_sync_method preference order)'),
            (3, 'open_sync_sizes', false, E'Compare open_sync with different write sizes:\n'
                                          '(16kB in each sync, in writes of these sizes)'),
            (4, 'non_write_descriptor', false,
                E'Test if fsync on non-write file descriptor is honored:\n'
                '(similar times: fsync() can sync what another descriptor wrote)'),
            (5, 'unsynced_write', false, 'Non-sync''ed {size}writes:')
        ) AS s (position, test, has_note, heading) USING (test)
        GROUP BY s.position, s.has_note, s.heading
    ), head AS (
        SELECT concat_ws(E'\n',
                   CASE WHEN from_report THEN t.ops || ' operations per test'
                        WHEN t.seconds = 1 THEN '1 second per test'
                        ELSE t.seconds || ' seconds per test' END,
                   CASE t.direct_io
                        WHEN true THEN 'O_DIRECT supported on this platform for open_datasync and'
                                       ' open_sync.'
                        WHEN false THEN 'Direct I/O is not supported on this platform.' END) AS text
        FROM (SELECT round(avg(l.ops * l.mean_us)::numeric / 1e6, 2) AS seconds, max(l.ops) AS ops,
                     bool_or(l.direct_io) FILTER (WHERE l.is_open) AS direct_io
              FROM line AS l) AS t
    )
    SELECT concat_ws(E'\n\n', nullif(h.text, ''), string_agg(b.text, E'\n\n' ORDER BY b.position))
           || E'\n'
    INTO report FROM head AS h LEFT JOIN block AS b ON true GROUP BY h.text;
    RETURN report;
END
$$;

COMMENT ON FUNCTION sync_probe.pg_test_fsync_report IS
  'Run of suite pg_test_fsync, or an import, in the layout of the program. Requires SELECT on the '
  'tables';

--
-- import_pg_test_fsync
--
-- Record the figures in a text that the program pg_test_fsync has printed, on whatever machine.
-- A run gets only what the text has: location and server are unknown.
--
-- Source of the formats: contrib/pg_test_fsync/pg_test_fsync.c of PostgreSQL 9.1 to 9.4, and
-- src/bin/pg_test_fsync/pg_test_fsync.c of 9.5 to 19.
--
CREATE FUNCTION sync_probe.import_pg_test_fsync(report text, label text DEFAULT NULL)
RETURNS TABLE (run_id bigint, test_cases integer, not_understood text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET standard_conforming_strings = on
AS $$
DECLARE
    part record;
    new_id bigint;
BEGIN
    IF report IS NULL OR octet_length(report) > 1000000 OR octet_length(label) > 256 THEN
        RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
            MESSAGE = CASE WHEN report IS NULL THEN 'argument "report" must not be null'
                           WHEN octet_length(label) > 256
                           THEN 'argument "label" is longer than 256 bytes'
                           ELSE 'argument "report" is longer than 1 MB' END,
            HINT = 'Pass what pg_test_fsync printed, and a short label.';
    END IF;

    FOR part IN
        WITH line AS (       -- quotes of mails begin with ">"
            SELECT l.n, btrim(regexp_replace(l.line, '^[>\s]+', ''), E' \t\r') AS text
            FROM string_to_table(report, E'\n') WITH ORDINALITY AS l (line, n)
        ), heading AS (
            SELECT l.*, h.test, (regexp_match(l.text, '(\d{1,4})kB writes?:?$'))[1] AS kb,
                   -- a report begins with this line, or with its first section
                   l.text ~ '^\d+ (seconds?|operations) per test$'
                   OR h.test = 'one_write' AND report !~ '(second|operation)s? per test' AS begins
            FROM line AS l
            LEFT JOIN (VALUES ('one_write', '^Compare file sync methods using one '),
                              ('two_writes', '^Compare file sync methods using two '),
                              ('open_sync_sizes', '^Compare open_sync with different write sizes'),
                              ('non_write_descriptor', '^Test if fsync on non-write file'),
                              ('unsynced_write', '^Non-[Ss]ync''ed ')) AS h (test, pattern)
                ON l.text ~ h.pattern
        ), section AS (
            SELECT h.*, count(*) FILTER (WHERE h.begins) OVER (ORDER BY h.n) AS report,
                   count(h.test) OVER (ORDER BY h.n) AS section,
                   -- of a long line the match would take minutes
                   CASE WHEN length(h.text) <= 200 THEN regexp_match(h.text,
                       '^(\S.*?)\s+(?:(\d{1,12})[.,](\d{1,6}) ops/sec'
                       '(?:\s+(\d{1,12}) usecs/op)?|(n/a)(\*?))$') END AS figure
            FROM heading AS h
        ), said AS (
            SELECT s.*, first_value(s.test) OVER (PARTITION BY s.section ORDER BY s.n) AS of_test,
                   max(s.kb::integer) FILTER (WHERE s.test IS NOT NULL)
                       OVER (PARTITION BY s.report) AS block_kb,
                   bool_and(s.text !~ 'not supported')
                       FILTER (WHERE s.text ~ 'supported on this platform')
                       OVER (PARTITION BY s.report) AS direct_io,
                   max((regexp_match(s.text, '^(\d{1,9}) operations per test$'))[1]::bigint)
                       OVER (PARTITION BY s.report) AS ops
            FROM section AS s
        ), case_of AS (
            SELECT s.*, c.ordinal, c.method,
                   replace(concat(s.figure[2], '.', s.figure[3]), ' ', '') AS rate
            FROM said AS s
            LEFT JOIN (
                SELECT 5 * (t.n - 1) + m.n, t.test, m.method, m.method
                FROM unnest('{one_write,two_writes}'::text[]) WITH ORDINALITY AS t (test, n),
                     unnest('{open_datasync,fdatasync,fsync,fsync_writethrough,open_sync}'::text[])
                         WITH ORDINALITY AS m (method, n)
                UNION ALL VALUES
                (11, 'open_sync_sizes', '16kB open_sync write', 'open_sync 16 kB'),
                (12, 'open_sync_sizes', '8kB open_sync writes', 'open_sync 8 kB'),
                (13, 'open_sync_sizes', '4kB open_sync writes', 'open_sync 4 kB'),
                (14, 'open_sync_sizes', '2kB open_sync writes', 'open_sync 2 kB'),
                (15, 'open_sync_sizes', '1kB open_sync writes', 'open_sync 1 kB'),
                (16, 'non_write_descriptor', 'write, fsync, close', 'write_fsync_close'),
                (17, 'non_write_descriptor', 'write, close, fsync', 'write_close_fsync'),
                (18, 'unsynced_write', 'write', 'write')
            ) AS c (ordinal, test, label, method)
                ON c.test = s.of_test
               AND c.label = regexp_replace(s.figure[1], '^\d+ \* +(?=\d+kB open_sync)', '')
        )
        SELECT c.report, min(c.n) AS n, max(c.block_kb) * 1024 AS flush_size,
               jsonb_agg(jsonb_build_object(
                   'ordinal', c.ordinal, 'test', c.of_test, 'method', c.method,
                   'status', CASE WHEN c.figure[6] = '*' THEN 'no_direct_io'
                                  WHEN c.figure[5] IS NOT NULL THEN 'unsupported' ELSE 'ok' END,
                   'direct_io', CASE WHEN c.method NOT LIKE 'open%' THEN false
                                     ELSE c.direct_io OR nullif(c.figure[6] = '*', false) END,
                   'ops_per_sec', CASE WHEN c.figure[5] IS NULL THEN c.rate END,
                   -- of a low rate the microseconds have more digits
                   'mean_us', CASE WHEN c.figure[5] IS NULL THEN
                       CASE WHEN c.figure[4]::numeric <> round(1e6 / nullif(c.rate::numeric, 0))
                            THEN c.figure[4]::numeric
                            ELSE round(1e6 / nullif(c.rate::numeric, 0), 3) END END,
                   'ops', CASE WHEN c.figure[5] IS NULL THEN c.ops END))
                   FILTER (WHERE c.ordinal IS NOT NULL) AS rows,
               string_agg(c.text, E'\n' ORDER BY c.n)
                   FILTER (WHERE c.ordinal IS NULL AND c.test IS NULL AND c.text !~
                       '^$|^\(|^is Linux''s default\)$|open_sync sizes[.]\)$|descriptor[.]\)$|'
                       '^\* This file system|^I/O, e[.]g[.]| per test$|supported on this platform')
                   AS unknown
        FROM case_of AS c GROUP BY c.report ORDER BY c.report
    LOOP
        not_understood := concat_ws(E'\n', not_understood, part.unknown);
        CONTINUE WHEN part.rows IS NULL;
        INSERT INTO sync_probe.runs (label, suite, flush_size, imported_at)
        VALUES (label, 'pg_test_fsync', part.flush_size, now()) RETURNING runs.run_id INTO new_id;
        INSERT INTO sync_probe.measurements
        SELECT DISTINCT ON (x.ordinal)
               (jsonb_populate_record(x, jsonb_build_object('run_id', new_id))).*
        FROM jsonb_populate_recordset(NULL::sync_probe.measurements, part.rows) AS x
        ORDER BY x.ordinal;
        GET DIAGNOSTICS test_cases = ROW_COUNT;
        run_id := new_id;
        not_understood := nullif(left(not_understood, 1000), '');
        RETURN NEXT;
        not_understood := NULL;
    END LOOP;
    IF new_id IS NULL THEN
        RAISE EXCEPTION 'the text holds no report of pg_test_fsync'
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('Lines that were not understood: "%s".',
                                  left(regexp_replace(not_understood, '\s+', ' ', 'g'), 200)),
                  HINT = 'Pass the output of the program itself, with its headings, in English'
                         ' (LC_ALL=C pg_test_fsync); not the name of a file.';
    END IF;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.import_pg_test_fsync FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.import_pg_test_fsync IS
  'Record output of the program pg_test_fsync, a run for each report. Returns the number of test '
  'cases, and lines not understood';
