--
-- Shares as bars.  test/t/024_history.pl has databases and clients of other encodings.
--
\ir include/begin.sql

CREATE TEMP TABLE bar (fraction float8, width integer, ascii text, blocks text);
INSERT INTO bar VALUES
(0, 40, '', ''),
(-1, 40, '', ''),
('NaN', 40, '', ''),
(1e-300, 40, '#', U&'\258F'),
(0.0125, 10, '#', U&'\258F'),
(0.1, 10, '#', U&'\2588'),
(0.19, 10, '##', U&'\2588\2589'),
(0.15, 10, '##', U&'\2588\258C'),
(0.5, 4, '##', U&'\2588\2588'),
(1, 4, '####', U&'\2588\2588\2588\2588'),
('Infinity', 3, '###', U&'\2588\2588\2588'),
(7, 3, '###', U&'\2588\2588\2588'),
(1, 0, '', ''),
(1, -2147483648, '', ''),
(1, 2147483647, repeat('#', 40), repeat(U&'\2588', 40));

SELECT plan((SELECT count(*)::integer * 2 FROM bar) + 3);

SELECT is(getdatabaseencoding(), 'UTF8', 'the tests are about such a database');
SET client_encoding = 'UTF8';
SELECT is(sync_probe.bar(fraction, width), blocks, format('%s of %s', fraction, width))
FROM bar;
SET client_encoding = 'LATIN1';
SELECT is(sync_probe.bar(fraction, width), ascii,
          format('%s of %s, the client uses LATIN1', fraction, width))
FROM bar;
RESET client_encoding;
SELECT is(length(sync_probe.bar(1)), 40, '40 characters unless told otherwise');
SELECT is(sync_probe.bar(NULL), NULL, 'no bar of what is unknown');

SELECT * FROM finish();
ROLLBACK;
