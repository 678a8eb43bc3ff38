--
-- What the functions of the report make of text, numbers and axes.
--
\ir include/begin.sql
SELECT * FROM no_plan();

-- ------------------------------------------------------------------------- text
SELECT is(sync_probe_internal.html_escape(plain), html,
          'escaped: ' || translate(html, E'\t\n', '  '))
FROM (VALUES ('', ''), ('plain', 'plain'), ('<a & "b''>', '&lt;a &amp; &quot;b&#39;&gt;'),
             ('&amp;', '&amp;amp;'), (E'\t\n', E'\t\n'),
             (E'\x01\x1f\x7f\r', '&#9217;&#9247;&#9249;&#9229;'))
     AS v (plain, html);
SELECT is(sync_probe_internal.html_escape(plain), html, 'directions and the unseen: ' || html)
FROM (VALUES (U&'a\202Eb\2066c\200Ed\061C', 'a&#65533;b&#65533;c&#65533;d&#65533;'),
             (U&'a\200Bb\00ADc\FEFFd\2060e\+0E0041',
              'a&#65533;b&#65533;c&#65533;d&#65533;e&#65533;'),
             (U&'\05D0\200D\200C\+01F600', '&#1488;&#8205;&#8204;&#128512;')) AS v (plain, html)
WHERE current_setting('server_encoding') = 'UTF8';
SELECT is(sync_probe_internal.html_escape(NULL), NULL, 'null stays null');
SELECT is(sync_probe_internal.html_escape(repeat('<', 100000)), repeat('&lt;', 100000),
          'a long text');
SELECT is(sync_probe_internal.html_prose(plain), html, 'as prose: ' || html)
FROM (VALUES ('13 % less (-17 to -9)', '13&nbsp;% less (&minus;17 to &minus;9)'),
             ('122.4 us, 5 ms, 3 s', '122.4&nbsp;&micro;s, 5&nbsp;ms, 3&nbsp;s'),
             ('times in us', 'times in &micro;s'), ('5 syncs used', '5 syncs used'),
             ('a-1 <b>', 'a-1 &lt;b&gt;')) AS v (plain, html);
SELECT is(sync_probe_internal.clipped(plain, 6), cut, 'cut to six: ' || cut)
FROM (VALUES ('', ''), ('sixsix', 'sixsix'), ('sevense', 'sev...')) AS v (plain, cut);

SELECT is(sync_probe_internal.html_plot('a-1 x=y>"<b', 1, 't', NULL, 'c', ''),
          E'<svg class="plot " role=img aria-labelledby="a-1_x_y_b-t a-1_x_y_b-d" height=1>'
           '<title id=a-1_x_y_b-t>t</title><desc id=a-1_x_y_b-d>nothing</desc>\nc</svg>',
          'an id is one word');

-- ---------------------------------------------------------------------- numbers
SELECT is(sync_probe_internal.html_number(number), words, 'number ' || number)
FROM (VALUES (0::float8, '0'), (0.0123, '0.012'), (0.87, '0.87'), (0.997, '1.0'), (9.94, '9.9'),
             (9.96, '10.0'), (19.96, '20'), (68.4, '68'), (1896.5, '1,897'), (-3.2, '-3.2'),
             (1234567, '1,234,567'), (1e300, '1e+300'), ('NaN', NULL), ('-Infinity', NULL))
     AS v (number, words);
SELECT is(sync_probe_internal.html_factor(number), words, 'factor ' || number)
FROM (VALUES (0::float8, '0.00'), (0.994, '0.99'), (1.783, '1.78'), (9.996, '10.0'),
             (12.94, '12.9'), (1234.5, '1,235'), ('NaN', NULL), ('Infinity', NULL))
     AS v (number, words);
SELECT is(sync_probe_internal.html_duration(number), words, 'duration ' || number)
FROM (VALUES (0.87::float8, '0.87 us'), (289.4, '289 us'), (999.7, '1 ms'), (5300, '5.3 ms'),
             (1e6, '1 s'), (12345678, '12.3 s'), ('NaN', NULL), ('Infinity', NULL))
     AS v (number, words);
SELECT is(sync_probe_internal.html_duration('5 ms'::interval), '5 ms', 'of an interval');
SELECT is(sync_probe_internal.html_time('2026-11-21 22:36:54.9+02'), '2026-11-21 20:36:54 UTC',
          'a moment in UTC');
SELECT is(sync_probe_internal.html_time('infinity'), NULL, 'but not one without end');

-- ------------------------------------------------------------------------- axes
SELECT is(ARRAY[(a).low::text, (a).high::text] || (a).labels, expected::text[],
          format('log axis of %s to %s', v.low, v.high))
FROM (VALUES (34::float8, 400::float8, '{20,500,20,50,100,200,500}'),
             (0.4, 1400, '{0.2,2000,1,10,100,"1,000"}'), (1, 1, '{1,2,1,2}'),
             (0.03, 0.05, '{0.02,0.1,0.02,0.05,0.1}'),
             (100, 1000, '{100,1000,100,200,500,"1,000"}')) AS v (low, high, expected),
     LATERAL (SELECT sync_probe_internal.html_log_axis(v.low, v.high, 'us')) AS x (a);
SELECT is((sync_probe_internal.html_log_axis(low, high, 'us')).low, NULL,
          format('no log axis of %s to %s', low, high))
FROM (VALUES (0::float8, 1::float8), (NULL, 1), (-1, 1), (1, 'NaN'), ('NaN', 1), (1, 1e300))
     AS v (low, high);
SELECT is(sync_probe_internal.round_tick(number, up), NULL, format('no tick at %s, %s', number, up))
FROM (VALUES (0::float8, false), (0, true), (-1, false), (-1, true)) AS v (number, up);
SELECT is((sync_probe_internal.html_linear_axis(high, '')).labels, expected::text[],
          format('linear axis to %s', high))
FROM (VALUES (2::float8, '{0,0.5,1,1.5,2}'), (12.9, '{0,5,10}'), (0.03, '{0,0.01,0.02,0.03}'),
             (25713, '{0,"10,000","20,000"}'), (0, '{0,0.2,0.4,0.6,0.8,1}'),
             (NULL, '{0,0.2,0.4,0.6,0.8,1}'),
             ('NaN', '{0,0.2,0.4,0.6,0.8,1}')) AS v (high, expected);
SELECT is(sync_probe_internal.html_at(a, number), expected,
          format('%s is at %s %%', number, expected))
FROM (VALUES (10::float8, 0::numeric), (100, 50), (1000, 100), (5, 0), (5000, 100), (0, 0),
             ('NaN', NULL), (NULL, NULL), (20, 15.1)) AS v (number, expected),
     (SELECT ROW(10, 1000, true, '{}', '{}', '')::sync_probe_internal.axis) AS x (a);
SELECT is((a).labels @> '{1}' AND (a).low < 1 AND (a).high > 1, true,
          format('a ratio axis of %s to %s holds 1 and names it', v.low, v.high))
FROM (VALUES (NULL::float8, NULL::float8), (0.97, 1.02), (0.5, 0.6), (1.5, 1.9), (1e-9, 1e9),
             ('NaN', 'NaN')) AS v (low, high),
     LATERAL (SELECT sync_probe_internal.html_ratio_axis(v.low, v.high)) AS x (a);

SELECT cmp_ok(min(apart), '>=', 15::numeric, 'labels of ratios have room between them')
FROM generate_series(0, 31) AS l, generate_series(0, 31) AS h,
     LATERAL (SELECT sync_probe_internal.html_ratio_axis(0.9 ^ l, 1.1 ^ h)) AS x (a),
     LATERAL (SELECT sync_probe_internal.html_at(a, tick)
                     - lag(sync_probe_internal.html_at(a, tick)) OVER (ORDER BY tick)
              FROM unnest((a).ticks) AS tick) AS t (apart);

-- ------------------------------------------------------------------ tables, plots
SELECT is(regexp_replace(sync_probe_internal.html_table('c', '{a,b}', '{{x,-1},{<y>,NULL}}', 1),
                         '.*<tbody>(.*)</table>.*', '\1'),
          E'\n<tr><th scope=row>x<td>&minus;1\n<tr><th scope=row>&lt;y&gt;<td>&ndash;',
          'rows of a table');
CREATE FUNCTION pg_temp.marks(numbers float8[], low float8 DEFAULT NULL, high float8 DEFAULT NULL)
RETURNS sync_probe_internal.mark[] LANGUAGE sql AS $$
    SELECT array_agg(ROW('<n>', NULL, 'cur', 'dot', u.n, low, high, u.i / 4.0,
                         'w')::sync_probe_internal.mark ORDER BY u.i)
    FROM unnest(numbers) WITH ORDINALITY AS u (n, i)
$$;
SELECT is(sync_probe_internal.html_bars('i', 't', pg_temp.marks(ARRAY[number]), a, 50, true)
              ~ pattern, true, format('bar of %s', number))
FROM (VALUES (50::float8, '<rect class=f width=50% y=6 height=14 /><text class=y x=50% dx=5'),
             (90, '<text class="e on" x=90% dx=-5'), (0, '</text><text class=y x=0%[^>]*>0<'),
             (NULL, '</text><text class=y x=0%[^>]*>w<')) AS v (number, pattern),
     (SELECT ROW(0, 100, false, '{}', '{}', '')::sync_probe_internal.axis) AS x (a);
SELECT is(sync_probe_internal.html_intervals('i', 't', pg_temp.marks(ARRAY[number], low, high), a,
                                             false) ~ pattern, true, format('mark of %s', number))
FROM (VALUES (100::float8, 10::float8, 1000::float8, '<line class=l x1=0% x2=100% y1=38 y2=38 />'
              '<circle class=f cx=50% cy=38 r=4.5 />'),
             (100, NULL, NULL, '</text><circle class=f cx=50% cy=38 r=4.5 />'),
             (5000, NULL, NULL, '<text class="e bx" x=100% y=42>&rsaquo;</text>'),
             (1, NULL, NULL, '<text class=bx x=0 y=42>&lsaquo;</text>'),
             (NULL, NULL, NULL, '&lt;n&gt;</text></g>')) AS v (number, low, high, pattern),
     (SELECT ROW(10, 1000, true, '{}', '{}', '')::sync_probe_internal.axis) AS x (a);
-- of four points one is unknown: neither a point nor a line to it
SELECT is((length(replace(l, '<circle', '#<circle')) - length(l)) || ' '
              || (length(replace(l, '<line class=l', '#<line class=l')) - length(l)), '3 1',
                  'lines')
FROM sync_probe_internal.html_lines('i', 't', pg_temp.marks('{10,100,NULL,1000}'),
         ROW(10, 1000, true, '{}', '{}', '')::sync_probe_internal.axis, true) AS l;

SELECT * FROM finish();
ROLLBACK;
