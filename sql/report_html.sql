\set ECHO none
-- report_html(): arguments, privileges, and where it can be called.
\a \pset footer off
SET client_min_messages = warning;
\set SHOW_CONTEXT never
DELETE FROM sync_probe.runs;

\echo -- arguments
SELECT refused('SELECT sync_probe.report_html(%s)', $$
paths => NULL
ARRAY[NULL]::bigint[]
ARRAY[0, 9223372036854775807]
$$);

\echo -- it writes nothing, and shows a run
SELECT count(*) > 0 AS probed FROM sync_probe.probe(duration => '400 ms', label => 'a & b <c>');
BEGIN READ ONLY;
SELECT page LIKE '%a &amp; b &lt;c&gt;%' AS has_label, page LIKE '%<c>%' AS has_markup
FROM sync_probe.report_html(ARRAY(SELECT run_id FROM sync_probe.runs)) AS page;
SELECT length(sync_probe.report_html()) > 0 AS works_read_only;
COMMIT;

\echo -- the same data make the same page, whatever the settings of the session
SELECT sync_probe.report_html() AS before \gset
SET timezone = 'Asia/Kolkata';
SET datestyle = 'SQL, DMY';
SET intervalstyle = 'iso_8601';
SET extra_float_digits = -15;
SET lc_numeric = 'C';
SET search_path = pg_temp;
SELECT sync_probe.report_html() = :'before' AS is_the_same;
RESET ALL;
SET client_min_messages = warning;
DELETE FROM sync_probe.runs;
