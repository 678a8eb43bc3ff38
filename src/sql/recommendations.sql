--
-- recommendation_details
--
-- The recommendation for each location, with the figures behind it.  A location without
-- a run has a row if it holds the WAL, or if no location on its file system has a run.
--
-- A trial or a run of the commit suite decides, unless what a probe recommends was not
-- among the methods that it compared.
--
CREATE VIEW sync_probe.recommendation_details AS
SELECT a.location, a.holds_wal, coalesce(v.verdict, a.verdict) AS verdict,
       coalesce(v.current_method, a.current_method) AS current_method,
       coalesce(v.recommended_method, a.recommended_method) AS recommended_method,
       coalesce(v.recommended_method, a.best_method) AS best_method,
       CASE WHEN v.run_id IS NULL THEN a.loss_bound ELSE v.loss_bound END AS loss_bound,
       CASE WHEN v.run_id IS NULL THEN a.deciding_test END AS deciding_test,
       CASE WHEN v.run_id IS NULL THEN a.paced_flush_us END AS paced_flush_us,
       CASE WHEN v.run_id IS NULL THEN a.paced_speed END AS paced_speed,
       CASE WHEN v.run_id IS NULL THEN a.paced_speed_low END AS paced_speed_low,
       CASE WHEN v.run_id IS NULL THEN a.paced_speed_high END AS paced_speed_high,
       CASE WHEN v.run_id IS NULL THEN a.saturated_flush_us END AS saturated_flush_us,
       CASE WHEN v.run_id IS NULL THEN a.saturated_speed END AS saturated_speed,
       CASE WHEN v.run_id IS NULL THEN a.saturated_speed_low END AS saturated_speed_low,
       CASE WHEN v.run_id IS NULL THEN a.saturated_speed_high END AS saturated_speed_high,
       coalesce(d.commit_delay, a.recommended_commit_delay) AS recommended_commit_delay,
       CASE WHEN d.basis IS NOT NULL THEN d.basis
            WHEN a.recommended_commit_delay IS NOT NULL THEN 'rule' END AS commit_delay_basis,
       d.rate AS commit_delay_rate, d.rate_low AS commit_delay_rate_low,
       d.rate_high AS commit_delay_rate_high,
       a.durable, coalesce(v.basis, a.basis) AS basis, coalesce(v.run_id, a.run_id) AS run_id,
       coalesce(v.measured_at, a.measured_at) AS measured_at,
       CASE WHEN v.run_id IS NULL THEN a.outdated ELSE false END AS outdated,
       coalesce(v.reason, a.reason) AS reason,
       -- a command that probes again comes last
       nullif(coalesce(d.commands, '{}')
              || coalesce(CASE WHEN v.run_id IS NOT NULL THEN v.commands
                               WHEN w.can_be_probed THEN a.commands END, '{}'),
              '{}') AS commands
FROM sync_probe_internal.probed_advice AS a
-- Where nothing can be written, there is nothing but a probe to be told: wal_sync_method acts on
-- pg_wal alone, and a server whose pg_wal is read-only does not run.
CROSS JOIN LATERAL (SELECT coalesce('ro' <> ALL (string_to_array((a.place).mount_options, ',')),
                                    true)) AS w (can_be_probed)
LEFT JOIN LATERAL sync_probe_internal.live_method(a.place) AS v
    ON a.holds_wal AND a.verdict <> 'unsafe'
    AND (a.verdict IN ('not probed', 'undecided') OR a.outdated
         OR a.recommended_method = ANY (v.compared))
LEFT JOIN LATERAL sync_probe_internal.live_commit_delay(a.place) AS d ON a.holds_wal
ORDER BY a.holds_wal DESC, a.location;

GRANT SELECT ON sync_probe.recommendation_details TO pg_monitor;

COMMENT ON VIEW sync_probe.recommendation_details IS
  'Recommended wal_sync_method for each location, with figures, reason and commands. A location '
  'without a usable run has a row if it holds the WAL, or if no location on its file system has '
  'such a run';
COMMENT ON COLUMN sync_probe.recommendation_details.location IS
  'Location that the advice is about';
COMMENT ON COLUMN sync_probe.recommendation_details.holds_wal IS
  'True for pg_wal, the only location that wal_sync_method acts on';
COMMENT ON COLUMN sync_probe.recommendation_details.verdict IS
  'switch: another method is faster by more than the margin; keep: no other method is worth a '
  'switch; tie: no other method is, and at least one is equally fast; undecided: the run could '
  'not settle it; unsafe: syncs with the current method do not reach the device, or fsync is off; '
  'not probed: there is no usable run';
COMMENT ON COLUMN sync_probe.recommendation_details.current_method IS
  'wal_sync_method of the server when the run began; without a run, its present value';
COMMENT ON COLUMN sync_probe.recommendation_details.recommended_method IS
  'Recommended wal_sync_method; null if there is no advice';
COMMENT ON COLUMN sync_probe.recommendation_details.best_method IS
  'Best choice by the figures so far, whatever the verdict. It needs no proof as a switch does: '
  'an expected gain of more than 1 percent, and at most one chance in ten to be worse by that. A '
  'method that is likely to have more slow flushes is not chosen, unless the verdict is unsafe';
COMMENT ON COLUMN sync_probe.recommendation_details.loss_bound IS
  'A flush with the current method takes at most this much longer than with the best one: 0.03 is '
  '3 percent longer. This is at 95 percent confidence, in the regime that decides; null if '
  'unknown, or if the advice was followed';
COMMENT ON COLUMN sync_probe.recommendation_details.deciding_test IS
  'Regime that decides: saturated if the cluster spends more than half of its time in flushes, '
  'else paced';
COMMENT ON COLUMN sync_probe.recommendation_details.paced_flush_us IS
  'Mean time of a flush with the recommended method in the paced regime, in '
  'microseconds; null without a run or advice';
COMMENT ON COLUMN sync_probe.recommendation_details.paced_speed IS
  'Speed of the recommended method relative to the current one in the paced regime: '
  '1.10 if the current method takes 1.10 times as long; null if the method stays';
COMMENT ON COLUMN sync_probe.recommendation_details.paced_speed_low IS
  'Lower end of the 95 percent confidence interval of paced_speed';
COMMENT ON COLUMN sync_probe.recommendation_details.paced_speed_high IS
  'Upper end of that interval';
COMMENT ON COLUMN sync_probe.recommendation_details.saturated_flush_us IS
  'Mean time of a flush with the recommended method when one flush follows another without a '
  'pause, in microseconds';
COMMENT ON COLUMN sync_probe.recommendation_details.saturated_speed IS
  'As paced_speed, when one flush follows another without a pause';
COMMENT ON COLUMN sync_probe.recommendation_details.saturated_speed_low IS
  'Lower end of the 95 percent confidence interval of saturated_speed';
COMMENT ON COLUMN sync_probe.recommendation_details.saturated_speed_high IS
  'Upper end of that interval';
COMMENT ON COLUMN sync_probe.recommendation_details.recommended_commit_delay IS
  'A value for commit_delay, in microseconds: that of a trial or of the commit suite, else half of '
  'saturated_flush_us';
COMMENT ON COLUMN sync_probe.recommendation_details.commit_delay_basis IS
  'What recommended_commit_delay rests on: trial, commit, or rule for half of the flush time';
COMMENT ON COLUMN sync_probe.recommendation_details.commit_delay_rate IS
  'Commits per second with that value, divided by those with the value that was current; null for '
  'the rule';
COMMENT ON COLUMN sync_probe.recommendation_details.commit_delay_rate_low IS
  'Lower end of the 95 percent confidence interval of commit_delay_rate';
COMMENT ON COLUMN sync_probe.recommendation_details.commit_delay_rate_high IS
  'Upper end of that interval';
COMMENT ON COLUMN sync_probe.recommendation_details.durable IS
  'Whether syncs with the current method reach the device, as far as the counters tell: yes, '
  'no, no_cache (the device says that it has no volatile cache, so no flush is needed) or unknown. '
  'It is no if fsync is off';
COMMENT ON COLUMN sync_probe.recommendation_details.basis IS
  'What the advice rests on, the strongest first: trial, commit or wal, the suite of run_id; null '
  'without a run';
COMMENT ON COLUMN sync_probe.recommendation_details.run_id IS
  'Run that the advice uses; null without a run';
COMMENT ON COLUMN sync_probe.recommendation_details.measured_at IS
  'End of that run';
COMMENT ON COLUMN sync_probe.recommendation_details.outdated IS
  'Whether something has changed at the location since the run; null without a run. Column '
  'reason says what';
COMMENT ON COLUMN sync_probe.recommendation_details.reason IS
  'Why the verdict is what it is, in words';
COMMENT ON COLUMN sync_probe.recommendation_details.commands IS
  'SQL to execute next, one statement in each element; null if nothing is to be done';

--
-- recommendations
--
-- The main columns of recommendation_details, which fit 120 characters.
--
CREATE VIEW sync_probe.recommendations AS
SELECT d.location, d.verdict, d.current_method, d.recommended_method, d.loss_bound,
       CASE d.deciding_test WHEN 'saturated' THEN d.saturated_flush_us
                            ELSE d.paced_flush_us END AS flush_us,
       d.durable, d.basis, d.outdated
FROM sync_probe.recommendation_details AS d
ORDER BY d.holds_wal DESC, d.location;

GRANT SELECT ON sync_probe.recommendations TO pg_monitor;

COMMENT ON VIEW sync_probe.recommendations IS
  'Recommended wal_sync_method for each location, in 120 characters a row; '
  'recommendation_details has reasons and commands';
COMMENT ON COLUMN sync_probe.recommendations.location IS
  'Location that the advice is about';
COMMENT ON COLUMN sync_probe.recommendations.verdict IS
  'switch, keep, tie, undecided, unsafe or not probed; see recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.current_method IS
  'wal_sync_method of the server when the run began; without a run, its present value';
COMMENT ON COLUMN sync_probe.recommendations.recommended_method IS
  'Recommended wal_sync_method; null if there is no advice';
COMMENT ON COLUMN sync_probe.recommendations.loss_bound IS
  'A flush with the current method takes at most this much longer than with the best one: 0.03 is '
  '3 percent longer; see recommendation_details';
COMMENT ON COLUMN sync_probe.recommendations.flush_us IS
  'Mean time of a flush with the recommended method in the regime that decides, in microseconds; '
  'null without a run or advice';
COMMENT ON COLUMN sync_probe.recommendations.durable IS
  'Whether syncs with the current method reach the device, as far as the counters tell: yes, '
  'no, no_cache (the device says that it has no volatile cache, so no flush is needed) or unknown. '
  'It is no if fsync is off';
COMMENT ON COLUMN sync_probe.recommendations.basis IS
  'What the advice rests on: trial, commit or wal; null without a run';
COMMENT ON COLUMN sync_probe.recommendations.outdated IS
  'Whether something has changed at the location since the run; null without a run';

--
-- sync_probe_internal.require_monitor
--
-- An error unless the caller has the privileges of pg_monitor, or SELECT on all of the
-- tables, if any are given.  Its hint has the GRANT that helps.  It has no context.
--
CREATE FUNCTION sync_probe_internal.require_monitor(caller text, or_select regclass[] DEFAULT '{}')
RETURNS void
LANGUAGE c STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_require_monitor';

COMMENT ON FUNCTION sync_probe_internal.require_monitor(text, regclass[]) IS
  'An error unless the caller has the privileges of pg_monitor, or SELECT on all of these tables';

--
-- sync_probe_internal.warn
--
-- A WARNING with a detail and a hint, each left out if it is empty.
--
CREATE FUNCTION sync_probe_internal.warn(message text, detail text, hint text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF detail <> '' AND hint <> '' THEN
        RAISE WARNING USING MESSAGE = message, DETAIL = detail, HINT = hint;
    ELSIF detail <> '' THEN
        RAISE WARNING USING MESSAGE = message, DETAIL = detail;
    ELSIF hint <> '' THEN
        RAISE WARNING USING MESSAGE = message, HINT = hint;
    ELSE
        RAISE WARNING USING MESSAGE = message;
    END IF;
END
$$;

COMMENT ON FUNCTION sync_probe_internal.warn(text, text, text) IS
  'A WARNING with a detail and a hint, each left out if it is empty';

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
    duration interval DEFAULT '5 s',
    duty_cycle double precision DEFAULT 1.0,
    label text DEFAULT NULL)
RETURNS SETOF sync_probe.recommendations
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place name;
    measured sync_probe.measurements[];
    detail text;
    hint text;
BEGIN
    PERFORM sync_probe_internal.require_monitor('probe_all()');
    FOR place IN
        SELECT p.name
        FROM (SELECT DISTINCT ON (f.first) l.name, min(l.n) OVER (PARTITION BY f.first) AS n
              FROM (SELECT *, row_number() OVER () AS n
                    FROM sync_probe_internal.examine_locations(NULL)) AS l,
                   LATERAL (SELECT coalesce(l.shares_filesystem_with, l.name)) AS f (first),
                   LATERAL (SELECT l.holds_wal OR has_tablespace_privilege(l.tablespace, 'CREATE')
                                   OR l.tablespace = d.dattablespace
                            FROM pg_database AS d
                            WHERE d.datname = current_database()) AS a (allowed)
              -- If the caller may probe none, the error of the first location says why.
              ORDER BY f.first, a.allowed DESC, l.n) AS p
        ORDER BY p.n
    LOOP
        BEGIN
            RAISE NOTICE 'probing location "%"', place;
            measured := ARRAY(
                SELECT p FROM sync_probe.probe(place, 'wal', probe_all.duration,
                    duty_cycle => probe_all.duty_cycle, label => probe_all.label) AS p);
            RETURN QUERY
                SELECT d.location, d.verdict, d.current_method, d.recommended_method,
                       d.loss_bound,
                       CASE d.deciding_test WHEN 'saturated' THEN d.saturated_flush_us
                                            ELSE d.paced_flush_us END,
                       d.durable, d.basis, d.outdated
                FROM sync_probe_internal.recommend(
                    jsonb_populate_record(NULL::sync_probe.runs,
                                          sync_probe_internal.last_run()::jsonb),
                    measured, NULL) AS d;
        EXCEPTION
            -- An error of the call itself would repeat for every location.
            WHEN lock_not_available OR invalid_parameter_value
                OR object_not_in_prerequisite_state THEN
                RAISE;
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
                PERFORM sync_probe_internal.warn(
                    format('could not probe location "%s": %s', place, SQLERRM), detail, hint);
        END;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.probe_all(interval, double precision, text) FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.probe_all(interval, double precision, text) IS
  'Probe each file system of the cluster once, for at most duration each, and return the '
  'recommendation for each. A location that cannot be probed gives a WARNING. Requires EXECUTE '
  'on this function and probe(), which only the owner has at first, and the privileges of '
  'pg_monitor';
