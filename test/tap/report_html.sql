-- The page of report_html() on recorded rows: what is on it, that its numbers are those of the
-- tables and views, and that no text gets out of its place.
\ir include/begin.sql
\ir include/stage.sql
DELETE FROM examined WHERE NOT holds_wal;
UPDATE examined SET write_cache = 'write through';

-- Measurements of a run with differences, such as to the methods: open_datasync is 1.78 times as
-- fast as fdatasync when paced.
CREATE FUNCTION pg_temp.measure(id bigint, differences jsonb DEFAULT '{}')
RETURNS void LANGUAGE sql AS $$
    SELECT pg_temp.record_cases(id, VARIADIC ARRAY(
        SELECT jsonb_build_object('test', m.test, 'method', m.method,
                   'choice', CASE m.method WHEN r.wal_sync_method THEN 'current'
                                           WHEN r.recommended_value THEN 'recommended' END,
                   'verdict', CASE WHEN m.test = 'paced' AND m.method = r.wal_sync_method
                                   THEN r.verdict END,
                   'ops', 675, 'p50_us', m.p50_us, 'mean_us', m.p50_us + 2.5,
                   'p99_us', m.p50_us * 3.3, 'max_us', 1896.4, 'relative_speed', m.speed,
                   'relative_speed_low', m.speed - 0.031, 'relative_speed_high', m.speed + 0.037,
                   'durable', 'yes', 'flushes_per_op', 1.9) || differences
        FROM (VALUES ('paced', 'open_datasync', 68.0, 1.783), ('paced', 'fdatasync', 122, 0.991),
                     ('paced', 'fsync', 131, 0.942), ('saturated', 'open_datasync', 40, 1.021),
                     ('saturated', 'fdatasync', 41, 1.004), ('saturated', 'fsync', 44, 0.957))
                 AS m (test, method, p50_us, speed)))
    FROM sync_probe.runs AS r WHERE r.run_id = id;
    UPDATE sync_probe.runs AS r
    SET storage = r.storage || (
        SELECT jsonb_build_object('device_bytes_per_op', jsonb_object_agg(m.ordinal, d.bytes),
                                  'device_utilization', jsonb_object_agg(m.ordinal, d.busy))
        FROM sync_probe.measurements AS m
        JOIN (VALUES ('paced', 20268, 0.3), ('saturated', 9000, 0.85)) AS d (test, bytes, busy)
            USING (test)
        WHERE m.run_id = id)
    WHERE r.run_id = id
$$;

-- A run that says so, with differences.
CREATE FUNCTION pg_temp.switch_run(differences jsonb, place_follows boolean DEFAULT true)
RETURNS bigint LANGUAGE sql AS $$
    SELECT pg_temp.record_run('{"verdict": "switch", "recommended_value": "open_datasync",
        "max_regret": 0.82, "reason": "open_datasync is faster by 75 % to 82 %"}'
        || differences, place_follows)
$$;

-- One section of a page, and all matches of a pattern in a text.
CREATE FUNCTION pg_temp.part(page text, id text) RETURNS text LANGUAGE sql AS $$
    SELECT substring(page FROM '<section id=' || id || ' .*?</section>')
$$;
CREATE FUNCTION pg_temp.found(page text, pattern text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT m[1] FROM regexp_matches(page, pattern, 'g') AS m
$$;
CREATE FUNCTION pg_temp.sections(page text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(id, ' ') FROM pg_temp.found(page, '<section id=(\w+)') AS id
$$;

-- What is wrong with a page: it has only known elements, none that could run or load something, is
-- ASCII without controls, has each id once and the target of each link, and of each figure a title,
-- words and a table.
CREATE FUNCTION pg_temp.faults(page text) RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(fault) FROM (
        SELECT 'not a whole page' WHERE page !~ '^<!DOCTYPE html>\n<html lang=en>.*</html>\n$'
        UNION ALL SELECT 'more than ASCII' WHERE page ~ '[^\x09\x0A\x20-\x7E]'
        UNION ALL SELECT DISTINCT 'element ' || tag FROM pg_temp.found(page, '<([^ />\n]+)') AS tag
            WHERE tag <> ALL ('{!DOCTYPE,html,head,meta,title,style,body,a,svg,path,div,header,p,'
                'h1,h2,h3,b,i,code,dl,dt,dd,ul,ol,li,nav,main,section,article,span,pre,figure,'
                'figcaption,details,summary,table,caption,thead,tbody,tr,th,td,footer,desc,g,line,'
                'rect,circle,text,tspan,use}')
        UNION ALL SELECT 'something that runs'
            WHERE regexp_replace(page, '"[^"]*"', '""', 'g') ~* '<[^>]*\s(on\w+|style|src)\s*='
        UNION ALL SELECT 'link to ' || link FROM pg_temp.found(page, 'href=([^ >]+)') AS link
            WHERE link !~ '^#[\w-]+$'
               OR substr(link, 2) NOT IN (SELECT pg_temp.found(page, '\sid=([\w-]+)'))
        UNION ALL SELECT 'more than one ' || id FROM pg_temp.found(page, '\sid=([\w-]+)') AS id
            GROUP BY id HAVING count(*) > 1
        UNION ALL SELECT 'figure without words or table: ' || figure
            FROM pg_temp.found(page, '(<figure>.*?</figure>)') AS figure
            WHERE figure !~ '<svg[^>]*role=img' OR figure !~ '<title id=[^>]*>[^<]'
               OR figure !~ '<desc id=[^>]*>[^<]' OR figure !~ '<details.*<table') AS f (fault)
$$;

-- ------------------------------------------------------------- no run at all
CREATE TEMP TABLE page AS SELECT sync_probe.report_html() AS html,
    sync_probe.report_html('{}') AS given;
SELECT collect_tap(
    is(pg_temp.faults(html), NULL, 'no run'),
    is(pg_temp.faults(given), NULL, 'no run given'))
FROM page;
SELECT matches(html, pattern, 'no run: ' || pattern)
FROM page, unnest(ARRAY['<h1>No probe of pg_wal counts</h1>',
                        '<pre>SELECT \* FROM sync_probe.probe_all\(\);']) AS pattern;
SELECT collect_tap(
    matches(pg_temp.sections(html), '^verdict (findings )?numbers$', 'no figure without a run'),
    is(pg_temp.sections(given), NULL, 'an empty list has no sections'),
    matches(given, 'The list of runs is empty', 'and says that it is empty'),
    doesnt_match(html, 'Imported runs', 'none was imported'))
FROM page;
SELECT pg_temp.record_run(jsonb_build_object('imported_at', now())) AS imported_run \gset
SELECT matches(sync_probe.report_html(),
              'Imported runs are shown in full only if they are named:</p>'
              '<pre>SELECT sync_probe.report_html\(ARRAY\(SELECT run_id FROM sync_probe.runs '
              'WHERE imported_at IS NOT NULL\)\);</pre>', 'how to see what was imported');
DELETE FROM sync_probe.runs WHERE run_id = :imported_run;

-- ------------------------------------------------------------------- one run
SELECT pg_temp.switch_run('{"label": "weekly", "storage": {"write_cache": "write back",
    "fua": false, "mount_options": "rw", "device_bytes_error": {"2": 100},
    "others": {"seconds": 1, "bytes_per_sec": 0, "bytes_per_sec_error": 0}}}') AS run \gset
SELECT pg_temp.measure(:run);
UPDATE page SET html = sync_probe.report_html(),
    given = sync_probe.report_html(ARRAY[:run]::bigint[]);
-- whatever the settings of the session
SET LOCAL timezone = 'Asia/Kolkata';
SET LOCAL datestyle = 'SQL, DMY';
SET LOCAL intervalstyle = 'iso_8601';
SET LOCAL extra_float_digits = -15;
SET LOCAL search_path = pg_temp, public;
SELECT is(sync_probe.report_html(), html, 'the same again') FROM page;
RESET timezone; RESET datestyle; RESET intervalstyle; RESET extra_float_digits; RESET search_path;
SELECT collect_tap(
    is(pg_temp.faults(html), NULL, 'one run'),
    is(pg_temp.faults(given), NULL, 'one given run'),
    matches(pg_temp.sections(html), '^verdict .*speed .*latency .*device .*numbers$', 'sections'),
    doesnt_match(pg_temp.sections(html), 'tool', 'none of a suite that has not run'),
    is((SELECT array_agg(link) FROM pg_temp.found(html, '<nav.*?</nav>') AS nav,
               pg_temp.found(nav, 'href=#(\w+)') AS link),
       (SELECT array_agg(id) FROM pg_temp.found(html, '<section id=(\w+)') AS id),
       'the contents are the sections'))
FROM page;
SELECT matches(html, pattern, 'one run: ' || pattern)
FROM page, sync_probe.recommendation_details AS d, LATERAL (VALUES
    ('<h1>Set wal_sync_method to open_datasync</h1>'),
    ('<section id=verdict .*<pre>' || replace((
        SELECT string_agg(regexp_replace(c, '([()*])', '\\\1', 'g'), E';\n' ORDER BY n)
        FROM unnest(d.commands) WITH ORDINALITY AS u (c, n)), '''', '&#39;')),
    (format('<dt>Current method takes<dd>at most %s&nbsp;%% longer<',
            round((100 * d.max_regret)::numeric))),
    ('<dt>A flush takes<dd>70.5&nbsp;&micro;s, with fdatasync 125&nbsp;&micro;s<'),
    ('<section id=latency .*open_datasync 68 \(68 to 224\)'),
    ('<section id=device .*<td>20,268<td>8,192<td>2.47<td>85')) AS p (pattern);
SELECT collect_tap(
    matches(given, '<b class="tag switch">switch</b> from <code>fdatasync</code> to '
                   '<code>open_datasync</code>.*<p class=why>open_datasync is faster by 75&nbsp;%',
            'the run by itself has the verdict that was stored'),
    doesnt_match(pg_temp.part(given, 'verdict'), '<pre>', 'and no commands'))
FROM page;
SELECT is(ARRAY(SELECT f
                FROM pg_temp.found(pg_temp.part(html, 'speed'), 'x=100%[^>]*>([0-9.]+)&t') AS f),
          ARRAY(SELECT to_char(m.relative_speed, 'FM0.00') FROM sync_probe.measurements AS m
                WHERE m.run_id = :run
                ORDER BY max(m.relative_speed) FILTER (WHERE m.test = 'paced')
                             OVER (PARTITION BY m.method) DESC, m.method, m.test),
          'speeds, the fastest first') FROM page;
SET LOCAL pg_sync_probe.margin = 0.06;
SELECT collect_tap(
    matches(pg_temp.part(html, 'speed'), 'recommended', 'what the advice recommends is marked'),
    matches(now, 'its run is outdated', 'the run becomes outdated'),
    doesnt_match(pg_temp.part(now, 'speed'), 'recommended|switch', 'then nothing is advised'))
FROM page, sync_probe.report_html() AS now;
SET LOCAL pg_sync_probe.margin = 0.05;
-- Adding a section without a word in the manual fails here.
\set manual `cat doc/report.md`
SELECT ok(strpos(:'manual', s.title) > 0, 'doc/report.md has section "' || s.title || '"')
FROM sync_probe_internal.report_sections() AS s;
SELECT ok(count(DISTINCT place) = count(*) AND count(DISTINCT id) = count(*),
          'each section has a place and an id of its own')
FROM sync_probe_internal.report_sections();

-- ---------------------------------------------- a run of another server, and an imported one
SELECT pg_temp.switch_run('{"host": "elsewhere", "system_identifier": 7, "storage": {}}', false)
    AS foreign_run \gset
SELECT pg_temp.switch_run(jsonb_build_object('imported_at', now(), 'storage', '{}'::jsonb), false)
    AS imported_run \gset
SELECT pg_temp.measure(:foreign_run), pg_temp.measure(:imported_run);
SELECT pg_temp.record_run(
           '{"suite": "stream", "host": "elsewhere", "storage": {}}', false)
    AS foreign_stream \gset
SELECT results_eq(
    $$SELECT r.run_id FROM unnest(
           (SELECT d.more FROM sync_probe_internal.report_data(NULL, true) AS d)) AS r ORDER BY 1$$,
    format($$SELECT run_id FROM sync_probe.runs
             WHERE run_id <> ALL ('{%s,%s,%s}') AND (suite <> 'wal' OR location = 'pg_wal')
             ORDER BY 1$$, :foreign_run, :imported_run, :foreign_stream),
    'none of them is shown unless it was chosen');
UPDATE page SET html = sync_probe.report_html(ARRAY[:foreign_run, :imported_run]::bigint[]);
SELECT collect_tap(
    is(pg_temp.faults(html), NULL, 'runs from elsewhere'),
    is(ARRAY(SELECT f FROM pg_temp.found(html, '<span class=from>([^<]+)') AS f),
       '{another server,imported}', 'they are marked'),
    is((SELECT count(*) FROM pg_temp.found(html, '<b class="tag switch">(switch)</b> from')),
       2::bigint, 'and judged'),
    doesnt_match(html, '<pre>', 'without commands'))
FROM page;
SELECT matches(sync_probe.report_html(ARRAY[:run, :foreign_run]::bigint[]), 'pg_wal run ' || :run,
               'several runs of one location are told apart');

-- ------------------------------------------------------------------ nothing is known
INSERT INTO sync_probe.runs (suite, verdict) VALUES ('wal', 'keep') RETURNING run_id AS bare \gset
SELECT is(pg_temp.faults(sync_probe.report_html(ARRAY[:bare]::bigint[])), NULL,
          'a run without measurements');
SELECT pg_temp.record_cases(:bare, VARIADIC ARRAY(
    SELECT jsonb_build_object('test', t, 'method', m, 'status', 'stopped', 'ops', NULL)
    FROM unnest('{paced,saturated}'::text[]) AS t, unnest('{fdatasync,fsync}'::text[]) AS m));
UPDATE page SET html = sync_probe.report_html(ARRAY[:bare]::bigint[]);
SELECT collect_tap(
    is(pg_temp.faults(html), NULL, 'a run without a figure'),
    doesnt_match(pg_temp.sections(html), 'speed|latency|device', 'has no figures')) FROM page;
-- Only some numbers, and those that are none
UPDATE sync_probe.runs SET location = 'pg_wal', wal_sync_method = 'fsync',
    storage = '{"device_bytes_per_op": {"1": 1e300, "2": 1e300, "3": 1e300, "4": 1e300}}'
WHERE run_id = :bare;
UPDATE sync_probe.measurements SET p50_us = CASE ordinal WHEN 1 THEN 'NaN' WHEN 2 THEN 0.0::float8
                                                         WHEN 3 THEN 'Infinity' ELSE 12 END,
    relative_speed = CASE ordinal WHEN 1 THEN 'NaN' WHEN 2 THEN 1e9::float8 ELSE -1 END,
    flushes_per_op = 1e300, ops = 0
WHERE run_id = :bare;
UPDATE page SET html = sync_probe.report_html(ARRAY[:bare]::bigint[]);
SELECT collect_tap(
    is(pg_temp.faults(html), NULL, 'numbers that are none'),
    doesnt_match(html, 'NaN|Infinity', 'are not shown')) FROM page;

-- ---------------------------------------------------------------- other verdicts
CREATE FUNCTION pg_temp.page_of(run text, measured text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sync_probe.runs;
    PERFORM pg_temp.measure(pg_temp.record_run(pg_temp.given('storage: fua=false; ' || run)),
                            pg_temp.given(measured));
    RETURN sync_probe.report_html();
END
$$;
CREATE TEMP TABLE other_page AS
SELECT v.name, v.title, v.lead, pg_temp.page_of(run, measured) AS html
FROM (VALUES ('keep', 'Keep wal_sync_method = fdatasync',
     'With fdatasync, a flush takes at most 3&nbsp;% longer than with any method that',
     'max_regret=0.021', 'relative_speed=1, relative_speed_low=0.99, relative_speed_high=1.01'),
    ('keep', 'Keep wal_sync_method = fdatasync', 'a flush takes less than 1&nbsp;% longer than',
     'max_regret=0.004', ''),
    ('keep', 'Keep wal_sync_method = fdatasync', 'a flush takes no longer than', 'max_regret=0',
     ''),
    ('keep', 'Keep wal_sync_method = fdatasync', 'On pg_wal: nothing else was measured',
     'max_regret=null, reason=nothing else was measured', ''),
    ('undecided', 'Not settled: fdatasync stays for now',
     'With fdatasync, a flush takes at most 30&nbsp;% longer than',
     'verdict=undecided, max_regret=0.3',
     'relative_speed=1.02, relative_speed_low=0.8, relative_speed_high=1.3'),
    ('unsafe', 'Commits are not safe', 'On pg_wal: syncs with fdatasync',
     'verdict=unsafe, durable=no, recommended_value=null, '
     'reason=syncs with fdatasync do not reach the device',
     'flushes_per_op=0, durable=no')) AS v (name, title, lead, run, measured);
SELECT matches(html, pattern, name || ': ' || pattern)
FROM other_page, LATERAL (VALUES (format('<h1>%s</h1>', title)), ('<p class=lead>[^\n]*' || lead),
                              (format('id=verdict-1 .*<b class="tag \w+">%s</b>', name)))
                     AS p (pattern);
SELECT is(pg_temp.sections(html) ~ 'speed', name <> 'unsafe',
          name || ': speeds are compared only where syncs reach the device') FROM other_page;
SELECT pg_temp.page_of('max_regret=0', '') IS NOT NULL AS done \gset
UPDATE sync_probe.measurements SET direct_io = true WHERE method = 'fdatasync';
SELECT ok(pg_temp.part(sync_probe.report_html(), 'speed') ~ 'fdatasync', 'with direct I/O, too');

-- ----------------------------------------------------------------- without paths
UPDATE examined SET mount_point = '/srv/secret place',
    mount_options = 'rw,nobarrier,lowerdir=/secret/b';
DELETE FROM sync_probe.runs;
SELECT pg_temp.record_run('{"directory": "/srv/secret place/wal",
    "label": "moved to /srv/secret/wal",
    "storage": {"backing_file": "/mnt/secret image", "backing_filesystem": "ext4",
                "backing_mount_options": "rw,nobarrier", "mount_options": "rw,lowerdir=/secret/b",
                "zfs": {"dataset": "secretpool/wal", "pool": "secretpool",
                        "sync": "disabled"}}}') AS run \gset
SELECT pg_temp.measure(:run,
                       '{"detail": "could not open file \"/srv/secret place/x\": I/O error"}');
INSERT INTO examined SELECT (jsonb_populate_record(e, '{"name": "t", "holds_wal": false,
    "directory": "/secret", "missing": true}')).* FROM examined AS e;
UPDATE page SET html = sync_probe.report_html(paths => false),
    given = sync_probe.report_html(ARRAY[:run]::bigint[], false);
SELECT matches(sync_probe.report_html(), 'secret', 'with paths the page says where things are');
SELECT collect_tap(
    is(pg_temp.faults(html), NULL, 'without paths'),
    is(regexp_replace(html, '.*(.{40}secret.{20}).*', '\1'), html, 'without paths it does not'),
    doesnt_match(given, 'secret', 'nor does that of given runs'),
    matches(html, 'moved to \(path\)', 'a label stays, without its path'),
    doesnt_match(html, 'another server', 'runs are still those of this server'),
    matches(html, 'Worst finding', 'and the worst finding is one'))
FROM page;
SELECT doesnt_match(html, '\y' || s.host || '\y', 'nor does it name the host')
FROM page, sync_probe_internal.this_server() AS s WHERE length(s.host) > 3;
SELECT is(sync_probe_internal.without_paths(plain, '{/a b/c,host1}'), expected, plain)
FROM (VALUES ('in "/a b/c/x": no', 'in "(path)/x": no'), ('on host1.', 'on (path).'),
             ('host12', 'host12'), ('rw,addr=::1,soft', 'rw,addr=(hidden),soft'),
             ('5 kB/s and 1/2', '5 kB/s and 1/2'),
             ('/sys/block/sda, /etc/fstab', '/sys/block/sda, (path)'),
             ('a=/b/c:/d,(/e)', 'a=(path):(path),((path))')) AS v (plain, expected);
SELECT is(sync_probe_internal.data_without_paths(data, ARRAY['a"b\', 'sync', '1', '5']),
          expected, 'of data: ' || data::text)
FROM (VALUES ('{"storage": {"source": "a\"b\\", "s": 1.5, "sync": "sync",
                            "x": ["/a\"b\\c", true]}}'::jsonb,
              '{"storage": {"source": "(path)", "s": 1.5, "sync": "(path)",
                            "x": ["(path)\"b\\c", true]}}'::jsonb),
             ('{"location": "sync", "host": "5", "label": "5"}',
              '{"location": "sync", "host": "(host)", "label": "(path)"}'))
     AS v (data, expected);

-- Whatever an imported run may say of itself, in each column and each suite.
DELETE FROM sync_probe.runs;
CREATE TEMP TABLE forged AS
SELECT s.suite, n.named, pg_temp.record_run(jsonb_build_object(
           'suite', s.suite, 'label', evil, 'location', left(evil, 63), 'setting', left(evil, 63),
           'workload', left(evil, 63), 'verdict', 'switch', 'recommended_value', evil,
           'reason', evil, 'directory', evil, 'filesystem', evil, 'device', evil,
           'host', evil, 'imported_at', now(), 'storage', jsonb_build_object(
               'kernel', evil, 'mount_options', evil, 'source', evil, 'syncs_nothing', evil,
               'disks', jsonb_build_array(
                   jsonb_build_object('name', evil, 'write_cache', evil)))) || CASE
           WHEN n.named THEN jsonb_build_object('wal_sync_method', evil) ELSE '{}' END) AS id
FROM (VALUES (' x=y></title></svg></table></style>"''><script>1</script><img src=x onerror="1">'
              '&lt;%s$&\1 ')) AS t (evil),
     unnest('{wal,commit,trial,stream,segments,pg_test_fsync}'::text[]) AS s (suite),
     unnest('{true,false}'::boolean[]) AS n (named);
SELECT pg_temp.measure(h.id) FROM forged AS h WHERE NOT h.named;
SELECT pg_temp.measure(h.id, jsonb_build_object('method', r.label, 'value', r.label, 'detail',
                                                r.label, 'choice', 'current'))
FROM forged AS h JOIN sync_probe.runs AS r ON r.run_id = h.id WHERE h.named;
UPDATE sync_probe.measurements AS m SET test = r.label || m.test
FROM sync_probe.runs AS r WHERE r.run_id = m.run_id AND r.suite <> 'wal';
UPDATE page SET html = sync_probe.report_html(ARRAY(SELECT id FROM forged)),
    given = sync_probe.report_html(ARRAY(SELECT id FROM forged), false);
SELECT collect_tap(
    is(pg_temp.faults(html), NULL, 'hostile imports'),
    is(pg_temp.faults(given), NULL, 'hostile imports, without paths'),
    matches(html, '<section id=trials .* x=y&gt;&lt;/title&gt;', 'they are shown'))
FROM page;
SELECT bag_eq($$SELECT code, locations FROM sync_probe_internal.report_findings(
        jsonb_populate_record(NULL::sync_probe_internal.report_data, '{"findings": [
            {"severity": "info", "code": "x", "location": "a", "hint": "1", "evidence": {}},
            {"severity": "info", "code": "x", "location": "a", "hint": "2", "evidence": {}},
            {"severity": "info", "code": "x", "location": "b", "hint": "1", "evidence": {}}]}'))$$,
    $$VALUES ('x', '{a,b}'::text[]), ('x', '{a}')$$, 'findings with one hint are one');
SET LOCAL transaction_read_only = on;
SELECT is(pg_temp.faults(sync_probe.report_html()), NULL, 'a server with hostile imports');

\ir include/end.sql
