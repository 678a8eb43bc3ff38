--
-- The data of the report's sections, read once.  chosen: the caller named the runs;
-- otherwise they are the newest runs of this server.  more: without such a choice, earlier runs of
-- pg_wal, and the newest runs of other suites.  fleet: as in fleet_compare, of the chosen runs or
-- of all.  paths: whether the page may show where things are; if not, they are left out of this
-- data already.
--
CREATE TYPE sync_probe_internal.report_data AS (
    chosen boolean,
    paths boolean,
    places sync_probe.locations[],
    runs sync_probe.runs[],
    more sync_probe.runs[],
    advice sync_probe.recommendation_details[],
    findings sync_probe.findings[],
    fleet sync_probe.fleet_compare[]);

--
-- A text with "(path)" instead of redacted names, and of whatever else looks like an absolute path
-- outside of /dev, /proc and /sys; without addresses and names of users in mount options.
--
CREATE FUNCTION sync_probe_internal.without_paths(plain text, redacted text[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY redacted LOOP
        IF strpos(plain, name) > 0 THEN
            plain := regexp_replace(plain, '(?<!\w)' || regexp_replace(name, '(\W)', '\\\1', 'g')
                                           || '(?!\w)', '(path)', 'g');
        END IF;
    END LOOP;
    -- mount options of network file systems
    plain := regexp_replace(plain, '\m((client|mount|mon_)?addr|(user)?name|user|domain)=[^,;\s]+',
                            '\1=(hidden)', 'g');
    RETURN regexp_replace(plain, '(?<![\w/)])/(?!(?:sys|proc|dev)/)[^\s"'',;:()]+', '(path)', 'g');
END
$$;

--
-- The data without paths and host names, as JSON.  is_prose: texts in it are free text, in
-- which a path or the name of a host may stand; all others are names of this extension, or names
-- that users gave to tablespaces to know them again.
--
CREATE FUNCTION sync_probe_internal.data_without_paths(
    data jsonb,
    redacted text[],
    is_prose boolean DEFAULT false)
RETURNS jsonb
LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE
        WHEN jsonb_typeof(data) = 'string' AND is_prose
        THEN to_jsonb(sync_probe_internal.without_paths(data #>> '{}', redacted))
        WHEN jsonb_typeof(data) = 'array'
        THEN (SELECT coalesce(jsonb_agg(sync_probe_internal.data_without_paths(
                                            a.value, redacted, is_prose) ORDER BY a.n), '[]')
              FROM jsonb_array_elements(data) WITH ORDINALITY AS a (value, n))
        WHEN jsonb_typeof(data) = 'object'
        THEN (SELECT coalesce(jsonb_object_agg(o.key, CASE
                         WHEN o.key IN ('directory', 'mount_point') THEN 'null'
                         -- another host remains another one
                         WHEN o.key = 'host' THEN CASE WHEN o.value #>> '{}' <> (
                             SELECT s.host FROM sync_probe_internal.this_server() AS s)
                             THEN '"(host)"'::jsonb ELSE 'null' END
                         ELSE sync_probe_internal.data_without_paths(o.value, redacted,
                             is_prose OR o.key IN ('label', 'reason', 'message', 'hint', 'commands',
                                                   'storage', 'mount_options', 'evidence')) END),
                         '{}')
              FROM jsonb_each(data) AS o)
        ELSE data END;
END
$$;

--
-- Where a run comes from, if not from this server: then nothing follows from it for this one.
-- Without paths the host of this server's runs is null.
--
CREATE FUNCTION sync_probe_internal.report_origin(run sync_probe.runs)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN run.imported_at IS NOT NULL THEN 'imported'
            WHEN run.system_identifier IS DISTINCT FROM s.system_identifier
                 OR run.host <> s.host THEN 'another server' END
FROM sync_probe_internal.this_server() AS s
$$;

--
-- The data of given runs: the verdicts of the first 100 as they were stored, without commands, and
-- the findings that rest on one of them.  With null that of this server: its advice, the runs that
-- this rests on, both with pg_wal before the worst verdicts, and all findings.  more: the newest 60
-- of pg_wal by the wal suite, as in history(), and the newest of each other suite, setting and
-- location.
--
CREATE FUNCTION sync_probe_internal.report_data(run_ids bigint[], paths boolean)
RETURNS sync_probe_internal.report_data
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH own AS MATERIALIZED (
    SELECT a AS advice, a.run, row_number() OVER (ORDER BY a.location <> 'pg_wal', array_position(
               '{unsafe,switch,undecided}', a.verdict), a.location) AS n
    FROM sync_probe_internal.advice(also => NULL) AS a WHERE run_ids IS NULL
)
SELECT ROW(c.chosen, paths,
    ARRAY(SELECT l FROM sync_probe.locations AS l ORDER BY l.name <> 'pg_wal', l.name), r.runs,
    CASE WHEN NOT c.chosen
         THEN (SELECT array_agg(m.run ORDER BY m.run_id DESC)
               FROM (SELECT *
                     FROM (SELECT r AS run, r.run_id
                           FROM sync_probe.runs AS r
                           JOIN sync_probe_internal.this_server() USING (system_identifier)
                           WHERE r.suite = 'wal' AND r.location = 'pg_wal'
                             AND r.imported_at IS NULL
                           ORDER BY r.run_id + 0 DESC
                           LIMIT 60) AS history
                     UNION ALL
                     (SELECT DISTINCT ON (r.suite, r.location, r.setting, r.workload IS NULL)
                             o.run, r.run_id
                      FROM sync_probe_internal.own_runs AS o, LATERAL (SELECT (o.run).*) AS r
                      WHERE r.suite <> 'wal'
                      ORDER BY r.suite, r.location, r.setting, r.workload IS NULL,
                               r.run_id DESC)) AS m) END,
    CASE WHEN c.chosen
         THEN ARRAY(SELECT jsonb_populate_record(NULL::sync_probe.recommendation_details,
                        to_jsonb(n) || jsonb_build_object('current_method',
                            CASE WHEN n.suite = 'wal' THEN n.wal_sync_method
                                 WHEN n.setting = 'wal_sync_method' THEN m.method
                                 ELSE n.setting || ' = ' || m.method END,
                            'recommended_method', n.recommended_value,
                            'best_method', n.best_value, 'basis', n.suite,
                            'flush_us', CASE n.suite WHEN 'wal' THEN (sync_probe_internal
                                .deciding_case(m.measured, n.recommended_value)).mean_us END))
                    FROM unnest(r.runs) WITH ORDINALITY AS n,
                         LATERAL (SELECT coalesce(array_agg(m), '{}') AS measured, min(m.method)
                                      FILTER (WHERE m.choice = 'current' AND m.test = n.setting)
                                      AS method
                                  FROM sync_probe.measurements AS m
                                  WHERE m.run_id = n.run_id) AS m
                    WHERE n.suite IN ('wal', 'trial', 'commit') AND n.verdict IS NOT NULL
                      AND n.ordinality <= 100
                    ORDER BY n.ordinality)
         ELSE ARRAY(SELECT jsonb_populate_record(NULL::sync_probe.recommendation_details,
                                                 to_jsonb(o.advice)
                                                 - '{place,run,measured}'::text[])
                    FROM own AS o ORDER BY o.n) END,
    ARRAY(SELECT f FROM sync_probe.findings AS f
          WHERE NOT c.chosen OR (f.evidence ->> 'run_id')::bigint = ANY (run_ids)
          ORDER BY array_position('{error,warning,info}', f.severity),
                   f.location <> 'pg_wal', f.location, f.code, f.message),
    ARRAY(SELECT ROW(n.*)::sync_probe.fleet_compare
          FROM sync_probe_internal.compared_nodes(run_ids) AS n)
    )::sync_probe_internal.report_data
FROM (SELECT run_ids IS NOT NULL) AS c (chosen),
     LATERAL (SELECT CASE WHEN c.chosen
                          THEN ARRAY(SELECT r FROM sync_probe.runs AS r
                                     WHERE r.run_id = ANY (run_ids)
                                     ORDER BY array_position(run_ids, r.run_id))
                          ELSE ARRAY(SELECT o.run FROM own AS o
                                     WHERE (o.run).run_id IS NOT NULL ORDER BY o.n)
                     END) AS r (runs)
$$;

--
-- The findings as the page shows them: those of info stand together by code, in the words of the
-- first.  number is what links point to.
--
CREATE FUNCTION sync_probe_internal.report_findings(
    data sync_probe_internal.report_data,
    OUT number bigint,
    OUT severity text,
    OUT code text,
    OUT locations text[],
    OUT run_ids bigint[],
    OUT message text,
    OUT hint text,
    OUT commands text[])
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT row_number() OVER (ORDER BY min(f.n)), f.severity, f.code,
       array_agg(f.location::text ORDER BY f.n),
       array_agg((f.evidence ->> 'run_id')::bigint ORDER BY f.n),
       (array_agg(f.message ORDER BY f.n))[1], (array_agg(f.hint ORDER BY f.n))[1],
       ARRAY(SELECT jsonb_array_elements_text((jsonb_agg(f.commands ORDER BY f.n)
                                                   FILTER (WHERE f.commands IS NOT NULL)) -> 0))
FROM unnest(data.findings) WITH ORDINALITY
     AS f (location, severity, code, message, hint, commands, evidence, n)
GROUP BY f.severity, f.code, f.hint, CASE WHEN f.severity <> 'info' THEN f.n END
$$;

--
-- All measurements of a run, in the order of its test cases, for a table.  detail names files, so
-- that it goes with the paths.
--
CREATE FUNCTION sync_probe_internal.report_cells(run_id bigint, paths boolean)
RETURNS json
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT json_agg(cell ORDER BY m.ordinal)
FROM sync_probe.measurements AS m
JOIN sync_probe.runs AS r USING (run_id),
     LATERAL (SELECT m.test, m.method, m.choice, m.verdict, m.direct_io AS "O_DIRECT",
                     m.status, m.ops, m.ops_per_sec AS "ops/s", m.mean_us AS "mean us",
                     m.p50_us AS "p50 us", m.p99_us AS "p99 us", m.max_us AS "max us",
                     m.relative_speed AS speed, m.relative_speed_low AS low,
                     m.relative_speed_high AS high,
                     m.flushes_per_op AS "flushes/op",
                     (r.storage #>> ARRAY['device_bytes_per_op', m.ordinal::text])::float8
                         AS "bytes/op",
                     100 * (r.storage #>> ARRAY['device_utilization', m.ordinal::text])::float8
                         AS "busy %",
                     CASE WHEN paths THEN m.detail END AS detail) AS cell
WHERE m.run_id = report_cells.run_id
$$;
