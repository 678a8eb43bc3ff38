--
-- Section waits: what commits wait for, by the newest result of this server that saw a commit.
-- Others are of other loads, whose bars are not to be compared.  A report on chosen runs has none.
--
INSERT INTO sync_probe_internal.report_sections VALUES (40, 'waits', 'What do commits wait for?',
    'What commits wait for',
    'The mean time that a commit waited, split by what it waited for. With '
    '<code>open_datasync</code> and <code>open_sync</code> the sync is in WALWrite. A faster sync '
    'shortens WALSync, WALWrite and the queue, not SyncRep, which is the answer of a standby.');

CREATE FUNCTION sync_probe_internal.section_waits(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 'bars', format('%s: a commit waits %s', w.wal_sync_method,
                      sync_probe_internal.html_duration(w.commit_wait_us)), 'us', NULL::float8,
       ARRAY[ROW(NULL, NULL, p.marks)::sync_probe_internal.panel],
       format('Newest result, %s, sampled for %s: %s', sync_probe_internal.html_time(w.started_at),
              sync_probe_internal.html_duration(w.duration), w.answer), NULL::text[],
       sync_probe_internal.html_table('Mean time that a commit waits, and for what, in us',
           '{part,us,share}', p.cells, 1)
FROM (SELECT w.* FROM sync_probe.commit_wait_results AS w, sync_probe_internal.this_server() AS s
      WHERE NOT data.chosen AND w.commit_wait_us > 0 AND w.commit_wait_us < 'Infinity'
        AND w.system_identifier = s.system_identifier AND w.host = s.host
      ORDER BY w.result_id DESC LIMIT 1) AS w,
     LATERAL (SELECT array_agg(ROW(p.name, NULL, 'cur', 'box', p.us, NULL, NULL, NULL,
                                   NULL)::sync_probe_internal.mark ORDER BY p.n) AS marks,
                     array_agg(ARRAY[p.name, sync_probe_internal.html_number(p.us),
                                     round((100 * p.us / w.commit_wait_us)::numeric) || ' %']
                               ORDER BY p.n) AS cells
              FROM (VALUES (1, 'WALSync', w.sync_us), (2, 'WALWrite', w.write_us),
                           (3, 'WALWriteLock', w.queue_us), (4, 'commit_delay', w.commit_delay_us),
                           (5, 'SyncRep', w.sync_rep_us), (6, 'other', w.other_us)) AS p (n, name,
                               us)
              WHERE p.us IS NOT NULL) AS p
WHERE p.marks IS NOT NULL
$$;

--
-- Section trials: what trials and the commit suite measured of real commits: the newest run of each
-- setting, or those that were chosen, at most 4.
--
INSERT INTO sync_probe_internal.report_sections VALUES (50, 'trials', 'What do real commits say?',
    'Real commits',
    'A trial switched a setting back and forth while sessions committed; the commit suite made '
    'commits of its own. The current value is 1. A mark right of the band is better by more than '
    'the margin; the line through it is the 95&nbsp;% confidence interval. The row of the current '
    'value compares it with itself, so it shows the noise.');

CREATE FUNCTION sync_probe_internal.section_trials(data sync_probe_internal.report_data)
RETURNS SETOF sync_probe_internal.figure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT 'intervals', concat_ws(' ', CASE c.suite WHEN 'trial' THEN 'Trial of' ELSE 'Commit suite:'
    END,
                              concat_ws(', ', c.test, f.verdict)), 'times', NULL::float8,
       ARRAY[ROW(NULL, NULL, f.marks)::sync_probe_internal.panel],
       concat_ws(' ', CASE WHEN (c.run).setting = c.test
                           THEN upper(left((c.run).reason, 1)) || substr((c.run).reason, 2) || '.'
                               END,
           format('Run %s, %s, %s.', c.run_id, sync_probe_internal.html_time((c.run).started_at),
                  CASE WHEN c.suite = 'commit' THEN (c.run).workers || ' workers'
                       WHEN (c.run).workload IS NULL THEN 'load: the sessions of the server'
                       ELSE 'load: workload ' || (c.run).workload END)),
       '{cur dot,current,rec dot,recommended,oth dot,other,cur band,margin}'::text[], f.table_html
FROM (SELECT r.run, r.run_id, r.suite, m.test,
             row_number() OVER (PARTITION BY r.suite, m.test, (r.run).workload IS NULL
                                ORDER BY r.run_id DESC) AS age
      FROM (SELECT r AS run, r.run_id, r.suite FROM unnest(data.runs || data.more) AS r
            WHERE r.suite IN ('trial', 'commit') ORDER BY r.run_id DESC LIMIT 100) AS r,
           LATERAL (SELECT DISTINCT m.test FROM sync_probe.measurements AS m
                    WHERE m.run_id = r.run_id) AS m) AS c,
     LATERAL (SELECT min(m.verdict) AS verdict,
                     array_agg(ROW(sync_probe_internal.clipped(m.method, 60), m.choice,
                         CASE m.choice WHEN 'current' THEN 'cur' WHEN 'recommended' THEN 'rec'
                                       ELSE 'oth' END, 'dot', m.relative_speed,
                                           m.relative_speed_low,
                         m.relative_speed_high, NULL, NULL)::sync_probe_internal.mark
                         ORDER BY m.ordinal) FILTER (WHERE m.relative_speed > 0 AND m.n <= 12)
                         AS marks,
                     sync_probe_internal.html_table(
                         format('Commits with each value of %s, run %s', c.test, c.run_id),
                         '{value,choice,status,speed,low,high,commits/s,mean us,commits,detail}',
                         array_agg(ARRAY[m.method, m.choice, m.status,
                             sync_probe_internal.html_factor(m.relative_speed),
                             sync_probe_internal.html_factor(m.relative_speed_low),
                             sync_probe_internal.html_factor(m.relative_speed_high),
                             sync_probe_internal.html_number(m.ops_per_sec),
                             sync_probe_internal.html_number(m.mean_us),
                             sync_probe_internal.html_number(m.ops), m.detail] ORDER BY m.ordinal),
                                 3)
                         AS table_html
              FROM (SELECT m.*, row_number() OVER (ORDER BY m.ordinal) AS n
                    FROM sync_probe.measurements AS m
                    WHERE m.run_id = c.run_id AND m.test = c.test) AS m) AS f
WHERE (data.chosen OR c.age = 1) AND f.marks IS NOT NULL
ORDER BY c.suite DESC, c.test DESC, c.run_id DESC LIMIT 4
$$;
