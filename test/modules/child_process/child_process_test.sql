--
-- The functions of the test module; the variable "library" is its path.
--
CREATE FUNCTION run(path text, argv text[], timeout_ms int, OUT succeeded bool, OUT timed_out bool,
    OUT abandoned bool, OUT description text, OUT stdout text, OUT stderr text)
AS :'library', 'child_process_test_run' LANGUAGE C;
CREATE FUNCTION run_silently(path text, argv text[], timeout_ms int) RETURNS void
AS :'library', 'child_process_test_silently' LANGUAGE C;
CREATE FUNCTION repeat_run(path text, argv text[], timeout_ms int, times int) RETURNS bigint
AS :'library', 'child_process_test_repeat' LANGUAGE C;
CREATE FUNCTION ask_zfs(dataset text, OUT known bool, OUT why text, OUT sync text, OUT logbias text,
    OUT recordsize bigint, OUT vdevs text[])
AS :'library', 'child_process_test_ask_zfs' LANGUAGE C;
