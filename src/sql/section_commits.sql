--
-- Section waits: what commits wait for, by the newest result of this server that saw a commit.
-- Others are of other loads, whose bars are not to be compared.  A report on chosen runs has none.
--
UNION ALL VALUES (40, 'waits', 'What do commits wait for?',
    'What commits wait for',
    'The mean time that a commit waited, split by what it waited for. With '
    '<code>open_datasync</code> and <code>open_sync</code> the sync is in WALWrite. A faster sync '
    'shortens WALSync, WALWrite and the queue, not SyncRep, which is the answer of a standby.', $$
SELECT 'bars' AS kind, 'us' AS unit,
       format('%s: a commit waits %s', w.wal_sync_method,
              sync_probe_internal.html_duration(w.commit_wait_us)) AS heading,
       format('Newest result, %s, sampled for %s: %s', sync_probe_internal.html_time(w.started_at),
              sync_probe_internal.html_duration(w.duration), w.answer) AS caption, p.marks, p.cells
FROM (SELECT w.* FROM sync_probe.commit_wait_results AS w, sync_probe_internal.this_server() AS s
      WHERE NOT data.chosen AND w.commit_wait_us > 0 AND w.commit_wait_us < 'Infinity'
        AND w.system_identifier = s.system_identifier AND w.host = s.host
        AND w.started_at <= clock_timestamp()
      ORDER BY w.started_at DESC LIMIT 1) AS w,
     LATERAL (SELECT json_agg(mark ORDER BY p.n) AS marks, json_agg(cell ORDER BY p.n) AS cells
              FROM (VALUES (1, 'WALSync', w.sync_us), (2, 'WALWrite', w.write_us),
                           (3, 'WALWriteLock', w.queue_us), (4, 'commit_delay', w.commit_delay_us),
                           (5, 'SyncRep', w.sync_rep_us),
                           (6, 'other', greatest(0, w.commit_wait_us - w.sync_us - w.write_us
                                - w.queue_us - w.commit_delay_us - w.sync_rep_us)))
                       AS p (n, name, us),
                   LATERAL (SELECT p.name, 'cur' AS colour, p.us AS number) AS mark,
                   LATERAL (SELECT p.name AS part, p.us, 100 * p.us / w.commit_wait_us AS "%")
                       AS cell
              WHERE p.us IS NOT NULL) AS p
$$)

--
-- Section trials: what trials and the commit suite measured of real commits: the newest run of each
-- setting, or those that were chosen, at most 4; methods come first.
--
UNION ALL VALUES (50, 'trials', 'What do real commits show?',
    'Real commits',
    'A trial switched a setting back and forth while sessions committed; the commit suite made '
    'commits of its own. The current value stands at 1. A mark right of the band is better by more '
    'than the margin; the line through it is the 95&nbsp;% confidence interval. The row of the '
    'current value compares it with itself, so it shows the noise.', $$
SELECT 'intervals' AS kind, 'times' AS unit,
       concat_ws(' ', CASE c.suite WHEN 'trial' THEN 'Trial of' ELSE 'Commit suite:' END,
                 concat_ws(', ', c.test, m.verdict)) AS heading,
       concat_ws(' ', CASE WHEN c.setting = c.test THEN format('Result: %s.', c.reason) END,
           format('Run %s, %s, %s.', c.run_id, sync_probe_internal.html_time(c.started_at),
                  CASE WHEN c.suite = 'commit' THEN c.workers || ' workers'
                       WHEN c.workload IS NULL THEN 'load: the sessions of the server'
                       ELSE 'load: workload ' || c.workload END)) AS caption,
       '{cur dot,current,rec dot,recommended,oth dot,other,cur band,margin}' AS key,
       m.marks, sync_probe_internal.report_cells(c.run_id, data.paths) AS cells
FROM (SELECT r.*, m.test, row_number() OVER (PARTITION BY r.suite, m.test, r.workload IS NULL
                                             ORDER BY r.run_id DESC) AS age
      FROM (SELECT * FROM unnest(data.runs || data.more) AS r
            WHERE r.suite IN ('trial', 'commit') ORDER BY r.run_id DESC LIMIT 100) AS r,
           LATERAL (SELECT DISTINCT m.test FROM sync_probe.measurements AS m
                    WHERE m.run_id = r.run_id AND m.relative_speed > 0) AS m) AS c,
     LATERAL (SELECT min(m.verdict) AS verdict, json_agg(mark ORDER BY m.ordinal)
                         FILTER (WHERE m.relative_speed > 0 AND m.n <= 12) AS marks
              FROM (SELECT m.*, row_number() OVER (ORDER BY m.ordinal) AS n
                    FROM sync_probe.measurements AS m
                    WHERE m.run_id = c.run_id AND m.test = c.test) AS m,
                   LATERAL (SELECT m.method AS name, m.choice AS note,
                                   CASE m.choice WHEN 'current' THEN 'cur'
                                                 WHEN 'recommended' THEN 'rec' END AS colour,
                                   m.relative_speed AS number, m.relative_speed_low AS low,
                                   m.relative_speed_high AS high) AS mark) AS m
WHERE (data.chosen OR c.age = 1) AND m.marks IS NOT NULL
ORDER BY c.test <> 'wal_sync_method', c.run_id DESC LIMIT 4
$$)
