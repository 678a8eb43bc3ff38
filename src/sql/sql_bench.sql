--
-- sql_bench
--
-- The operations of MySQL's sql-bench in PostgreSQL's SQL, each a row of sync_probe.workloads.
-- Names and iterations are those of a report on ufs and zfs, to be compared with ours.  An
-- iteration is one run of the script, and one statement of sql-bench, even if it takes several
-- here.  The data is generated, in the sizes of the original data; a comment above an operation
-- names what else differs.  pgbench runs one client with -D iteration=0, and the script counts.
-- Operations that use up their objects run at most as often as given here.
--
CREATE FUNCTION sync_probe_internal.sql_bench_workloads()
RETURNS SETOF sync_probe_internal.workloads
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $sql_bench$
WITH
-- Of ATIS and Wisconsin: rows (if selects read them), columns in the key, columns, char(10)s.
tables (name, rows, key, columns, chars) AS (VALUES
('aircraft', 130, 1, 'aircraft_code, category, engines, range_miles, pay_load, capacity', 7),
('airline', 320, 1, 'airline_code', 2), ('airport', 15, 1, 'airport_code, state_code', 4),
('airport_service', 12, 2, 'city_code, airport_code, minutes_distant', 2),
('city', 12, 1, 'city_code, state_code', 3), ('state', 60, 1, 'state_code', 2),
('compound_class', 139, 1, 'fare_class, night', 7),
('fare', 534, 1, 'fare_code, from_airport, to_airport, fare_class, restrict_code, one_way_cost', 2),
('flight', 579, 1, 'flight_code, from_airport, to_airport, airline_code, aircraft_code, stops', 8),
('flight_class', 2895, 2, 'flight_code, fare_class', 0), ('day_name', 7, 1, 'day_code', 1),
('flight_fare', 2895, 2, 'flight_code, fare_code', 0), ('month_name', 12, 1, 'month_number', 1),
('flight_day', 385, 2, 'day_mask, day_code', 1),
('restrict_carrier', 605, 2, 'restrict_code, airline_code', 0)
UNION ALL SELECT split_part(t, ' ', 1), 0, 1, 'code', split_part(t, ' ', 2)::int
FROM unnest('{class_of_service 2, code_description 1, connect_leg 2, dual_carrier 4, fconnection 8,
    food_service 3, ground_service 3, restrict_class 1, restriction 6, stop1 2, time_interval 2,
    time_zone 1, transport 1}'::text[]) AS t
UNION ALL SELECT name, NULL, 1, 'unique1, unique2, two, four, ten, twenty, hundred, thousand,'
       ' twothousand, fivethous, tenthous, odd, even', 3
FROM unnest('{onek, tenk1, tenk2, bprime}'::text[]) AS name),

-- pgbench reports the first line of a statement.  The line break keeps it short.  In row n a column
-- is n modulo the number of its values.
layouts (name, rows, creation, filling) AS (
SELECT name COLLATE "C", rows, t.* FROM tables, LATERAL (
    SELECT format(E'CREATE TABLE %s (\n%s%sPRIMARY KEY (%s))%s', name,
                  string_agg(c || ' int NOT NULL, ', ''),
                  (SELECT string_agg(format('s%s char(10), ', i), '')
                   FROM generate_series(1, chars) AS i),
                  string_agg(c, ', ') FILTER (WHERE n <= key),
                  string_agg(format('; CREATE INDEX ON %s (%s)', name, c), '')
                      FILTER (WHERE c IN ('from_airport', 'to_airport', 'unique2', 'hundred'))),
           format(E'INSERT INTO %s SELECT %s%s FROM generate_series(0, %s) AS n;\nANALYZE %1$s',
                  name, string_agg('n % ' || coalesce('{"aircraft_code": 130, "airline_code": 320,
                      "airport_code": 15, "category": 6, "city_code": 12, "day_code": 7,
                      "engines": 5, "fare_class": 139, "fare_code": 534, "flight_code": 579,
                      "from_airport": 15, "restrict_code": 55, "state_code": 60, "stops": 3,
                      "to_airport": 14}'::jsonb ->> c, '1000'), ', '),
                  repeat(', n', chars), rows - 1)
    FROM string_to_table(columns, ', ') WITH ORDINALITY AS c (c, n)) AS t),

-- The parts of set-ups.  MATERIALIZED: made once, not for each operation.
parts (part, sql) AS MATERIALIZED (
SELECT CASE WHEN rows IS NULL THEN 'wisconsin' ELSE 'atis' END,
       string_agg(creation, E';\n' ORDER BY name)
FROM layouts GROUP BY rows IS NULL
UNION ALL SELECT 'atis rows', string_agg(filling, E';\n' ORDER BY name) FROM layouts WHERE rows > 0
UNION ALL SELECT 'indexes', string_agg(format('CREATE INDEX ind%1$s ON bench (i%1$s)', n), '; ')
FROM generate_series(1, 8) AS n
UNION ALL VALUES
('bench', $$CREATE TABLE bench (i1 int NOT NULL, i2 int NOT NULL, i3 int NOT NULL, i4 int NOT NULL,
    i5 int NOT NULL, i6 int NOT NULL, i7 int NOT NULL, i8 int NOT NULL);
INSERT INTO bench SELECT n, n, n, n, n, n, n, n FROM generate_series(1, :rows / 10) AS n$$),
('tenk1', $$INSERT INTO tenk1
SELECT n * 7919::bigint % :rows, n, n % 2, n % 4, n % 10, n % 20, n % 100, n % 1000, n % 2000,
    n % 5000, n, n % 100 * 2 + 1, n % 100 * 2, n, n, n FROM generate_series(0, :rows - 1) AS n;
INSERT INTO onek SELECT * FROM tenk1 WHERE unique2 < :rows / 10; ANALYZE onek, tenk1$$),
('some', 'INSERT INTO bprime SELECT * FROM onek; ANALYZE bprime'),
('all', 'INSERT INTO bprime SELECT * FROM tenk1; ANALYZE bprime'),
-- Keys of several columns: six regions, a hundred groups.
('keys', 'CREATE TABLE bench (region int, idn int, rev_idn int NOT NULL, grp int NOT NULL,
    PRIMARY KEY (region, idn), UNIQUE (region, rev_idn), UNIQUE (region, grp, idn))'),
('rows', 'INSERT INTO bench SELECT n % 6, n, :rows - 1 - n, n * 3 % 100
FROM generate_series(0, :rows - 1) AS n; ANALYZE bench'),
('row', $$CREATE TABLE bench AS SELECT 1 AS a, 100 AS i, 'AAA'::char(10) AS s$$),
('second row', $$INSERT INTO bench VALUES (2, 200, 'BBB')$$),
-- EXTERNAL: a string of A's compresses to almost nothing.
('string', $$CREATE TABLE bench (b text); ALTER TABLE bench ALTER b SET STORAGE EXTERNAL;
INSERT INTO bench VALUES (repeat('A', 65000))$$),
-- Texts of a thousand columns take long to store.
('thousand columns', $$DO 'BEGIN EXECUTE (
    SELECT ''CREATE TABLE bench AS SELECT '' || string_agg(''1 AS i'' || n, '', '' ORDER BY n)
    FROM generate_series(0, 999) AS n); END'$$),
-- as by alter_table_add
('added', $$DO 'BEGIN EXECUTE (
    SELECT ''ALTER TABLE bench ''
           || string_agg(format(''ADD c%s_%s int'', n % 10, n / 10 + 1), '', '' ORDER BY n)
    FROM generate_series(0, 999) AS n); END'$$),
('many', $$DO 'BEGIN FOR i IN 1 .. :transactions LOOP
    EXECUTE format(''CREATE TABLE bench_%s (i int PRIMARY KEY, d float8, s char(10))'', i);
    IF i % 100 = 0 THEN COMMIT; END IF;
END LOOP; END'$$)),

-- Parts of the set-up, iterations, description, and alternatives, with " | " between them, of
-- which each iteration runs the next one, in rounds: :round counts the rounds from 0.
operations (workload, setup, transactions, description, script) AS (VALUES
('alter_table_add', '{bench}'::text[], 100, 'Add ten columns to a table of 8 and 1,000 rows',
 (SELECT 'ALTER TABLE bench ' || string_agg(format('ADD c%s_:iteration int', c), ', ')
  FROM generate_series(0, 9) AS c)),
-- The original drops ten columns and then skips one, hence 91 and not 100.
('alter_table_drop', '{bench, added}', 91, 'Drop ten of the columns that alter_table_add added',
 (SELECT 'ALTER TABLE bench ' || string_agg(format('DROP c%s_:iteration', c), ', ')
  FROM generate_series(0, 9) AS c)),
('create_index', '{bench, added}', 8, '', 'CREATE INDEX ind:iteration ON bench (i:iteration)'),
('drop_index', '{bench, added, indexes}', 8, '', 'DROP INDEX ind:iteration'),

('connect', '{}', 10000, 'Connect and disconnect', NULL),
('connect+select_1_row', '{row}', 10000, '', 'SELECT a, i, s, :iteration FROM bench'),
('connect+select_simple', '{}', 10000, '', 'SELECT :iteration'),
('select_simple', '{}', 100000, '', 'SELECT :iteration'),
('select_simple_cache', '{}', 100000, '', 'SELECT 10000'),
('select_1_row', '{row}', 100000, '', 'SELECT a, i, s, :iteration FROM bench'),
('select_1_row_cache', '{row}', 100000, '', 'SELECT a, i, s FROM bench'),
('select_2_rows', '{row, second row}', 100000, '', 'SELECT a, i, s, :iteration FROM bench'),
('select_column+column', '{row, second row}', 100000, '',
 'SELECT a + a + a + a + a + a + a + a + a + :iteration FROM bench'),
('select_big_str', '{string}', 10000, '', 'SELECT b, :iteration FROM bench'),
-- sql-bench runs the first form to the end before the second.
('select_many_fields', '{thousand columns}', 2000, 'Select 1,000 columns, by * and by name in turn',
 (SELECT format(E'SELECT * FROM bench | SELECT\n%s FROM bench', string_agg('i' || n, ', '))
  FROM generate_series(0, 999) AS n)),
('insert_many_fields', '{thousand columns}', 2000, 'Insert 1,000 columns, in two forms in turn',
 (SELECT format(E'INSERT INTO bench VALUES (\n%s) | INSERT INTO bench (\n%s) VALUES (%1$s)',
                string_agg('1', ', '), string_agg('i' || n, ', '))
  FROM generate_series(0, 999) AS n)),
-- Only three of the four Wisconsin tables, because the original counts 31.
('create_table', '{}', 31, 'Create one of the 28 tables of ATIS, or 3 of Wisconsin',
 (SELECT string_agg(format('BEGIN; %s; COMMIT', creation), ' | ' ORDER BY name) FROM layouts
  WHERE name <> 'tenk2')),
('drop_table', '{atis, atis rows}', 28, 'Drop one of the 28 tables of ATIS, most with rows',
 (SELECT string_agg('DROP TABLE ' || name, ' | ' ORDER BY name) FROM layouts
  WHERE rows IS NOT NULL)),
('create_MANY_tables', '{}', 10000, 'Create a table with a primary key',
 'CREATE TABLE bench_:iteration (i int PRIMARY KEY, d float8, s char(10))'),
('select_group_when_MANY_tables', '{many}', 10000, '', 'SELECT count(*) FROM bench_:iteration'),
('drop_table_when_MANY_tables', '{many}', 10000, '', 'DROP TABLE bench_:iteration'),
('create+drop', '{}', 10000, 'Create a table with a primary key, and drop it',
 'CREATE TABLE bench (i int PRIMARY KEY, d float8, s char(10)); DROP TABLE bench'),
('create_key+drop', '{}', 10000, 'Create a table with 16 columns and 16 indexes, and drop it',
 (SELECT format(E'BEGIN; CREATE TABLE bench (\n%s, PRIMARY KEY (%s)); %s COMMIT; DROP TABLE bench',
                string_agg(f || ' char(5)', ', '), string_agg(f, ', '),
                string_agg(format('CREATE INDEX ON bench (%s);', f), ' ') FILTER (WHERE n > 1))
  FROM generate_series(1, 16) AS n, format('field%s', n) AS f)),
-- The original inserts three of five rows into Wisconsin tables.
('insert', '{atis, wisconsin, keys}', 50768, 'Insert one row, into one of three tables',
$$INSERT INTO tenk1 VALUES (:iteration, :iteration, 0, 2, 0, 10, 50, 688, 1950, 4950, 9950, 1, 100)
| INSERT INTO flight_fare VALUES (:iteration, 7100000)
| INSERT INTO bench VALUES (:iteration % 6, :iteration, -:iteration, :iteration * 3 % 100)$$),
('delete_big', '{wisconsin, tenk1, all}', 1, '', 'DELETE FROM bprime WHERE unique2 >= :rows / 10'),

('select_big', '{keys, rows}', 70, 'Select by parts of a key, and by a column without one',
 (SELECT string_agg('SELECT idn FROM bench WHERE ' || condition, ' | ')
  FROM unnest('{region = :round % 7, region = :round % 7 AND idn = :round,
      region = :round % 7 AND rev_idn = :round, region = :round % 7 AND grp = :round * 11 % 100,
      region BETWEEN 1 AND 4 AND grp = :round * 11 % 100,
      grp = :round * 11 % 100}'::text[]) AS condition)),
('select_range', '{keys, rows}', 410, 'Select by a hundred alternatives',
 (SELECT format(E'SELECT * FROM bench WHERE region = :round %% 7 AND grp IN (\n%s)'
                ' | SELECT * FROM bench WHERE region = :round %% 7 AND (\n%s)',
                string_agg(g::text, ', '), string_agg('grp = ' || g, ' OR '))
  FROM generate_series(1, 100) AS n, LATERAL (SELECT n * n % 100) AS v (g))),
('min_max_on_key', '{keys, rows}', 70000, 'Minimum and maximum of a key, or of its next part',
$$SELECT min(region) FROM bench | SELECT max(region) FROM bench
| SELECT min(rev_idn) FROM bench WHERE region = :round % 6
| SELECT max(grp) FROM bench WHERE region = :round % 6
| SELECT max(idn) FROM bench WHERE region = :round % 6 AND grp = :round * 3 % 100
| SELECT max(region) FROM bench WHERE region < :round % 6$$),
('count_on_key', '{keys, rows}', 50000, 'Count by parts of a key',
 (SELECT string_agg('SELECT count(*) FROM bench WHERE region ' || condition, ' | ')
  FROM unnest('{= :round % 6, = :round % 6 AND grp = :round * 3 % 100, > :round % 6,
      = :round % 6 AND grp > :round * 3 % 100}'::text[]) AS condition)),

('select_simple_join', '{atis, atis rows}', 500, 'Join two tables of ATIS',
$$SELECT * FROM city JOIN state USING (state_code) WHERE city_code = 7
| SELECT * FROM state JOIN city USING (state_code)
| SELECT * FROM month_name JOIN day_name ON month_number = day_code
| SELECT flight_code, category FROM flight JOIN aircraft USING (aircraft_code)$$),
('select_join', '{atis, atis rows}', 100, '',
 'SELECT * FROM flight JOIN aircraft USING (aircraft_code) JOIN airline USING (airline_code)'),
('select_key_prefix_join', '{atis, atis rows}', 100, '', 'SELECT fare_code FROM restrict_carrier
    JOIN airline USING (airline_code) JOIN fare USING (restrict_code)'),
('select_distinct', '{atis, atis rows}', 800, 'What differs in a table or a join of ATIS',
$$SELECT DISTINCT category FROM aircraft | SELECT DISTINCT from_airport FROM flight
| SELECT DISTINCT aircraft_code FROM flight | SELECT DISTINCT flight_code FROM flight_fare
| SELECT DISTINCT * FROM fare
| SELECT DISTINCT category, airline_code FROM flight JOIN aircraft USING (aircraft_code)
    JOIN airline USING (airline_code)$$),
-- sql-bench has 28 statements, many of which differ only in a name or an order.
('select_group', '{atis, atis rows}', 2800, 'Groups and aggregates over ATIS, 7 in turn',
$$SELECT day_code, count(*) FROM flight_day JOIN day_name USING (day_code) GROUP BY 1 ORDER BY 1
| SELECT avg(engines), sum(engines), stddev(engines) FROM aircraft WHERE engines > 0
| SELECT from_airport, avg(stops) FROM flight WHERE to_airport = 1 GROUP BY 1
| SELECT category, count(*) FROM aircraft WHERE engines = 2 GROUP BY 1 HAVING count(*) > 4
| SELECT airline_code, range_miles, fare_class FROM flight JOIN aircraft USING (aircraft_code)
    JOIN flight_class USING (flight_code) WHERE range_miles <> 0 AND stops > 0 GROUP BY 1, 2, 3
| SELECT state_code, city_code, minutes_distant FROM airport_service JOIN city USING (city_code)
    JOIN airport USING (airport_code, state_code) JOIN state USING (state_code) GROUP BY 1, 2, 3
| SELECT night, one_way_cost FROM fare JOIN compound_class USING (fare_class)
    WHERE one_way_cost BETWEEN 280 AND 825 GROUP BY 1, 2 ORDER BY one_way_cost$$),
-- The original makes its changes at the end.
('wisc_benchmark', '{wisconsin, tenk1, some}', 114, 'Ten selects and joins, and changes, in turn',
$$SELECT * FROM tenk1 WHERE unique2 > 301 AND unique2 < 402
| SELECT * FROM tenk1 WHERE unique1 > 647 AND unique1 < 1648
| SELECT * FROM tenk1 WHERE unique2 = 2001 | SELECT min(unique2) FROM tenk1
| SELECT * FROM tenk1 WHERE unique2 BETWEEN 302 AND 401
| SELECT * FROM tenk1 AS a JOIN tenk1 AS b USING (unique2) WHERE unique2 < 1000
| SELECT * FROM tenk1 JOIN bprime USING (unique2)
| SELECT * FROM onek JOIN tenk1 AS a USING (unique2) JOIN tenk1 AS b USING (unique2)
| SELECT two, four, ten, twenty, hundred FROM tenk1 | SELECT * FROM onek
| BEGIN;
INSERT INTO tenk1 VALUES (:rows + :iteration, 2 * :rows + :iteration, 0, 2, 0, 10, 50, 688, 1950,
    4950, 9950, 1, 100);
DELETE FROM tenk1 WHERE unique2 = :rows / 4 + :iteration;
UPDATE tenk1 SET unique2 = 4 * :rows + :iteration WHERE unique2 = :rows / 2 + :iteration;
COMMIT$$)
UNION ALL
SELECT workload, '{keys, rows}', n, '', concat('SELECT ', what, ' FROM bench', ' GROUP BY ' || key)
FROM (VALUES
('select_cache', 10000, 'sum(idn + 100), sum(rev_idn - 100)', NULL),
('select_cache2', 10000, 'sum(idn + :iteration), sum(rev_idn - :iteration)', NULL),
('count_group_on_key_parts', 1000, 'grp, count(*)', 'grp'),
('count_distinct_key_prefix', 1000, 'count(DISTINCT region)', NULL),
('count_distinct', 1000, 'count(DISTINCT grp)', NULL),
('count_distinct_2', 1000, 'count(DISTINCT grp), count(DISTINCT rev_idn)', NULL),
('count_distinct_group_on_key', 1000, 'region, count(DISTINCT idn)', 'region'),
('count_distinct_group_on_key_parts', 1000, 'grp, count(DISTINCT idn)', 'grp'),
('count_distinct_group', 1000, 'grp, count(DISTINCT rev_idn)', 'grp'),
('count_distinct_big', 100, 'idn, count(DISTINCT region)', 'idn')) AS c (workload, n, what, key))

SELECT workload, 'sql_bench', coalesce(nullif(description, ''), script),
       (SELECT string_agg(sql || E';\n', '' ORDER BY n)
        FROM unnest(setup) WITH ORDINALITY AS u (part, n) JOIN parts USING (part)),
       concat(CASE WHEN count > 1 THEN format(E'\\set which :iteration %% %1$s\n'
                                              '\\set round :iteration / %1$s\n', count) END,
              E'\\set iteration :iteration + 1\n',
              CASE WHEN count > 1 THEN turns || E'\\endif\n' ELSE script || E';\n' END),
       -- the drop of a schema has less time than a tear-down
       CASE WHEN workload ~ 'MANY' THEN 'CALL sync_probe_internal.drop_schema('':schema'')' END,
       transactions, 'simple', workload LIKE 'connect%'
FROM operations, LATERAL (
    SELECT count(*), string_agg(format(E'\\%sif :which = %s\n%s;\n', CASE WHEN n > 1 THEN 'el' END,
                                       n - 1, query), '')
    FROM regexp_split_to_table(script, E'\\s[|] ') WITH ORDINALITY s (query, n)) t (count, turns)
$sql_bench$;
