-- The functions of the test module; the variable "library" is its path.
CREATE FUNCTION run(path text, argv text[], timeout_ms int) RETURNS text
AS :'library', 'child_process_test_run' LANGUAGE C;
CREATE FUNCTION run_silently(path text, argv text[], timeout_ms int) RETURNS void
AS :'library', 'child_process_test_silently' LANGUAGE C;
CREATE FUNCTION ask_zfs(dataset text) RETURNS text
AS :'library', 'child_process_test_ask_zfs' LANGUAGE C;
