-- Hours of results of commit_waits(), the pace that a probe takes from the busiest, and what
-- delete_history() deletes.  Jobs of pg_cron: test/t/036_every_day.pl.
\set tests 10
\ir include/begin.sql
DELETE FROM sync_probe.commit_wait_results;
DELETE FROM sync_probe.workload_results;
\ir include/stage.sql
SET LOCAL client_min_messages = warning;
SET LOCAL pg_sync_probe.commit_waits_max_age = 0;

-- A result of half a minute; it begins as many minutes after the hour as there are results.
CREATE FUNCTION pg_temp.sample(hours_ago integer, changes text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO sync_probe.commit_wait_results
    SELECT (jsonb_populate_record(NULL::sync_probe.commit_wait_results, to_jsonb(s) || '{
        "answer": "", "duration": "30 s", "commits_per_sec": 400, "commit_wait_us": 1000,
        "wal_busy": 0.2, "committers": 3, "flushes_per_sec": 300, "wal_bytes_per_commit": 2000}'
        || jsonb_build_object('started_at', date_trunc('hour', now())
                              + make_interval(hours => - hours_ago, mins => n))
        || pg_temp.given(changes))).*
    FROM sync_probe_internal.this_server() AS s,
         (SELECT count(*)::integer FROM sync_probe.commit_wait_results) AS r (n)
$$;
SELECT throws_ok($$SELECT FROM sync_probe.probe_all(pace => 'busiest hour')$$, '55000',
                 'the busiest hour of the last week is unknown');
SELECT pg_temp.sample(hours_ago, changes)
FROM (VALUES (30, ''),
    (30, 'commits_per_sec=1200, commit_wait_us=2000, wal_busy=0.4, committers=5, '
         'flushes_per_sec=500, wal_bytes_per_commit=1000'),
    (30, 'host=elsewhere, commits_per_sec=9000'), (30, 'system_identifier=1, commits_per_sec=9000'),
    -- a commit that waits long, in an hour without a load
    (20, 'commits_per_sec=1, commit_wait_us=50000, flushes_per_sec=1'),
    (20, 'commits_per_sec=0, commit_wait_us=null, wal_busy=null, flushes_per_sec=0, '
         'wal_bytes_per_commit=null'),
    -- too short to be an hour's pace, and longer ago than a week
    (10, 'commits_per_sec=9000, duration=29 s'),
    (170, 'commits_per_sec=9000')) AS v (hours_ago, changes);
SELECT results_eq($$
    SELECT extract(epoch FROM date_trunc('hour', now()) - hour) / 3600, samples, duration,
           commits_per_sec, commit_wait_us, wal_busy, committers, flushes_per_sec,
           wal_bytes_per_commit, worst_wait_us, extract(minute FROM worst_at)
    FROM sync_probe_internal.commit_wait_hours()$$, $$
    VALUES (10::numeric, 1::bigint, '29 s'::interval, 9000::float8, 1000::float8, 0.2::float8, 3,
            300::float8, 2000::float8, 1000::float8, 6::numeric),
           (20, 2, '60 s', 0.5, 50000, 0.2, 3, 0.5, 2000, 50000, 4),
           (30, 2, '60 s', 800, 1750, 0.3, 5, 400, 1250, 2000, 1),
           (170, 1, '30 s', 9000, 1000, 0.2, 3, 300, 2000, 1000, 7)$$, 'hours');

SELECT pg_temp.sample(-30, 'commits_per_sec=9500');	-- by a clock that was ahead

-- What a probe records.
CREATE FUNCTION pg_temp.paced(arguments text) RETURNS sync_probe.runs LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT FROM sync_probe.probe(%s, pace => ''busiest hour'')', arguments);
    RETURN (SELECT r FROM sync_probe.runs AS r ORDER BY r.run_id DESC LIMIT 1);
END
$$;
SELECT is(ROW(flush_size, flush_interval, reason LIKE '%in the busiest hour of the last '
              'week WAL was being written or synced 30 %')::text,
          '(2500,00:00:00.0025,t)', 'its pace')
FROM pg_temp.paced($$duration => '50 ms'$$);
SELECT is(ROW(flush_size, workers, usable_for_advice)::text, '(1250,5,t)',
          'its commits for suite commit; advice can rest on that')
FROM pg_temp.paced($$'pg_wal', 'commit', '1 s'$$);
-- it is known that there was no load: as ever, no pace follows from few flushes
SELECT pg_temp.sample(1, 'commits_per_sec=9999, flushes_per_sec=3');
SELECT ok(reason NOT LIKE '%busiest hour%', 'few flushes')
FROM pg_temp.paced($$duration => '50 ms'$$);

DELETE FROM sync_probe.runs;
SELECT pg_temp.record_run(pg_temp.given('label=' || label || changes) || jsonb_build_object(
    'usable_for_advice', changes !~ 'given', 'finished_at', now() - '400 days'::interval), false)
FROM (VALUES ('superseded', ''), ('advice', ''), ('device', ', device=sda'),
             ('undecided', ', verdict=undecided'), ('old', ', reason=given'),
             ('last', ', reason=given'), ('newest', ', reason=given'),
             ('delay', ', suite=trial, setting=commit_delay'),
             ('method', ', suite=trial, setting=wal_sync_method'),
             ('cut', ', suite=power_test, reason=given'),
             ('import', ', reason=given, imported_at=2020-01-01'),
             ('place', ', reason=given, location=x'), ('node', ', reason=given, host=x'))
    AS v (label, changes);
-- as a report of pg_test_fsync, which has no time
INSERT INTO sync_probe.runs (label, suite, imported_at)
VALUES ('imported', 'pg_test_fsync', now() - '400 days'::interval);
INSERT INTO sync_probe.workload_results (result_id, run_group, workload, finished_at)
SELECT d, 1, 'upsert', now() - make_interval(days => d) FROM unnest('{1,400,500}'::int[]) AS d;
SELECT is(d::text, deleted, format('%s, keep %s: rows deleted', older_than, keep))
FROM (VALUES ('401 days', 0, '(0,0,1)'), ('399 days', 10, '(0,0,1)'), ('2 days', 2, '(2,1,0)'),
             ('2 days', 0, '(6,0,0)')) AS v (older_than, keep, deleted),
     sync_probe.delete_history(older_than::interval, keep) AS d;
SELECT is(string_agg(label, ', ' ORDER BY run_id), 'advice, device, undecided, delay, method, cut',
          'what advice can rest on stays') FROM sync_probe.runs;

\ir include/end.sql
