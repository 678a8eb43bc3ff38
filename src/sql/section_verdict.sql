--
-- Section verdict: the first large, the others small.  After 12 the rest is counted: the table of
-- all numbers has them.
--
UNION ALL VALUES (10, 'verdict', 'Verdict', 'Verdict',
    'Each panel judges one location, or one run, by the strongest measurement of it. '
    '<code>wal_sync_method</code> is one setting for the whole cluster and acts on '
    '<code>pg_wal</code> alone. The panel of a tablespace shows which method would be best if '
    'pg_wal were on that file system.', $$
SELECT concat(string_agg(p.html, '') FILTER (WHERE p.number = 1),
              '<div class=pair>' || string_agg(p.html, '' ORDER BY p.number)
                                        FILTER (WHERE p.number BETWEEN 2 AND 12) || '</div>',
              CASE WHEN count(*) > 12 THEN format(
                  '<p class=note>%s more: see the tables at the end.</p>', count(*) - 12) END,
              '<p class=note>Not probed separately, because they share a file system: '
              || sync_probe_internal.html_escape((
                  SELECT string_agg(format('%s (with %s)', l.name, l.shares_filesystem_with), ', '
                                    ORDER BY l.name)
                  FROM unnest(data.places) AS l
                  WHERE NOT data.chosen AND l.shares_filesystem_with IS NOT NULL
                    AND NOT EXISTS (SELECT FROM unnest(data.advice) AS a
                                    WHERE a.location = l.name))) || '.</p>') AS html
FROM (SELECT number, CASE WHEN number <= 12
                          THEN sync_probe_internal.report_panel(data, number, data.advice[number])
                          END AS html
      FROM generate_subscripts(data.advice, 1) AS number) AS p
HAVING count(*) > 0
$$)
