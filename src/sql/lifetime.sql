--
-- WAL that this server has counted since its statistics were reset, and when it was promoted, or
-- recovered to a point in time: -infinity if never, infinity on a standby, and null if the
-- timeline's history file is missing.  Statistics survive a promotion, and time as a standby
-- counts in them.
--
CREATE FUNCTION sync_probe_internal.wal_written(
    OUT wal_bytes double precision,
    OUT since timestamptz,
    OUT recovery_end timestamptz)
LANGUAGE c VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_wal_written';

--
-- Bytes of WAL per second since the statistics were reset, and the source of that rate.
-- The rate is null with less than an hour of statistics: the first minutes after a start
-- or a restored dump are not typical.  It is null where they include time as a standby:
-- pg_stat_wal does not count the WAL that a standby receives.
--
CREATE FUNCTION sync_probe_internal.wal_rate(
    wal_bytes numeric,
    since timestamptz,
    until timestamptz,
    recovery_end timestamptz,
    OUT bytes_per_sec double precision,
    OUT source text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN a.seconds >= 3600 AND since >= recovery_end THEN wal_bytes / a.seconds END,
       CASE WHEN recovery_end = 'infinity' THEN 'pg_stat_wal does not count what a standby receives'
            WHEN since < recovery_end THEN 'pg_stat_wal includes time as a standby'
            WHEN recovery_end IS NULL THEN 'no history file shows whether this was a standby'
            WHEN a.seconds >= 3600 THEN format('pg_stat_wal since %s', since)
            ELSE format('pg_stat_wal covers only %s s, an hour is needed', round(a.seconds)) END
FROM (SELECT extract(epoch FROM until - since)) AS a (seconds)
$$;

--
-- device_lifetime
--
-- How long an SSD lasts under the WAL of this cluster: its capacity times its erase
-- cycles, divided by the bytes written.  The rate of WAL is the mean since the statistics
-- were reset, see wal_rate().  The newest run of the location measured the write
-- amplification of its current method: the bytes that the device wrote for a flush,
-- divided by the bytes of WAL in it (a flush of 100 bytes writes a page of 8 kB).  An
-- argument replaces either.  Writes that the controller of the SSD adds are not included.
-- What is unknown is null, and basis has the reason.
--
CREATE FUNCTION sync_probe.device_lifetime(
    location name,
    capacity_bytes double precision,
    erase_cycles integer,
    OUT years double precision,
    OUT device text,
    INOUT wal_bytes_per_sec double precision DEFAULT NULL,
    INOUT write_amplification double precision DEFAULT NULL,
    OUT basis text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong text;
    place sync_probe_internal.storage;
    rate_source text;
    amplification_source text;
BEGIN
    SELECT CASE WHEN v.value IS NULL THEN format('argument "%s" must not be null', v.name)
                ELSE format('%s %s is out of range', v.name, v.value) END
    INTO wrong
    FROM (VALUES ('capacity_bytes', capacity_bytes), ('erase_cycles', erase_cycles),
                 ('wal_bytes_per_sec', coalesce(wal_bytes_per_sec, 1)),
                 ('write_amplification', coalesce(write_amplification, 1))) AS v (name, value)
    WHERE (v.value > 0 AND v.value < 'Infinity') IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '%', wrong USING
            ERRCODE = 'invalid_parameter_value',
            HINT = 'It must be greater than 0; the data sheet has capacity and cycles. For example:'
                   ' SELECT * FROM sync_probe.device_lifetime(''pg_wal'', 480000000000, 3000);';
    END IF;
    IF location IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'argument "location" must not be null',
            HINT = 'See SELECT name FROM sync_probe.locations.';
    END IF;

    SELECT * INTO place FROM sync_probe_internal.examine_locations(location);
    IF wal_bytes_per_sec IS NULL THEN
        SELECT r.bytes_per_sec, r.source INTO wal_bytes_per_sec, rate_source
        FROM sync_probe_internal.wal_written() AS w,
             sync_probe_internal.wal_rate(w.wal_bytes::numeric, w.since, clock_timestamp(),
                                          w.recovery_end) AS r;
    END IF;
    IF write_amplification IS NULL THEN
        SELECT a.amplification,
               CASE WHEN r.storage #> ARRAY['device_bytes_per_op', (m.paced).ordinal::text] IS NULL
                    THEN format('run %s did not read the counters', r.run_id)
                    WHEN a.amplification IS NULL
                    THEN format('run %s did not see enough of background I/O', r.run_id)
                    ELSE format('run %s, %s bytes of WAL a flush', r.run_id, r.flush_size) END
        INTO write_amplification, amplification_source
        FROM (SELECT (r.run).*
              FROM sync_probe_internal.own_runs AS r
              WHERE (r.run).suite = 'wal' AND (r.run).location = place.name
                AND ARRAY[(r.run).directory, (r.run).device] = ARRAY[place.directory, place.device]
                AND (r.run).usable_for_advice
              ORDER BY (r.run).run_id + 0 DESC
              LIMIT 1) AS r,
             LATERAL (SELECT p
                      FROM sync_probe.measurements AS p
                      WHERE p.run_id = r.run_id AND p.test = 'paced'
                        AND (p.method = r.wal_sync_method
                             OR p.method = current_setting('wal_sync_method') AND p.ops > 0)
                      ORDER BY p.method = r.wal_sync_method, p.ordinal
                      LIMIT 1) AS m (paced),
             LATERAL sync_probe_internal.device_bytes(r.storage, m.paced, r.flush_size) AS d,
             -- Background I/O comes in bursts; its mean is no estimate where it is as much.
             LATERAL (SELECT CASE WHEN d.low > 0
                                  THEN round((d.own / nullif(r.flush_size, 0))::numeric, 2)
                                  END) AS a (amplification);
        amplification_source := coalesce(amplification_source, 'not probed yet');
    END IF;
    device := place.device;
    years := round((capacity_bytes * erase_cycles
                    / nullif(wal_bytes_per_sec * write_amplification * 86400 * 365.25, 0)
                   )::numeric, 1);
    wal_bytes_per_sec := round(wal_bytes_per_sec);
    basis := nullif(concat_ws('; ', rate_source, amplification_source), '');
END
$$;

REVOKE ALL ON FUNCTION sync_probe.device_lifetime FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe.device_lifetime TO pg_monitor;

COMMENT ON FUNCTION sync_probe.device_lifetime IS
  'Years that an SSD of this capacity and these erase cycles lasts at this cluster''s rate of '
  'WAL. write_amplification: bytes that it writes per byte of WAL; basis: source of a figure that '
  'was not given, or why it is unknown';
