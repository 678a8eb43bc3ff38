--
-- bar
--
-- A share, 0 to 1, as a bar of block characters: eighths of a character where both the
-- database and the client use UTF8, else whole ones of "#": chr() of a block is an error in
-- another database, and so is its conversion for another client.  The encoding of the client is
-- that of the session alone, not of its parallel workers.
--
CREATE FUNCTION sync_probe.bar(fraction double precision, width integer DEFAULT 40)
RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parts integer := CASE WHEN getdatabaseencoding() = 'UTF8' AND pg_client_encoding() = 'UTF8'
                          THEN 8 ELSE 1 END;
    steps integer;
BEGIN
    IF fraction = 'NaN' OR fraction <= 0 OR width <= 0 THEN
        RETURN '';
    END IF;
    steps := greatest(1, round(least(fraction, 1) * least(width, 40) * parts));
    IF parts = 1 THEN
        RETURN repeat('#', steps);
    END IF;
    -- U+2588 is a full block, U+2589 is seven eighths of one, and so on
    RETURN repeat(chr(9608), steps / 8)
        || CASE WHEN steps % 8 > 0 THEN chr(9616 - steps % 8) ELSE '' END;
END
$$;

COMMENT ON FUNCTION sync_probe.bar IS
  'Bar of at most width characters, 40 at most, for a share of 0 to 1';
