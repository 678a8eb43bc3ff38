--
-- sql_bench
--
-- The suite sql_bench: the operations of MySQL's sql-bench in PostgreSQL's SQL, each a row
-- of sync_probe.workloads.  Names and numbers of iterations are those of a report on ufs
-- and zfs, so that its figures can be compared with ours.  This file must not contain a
-- workload of any other suite.
--
-- One iteration of an operation is one run of its script.  One statement of sql-bench is
-- one transaction here, even if it takes several statements, such as a table and its
-- indexes.  The data is generated, in the sizes of the original data, whose files are not
-- needed.  A comment above an operation says what else differs from sql-bench.
--
-- A run has one client.  pgbench gets -D iteration=0, and the script counts.  In set-up and
-- script :transactions is replaced by the number of iterations of this run, and :rows by
-- 10000.  Some operations use up their objects (alter_table_add, alter_table_drop,
-- drop_index, create_table, drop_table).  These can run at most as often as given here.
--
WITH
-- The tables of ATIS.  All their columns are NOT NULL.  Few have more indexes than the
-- primary key.
atis (position, name, columns, key, indexed) AS (VALUES
(1, 'aircraft', 'aircraft_code char(3), aircraft_type char(64), engines smallint, category char(10),
wide_body char(3), wing_span real, length1 real, weight integer, capacity smallint, pay_load integer,
cruising_speed integer, range_miles integer, pressurized char(3)', 'aircraft_code', '{}'::text[]),
(2, 'airline', 'airline_code char(2), airline_name char(64), notes char(38)', 'airline_code', '{}'),
(3, 'airport', 'airport_code char(3), airport_name char(40), location char(36), state_code char(2),
country_name char(25), time_zone_code char(3)', 'airport_code', '{}'),
(4, 'airport_service',
 'city_code char(4), airport_code char(3), miles_distant real, direction char(3),
minutes_distant smallint', 'city_code, airport_code', '{}'),
(5, 'city', 'city_code char(4), city_name char(25), state_code char(2), country_name char(25),
time_zone_code char(3)', 'city_code', '{}'),
(6, 'class_of_service',
 'class_code char(2), rank smallint, class_description char(80)', 'class_code', '{}'),
(7, 'code_description', 'code char(5), description char(110)', 'code', '{}'),
(8, 'compound_class', 'fare_class char(3), base_class char(2), class_type char(10), premium char(3),
economy char(3), discounted char(3), night char(3), season_fare char(4), class_days char(7)', 'fare_class', '{}'),
(9, 'connect_leg', 'connect_code integer, leg_number smallint, flight_code integer',
 'connect_code, leg_number, flight_code', '{}'),
(10, 'fconnection',
 'connect_code integer, from_airport char(3), to_airport char(3), departure_time smallint,
arrival_time smallint, flight_days char(7), stops smallint, connections smallint, time_elapsed smallint',
 'connect_code', '{from_airport, to_airport}'),
(11, 'day_name', 'day_code smallint, day_name char(9)', 'day_code', '{}'),
(12, 'dual_carrier',
 'main_airline char(2), dual_airline char(2), low_flight smallint, high_flight smallint,
fconnection_name char(64)', 'main_airline, dual_airline, low_flight', '{main_airline}'),
(13, 'fare', 'fare_code char(8), from_airport char(3), to_airport char(3), fare_class char(3),
fare_airline char(2), restrict_code char(5), one_way_cost real, rnd_trip_cost real',
 'fare_code', '{from_airport, to_airport}'),
(14, 'flight', 'flight_code integer, flight_days char(7), from_airport char(3), to_airport char(3),
departure_time smallint, arrival_time smallint, airline_code char(2), flight_number smallint,
class_string char(8), aircraft_code char(3), meal_code char(7), stops smallint, dual_carrier char(1),
time_elapsed smallint', 'flight_code', '{from_airport, to_airport}'),
(15, 'flight_class', 'flight_code integer, fare_class char(3)', 'flight_code, fare_class', '{}'),
(16, 'flight_day',
 'day_mask char(7), day_code smallint, day_name char(9)', 'day_mask, day_code', '{}'),
(17, 'flight_fare', 'flight_code integer, fare_code char(8)', 'flight_code, fare_code', '{}'),
(18, 'food_service',
 'meal_code char(4), meal_number smallint, meal_class char(10), meal_description char(10)',
 'meal_code, meal_number, meal_class', '{}'),
(19, 'ground_service',
 'city_code char(4), airport_code char(3), transport_code char(1), ground_fare real',
 'city_code, airport_code, transport_code', '{}'),
(20, 'time_interval',
 'period char(20), begin_time smallint, end_time smallint', 'period, begin_time', '{}'),
(21, 'month_name', 'month_number smallint, month_name char(9)', 'month_number', '{}'),
(22, 'restrict_carrier',
 'restrict_code char(5), airline_code char(2)', 'restrict_code, airline_code', '{}'),
(23, 'restrict_class',
 'restrict_code char(5), ex_fare_class char(12)', 'restrict_code, ex_fare_class', '{}'),
(24, 'restriction', 'restrict_code char(5), application char(80), no_discounts char(80),
reserve_ticket smallint, stopovers char(1), return_min smallint, return_max smallint', 'restrict_code', '{}'),
(25, 'state', 'state_code char(2), state_name char(25), country_name char(25)', 'state_code', '{}'),
(26, 'stop1', 'flight_code integer, stop_number smallint, stop_flight integer', 'flight_code, stop_number', '{}'),
(27, 'time_zone',
 'time_zone_code char(3), time_zone_name char(32)', 'time_zone_code, time_zone_name', '{}'),
(28, 'transport', 'transport_code char(1), transport_desc char(32)', 'transport_code', '{}')),

-- The tables of the Wisconsin benchmark all have the same columns.
wisconsin (position, name) AS (VALUES
(29, 'onek'), (30, 'tenk1'), (31, 'tenk2'), (32, 'bprime')),

-- pgbench reports the first line of a statement.  The line break keeps it short.
tables (position, name, layout, indexed) AS (
SELECT position, name, format(E'CREATE TABLE %s (\n%s,\nPRIMARY KEY (%s))',
           name, regexp_replace(columns, ',|$', ' NOT NULL\&', 'g'), key), indexed
FROM atis
UNION ALL
SELECT position, name, format(E'CREATE TABLE %s (\n%s', name,
           'unique1 integer NOT NULL UNIQUE, unique2 integer NOT NULL UNIQUE, two integer, four integer,
ten integer, twenty integer, hundred integer NOT NULL, thousand integer, twothousand integer, fivethous integer,
tenthous integer, odd integer, even integer, stringu1 char(16), stringu2 char(16), string4 char(16))'), '{hundred}'
FROM wisconsin),

creations (position, name, statements) AS (
SELECT position, name, layout || coalesce(
           (SELECT string_agg(format(E';\nCREATE INDEX ON %s (%s)', name, c), '')
            FROM unnest(indexed) c), '')
FROM tables),

-- A thousand columns, and a value for each of them.
many_columns (columns, ones) AS (
SELECT string_agg('i' || n, ', ' ORDER BY n), string_agg('1', ', ')
FROM generate_series(1, 1000) n),

-- A hundred alternatives for select_range.  sql-bench has five hundred, of groups that it
-- draws repeatedly.
alternatives (groups, group_list, regions) AS (
SELECT string_agg(format('grp = %s', g), ' OR ' ORDER BY n), string_agg(g::text, ', ' ORDER BY n),
       string_agg(format('region = %L AND grp = %s', chr(65 + g % 6), g), ' OR ' ORDER BY n)
FROM generate_series(1, 100) n, LATERAL (SELECT (n * n * 7 + n) % 100) v(g)),

parts (name, sql) AS (
SELECT 'atis tables', string_agg(statements || E';\n', '' ORDER BY position)
FROM creations WHERE position <= 28
UNION ALL
SELECT 'wisconsin tables', string_agg(statements || E';\n', '' ORDER BY position)
FROM creations WHERE position > 28
UNION ALL VALUES

('atis rows', $setup$
INSERT INTO aircraft
SELECT lpad(n::text, 3, '0'), 'type ' || n, n % 5,
       (ARRAY['JET', 'TURBOPROP', 'PROPELLER', 'HELICOPTER', 'AMPHIBIAN', ''])[n % 6 + 1], 'NO', 90, 80, 40000, 50,
       n % 7 * 5000, 300, n % 9 * 500, 'YES'
FROM generate_series(0, 129) n;
INSERT INTO airline SELECT chr(65 + n / 26) || chr(65 + n % 26), 'airline ' || n, '' FROM generate_series(0, 319) n;
INSERT INTO state SELECT chr(65 + n / 26) || chr(65 + n % 26), 'state ' || n, 'USA' FROM generate_series(0, 59) n;
INSERT INTO city
SELECT 'C' || lpad(n::text, 3, '0'), 'city ' || n, 'A' || chr(65 + n), 'USA',
       (ARRAY['EST', 'CST', 'MST', 'PST'])[n % 4 + 1]
FROM generate_series(0, 11) n;
INSERT INTO airport
SELECT 'P' || lpad(n::text, 2, '0'), 'airport ' || n, 'location ' || n, 'A' || chr(65 + n), 'USA',
       (ARRAY['EST', 'CST', 'MST', 'PST'])[n % 4 + 1]
FROM generate_series(0, 14) n;
INSERT INTO airport_service
SELECT 'C' || lpad(n::text, 3, '0'), 'P' || lpad(n::text, 2, '0'), n, 'N', n * 2 FROM generate_series(0, 11) n;
INSERT INTO ground_service
SELECT city_code, airport_code, transport, minutes_distant
FROM airport_service, unnest('{L, T}'::text[]) transport;
INSERT INTO day_name SELECT n, to_char(date '2023-12-31' + n, 'DAY') FROM generate_series(1, 7) n;
INSERT INTO month_name SELECT n, to_char(make_date(2024, n, 1), 'MONTH') FROM generate_series(1, 12) n;
INSERT INTO flight_day SELECT lpad(n::text, 7, '-'), day_code, day_name FROM day_name, generate_series(1, 56) n;
INSERT INTO compound_class
SELECT lpad(n::text, 3, '0'), 'Y', 'COACH', 'NO', 'YES', 'NO', CASE n % 3 WHEN 0 THEN 'YES' ELSE 'NO' END,
       'NONE', '1234567'
FROM generate_series(0, 138) n;
INSERT INTO flight
SELECT 100000 + n * 77, '1234567', 'P0' || n % 9, 'P0' || (n + 1 + n % 8) % 9, n % 24 * 100 + n % 60,
       (n + 3) % 24 * 100 + (n + 20) % 60, 'A' || chr(65 + n % 11), n, 'FYBMQ', lpad((n % 22)::text, 3, '0'), 'B',
       n % 3, '', 60 + n % 240
FROM generate_series(0, 578) n;
INSERT INTO flight_class SELECT flight_code, class FROM flight, unnest('{F, Y, B, M, Q}'::text[]) class;
INSERT INTO fare
SELECT 7100000 + n, 'P0' || n % 9, 'P0' || (n + 1 + n % 8) % 9, lpad((n % 139)::text, 3, '0'),
       'A' || chr(65 + n % 11), 'R' || n % 55, 100 + n, 190 + n * 2
FROM generate_series(0, 533) n;
INSERT INTO flight_fare
SELECT flight_code, 7100000 + (flight_number * 5 + n) % 534 FROM flight, generate_series(0, 4) n;
INSERT INTO restrict_carrier
SELECT 'R' || n, 'A' || chr(65 + airline) FROM generate_series(0, 54) n, generate_series(0, 10) airline;
ANALYZE aircraft, airline, state, city, airport, airport_service, ground_service, day_name, month_name, flight_day,
        compound_class, flight, flight_class, fare, flight_fare, restrict_carrier;
$setup$),

('wisconsin rows', $setup$
INSERT INTO tenk1
SELECT n, position, n % 2, n % 4, n % 10, n % 20, n % 100, n % 1000, n % 2000, n % 5000, n, n % 100 * 2 + 1,
       n % 100 * 2, lpad(n::text, 7, 'A'), lpad(position::text, 7, 'A'),
       (ARRAY['AAAA', 'HHHH', 'OOOO', 'VVVV'])[position % 4 + 1]
FROM generate_series(0, :rows - 1) position, LATERAL (SELECT position::bigint * 7919 % :rows) v(n);
INSERT INTO onek SELECT * FROM tenk1 WHERE unique2 < :rows / 10;
$setup$),

-- The rows that delete_big leaves.
('bprime rows', $setup$
INSERT INTO bprime SELECT * FROM onek;
ANALYZE onek, tenk1, bprime;
$setup$),

('all bprime rows', $setup$
INSERT INTO bprime SELECT * FROM tenk1;
ANALYZE bprime;
$setup$),

-- A table whose keys have several columns: six regions, a hundred groups.
('select table', $setup$
CREATE TABLE bench1 (
    region char(1) NOT NULL,
    idn integer NOT NULL,
    rev_idn integer NOT NULL,
    grp integer NOT NULL,
    PRIMARY KEY (region, idn),
    UNIQUE (region, rev_idn),
    UNIQUE (region, grp, idn));
$setup$),

('select rows', $setup$
INSERT INTO bench1 SELECT chr(65 + n % 6), n, :rows - 1 - n, n * 3 % 100 FROM generate_series(0, :rows - 1) n;
ANALYZE bench1;
$setup$),

('one row', $setup$
CREATE TABLE bench1 (a integer PRIMARY KEY, i integer, s char(10));
INSERT INTO bench1 VALUES (1, 100, 'AAA');
$setup$),

('second row', $setup$
INSERT INTO bench1 VALUES (2, 200, 'BBB');
$setup$),

-- EXTERNAL, because a string of A's compresses to almost nothing.
('big string', $setup$
CREATE TABLE bench1 (b text);
ALTER TABLE bench1 ALTER b SET STORAGE EXTERNAL;
INSERT INTO bench1 VALUES (repeat('A', 65000));
$setup$),

('many fields', $setup$
DO $$
BEGIN
    EXECUTE format('CREATE TABLE bench1 (%s)',
                   (SELECT string_agg(format('i%s integer', n), ', ' ORDER BY n) FROM generate_series(1, 1000) n));
    EXECUTE format('INSERT INTO bench1 VALUES (%s)',
                   (SELECT string_agg('1', ', ') FROM generate_series(1, 1000)));
END
$$;
$setup$),

('narrow table', $setup$
CREATE TABLE bench (
    i1 integer NOT NULL, i2 integer NOT NULL, i3 integer NOT NULL, i4 integer NOT NULL,
    i5 integer NOT NULL, i6 integer NOT NULL, i7 integer NOT NULL, i8 integer NOT NULL);
$setup$),

-- The same with the columns that alter_table_add adds, created at once: adding a thousand
-- columns takes half a second.
('wide table', $setup$
DO $$
BEGIN
    EXECUTE format('CREATE TABLE bench (%s, %s)',
                   (SELECT string_agg(format('i%s integer NOT NULL', n), ', ' ORDER BY n) FROM generate_series(1, 8) n),
                   (SELECT string_agg(format('c%s_%s integer', c, n), ', ' ORDER BY n, c)
                    FROM generate_series(1, 100) n, generate_series(0, 9) c));
END
$$;
$setup$),

('a thousand rows', $setup$
INSERT INTO bench SELECT n, n, n, n, n, n, n, n FROM generate_series(0, :rows / 10 - 1) n;
$setup$),

('indexes', $setup$
CREATE INDEX bench_ind1 ON bench (i1);
CREATE INDEX bench_ind2 ON bench (i2);
CREATE INDEX bench_ind3 ON bench (i3);
CREATE INDEX bench_ind4 ON bench (i4);
CREATE INDEX bench_ind5 ON bench (i5);
CREATE INDEX bench_ind6 ON bench (i6);
CREATE INDEX bench_ind7 ON bench (i7);
CREATE INDEX bench_ind8 ON bench (i8);
$setup$),

-- sql-bench has 10,000 tables at a time.  Dropping a table with its key takes five locks.
-- The schema is dropped in one transaction, and the default of max_locks_per_transaction
-- allows 6,400 locks.  So there are 500 tables at a time: after 500 iterations one
-- statement creates or drops 500 at once.  Its time counts, but it is one commit for 500.
('many tables', $setup$
CREATE FUNCTION make_tables(n integer) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
    FOR i IN 1 .. n LOOP
        EXECUTE format('CREATE TABLE bench_%s (i integer PRIMARY KEY, d double precision, f real, s char(10), '
                       'v varchar(100))', i);
    END LOOP;
END
$function$;
CREATE FUNCTION drop_tables(n integer) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
    EXECUTE 'DROP TABLE ' || (SELECT string_agg('bench_' || i, ', ') FROM generate_series(1, n) i);
END
$function$;
$setup$),

('made tables', $setup$
SELECT make_tables(least(500, :transactions));
$setup$)),

setups (name, parts) AS (VALUES
('atis', '{atis tables, atis rows}'::text[]),
('wisconsin', '{wisconsin tables, wisconsin rows, bprime rows}'),
('delete', '{wisconsin tables, wisconsin rows, all bprime rows}'),
('insert', '{atis tables, wisconsin tables, select table}'),
('select', '{select table, select rows}'),
('one row', '{one row}'),
('two rows', '{one row, second row}'),
('big string', '{big string}'),
('many fields', '{many fields}'),
('narrow', '{narrow table, a thousand rows}'),
('wide', '{wide table, a thousand rows}'),
('wide with indexes', '{wide table, a thousand rows, indexes}'),
('many tables', '{many tables}'),
('made tables', '{many tables, made tables}')),

-- If an operation has several statements, each iteration runs the next one, in rounds:
-- :round counts the rounds from 0, and :which can be set to choose differently.  An array
-- element may contain more than one statement; the same iteration runs them all.
operations (workload, setup, transactions, description, variables, statements) AS (VALUES

-- --------------------------------------------------------------- ALTER TABLE
('alter_table_add', 'narrow', 100,
 'Add ten columns to a table of 8 columns and 1,000 rows', '', ARRAY[
'ALTER TABLE bench ADD c0_:iteration integer, ADD c1_:iteration integer, ADD c2_:iteration integer,
    ADD c3_:iteration integer, ADD c4_:iteration integer, ADD c5_:iteration integer, ADD c6_:iteration integer,
    ADD c7_:iteration integer, ADD c8_:iteration integer, ADD c9_:iteration integer']),

-- The original drops ten columns and then skips one, hence 91 and not 100.
('alter_table_drop', 'wide', 91, 'Drop ten of the columns that alter_table_add added', '', ARRAY[
'ALTER TABLE bench DROP c0_:iteration, DROP c1_:iteration, DROP c2_:iteration, DROP c3_:iteration,
    DROP c4_:iteration, DROP c5_:iteration, DROP c6_:iteration, DROP c7_:iteration, DROP c8_:iteration,
    DROP c9_:iteration']),

('create_index', 'wide', 8, 'Create an index on one of the first 8 columns of 1,000', $$
\set column (:iteration - 1) % 8 + 1
$$, ARRAY['CREATE INDEX bench_ind:iteration ON bench (i:column)']),

('drop_index', 'wide with indexes', 8,
 'Drop one of 8 indexes', '', ARRAY['DROP INDEX bench_ind:iteration']),

-- ------------------------------------------------------- connections, one row
('connect', NULL, 10000, 'Connect and disconnect', '\set nothing 0', '{}'::text[]),
('connect+select_1_row', 'one row', 10000,
 'Connect, select the only row of a table, disconnect', '', ARRAY[
'SELECT a, i, s, :iteration FROM bench1']),
('connect+select_simple', NULL, 10000,
 'Connect, select a number, disconnect', '', ARRAY['SELECT :iteration']),
('select_simple', NULL, 100000,
 'Select a number, each time another', '', ARRAY['SELECT :iteration']),
('select_simple_cache', NULL, 100000,
 'Select a number, always the same', '', ARRAY['SELECT 10000']),
('select_1_row', 'one row', 100000,
 'Select the only row of a table, with another number each time', '', ARRAY[
'SELECT a, i, s, :iteration FROM bench1']),
('select_1_row_cache', 'one row', 100000,
 'Select the only row of a table, always in the same words', '', ARRAY[
'SELECT a, i, s FROM bench1']),
('select_2_rows', 'two rows', 100000,
 'Select both rows of a table, with another number each time', '', ARRAY[
'SELECT a, i, s, :iteration FROM bench1']),
('select_column+column', 'two rows', 100000,
 'Add a column to itself and to a number, of two rows', '', ARRAY[
'SELECT a + a + a + a + a + a + a + a + a + :iteration FROM bench1']),
('select_big_str', 'big string', 10000, 'Select a string of 65,000 bytes', '', ARRAY[
'SELECT b, :iteration FROM bench1']),

-- ---------------------------------------------------------------- many fields
-- The two forms take turns.  sql-bench runs the first form to the end before the second.
('select_many_fields', 'many fields', 2000,
 'Select a row of 1,000 columns, by * and by name in turn', '', ARRAY[
'SELECT * FROM bench1', (SELECT format(E'SELECT\n%s\nFROM bench1', columns) FROM many_columns)]),
('insert_many_fields', 'many fields', 2000,
 'Insert a row of 1,000 columns, in two forms in turn', '', ARRAY[
(SELECT format(E'INSERT INTO bench1 VALUES\n(%s)', ones) FROM many_columns),
(SELECT format(E'INSERT INTO bench1\n(%s) VALUES\n(%s)', columns, ones) FROM many_columns)]),

-- ---------------------------------------------------------- create and drop
-- Only three of the four Wisconsin tables, because the original counts 31.
('create_table', NULL, 31, 'Create one of the 28 tables of ATIS, or 3 of Wisconsin', '', (
SELECT array_agg(format(CASE WHEN strpos(statements, ';') = 0 THEN '%s'
                             ELSE E'BEGIN;\n%s;\nCOMMIT' END, statements)
                 ORDER BY position)
FROM creations WHERE position <= 31)),
('drop_table', 'atis', 28, 'Drop one of the 28 tables of ATIS, most with rows', '', (
SELECT array_agg('DROP TABLE ' || name ORDER BY position) FROM creations WHERE position <= 28)),

('create_MANY_tables', 'many tables', 10000,
 'Create a table with a primary key, 500 of which are kept at a time', $$
\set slot (:iteration - 1) % 500 + 1
\if :slot = 1 AND :iteration > 1
SELECT drop_tables(500);
\endif
$$, ARRAY['CREATE TABLE bench_:slot (i integer PRIMARY KEY, d double precision, f real, s char(10), v varchar(100))']),
('select_group_when_MANY_tables', 'made tables', 10000,
 'Count the rows of one of 500 empty tables', $$
\set slot (:iteration - 1) % 500 + 1
$$, ARRAY['SELECT count(*) FROM bench_:slot']),
('drop_table_when_MANY_tables', 'made tables', 10000,
 'Drop one of at most 500 empty tables, made 500 at a time', $$
\set slot (:iteration - 1) % 500 + 1
\if :slot = 1 AND :iteration > 1
SELECT make_tables(least(500, :transactions - :iteration + 1));
\endif
$$, ARRAY['DROP TABLE bench_:slot']),

('create+drop', NULL, 10000, 'Create a table with a primary key, and drop it', '', ARRAY[
'CREATE TABLE bench_:iteration (i integer PRIMARY KEY, d double precision, f real, s char(10), v varchar(100));
DROP TABLE bench_:iteration']),
('create_key+drop', NULL, 10000,
 'Create a table with 16 columns and 16 indexes, and drop it', '', ARRAY[
'BEGIN;
CREATE TABLE bench_:iteration (field1 smallint NOT NULL, field2 integer NOT NULL, field3 smallint NOT NULL,
    field4 char(16) NOT NULL, field5 integer NOT NULL, field6 real NOT NULL, field7 double precision NOT NULL,
    field8 char(5) NOT NULL, field9 char(5) NOT NULL, field10 char(5) NOT NULL, field11 char(5) NOT NULL,
    field12 char(5) NOT NULL, field13 char(5) NOT NULL, field14 char(5) NOT NULL, field15 char(5) NOT NULL,
    field16 char(5) NOT NULL,
    PRIMARY KEY (field1, field2, field3, field4, field5, field6, field7, field8, field9, field10, field11,
                 field12, field13, field14, field15, field16));
' || (SELECT string_agg(format('CREATE INDEX ON bench_:iteration (field%s);', n), E'\n')
      FROM generate_series(2, 16) n) || '
COMMIT;
DROP TABLE bench_:iteration']),

-- ------------------------------------------------------------ insert, delete
-- Of five rows sql-bench inserts about three into Wisconsin tables, one into ATIS tables,
-- and one into the table of the selects.
('insert', 'insert', 50768, 'Insert one row, into one of three tables', $$
\set which greatest(:iteration % 5 - 2, 0)
$$, ARRAY[
'INSERT INTO tenk1 VALUES (:iteration, :iteration, 0, 2, 0, 10, 50, 688, 1950, 4950, 9950, 1, 100,
    ''AAAAAAA'', ''HHHHHHH'', ''OOOO'')',
'INSERT INTO flight_fare VALUES (:iteration, ''7100000'')',
'INSERT INTO bench1 VALUES (chr(65 + :iteration % 6), :iteration, -:iteration, :iteration * 3 % 100)']),
('delete_big', 'delete', 1, 'Delete nine of ten rows, 9,000', '', ARRAY[
'DELETE FROM bprime WHERE unique2 >= :rows / 10']),

-- ----------------------------------------------- selects with keys of many parts
('select_cache', 'select', 10000,
 'Two sums over a table of 10,000 rows, always the same', '', ARRAY[
'SELECT sum(idn + 100), sum(rev_idn - 100) FROM bench1']),
('select_cache2', 'select', 10000,
 'Two sums over a table of 10,000 rows, each time others', '', ARRAY[
'SELECT sum(idn + :iteration), sum(rev_idn - :iteration) FROM bench1']),
('select_big', 'select', 70, 'Select by parts of a key, and by a column without one', $$
\set region :round % 7
\set grp :round * 11 % 100
$$, ARRAY[
'SELECT idn FROM bench1 WHERE region = chr(65 + :region)::char(1)',
'SELECT idn FROM bench1 WHERE region = chr(65 + :region)::char(1) AND idn = :round',
'SELECT idn FROM bench1 WHERE region = chr(65 + :region)::char(1) AND rev_idn = :round',
'SELECT idn FROM bench1 WHERE region = chr(65 + :region)::char(1) AND grp = :grp',
'SELECT idn FROM bench1 WHERE region BETWEEN ''B'' AND ''C'' AND grp = :grp',
'SELECT idn FROM bench1 WHERE region BETWEEN ''B'' AND ''E'' AND grp = :grp',
'SELECT idn FROM bench1 WHERE grp = :grp']),

-- The IN list comes once in 41 statements, as in the original.
('select_range', 'select', 410, 'Select by a hundred alternatives', $$
\set region (:iteration - 1) / 41 % 7
\set which CASE WHEN (:iteration - 1) % 41 = 0 THEN 0 ELSE ((:iteration - 1) % 41 - 1) % 4 + 1 END
$$, (SELECT ARRAY[
format(E'SELECT * FROM bench1 WHERE region = chr(65 + :region)::char(1) AND grp IN (\n%s)', group_list),
format(E'SELECT * FROM bench1 WHERE region = chr(65 + :region)::char(1) AND (\n%s)', groups),
format(E'SELECT * FROM bench1 WHERE\n%s', regions),
format(E'SELECT * FROM bench1 WHERE idn < 50 AND region = chr(65 + :region)::char(1) AND (\n%s)', groups),
format(E'SELECT * FROM bench1 WHERE region <= ''B'' AND (region = ''A'' AND grp < 10
OR region = chr(65 + :region)::char(1) AND (\n%s))', groups)]
FROM alternatives)),
('min_max_on_key', 'select', 70000, 'Minimum and maximum of a key, or of its next part', $$
\set region :round % 6
\set grp :round * 3 % 100
$$, ARRAY[
'SELECT min(region) FROM bench1',
'SELECT max(region) FROM bench1',
'SELECT min(region), max(region) FROM bench1',
'SELECT min(rev_idn) FROM bench1 WHERE region = chr(65 + :region)::char(1)',
'SELECT max(grp) FROM bench1 WHERE region = chr(65 + :region)::char(1)',
'SELECT max(idn) FROM bench1 WHERE region = chr(65 + :region)::char(1) AND grp = :grp',
'SELECT max(region) FROM bench1 WHERE region < chr(65 + :region)::char(1)']),
('count_on_key', 'select', 50000, 'Count by parts of a key', $$
\set region :round % 6
\set grp :round * 3 % 100
$$, ARRAY[
'SELECT count(*) FROM bench1 WHERE region = chr(65 + :region)::char(1)',
'SELECT count(*) FROM bench1 WHERE region = chr(65 + :region)::char(1) AND grp = :grp',
'SELECT count(*) FROM bench1 WHERE region > chr(65 + :region)::char(1)',
'SELECT count(*) FROM bench1 WHERE region <= chr(65 + :region)::char(1)',
'SELECT count(*) FROM bench1 WHERE region = chr(65 + :region)::char(1) AND grp > :grp']),
('count_group_on_key_parts', 'select', 1000,
 'Count the rows of each of a hundred groups', '', ARRAY[
'SELECT grp, count(*) FROM bench1 GROUP BY grp']),
('count_distinct_key_prefix', 'select', 1000,
 'Count the values of the first part of a key', '', ARRAY[
'SELECT count(DISTINCT region) FROM bench1']),
('count_distinct', 'select', 1000, 'Count the values of a column', '', ARRAY[
'SELECT count(DISTINCT grp) FROM bench1']),
('count_distinct_2', 'select', 1000, 'Count the values of two columns', '', ARRAY[
'SELECT count(DISTINCT grp), count(DISTINCT rev_idn) FROM bench1']),
('count_distinct_group_on_key', 'select', 1000,
 'Count values in each group of a key''s first part', '', ARRAY[
'SELECT region, count(DISTINCT idn) FROM bench1 GROUP BY region']),
('count_distinct_group_on_key_parts', 'select', 1000,
 'Count a key''s values in each of a hundred groups', '', ARRAY[
'SELECT grp, count(DISTINCT idn) FROM bench1 GROUP BY grp']),
('count_distinct_group', 'select', 1000, 'Count values in each of a hundred groups', '', ARRAY[
'SELECT grp, count(DISTINCT rev_idn) FROM bench1 GROUP BY grp']),
('count_distinct_big', 'select', 100, 'Count values in each of 10,000 groups', '', ARRAY[
'SELECT idn, count(DISTINCT region) FROM bench1 GROUP BY idn']),

-- ----------------------------------------------------------------------- ATIS
('select_simple_join', 'atis', 500, 'Join two tables of ATIS', '', ARRAY[
'SELECT city_name, state_name, city_code FROM city JOIN state USING (state_code) WHERE city_code = ''C007''',
'SELECT city_name, state_name, city_code FROM state JOIN city USING (state_code)',
'SELECT month_name, day_name FROM month_name JOIN day_name ON month_number = day_code',
'SELECT month_name, day_name FROM month_name JOIN day_name ON month_number = day_code WHERE day_code >= 4',
'SELECT flight_code, aircraft_type FROM flight JOIN aircraft USING (aircraft_code)']),
('select_join', 'atis', 100, 'Join three tables of ATIS', '', ARRAY[
'SELECT airline_name, aircraft_type FROM flight JOIN aircraft USING (aircraft_code)
    JOIN airline USING (airline_code)']),
('select_key_prefix_join', 'atis', 100,
 'Join three tables of ATIS, one by the first part of its key', '', ARRAY[
'SELECT fare_code FROM restrict_carrier JOIN airline USING (airline_code) JOIN fare USING (restrict_code)']),
('select_distinct', 'atis', 800, 'What differs in a table or a join of ATIS', '', ARRAY[
'SELECT DISTINCT category FROM aircraft',
'SELECT DISTINCT from_airport FROM flight',
'SELECT DISTINCT aircraft_code FROM flight',
'SELECT DISTINCT * FROM fare',
'SELECT DISTINCT flight_code FROM flight_fare',
'SELECT DISTINCT flight_code, aircraft_type FROM flight JOIN aircraft USING (aircraft_code)',
'SELECT DISTINCT airline_name, aircraft_type FROM aircraft JOIN flight USING (aircraft_code)
    JOIN airline USING (airline_code)',
'SELECT DISTINCT airline_name, aircraft_type FROM flight JOIN aircraft USING (aircraft_code)
    JOIN airline USING (airline_code)']),

-- sql-bench has 28 statements.  Many of them differ only in a name or an order.
('select_group', 'atis', 2800, 'Groups and aggregates over ATIS, 14 in turn', '', ARRAY[
'SELECT d.day_code, d.day_name, count(*) FROM flight_day JOIN day_name d USING (day_code) GROUP BY 1, 2 ORDER BY 1',
'SELECT month_name, day_name FROM month_name JOIN day_name ON month_number = day_code WHERE day_code > 3 GROUP BY 1, 2',
'SELECT avg(engines), sum(engines), stddev(engines) FROM aircraft WHERE engines > 0',
'SELECT count(*), min(pay_load), max(pay_load) FROM aircraft WHERE pay_load > 0',
'SELECT min(flight_code), min(from_airport), min(to_airport) FROM flight',
'SELECT count(*) FROM flight WHERE flight_code >= 112793',
'SELECT from_airport, to_airport, avg(time_elapsed) FROM flight
    WHERE from_airport = ''P00'' AND to_airport = ''P01'' GROUP BY 1, 2',
'SELECT city_code, avg(ground_fare), count(*) FROM ground_service WHERE ground_fare <> 0 GROUP BY city_code',
'SELECT category, count(*) FROM aircraft WHERE engines = 2 GROUP BY category HAVING count(*) > 4',
'SELECT flight_number, range_miles, fare_class FROM flight JOIN aircraft USING (aircraft_code)
    JOIN flight_class USING (flight_code) WHERE range_miles <> 0 AND stops IN (1, 2) GROUP BY 1, 2, 3',
'SELECT f.time_zone_code, t.time_zone_code, (arrival_time / 100 - departure_time / 100) * 60
        + arrival_time % 100 - departure_time % 100 - time_elapsed AS difference
    FROM flight JOIN airport f ON f.airport_code = from_airport JOIN airport t ON t.airport_code = to_airport
    GROUP BY 1, 2, 3',
'SELECT country_name, state_name, city_name, direction FROM airport_service JOIN city USING (city_code)
    JOIN airport USING (airport_code, state_code, country_name, time_zone_code)
    JOIN state USING (state_code, country_name) GROUP BY 1, 2, 3, 4 ORDER BY state_name',
'SELECT from_airport, to_airport, fare_class, night, one_way_cost, rnd_trip_cost, class_days FROM fare
    JOIN compound_class USING (fare_class) WHERE one_way_cost BETWEEN 280 AND 825
    AND from_airport = ''P00'' AND to_airport = ''P01'' GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY one_way_cost',
'SELECT engines, category, cruising_speed, from_airport, to_airport FROM flight JOIN aircraft USING (aircraft_code)
    WHERE category = ''JET'' AND engines >= 1 AND stops > 0 AND to_airport NOT LIKE from_airport
    GROUP BY 1, 2, 3, 4, 5 ORDER BY engines DESC']),

-- ------------------------------------------------------------------ Wisconsin
-- Ten selects, each ten times, and 14 changes: 4 inserts, 4 deletes, 6 updates.  The
-- original makes its changes at the end.  Here every eighth statement is a change, so that
-- a short run has changes too.
('wisc_benchmark', 'wisconsin', 114, 'Selects, joins and changes of the Wisconsin benchmark', $$
\set n (:iteration - 1) % 114
\set change :n / 8
\set kind CASE WHEN :change % 7 < 2 THEN 10 WHEN :change % 7 < 4 THEN 11 ELSE 12 END
\set which CASE WHEN :n % 8 < 7 THEN (:n - :change) % 10 ELSE :kind END
$$, ARRAY[
'SELECT * FROM tenk1 WHERE unique2 > 301 AND unique2 < 402',
'SELECT * FROM tenk1 WHERE unique1 > 647 AND unique1 < 1648',
'SELECT * FROM tenk1 WHERE unique2 = 2001',
'SELECT * FROM tenk1 WHERE unique2 BETWEEN 302 AND 401',
'SELECT * FROM tenk1 t1 JOIN tenk1 t2 ON t1.unique2 = t2.unique2 WHERE t2.unique2 < 1000',
'SELECT * FROM tenk1 t JOIN bprime b ON t.unique2 = b.unique2',
'SELECT t1.*, o.* FROM onek o JOIN tenk1 t1 ON o.unique2 = t1.unique2 JOIN tenk1 t2 ON t1.unique2 = t2.unique2
    WHERE t1.unique2 < 1000 AND t2.unique2 < 1000',
'SELECT two, four, ten, twenty, hundred, string4 FROM tenk1',
'SELECT * FROM onek',
'SELECT min(unique2) FROM tenk1',
'INSERT INTO tenk1 VALUES (:rows + :iteration, 2 * :rows + :iteration, 0, 2, 0, 10, 50, 688, 1950, 4950, 9950, 1, 100,
    ''AAAAAAA'', ''HHHHHHH'', ''OOOO'')',
'DELETE FROM tenk1 WHERE unique2 = :rows / 4 + :iteration',
'UPDATE tenk1 SET unique2 = 3 * :rows + :iteration WHERE unique2 = :rows / 2 + :iteration']))

INSERT INTO sync_probe.workloads
    (workload, suite, description, setup, script, transactions, protocol, new_connections, builtin)
SELECT o.workload, 'sql_bench', o.description,
       (SELECT string_agg(ltrim(p.sql, E'\n'), '' ORDER BY u.n)
        FROM setups s, unnest(s.parts) WITH ORDINALITY u(part, n) JOIN parts p ON p.name = u.part
        WHERE s.name = o.setup),
       concat(
           CASE WHEN concat(o.variables, o.statements) ~ ':iteration\M'
                     OR cardinality(o.statements) > 1
               THEN E'\\set iteration :iteration + 1\n' END,
           CASE WHEN cardinality(o.statements) > 1
               THEN format(E'\\set round (:iteration - 1) / %1$s\n'
                           '\\set which (:iteration - 1) %% %1$s\n',
                           cardinality(o.statements)) END,
           ltrim(o.variables, E'\n'),
           CASE WHEN cardinality(o.statements) > 1
               THEN (SELECT string_agg(format(E'\\%s :which = %s\n%s;\n',
                                              CASE n WHEN 1 THEN 'if' ELSE 'elif' END,
                                              n - 1, statement), '' ORDER BY n)
                     FROM unnest(o.statements) WITH ORDINALITY u(statement, n)) || E'\\endif\n'
               ELSE o.statements[1] || E';\n' END),
       o.transactions, 'simple', o.workload LIKE 'connect%', true
FROM operations o;
