-- sync_probe.expect(): which figures of which run meet a profile, and what it says otherwise.
\ir include/begin.sql
\ir include/stage.sql
UPDATE examined SET shares_filesystem_with = 'pg_wal' WHERE name = 'pg_default';
INSERT INTO sync_probe.expectations (profile, flush_p99_us, commits_per_sec, durable, no_errors,
                                     recommended)
VALUES ('all', 900, 1000, true, true, true);

-- What fails and a reason, after a run within these limits, with differences.  Other test cases
-- than those of the method in use have more or less than anyone expects.
CREATE FUNCTION pg_temp.failed(run text, cases text DEFAULT '', change text DEFAULT 'SELECT')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said jsonb := pg_temp.given(run);
BEGIN
    DELETE FROM sync_probe.runs;
    PERFORM pg_temp.record_cases(pg_temp.record_run(said), VARIADIC ARRAY(
        SELECT to_jsonb(m) || jsonb_build_object('ops', 500, 'durable', 'yes',
                   'choice', CASE m.method
                       WHEN coalesce(said ->> 'wal_sync_method', 'fdatasync') THEN 'current'
                       WHEN said ->> 'recommended_value' THEN 'recommended' END,
                   'verdict', CASE m.ordinal WHEN 1 THEN said ->> 'verdict' END)
               || coalesce(pg_temp.given(cases) -> m.ordinal::text, '{}')
        FROM (VALUES (1, 'paced', 'fdatasync', false, 900, NULL),
                     (2, 'paced', 'fsync', false, 1, NULL),
                     (3, 'saturated', 'fsync', false, 1, 1e6),
                     (4, 'saturated', 'fdatasync', true, 1, 1e6),
                     (5, 'saturated', 'fdatasync', false, 1, 1000))
             AS m (ordinal, test, method, direct_io, p99_us, ops_per_sec)));
    EXECUTE change;
    RETURN (SELECT coalesce(string_agg(e.expectation || '=' || coalesce(e.value, '-'), ' ')
                            || ' because ' || regexp_replace(min(e.reason), 'run \d+', 'run N'),
                            'none')
            FROM sync_probe.expect('all') AS e WHERE NOT e.ok);
END
$$;

SELECT pg_temp.failed('');
SELECT results_eq(
    $$SELECT expectation, ok, value, expected, regexp_replace(reason, 'run \d+', 'run N')
      FROM sync_probe.expect('all')$$,
    $$VALUES ('flush_p99_us', true, '900', 'at most 900',
              'run N: 500 paced flushes with fdatasync'),
             ('commits_per_sec', true, '1000', 'at least 1000',
              'run N: one writer back to back with fdatasync'),
             ('durable', true, 'yes', 'yes', 'run N, with fdatasync'),
             ('no_errors', true, 'none', 'none', 'no finding of severity error'),
             ('recommended', true, 'keep', 'keep, or undecided within the margin',
              'no other method is faster by more than the margin')$$, 'all at their limits');
SELECT is((SELECT count(*) FROM sync_probe.expect('all', raise => true)), 5::bigint, 'no error');
SELECT is(string_agg(expectation, ' '), 'flush_p99_us durable', 'only what a profile expects')
FROM sync_probe.expect('etcd');

SELECT is(left(f, length(expected)), expected, expected)
FROM (VALUES
('', '1: p99_us=900.1', 'SELECT', 'flush_p99_us=900.1 because run N: 500'),
('', '5: ops_per_sec=999.9', 'SELECT', 'commits_per_sec=999.9 because run N: one'),
('', '1: ops=298, p99_us=null', 'SELECT', 'flush_p99_us=- because run N has 298 of'),
('', '1: ops=null, p99_us=null, detail=could not open file', 'SELECT',
 'flush_p99_us=- because run N did not measure fdatasync: could not open file'),
('', '5: ops_per_sec=null, detail=left out', 'SELECT',
 'commits_per_sec=- because run N did not measure fdatasync: left out'),
('durable=no_cache', '', 'SELECT', 'none'),
('durable=unknown', '', 'SELECT', 'durable=unknown because run N, with fdatasync'),
('verdict=unsafe', '', 'SELECT', 'recommended=unsafe because no other'),
('verdict=undecided, max_regret=0.05', '', 'SELECT', 'none'),
('verdict=undecided, max_regret=0.051', '', 'SELECT', 'recommended=undecided because'),
('verdict=undecided, max_regret=null', '', 'SELECT', 'recommended=undecided because'),
('verdict=switch, recommended_value=fsync, max_regret=0.01, reason=why', '', 'SELECT',
 'recommended=switch because why'),
-- advice that was followed: the figures are those of the method in use now
('verdict=switch, wal_sync_method=fsync, recommended_value=fdatasync', '', 'SELECT', 'none'),
('', '', 'UPDATE examined SET filesystem = ''xfs''', 'flush_p99_us=- commits_per_sec=- '
 'durable=unknown recommended=outdated because run N is outdated: file system was ext4, is xfs; '
 'execute SELECT * FROM sync_probe.probe(''pg_wal'', '),
('usable_for_advice=false', '', 'SELECT', 'flush_p99_us=- commits_per_sec=- durable=unknown '
 'recommended=not probed because run N does not count: it has fewer than 16 samples, '),
('', '', 'DELETE FROM sync_probe.runs',
 'flush_p99_us=- commits_per_sec=- durable=unknown recommended=not probed because never probed; '),
('', '', 'UPDATE examined SET mount_options = ''ro''', 'no_errors=read_only_filesystem because ')
    ) AS v (run, cases, change, expected), pg_temp.failed(run, cases, change) AS f;

-- a finding of the first location on a file system is one of the others
SELECT is(string_agg(e.value, ' '), 'unknown read_only_filesystem', 'the same file system')
FROM sync_probe.expect('oltp', 'pg_default') AS e;
UPDATE examined SET mount_options = 'rw';

SELECT pg_temp.failed('', '', $$SELECT pg_temp.record_run('{"suite": "power_test",
                                "durable": "proven", "reason": "why"}', false)$$);
SELECT matches(reason, '^run \d+, a power test: why$', 'proven') FROM sync_probe.expect('etcd')
WHERE expectation = 'durable';

INSERT INTO sync_probe.expectations (profile, commits_per_sec) VALUES ('oltp', 7);
SELECT is(string_agg(e.expected, ' '), 'at least 7', 'a row replaces a profile')
FROM sync_probe.expect() AS e;

-- sql/arguments.sql has the details of the error
SELECT isnt(pg_temp.failed('durable=unknown', '1: p99_us=901'), 'none', 'two fail');
SELECT throws_ok($$SELECT FROM sync_probe.expect('all', raise => true)$$, '22000',
                 '2 of 5 expectations of profile "all" failed at location "pg_wal"');

-- a slot's method is not the server's
CREATE OR REPLACE FUNCTION sync_probe_internal.running(OUT pid integer, OUT location name,
    OUT suite text, OUT workload name, OUT phase text, OUT started_at timestamptz,
    OUT percent_done double precision)
RETURNS SETOF record LANGUAGE sql
AS $$SELECT 1, NULL::name, 'trial', NULL::name, NULL::text, now(), 0::float8$$;
SELECT throws_ok('SELECT FROM sync_probe.expect()', '55P03', NULL, 'a trial is running');

\ir include/end.sql
