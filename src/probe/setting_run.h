/*-------------------------------------------------------------------------
 *
 * probe/setting_run.h
 *		A run that compares values of settings on real commits: the commit suite, or a trial.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SETTING_RUN_H
#define SP_SETTING_RUN_H

#include "common/common.h"
#include "engine/measure/histogram.h"
#include "engine/verdict/commit_waits.h"
#include "engine/verdict/setting.h"
#include "nodes/execnodes.h"
#include "utils/array.h"

/* Those that one run can compare: wal_sync_method and commit_delay. */
#define SP_MAX_SETTINGS		2

/* The values of one setting, and what was seen with each of them.  Large. */
typedef struct sp_compared
{
	sp_setting_comparison setting;
	sp_commit_sums sums[SP_MAX_METHODS];	/* of a trial: the commits of the server */
	sp_histogram histograms[SP_MAX_METHODS];	/* of the commit suite: those of workers */
	int			looks;			/* interim ones that were taken */
	bool		settled;		/* by one of them */
	char		reason[2 * SP_REASON_SIZE];
} sp_compared;

/* Large. */
typedef struct sp_setting_run
{
	const char *suite;
	const char *label;			/* may be NULL */
	const char *workload;		/* what made the load, or NULL */
	int64		duration_us;
	bool		stop_early;		/* once all verdicts are settled */
	const char *wal_sync_method;	/* of the server */
	int			record_size;	/* bytes of WAL per commit of a worker; 0: no workers */
	int			workers;
	int64		interval_us;	/* between two commits of all workers, if given, or 0 */
	bool		given_load;		/* size or pace of commits are not those of the server */
	TimestampTz started_at;
	int64		started_ns;		/* the same, of the clock of all measurements */
	TimestampTz finished_at;
	int			nsettings;
	sp_compared settings[SP_MAX_SETTINGS];	/* the first one has the verdict of the run */
} sp_setting_run;

/* -------------------------------------------------------- setting_values.c */

/*
 * One slot with a value: the figures of its commits.  -1: the current value as its own control.
 * False if it was cut short.
 */
typedef bool (*sp_slot) (void *context, sp_compared *compared, int value,
						 double *wait_us, double *commits_per_sec);

extern void sp_setting_run_add(sp_setting_run *run, const char *setting, const char *unit,
							   sp_setting_figure deciding, const char *current, ArrayType *given);
extern bool sp_compared_round(sp_compared *compared, sp_slot slot, void *context);
extern void sp_setting_run_begin(sp_setting_run *run);
extern void sp_setting_run_rounds(sp_setting_run *run, double round_s, sp_slot slot, void *context);
extern void sp_setting_run_judge(sp_setting_run *run);

/* -------------------------------------------------------- setting_record.c */

extern int64 sp_setting_record(const sp_setting_run *run, bool record, ReturnSetInfo *result);

#endif							/* SP_SETTING_RUN_H */
