--
-- HTML of the report
--
-- How a page is written.  Arguments and table cells are plain text, which these functions
-- escape.  Only arguments whose names end in _html are HTML already.  So text of a user or of
-- the system needs no thought, unless it is put into an _html argument: then it passes
-- html_escape() or html_prose() first.  All functions return HTML in ASCII; a character beyond
-- that is a reference: &micro; or &#181;.
--
-- A section is a function of the report's data in a file page_*.sql.  It returns null, and the
-- page has no such section, if there is nothing to show.  The smallest one:
--
--   CREATE FUNCTION sync_probe_internal.page_size(data sync_probe_internal.report_data)
--   RETURNS sync_probe_internal.section
--   ...
--   SELECT ROW('size', 'How large is a flush?', 'Size of a flush',   -- id, title, in the contents
--              'A bar is what <code>XLogFlush</code> writes at once.', -- how to read it
--              string_agg(sync_probe_internal.html_figure(
--                  sync_probe_internal.html_plot('size-1', 46, 'Bytes of a flush',
--                      format('%s bytes', r.flush_size),              -- the figures in words
--                      sync_probe_internal.html_grid(a, 0, 26)
--                      || sync_probe_internal.html_row_name(17, r.location)
--                      || sync_probe_internal.html_bar(a, 6, r.flush_size, 'f cur',
--                             sync_probe_internal.html_number(r.flush_size))),
--                  'The newest run of each location.',
--                  sync_probe_internal.html_table('Bytes of a flush', '{location,bytes}',
--                      ARRAY[ARRAY[r.location, r.flush_size::text]], 1)), ''))
--   FROM unnest(data.runs) AS r,
--        sync_probe_internal.html_linear_axis(r.flush_size, 'bytes') AS a
--   HAVING count(*) > 0
--
-- It is then named in report_sections() (report_html.sql).  An id begins with that of its
-- section, so that it is unique.  A plot has no viewBox: x is in percent of its width, y in
-- pixels, and names stand left of 0 %.  So text keeps its size from a phone to paper.  Colours
-- are classes: cur (current), rec (recommended), oth (other), bad (syncs do not reach the
-- device); f is filled, h is hollow.  A colour never says something that no word says.
--

--
-- sync_probe_internal.html_escape
--
-- Text as HTML, for elements and for attributes in quotes.  Controls become visible pictures.
-- Characters that HTML forbids, that set the direction of text, or that nobody sees become U+FFFD.
--
CREATE FUNCTION sync_probe_internal.html_escape(plain text)
RETURNS text
LANGUAGE c STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'sync_probe_html_escape';

COMMENT ON FUNCTION sync_probe_internal.html_escape(text) IS
  'Text as HTML in ASCII';

--
-- sync_probe_internal.html_prose
--
-- A sentence of this extension as HTML: escaped, with the signs that its messages write in
-- ASCII.  Not for names, which it could change.
--
CREATE FUNCTION sync_probe_internal.html_prose(plain text)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT regexp_replace(regexp_replace(regexp_replace(
           sync_probe_internal.html_escape(plain),
           '(\d) (%|(?:ms|s|us)\M)', '\1&nbsp;\2', 'g'),
           '(\d&nbsp;|, |^| )us\M', '\1&micro;s', 'g'),
           '(^|[ (])-(\d)', '\1&minus;\2', 'g')
$$;

COMMENT ON FUNCTION sync_probe_internal.html_prose(text) IS
  'A sentence as HTML, with typographic signs';

--
-- sync_probe_internal.html_class
--
-- The class of the colour of a verdict, of a severity or of an answer whether syncs are
-- durable.
--
CREATE FUNCTION sync_probe_internal.html_class(word text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN word = 'switch' THEN 'blue'
            WHEN word IN ('keep', 'yes', 'no_cache') THEN 'green'
            WHEN word IN ('undecided', 'outdated', 'warning', 'unknown') THEN 'amber'
            WHEN word IN ('unsafe', 'error', 'no') THEN 'red'
            ELSE 'grey' END
$$;

COMMENT ON FUNCTION sync_probe_internal.html_class(text) IS
  'The class of the colour of a verdict or severity';

--
-- sync_probe_internal.html_tag
--
-- Such a word in its colour.
--
CREATE FUNCTION sync_probe_internal.html_tag(word text)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('<b class="tag %s">%s</b>', sync_probe_internal.html_class(word),
              sync_probe_internal.html_escape(word))
$$;

COMMENT ON FUNCTION sync_probe_internal.html_tag(text) IS
  'A verdict or severity in its colour';

--
-- sync_probe_internal.html_code
--
-- Commands, one in each line, to be selected by one click.
--
CREATE FUNCTION sync_probe_internal.html_code(commands text[])
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT '<pre>' || string_agg(sync_probe_internal.html_escape(c.command) || ';', E'\n'
                             ORDER BY c.n) || '</pre>'
FROM unnest(commands) WITH ORDINALITY AS c (command, n)
WHERE c.command IS NOT NULL
$$;

COMMENT ON FUNCTION sync_probe_internal.html_code(text[]) IS
  'Commands, one in each line';

--
-- sync_probe_internal.html_table
--
-- A table: its caption, the names of its columns, and an array of rows.  The first column names
-- the row.  So many columns from the left are text, the others numbers.  A null is a dash.  A
-- cell is cut after 200 characters.
--
CREATE FUNCTION sync_probe_internal.html_table(
    caption text,
    head text[],
    cells text[],
    text_columns integer)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('<div class=scroll tabindex=0 role=region aria-label="%s"><table class=t%s>'
              '<caption>%s</caption><thead><tr>%s<tbody>%s</table></div>',
              sync_probe_internal.html_escape(caption), text_columns,
              sync_probe_internal.html_prose(caption),
              (SELECT string_agg('<th scope=col>' || sync_probe_internal.html_prose(h.name), ''
                                 ORDER BY h.n)
               FROM unnest(head) WITH ORDINALITY AS h (name, n)),
              (SELECT string_agg(row_html, '' ORDER BY r)
               FROM (SELECT (c.n - 1) / array_length(cells, 2) AS r,
                            E'\n<tr>' || string_agg(
                                CASE WHEN (c.n - 1) % array_length(cells, 2) = 0
                                     THEN '<th scope=row>' ELSE '<td>' END
                                || coalesce(CASE WHEN c.cell ~ '^-[\d.,]+$'
                                                 THEN '&minus;' || substr(c.cell, 2)
                                                 WHEN length(c.cell) > 200
                                                 THEN sync_probe_internal.html_escape(
                                                     sync_probe_internal.clipped(c.cell, 200))
                                                 ELSE sync_probe_internal.html_escape(c.cell) END,
                                            '&ndash;'), '' ORDER BY c.n) AS row_html
                     FROM unnest(cells) WITH ORDINALITY AS c (cell, n)
                     GROUP BY 1) AS line))
$$;

COMMENT ON FUNCTION sync_probe_internal.html_table(text, text[], text[], integer) IS
  'A table of plain text';

--
-- sync_probe_internal.html_key
--
-- What the shapes of a figure mean: pairs of a shape and a text.  Before the name of a shape
-- stands its colour: 'cur dot'.  Shapes are dot, ring, diamond, cross, box, frame, shape,
-- line, dashes and band.  A text without a shape has null.
--
CREATE FUNCTION sync_probe_internal.html_key(VARIADIC pairs text[])
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT '<p class=key>' || string_agg(format('<span>%s%s</span>',
           '<svg aria-hidden=true class=' || split_part(pairs[i], ' ', 1) || '>' ||
               CASE split_part(pairs[i], ' ', 2)
               WHEN 'dot' THEN '<circle class=f cx=50% cy=6 r=4.5 />'
               WHEN 'ring' THEN '<circle class=h cx=50% cy=6 r=4 />'
               WHEN 'diamond' THEN '<use href=#diamond class=f x=50% y=6 />'
               WHEN 'cross' THEN '<use href=#cross class=xm x=50% y=6 />'
               WHEN 'box' THEN '<rect class=f width=100% y=1 height=10 />'
               WHEN 'frame' THEN '<rect class=h width=100% y=1 height=10 />'
               WHEN 'shape' THEN '<rect class=a width=100% y=1 height=10 />'
               WHEN 'line' THEN '<line class=q x1=50% x2=50% y2=12 />'
               WHEN 'dashes' THEN '<line class=q9 x1=50% x2=50% y2=12 />'
               WHEN 'band' THEN '<rect class=band width=100% height=12 />' END || '</svg> ',
           sync_probe_internal.html_prose(pairs[i + 1])), '' ORDER BY i) || '</p>'
FROM generate_series(1, cardinality(pairs), 2) AS i
$$;

COMMENT ON FUNCTION sync_probe_internal.html_key(text[]) IS
  'What the shapes of a figure mean';

--
-- sync_probe_internal.html_figure
--
-- A figure: its heading, the key to its shapes, plots, caption, and a table of the same numbers.
--
CREATE FUNCTION sync_probe_internal.html_figure(
    plots_html text,
    caption text,
    table_html text,
    heading text DEFAULT NULL,
    key_html text DEFAULT NULL)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT concat('<figure>',
              '<h3>' || sync_probe_internal.html_prose(heading) || '</h3>',
              key_html, plots_html,
              '<figcaption>' || sync_probe_internal.html_prose(caption) || '</figcaption>',
              '<details class=ft><summary>Show as a table</summary>' || table_html || '</details>',
              E'</figure>\n')
$$;

COMMENT ON FUNCTION sync_probe_internal.html_figure(text, text, text, text, text) IS
  'A figure with its caption and table';

--
-- sync_probe_internal.section
--
-- A section of the page: id, title, title in the contents, how to read it, content.
--
CREATE TYPE sync_probe_internal.section AS (
    id text,
    title text,
    short_title text,
    how_html text,
    body_html text);

COMMENT ON TYPE sync_probe_internal.section IS
  'A section of the report';

--
-- sync_probe_internal.html_section
--
CREATE FUNCTION sync_probe_internal.html_section(
    number bigint,
    section sync_probe_internal.section)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format(E'\n<section id=%1$s aria-labelledby=%1$s-h><div class=hd><h2 id=%1$s-h><b>%2$s</b>'
              '%3$s</h2><p class=how>%4$s</p></div><div class=body>%5$s</div></section>',
              section.id, number, sync_probe_internal.html_prose(section.title),
              section.how_html, section.body_html)
$$;

COMMENT ON FUNCTION sync_probe_internal.html_section(bigint, sync_probe_internal.section) IS
  'A section with its heading';

--
-- sync_probe_internal.html_page
--
-- The page: title, what stands before the sections, these, and the foot.  It loads nothing and
-- runs no script.
--
CREATE FUNCTION sync_probe_internal.html_page(
    title text,
    header_html text,
    sections sync_probe_internal.section[],
    footer_html text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
WITH section AS (
    SELECT row_number() OVER (ORDER BY s.n) AS number, s.id, s.short_title,
           ROW(s.id, s.title, s.short_title, s.how_html, s.body_html)::sync_probe_internal.section
               AS content
    FROM unnest(sections) WITH ORDINALITY AS s (id, title, short_title, how_html, body_html, n)
    WHERE s.body_html <> ''
)
SELECT concat(
    E'<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>',
    '<meta name=viewport content="width=device-width,initial-scale=1">',
    E'<meta name=color-scheme content="light dark">\n<title>',
    sync_probe_internal.html_prose(title), '</title><style>', sync_probe_internal.html_style(),
    '</style></head><body><a class=skip href=#main>Skip to the first section</a>',
    '<svg class=defs width=0 height=0 aria-hidden=true>',
    '<path id=diamond d="M0-6 6 0 0 6-6 0z"/><path id=cross d="M-4-4 4 4M-4 4 4-4"/></svg>',
    E'\n<div class=page><header id=top>', header_html,
    (SELECT E'\n<nav aria-label=Contents><ol>'
            || string_agg(format('<li><a href=#%s>%s</a>', id,
                                 sync_probe_internal.html_prose(short_title)), '' ORDER BY number)
            || '</ol></nav>'
     FROM section),
    '</header><main id=main>',
    (SELECT string_agg(sync_probe_internal.html_section(number, content), '' ORDER BY number)
     FROM section),
    E'</main>\n<footer class=sm>', footer_html, E'</footer></div></body></html>\n')
$$;

COMMENT ON FUNCTION
  sync_probe_internal.html_page(text, text, sync_probe_internal.section[], text) IS
  'The page from its sections';
