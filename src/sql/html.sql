--
-- HTML of the report
--
-- Arguments and table cells are plain text, which these functions escape.  Only arguments whose
-- names end in _html are HTML already.  All functions return HTML in ASCII; a character beyond
-- that is a reference: &micro; or &#181;.
--

--
-- Text in UTF-8 with references for what is not ASCII.  Controls become visible pictures.
-- Characters that HTML forbids, that set the direction of text, or that nobody sees become U+FFFD:
-- two names that differ would look the same.  Not those that Persian and emoji need (U+200C,
-- U+200D).
--
CREATE FUNCTION sync_probe_internal.html_references(utf8 bytea)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT string_agg(CASE WHEN c.code BETWEEN 32 AND 126 OR c.code IN (9, 10)
                       THEN chr(c.code::integer)
                       ELSE format('&#%s;', CASE
           WHEN c.code < 32 THEN c.code + 9216      -- U+2400 is the first of the pictures
           WHEN c.code = 127 THEN 9249
           WHEN to_hex(c.code) ~ ('^([89].|ad|34f|61c|115f|1160|180e|200[bef]|202[a-e]|206.|3164|'
                                  'fd[de].|feff|ffa0|.*fff[ef]|e00[0-7].)$') THEN 65533
           ELSE c.code END) END, '' ORDER BY b.i)
FROM (SELECT i, get_byte(utf8, i) AS first FROM generate_series(0, length(utf8) - 1) AS i) AS b,
     LATERAL (SELECT CASE WHEN b.first < 128 THEN 0 WHEN b.first < 224 THEN 1
                          WHEN b.first < 240 THEN 2 ELSE 3 END) AS f (following),
     -- bits of the first byte, then six of each that follows
     LATERAL (SELECT (b.first & (ARRAY[127, 31, 15, 7])[f.following + 1]) << 6 * f.following
                     | coalesce(sum((get_byte(utf8, b.i + k) & 63) << 6 * (f.following - k)), 0)
              FROM generate_series(1, f.following) AS k) AS c (code)
WHERE b.first NOT BETWEEN 128 AND 191
$$;

--
-- Text as HTML, for elements and for attributes in quotes.  It is ASCII, which means the same in
-- every encoding of databases and clients.  What has no Unicode becomes U+FFFD.
--
CREATE FUNCTION sync_probe_internal.html_escape(plain text)
RETURNS text
LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    html text := replace(replace(replace(replace(replace(
        plain, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;');
    result text := '';
    piece text;
BEGIN
    IF html !~ '[^\t\n -~]' THEN
        RETURN html;
    END IF;
    BEGIN
        RETURN sync_probe_internal.html_references(convert_to(html, 'UTF8'));
    EXCEPTION WHEN untranslatable_character OR character_not_in_repertoire THEN
        NULL; -- by pieces, then
    END;
    -- SQL_ASCII has bytes instead of characters: those that may be one in UTF-8 stay together
    FOR piece IN SELECT m[1] FROM regexp_matches(html, '[\xC2-\xDF][\x80-\xBF]|'
        '[\xE0-\xEF][\x80-\xBF]{2}|[\xF0-\xF4][\x80-\xBF]{3}|.', 'g') AS m
    LOOP
        BEGIN
            result := result || sync_probe_internal.html_references(convert_to(piece, 'UTF8'));
        EXCEPTION WHEN untranslatable_character OR character_not_in_repertoire THEN
            result := result || '&#65533;';
        END;
    END LOOP;
    RETURN result;
END
$$;

--
-- A sentence of this extension as HTML: escaped, with the signs that its messages write in
-- ASCII.  Not for names, which it could change.
--
CREATE FUNCTION sync_probe_internal.html_prose(plain text)
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT regexp_replace(regexp_replace(regexp_replace(
           sync_probe_internal.html_escape(plain),
           '(\d) (%|(?:ms|s|us)\M)', '\1&nbsp;\2', 'g'),
           '(\d&nbsp;|, |^| )us\M', '\1&micro;s', 'g'),
           '(^|[ (])-(\d)', '\1&minus;\2', 'g')
$$;

--
-- The class of the colour of a verdict, of a severity or of an answer whether syncs are
-- durable.
--
CREATE FUNCTION sync_probe_internal.html_class(word text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN word = 'switch' THEN 'blue'
            WHEN word IN ('keep', 'yes', 'no_cache') THEN 'green'
            WHEN word IN ('undecided', 'outdated', 'warning', 'unknown') THEN 'amber'
            WHEN word IN ('unsafe', 'error', 'no') THEN 'red'
            ELSE 'grey' END
$$;

--
-- Such a word in its colour.
--
CREATE FUNCTION sync_probe_internal.html_tag(word text)
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('<b class="tag %s">%s</b>', sync_probe_internal.html_class(word),
              sync_probe_internal.html_escape(word))
$$;

--
-- Commands, one in each line, to be selected by one click.
--
CREATE FUNCTION sync_probe_internal.html_code(commands text[])
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT '<pre>' || string_agg(sync_probe_internal.html_escape(c.command) || ';', E'\n'
                             ORDER BY c.n) || '</pre>'
FROM unnest(commands) WITH ORDINALITY AS c (command, n)
WHERE c.command IS NOT NULL
$$;

--
-- At most so many characters of a text; what is cut off is an ellipsis.
--
CREATE FUNCTION sync_probe_internal.clipped(plain text, characters integer)
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN length(plain) <= characters THEN plain
            ELSE left(plain, characters - 3) || '...' END
$$;

--
-- A number in as many digits as it is worth, in plain text: 0.87, 9.9, 68, 1,896.  Null if it
-- is unknown, or not a number.
--
CREATE FUNCTION sync_probe_internal.html_number(number double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN number IN ('NaN', 'Infinity', '-Infinity') THEN NULL
            WHEN number = 0 THEN '0'
            WHEN abs(number) >= 1e15 THEN number::text
            WHEN abs(number) >= 19.95
            THEN to_char(round(number::numeric), 'FM999,999,999,999,999,990')
            WHEN abs(number) >= 0.995 THEN to_char(round(number::numeric, 1), 'FM90.0')
            WHEN abs(number) >= 0.0995 THEN to_char(round(number::numeric, 2), 'FM0.00')
            ELSE to_char(round(number::numeric, 3), 'FM0.000') END
$$;

--
-- A ratio to 1, in plain text: 0.97, 1.78, 12.9.
--
CREATE FUNCTION sync_probe_internal.html_factor(factor double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN factor IN ('NaN', 'Infinity', '-Infinity') THEN NULL
            WHEN abs(factor) < 9.995 THEN to_char(round(factor::numeric, 2), 'FM0.00')
            WHEN abs(factor) < 99.95 THEN to_char(round(factor::numeric, 1), 'FM90.0')
            ELSE sync_probe_internal.html_number(factor) END
$$;

--
-- A time span in plain text, with the unit that suits it: 289 us, 5 ms, 30 s.
--
CREATE FUNCTION sync_probe_internal.html_duration(microseconds double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN abs(microseconds) < 999.5
            THEN sync_probe_internal.html_number(microseconds) || ' us'
            WHEN abs(microseconds) < 999950
            THEN trim_scale(round((microseconds / 1e3)::numeric, 2)) || ' ms'
            WHEN microseconds < 'Infinity'
            THEN trim_scale(round((microseconds / 1e6)::numeric, 1)) || ' s' END
$$;

CREATE FUNCTION sync_probe_internal.html_duration(span interval)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_duration((extract(epoch FROM span) * 1e6)::float8)
$$;

--
-- A moment in plain text, in UTC whatever the session's time zone is.
--
CREATE FUNCTION sync_probe_internal.html_time(moment timestamptz)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN isfinite(moment)
            THEN to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') END
$$;

--
-- A bound of the loss, in plain text: how much longer a flush may take.
--
CREATE FUNCTION sync_probe_internal.html_bound(max_regret double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN max_regret IN ('NaN', 'Infinity', '-Infinity') THEN NULL
            WHEN max_regret <= 0 THEN 'no longer'
            WHEN max_regret < 0.01 THEN 'less than 1 % longer'
            ELSE format('at most %s %% longer', ceil((100 * max_regret)::numeric)) END
$$;

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
LANGUAGE sql STABLE
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

--
-- How many are not shown, and where they are; null if all are shown.
--
CREATE FUNCTION sync_probe_internal.html_more(count bigint, place text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN count > 0
            THEN format('<p class=note>%s more: see %s.</p>', count,
                        sync_probe_internal.html_escape(place)) END
$$;
