--
-- report_html(): arguments, privileges, and where it can be called.
--
SET client_min_messages = warning;
\set SHOW_CONTEXT never
DELETE FROM sync_probe.runs;
CREATE ROLE regress_sync_probe_nobody;
CREATE ROLE regress_sync_probe_monitor IN ROLE pg_monitor;

-- arguments
SELECT sync_probe.report_html(paths => NULL);
SELECT sync_probe.report_html(ARRAY[NULL]::bigint[]);
SELECT sync_probe.report_html('{-1}');
SELECT sync_probe.report_html(ARRAY[0, 9223372036854775807]);
SELECT sync_probe.report_html('{x}');

-- without a run, and without one in the list
SELECT page LIKE '<!DOCTYPE html>%' AS is_html, page LIKE '%</html>%' AS is_whole,
       page LIKE '%pg_wal has not been probed%' AS says_so,
       page LIKE '%SELECT * FROM sync_probe.probe_all();%' AS says_what_to_do
FROM sync_probe.report_html() AS page;
SELECT page LIKE '%The list of runs is empty%' AS says_so FROM sync_probe.report_html('{}') AS page;

-- a run
SELECT count(*) > 0 AS probed FROM sync_probe.probe(duration => '400 ms', label => 'a & b <c>');
SELECT page LIKE '%a &amp; b &lt;c&gt;%' AS has_label, page LIKE '%<c>%' AS has_markup,
       page ~ '[^\x09\x0A\x20-\x7E]' AS has_more_than_ascii,
       (SELECT string_agg(m[1], ' ')
        FROM regexp_matches(page, '<section id=(speed|latency)', 'g') AS m) AS figures
FROM sync_probe.report_html(ARRAY(SELECT run_id FROM sync_probe.runs)) AS page;
SELECT page LIKE '%<h1>Run % suite wal</h1>%' AS is_of_run
FROM sync_probe.report_html(ARRAY(SELECT run_id FROM sync_probe.runs)) AS page;

-- it writes nothing
BEGIN READ ONLY;
SELECT length(sync_probe.report_html()) > 0 AS works_read_only;
COMMIT;
-- and the same data make the same page, whatever the session's settings
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

-- privileges
SET ROLE regress_sync_probe_nobody;
SELECT sync_probe.report_html();
RESET ROLE;
SET ROLE regress_sync_probe_monitor;
SELECT length(sync_probe.report_html()) > 0 AS monitor;
SELECT length(sync_probe.report_html(paths => false)) > 0 AS monitor;
SELECT length(sync_probe.report_html(ARRAY(SELECT run_id FROM sync_probe.runs))) > 0 AS monitor;
RESET ROLE;
DROP ROLE regress_sync_probe_nobody, regress_sync_probe_monitor;
DELETE FROM sync_probe.runs;
