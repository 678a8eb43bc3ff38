--
-- sync_probe_internal.report_probe
--
-- A run of the wal suite in a report: n is its place in figures, name its location, with the
-- number of the run if the page has several runs of that, advised the method that its verdict
-- recommends.
--
CREATE TYPE sync_probe_internal.report_probe AS (
    n bigint,
    run_id bigint,
    name text,
    location name,
    current_method text,
    advised text,
    verdict text,
    storage jsonb);

COMMENT ON TYPE sync_probe_internal.report_probe IS
  'A run of the wal suite in a report';

--
-- sync_probe_internal.report_method
--
-- A method that such a run measured in both regimes, whether its syncs reach the device, and the
-- colour of its marks.
--
CREATE TYPE sync_probe_internal.report_method AS (
    n bigint,
    run_id bigint,
    name text,
    location name,
    method text,
    is_current boolean,
    is_advised boolean,
    durable text,
    colour text,
    paced sync_probe.measurements,
    saturated sync_probe.measurements);

COMMENT ON TYPE sync_probe_internal.report_method IS
  'A method of a run in a report';

--
-- sync_probe_internal.report_data
--
-- What the sections of the report are made from, read once.  chosen: the caller named the runs;
-- otherwise they are the newest runs of this server.  more: without such a choice, earlier runs of
-- pg_wal, and the newest runs of other suites.  paths: whether the page may show where things are;
-- if not, they are left out of this data already.  probes and methods are about the first 24 runs
-- of the wal suite.
--
CREATE TYPE sync_probe_internal.report_data AS (
    chosen boolean,
    paths boolean,
    places sync_probe.locations[],
    runs sync_probe.runs[],
    more sync_probe.runs[],
    advice sync_probe.recommendation_details[],
    findings sync_probe.findings[],
    probes sync_probe_internal.report_probe[],
    methods sync_probe_internal.report_method[]);

COMMENT ON TYPE sync_probe_internal.report_data IS
  'What the sections of the report are made from';

--
-- sync_probe_internal.secrets
--
-- What tells where the data are: directories, mount points, backing files, ZFS datasets and
-- pools, and names of hosts.  The longest come first.
--
CREATE FUNCTION sync_probe_internal.secrets(
    places sync_probe.locations[],
    runs sync_probe.runs[])
RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT coalesce(array_agg(s.secret ORDER BY length(s.secret) DESC, s.secret), '{}')
FROM (SELECT p.directory FROM unnest(places) AS p
      UNION SELECT p.mount_point FROM unnest(places) AS p
      UNION SELECT r.directory FROM unnest(runs) AS r
      UNION SELECT r.host FROM unnest(runs) AS r
      UNION SELECT r.storage ->> k
            FROM unnest(runs) AS r, unnest('{mount_point,backing_file}'::text[]) AS k
      UNION SELECT r.storage -> 'zfs' ->> k
            FROM unnest(runs) AS r, unnest('{dataset,pool}'::text[]) AS k
      UNION SELECT host FROM sync_probe_internal.this_server()
      UNION SELECT current_setting('data_directory', true)) AS s (secret)
WHERE s.secret NOT IN ('', '/')
$$;

COMMENT ON FUNCTION sync_probe_internal.secrets(sync_probe.locations[], sync_probe.runs[]) IS
  'What tells where the data are';

--
-- sync_probe_internal.without_paths
--
-- A text with "(path)" instead of such names, and of whatever else looks like an absolute path
-- outside of /dev, /proc and /sys.
--
CREATE FUNCTION sync_probe_internal.without_paths(plain text, secrets text[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    secret text;
BEGIN
    FOREACH secret IN ARRAY secrets LOOP
        IF strpos(plain, secret) > 0 THEN
            plain := regexp_replace(plain, '(?<!\w)' || regexp_replace(secret, '(\W)', '\\\1', 'g')
                                           || '(?!\w)', '(path)', 'g');
        END IF;
    END LOOP;
    RETURN regexp_replace(plain, '(?<![\w/)])/(?!(?:sys|proc|dev)/)[^\s"'',;:()]+', '(path)', 'g');
END
$$;

COMMENT ON FUNCTION sync_probe_internal.without_paths(text, text[]) IS
  'A text without paths and names of hosts';

--
-- sync_probe_internal.storage_without_paths
--
-- The same of each text in runs.storage.  Not of the whole as one text: what is escaped there is
-- no path any more, and the host may have the name of a member, or be a number.
--
CREATE FUNCTION sync_probe_internal.storage_without_paths(member jsonb, secrets text[])
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE jsonb_typeof(member)
        WHEN 'string' THEN to_jsonb(sync_probe_internal.without_paths(member #>> '{}', secrets))
        WHEN 'array' THEN
            (SELECT coalesce(jsonb_agg(
                        sync_probe_internal.storage_without_paths(a.value, secrets) ORDER BY a.n),
                    '[]')
             FROM jsonb_array_elements(member) WITH ORDINALITY AS a (value, n))
        WHEN 'object' THEN
            (SELECT coalesce(jsonb_object_agg(o.key,
                        sync_probe_internal.storage_without_paths(o.value, secrets)), '{}')
             FROM jsonb_each(member) AS o)
        ELSE member END;
END
$$;

COMMENT ON FUNCTION sync_probe_internal.storage_without_paths(jsonb, text[]) IS
  'runs.storage, or a member of it, without paths and names of hosts';

--
-- sync_probe_internal.runs_without_paths
--
-- This machine has no name then, another one "(host)".
--
CREATE FUNCTION sync_probe_internal.runs_without_paths(runs sync_probe.runs[], secrets text[])
RETURNS sync_probe.runs[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ARRAY(
    SELECT jsonb_populate_record(runs[i], jsonb_build_object(
               'directory', NULL, 'username', NULL,
               'host', CASE WHEN (runs[i]).host <> s.host THEN '(host)' END,
               'label', sync_probe_internal.without_paths((runs[i]).label, secrets),
               'reason', sync_probe_internal.without_paths((runs[i]).reason, secrets),
               'storage', sync_probe_internal.storage_without_paths((runs[i]).storage, secrets)))
    FROM generate_subscripts(runs, 1) AS i, sync_probe_internal.this_server() AS s ORDER BY i)
$$;

COMMENT ON FUNCTION sync_probe_internal.runs_without_paths(sync_probe.runs[], text[]) IS
  'Runs without what tells where things are';

--
-- sync_probe_internal.report_without_paths
--
-- The data without what tells where things are.  Labels and names of tablespaces stay: users gave
-- them to know things again.
--
CREATE FUNCTION sync_probe_internal.report_without_paths(data sync_probe_internal.report_data)
RETURNS sync_probe_internal.report_data
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW(data.chosen, data.paths,
    ARRAY(SELECT jsonb_populate_record(data.places[i], jsonb_build_object(
                     'directory', NULL, 'mount_point', NULL, 'mount_options',
                     sync_probe_internal.without_paths((data.places[i]).mount_options, s.secrets)))
          FROM generate_subscripts(data.places, 1) AS i ORDER BY i),
    sync_probe_internal.runs_without_paths(data.runs, s.secrets),
    sync_probe_internal.runs_without_paths(data.more, s.secrets),
    ARRAY(SELECT jsonb_populate_record(data.advice[i], jsonb_build_object(
                     'reason', sync_probe_internal.without_paths((data.advice[i]).reason,
                                                                 s.secrets)))
          FROM generate_subscripts(data.advice, 1) AS i ORDER BY i),
    ARRAY(SELECT jsonb_populate_record(data.findings[i], jsonb_build_object(
                     'message', sync_probe_internal.without_paths(f.message, s.secrets),
                     'hint', sync_probe_internal.without_paths(f.hint, s.secrets),
                     'commands', (SELECT array_agg(sync_probe_internal.without_paths(c.command,
                                                                                     s.secrets)
                                                   ORDER BY c.n)
                                  FROM unnest(f.commands) WITH ORDINALITY AS c (command, n)),
                     'evidence', jsonb_build_object('run_id', f.evidence -> 'run_id')))
          FROM generate_subscripts(data.findings, 1) AS i,
               LATERAL (SELECT (data.findings[i]).*) AS f
          ORDER BY i),
    data.probes, data.methods)::sync_probe_internal.report_data
FROM (SELECT sync_probe_internal.secrets(data.places, data.runs || data.more)
      OFFSET 0) AS s (secrets) -- not pulled up, which would repeat the call
$$;

COMMENT ON FUNCTION
  sync_probe_internal.report_without_paths(sync_probe_internal.report_data) IS
  'The data of a report without what tells where things are';

--
-- sync_probe_internal.report_more
--
-- Runs of this cluster beside those that its advice rests on: the newest 60 of pg_wal by the wal
-- suite, as in history(), and the newest of each other suite, setting and location.
--
CREATE FUNCTION sync_probe_internal.report_more()
RETURNS sync_probe.runs[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT array_agg(m.run ORDER BY m.run_id DESC)
FROM (SELECT * FROM (
          SELECT r AS run, r.run_id
          FROM sync_probe.runs AS r
          WHERE (r.location, r.suite) >= ('pg_wal', 'wal')
            AND (r.location, r.suite) <= ('pg_wal', 'wal') AND r.imported_at IS NULL
            AND r.system_identifier = (SELECT s.system_identifier
                                       FROM sync_probe_internal.this_server() AS s)
          ORDER BY r.location DESC, r.suite DESC, r.run_id DESC
          LIMIT 60) AS history
      UNION ALL
      SELECT n.run, n.run_id
      FROM (SELECT DISTINCT ON (r.suite, r.location, r.setting, r.workload IS NULL)
                   r AS run, r.run_id
            FROM sync_probe.runs AS r
            WHERE r.suite <> 'wal' AND r.imported_at IS NULL
              AND r.system_identifier = (SELECT s.system_identifier
                                         FROM sync_probe_internal.this_server() AS s)
            ORDER BY r.suite, r.location, r.setting, r.workload IS NULL, r.run_id DESC) AS n
     ) AS m
$$;

COMMENT ON FUNCTION sync_probe_internal.report_more() IS
  'Earlier runs of this cluster on pg_wal, and the newest of other suites';

--
-- sync_probe_internal.report_newest
--
-- The data of this server: its advice, the runs that this rests on, and findings.
--
CREATE FUNCTION sync_probe_internal.report_newest(paths boolean)
RETURNS sync_probe_internal.report_data
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT ROW(false, paths,
    ARRAY(SELECT l FROM sync_probe.locations AS l ORDER BY l.holds_wal DESC, l.name),
    ARRAY(SELECT n.run FROM sync_probe_internal.newest_runs AS n
          WHERE (n.run).run_id IS NOT NULL
          ORDER BY n.location <> 'pg_wal', n.location),
    sync_probe_internal.report_more(),
    ARRAY(SELECT d FROM sync_probe.recommendation_details AS d
          ORDER BY d.holds_wal DESC, d.location),
    ARRAY(SELECT f FROM sync_probe.findings AS f
          ORDER BY array_position('{error,warning,info}', f.severity),
                   f.location <> 'pg_wal', f.location, f.code, f.message),
    NULL, NULL)::sync_probe_internal.report_data
$$;

COMMENT ON FUNCTION sync_probe_internal.report_newest(boolean) IS
  'The data of a report on this server';
