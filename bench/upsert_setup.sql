-- The upsert of the field report "insert or update by key" (pgbench's :rows keys),
-- as a PL/pgSQL function that updates, and inserts where there was nothing.
CREATE TABLE test (id int PRIMARY KEY, info text, crt_time timestamp) WITH (fillfactor = 50);
INSERT INTO test SELECT n, md5(n::text), now() FROM generate_series(1, :rows) AS n;
CREATE FUNCTION f_upsert(v_id int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE test SET info = md5(random()::text), crt_time = now() WHERE id = v_id;
    IF NOT FOUND THEN
        INSERT INTO test VALUES (v_id, md5(random()::text), now());
    END IF;
EXCEPTION
    WHEN unique_violation THEN NULL;
END
$$;
VACUUM ANALYZE test;
