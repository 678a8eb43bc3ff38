-- A stage for tests of what views make of recorded runs: locations are rows of the
-- temporary table "examined", pg_wal and pg_default on a disk of its own, and record_run() records
-- a run that counts there.  To be included in a transaction that is rolled back.
SET LOCAL pg_sync_probe.margin = 0.05;
CREATE TEMP TABLE examined AS
SELECT s.*
FROM (VALUES ('pg_wal', '/data', 'nvme0n1'), ('pg_default', '/tables', 'sdb'))
         AS v (name, directory, device),
     jsonb_populate_record(NULL::sync_probe_internal.storage,
         '{"filesystem": "ext4", "mount_options": "rw", "write_cache": "write back", "fua": false,
           "size_bytes": 100000000000, "available_bytes": 50000000000, "missing": false}'
         || jsonb_build_object('mount_point', directory, 'disks', ARRAY[device],
                               'holds_wal', name = 'pg_wal') || to_jsonb(v)) AS s;

CREATE OR REPLACE FUNCTION sync_probe_internal.examine_locations(
    only_location name, named name[] DEFAULT NULL)
RETURNS SETOF sync_probe_internal.storage
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$SELECT * FROM examined AS e WHERE only_location IS NULL OR e.name = only_location$$;

-- Members of the second replace those of the first, also in objects.
CREATE FUNCTION pg_temp.merged(a jsonb, b jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT CASE WHEN jsonb_typeof(a) = 'object' AND jsonb_typeof(b) = 'object'
                THEN a || (SELECT coalesce(jsonb_object_agg(key, pg_temp.merged(a -> key, value)),
                                           '{}') FROM jsonb_each(b))
                ELSE b END
$$;

-- The object that differences are, such as "durable=no; paced: p50_us=9, ops=7; storage.zfs: ...":
-- members by section.  A value that is no JSON is a string.
CREATE FUNCTION pg_temp.given(differences text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    given jsonb := '{}';
    section text;
    m text[];
    path text[];
BEGIN
    FOR section, m IN
        SELECT s, regexp_match(p, '^(\w+)=(.*)$')
        FROM regexp_split_to_table(differences, '; ') AS s,
             regexp_split_to_table(regexp_replace(s, '^[a-z0-9._]+: ', ''), ', (?=\w+=)') AS p
        WHERE p <> '' LOOP
        path := string_to_array(substring(section FROM '^([a-z0-9._]+): '), '.') || m[1];
        given := pg_temp.merged(given, jsonb(concat(
            (SELECT string_agg(format('{%s:', to_json(p)), '') FROM unnest(path) AS p),
            CASE WHEN m[2] ~ '^([\[{].*|-?[0-9.]+|true|false|null)$' THEN m[2]
                 ELSE to_json(m[2])::text END,
            repeat('}', cardinality(path)))));
    END LOOP;
    RETURN given;
END
$$;

-- A run of the wal suite, usable for advice, with differences: its verdict is to keep its method,
-- whose syncs reach the device.  Its location becomes as the run says, so that the run counts,
-- unless told otherwise.
CREATE FUNCTION pg_temp.record_run(differences jsonb, place_follows boolean DEFAULT true)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    run jsonb;
BEGIN
    SELECT to_jsonb(s) || jsonb_build_object('run_id', nextval('sync_probe.runs_run_id_seq'),
               'started_at', now(), 'finished_at', now(),
               'location', 'pg_wal', 'suite', 'wal', 'wal_sync_method', 'fdatasync',
               'directory', '/data', 'filesystem', 'ext4', 'device', 'nvme0n1',
               'flush_size', 8192, 'flush_interval', '5 ms', 'usable_for_advice', true)
           || CASE coalesce(differences ->> 'suite', 'wal') WHEN 'wal'
              THEN jsonb_build_object('setting', 'wal_sync_method', 'verdict', 'keep',
                  'recommended_value', coalesce(differences ->> 'wal_sync_method', 'fdatasync'),
                  'best_value', coalesce(differences ->> 'recommended_value',
                                         differences ->> 'wal_sync_method', 'fdatasync'),
                  'max_regret', 0.02, 'durable', 'yes',
                  'margin', current_setting('pg_sync_probe.margin', true)::float8,
                  'reason', 'no other method is faster by more than the margin')
              ELSE '{}' END
           || differences
           || jsonb_build_object('storage', jsonb_strip_nulls(
                  '{"write_cache": "write back"}' || coalesce(differences -> 'storage', '{}')))
           || CASE WHEN differences ? 'imported_at' THEN '{"usable_for_advice": false}'::jsonb
              ELSE '{}' END
    INTO run FROM sync_probe_internal.this_server() AS s;

    INSERT INTO sync_probe.runs OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(NULL::sync_probe.runs, run)).*;
    IF place_follows THEN
        UPDATE examined SET directory = run ->> 'directory', filesystem = run ->> 'filesystem',
            device = run ->> 'device', write_cache = run #>> '{storage,write_cache}',
            mount_options = run #>> '{storage,mount_options}'
        WHERE name = run ->> 'location';
    END IF;
    RETURN run -> 'run_id';
END
$$;

-- Test cases of a run, with their differences from one of fdatasync; "entries" are those of its
-- samples.  Returns the run.
CREATE FUNCTION pg_temp.record_cases(run_id bigint, VARIADIC cases jsonb[]) RETURNS bigint
LANGUAGE sql AS $$
    INSERT INTO sync_probe.measurements
    SELECT m.*
    FROM unnest(cases) WITH ORDINALITY AS c (given, n),
         jsonb_populate_record(NULL::sync_probe.measurements,
             '{"test": "paced", "method": "fdatasync", "direct_io": false, "status": "ok",
               "ops": 1000}' || jsonb_build_object('run_id', run_id, 'ordinal', c.n)
             || c.given) AS m;
    INSERT INTO sync_probe_internal.samples (run_id, ordinal, round_mean_us)
    SELECT run_id, n, ARRAY(SELECT jsonb_array_elements_text(given -> 'entries')::float8)
    FROM unnest(cases) WITH ORDINALITY AS c (given, n) WHERE given ? 'entries';
    SELECT run_id
$$;
