--
-- The recommendation at each location, with the figures behind it; and beside it the location
-- and its runs, which findings() rests on, too.  A location without a run has advice if it holds
-- the WAL, or if no location on its file system has a run.  With an argument there are also rows
-- without advice: of that location, and of those that findings() may have something for.
--
-- run: the newest run of the wal suite that is usable for advice and was made by this server, at
-- the directory and on the device that the location has now; measured: its rows, null without
-- advice.  run_id and basis are of the run that decides, which may be a trial.  passed_over: a
-- newer run of the wal suite that was not imported, and why it does not count.  suites: those with
-- runs that were not imported.
--
-- A trial or a run of the commit suite decides, unless what a probe recommends was not
-- among the methods that it compared.
--
-- A function, so that it can set jit: with many tablespaces the plan looks costly enough to
-- compile, which takes seconds for a query of milliseconds.
--
CREATE FUNCTION sync_probe_internal.advice(also name)
RETURNS TABLE (
    location name, place sync_probe_internal.storage, run sync_probe.runs,
    measured sync_probe.measurements[],
    passed_over bigint, passed_over_at timestamptz, passed_over_why text,
    suites text[], is_advised boolean,
    verdict text, current_method text, recommended_method text, best_method text,
    max_regret double precision, flush_us double precision, durable text,
    basis text, run_id bigint, reason text, commands text[], changes text[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
ROWS 100
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
DECLARE
    known record; v record; followed boolean; live boolean;
BEGIN
FOR known IN
    WITH RECURSIVE last AS (
        -- The newest run of each suite at each location that has any: one step down the index for
        -- each.  Of 1,000 locations few may have runs, and few of all suites.
        (SELECT r.suite, r.location, r.run_id
         FROM sync_probe.runs AS r
         WHERE r.imported_at IS NULL
         ORDER BY r.suite, r.location, r.run_id + 0 DESC
         LIMIT 1)
        UNION ALL
        SELECT n.*
        FROM last AS l,
             LATERAL (SELECT r.suite, r.location, r.run_id
                      FROM sync_probe.runs AS r
                      WHERE r.imported_at IS NULL AND (r.suite, r.location) > (l.suite, l.location)
                      ORDER BY r.suite, r.location, r.run_id + 0 DESC
                      LIMIT 1) AS n
    ), newest AS (
        SELECT l.name AS location, l AS place, r.run, w.suites, w.run_id AS newest_run_id,
               (r.run).run_id IS NOT NULL OR l.holds_wal
               OR l.shares_filesystem_with IS NULL
                  AND NOT bool_or((r.run).run_id IS NOT NULL) OVER
                          (PARTITION BY coalesce(l.shares_filesystem_with, l.name)) AS is_advised
        -- of 1,000 locations most are on the same file system, and have no run
        FROM sync_probe_internal.examine_locations(NULL, array_append(
                 ARRAY(SELECT w.location FROM last AS w WHERE w.location IS NOT NULL),
                 coalesce(also, 'pg_wal'))) AS l
        LEFT JOIN (SELECT w.location, array_agg(w.suite) AS suites,
                          max(w.run_id) FILTER (WHERE w.suite = 'wal') AS run_id
                   FROM last AS w
                   GROUP BY w.location) AS w ON w.location = l.name
        LEFT JOIN LATERAL (
            SELECT r.run
            FROM sync_probe_internal.own_runs AS r
            WHERE w.run_id IS NOT NULL
              AND (r.run).suite = 'wal' AND (r.run).location = l.name AND (r.run).usable_for_advice
              AND ARRAY[(r.run).directory, (r.run).device] = ARRAY[l.directory, l.device]
            ORDER BY (r.run).run_id + 0 DESC
            LIMIT 1) AS r ON true
    )
    SELECT w.* FROM newest AS w
    WHERE w.is_advised OR also IS NOT NULL
    -- first those without advice, since its columns are null before the first one, then pg_wal
    ORDER BY CASE WHEN w.is_advised THEN coalesce(nullif(w.location, 'pg_wal'), '') END NULLS FIRST
LOOP
    location := known.location; place := known.place; run := known.run;
    suites := known.suites; is_advised := known.is_advised;
    passed_over := nullif(known.newest_run_id, run.run_id);
    IF passed_over IS NOT NULL THEN
        SELECT n.finished_at,
               concat_ws(', ',
                   CASE WHEN n.system_identifier IS DISTINCT FROM s.system_identifier
                        THEN 'another cluster made it'
                        WHEN n.host IS DISTINCT FROM s.host
                        THEN format('host %s made it', coalesce(n.host, 'unknown')) END,
                   CASE WHEN n.directory IS DISTINCT FROM place.directory
                        THEN format('its directory was %s', coalesce(n.directory, 'unknown')) END,
                   CASE WHEN n.device IS DISTINCT FROM place.device
                        THEN format('its device was %s', coalesce(n.device, 'unknown')) END,
                   CASE WHEN NOT n.usable_for_advice
                        THEN 'it has fewer than 16 samples, or was given flush_size or'
                             ' flush_interval' END)
        INTO passed_over_at, passed_over_why
        FROM sync_probe.runs AS n, sync_probe_internal.this_server() AS s
        WHERE n.run_id = passed_over;
    ELSE
        passed_over_at := NULL; passed_over_why := NULL;
    END IF;
    IF is_advised THEN
        followed := coalesce(run.verdict IN ('switch', 'unsafe')
                             AND run.recommended_value <> run.wal_sync_method
                             AND run.recommended_value = current_setting('wal_sync_method'), false);
        measured := ARRAY(SELECT m FROM sync_probe.measurements AS m WHERE m.run_id = run.run_id);
        changes := sync_probe_internal.changes_since(run, measured, place, followed);
        SELECT r.*
        INTO verdict, current_method, recommended_method, best_method, max_regret, flush_us,
             durable, basis, run_id, reason
        FROM sync_probe_internal.run_advice(location, run, measured, changes, followed,
            CASE WHEN 'power_test' = ANY (suites)
                 THEN sync_probe_internal.power_tested(location, place.directory, place.device)
                 END) AS r;
        IF run_id IS NULL AND verdict <> 'unsafe' THEN
            reason := CASE WHEN pg_is_in_recovery()
                           THEN 'a standby records no probe, but probe() returns its rows'
                           WHEN passed_over IS NULL THEN 'never probed'
                           ELSE format('run %s does not count: %s', passed_over, passed_over_why)
                           END || coalesce('; ' || reason, '');
        END IF;
        -- Where nothing can be written, there is nothing to do but a probe: wal_sync_method
        -- acts on pg_wal alone, and a server whose pg_wal is read-only does not run.
        commands := CASE
            WHEN 'ro' = ANY (string_to_array(place.mount_options, ',')) THEN NULL
            WHEN place.holds_wal AND NOT current_setting('fsync')::boolean
            THEN ARRAY['ALTER SYSTEM SET fsync = on', 'SELECT pg_catalog.pg_reload_conf()']
            WHEN verdict = 'outdated' OR basis IS NULL
            THEN CASE WHEN NOT pg_is_in_recovery()
                      THEN ARRAY[sync_probe_internal.probe_command(location)] END
            -- wal_sync_method is one setting of the whole cluster, and acts on pg_wal alone.
            WHEN verdict IN ('switch', 'unsafe') AND place.holds_wal
                 AND recommended_method <> current_method
            THEN sync_probe_internal.change_commands(current_method, recommended_method)
            WHEN verdict = 'undecided' AND run.longer_duration IS NOT NULL
            THEN ARRAY[sync_probe_internal.longer_command(run)] END;
        IF place.holds_wal AND suites && '{trial,commit}' THEN
            SELECT l.* INTO v FROM sync_probe_internal.live_advice(place) AS l;
            live := coalesce(v.run_id IS NOT NULL AND verdict <> 'unsafe'
                             AND (verdict IN ('not probed', 'undecided', 'outdated')
                                  OR recommended_method = ANY (v.compared)), false);
            -- what loads the server is repeated only if nothing else may decide
            commands := nullif(coalesce(v.delay_commands, '{}') || coalesce(
                CASE WHEN live THEN v.commands
                     WHEN verdict = 'undecided' AND commands IS NULL
                          AND v.newest_command IS NOT NULL THEN ARRAY[v.newest_command]
                     ELSE commands END, '{}'), '{}');
            IF live THEN
                verdict := v.verdict; max_regret := v.max_regret; reason := v.reason;
                recommended_method := v.recommended_method; best_method := v.recommended_method;
                flush_us := NULL; basis := v.basis; run_id := v.run_id;
            END IF;
            IF v.newest_run_id IS DISTINCT FROM (CASE WHEN live THEN v.run_id END) THEN
                reason := reason || format('. Run %s, on real commits: %s, %s', v.newest_run_id,
                                           v.newest_verdict, v.newest_reason);
            END IF;
            reason := nullif(concat_ws('. ', reason, v.delay_reason), '');
        END IF;
    END IF;
    -- A trial that did not end has left its value: other commands would measure or judge that one.
    IF place.holds_wal
       AND current_setting('pg_sync_probe.trial_restores', true) LIKE '"%","%","%' THEN
        PERFORM FROM sync_probe.running AS r WHERE r.suite = 'trial';
        commands := CASE WHEN FOUND THEN commands ELSE '{SELECT sync_probe.cleanup()}' END;
    END IF;
    RETURN NEXT;
END LOOP;
END
$$;

--
-- recommendation_details
--
CREATE VIEW sync_probe.recommendation_details AS
SELECT a.location, a.verdict, a.current_method, a.recommended_method, a.best_method, a.max_regret,
       a.flush_us, a.durable, a.basis, a.run_id, a.reason, a.commands
FROM sync_probe_internal.advice(also => NULL) AS a;

GRANT SELECT ON sync_probe.recommendation_details TO pg_monitor;

COMMENT ON VIEW sync_probe.recommendation_details IS
  'Recommended wal_sync_method for each location. Without a usable run, pg_wal has a row, others '
  'if no location on their file system has one';
COMMENT ON COLUMN sync_probe.recommendation_details.location IS
  'pg_wal or a tablespace; the setting acts on pg_wal alone';
COMMENT ON COLUMN sync_probe.recommendation_details.verdict IS
  'switch, keep, undecided, unsafe, outdated or not probed';
COMMENT ON COLUMN sync_probe.recommendation_details.current_method IS 'Setting of the server';
COMMENT ON COLUMN sync_probe.recommendation_details.recommended_method IS 'Null without advice';
COMMENT ON COLUMN sync_probe.recommendation_details.best_method IS
  'Best by good odds, whatever the verdict, of the current method''s kind';
COMMENT ON COLUMN sync_probe.recommendation_details.max_regret IS
  'A flush with the current method takes at most this much longer than with the best, at 95 '
  'percent confidence (0.03: 3 percent); null if unknown, or if the advice was followed';
COMMENT ON COLUMN sync_probe.recommendation_details.flush_us IS
  'Mean time of a flush with the recommended method in the deciding test; null with basis trial '
  'or commit';
COMMENT ON COLUMN sync_probe.recommendation_details.durable IS
  'Whether syncs with the current method reach the device: yes, no, no_cache (no volatile cache '
  'reported) or unknown; proven or refuted by a power test';
COMMENT ON COLUMN sync_probe.recommendation_details.basis IS
  'trial, commit or wal; null without a run';
COMMENT ON COLUMN sync_probe.recommendation_details.run_id IS 'Run that the advice uses';
COMMENT ON COLUMN sync_probe.recommendation_details.reason IS
  'Of the verdict, what the newest run on real commits found unless the advice rests on it, and '
  'why commit_delay is to change';
COMMENT ON COLUMN sync_probe.recommendation_details.commands IS
  'SQL to execute next, one statement per element; null if none';

--
-- recommendations
--
-- The main columns of recommendation_details, which fit 120 characters.
--
CREATE VIEW sync_probe.recommendations AS
SELECT d.location, d.verdict, d.current_method, d.recommended_method, d.max_regret, d.flush_us,
       d.durable, d.basis
FROM sync_probe.recommendation_details AS d;

GRANT SELECT ON sync_probe.recommendations TO pg_monitor;

COMMENT ON VIEW sync_probe.recommendations IS 'Recommended wal_sync_method for each location';
COMMENT ON COLUMN sync_probe.recommendations.location IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.verdict IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.current_method IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.recommended_method IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.max_regret IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.flush_us IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.durable IS 'As in recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.basis IS 'As in recommendation_details';

--
-- An error unless the caller has the privileges of pg_monitor, or SELECT on all of the
-- tables, if any are given.  Its hint has the GRANT that helps.
--
CREATE FUNCTION sync_probe_internal.require_monitor(caller text, or_select regclass[] DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unreadable text := (SELECT format('It reads table "%s".', t.name)
                        FROM unnest(or_select) WITH ORDINALITY AS t (name, n)
                        WHERE NOT has_table_privilege(t.name, 'SELECT') ORDER BY t.n LIMIT 1);
BEGIN
    IF NOT pg_has_role('pg_monitor', 'USAGE') AND (or_select = '{}' OR unreadable <> '') THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('permission denied to call sync_probe.%s', caller),
            DETAIL = coalesce(unreadable,
                'Only roles with privileges of the "pg_monitor" role may call it.'),
            HINT = format('GRANT pg_monitor TO %I;', current_user);
    END IF;
END
$$;

--
-- probe_all
--
-- Probe each file system once with the wal suite, for at most the given duration each, at
-- the first location on it that the caller may probe.
--
-- A location that cannot be probed gives a WARNING, and the others are still probed.
-- Another probe that runs, or a cancel, ends it with an error.
--
CREATE FUNCTION sync_probe.probe_all(
    duration interval DEFAULT NULL,
    duty_cycle double precision DEFAULT NULL,
    label text DEFAULT NULL,
    pace text DEFAULT NULL)
RETURNS SETOF sync_probe.recommendations
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place name;
    probed record;
    message text;
    detail text;
    hint text;
BEGIN
    PERFORM sync_probe_internal.require_monitor('probe_all()');
    FOR place IN
        -- If the caller may probe none, the error of the first location has the reason.
        SELECT (array_agg(l.name ORDER BY a.allowed DESC, l.ordinality))[1]
        FROM sync_probe_internal.examine_locations(NULL) WITH ORDINALITY AS l,
             LATERAL (SELECT l.holds_wal OR has_tablespace_privilege(l.tablespace, 'CREATE')
                             OR l.tablespace = d.dattablespace
                      FROM pg_database AS d WHERE d.datname = current_database()) AS a (allowed)
        GROUP BY coalesce(l.shares_filesystem_with, l.name)
        ORDER BY min(l.ordinality)
    LOOP
        BEGIN
            RAISE NOTICE 'probing location "%"', place;
            SELECT (array_agg(p.run))[1] AS run, array_agg(p.measured) AS measured INTO probed
            FROM sync_probe_internal.probe_run(place, 'wal', duration, duty_cycle, label => label,
                                               pace => pace) AS p;
            RETURN QUERY
                SELECT place, d.verdict, d.current_method, d.recommended_method, d.max_regret,
                       d.flush_us, d.durable, d.basis
                FROM sync_probe_internal.run_advice(place, probed.run, probed.measured, NULL, false,
                         sync_probe_internal.power_tested(place, (probed.run).directory,
                                                          (probed.run).device)) AS d;
        EXCEPTION
            -- An error of the call itself would repeat for every location.
            WHEN lock_not_available OR invalid_parameter_value
                OR object_not_in_prerequisite_state THEN
                RAISE;
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
                message := format('could not probe location "%s": %s', place, SQLERRM);
                -- an empty one would be shown, too
                RAISE WARNING USING MESSAGE = message,
                    DETAIL = coalesce(nullif(detail, ''), format('SQLSTATE: %s.', SQLSTATE)),
                    HINT = coalesce(nullif(hint, ''), 'Other locations are not affected.');
        END;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.probe_all FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.probe_all IS
  'Probe each file system of the cluster once, and return its recommendation. Requires EXECUTE on '
  'probe(), and pg_monitor';
