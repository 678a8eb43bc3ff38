/*-------------------------------------------------------------------------
 *
 * suitelist.h
 *		The suites of the engine, a row for each.
 *
 * Each sp_suite is in suite_NAME.c.  Included for each use of the rows, with SP_SUITE(name, ...)
 * defined: measure.h declares the suites, and ignores the rest of a row, by which suites.c of
 * src/probe initializes an sp_probe_suite.
 *
 *-------------------------------------------------------------------------
 */
SP_SUITE(wal,
		 .refused = SP_COMMIT_ARGUMENTS,
		 .put_case = put_method,
		 .put_verdict = put_method_verdict)

SP_SUITE(pg_test_fsync,
		 .refused = SP_COMMIT_ARGUMENTS | SP_PACE_ARGUMENTS,
		 .refused_hint = "Omit it. The tool's lines have sizes of their own, and no pauses.",
		 .flush_size = SP_WAL_PAGE_SIZE)

/* A stream has no pace: it writes as fast as it can, in blocks of its own. */
SP_SUITE(stream,
		 .refused = SP_COMMIT_ARGUMENTS | SP_PACE_ARGUMENTS | SP_REFUSE(SP_ARG_DUTY_CYCLE),
		 .refused_hint = "Omit it. A shorter duration or a lower "
			 "pg_sync_probe.max_stream_write writes less.",
		 .progress = sp_stream_progress,
		 .report_end = sp_stream_report_end,
		 .describe = sp_stream_describe,
		 .record = sp_stream_record)

SP_SUITE(segments,
		 .refused = SP_COMMIT_ARGUMENTS | SP_REFUSE(SP_ARG_FLUSH_INTERVAL),
		 .refused_hint = "Omit it. For less load use a duty_cycle below 1.",
		 .describe = describe_part,
		 .put_case = put_part)
