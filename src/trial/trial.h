/*-------------------------------------------------------------------------
 *
 * trial/trial.h
 *		sync_probe.trial(): try values of a setting on the server's own load, or on that of
 *		a workload.
 *
 * function.c is the procedure: it refuses what a trial cannot do, and judges.  slots.c gives each
 * value short slots of time in random order and samples the commits in them.
 *
 * auto_conf.c changes the setting as ALTER SYSTEM does, and gives its old value back: in the
 * session of the trial, in the worker that watches it, in cleanup() and in the next trial.
 *
 * It must not: leave a setting changed, write WAL while it samples, try a sync method of
 * another kind, or take a value that the server would refuse.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_TRIAL_H
#define SP_TRIAL_H

#include "probe/probe.h"
#include "workload/workload.h"

/* The setting in postgresql.auto.conf with what to restore.  The same in all releases. */
#define SP_TRIAL_MARKER		"pg_sync_probe.trial_restores"

/* What postgresql.auto.conf has for a setting, and of the marker.  NULL: nothing. */
typedef struct sp_auto_conf
{
	const char *setting;
	const char *value;
	const char *marker;
	bool		value_is_newer; /* its line is not before the marker's */
} sp_auto_conf;

/* A trial.  Large. */
typedef struct sp_trial
{
	sp_run		run;
	sp_compared compared;
	double		slot_s;			/* 0: not given as an argument */
	double		settle_s;		/* of it, the first part, which does not count */
	sp_workload_run *load;		/* of run.workload; NULL without one */
	List	   *files;			/* that a reload reads */

	const char *old;			/* value in postgresql.auto.conf before the trial, or NULL */
	sp_auto_conf in_file;		/* what is there now */
	bool		locked;			/* sp_trial_lock() is held */

	sp_sampler *sampler;
	MemoryContext slot_context; /* of what a switch allocates */
	sp_commit_sums seen;		/* in all slots */
	int			old_statements; /* most that were older than their slot */
} sp_trial;

/* -------------------------------------------------------------- function.c */

extern bool sp_trial_can_try(const char *setting);

/* ------------------------------------------------------------- auto_conf.c */

extern sp_auto_conf sp_auto_conf_read(const char *setting);
extern void sp_auto_conf_check_unchanged(const sp_auto_conf *left);
extern void sp_trial_change(sp_trial *trial, const char *value);
extern const char *sp_trial_restore(void);
extern bool sp_trial_cleanup(void);
extern BackgroundWorkerHandle *sp_watchdog_start(void);
extern PGDLLEXPORT void sync_probe_trial_watchdog(Datum main_arg);

/* ----------------------------------------------------------------- slots.c */

extern void sp_trial_choose_slot(sp_trial *trial);
extern void sp_trial_run(sp_trial *trial);

#endif							/* SP_TRIAL_H */
