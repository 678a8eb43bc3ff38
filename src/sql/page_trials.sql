--
-- sync_probe_internal.trial_figure
--
-- The values of a setting that a trial, or the commit suite, compared: how long a commit waits
-- and how many there are, against the current value.
--
CREATE FUNCTION sync_probe_internal.trial_figure(run sync_probe.runs, of_setting text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH value AS (
    SELECT m.*, coalesce(m.value, m.method) AS name,
           CASE m.choice WHEN 'recommended' THEN 'rec' WHEN 'current' THEN 'cur'
                         ELSE 'oth' END AS colour,
           CASE m.choice WHEN 'current' THEN 'current' ELSE m.choice END AS note,
           row_number() OVER (ORDER BY m.choice = 'current' NULLS FIRST,
                              m.relative_speed DESC NULLS LAST, m.ordinal) AS n
    FROM sync_probe.measurements AS m
    WHERE m.run_id = run.run_id AND m.test = of_setting
), mark AS (
    SELECT v.n, s.k, ROW(v.name, v.note, v.colour, s.shape, s.ratio, s.low, s.high)
                     ::sync_probe_internal.forest_mark AS mark, s.ratio, s.low, s.high
    FROM value AS v,
         LATERAL (VALUES (1, 'dot', v.relative_speed, v.relative_speed_low, v.relative_speed_high),
                         (2, 'ring', NULL, NULL, NULL))
         AS s (k, shape, ratio, low, high)
    WHERE v.n <= 12
)
SELECT sync_probe_internal.html_figure(
    sync_probe_internal.html_forest(
        format('trials-%s-%s', run.run_id, (SELECT min(v.ordinal) FROM value AS v)),
        format('Commits with each value of %s, relative to the current one', of_setting),
        array_agg(m.mark ORDER BY m.n, m.k),
        sync_probe_internal.html_ratio_axis(least(min(m.ratio), min(m.low)),
                                            greatest(max(m.ratio), max(m.high))),
        'worse', 'better'),
    concat_ws(' ',
        CASE WHEN run.setting = of_setting
             THEN upper(left(run.reason, 1)) || substr(run.reason, 2) || '.' END,
        format('%s of %s, %s, run %s.',
               CASE run.suite WHEN 'trial' THEN 'Trial'
                    ELSE format('Commit suite with %s worker%s,', run.workers,
                                CASE WHEN run.workers <> 1 THEN 's' END) END,
               sync_probe_internal.html_time(run.started_at),
               sync_probe_internal.html_duration(run.finished_at - run.started_at), run.run_id),
        CASE WHEN run.suite = 'trial'
             THEN coalesce('Load: workload ' || run.workload || '.',
                           'Load: the sessions of the server.') END),
    (SELECT sync_probe_internal.html_table(
         format('Commits with each value of %s, run %s', of_setting, run.run_id),
         '{value,choice,status,speed,low,high,rate,low,high,mean us,p50 us,p99 us,commits,rounds,'
         'detail}',
         array_agg(ARRAY[v.name, v.choice, v.status,
             sync_probe_internal.html_factor(v.relative_speed),
             sync_probe_internal.html_factor(v.relative_speed_low),
             sync_probe_internal.html_factor(v.relative_speed_high),
             NULL,
             NULL,
             NULL,
             sync_probe_internal.html_number(v.mean_us), sync_probe_internal.html_number(v.p50_us),
             sync_probe_internal.html_number(v.p99_us), sync_probe_internal.html_number(v.ops),
             NULL, v.detail] ORDER BY v.n), 3) FROM value AS v),
    concat(CASE run.suite WHEN 'trial' THEN 'Trial of ' ELSE 'Commit suite: ' END, of_setting,
           ', ' || coalesce((SELECT min(v.verdict) FROM value AS v),
                            CASE WHEN run.setting = of_setting THEN run.verdict END)),
    sync_probe_internal.html_key('cur dot', 'wait of a commit, shorter to the right',
        'cur ring', 'commits per second, more to the right',
        'cur band', 'margin'))
FROM mark AS m
HAVING count(m.ratio) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.trial_figure(sync_probe.runs, text) IS
  'A figure of the values of a setting that a trial compared';

--
-- sync_probe_internal.page_trials
--
-- What trials and the commit suite measured of real commits: the newest run of each setting, at
-- most 4, or those that were chosen.
--
CREATE FUNCTION sync_probe_internal.page_trials(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH compared AS (
    SELECT r.run, r.run_id, r.suite, m.test,
           row_number() OVER (PARTITION BY r.suite, m.test, (r.run).workload IS NULL
                              ORDER BY r.run_id DESC) AS age
    FROM (SELECT r AS run, r.run_id, r.suite FROM unnest(data.runs || data.more) AS r
          WHERE r.suite IN ('trial', 'commit')
          ORDER BY r.run_id DESC LIMIT 100) AS r,
         LATERAL (SELECT DISTINCT m.test FROM sync_probe.measurements AS m
                  WHERE m.run_id = r.run_id) AS m
), figure AS (
    SELECT c.run_id, c.suite, c.test,
           sync_probe_internal.trial_figure(c.run, c.test) AS html
    FROM compared AS c
    WHERE data.chosen OR c.age = 1
    ORDER BY c.suite DESC, c.run_id DESC LIMIT 4
)
SELECT ROW('trials', 'What do real commits say?', 'Real commits',
    'A trial switched a setting back and forth while sessions committed; the commit suite made '
    'commits of its own. The current value is 1. A mark right of the band is better by more than '
    'the margin; the line through it is the 95&nbsp;% confidence interval. The row of the current '
    'value compares it with itself, and so shows the noise.',
    string_agg(f.html, '' ORDER BY f.suite DESC, f.test DESC, f.run_id DESC))
    ::sync_probe_internal.section
FROM figure AS f
HAVING count(f.html) > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.page_trials(sync_probe_internal.report_data) IS
  'Section of the report: trials and the commit suite';
