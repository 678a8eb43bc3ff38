--
-- sync_probe_internal.live_run
--
-- The newest trial, else the newest run of the commit suite, whose verdict on a setting
-- counts at the place of the WAL: made by this server, at its directory and device, at the
-- cluster's own pace and size, decided, and nothing has changed since but that its advice was
-- followed.  A trial of the load of the server's own sessions comes first, then one of a
-- workload.
--
CREATE FUNCTION sync_probe_internal.live_run(place sync_probe.locations, of_setting name)
RETURNS SETOF sync_probe.runs
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
SELECT r.*
FROM sync_probe_internal.this_server() AS s,
     (VALUES (1, 'trial', false), (2, 'trial', true), (3, 'commit', false))
         AS u (rank, suite, made),
     LATERAL (
         SELECT r.*
         FROM sync_probe.runs AS r
         WHERE (r.location, r.suite) >= (place.name, u.suite)
           AND (r.location, r.suite) <= (place.name, u.suite)
           AND r.imported_at IS NULL
           AND r.system_identifier = s.system_identifier AND r.host = s.host
           AND r.directory IS NOT DISTINCT FROM place.directory
           AND r.device IS NOT DISTINCT FROM place.device
           AND r.flush_size_source IS DISTINCT FROM 'argument'
           AND r.flush_interval_source IS DISTINCT FROM 'argument'
           AND (r.workload IS NOT NULL) = u.made
           AND CASE WHEN of_setting = 'commit_delay' AND r.suite = 'commit'
                    THEN r.recommended_commit_delay IS NOT NULL
                    ELSE r.setting = of_setting AND r.verdict IN ('switch', 'keep', 'tie') END
         ORDER BY r.location DESC, r.suite DESC, r.run_id DESC
         LIMIT 1) AS r
WHERE NOT EXISTS (
    SELECT FROM unnest(sync_probe_internal.changes_since(r, place)) AS c
    WHERE NOT (of_setting = 'wal_sync_method' AND starts_with(c, 'wal_sync_method ')
               AND r.recommended_value = current_setting('wal_sync_method')))
ORDER BY u.rank
LIMIT 1
$$;

COMMENT ON FUNCTION sync_probe_internal.live_run(sync_probe.locations, name) IS
  'The newest trial, else run of the commit suite, whose verdict on a setting counts';

--
-- sync_probe_internal.live_method
--
-- What that run says of wal_sync_method.  compared: all methods that it measured.
-- loss_bound: a commit with the current method waits at most this much longer than with
-- any other of these.
--
CREATE FUNCTION sync_probe_internal.live_method(
    place sync_probe.locations,
    OUT verdict text,
    OUT current_method text,
    OUT recommended_method text,
    OUT loss_bound double precision,
    OUT basis text,
    OUT run_id bigint,
    OUT measured_at timestamptz,
    OUT compared text[],
    OUT reason text,
    OUT commands text[])
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN f.followed THEN 'keep' ELSE r.verdict END,
       current_setting('wal_sync_method'),
       r.recommended_value,
       CASE WHEN NOT f.followed THEN m.loss_bound END,
       r.suite, r.run_id, r.finished_at, m.compared,
       CASE WHEN f.followed THEN format('chosen instead of %s: ', r.wal_sync_method) ELSE '' END
           || r.reason,
       CASE WHEN r.verdict = 'switch' AND NOT f.followed
            THEN sync_probe_internal.change_commands(current_setting('wal_sync_method'),
                                                     r.recommended_value) END
FROM sync_probe_internal.live_run(place, 'wal_sync_method') AS r,
     LATERAL (SELECT r.verdict = 'switch'
                     AND r.recommended_value = current_setting('wal_sync_method')) AS f (followed),
     LATERAL (
         SELECT array_agg(m.value) AS compared,
                greatest(round((max(m.relative_speed_high)
                                    FILTER (WHERE m.value <> r.wal_sync_method) - 1)::numeric, 3),
                         0)::float8 AS loss_bound
         FROM sync_probe.measurements AS m
         WHERE m.run_id = r.run_id AND m.test = 'wal_sync_method' AND m.status = 'ok') AS m
$$;

COMMENT ON FUNCTION sync_probe_internal.live_method(sync_probe.locations) IS
  'What a trial, or a run of the commit suite, says of wal_sync_method';

--
-- sync_probe_internal.live_commit_delay
--
-- What a trial, or a run of the commit suite, says of commit_delay, with the commits per
-- second relative to those of the value that was current.  It says nothing once the setting
-- has another value than one of these two.
--
CREATE FUNCTION sync_probe_internal.live_commit_delay(
    place sync_probe.locations,
    OUT commit_delay integer,
    OUT basis text,
    OUT rate double precision,
    OUT rate_low double precision,
    OUT rate_high double precision,
    OUT commands text[])
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
SELECT v.commit_delay, r.suite, m.relative_rate, m.relative_rate_low, m.relative_rate_high,
       CASE WHEN v.commit_delay <> s.commit_delay
            THEN ARRAY[format('ALTER SYSTEM SET commit_delay = %s', v.commit_delay),
                       'SELECT pg_reload_conf()'] END
FROM sync_probe_internal.live_run(place, 'commit_delay') AS r
CROSS JOIN LATERAL (SELECT CASE r.suite WHEN 'commit' THEN r.recommended_commit_delay
                                        -- a value of the history may be anything
                                        ELSE substring(r.recommended_value
                                                       FROM '^[0-9]{1,6}$')::integer END)
    AS v (commit_delay)
CROSS JOIN (SELECT setting::integer FROM pg_settings WHERE name = 'commit_delay')
    AS s (commit_delay)
LEFT JOIN sync_probe.measurements AS m
    ON m.run_id = r.run_id AND m.test = 'commit_delay' AND m.value = v.commit_delay::text
LEFT JOIN sync_probe.measurements AS c
    ON c.run_id = r.run_id AND c.test = 'commit_delay' AND c.choice = 'current'
WHERE s.commit_delay IN (v.commit_delay, coalesce(substring(c.value FROM '^[0-9]{1,6}$')::integer,
                                                v.commit_delay))
$$;

COMMENT ON FUNCTION sync_probe_internal.live_commit_delay(sync_probe.locations) IS
  'What a trial, or a run of the commit suite, says of commit_delay';
