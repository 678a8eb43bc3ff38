--
-- sync_probe_internal.verdict
--
-- The engine's verdict on intervals of speed, with one array element for each method.  The
-- speeds of the current method are those of its A/A control.  A time that is unknown is NaN.
--
CREATE FUNCTION sync_probe_internal.verdict(
    current_method text,
    method text[],
    paced_speed double precision[],
    paced_speed_low double precision[],
    paced_speed_high double precision[],
    saturated_speed double precision[],
    saturated_speed_low double precision[],
    saturated_speed_high double precision[],
    paced_rounds double precision[],
    paced_slow_rounds double precision[],
    saturated_rounds double precision[],
    saturated_slow_rounds double precision[],
    durable text[],
    cluster_interval_us double precision,
    paced_interval_us double precision,
    saturated_flush_us double precision,
    OUT verdict text,
    OUT recommended_method text,
    OUT best_method text,
    OUT loss_bound double precision,
    OUT deciding_test text,
    OUT reason text,
    OUT times_as_long double precision)
LANGUAGE c STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_verdict';

COMMENT ON FUNCTION sync_probe_internal.verdict(text, text[], double precision[],
  double precision[], double precision[], double precision[], double precision[],
  double precision[], double precision[], double precision[], double precision[],
  double precision[], text[], double precision, double precision, double precision) IS
  'Verdict on intervals of speed relative to the current method';

--
-- sync_probe_internal.durable
--
-- The engine's rule whether the syncs of a test case reach the device: yes, no, no_cache
-- (the device says that it has no volatile cache) or unknown.  Arguments that are unknown
-- are null.  flush_may_hide: a sync of this case may show no flush, since a FUA write
-- replaces it or the driver does not count it.  why: of unknown, in words.
--
CREATE FUNCTION sync_probe_internal.durable(
    write_cache text,
    flush_may_hide boolean,
    syncs_nothing boolean,
    flushes_per_op double precision,
    background_flushes_per_op double precision,
    has_backing boolean,
    backing_flushes_per_op double precision,
    background_backing_flushes_per_op double precision,
    writes_per_op double precision DEFAULT NULL,
    backing_write_cache text DEFAULT NULL,
    least_flushes_per_op double precision DEFAULT NULL,
    own_share double precision DEFAULT NULL,
    lacking_share double precision DEFAULT NULL,
    backing_own_share double precision DEFAULT NULL,
    OUT durable text,
    OUT why text)
LANGUAGE c IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_durable';

COMMENT ON FUNCTION sync_probe_internal.durable(text, boolean, boolean, double precision,
  double precision, boolean, double precision, double precision, double precision, text,
  double precision, double precision, double precision, double precision) IS
  'Whether syncs reach the device, as far as its counters tell: yes, no, no_cache or unknown';

--
-- sync_probe_internal.this_server
--
-- This server and machine.  On a standby and in a restored dump sync_probe.runs has runs
-- of other servers.
--
CREATE FUNCTION sync_probe_internal.this_server(
    OUT system_identifier bigint,
    OUT host text)
LANGUAGE c STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_this_server';

REVOKE ALL ON FUNCTION sync_probe_internal.this_server() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.this_server() TO pg_monitor;

COMMENT ON FUNCTION sync_probe_internal.this_server() IS
  'System identifier of the cluster and name of the machine';

--
-- sync_probe_internal.last_run
--
-- This session's last probe as json, with the columns of sync_probe.runs.  probe_all()
-- takes its advice from it, because a run cannot be recorded on a standby.
--
CREATE FUNCTION sync_probe_internal.last_run()
RETURNS text
LANGUAGE c VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_last_run';

REVOKE ALL ON FUNCTION sync_probe_internal.last_run() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION sync_probe_internal.last_run() TO pg_monitor;

COMMENT ON FUNCTION sync_probe_internal.last_run() IS
  'This session''s last probe as json';

--
-- sync_probe_internal.method_evidence
--
-- The same for all measurements of a method in a run: the word that claims least, and why.
--
-- A FUA write replaces a flush for open_datasync with O_DIRECT alone, see
-- sp_fua_may_replace_flush() in src/engine/measure/sync_method.h.  Shares of windows (see
-- src/engine/verdict/windows.h) are known of the paced regime and hold for both.
--
CREATE FUNCTION sync_probe_internal.method_evidence(
    of_storage jsonb,
    paced sync_probe.measurements,
    saturated sync_probe.measurements,
    OUT durable text,
    OUT why text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(l.durable, 'unknown'),
       CASE WHEN l.durable IS NULL THEN 'none of its syncs was measured' ELSE l.why END
FROM (VALUES (1)) AS one
LEFT JOIN LATERAL (
    SELECT d.durable, d.why
    FROM (VALUES (1, paced), (2, saturated)) AS v (n, m),
         LATERAL sync_probe_internal.durable(
             of_storage ->> 'write_cache',
             coalesce((of_storage ->> 'flushes_uncounted')::boolean,
                      (of_storage ->> 'fua')::boolean, true)
             OR ((m).method = 'open_datasync' AND (m).direct_io
                 AND (of_storage ->> 'fua')::boolean IS NOT FALSE),
             of_storage ? 'syncs_nothing',
             CASE WHEN of_storage ? 'required_flushes_per_op'
                  THEN (of_storage #>> ARRAY['required_flushes_per_op', (m).ordinal::text])::float8
                  WHEN (of_storage ->> 'write_cache') IS DISTINCT FROM 'mixed'
                  THEN (m).flushes_per_op END,
             (of_storage #>> '{others,most_flushes_per_sec}')::float8 * (m).mean_us / 1e6,
             of_storage ? 'below_flushes_per_op',
             (of_storage #>> ARRAY['below_flushes_per_op', (m).ordinal::text])::float8,
             (of_storage #>> '{others,most_below_flushes_per_sec}')::float8 * (m).mean_us / 1e6,
             CASE WHEN NOT (of_storage ->> 'writes_uncounted')::boolean
                  THEN (m).device_writes_per_op END,
             of_storage ->> 'below_write_cache',
             (of_storage #>> ARRAY['least_flushes_per_op', (m).ordinal::text])::float8,
             (of_storage #>> ARRAY['own_share', (paced).ordinal::text])::float8,
             (of_storage #>> ARRAY['lacking_share', (paced).ordinal::text])::float8,
             (of_storage #>> ARRAY['below_own_share', (paced).ordinal::text])::float8
         ) AS d
    WHERE (m).ops > 0
    ORDER BY array_position('{no,unknown,no_cache,yes}', d.durable), v.n
    LIMIT 1) AS l ON true
$$;

COMMENT ON FUNCTION sync_probe_internal.method_evidence(jsonb, sync_probe.measurements,
  sync_probe.measurements) IS
  'Whether the syncs of a method reach the device, and why that is unknown';

--
-- sync_probe_internal.method_durable
--
-- The word alone.
--
CREATE FUNCTION sync_probe_internal.method_durable(
    of_storage jsonb,
    paced sync_probe.measurements,
    saturated sync_probe.measurements)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT (sync_probe_internal.method_evidence(of_storage, paced, saturated)).durable
$$;

COMMENT ON FUNCTION sync_probe_internal.method_durable(jsonb, sync_probe.measurements,
  sync_probe.measurements) IS
  'Whether the syncs of a method reach the device: yes, no, no_cache or unknown';

