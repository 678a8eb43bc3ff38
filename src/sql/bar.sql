--
-- bar
--
-- A share, 0 to 1, as a bar of block characters: eighths of a character where both the
-- database and the client use UTF8, else whole ones of "#".  The encoding of the client is
-- that of the session alone, not of its parallel workers.
--
CREATE FUNCTION sync_probe.bar(fraction double precision, width integer DEFAULT 40)
RETURNS text
LANGUAGE c STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_bar';

COMMENT ON FUNCTION sync_probe.bar(double precision, integer) IS
  'A share of 0 to 1 as a bar of at most width characters, 40 at most; more than nothing always '
  'shows';
