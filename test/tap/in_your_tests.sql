--
-- How a probe is used in somebody's own pgTAP tests; doc/testing.md shows it.
--
\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS pg_sync_probe;
SET LOCAL client_min_messages = warning;

SELECT plan(3);

CREATE TEMP TABLE measured AS
SELECT * FROM sync_probe.probe(duration => '4 s', stop_early => false, record => false);

-- every method that this server knows was measured
SELECT set_eq(
    'SELECT method FROM measured WHERE status = ''ok'' AND NOT direct_io',
    'SELECT unnest(enumvals) FROM pg_settings WHERE name = ''wal_sync_method''',
    'every known method can sync');

-- often enough for a quantile, and none above the limit: here ten seconds,
-- since this storage is anybody's; yours may promise more
SELECT is_empty(
    'SELECT method, ops FROM measured WHERE test = ''saturated'' AND ops > 0 AND p99_us > 10000000',
    'p99 of every method below 10 s');
SELECT is_empty(
    'SELECT method, ops FROM measured WHERE p99_us IS NULL AND ops >= 299',
    'p99 was measured where there were enough operations to know');

SELECT * FROM finish();
ROLLBACK;
