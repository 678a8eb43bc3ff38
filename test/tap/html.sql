-- What the functions of the report make of text, numbers, axes and marks.
\ir include/begin.sql
-- loads the library, which knows the margin
SELECT count(*) AS one FROM sync_probe_internal.this_server() \gset

-- ------------------------------------------------------------------------- text
SELECT is(sync_probe_internal.html_escape(plain), html,
          'escaped: ' || left(translate(html, E'\t\n', '  '), 60))
FROM (VALUES ('', ''), ('plain', 'plain'), ('<a & "b''>', '&lt;a &amp; &quot;b&#39;&gt;'),
             ('&amp;', '&amp;amp;'), (E'\t\n', E'\t\n'), (NULL, NULL),
             (E'\x01\x1f\x7f\r', '&#9217;&#9247;&#9249;&#9229;'),
             -- directions, and what nobody sees
             (U&'a\202Eb\2066c\200Ed\061C', 'a&#65533;b&#65533;c&#65533;d&#65533;'),
             (U&'a\200Bb\00ADc\FEFFd\+0E0041', 'a&#65533;b&#65533;c&#65533;d&#65533;'),
             (U&'\05D0\200D\200C\+01F600', '&#1488;&#8205;&#8204;&#128512;'),
             (repeat('<', 100000), repeat('&lt;', 100000))) AS v (plain, html);
SELECT is(sync_probe_internal.html_prose(plain), html, 'as prose: ' || html)
FROM (VALUES ('13 % less (-17 to -9)', '13&nbsp;% less (&minus;17 to &minus;9)'),
             ('122.4 us, 5 ms, 3 s', '122.4&nbsp;&micro;s, 5&nbsp;ms, 3&nbsp;s'),
             ('times in us', 'times in &micro;s'), ('5 syncs used', '5 syncs used'),
             ('a-1 <b>', 'a-1 &lt;b&gt;')) AS v (plain, html);
SELECT is(sync_probe_internal.clipped(plain, 6), cut, 'cut to six: ' || cut)
FROM (VALUES ('', ''), ('sixsix', 'sixsix'), ('sevense', 'sev...')) AS v (plain, cut);

-- ---------------------------------------------------------------------- numbers
SELECT is(ARRAY[sync_probe_internal.html_number(number), sync_probe_internal.html_short(number)],
          ARRAY[exact, short], 'number ' || number)
FROM (VALUES (0::float8, '0', '0'), (0.0123, '0.012', '0.012'), (0.87, '0.87', '0.87'),
             (1, '1', '1.00'), (0.997, '1.00', '1.00'), (9.94, '9.94', '9.94'),
             (9.996, '10.0', '10.0'), (68.4, '68.4', '68.4'), (1896.5, '1,897', '1,897'),
             (-3.2, '-3.20', '-3.20'), (9999.7, '10,000', '10.0k'),
             (1234567, '1,234,567', '1.23M'), (1e300, '1.0e+300', '1e+300'), ('NaN', NULL, NULL),
             ('-Infinity', NULL, NULL)) AS v (number, exact, short);
SELECT is(sync_probe_internal.html_duration(number), words, 'duration ' || number)
FROM (VALUES (0.87::float8, '0.87 us'), (289.4, '289 us'), (999.7, '1 ms'), (5300, '5.3 ms'),
             (1e6, '1 s'), (12345678, '12.3 s'), ('NaN', NULL), ('Infinity', NULL))
     AS v (number, words);
SELECT is(sync_probe_internal.html_duration('5 ms'::interval), '5 ms', 'of an interval');
SELECT is(sync_probe_internal.html_time(moment), words, 'a moment in UTC, if it is one')
FROM (VALUES ('2026-11-21 22:36:54.9+02'::timestamptz, '2026-11-21 20:36:54 UTC'),
             ('infinity', NULL)) AS v (moment, words);

-- ------------------------------------------------------------------------- axes
CREATE FUNCTION pg_temp.ticks(low float8, high float8, unit text, logarithmic boolean)
RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(sync_probe_internal.html_tick(tick), ' ')
    FROM unnest((sync_probe_internal.html_axis(low, high, unit, logarithmic)).ticks) AS tick
$$;
SELECT is(pg_temp.ticks(low, high, unit, logarithmic), ticks,
          format('ticks of %s to %s, %s, %s', low, high, unit, logarithmic))
FROM (VALUES (34::float8, 400::float8, 'us', true, '50 100 200'),
             (0.4, 1400, '', true, '1 10 100 1000'),
             (1, 1, '', true, '1 1.25 1.6'), (1e-5, 1e11, '', true, '1 1000 1M 1e+09'),
             (0, 1, '', true, NULL), (NULL, 1, '', true, NULL), (1, 'NaN', '', true, NULL),
             (1, 1e300, '', true, NULL),
             (0, 2, '', false, '0 0.5 1 1.5 2'), (0, 12.9, '', false, '0 5 10'),
             (0, 25713, '', false, '0 10k 20k'), (0, 'NaN', '', false, '0 0.2 0.4 0.6 0.8 1'),
             (NULL, NULL, 'times', true, '0.9 1 1.1'), (1e-9, 1e9, 'times', true, '0.1 1 10'))
     AS v (low, high, unit, logarithmic, ticks);
-- Whatever the numbers: from one label to the next is room, and there is more than one.
SELECT is_empty($$
    SELECT l, h, unit, t.*
    FROM generate_series(-60, 80, 7) AS l, generate_series(0, 200, 5) AS h,
         (VALUES ('us', true), ('times', true), ('us', false)) AS u (unit, logarithmic),
         LATERAL (SELECT sync_probe_internal.html_axis(1.17 ^ l, 1.17 ^ l * 1.11 ^ h, unit,
                                                       logarithmic)) AS x (a),
         LATERAL (SELECT min(at - old_at) AS apart, count(*), max(at)
                  FROM (SELECT at, lag(at) OVER (ORDER BY at) AS old_at
                        FROM unnest((a).ticks) AS tick,
                             LATERAL (SELECT sync_probe_internal.html_at(a, tick)) AS p (at)) AS p
                 ) AS t
    WHERE (a).low IS NOT NULL AND (t.apart < 19.9 OR t.count < 2
                                   OR unit = 'times' AND NOT 1 = ANY ((a).ticks))$$,
    'labels of ticks cannot touch');
SELECT is(sync_probe_internal.html_at(a, number), expected,
          format('%s is at %s %%', number, expected))
FROM (VALUES (10::float8, 0::numeric), (100, 50), (1000, 100), (5, 0), (5000, 100), (0, 0),
             ('NaN', NULL), (NULL, NULL), (20, 15.1)) AS v (number, expected),
     (SELECT ROW(10, 1000, true, '{}', '')::sync_probe_internal.axis) AS x (a);

-- ---------------------------------------------------------------- tables, figures
SELECT is(regexp_replace(sync_probe_internal.html_table('c', '[
              {"a": "x", "none": null, "b": -1, "nan": "NaN"},
              {"a": "<y>", "none": null, "b": "Infinity", "nan": null}]'),
                         '.*<thead>(.*)</table>.*', '\1'),
          E'<tr><th scope=col class=s>a<th scope=col>b<tbody>'
          '\n<tr><th scope=row class=s>x<td>&minus;1'
          '\n<tr><th scope=row class=s>&lt;y&gt;<td>&ndash;',
          'a table leaves out columns without a value');
CREATE FUNCTION pg_temp.figure(kind text, marks jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT sync_probe_internal.html_figure('i', 't', json_build_object('kind', kind, 'unit', 'us',
        'marks', marks, 'cells', '[{"a": 1}]'::json))
$$;
SELECT matches(pg_temp.figure(kind, marks), pattern, format('%s of %s', kind, marks))
FROM (VALUES ('bars', '[{"name": "<n>", "number": 50}, {"number": 100}]'::jsonb,
     '&lt;n&gt;</text><rect class=f width=48.1% y=6 height=14 /><text class="y" x=48.1% dx=5 y=17>'
     '50<.*<rect class=f width=96.2% y=32 height=14 /><text class="e on" x=96.2% dx=-5'),
    ('bars', '[{"number": 0, "shape": "frame"}, {"words": "w"}, {}]',
     'x=0% dx=5 y=17>0<.* y=43>w<.* y=69>unknown<'),
    ('intervals', '[{"name": "n", "note": "<b>", "number": 100, "low": 10, "high": 1000}]',
     'y=42>n</text><text class=u x=-10 y=57>&lt;b&gt;</text>'
     '<line class=l x1=2.9% x2=97.1% y1=38 y2=38 /><circle class=f cx=50% cy=38 r=4.5 />'),
    ('intervals', '[{"name": "n", "number": 3}, {"name": "n", "number": 4, "shape": "ring"}]',
     'y=42>n</text><circle class=f cx=20.2% cy=38 [^k]*<circle class=h cx=61.7% cy=56 '),
    -- of four points one is unknown: neither a point nor a line to it
    ('lines', '[{"at": 0.1, "number": 1}, {"at": 0.2, "number": 2}, {"at": 0.3},
                {"at": 0.4, "number": 4}]',
     '^([^\n]*<circle[^\n]*<line class=l[^\n]*<circle[^\n]*<circle)(?!.*<line class=l)'),
    -- of dashed lines that are close, only the first is named
    ('lines', '[{"at": 0.1, "number": 1}, {"at": 0.5, "shape": "line", "words": "A"},
                {"at": 0.55, "shape": "line", "words": "B"}]', '>A</text><line class=q9 [^>]*/><g'))
     AS v (kind, marks, pattern);
SELECT matches((sync_probe_internal.html_intervals(ARRAY[m], a))[2], pattern,
               'beyond an axis of ratios: ' || pattern)
FROM (VALUES (1e6, 'x=100% y=30>&rsaquo;<'), (0.001, 'x=0 y=30>&lsaquo;<')) AS v (number, pattern),
     LATERAL (SELECT jsonb_populate_record(NULL::sync_probe_internal.mark,
                                           jsonb_build_object('number', v.number)),
                     sync_probe_internal.html_axis(v.number, v.number, 'times', true)) AS x (m, a);
SELECT is(pg_temp.figure(kind, marks), NULL, format('no figure: %s of %s', kind, marks))
FROM (VALUES ('intervals', '[{"number": -1}]'::jsonb), ('lines', '[{"number": "NaN"}]'),
             ('intervals', '[]'), ('bars', NULL)) AS v (kind, marks);

\ir include/end.sql
