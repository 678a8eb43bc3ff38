--
-- The sections of the report in their order: id, title, title in the contents, how to read it, in
-- HTML, and a query of its figures: it returns columns that html_figure() names, and reads "data",
-- a row of sync_probe_internal.report_data.  A section without a figure is left out.  Rows of a
-- table would take longer to create.  Make puts the files of the sections into this body.
--
CREATE FUNCTION sync_probe_internal.report_sections()
RETURNS TABLE (place integer, id text, title text, short_title text, how_html text, query text)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $sections$
SELECT 0, '', '', '', '', '' WHERE false
