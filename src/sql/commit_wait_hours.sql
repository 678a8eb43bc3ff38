--
-- commit_wait_hours
--
-- Each result stands for its minute, whatever time it sampled.
--
CREATE FUNCTION sync_probe_internal.commit_wait_hours()
RETURNS TABLE (
    hour timestamptz,
    samples bigint,
    duration interval,
    commits_per_sec double precision,
    commit_wait_us double precision,
    wal_busy double precision,
    committers integer,
    flushes_per_sec double precision,
    wal_bytes_per_commit double precision,
    worst_wait_us double precision,
    worst_at timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT date_trunc('hour', w.started_at), count(*), sum(w.duration),
       round(avg(w.commits_per_sec)::numeric, 1),
       round((sum(w.commit_wait_us * w.commits_per_sec)
              / nullif(sum(w.commits_per_sec), 0))::numeric, 1),
       round(avg(w.wal_busy)::numeric, 4), max(w.committers),
       round(avg(w.flushes_per_sec)::numeric, 1),
       round((sum(w.wal_bytes_per_commit * w.commits_per_sec)
              / nullif(sum(w.commits_per_sec), 0))::numeric),
       max(w.commit_wait_us),
       (array_agg(w.started_at ORDER BY w.commit_wait_us DESC)
            FILTER (WHERE w.commit_wait_us IS NOT NULL))[1]
FROM sync_probe.commit_wait_results AS w
JOIN sync_probe_internal.this_server() AS s USING (system_identifier, host)
GROUP BY 1
ORDER BY 1 DESC
$$;

CREATE VIEW sync_probe.commit_wait_hours AS
SELECT h.hour, h.samples, h.commits_per_sec, h.commit_wait_us, h.wal_busy, h.worst_wait_us,
       h.worst_at
FROM sync_probe_internal.commit_wait_hours() AS h;

GRANT SELECT ON sync_probe.commit_wait_hours TO pg_monitor;

COMMENT ON VIEW sync_probe.commit_wait_hours IS
  'Results of commit_waits() of this server by hour, newest first; null if unknown';
COMMENT ON COLUMN sync_probe.commit_wait_hours.hour IS 'Start';
COMMENT ON COLUMN sync_probe.commit_wait_hours.samples IS 'Results that began in it';
COMMENT ON COLUMN sync_probe.commit_wait_hours.commits_per_sec IS 'Mean of the results';
COMMENT ON COLUMN sync_probe.commit_wait_hours.commit_wait_us IS 'Mean of their commits';
COMMENT ON COLUMN sync_probe.commit_wait_hours.wal_busy IS 'Mean of the results';
COMMENT ON COLUMN sync_probe.commit_wait_hours.worst_wait_us IS 'Highest of the results';
COMMENT ON COLUMN sync_probe.commit_wait_hours.worst_at IS 'Start of that result';

--
-- What gives a probe its pace, see sp_observed_commits: the newest result of this server that saw
-- a load, else a commit, and is not older; or the busiest hour of the last week.  Less than 30 s of
-- samples in an hour may have met one bulk load.
--
CREATE FUNCTION sync_probe_internal.observed_commits(
    busiest_hour boolean,
    max_age integer,
    min_committing double precision)
RETURNS TABLE (committers float8, commits_per_sec float8, wal_bytes_per_commit float8,
               commit_wait_us float8, flushes float8, flushes_per_sec float8,
               bytes_per_flush float8, wal_busy float8)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT o.committers, o.commits_per_sec, o.wal_bytes_per_commit, o.commit_wait_us,
       o.flushes_per_sec * extract(epoch FROM o.duration), o.flushes_per_sec,
       o.wal_bytes_per_commit * o.commits_per_sec / nullif(o.flushes_per_sec, 0), o.wal_busy
FROM (SELECT -h.commits_per_sec AS place, h.hour AS started_at, h.duration,
             h.committers, h.commits_per_sec, h.wal_bytes_per_commit, h.commit_wait_us,
             h.flushes_per_sec, h.wal_busy
      FROM sync_probe_internal.commit_wait_hours() AS h
      -- a clock that was ahead has dated results in the future
      WHERE busiest_hour AND h.hour BETWEEN now() - interval '7 days' AND now()
        AND h.duration >= '30 s'
      UNION ALL
      SELECT 1 - (l.committing > min_committing)::integer, w.started_at,
             w.duration, w.committers, w.commits_per_sec, w.wal_bytes_per_commit,
             w.commit_wait_us, w.flushes_per_sec, w.wal_busy
      FROM sync_probe.commit_wait_results AS w
      JOIN sync_probe_internal.this_server() AS s USING (system_identifier, host),
           -- sessions that wait for WAL at a time, by Little's law
           LATERAL (SELECT w.commits_per_sec / 1e6
                           * coalesce(w.sync_us + w.write_us + w.queue_us + w.commit_delay_us
                                      + w.sync_rep_us, w.commit_wait_us)) AS l (committing)
      WHERE NOT busiest_hour AND w.commits_per_sec > 0
        AND w.started_at BETWEEN clock_timestamp() - make_interval(secs => max_age)
                             AND clock_timestamp()) AS o
ORDER BY o.place, o.started_at DESC
LIMIT 1
$$;

--
-- delete_history
--
-- Advice rests on the newest run of a sort, see advice() and live_runs().  What belongs to a run
-- goes with it, see delete_rows().
--
CREATE FUNCTION sync_probe.delete_history(
    older_than interval,
    keep integer DEFAULT 10,
    OUT runs bigint,
    OUT commit_wait_results bigint,
    OUT workload_results bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bad text := CASE WHEN (older_than >= '0' AND isfinite(older_than)) IS NOT TRUE
                     THEN format('older_than "%s"', coalesce(older_than::text, 'null'))
                     WHEN (keep >= 0) IS NOT TRUE
                     THEN format('keep "%s"', coalesce(keep::text, 'null')) END;
BEGIN
    IF bad <> '' THEN
        RAISE EXCEPTION '% is out of range', bad
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'For example: SELECT * FROM sync_probe.delete_history(''1 year'', 10).';
    END IF;
    DELETE FROM sync_probe.runs AS r
    -- imported ones apart: they displace none that was measured here
    USING (SELECT n.run_id, row_number() OVER (PARTITION BY n.imported_at IS NULL,
                      n.system_identifier, n.host, n.location, n.suite
                      ORDER BY n.run_id DESC) AS place,
                  row_number() OVER (PARTITION BY n.imported_at IS NULL, n.system_identifier,
                      n.host, n.location, n.suite, n.usable_for_advice, n.directory, n.device,
                      n.setting, n.workload, n.verdict, n.wal_sync_method
                      ORDER BY n.run_id DESC) AS place_of_its_sort
           FROM sync_probe.runs AS n) AS n
    WHERE n.run_id = r.run_id AND n.place > keep
      AND (n.place_of_its_sort > 1 OR NOT r.usable_for_advice AND r.suite <> 'power_test')
      AND coalesce(r.finished_at, r.imported_at) < now() - older_than;
    GET DIAGNOSTICS runs = ROW_COUNT;
    DELETE FROM sync_probe.commit_wait_results AS w WHERE w.started_at < now() - older_than;
    GET DIAGNOSTICS commit_wait_results = ROW_COUNT;
    DELETE FROM sync_probe.workload_results AS w WHERE w.finished_at < now() - older_than;
    GET DIAGNOSTICS workload_results = ROW_COUNT;
END
$$;

REVOKE ALL ON FUNCTION sync_probe.delete_history FROM PUBLIC;

COMMENT ON FUNCTION sync_probe.delete_history IS
  'Delete older runs, and results of commit_waits() and workloads, except the newest runs (keep) '
  'of each server, location and suite, and those that advice can rest on. Requires SELECT and '
  'DELETE on the tables';
