--
-- The verdict on the kinds which a test of the suite segments has compared, as the run stored
-- it.  All columns are null without a current kind.
--
CREATE FUNCTION sync_probe_internal.judge_kinds(
    measured sync_probe.measurements[],
    of_test text,
    OUT verdict text,
    OUT current_kind text,
    OUT recommended_kind text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT c.verdict, c.method,
       CASE WHEN c.verdict = 'switch' THEN coalesce(r.method, c.method) ELSE c.method END
FROM unnest(measured) AS c
LEFT JOIN unnest(measured) AS r ON r.test = of_test AND r.choice = 'recommended'
WHERE c.test = of_test AND c.choice = 'current' AND c.verdict IS NOT NULL
ORDER BY c.ordinal, r.ordinal
LIMIT 1
$$;

--
-- The interval of a measurement's time against that of the current kind: "0.77 to 0.83".
--
CREATE FUNCTION sync_probe_internal.times_as_long(measured sync_probe.measurements)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN measured.relative_speed_low > 0 AND measured.relative_speed_high > 0
            THEN format('%s to %s', round((1 / measured.relative_speed_high)::numeric, 2),
                        round((1 / measured.relative_speed_low)::numeric, 2))
            ELSE 'an unknown number of' END
$$;

--
-- The verdicts of suite segments on wal_recycle and wal_init_zero: a row for each.
-- All kinds together decide wal_recycle.  The kinds that are created decide wal_init_zero,
-- unless one of them is worth a switch among all kinds: then it is that one.
--
-- at_run and recommended: on or off.  speed: of the other value against that at the run.  doubt:
-- why it is undecided.  The speeds compare segments of the same round, the medians that
-- explain_segments() names are of the whole run: where the disk changes meanwhile, they differ.
--
CREATE FUNCTION sync_probe_internal.segment_settings(measured sync_probe.measurements[])
RETURNS TABLE (
    setting name,
    verdict text,
    at_run text,
    recommended text,
    speed double precision,
    speed_low double precision,
    speed_high double precision,
    doubt text)
LANGUAGE sql STABLE PARALLEL SAFE
ROWS 2
SET search_path = pg_catalog, pg_temp
AS $$
WITH kind AS (
    SELECT w.verdict, w.current_kind, w.recommended_kind, n.verdict AS new_verdict,
           n.current_kind AS new_current, c.created, a.by_all
    FROM sync_probe_internal.judge_kinds(measured, 'segment') AS w,
         sync_probe_internal.judge_kinds(measured, 'new_segment') AS n,
         LATERAL (SELECT w.verdict = 'switch' AND w.recommended_kind <> 'recycle') AS a (by_all),
         LATERAL (SELECT CASE WHEN a.by_all THEN w.recommended_kind
                              ELSE n.recommended_kind END) AS c (created)
    WHERE w.current_kind IS NOT NULL AND n.current_kind IS NOT NULL
), said AS (
    SELECT 'wal_recycle' AS setting,
           CASE WHEN k.verdict <> 'switch' THEN k.verdict
                WHEN (k.current_kind = 'recycle') = (k.recommended_kind = 'recycle') THEN 'keep'
                ELSE 'switch' END AS verdict,
           k.current_kind = 'recycle' AS at_run, k.recommended_kind = 'recycle' AS recommended,
           'segment' AS test,
           CASE k.current_kind WHEN 'recycle' THEN k.created ELSE 'recycle' END AS other
    FROM kind AS k
    UNION ALL
    SELECT 'wal_init_zero',
           CASE WHEN NOT k.by_all THEN k.new_verdict
                WHEN k.created = k.new_current THEN 'keep'
                ELSE 'switch' END,
           k.new_current = 'zero_fill', k.created = 'zero_fill', 'new_segment',
           CASE k.new_current WHEN 'zero_fill' THEN 'sparse' ELSE 'zero_fill' END
    FROM kind AS k
)
SELECT s.setting, s.verdict, CASE WHEN s.at_run THEN 'on' ELSE 'off' END,
       CASE WHEN s.recommended THEN 'on' ELSE 'off' END,
       m.relative_speed, m.relative_speed_low, m.relative_speed_high,
       CASE WHEN s.verdict = 'undecided' THEN
            format('not settled: compared within rounds, a segment with the other value takes %s'
                   ' times as long, and a second one with the present value %s; medians of the'
                   ' whole run also show how the disk changed meanwhile',
                   sync_probe_internal.times_as_long(m), sync_probe_internal.times_as_long(c)) END
FROM said AS s
LEFT JOIN unnest(measured) AS m ON m.test = s.test AND m.method = s.other
LEFT JOIN unnest(measured) AS c ON c.test = s.test AND c.choice = 'current'
$$;

--
-- The figures of a run in words: "a segment with all its flushes takes 304 ms recycled, ...".
--
CREATE FUNCTION sync_probe_internal.explain_segments(measured sync_probe.measurements[])
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('a segment with all its flushes takes %s (medians)',
              string_agg(format('%s ms %s', t.ms, t.kind), ', ' ORDER BY m.ordinal)
                  FILTER (WHERE m.test = 'segment'))
       || coalesce('; commits wait for its creation: '
              || string_agg(format('%s ms %s (at most %s)', t.ms, t.kind, t.max_ms), ', '
                            ORDER BY m.ordinal)
                     FILTER (WHERE m.test = 'create' AND m.method <> 'recycle'), '')
FROM unnest(measured) AS m,
     LATERAL (SELECT CASE m.method WHEN 'recycle' THEN 'recycled' WHEN 'sparse' THEN 'sparse'
                                   ELSE 'zero-filled' END,
                     (m.p50_us / 1e3)::numeric, (m.max_us / 1e3)::numeric) AS n (kind, ms, max_ms),
     LATERAL (SELECT n.kind,
                     round(n.ms, CASE WHEN n.ms < 1 THEN 2 WHEN n.ms < 10 THEN 1 ELSE 0 END) AS ms,
                     round(n.max_ms, CASE WHEN n.max_ms < 1 THEN 2 WHEN n.max_ms < 10 THEN 1
                                          ELSE 0 END) AS max_ms) AS t
WHERE m.test IN ('segment', 'create') AND m.p50_us IS NOT NULL
$$;

--
-- The judgements on wal_recycle and wal_init_zero at these locations: two rows of the newest
-- run that counts at each.  It was measured by this server, at the directory and on the device
-- that the location has now, with flushes as large as the cluster's, and in at least
-- SP_MIN_SAMPLES rounds; nothing has changed since; and each setting has the value that it had
-- then, or the one that was recommended.
--
CREATE FUNCTION sync_probe_internal.segment_advice(places sync_probe_internal.storage[])
RETURNS TABLE (
    location name,
    setting name,
    verdict text,
    current_value text,
    recommended_value text,
    ratio double precision,
    ratio_low double precision,
    ratio_high double precision,
    run_id bigint,
    reason text,
    commands text[])
LANGUAGE sql STABLE PARALLEL RESTRICTED
ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
WITH judged AS (
    SELECT l.name AS location, l.holds_wal, r.run_id, s.*,
           c.current_value, sync_probe_internal.explain_segments(f.measured) AS figures,
           s.verdict = 'switch' AND c.current_value = s.recommended AS followed,
           bool_and(c.current_value IN (s.at_run, s.recommended)) OVER (PARTITION BY l.name)
               AS counts
    FROM unnest(places) AS l
    CROSS JOIN LATERAL (
        SELECT r.run, (r.run).run_id
        FROM sync_probe_internal.own_runs AS r
        WHERE (r.run).suite = 'segments' AND (r.run).location = l.name
          AND ARRAY[(r.run).directory, (r.run).device] = ARRAY[l.directory, l.device]
          AND (r.run).usable_for_advice
        ORDER BY (r.run).run_id + 0 DESC
        LIMIT 1) AS r
    CROSS JOIN LATERAL (SELECT ARRAY(SELECT m FROM sync_probe.measurements AS m
                                     WHERE m.run_id = r.run_id)) AS f (measured)
    CROSS JOIN LATERAL sync_probe_internal.segment_settings(f.measured) AS s
    CROSS JOIN LATERAL (SELECT current_setting(s.setting)) AS c (current_value)
    WHERE sync_probe_internal.changes_since(r.run, f.measured, l, false) IS NULL
)
SELECT j.location, j.setting,
       CASE WHEN j.followed THEN 'keep' ELSE j.verdict END, j.current_value, j.recommended,
       round((CASE WHEN j.followed THEN j.speed ELSE 1 / nullif(j.speed, 0) END)::numeric, 2),
       round((CASE WHEN j.followed THEN j.speed_low
                   ELSE 1 / nullif(j.speed_high, 0) END)::numeric, 2),
       round((CASE WHEN j.followed THEN j.speed_high
                   ELSE 1 / nullif(j.speed_low, 0) END)::numeric, 2),
       j.run_id,
       concat(CASE WHEN NOT j.holds_wal THEN 'if the WAL were here: ' END,
              CASE WHEN j.followed THEN format('chosen instead of %s: ', j.at_run) END,
              j.doubt || '; ', j.figures),
       CASE WHEN j.verdict = 'undecided'
            THEN ARRAY[format('SELECT * FROM sync_probe.probe(%L, ''segments'', %s)', j.location,
                              sync_probe_internal.duration_argument('1 min'))]
            WHEN j.verdict = 'switch' AND NOT j.followed AND j.holds_wal
            THEN ARRAY[format('ALTER SYSTEM SET %s = %s', j.setting, j.recommended),
                       'SELECT pg_catalog.pg_reload_conf()'] END
FROM judged AS j
WHERE j.counts
ORDER BY j.holds_wal DESC, j.location, j.setting DESC
$$;
