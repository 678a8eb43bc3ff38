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
    OUT verdict text,
    OUT recommended_method text,
    OUT reason text)
LANGUAGE c STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_verdict';

COMMENT ON FUNCTION sync_probe._verdict(text, text[], double precision[],
  double precision[], double precision[], double precision[], double precision[], double precision[]) IS
  'Judge intervals of speed against the current method';

--
-- _recommend
--
-- From the measurements of one run of the wal suite to a recommendation.  It
-- takes rows and not a run_id because a run on a standby is not in the tables.
--
CREATE FUNCTION sync_probe._recommend(
    of_location name,
    of_run_id bigint,
    finished_at timestamptz,
    wal_sync_method text,
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
           s.relative_speed AS ss, s.relative_speed_low AS sl, s.relative_speed_high AS sh
    FROM unnest($5) AS p
    JOIN unnest($5) AS s ON s.method = p.method AND s.direct_io = p.direct_io
    WHERE p.test = 'paced' AND s.test = 'saturated'
), judged AS (
    SELECT v.*
    FROM (SELECT array_agg(m.method ORDER BY m.ordinal) AS method,
                 array_agg(ps ORDER BY ordinal) AS ps, array_agg(pl ORDER BY ordinal) AS pl,
                 array_agg(ph ORDER BY ordinal) AS ph, array_agg(ss ORDER BY ordinal) AS ss,
                 array_agg(sl ORDER BY ordinal) AS sl, array_agg(sh ORDER BY ordinal) AS sh
          FROM method AS m) AS a,
         LATERAL sync_probe._verdict($4, a.method, a.ps, a.pl, a.ph, a.ss, a.sl, a.sh) AS v
), advice AS (
    -- One setting rules the whole cluster and acts on pg_wal alone.
    SELECT $1 = 'pg_wal' AS holds_wal, j.*, m.*,
           j.verdict IN ('switch', 'unsafe') AND j.recommended_method IS NOT NULL AS change,
           j.recommended_method = current_setting('wal_sync_method') AS done
    FROM judged AS j
    LEFT JOIN method AS m ON m.method = j.recommended_method
)
SELECT $1, a.holds_wal, $2, $3, $4, a.recommended_method, a.verdict,
       a.ps, a.pl, a.ph, a.ss, a.sl, a.sh, a.paced_us,
       'unknown',
       -- Half the time of a flush, as the manual advises for pg_test_fsync's
       -- figure ("WAL Configuration").
       round(a.saturated_us / 2)::integer,
       CASE WHEN a.change AND a.done THEN a.reason || '; already set'
            WHEN a.change AND NOT a.holds_wal THEN 'if the WAL lay here: ' || a.reason
            ELSE a.reason END,
       CASE WHEN a.change AND a.holds_wal AND NOT a.done
            THEN format('ALTER SYSTEM SET wal_sync_method = %L; SELECT pg_reload_conf();',
                        a.recommended_method) END
FROM advice AS a
$$;

COMMENT ON FUNCTION sync_probe._recommend(name, bigint, timestamptz, text, sync_probe.measurements[]) IS
  'Recommendation from the measurements of one run of the wal suite';

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
FROM (SELECT 'pg_wal'::name
      UNION ALL
      SELECT spcname FROM pg_catalog.pg_tablespace) AS l (location),
     -- The index on (location, suite, run_id DESC), even where a location has no
     -- run: with "=" or max() the planner rather walks the primary key down to
     -- the first run that matches, through all of the history if none does.
     LATERAL (SELECT r.run_id, r.location, r.finished_at, r.wal_sync_method
              FROM sync_probe.runs AS r
              WHERE (r.location, r.suite) >= (l.location, 'wal')
                AND (r.location, r.suite) <= (l.location, 'wal')
              ORDER BY r.location, r.suite, r.run_id DESC
              LIMIT 1) AS r,
     LATERAL sync_probe._recommend(r.location, r.run_id, r.finished_at, r.wal_sync_method,
         ARRAY(SELECT m FROM sync_probe.measurements AS m WHERE m.run_id = r.run_id)) AS a
ORDER BY a.holds_wal DESC, a.location;

GRANT SELECT ON sync_probe.recommendations TO pg_monitor;

COMMENT ON VIEW sync_probe.recommendations IS
  'What wal_sync_method should be, for each location from its newest run of the wal suite';
COMMENT ON COLUMN sync_probe.recommendations.verdict IS
  'switch: another method is faster by more than the margin; keep: no other is, by more than the margin; tie: another is as fast; undecided: not settled; unsafe: the current method does not reach the device';
COMMENT ON COLUMN sync_probe.recommendations.paced_speed IS
  'Speed of the recommended against the current method at the cluster''s own pace; 1.10 is 10 percent more. The A/A control''s where the method stays';
COMMENT ON COLUMN sync_probe.recommendations.saturated_speed IS
  'The same, back to back';
COMMENT ON COLUMN sync_probe.recommendations.flush_us IS
  'Mean time of a flush with the recommended method at the cluster''s own pace, in microseconds';
COMMENT ON COLUMN sync_probe.recommendations.durable IS
  'Does a sync reach the device? yes, no, or unknown';
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
                    clock_timestamp(), current_setting('wal_sync_method'), measured);
        EXCEPTION
            -- what is wrong with the call is wrong for every location
            WHEN lock_not_available OR invalid_parameter_value
                OR object_not_in_prerequisite_state THEN
                RAISE;
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
                RAISE WARNING USING
                    MESSAGE = format('could not probe location "%s": %s', place, SQLERRM),
                    HINT = hint;
        END;
    END LOOP;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.probe_all(interval, double precision, text) FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.probe_all(interval, double precision, text) IS
  'Probe each file system of the cluster once and recommend';

