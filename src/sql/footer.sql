-- of sections.sql
$sections$;

-- SET LOCAL in a script lasts until the end of the transaction.
SELECT set_config('default_toast_compression',
                  current_setting('sync_probe.toast_compression'), true);

--
-- Default privileges of the role that creates the extension are about its own objects.  Here they
-- would let others change the history, or make a trigger on it, which runs as its owner.
--
DO $$
DECLARE
    holder text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_default_acl) THEN
        RETURN;
    END IF;
    -- ALL, since MAINTAIN is unknown up to PostgreSQL 16
    REVOKE ALL ON ALL TABLES IN SCHEMA sync_probe, sync_probe_internal FROM pg_monitor;
    GRANT SELECT ON ALL TABLES IN SCHEMA sync_probe TO pg_monitor;
    GRANT SELECT ON sync_probe_internal.samples, sync_probe_internal.stream_seconds,
        sync_probe_internal.own_runs TO pg_monitor;
    REVOKE ALL ON ALL SEQUENCES IN SCHEMA sync_probe, sync_probe_internal FROM pg_monitor;
    REVOKE CREATE ON SCHEMA sync_probe, sync_probe_internal FROM pg_monitor;
    ALTER DEFAULT PRIVILEGES IN SCHEMA sync_probe, sync_probe_internal
        REVOKE EXECUTE ON ROUTINES FROM PUBLIC;
    FOR holder IN
        SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
        FROM pg_default_acl AS d, aclexplode(d.defaclacl) AS a
        WHERE d.defaclrole IN (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user)
          AND a.grantee NOT IN (d.defaclrole, 'pg_monitor'::regrole,
                                'pg_execute_server_program'::regrole)
    LOOP
        EXECUTE format('REVOKE CREATE ON SCHEMA sync_probe, sync_probe_internal FROM %1$s;'
            'REVOKE ALL ON ALL TABLES IN SCHEMA sync_probe, sync_probe_internal FROM %1$s;'
            'REVOKE ALL ON ALL SEQUENCES IN SCHEMA sync_probe, sync_probe_internal FROM %1$s',
            holder);
        CONTINUE WHEN holder = 'PUBLIC';
        EXECUTE format('REVOKE ALL ON SCHEMA sync_probe, sync_probe_internal FROM %1$s;'
            'REVOKE ALL ON ALL ROUTINES IN SCHEMA sync_probe, sync_probe_internal FROM %1$s',
            holder);
    END LOOP;
END
$$;
