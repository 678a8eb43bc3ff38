-- Shares as bars.  test/t/024_encodings.pl has databases and clients of other encodings.
\ir include/begin.sql

CREATE FUNCTION pg_temp.bars(encoding text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('client_encoding', encoding, true);
    RETURN QUERY SELECT is(sync_probe.bar(fraction, width),
                           CASE encoding WHEN 'UTF8' THEN blocks ELSE ascii END,
                           format('%s of %s, the client uses %s', fraction, width, encoding))
    FROM (VALUES (0::float8, 40, '', ''), (-1, 40, '', ''), ('NaN', 40, '', ''),
                 (1e-300, 40, '#', U&'\258F'), (0.0125, 10, '#', U&'\258F'),
                 (0.1, 10, '#', U&'\2588'), (0.19, 10, '##', U&'\2588\2589'),
                 (0.15, 10, '##', U&'\2588\258C'), (0.5, 4, '##', U&'\2588\2588'),
                 ('Infinity', 3, '###', repeat(U&'\2588', 3)), (7, 3, '###', repeat(U&'\2588', 3)),
                 (1, 0, '', ''), (1, -2147483648, '', ''), (NULL, 3, NULL, NULL),
                 (1, 2147483647, repeat('#', 40), repeat(U&'\2588', 40)))
         AS v (fraction, width, ascii, blocks);
END
$$;
SELECT pg_temp.bars(encoding) FROM unnest('{UTF8,LATIN1}'::text[]) AS encoding;
RESET client_encoding;
SELECT is(length(sync_probe.bar(1)), 40, '40 characters unless told otherwise');

\ir include/end.sql
