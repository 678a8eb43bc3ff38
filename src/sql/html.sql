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
    -- SQL_ASCII has bytes instead of characters: those that may be one in UTF-8 stay together
    FOR piece IN SELECT m[1] FROM regexp_matches(html, '[\t\n -~]+|[\xC2-\xDF][\x80-\xBF]|'
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
-- A verdict, a severity or an answer whether syncs are durable, in its colour: the style sheet has
-- a class for each such word.
--
CREATE FUNCTION sync_probe_internal.html_tag(word text)
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT format('<b class="tag %1$s">%1$s</b>', sync_probe_internal.html_escape(word))
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
-- A number in as many digits as it is worth, in plain text: 0.012, 0.87, 9.94, 68.4, 1,896.  Null
-- if it is unknown, or not a number.
--
CREATE FUNCTION sync_probe_internal.html_number(number double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN number IN ('NaN', 'Infinity', '-Infinity') THEN NULL
            WHEN abs(number) >= 1e15 THEN ltrim(to_char(number, '9.9EEEE'))
            WHEN number = round(number) OR abs(number) >= 99.95
            THEN to_char(round(number::numeric), 'FM999,999,999,999,999,990')
            WHEN abs(number) >= 9.995 THEN to_char(round(number::numeric, 1), 'FM90.0')
            WHEN abs(number) >= 0.0995 THEN to_char(round(number::numeric, 2), 'FM0.00')
            ELSE to_char(round(number::numeric, 3), 'FM0.000') END
$$;

--
-- The same in at most six characters, for a figure, where all numbers are measured ones: 1.00,
-- 1,896, 18.9k, 1.90M.
--
CREATE FUNCTION sync_probe_internal.html_short(number double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN number <> 0 AND number = round(number) AND abs(number) < 10
            THEN to_char(number, 'FM0.00')
            WHEN abs(number) < 9999.5 THEN sync_probe_internal.html_number(number)
            WHEN abs(number) < 999500 THEN sync_probe_internal.html_number(number / 1e3) || 'k'
            WHEN abs(number) < 999.5e6 THEN sync_probe_internal.html_number(number / 1e6) || 'M'
            WHEN abs(number) < 'Infinity' THEN ltrim(to_char(number, '9EEEE')) END
$$;

--
-- The label of a tick, which is a round number, in at most five characters from 0.001 up.
--
CREATE FUNCTION sync_probe_internal.html_tick(tick double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN tick < 1e4 THEN tick::text ELSE sync_probe_internal.html_short(tick) END
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
SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')
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
-- A table: its caption, and its rows, an array of objects with the names and values of columns.  A
-- column without any value is left out.  The first names the row.  A null, and a number that is
-- none, is a dash.  A text is cut after 200 characters.
--
CREATE FUNCTION sync_probe_internal.html_table(caption text, cells json)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
WITH cell AS (
    SELECT r.n AS row, c.name, c.n AS place, json_typeof(c.value) = 'number' AS is_number,
           CASE WHEN c.value #>> '{}' NOT IN ('NaN', 'Infinity', '-Infinity')
                THEN c.value #>> '{}' END AS plain
    FROM json_array_elements(cells) WITH ORDINALITY AS r (value, n),
         json_each(r.value) WITH ORDINALITY AS c (name, value, n)
), head AS (
    SELECT place, name, place = min(place) OVER () AS is_first,
           CASE WHEN NOT bool_or(is_number) THEN ' class=s' END AS class
    FROM cell WHERE plain IS NOT NULL GROUP BY place, name
)
SELECT format('<div class=scroll tabindex=0 role=region aria-label="%s"><table>'
              '<caption>%s</caption><thead><tr>%s<tbody>%s</table></div>',
              sync_probe_internal.html_escape(caption), sync_probe_internal.html_prose(caption),
              (SELECT string_agg(format('<th scope=col%s>%s', h.class,
                                        sync_probe_internal.html_prose(h.name)), '' ORDER BY place)
               FROM head AS h),
              (SELECT string_agg(html, '' ORDER BY row)
               FROM (SELECT c.row, E'\n<tr>' || string_agg(concat(
                         CASE WHEN h.is_first THEN '<th scope=row' ELSE '<td' END, h.class, '>',
                         coalesce(CASE
                             WHEN c.is_number
                             THEN replace(sync_probe_internal.html_number(c.plain::float8),
                                          '-', '&minus;')
                             ELSE sync_probe_internal.html_escape(
                                 sync_probe_internal.clipped(c.plain, 200)) END,
                             '&ndash;')), '' ORDER BY c.place) AS html
                     FROM cell AS c JOIN head AS h USING (place) GROUP BY c.row) AS line))
$$;
