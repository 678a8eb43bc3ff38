-- WAL that counts as flushed and is not on the disk, while wal_sync_method changes.
CREATE TEMP TABLE checks (place text, scenario text, turn int, moment text, checks int,
    pages bigint, bad int, bad_kb float8, bad_since_redo int, since_redo_kb float8, behind_kb float8);
\copy checks FROM 'unsynced.checks.tsv'

\echo text:
\echo text:Checks that found whole pages before the flush position that the loop device does not
\echo text:have, of all checks; the most of them at once; and how far the oldest was behind the flush
\echo text:position. Then those that crash recovery would need: at or after the redo pointer of the
\echo 'text:last completed checkpoint. In rows with a target it is 0.'
SELECT place, scenario, moment, count(DISTINCT turn) AS turns,
       format('%s of %s', sum(bad), sum(checks)) AS "checks with unsynced pages",
       pg_size_pretty(max(bad_kb)::bigint * 1024) AS "most at once",
       pg_size_pretty(max(behind_kb)::bigint * 1024) AS "oldest, behind",
       format('%s of %s', sum(bad_since_redo), sum(checks)) AS "needed by recovery",
       pg_size_pretty(max(since_redo_kb)::bigint * 1024) AS "most of these",
       CASE WHEN scenario LIKE '%fsync and fdatasync%' OR moment IN ('after the commands',
                'beside the run', 'after the run')
            THEN CASE sum(bad_since_redo) WHEN 0 THEN 'met' ELSE '**missed**' END
            ELSE '-' END AS target
FROM checks GROUP BY place, scenario, moment
ORDER BY place, scenario <> 'mixed load, fsync and fdatasync', scenario,
         array_position(ARRAY['after the reload', 'after a checkpoint', 'after the commands',
                              'beside the run', 'after the run'], moment);
