--
-- A stage for tests of what views make of recorded runs: locations are rows of the
-- temporary table "examined", and record_run() records a run that counts there.
-- To be included in a transaction that is rolled back.
--
CREATE TEMP TABLE examined AS SELECT * FROM sync_probe_internal.examine_locations(NULL);

CREATE OR REPLACE FUNCTION sync_probe_internal.examine_locations(only_location name)
RETURNS SETOF sync_probe_internal.storage
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$SELECT * FROM examined AS e WHERE only_location IS NULL OR e.name = only_location$$;

-- A run of the wal suite, usable for advice, with differences: its verdict is to keep its method,
-- whose syncs reach the device.  Its location becomes as the run says, so that the run counts,
-- unless told otherwise.
CREATE FUNCTION pg_temp.record_run(differences jsonb, place_follows boolean DEFAULT true)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    id bigint := nextval('sync_probe.runs_run_id_seq');
    columns text;
    run jsonb;
BEGIN
    SELECT string_agg(quote_ident(attname), ', ') INTO columns
    FROM pg_attribute
    WHERE attrelid = 'sync_probe.runs'::regclass AND attnum > 0 AND NOT attisdropped;

    SELECT to_jsonb(s) || jsonb_build_object('run_id', id, 'started_at', now(), 'finished_at',
        now(),
               'location', 'pg_wal', 'suite', 'wal', 'wal_sync_method', 'fdatasync',
               'directory', '/data', 'filesystem', 'ext4', 'device', 'nvme0n1',
               'flush_size', 8192, 'flush_interval', '5 ms', 'usable_for_advice', true)
           || CASE coalesce(differences ->> 'suite', 'wal') WHEN 'wal'
              THEN jsonb_build_object('setting', 'wal_sync_method', 'verdict', 'keep',
                  'recommended_value', coalesce(differences ->> 'wal_sync_method', 'fdatasync'),
                  'best_value', coalesce(differences ->> 'wal_sync_method', 'fdatasync'),
                  'max_regret', 0.02, 'deciding_test', 'paced', 'flush_us', 120, 'durable', 'yes',
                  'margin', current_setting('pg_sync_probe.margin', true)::float8,
                  'reason', 'no other method is faster by more than the margin')
              ELSE '{}' END
           || differences
           || jsonb_build_object('storage', '{"write_cache": "write back"}'
                                            || coalesce(differences -> 'storage', '{}'))
           || CASE WHEN differences ? 'imported_at' THEN '{"usable_for_advice": false}'::jsonb
              ELSE '{}' END
    INTO run FROM sync_probe_internal.this_server() AS s;

    EXECUTE format('INSERT INTO sync_probe.runs (%1$s) SELECT %1$s'
                   ' FROM jsonb_populate_record(NULL::sync_probe.runs, $1)', columns) USING run;
    IF place_follows THEN
        UPDATE examined SET directory = run ->> 'directory', filesystem = run ->> 'filesystem',
            device = run ->> 'device', write_cache = run #>> '{storage,write_cache}',
            mount_options = run #>> '{storage,mount_options}'
        WHERE name = run ->> 'location';
    END IF;
    RETURN id;
END
$$;
