--
-- device_lifetime
--
-- How long an SSD lasts under the WAL of this cluster: its capacity times its
-- erase cycles, over the bytes that are written.  The rate of WAL is the mean
-- since the statistics were reset (pg_stat_wal), the amplification what the
-- newest run of the location measured for its current method: bytes that the
-- device wrote for a flush, over bytes of WAL in it (a flush of 100 bytes writes
-- a page of 8 kB). Give either to know better.  What the controller of an SSD writes beyond what it is told is
-- not in it.  Null where something is not known: its source says why.
--
CREATE TYPE sync_probe.lifetime AS (
    location name,
    device text,
    capacity_bytes bigint,
    erase_cycles integer,
    wal_bytes_per_sec double precision,
    wal_rate_source text,
    write_amplification double precision,
    write_amplification_source text,
    written_bytes_per_day double precision,
    years double precision);

COMMENT ON TYPE sync_probe.lifetime IS
  'An estimate of device_lifetime() with all that it rests on';

CREATE FUNCTION sync_probe.device_lifetime(
    location name,
    capacity_bytes bigint,
    erase_cycles integer,
    wal_bytes_per_sec double precision DEFAULT NULL,
    write_amplification double precision DEFAULT NULL)
RETURNS sync_probe.lifetime
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    life sync_probe.lifetime;
    argument record;
BEGIN
    FOR argument IN
        SELECT * FROM (VALUES ('capacity_bytes', capacity_bytes::float8, false),
                              ('erase_cycles', erase_cycles, false),
                              ('wal_bytes_per_sec', wal_bytes_per_sec, true),
                              ('write_amplification', write_amplification, true)) AS v (name, value, may_be_null)
    LOOP
        IF argument.value IS NULL AND NOT argument.may_be_null THEN
            RAISE EXCEPTION USING
                ERRCODE = 'invalid_parameter_value',
                MESSAGE = format('argument "%s" must not be null', argument.name),
                HINT = 'The data sheet of the device has it: SELECT * FROM sync_probe.device_lifetime(''pg_wal'', 480000000000, 3000);';
        ELSIF NOT (argument.value > 0 AND argument.value < 'Infinity') THEN
            RAISE EXCEPTION USING
                ERRCODE = 'invalid_parameter_value',
                MESSAGE = format('%s %s is out of range', argument.name, argument.value),
                DETAIL = 'It must be greater than 0.';
        END IF;
    END LOOP;
    IF location IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'argument "location" must not be null',
            HINT = 'See SELECT name FROM sync_probe.locations.';
    END IF;

    life.location := device_lifetime.location;
    life.device := (SELECT l.device FROM sync_probe._examine_locations(device_lifetime.location) AS l);
    life.capacity_bytes := device_lifetime.capacity_bytes;
    life.erase_cycles := device_lifetime.erase_cycles;

    IF device_lifetime.wal_bytes_per_sec IS NOT NULL THEN
        life.wal_bytes_per_sec := device_lifetime.wal_bytes_per_sec;
        life.wal_rate_source := 'argument';
    ELSE
        SELECT nullif(w.wal_bytes, 0) / nullif(extract(epoch FROM clock_timestamp() - w.stats_reset), 0),
               format('pg_stat_wal since %s', w.stats_reset)
        INTO life.wal_bytes_per_sec, life.wal_rate_source
        FROM pg_stat_wal AS w;
    END IF;

    IF device_lifetime.write_amplification IS NOT NULL THEN
        life.write_amplification := device_lifetime.write_amplification;
        life.write_amplification_source := 'argument';
    ELSE
        SELECT a.amplification,
               CASE WHEN n.paced_bytes IS NULL THEN format('run %s did not read the counters', n.run_id)
                    WHEN a.amplification IS NULL THEN format('in run %s others wrote as much', n.run_id)
                    ELSE format('run %s, %s bytes of WAL a flush', n.run_id, n.flush_size) END
        INTO life.write_amplification, life.write_amplification_source
        FROM sync_probe._newest_measured AS n,
             LATERAL (SELECT nullif(round((greatest(n.paced_bytes - n.other_bytes, 0) / nullif(n.flush_size, 0))::numeric, 2), 0)) AS a (amplification)
        WHERE n.location = device_lifetime.location;
        life.write_amplification_source := coalesce(life.write_amplification_source, 'not probed yet');
    END IF;

    life.written_bytes_per_day := round(life.wal_bytes_per_sec * life.write_amplification * 86400);
    life.years := round((life.capacity_bytes::float8 * life.erase_cycles
                         / (life.wal_bytes_per_sec * life.write_amplification * 86400 * 365.25))::numeric, 1);
    life.wal_bytes_per_sec := round(life.wal_bytes_per_sec);
    RETURN life;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.device_lifetime(name, bigint, integer, double precision, double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe.device_lifetime(name, bigint, integer, double precision, double precision) TO pg_monitor;

COMMENT ON FUNCTION sync_probe.device_lifetime(name, bigint, integer, double precision, double precision) IS
  'Years that an SSD lasts at this cluster''s rate of WAL and the location''s write amplification';
