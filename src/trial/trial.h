/*-------------------------------------------------------------------------
 *
 * trial/trial.h
 *		sync_probe.trial(): try values of a setting on the server's own load, or on that of
 *		a workload.
 *
 * function.c is the procedure, and says where a trial is refused.  slots.c gives each value
 * short slots of time in random order and samples the commits in them.  record.c judges and
 * records the result.
 *
 * auto_conf.c changes the setting as ALTER SYSTEM does, and gives its old value back: for
 * the session of the trial, for the worker that watches it (watchdog.c), for cleanup() and
 * for the next trial.
 *
 * It must not: leave a setting changed, write WAL while it samples, try a sync method of
 * another kind, or take a value that the server would refuse.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_TRIAL_H
#define SP_TRIAL_H

#include "common/common.h"
#include "engine/verdict/setting.h"
#include "live/live.h"

#include "workload/workload.h"

/* The setting in postgresql.auto.conf that says what to restore.  The same in all releases. */
#define SP_TRIAL_MARKER		"pg_sync_probe.trial_restores"

/* One value, and what was seen with it. */
typedef struct sp_trial_value
{
	const char *text;			/* as SHOW prints it */
	const char *left_out;		/* why it is not compared; NULL if it is */
	sp_commit_sums sums;		/* of all slots but those of the control */
} sp_trial_value;

/* What postgresql.auto.conf says of a setting, and of the marker.  NULL: nothing. */
typedef struct sp_auto_conf
{
	const char *setting;
	const char *value;
	const char *marker;
	bool		value_is_newer; /* its line is not before the marker's */
} sp_auto_conf;

/* A trial: what was asked for, and what came out of it. */
typedef struct sp_trial
{
	const char *setting;
	const char *unit;			/* see sp_setting_comparison */
	sp_setting_figure deciding;
	int			count;			/* of values */
	sp_trial_value values[SP_MAX_METHODS];	/* the first one is the current value */
	int64		duration_us;
	double		slot_s;			/* 0: not given as an argument */
	double		settle_s;		/* of it, the first part, which does not count */
	bool		few_commit;		/* at a time: they are sampled more often */
	const char *workload;		/* NULL: the server's own load */
	sp_load    *load;			/* of that workload; NULL without one */
	const char *label;			/* may be NULL */
	List	   *files;			/* that a reload reads */
	int64		random_seed;
	sp_new_process method;		/* wal_sync_method of the server before, and after */
	sp_new_process method_at_end;
	TimestampTz started_at;
	TimestampTz finished_at;

	const char *old;			/* value in postgresql.auto.conf before the trial, or NULL */
	sp_auto_conf in_file;		/* what is there now */
	uint32		deadline_s;		/* when the watchdog restores; names the trial in its marker */
	bool		locked;			/* sp_trial_lock() is held */

	MemoryContext slot_context; /* of what a switch allocates */
	int			old_statements; /* most that were older than their slot */
	int			tried[SP_MAX_METHODS];	/* indexes of the values that are compared */
	sp_setting_comparison *comparison;	/* its values are the tried ones */
	char		reason[SP_REASON_SIZE];
} sp_trial;

/* -------------------------------------------------------------- function.c */

extern bool sp_trial_can_try(const char *setting);

/* ------------------------------------------------------------- auto_conf.c */

/* GUC, see pg_sync_probe.c: the server needs to know the marker. */
extern char *sp_trial_restores;

extern void sp_trial_read_old(sp_trial *trial);
extern void sp_trial_check_unchanged(const sp_trial *trial);
extern void sp_trial_change(sp_trial *trial, const char *value);
extern const char *sp_trial_restore(const char *trial);
extern bool sp_trial_cleanup(void);

/* -------------------------------------------------------------- watchdog.c */

extern BackgroundWorkerHandle *sp_watchdog_start(uint32 deadline_s);
extern void sp_watchdog_stop(BackgroundWorkerHandle *watchdog);
extern PGDLLEXPORT void sync_probe_trial_watchdog(Datum main_arg);

/* ----------------------------------------------------------------- slots.c */

extern double sp_trial_choose_slot(sp_trial *trial);
extern void sp_trial_run(sp_trial *trial, sp_progress *progress);

/* ---------------------------------------------------------------- record.c */

extern int64 sp_trial_record(sp_trial *trial);
extern void sp_trial_tell(const sp_trial *trial);
extern const char *sp_trial_recommended(const sp_trial *trial);

#endif							/* SP_TRIAL_H */
