--
-- The findings without those that only follow from a mount without barriers: barrier_off names
-- their codes instead.  causes: the first locations of such file systems.
--
CREATE FUNCTION sync_probe_internal.name_effects(
    result sync_probe_internal.finding[],
    causes name[])
RETURNS sync_probe_internal.finding[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
RETURN ARRAY(
    -- A file system without barriers, and the locations on it.
    WITH cause AS MATERIALIZED (
        SELECT l.name AS location, c AS cause
        FROM sync_probe_internal.examine_locations(NULL) AS l,
             coalesce(l.shares_filesystem_with, l.name) AS c
        WHERE c = ANY (causes)
    ), named AS (
        -- effect_of: the cause that covers it.
        SELECT x.*, c.cause,
               CASE WHEN x.code IN ('flush_missing', 'write_cache_volatile', 'implausibly_fast')
                         OR x.code = 'outdated_run' AND x.evidence #>> '{changes,1}' IS NULL
                            AND starts_with(x.evidence #>> '{changes,0}', 'mount options ')
                         OR x.code = 'drift' AND (x.evidence ->> 'p50_us')::float8
                                                 < (x.evidence ->> 'earlier_median_us')::float8
                    THEN c.cause END AS effect_of
        FROM unnest(result) AS x
        LEFT JOIN cause AS c USING (location)
    )
    SELECT (t.location, t.severity, t.code, t.message, t.hint, t.commands,
            CASE WHEN t.code = 'barrier_off' AND t.location = t.cause
                 THEN t.evidence || (
                     SELECT jsonb_strip_nulls(jsonb_build_object(
                                'locations', (SELECT jsonb_agg(c.location ORDER BY c.location)
                                              FROM cause AS c WHERE c.cause = t.cause),
                                'also_found', jsonb_agg(DISTINCT o.code),
                                'run_id', min((o.evidence ->> 'run_id')::bigint) FILTER (WHERE
                                    o.location = t.cause)))
                     FROM named AS o WHERE o.effect_of = t.cause)
                 ELSE t.evidence END)::sync_probe_internal.finding
    FROM named AS t
    WHERE t.effect_of IS NULL);
END
$$;

--
-- The rows of the view, a paragraph for each code.  Those of storage and settings are in
-- findings_storage.sql, those of a run of the wal suite or of suite stream in findings_run.sql.  A
-- new code also has its place in doc/durability-and-findings.md and a scenario in
-- test/tap/findings.sql.
--
-- Most of the first call in a session is parsing and planning.  PL/pgSQL does it once, of a
-- statement when it is first reached.  So what few servers need has a branch or a function of its
-- own, and storage is examined once, by advice().  plan_cache_mode: else five calls plan anew.
--
-- One cause is one finding: what is true of a file system is reported at the first location on it,
-- and what follows from a mount without barriers is named in the evidence of barrier_off.
--
-- jit: a plan may look costly enough to compile, which takes seconds for a query of milliseconds.
--
CREATE FUNCTION sync_probe_internal.findings()
RETURNS SETOF sync_probe_internal.finding
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
ROWS 100
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
DECLARE
    busiest name := sync_probe_internal.busiest_tablespace();
    result sync_probe_internal.finding[];
    places sync_probe_internal.storage[]; runs sync_probe.runs[]; suites text[];
    settled jsonb := '{}'; restores text[];
    tested name[];		-- with a power test, which counters need not confirm
    causes name[];		-- first locations of file systems without barriers
    published name[];
    a record; s record; f sync_probe_internal.finding;
BEGIN
FOR a IN SELECT * FROM sync_probe_internal.advice(busiest) LOOP
    places := array_append(places, a.place);
    suites := suites || a.suites;
    IF (a.run).run_id IS NOT NULL THEN
        runs := array_append(runs, a.run);
        result := result || sync_probe_internal.run_findings(a.run, a.measured);
    END IF;

    IF a.verdict = 'outdated' THEN
        result := result || (a.location, 'warning', 'outdated_run',
        format('run %s is outdated: %s', a.run_id, array_to_string(a.changes, '; ')),
        -- a change of commit_delay is no part of it
        'Its recommendation may no longer hold. Probe again.',
        a.commands[cardinality(a.commands):],
        jsonb_build_object('run_id', a.run_id, 'finished_at', (a.run).finished_at,
                           'changes', a.changes))::sync_probe_internal.finding;
    END IF;

    -- Only with a recommendation to change wal_sync_method on the running server, see
    -- change_commands().
    IF 'CHECKPOINT' = ANY (a.commands) THEN
        result := result || (a.location, 'info', 'sync_method_change',
        format('while processes change from %s to %s, WAL counts as flushed that the disk may not'
               ' have', a.current_method, a.recommended_method),
        'If the power fails then, commits are lost or the cluster is damaged. It is over when a'
        ' checkpoint has completed that began after all processes had the new method: execute all'
        ' of these commands, or restart the server instead of a reload.', a.commands,
        jsonb_build_object('run_id', a.run_id, 'method', a.current_method,
                           'recommended_method', a.recommended_method)
        )::sync_probe_internal.finding;
    END IF;

    IF 'SELECT sync_probe.cleanup()' = ANY (a.commands) THEN
        restores := string_to_array(
            left(substr(current_setting('pg_sync_probe.trial_restores'), 2), -1), '","');
        result := result || (a.location, 'error', 'trial_not_restored',
        format('a trial has left %s = %s behind', restores[1],
               current_setting(restores[1], true)),
        'The server or the machine has failed during the trial, or a configuration file had an'
        ' error at its end, or this cluster is a copy that was made meanwhile. Restore the value'
        ' from before. If this stays, view pg_file_settings shows why the server rejects a reload.',
        a.commands,
        jsonb_build_object('setting', restores[1], 'value_before', nullif(restores[2], ''))
        )::sync_probe_internal.finding;
    END IF;

    IF 'power_test' = ANY (a.suites) THEN
        IF a.durable IN ('proven', 'refuted') THEN tested := tested || a.location; END IF;
        SELECT t.* INTO s FROM sync_probe_internal.power_tested(
            a.location, (a.place).directory, (a.place).device) AS t;
        IF s.durable = 'refuted' THEN
            result := result || (a.location, 'error', 'power_test_lost',
            format('a power cut has lost what was synced to %s with %s (run %s)',
                   coalesce(s.device, a.location), s.wal_sync_method, s.run_id),
            'Commits can be lost, and the cluster be damaged. Switch the volatile cache of the'
            ' device off, or replace what does not pass flushes on; then test again.', NULL,
            jsonb_build_object('run_id', s.run_id, 'started_at', s.started_at,
                               'device', s.device, 'reason', s.reason)
            )::sync_probe_internal.finding;
        END IF;
    END IF;

    IF (a.place).power_test_left THEN
        PERFORM FROM sync_probe.running AS r WHERE r.suite = 'power_test';
        IF NOT FOUND THEN result := result || (a.location, 'warning', 'power_test_left',
        format('%s has the file of a power test', a.location),
        format('Read it: SELECT * FROM sync_probe.power_test_result(last_number, %L), with the'
               ' last number that the client has shown. Then SELECT sync_probe.cleanup() removes'
               ' it.', a.location), NULL,
        jsonb_build_object('directory', (a.place).directory))::sync_probe_internal.finding;
        END IF;
    END IF;

    IF a.passed_over IS NOT NULL THEN
        result := result || (a.location, 'info', 'run_passed_over',
        format('run %s is the newest of %s, but no advice rests on it: %s',
               a.passed_over, a.location, a.passed_over_why),
        'Advice rests on runs of this server, at this directory and device, at the cluster''s own'
        ' pace.', NULL,
        jsonb_build_object('run_id', a.passed_over, 'finished_at', a.passed_over_at,
                           'why', a.passed_over_why))::sync_probe_internal.finding;
    -- Without a run that counts; another finding may already be the reason.
    ELSIF a.is_advised AND a.durable = 'unknown' AND (a.run).run_id IS NULL THEN
        result := result || (a.location, 'info', 'durable_unknown',
        format('no probe has seen whether syncs at %s reach the device', a.location),
        'Probe it.',
        ARRAY[sync_probe_internal.probe_command(a.location)],
        jsonb_build_object('verdict', a.verdict))::sync_probe_internal.finding;
    END IF;
END LOOP;

IF 'segments' = ANY (suites) THEN
    -- The verdicts of suite segments on wal_recycle and wal_init_zero, a row for each.
    FOR s IN SELECT * FROM sync_probe_internal.segment_advice(places) LOOP
        IF s.location = 'pg_wal' AND s.verdict <> 'undecided' THEN
            -- what was measured needs no rule
            settled := settled || jsonb_build_object(s.setting, false);
        END IF;
        result := result || (
        s.location, CASE WHEN s.verdict = 'switch' AND s.location = 'pg_wal' THEN 'warning'
                         ELSE 'info' END, 'cow_wal_settings',
        format(CASE s.verdict WHEN 'switch' THEN '%s = %s makes WAL segments cheaper (run %s)'
                              WHEN 'keep' THEN '%s = %s is right (run %s)'
                              ELSE 'it is undecided whether %s = %s is right (run %s)' END,
               s.setting, s.recommended_value, s.run_id),
        -- no dotted I of Turkish
        upper(left(s.reason, 1) COLLATE "C") || substr(s.reason, 2) || '.', s.commands,
        jsonb_build_object('run_id', s.run_id, 'setting', s.setting, 'verdict', s.verdict,
                           'current', s.current_value, 'recommended', s.recommended_value,
                           'ratio', s.ratio, 'ratio_low', s.ratio_low,
                           'ratio_high', s.ratio_high))::sync_probe_internal.finding;
    END LOOP;
END IF;

IF 'stream' = ANY (suites) THEN
    result := result || ARRAY(SELECT t FROM sync_probe_internal.stream_findings(places) AS t);
END IF;

FOREACH f IN ARRAY sync_probe_internal.storage_findings(places, runs, busiest, settled) LOOP
    result := result || f;
    IF f.code = 'barrier_off' THEN causes := causes || f.location; END IF;
END LOOP;

-- The server does not keep what fsync was before, but a run of that time does.
IF current_setting('fsync')::boolean
   AND EXISTS (SELECT FROM sync_probe.runs AS r
               WHERE NOT r.fsync AND r.finished_at > pg_postmaster_start_time())
THEN result := result || ARRAY(SELECT ('pg_wal', 'warning', 'fsync_was_off',
    format('fsync was off during run %s, after this server was started: what was written meanwhile'
           ' may not be on disk', (r.run).run_id),
    'If the operating system crashes, the cluster may be destroyed. Run sync on the machine, or'
    ' stop the server and run initdb --sync-only, or unmount the file systems. This finding stays'
    ' until the server is restarted.', NULL,
    jsonb_build_object('run_id', (r.run).run_id, 'finished_at', (r.run).finished_at,
                       'server_started_at', pg_postmaster_start_time())
    )::sync_probe_internal.finding
    FROM sync_probe_internal.own_runs AS r
    WHERE NOT (r.run).fsync AND (r.run).finished_at > pg_postmaster_start_time()
    ORDER BY (r.run).run_id DESC
    LIMIT 1);
END IF;

-- CREATE EXTENSION refuses where there is such a publication; it may have come later.
published := ARRAY(SELECT p.pubname FROM pg_publication AS p WHERE p.puballtables
                   ORDER BY p.pubname);
IF published[1] IS NOT NULL THEN
    result := result || ('pg_wal', 'warning', 'history_published',
    format('publication %s is FOR ALL TABLES, which includes the tables of this extension',
           (SELECT string_agg(quote_ident(p), ', ' ORDER BY p) FROM unnest(published) AS p)),
    'Subscribers that lack these tables stop at the first row that is recorded. Keep the'
    ' extension in another database, which measures the same.', NULL,
    jsonb_build_object('publications', published))::sync_probe_internal.finding;
END IF;

IF causes IS NOT NULL THEN result := sync_probe_internal.name_effects(result, causes); END IF;

RETURN QUERY
SELECT t.*
FROM unnest(result) AS t
WHERE t.code <> 'durable_unknown'
   OR (t.location = ANY (tested)) IS NOT TRUE
      AND (t.evidence ? 'run_id'
           OR NOT EXISTS (SELECT FROM unnest(result) AS o
                          WHERE o.location = t.location
                            AND o.code IN ('barrier_off', 'device_unknown', 'memory_filesystem',
                                           'network_filesystem', 'read_only_filesystem',
                                           'tablespace_missing', 'write_cache_volatile')))
-- pg_wal first, info last.  Sorted by name and text alone: a third type takes 1 % of a first call.
ORDER BY nullif(t.location, 'pg_wal') NULLS FIRST, nullif(t.severity, 'info') NULLS LAST, t.code,
         t.message;
END
$$;

--
-- findings
--
-- The facts about each location that one must know before believing a number.
--
CREATE VIEW sync_probe.findings AS
SELECT f.location, f.severity, f.code, f.message, f.hint, f.commands, f.evidence
FROM sync_probe_internal.findings() AS f;

GRANT SELECT ON sync_probe.findings TO pg_monitor;

COMMENT ON VIEW sync_probe.findings IS
  'Facts that decide how far figures can be trusted, in each location the most severe first';
COMMENT ON COLUMN sync_probe.findings.location IS
  'Location, the first of several on one file system';
COMMENT ON COLUMN sync_probe.findings.severity IS
  'error: data are at risk; warning: act on it; info: good to know';
COMMENT ON COLUMN sync_probe.findings.code IS 'Name, the same in all versions';
COMMENT ON COLUMN sync_probe.findings.message IS 'What was found';
COMMENT ON COLUMN sync_probe.findings.hint IS 'What to do';
COMMENT ON COLUMN sync_probe.findings.commands IS
  'SQL that helps, one statement per element; null if none';
COMMENT ON COLUMN sync_probe.findings.evidence IS
  'Figures and settings behind it; run_id if a run showed it';
