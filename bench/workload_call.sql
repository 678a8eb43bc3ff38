-- One run of a workload, by :call, which gives its result_id: when that was called
-- and answered, and what was recorded.  With :pid_file, the backend's number goes
-- there, and there is a rest on both sides of the call for a look at its memory.
\if :{?pid_file}
SELECT pg_backend_pid() \g :pid_file
SELECT pg_sleep(0.3) \g /dev/null
\endif
SELECT clock_timestamp() AS called \gset
:call \gset
SELECT clock_timestamp() AS answered \gset
\if :{?pid_file}
SELECT pg_sleep(0.3) \g /dev/null
\endif
SELECT extract(epoch FROM :'called'::timestamptz), extract(epoch FROM started_at),
       extract(epoch FROM finished_at), extract(epoch FROM :'answered'::timestamptz),
       tps, latency_p50_ms, latency_p99_ms, transactions, second_tps
FROM sync_probe.workload_results WHERE result_id = :result_id;
