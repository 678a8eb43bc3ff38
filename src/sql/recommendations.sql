--
-- _verdict
--
-- The engine's verdict on intervals of speed, one array element a method.  The
-- current method's elements are those of its A/A control.
--
CREATE FUNCTION sync_probe._verdict(
    current_method text,
    method text[],
    paced_speed double precision[],
    paced_speed_low double precision[],
    paced_speed_high double precision[],
    saturated_speed double precision[],
    saturated_speed_low double precision[],
    saturated_speed_high double precision[],
    durable text[],
    OUT verdict text,
    OUT recommended_method text,
    OUT reason text)
LANGUAGE c STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_verdict';

COMMENT ON FUNCTION sync_probe._verdict(text, text[], double precision[], double precision[],
  double precision[], double precision[], double precision[], double precision[], text[]) IS
  'Judge intervals of speed against the current method';

--
-- _durable
--
-- The engine's rule: do the syncs of a test case reach the device?  yes, no, or
-- unknown; null arguments are not known.
--
CREATE FUNCTION sync_probe._durable(
    write_cache text,
    fua boolean,
    syncs_nothing boolean,
    flushes_per_op double precision,
    other_flushes_per_op double precision,
    has_below boolean,
    below_flushes_per_op double precision,
    other_below_flushes_per_op double precision)
RETURNS text
LANGUAGE c IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_durable';

COMMENT ON FUNCTION sync_probe._durable(text, boolean, boolean, double precision,
  double precision, boolean, double precision, double precision) IS
  'Do syncs reach the device, as far as its counters tell: yes, no or unknown';

--
-- _last_storage
--
-- What runs.storage would hold of the last probe of this session, for a run that
-- could not be recorded.
--
CREATE FUNCTION sync_probe._last_storage()
RETURNS text
LANGUAGE c VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_last_storage';

COMMENT ON FUNCTION sync_probe._last_storage() IS
  'What lay under the location of this session''s last probe';

--
-- _method_durable
--
-- The rule for a method of a run in all its measurements: yes only if in each.
--
CREATE FUNCTION sync_probe._method_durable(
    of_storage jsonb,
    paced sync_probe.measurements,
    saturated sync_probe.measurements)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN bool_or(d.durable = 'no') THEN 'no'
            WHEN bool_and(d.durable = 'yes') THEN 'yes'
            ELSE 'unknown' END
FROM (VALUES (paced), (saturated)) AS v (m),
     LATERAL sync_probe._durable(
         of_storage ->> 'write_cache', (of_storage ->> 'fua')::boolean, of_storage ? 'syncs_nothing',
         (m).flushes_per_op,
         (of_storage #>> '{others,most_flushes_per_sec}')::float8 * (m).mean_us / 1e6,
         of_storage ? 'below_flushes_per_op',
         (of_storage #>> ARRAY['below_flushes_per_op', (m).ordinal::text])::float8,
         (of_storage #>> '{others,most_below_flushes_per_sec}')::float8 * (m).mean_us / 1e6) AS d (durable)
WHERE (m).ops > 0
$$;

COMMENT ON FUNCTION sync_probe._method_durable(jsonb, sync_probe.measurements, sync_probe.measurements) IS
  'Do the syncs of a method reach the device: yes, no or unknown';

--
-- _recommend
--
-- From the measurements of one run of the wal suite to a recommendation.  It
-- takes rows and not a run_id because a run on a standby is not in the tables.
-- durable is that of the current method.
--
CREATE FUNCTION sync_probe._recommend(
    of_location name,
    of_run_id bigint,
    finished_at timestamptz,
    wal_sync_method text,
    of_storage jsonb,
    measured sync_probe.measurements[])
RETURNS TABLE (
    location name,
    holds_wal boolean,
    run_id bigint,
    measured_at timestamptz,
    current_method text,
    recommended_method text,
    verdict text,
    paced_speed double precision,
    paced_speed_low double precision,
    paced_speed_high double precision,
    saturated_speed double precision,
    saturated_speed_low double precision,
    saturated_speed_high double precision,
    flush_us double precision,
    durable text,
    recommended_commit_delay integer,
    reason text,
    command text)
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 1 -- with the default of 1,000 many tablespaces look costly enough for JIT
SET search_path = pg_catalog, pg_temp
AS $$
WITH method AS (
    -- The O_DIRECT variants are saturated rows without a paced one.
    SELECT p.ordinal, p.method, p.mean_us AS paced_us, s.mean_us AS saturated_us,
           p.relative_speed AS ps, p.relative_speed_low AS pl, p.relative_speed_high AS ph,
           s.relative_speed AS ss, s.relative_speed_low AS sl, s.relative_speed_high AS sh,
           sync_probe._method_durable($5, p, s) AS durable
    FROM unnest($6) AS p
    JOIN unnest($6) AS s ON s.method = p.method AND s.direct_io = p.direct_io
    WHERE p.test = 'paced' AND s.test = 'saturated'
), judged AS (
    SELECT v.*
    FROM (SELECT array_agg(m.method ORDER BY m.ordinal) AS method,
                 array_agg(ps ORDER BY ordinal) AS ps, array_agg(pl ORDER BY ordinal) AS pl,
                 array_agg(ph ORDER BY ordinal) AS ph, array_agg(ss ORDER BY ordinal) AS ss,
                 array_agg(sl ORDER BY ordinal) AS sl, array_agg(sh ORDER BY ordinal) AS sh,
                 array_agg(m.durable ORDER BY ordinal) AS durable
          FROM method AS m) AS a,
         LATERAL sync_probe._verdict($4, a.method, a.ps, a.pl, a.ph, a.ss, a.sl, a.sh, a.durable) AS v
), advice AS (
    -- One setting rules the whole cluster and acts on pg_wal alone.
    SELECT $1 = 'pg_wal' AS holds_wal, j.*, m.*, c.durable AS current_durable,
           j.verdict IN ('switch', 'unsafe') AS change,
           coalesce(j.recommended_method = current_setting('wal_sync_method'), false) AS done
    FROM judged AS j
    LEFT JOIN method AS m ON m.method = j.recommended_method
    LEFT JOIN method AS c ON c.method = $4
)
SELECT $1, a.holds_wal, $2, $3, $4, a.recommended_method, a.verdict,
       a.ps, a.pl, a.ph, a.ss, a.sl, a.sh, a.paced_us,
       coalesce(a.current_durable, 'unknown'),
       -- Half the time of a flush, as the manual advises for pg_test_fsync's
       -- figure ("WAL Configuration").
       round(a.saturated_us / 2)::integer,
       CASE WHEN a.change AND a.done THEN a.reason || '; already set'
            WHEN a.change AND NOT a.holds_wal THEN 'if the WAL lay here: ' || a.reason
            ELSE a.reason END
       || CASE WHEN a.verdict = 'unsafe' AND $5 ? 'syncs_nothing'
               THEN format(' (%s)', $5 ->> 'syncs_nothing') ELSE '' END
       || CASE WHEN a.holds_wal AND NOT a.done AND $4 <> current_setting('wal_sync_method')
               THEN format('; but wal_sync_method is %s now: probe again', current_setting('wal_sync_method')) ELSE '' END
       || CASE WHEN a.holds_wal AND NOT current_setting('fsync')::boolean
               THEN '; but fsync is off: this server syncs nothing' ELSE '' END,
       CASE WHEN a.change AND a.holds_wal AND a.recommended_method IS NOT NULL AND NOT a.done
            THEN format('ALTER SYSTEM SET wal_sync_method = %L; SELECT pg_reload_conf();',
                        a.recommended_method) END
FROM advice AS a
$$;

COMMENT ON FUNCTION sync_probe._recommend(name, bigint, timestamptz, text, jsonb, sync_probe.measurements[]) IS
  'Recommendation from the measurements of one run of the wal suite';

--
-- _newest_runs
--
-- The newest run of the wal suite of each location that has one.
--
CREATE VIEW sync_probe._newest_runs AS
SELECT r.*
FROM (SELECT 'pg_wal'::name
      UNION ALL
      SELECT spcname FROM pg_catalog.pg_tablespace) AS l (location),
     -- The index on (location, suite, run_id DESC), even where a location has no
     -- run: with "=" or max() the planner rather walks the primary key down to
     -- the first run that matches, through all of the history if none does.
     LATERAL (SELECT r.*
              FROM sync_probe.runs AS r
              WHERE (r.location, r.suite) >= (l.location, 'wal')
                AND (r.location, r.suite) <= (l.location, 'wal')
              ORDER BY r.location, r.suite, r.run_id DESC
              LIMIT 1) AS r;

-- _findings() reads it with the rights of its caller.
GRANT SELECT ON sync_probe._newest_runs TO pg_monitor;

COMMENT ON VIEW sync_probe._newest_runs IS
  'The newest run of the wal suite of each location';

--
-- recommendations
--
-- What to set, for each location, from its newest run of the wal suite.
--
CREATE VIEW sync_probe.recommendations AS
SELECT a.location, a.holds_wal, a.run_id, a.measured_at,
       a.current_method, a.recommended_method, a.verdict,
       a.paced_speed, a.paced_speed_low, a.paced_speed_high,
       a.saturated_speed, a.saturated_speed_low, a.saturated_speed_high,
       a.flush_us, a.durable, a.recommended_commit_delay, a.reason, a.command
FROM sync_probe._newest_runs AS r,
     LATERAL sync_probe._recommend(r.location, r.run_id, r.finished_at, r.wal_sync_method, r.storage,
         ARRAY(SELECT m FROM sync_probe.measurements AS m WHERE m.run_id = r.run_id)) AS a
ORDER BY a.holds_wal DESC, a.location;

GRANT SELECT ON sync_probe.recommendations TO pg_monitor;

COMMENT ON VIEW sync_probe.recommendations IS
  'What wal_sync_method should be, for each location from its newest run of the wal suite';
COMMENT ON COLUMN sync_probe.recommendations.verdict IS
  'switch: another method is faster by more than the margin; keep: no other is, by more than the margin; tie: another is as fast; undecided: not settled; unsafe: the syncs of the current method do not reach the device';
COMMENT ON COLUMN sync_probe.recommendations.durable IS
  'Do the syncs of the current method reach the device, as far as its counters tell: yes, no or unknown';
COMMENT ON COLUMN sync_probe.recommendations.paced_speed IS
  'Speed of the recommended against the current method at the cluster''s own pace; 1.10 is 10 percent more. The A/A control''s where the method stays';
COMMENT ON COLUMN sync_probe.recommendations.saturated_speed IS
  'The same, back to back';
COMMENT ON COLUMN sync_probe.recommendations.flush_us IS
  'Mean time of a flush with the recommended method at the cluster''s own pace, in microseconds';
COMMENT ON COLUMN sync_probe.recommendations.recommended_commit_delay IS
  'Half the mean saturated flush time, in microseconds as commit_delay is';
COMMENT ON COLUMN sync_probe.recommendations.command IS
  'What to execute; null where nothing is to be changed';

--
-- probe_all
--
-- Probe each file system once with the wal suite, by the first location on it,
-- each for the given duration at most.
--
-- A location that cannot be probed is a WARNING and does not hold up the
-- others; another probe that runs, or a cancel, ends it.
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
    FOR place IN
        SELECT l.name FROM sync_probe._examine_locations(NULL) AS l WHERE l.shares_filesystem_with IS NULL
    LOOP
        BEGIN
            RAISE NOTICE 'probing location "%"', place;
            measured := ARRAY(
                SELECT p FROM sync_probe.probe(place, 'wal', probe_all.duration,
                    duty_cycle => probe_all.duty_cycle, label => probe_all.label) AS p);
            RETURN QUERY
                SELECT * FROM sync_probe._recommend(place, measured[1].run_id,
                    clock_timestamp(), current_setting('wal_sync_method'),
                    sync_probe._last_storage()::jsonb, measured);
        EXCEPTION
            -- what is wrong with the call is wrong for every location
            WHEN lock_not_available OR invalid_parameter_value
                OR object_not_in_prerequisite_state THEN
                RAISE;
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
                RAISE WARNING USING
                    MESSAGE = format('could not probe location "%s": %s', place, concat_ws('; ', SQLERRM, nullif(detail, ''))),
                    HINT = hint;
        END;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.probe_all(interval, double precision, text) FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.probe_all(interval, double precision, text) IS
  'Probe each file system of the cluster once and recommend';

