--
-- The functions of the test module; the variable "library" is its path.
--
CREATE FUNCTION run(path text, argv text[], timeout_ms int, max_output int, OUT started bool,
    OUT exec_errno int, OUT timed_out bool, OUT abandoned bool, OUT succeeded bool,
    OUT description text, OUT stdout text, OUT stderr text)
AS :'library', 'child_process_test_run' LANGUAGE C;
CREATE FUNCTION run_lines(path text, argv text[], timeout_ms int, max_output int,
    throw_at text) RETURNS text
AS :'library', 'child_process_test_lines' LANGUAGE C;
CREATE FUNCTION poll(path text, argv text[], timeout_ms int, max_output int, until text,
    OUT ended bool, OUT description text, OUT stdout text, OUT stderr text)
AS :'library', 'child_process_test_poll' LANGUAGE C;
CREATE FUNCTION run_streams(path text, argv text[], timeout_ms int, max_output int,
    prefix text, n int, throw_at text, OUT description text, OUT stdout text, OUT contents text[])
AS :'library', 'child_process_test_streams' LANGUAGE C;
CREATE FUNCTION repeat_run(path text, argv text[], timeout_ms int, max_output int,
    times int) RETURNS bigint
AS :'library', 'child_process_test_repeat' LANGUAGE C;
CREATE FUNCTION ignores_sigchld(ignore bool) RETURNS bool
AS :'library', 'child_process_test_sigchld' LANGUAGE C;
CREATE FUNCTION ask_zfs(dataset text, OUT known bool, OUT why text, OUT sync text, OUT logbias text,
    OUT recordsize bigint, OUT vdevs text[])
AS :'library', 'child_process_test_ask_zfs' LANGUAGE C;
