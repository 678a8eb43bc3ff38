--
-- Runs that were imported tell nothing of this server, even if they say that it made them:
-- they become no advice and no baseline, in any suite.
--
\ir include/begin.sql
\ir include/stage.sql
SET LOCAL pg_sync_probe.margin = 0.05;

-- A run in which fsync is 1.5 times as fast as the current fdatasync, which takes p50_us.
CREATE FUNCTION pg_temp.faster(differences jsonb, p50_us float8 DEFAULT 500) RETURNS bigint
LANGUAGE sql AS $$
    WITH run AS (SELECT pg_temp.record_run('{"setting": "wal_sync_method", "verdict": "switch",
                            "recommended_value": "fsync", "reason": "seen"}' || differences) AS id),
    rows AS (
        INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, direct_io,
            choice, verdict, status, p50_us, mean_us, relative_speed, relative_speed_low,
            relative_speed_high, ops)
        SELECT run.id, row_number() OVER (), t, m, false,
               CASE m WHEN 'fdatasync' THEN 'current' ELSE 'recommended' END,
               CASE WHEN m = 'fdatasync' AND t = 'wal_sync_method' THEN 'switch' END, 'ok',
               faster.p50_us, faster.p50_us,
               s.speed, s.speed - 0.01, s.speed + 0.01, 1000
        FROM run,
             string_to_table(CASE differences ->> 'suite' WHEN 'wal' THEN 'paced,saturated'
                                                          ELSE 'wal_sync_method' END, ',') AS t,
             unnest('{fdatasync,fsync}'::text[]) AS m,
             LATERAL (SELECT CASE m WHEN 'fsync' THEN 1.5 ELSE 1.0 END) AS s (speed))
    SELECT id FROM run
$$;

CREATE TEMP TABLE suite (suite text, run jsonb);
INSERT INTO suite VALUES
('wal', '{"suite": "wal"}'),
('commit', '{"suite": "commit"}'),
('trial', '{"suite": "trial"}');

CREATE FUNCTION pg_temp.advice(run jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sync_probe.runs;
    PERFORM pg_temp.faster(run);
    RETURN (SELECT concat_ws(' ', d.verdict, d.recommended_method, d.basis, d.reason)
            FROM sync_probe.recommendation_details AS d WHERE d.location = 'pg_wal');
END
$$;

SELECT plan(3 * 3 + 8);

SELECT is(current_setting('wal_sync_method'), 'fdatasync', 'the tests are about such a server');

SELECT matches(pg_temp.advice(run), '^switch fsync ' || suite, suite || ': a run of this server')
FROM suite;
SELECT is(pg_temp.advice(run || '{"imported_at": "2026-05-03"}'), 'not probed never probed',
          suite || ': the same run, imported')
FROM suite;
-- of the last of them
SELECT is_empty($$SELECT * FROM sync_probe.findings WHERE code = 'run_passed_over'$$,
                'an imported run is not passed over: nobody expects advice from it');

-- A newer import does not hide an older run of this server.
CREATE FUNCTION pg_temp.hidden(run jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    own bigint;
BEGIN
    DELETE FROM sync_probe.runs;
    own := pg_temp.faster(run);
    PERFORM pg_temp.faster(run || '{"imported_at": "2026-05-03", "recommended_value": "x"}');
    RETURN (SELECT d.run_id IS DISTINCT FROM own
            FROM sync_probe.recommendation_details AS d WHERE d.location = 'pg_wal');
END
$$;
SELECT is(pg_temp.hidden(run), false, suite || ': an import hides no older run') FROM suite;
SELECT is(pg_temp.hidden('{"suite": "wal"}'), false, 'a run and a newer import');
SELECT is_empty($$SELECT * FROM sync_probe.findings WHERE code = 'run_passed_over'$$,
                'the newer import is not passed over');

-- drift
SELECT pg_temp.faster('{"suite": "wal"}', 1000) AS newest \gset
SELECT isnt_empty($$SELECT * FROM sync_probe.findings WHERE code = 'drift'$$,
                  'twice as long as in an earlier run of this server');
UPDATE sync_probe.runs SET imported_at = now(), usable_for_advice = false WHERE run_id <> :newest;
SELECT is_empty($$SELECT * FROM sync_probe.findings WHERE code = 'drift'$$,
                'twice as long as in an earlier run that was imported');

-- commit_delay
DELETE FROM sync_probe.runs;
SELECT pg_temp.faster('{"suite": "wal"}') AS id \gset
SELECT pg_temp.faster('{"suite": "commit"}') AS id \gset
INSERT INTO sync_probe.measurements (run_id, ordinal, test, method, choice, verdict, status)
VALUES (:id, 9, 'commit_delay', '0', 'current', 'keep', 'ok');
SELECT is(recommended_commit_delay, 0, 'commit_delay by the commit suite')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';
UPDATE sync_probe.runs SET imported_at = now(), usable_for_advice = false WHERE suite = 'commit';
SELECT is(recommended_commit_delay, NULL, 'and not by an imported run of it')
FROM sync_probe.recommendation_details WHERE location = 'pg_wal';

SELECT * FROM finish();
ROLLBACK;
