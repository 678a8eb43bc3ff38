-- The views of a fleet, its section of the report, the waves of probe_fleet(), and what is wrong
-- with an answer, on invented nodes.  Real ones: test/t/034_fleet.pl.
\ir include/begin.sql
\ir include/stage.sql
SET LOCAL TimeZone = 'UTC';

-- An imported run of a node with that host, with an NVMe disk, unless differences say otherwise.
-- The interval of its median is from us - 1 to us + 1.
CREATE FUNCTION pg_temp.node(host text, us float8, differences text DEFAULT '') RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    given jsonb := pg_temp.given(differences);
    id bigint := pg_temp.record_run(jsonb_build_object('host', host, 'imported_at', now(),
        'storage', '{"disks": [{"name": "nvme0n1", "virtual": false}]}'::jsonb) || given, false);
    method text := coalesce(given ->> 'wal_sync_method', 'fdatasync');
BEGIN
    INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, choice, direct_io, status,
                                         p50_us, mean_us, ops_per_sec, ops)
    VALUES (id, 1, 'saturated', method, 'current', false, 'ok', us / 2, us / 2, 2e6 / us, 500),
           (id, 2, 'paced', method, 'current', false, 'ok', us, us, NULL, 30),
           (id, 3, 'paced', 'open_sync', NULL, false, 'ok', 1, 1, NULL, 30),
           (id, 4, 'saturated', method, NULL, true, 'ok', 1, 1, 1, 500);
    INSERT INTO sync_probe_internal.samples (run_id, ordinal, round_mean_us)
    SELECT id, 2, ARRAY(SELECT us + i % 3 - 1 FROM generate_series(1, 30) AS i);
    RETURN id;
END
$$;

CREATE FUNCTION pg_temp.section(page text) RETURNS text LANGUAGE sql AS $$
    SELECT substring(page FROM '<section id=fleet .*?</section>')
$$;

-- --------------------------------------------------------------- one, two

SELECT pg_temp.node('db1', 100);
SELECT results_eq('SELECT odd, host, kind, p50_us, ratio, reason FROM sync_probe.fleet_compare',
    $$VALUES (false, 'db1', 'nvme', 100::float8, NULL::float8,
              'fewer than three nodes to compare have this kind of device')$$, 'one node');
SELECT is(pg_temp.section(sync_probe.report_html()), NULL, 'which is no section of a report');

SELECT pg_temp.node('db2', 900, 'finished_at=2026-05-01') AS older,
       pg_temp.node('db2', 500, 'finished_at=2026-05-03') AS newer,
       pg_temp.node('db2', 700, 'finished_at=2026-05-02') AS collected_late,
       pg_temp.node('db2', 900, 'location=t'),
       pg_temp.node('db2', 900, 'suite=stream') \gset
SELECT results_eq($$SELECT odd, ratio, run_id FROM sync_probe.fleet_compare WHERE host = 'db2'$$,
    format('VALUES (false, NULL::float8, %s::bigint)', :newer),
    'two nodes: nobody knows which is odd; the newest run of each');
SELECT collect_tap(
    matches(s, '<h3>Not compared: 0 of 2 nodes odd</h3>.*<desc[^>]*>db1 100; db2 500<',
            'both are in a report'),
    is(pg_temp.section(sync_probe.report_html(ARRAY[:newer, :older]::bigint[])), NULL,
       'but not if one was chosen'))
FROM (SELECT pg_temp.section(sync_probe.report_html())) AS p (s);

-- but for one of few flushes
SELECT pg_temp.node('db1', 7) AS short \gset
UPDATE sync_probe.measurements SET ops = 6 WHERE run_id = :short;
SELECT results_eq('SELECT location, finished_at::date, method, p50_us, ratio
                   FROM sync_probe.fleet_history',
    $$VALUES ('pg_wal'::name, current_date, 'fdatasync', 100::float8, NULL::float8),
             ('pg_wal', '2026-05-01', 'fdatasync', 900, NULL),
             ('pg_wal', '2026-05-02', 'fdatasync', 700, 0.778),
             ('pg_wal', '2026-05-03', 'fdatasync', 500, 0.714),
             ('t', current_date, 'fdatasync', 900, NULL)$$,
    'history: by node and location, in time, each with the run before');

-- ---------------------------------------------------------------- eight

DELETE FROM sync_probe.runs;
SELECT pg_temp.node(host, us) FROM (VALUES ('db1', 100), ('db2', 101), ('db3', 99), ('db4', 106),
                                           ('db5', 108), ('db6', 90)) AS v (host, us);
SELECT pg_temp.node('lying', 30, 'durable=no');
SELECT pg_temp.node('slow', 410, 'filesystem=xfs, directory=/x, wal_sync_method=fsync')
    AS slow \gset
-- other kinds, and another cluster on the machine of one of them; one that was restored is no node
SELECT pg_temp.node('restored', 100, 'imported_at=null, system_identifier=8'),
       pg_temp.node('turning', 9000, 'storage: disks=[{"name": "sda", "rotational": true}]'),
       pg_temp.node('turning', 1,
                    'system_identifier=7, durable=no, filesystem=tmpfs; storage: disks=[]');
SELECT results_eq('SELECT odd, host, ratio, ratio_low, ratio_high FROM sync_probe.fleet_compare',
    $$VALUES (true, 'lying', 0.297::float8, 0.284::float8, 0.31::float8),
             (true, 'turning', NULL, NULL, NULL), (true, 'slow', 4.059, 4.01, 4.11),
             (true, 'db6', 0.891, 0.873, 0.91),
             -- its interval reaches into the margin
             (false, 'db5', 1.069, 1.049, 1.09), (false, 'db4', 1.05, 1.029, 1.07),
             (false, 'db3', 0.98, 0.961, 1), (false, 'db1', 0.99, 0.971, 1.01),
             (false, 'db2', 1, NULL, NULL), (false, 'turning', NULL, NULL, NULL)$$,
    'which is odd: those that lie, then those that differ most from the median that does not lie');
SELECT matches(n.reason, v.says, n.host || ' has a reason')
FROM sync_probe.fleet_compare AS n
JOIN (VALUES ('lying', '^syncs with fdatasync do not reach the device; a flush takes 0.30 times'),
             ('slow', '^a flush takes 4.06 times as long as on db2, run \d+; file system: ext4 -> '
                      'xfs; wal_sync_method: fdatasync -> fsync$'), ('db2', '^the median$'))
     AS v (host, says) USING (host);
UPDATE sync_probe.runs SET fsync = false WHERE host = 'lying';
SELECT matches(reason, '^fsync was off; a flush', 'a setting lies') FROM sync_probe.fleet_compare
WHERE host = 'lying';
SELECT results_eq(
    $$SELECT m[1], regexp_replace(m[2], 'run \d+', 'run', 'g')
      FROM regexp_matches(pg_temp.section(sync_probe.report_html()),
                          '<h3>(.*?)</h3>.*?<desc.*?>(.*?)</desc>', 'g') AS m$$,
    $$VALUES ('Not compared: 2 of 3 nodes odd', 'lying 30; run turning 1.00; run turning 9,000'),
             ('nvme: 2 of 7 nodes odd', 'slow 0.25 (0.24 to 0.25); '
              'db6 1.12 (1.10 to 1.15); db5 0.94 (0.92 to 0.95); db4 0.95 (0.93 to 0.97); '
              'db3 1.02 (1.00 to 1.04); db1 1.01 (0.99 to 1.03); db2 1.00')$$,
    'in a report what does not reach the device is not compared');
SELECT pg_temp.node('slow', 1, 'finished_at=now') AS unmeasured,
       pg_temp.node('slow', 2, 'finished_at=infinity') AS of_the_future \gset
DELETE FROM sync_probe.measurements WHERE run_id = :unmeasured;
SELECT results_eq($$SELECT odd, ratio, reason FROM sync_probe.fleet_compare WHERE host = 'slow'$$,
    $$VALUES (false, NULL::float8, 'its newest run did not measure fdatasync')$$,
    'a node of which nothing is known');
SELECT is((sync_probe_internal.compared_nodes(ARRAY[:slow]::bigint[])).reason,
          'fewer than three nodes to compare have this kind of device', 'of chosen runs only');

-- ------------------------------------------------------ what a document may have

SELECT is(sync_probe_internal.device_kind(jsonb_populate_record(NULL::sync_probe.runs,
              jsonb_build_object('storage', storage, 'filesystem', 'zfs'))), kind,
          coalesce(storage::text, 'null'))
FROM (VALUES ('{"disks": [{"name": "nvme0n1"}, {"name": "sda", "rotational": true}]}'::jsonb,
              'rotating disk'),
             ('{"disks": [{"name": "sda", "rotational": true, "virtual": true}]}', 'virtual disk'),
             ('{"disks": [{"name": "nvme1n1"},
                          {"name": "sda", "rotational": true, "below": true}]}', 'nvme'),
             ('{"disks": [{"name": "sda", "rotational": false}]}', 'ssd'),
             ('{"disks": 7}', 'ssd'), ('{"disks": []}', 'zfs'), ('{}', 'zfs'), (NULL, 'zfs'),
             ('{"disks": [{"name": [], "virtual": "perhaps"}]}', 'ssd')) AS v (storage, kind);

DELETE FROM sync_probe.runs;
SELECT pg_temp.node('<i>"x''' || i, 100 ^ i) FROM generate_series(1, 3) AS i;
SELECT collect_tap(
    matches(page, '&lt;i&gt;&quot;x&#39;3', 'a host may have any name'),
    doesnt_match(page, '<i>|"x''', 'which stays text'),
    matches(bare, 'times as long as on \(path\), run', 'the median is not named'),
    doesnt_match(bare, '&lt;i', 'nor is any node without paths'))
FROM pg_temp.section(sync_probe.report_html(ARRAY(SELECT run_id FROM sync_probe.runs))) AS page,
     pg_temp.section(sync_probe.report_html(paths => false)) AS bare;

-- ------------------------------------------------- what the nodes answer now

CREATE TEMP TABLE asked (about text, server name, result jsonb, error text);
CREATE TEMP TABLE calls (n serial, statement text, servers name[], time_limit interval);
CREATE OR REPLACE FUNCTION sync_probe.fleet_run(
    statement text, servers name[] DEFAULT NULL, parallel integer DEFAULT 8,
    time_limit interval DEFAULT '1 min')
RETURNS TABLE (server name, result jsonb, error text, duration_ms double precision)
LANGUAGE sql AS $$
    INSERT INTO calls (statement, servers, time_limit) VALUES (statement, servers, time_limit);
    SELECT a.server, a.result, a.error, 1.5 FROM asked AS a
    WHERE strpos(statement, a.about) > 0 AND (a.server = ANY (servers)) IS NOT FALSE
$$;
INSERT INTO asked VALUES
('.recommendation_details', 'a', '[{"location": "t", "verdict": "keep", "max_regret": 0.01},
    {"location": "pg_wal", "verdict": "undecided", "recommended_method": "fdatasync",
     "reason": "it is so"}]', NULL),
('.recommendation_details', 'b', '[]', NULL),
('.recommendation_details', 'c', NULL, 'could not connect'),
('.recommendation_details', 'd', '[{"location": "b", "verdict": "unsafe"},
    {"location": "pg_wal", "verdict": "unsafe", "new": {}},
    {"location": "t", "verdict": "switch"}, {"location": "u", "verdict": "outdated"},
    {"location": "v", "verdict": "not probed"}, {"location": "w", "verdict": "unheard of"}]',
 NULL),
('.recommendation_details', 'e', '[{"location": "t", "max_regret": "much"}]', NULL),
('.findings', 'a', '[{"location": "pg_wal", "severity": "info", "code": "x", "message": "y"},
    {"location": "t", "severity": "error", "code": "low_space"}]', NULL),
('.findings', 'b', '[]', NULL), ('.findings', 'c', NULL, 'could not connect'),
('.findings', 'd', '[{"location": "b", "severity": "warning"},
    {"location": "pg_wal", "severity": "warning"}]', NULL);
SELECT results_eq('SELECT * FROM sync_probe.fleet_recommendations',
    $$VALUES ('c'::name, NULL::name, 'no answer', NULL::text, 'could not connect'),
             ('e', NULL, 'no answer', NULL,
              'invalid input syntax for type double precision: "much"'),
             ('d', 'pg_wal', 'unsafe', NULL, NULL), ('d', 'b', 'unsafe', NULL, NULL),
             ('d', 'u', 'outdated', NULL, NULL), ('d', 't', 'switch', NULL, NULL),
             ('a', 'pg_wal', 'undecided', 'fdatasync', 'it is so'),
             ('d', 'v', 'not probed', NULL, NULL), ('a', 't', 'keep', NULL, NULL),
             ('d', 'w', 'unheard of', NULL, NULL)$$,
    'recommendations of nodes, whatever columns they have, the worst first');
SELECT results_eq('SELECT * FROM sync_probe.fleet_findings',
    $$VALUES ('c'::name, NULL::name, 'error', 'no_answer', 'could not connect'),
             ('a', 't', 'error', 'low_space', NULL),
             ('d', 'pg_wal', 'warning', NULL, NULL), ('d', 'b', 'warning', NULL, NULL),
             ('a', 'pg_wal', 'info', 'x', 'y')$$, 'findings of nodes');

-- ------------------------------------------------------------------ probes

DELETE FROM calls;
INSERT INTO asked VALUES
('this_server', 'a1', '[{"host": "a", "device": "sda", "filesystems": 1}]', NULL),
('this_server', 'a2', '[{"host": "a", "device": "sda", "filesystems": "many"}]', NULL),
('this_server', 'a3', '[{"host": "a", "device": "sdb", "filesystems": 3}]', NULL),
('this_server', 'b1', '[{"host": "b"}]', NULL),
('this_server', 'b2', '[{"host": "b", "device": "sdc"}]', NULL),
('this_server', 'c', NULL, 'could not connect'),
('probe_all', 'a1', '[{"location": "pg_wal", "verdict": "keep"}, {"location": "t"}]', NULL),
('probe_all', 'a2', NULL, 'too late'), ('probe_all', 'a3', '[]', NULL),
('probe_all', 'b2', '[{"flush_us": "much"}]', NULL);
SELECT bag_eq($$SELECT server, location, verdict, error
                FROM sync_probe.probe_fleet('10 s', 0.5, label => 'it''s')$$,
    $$VALUES ('a1'::name, 'pg_wal'::name, 'keep', NULL), ('a1', 't', NULL, NULL),
             ('a2', NULL, NULL, 'too late'),
             ('a3', NULL, NULL, 'it has probed nothing: its log has the warnings'),
             ('b2', NULL, NULL, 'invalid input syntax for type double precision: "much"'),
             ('c', NULL, NULL, 'could not connect')$$, 'probes: each node that answers has a row');
SELECT results_eq('SELECT statement, servers, time_limit FROM calls ORDER BY n OFFSET 1',
    $$SELECT 'SELECT * FROM sync_probe.probe_all(''00:00:10'', ''0.5'', ''it''''s'')', v.*
      FROM (VALUES ('{a1,a3,b1}'::name[], '150 s'::interval), ('{a2,b2}', '50 s')) AS v$$,
    'one at a time of those that share a disk, or a host with a disk that is unknown');

-- -------------------------------------------------------------- collecting

INSERT INTO asked SELECT 'export_json', v.* FROM (VALUES
    ('a'::name, jsonb_build_array(jsonb_build_object('origin', '1 x', 'missing', 'many'))),
    ('b', jsonb_build_array(jsonb_build_object('key', 'x', 'finished_at', now(), 'missing', 5,
              'document', '{"format": "pg_sync_probe runs", "version": 2}'))),
    ('c', '{"missing": 1}'), ('d', '[]')) AS v;
SELECT results_eq('SELECT * FROM sync_probe.collect_fleet()',
    $$VALUES ('a'::name, 0, NULL::integer, 'invalid input syntax for type integer: "many"'),
             ('b', 0, NULL, 'cannot import the document: its version is 2, supported is 1'),
             ('c', 0, NULL, 'cannot get array length of a non-array'), ('d', 0, 0, NULL)$$,
    'what is no document is an error of its node');

\ir include/end.sql
