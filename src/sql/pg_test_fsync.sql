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
    found_suite text;
    imported boolean;
    report text;
BEGIN
    SELECT r.suite, r.imported_at IS NOT NULL INTO found_suite, imported FROM sync_probe.runs AS r
    WHERE r.run_id = pg_test_fsync_report.run_id;
    IF found_suite IS DISTINCT FROM 'pg_test_fsync' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = CASE
                WHEN pg_test_fsync_report.run_id IS NULL
                THEN 'argument "run_id" must not be null'
                WHEN found_suite IS NULL
                THEN format('run %s does not exist', pg_test_fsync_report.run_id)
                ELSE format('run %s is of suite "%s", expected "pg_test_fsync"',
                            pg_test_fsync_report.run_id, found_suite) END,
            HINT = 'See SELECT run_id FROM sync_probe.runs WHERE suite = ''pg_test_fsync''.';
    END IF;

    WITH line AS (
        SELECT m.test, m.ordinal, m.status, m.direct_io, m.method LIKE 'open%' AS is_open, m.ops,
               -- unknown in an import that lacks the heading
               CASE WHEN m.write_size % 1024 = 0
                    THEN format('%skB ', m.write_size / 1024) ELSE '' END AS size,
               format('        %-30s%s',
                   CASE m.test
                       WHEN 'open_sync_sizes' THEN format('%2s * %2skB open_sync write%s',
                            m.writes_per_sync, m.write_size / 1024,
                            CASE WHEN m.writes_per_sync > 1 THEN 's' ELSE '' END)
                       WHEN 'non_write_descriptor' THEN replace(m.method, '_', ', ')
                       ELSE m.method END,
                   CASE WHEN m.ops_per_sec IS NOT NULL
                        THEN format('%13s ops/sec  %6s usecs/op',
                                    -- of a probe, ops_per_sec has fewer decimals
                                    to_char(CASE WHEN imported THEN m.ops_per_sec
                                                 ELSE 1e6 / nullif(m.mean_us, 0) END,
                                            'FM999999999990.000'),
                                    to_char(m.mean_us, 'FM999999999990'))
                        ELSE format('%21s', CASE m.status WHEN 'no_direct_io' THEN 'n/a*'
                                                          WHEN 'unsupported' THEN 'n/a'
                                                          ELSE m.status END) END) AS text
        FROM sync_probe.measurements AS m
        WHERE m.run_id = pg_test_fsync_report.run_id
    ), block AS (
        SELECT s.position,
               format(E'%s\n%s%s', replace(s.heading, '{size}', l.size),
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
        GROUP BY s.position, s.has_note, replace(s.heading, '{size}', l.size)
    ), head AS (
        SELECT concat_ws(E'\n',
                   CASE WHEN t.seconds = 1 THEN '1 second per test'
                        WHEN t.seconds > 0 THEN format('%s seconds per test', t.seconds)
                        WHEN r.location IS NULL AND t.ops > 0
                        THEN format('%s operations per test', t.ops) END,
                   CASE t.direct_io
                        WHEN true THEN 'O_DIRECT supported on this platform for open_datasync and'
                                       ' open_sync.'
                        WHEN false THEN 'Direct I/O is not supported on this platform.' END) AS text
        FROM sync_probe.runs AS r,
             LATERAL (SELECT count(*) FILTER (WHERE l.status = 'ok'), max(l.ops),
                             bool_or(l.direct_io) FILTER (WHERE l.is_open)
                      FROM line AS l) AS c (measured, ops, direct_io),
             LATERAL (SELECT trim_scale(round(extract(epoch FROM r.finished_at - r.started_at)
                                              / nullif(c.measured, 0), 2)),
                             c.ops, c.direct_io) AS t (seconds, ops, direct_io)
        WHERE r.run_id = pg_test_fsync_report.run_id
    )
    SELECT concat_ws(E'\n\n', nullif(h.text, ''), string_agg(b.text, E'\n\n' ORDER BY b.position))
           || E'\n'
    INTO report FROM head AS h LEFT JOIN block AS b ON true GROUP BY h.text;
    RETURN report;
END
$$;

COMMENT ON FUNCTION sync_probe.pg_test_fsync_report(bigint) IS
  'A run of the pg_test_fsync suite, or an import, as text in the layout of the program '
  'pg_test_fsync. Requires SELECT on runs and measurements';

--
-- import_pg_test_fsync
--
-- Record the figures in a text that the program pg_test_fsync has printed, on whatever
-- machine.  src/engine/pg_test_fsync reads it.
--
CREATE FUNCTION sync_probe.import_pg_test_fsync(
    report text,
    label text DEFAULT NULL)
RETURNS TABLE (run_id bigint, test_cases integer, missing text)
LANGUAGE c VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_import_pg_test_fsync';

REVOKE ALL ON FUNCTION sync_probe.import_pg_test_fsync(text, text) FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.import_pg_test_fsync(text, text) IS
  'Record what the program pg_test_fsync has printed, as one run for each report in the text. '
  'Returns the runs, how many lines of 18 each has, and what is missing, in words; null if a '
  'report is complete. Requires EXECUTE, which only the owner has at first';
