--
-- sync_probe_internal.wait_parts
--
-- The parts of the wait of a commit, in the order of the bar: their name, their class, the class
-- of text on them, and their microseconds.
--
CREATE FUNCTION sync_probe_internal.wait_parts(result sync_probe.commit_wait_results)
RETURNS TABLE (n integer, part text, class text, on_class text, us double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
VALUES (1, 'WALSync', 'w1', 'o1', result.sync_us),
       (2, 'WALWrite', 'w2', 'o2', result.write_us),
       (3, 'queue for WALWriteLock', 'w3', 'o3', result.queue_us),
       (4, 'commit_delay', 'w6', 'o6', result.commit_delay_us),
       (5, 'SyncRep', 'w4', 'o4', result.sync_rep_us),
       (6, 'other', 'w5', 'o5', result.other_us)
$$;

COMMENT ON FUNCTION sync_probe_internal.wait_parts(sync_probe.commit_wait_results) IS
  'The parts of the wait of a commit';

--
-- sync_probe_internal.stacked_bar
--
-- The parts of a commit's wait as pieces of one bar of 32 pixels.  A number is inside of its
-- piece where there is room on a phone, or else (class wd) on a wider window.
--
CREATE FUNCTION sync_probe_internal.stacked_bar(
    axis sync_probe_internal.axis,
    y integer,
    result sync_probe.commit_wait_results)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH piece AS (
    SELECT p.*, sync_probe_internal.html_number(p.us) AS label,
           sync_probe_internal.html_at(axis, sum(p.us) OVER before) AS low,
           sync_probe_internal.html_at(axis, sum(p.us) OVER before + p.us) AS high
    FROM (SELECT p.n, p.part, p.class, p.on_class, greatest(p.us, 0) AS us
          FROM sync_probe_internal.wait_parts(result) AS p) AS p
    WINDOW before AS (ORDER BY p.n ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
                      EXCLUDE CURRENT ROW)
), placed AS (
    SELECT n, class, on_class, label, coalesce(low, 0) AS low,
           coalesce(high, sync_probe_internal.html_at(axis, us)) - coalesce(low, 0) AS width,
           7 * length(label) + 4 AS pixels
    FROM piece
)
SELECT string_agg(
           format('<rect class=%s x=%s%% width=%s%% y=%s height=32 />', class, low, width, y)
           || CASE WHEN pixels > width * 4.6 THEN ''
                   ELSE format('<text class="c %s%s" x=%s%% y=%s>%s</text>', on_class,
                               CASE WHEN pixels > width * 2.1 THEN ' wd' ELSE '' END,
                               round(low + width / 2, 1), y + 20, label) END, '' ORDER BY n)
FROM placed
WHERE width > 0
$$;

COMMENT ON FUNCTION sync_probe_internal.stacked_bar(sync_probe_internal.axis, integer,
  sync_probe.commit_wait_results) IS
  'The wait of a commit as a bar of its parts';

--
-- sync_probe_internal.page_waits
--
-- What commits wait for: the newest result of this server that saw a commit.  Others are of other
-- loads, whose bars are not to be compared.  A report on chosen runs has none: these are no runs.
--
CREATE FUNCTION sync_probe_internal.page_waits(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.section
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH result AS (
    SELECT w AS result, w.*
    FROM sync_probe.commit_wait_results AS w, sync_probe_internal.this_server() AS s
    WHERE NOT data.chosen AND w.commit_wait_us > 0 AND w.commit_wait_us < 'Infinity'
      AND w.system_identifier = s.system_identifier AND w.host = s.host
    ORDER BY w.result_id DESC LIMIT 1
), line AS (
    SELECT r.*, concat(sync_probe_internal.html_row_name(20, r.wal_sync_method,
                           CASE WHEN r.commit_delay > 0
                                THEN format('delay %s us', r.commit_delay) END),
                       sync_probe_internal.stacked_bar(a.axis, 6, r.result),
                       format('<text class=b x=%s%% dx=8 y=26>%s</text>',
                              sync_probe_internal.html_at(a.axis, r.commit_wait_us),
                              sync_probe_internal.html_number(r.commit_wait_us)),
                       E'\n') AS html, a.axis
    FROM result AS r,
         LATERAL (SELECT sync_probe_internal.html_linear_axis(r.commit_wait_us, 'us')) AS a (axis)
)
SELECT ROW('waits', 'What do commits wait for?', 'What commits wait for',
    'A bar is the mean time that a commit waited, split by what it waited for. With '
    '<code>open_datasync</code> and <code>open_sync</code> the sync is in WALWrite. A faster sync '
    'shortens WALSync, WALWrite and the queue, not SyncRep, which is the answer of a standby.',
    sync_probe_internal.html_figure(
        sync_probe_internal.html_plot('waits-1', 64, 'What a commit waits for',
            format('%s: %s', l.wal_sync_method,
                (SELECT string_agg(format('%s %s us', p.part,
                                          sync_probe_internal.html_number(p.us)), ', ' ORDER BY p.n)
                 FROM sync_probe_internal.wait_parts(l.result) AS p WHERE p.us > 0)),
            sync_probe_internal.html_grid(l.axis, 0, 44) || l.html),
        format('Newest result, %s, sampled for %s: %s',
               sync_probe_internal.html_time(l.started_at),
               sync_probe_internal.html_duration(l.duration), l.answer),
        sync_probe_internal.html_table('Mean time that a commit waits, and for what, in us',
            '{method,commit_delay,sampled,total,WALSync,WALWrite,queue,"delay (slept)",SyncRep,'
            'other,commits/s,commits per flush,bytes per commit,committing sessions}',
            ARRAY[ARRAY[l.wal_sync_method, l.commit_delay::text,
                sync_probe_internal.html_time(l.started_at),
                sync_probe_internal.html_number(l.commit_wait_us),
                sync_probe_internal.html_number(l.sync_us),
                sync_probe_internal.html_number(l.write_us),
                sync_probe_internal.html_number(l.queue_us),
                sync_probe_internal.html_number(l.commit_delay_us),
                sync_probe_internal.html_number(l.sync_rep_us),
                sync_probe_internal.html_number(l.other_us),
                sync_probe_internal.html_number(l.commits_per_sec),
                sync_probe_internal.html_factor(l.commits_per_sec / nullif(l.flushes_per_sec, 0)),
                sync_probe_internal.html_number(l.wal_bytes_per_commit),
                sync_probe_internal.html_factor(l.committing_sessions)]], 1),
        NULL,
        CASE WHEN l.commit_delay_us > 0
             THEN sync_probe_internal.html_key('w1 box', 'WALSync', 'w2 box', 'WALWrite',
                      'w3 box', 'queue for WALWriteLock', 'w6 box', 'commit_delay',
                      'w4 box', 'SyncRep', 'w5 box', 'other')
             ELSE sync_probe_internal.html_key('w1 box', 'WALSync', 'w2 box', 'WALWrite',
                      'w3 box', 'queue for WALWriteLock', 'w4 box', 'SyncRep',
                      'w5 box', 'other') END))::sync_probe_internal.section
FROM line AS l
$$;

COMMENT ON FUNCTION sync_probe_internal.page_waits(sync_probe_internal.report_data) IS
  'Section of the report: what commits wait for';
