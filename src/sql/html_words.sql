--
-- Words of the report
--
-- Numbers, durations and times as plain text, which is escaped later like any other.
--

--
-- sync_probe_internal.clipped
--
-- At most so many characters of a text; what is cut off is an ellipsis.
--
CREATE FUNCTION sync_probe_internal.clipped(plain text, characters integer)
RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN length(plain) <= characters THEN plain
            ELSE left(plain, characters - 3) || '...' END
$$;

COMMENT ON FUNCTION sync_probe_internal.clipped(text, integer) IS
  'The beginning of a text';

--
-- sync_probe_internal.html_number
--
-- A number in as many digits as it is worth, in plain text: 0.87, 9.9, 68, 1,896.  Null if it
-- is unknown, or not a number.
--
CREATE FUNCTION sync_probe_internal.html_number(number double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
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

COMMENT ON FUNCTION sync_probe_internal.html_number(double precision) IS
  'A number in as many digits as it is worth';

--
-- sync_probe_internal.html_factor
--
-- A ratio to 1, in plain text: 0.97, 1.78, 12.9.
--
CREATE FUNCTION sync_probe_internal.html_factor(factor double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN factor IN ('NaN', 'Infinity', '-Infinity') THEN NULL
            WHEN abs(factor) < 9.995 THEN to_char(round(factor::numeric, 2), 'FM0.00')
            WHEN abs(factor) < 99.95 THEN to_char(round(factor::numeric, 1), 'FM90.0')
            ELSE sync_probe_internal.html_number(factor) END
$$;

COMMENT ON FUNCTION sync_probe_internal.html_factor(double precision) IS
  'A ratio with two decimals';

--
-- sync_probe_internal.html_duration
--
-- A time span in plain text, with the unit that suits it: 289 us, 5 ms, 30 s.
--
CREATE FUNCTION sync_probe_internal.html_duration(microseconds double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN abs(microseconds) < 999.5
            THEN sync_probe_internal.html_number(microseconds) || ' us'
            WHEN abs(microseconds) < 999950
            THEN trim_scale(round((microseconds / 1e3)::numeric, 2)) || ' ms'
            WHEN microseconds < 'Infinity'
            THEN trim_scale(round((microseconds / 1e6)::numeric, 1)) || ' s' END
$$;

COMMENT ON FUNCTION sync_probe_internal.html_duration(double precision) IS
  'A time span with its unit';

CREATE FUNCTION sync_probe_internal.html_duration(span interval)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT sync_probe_internal.html_duration((extract(epoch FROM span) * 1e6)::float8)
$$;

COMMENT ON FUNCTION sync_probe_internal.html_duration(interval) IS
  'A time span with its unit';

--
-- sync_probe_internal.html_time
--
-- A moment in plain text, in UTC whatever the session's time zone is.
--
CREATE FUNCTION sync_probe_internal.html_time(moment timestamptz)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN isfinite(moment)
            THEN to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') END
$$;

COMMENT ON FUNCTION sync_probe_internal.html_time(timestamptz) IS
  'A moment in UTC';

--
-- sync_probe_internal.html_bound
--
-- A bound of the loss, in plain text: how much longer a flush may take.
--
CREATE FUNCTION sync_probe_internal.html_bound(loss_bound double precision)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
SELECT CASE WHEN loss_bound IN ('NaN', 'Infinity', '-Infinity') THEN NULL
            WHEN loss_bound <= 0 THEN 'no longer'
            WHEN loss_bound < 0.01 THEN 'less than 1 % longer'
            ELSE format('at most %s %% longer', ceil((100 * loss_bound)::numeric)) END
$$;

COMMENT ON FUNCTION sync_probe_internal.html_bound(double precision) IS
  'How much longer a flush may take';
