/*-------------------------------------------------------------------------
 *
 * suites.c
 *		The table of the suites of sync_probe.probe().
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

static const sp_probe_suite pg_test_fsync = {
	.engine = &sp_suite_pg_test_fsync,
	.refused = SP_COMMIT_ARGUMENTS | SP_REFUSE(SP_ARG_FLUSH_SIZE) |
		SP_REFUSE(SP_ARG_FLUSH_INTERVAL) | SP_REFUSE(SP_ARG_PACE),
	.refused_hint = "Omit it. The tool's lines have sizes of their own, and no pauses."
};

/* It is not one of the engine's. */
static const sp_suite commit_engine = {.name = SP_COMMIT_SUITE};
static const sp_probe_suite commit = {
	.engine = &commit_engine,
	.measure = sp_commit_suite,
	.refused = SP_REFUSE(SP_ARG_DUTY_CYCLE),
	.refused_hint = "Use a longer flush_interval or fewer workers for less load."
};

const sp_probe_suite *const sp_probe_suites[] = {
	&sp_probe_suite_wal,
	&pg_test_fsync,
	&sp_probe_suite_stream,
	&sp_probe_suite_segments,
	&commit,
};

const int	sp_probe_suite_count = lengthof(sp_probe_suites);
