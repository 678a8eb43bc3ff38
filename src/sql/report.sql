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
    report text;
BEGIN
    SELECT r.suite INTO found_suite FROM sync_probe.runs AS r
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

    WITH section (position, test, heading) AS (VALUES
        (1, 'one_write', E'Compare file sync methods using one 8kB write:\n'
                         '(in wal_sync_method preference order)'),
        (2, 'two_writes', E'Compare file sync methods using two 8kB writes:\n'
                          '(in wal_sync_method preference order)'),
        (3, 'open_sync_sizes', E'Compare open_sync with different write sizes:\n'
                               '(16kB in each sync, in writes of these sizes)'),
        (4, 'non_write_descriptor',
            E'Test if fsync on non-write file descriptor is honored:\n'
            '(similar times: fsync() can sync what another descriptor wrote)'),
        (5, 'unsynced_write', 'Non-sync''ed 8kB writes:')
    ), line AS (
        SELECT s.position, s.heading, m.ordinal, m.status,
               format('        %-30s%s',
                   CASE m.test
                       WHEN 'open_sync_sizes' THEN format('%s * %skB open_sync write%s',
                            lpad(m.writes_per_sync::text, 2),
                            lpad((m.write_size / 1024)::text, 2),
                            CASE WHEN m.writes_per_sync > 1 THEN 's' ELSE '' END)
                       WHEN 'non_write_descriptor' THEN replace(m.method, '_', ', ')
                       ELSE m.method END,
                   CASE WHEN m.ops_per_sec IS NOT NULL
                        THEN format('%s ops/sec  %s usecs/op',
                                    lpad(to_char(m.ops_per_sec, 'FM999999999990.000'), 13),
                                    lpad(to_char(m.mean_us, 'FM99999990'), 6))
                        ELSE lpad(CASE m.status WHEN 'no_direct_io' THEN 'n/a*'
                                                WHEN 'unsupported' THEN 'n/a'
                                                ELSE m.status END, 21) END) AS text
        FROM section AS s
        JOIN sync_probe.measurements AS m USING (test)
        WHERE m.run_id = pg_test_fsync_report.run_id
    ), block AS (
        SELECT position,
               format(E'%s\n%s%s', heading, string_agg(text, E'\n' ORDER BY ordinal),
                      CASE WHEN bool_or(status = 'no_direct_io') THEN
                           E'\n* This file system and its mount options do not support direct I/O.'
                      END) AS text
        FROM line GROUP BY position, heading
    )
    SELECT format(E'%s seconds per test\n\n%s\n',
                  (SELECT round((extract(epoch FROM r.duration)
                                 / greatest((SELECT count(*) FROM line AS l
                                             WHERE l.status = 'ok'), 1))::numeric, 2)
                   FROM sync_probe.runs AS r WHERE r.run_id = pg_test_fsync_report.run_id),
                  string_agg(text, E'\n\n' ORDER BY position))
    INTO report FROM block;
    RETURN report;
END
$$;

COMMENT ON FUNCTION sync_probe.pg_test_fsync_report(bigint) IS
  'A run of the pg_test_fsync suite as text, in the layout of the program pg_test_fsync. Requires '
  'SELECT on runs and measurements';
