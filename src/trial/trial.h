/*-------------------------------------------------------------------------
 *
 * trial/trial.h
 *		sync_probe.trial(): try values of a setting on the server's own load, or on that of
 *		a workload.
 *
 * function.c is the procedure.  values.c reads its arguments, and checks.c says where a
 * trial is refused.  slots.c gives each value short slots of time in random order and
 * samples the commits in them; open_methods.c has what makes the open_* methods safe.
 * load.c starts the workload, if there is one, and record.c records the result.
 *
 * A switch replaces postgresql.auto.conf by a prepared file and reloads (switch.c).
 * However a trial ends, the original file comes back: restore.c does so, for the session
 * that calls trial(), for a background worker that watches it (watchdog.c), and for what
 * a power failure leaves (leftover.c).
 *
 * It must not: leave a setting changed, write WAL while it samples, or take a value that
 * the server would refuse.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_TRIAL_H
#define SP_TRIAL_H

#include "common/common.h"
#include "engine/verdict/setting.h"
#include "live/live.h"

#include <sys/stat.h>

#include "nodes/pg_list.h"
#include "storage/proc.h"
#include "workload/workload.h"

/*
 * In the data directory, beside the file that ALTER SYSTEM writes.  These names and the marker
 * are the same in all releases: each restores what a trial of any other has left.
 */
#define SP_TRIAL_AUTO		"postgresql.auto.conf"
#define SP_TRIAL_ORIGINAL	"pg_sync_probe.trial_original"	/* a link to the original */
#define SP_TRIAL_NEXT		"pg_sync_probe.trial_next"
#define SP_TRIAL_VALUE		"pg_sync_probe.trial_value_"	/* and a digit, below 8 */

/* The setting in a prepared file that tells it from the original: 'setting[=value]'. */
#define SP_TRIAL_MARKER		"pg_sync_probe.trial_restores"

/* One value, and what was seen with it. */
typedef struct sp_trial_value
{
	const char *text;			/* as SHOW prints it */
	bool		is_open;		/* open_*: must not be mixed with unflushed WAL */
	const char *left_out;		/* why it is tried no more; NULL while it is */
	sp_commit_sums sums;		/* of all slots but those of the control */
} sp_trial_value;

/* A trial: what was asked for, and what came out of it. */
typedef struct sp_trial
{
	const char *setting;
	const char *unit;			/* see sp_setting_comparison */
	sp_setting_figure deciding;
	int			count;			/* of values */
	int			current;
	sp_trial_value values[SP_MAX_METHODS];
	int64		duration_us;
	double		slot_s;			/* 0: not given as an argument */
	const char *workload;		/* NULL: the server's own load */
	sp_load    *load;			/* of that workload; NULL without one */
	const char *label;			/* may be NULL */
	List	   *files;			/* that a reload reads */
	int64		random_seed;
	TimestampTz started_at;
	TimestampTz finished_at;

	sp_mixed_wal mixed;			/* what open_* took as flushed, to be synced */
	int			old_statements; /* most that were older than their slot */
	int			tried[SP_MAX_METHODS];	/* indexes of the values still compared */
	sp_setting_comparison *comparison;	/* its values are the tried ones */
	char		reason[SP_REASON_SIZE];
} sp_trial;

/* ---------------------------------------------------------------- values.c */

extern bool sp_trial_can_try(const char *setting);
extern void sp_trial_take_setting(sp_trial *trial, const char *name);
extern void sp_trial_take_values(sp_trial *trial, Datum array, bool isnull);

/* An error if the current value is another one now. */
extern void sp_trial_check_current(const sp_trial *trial);

/* ---------------------------------------------------------------- checks.c */

extern void sp_trial_check_server(void);
extern void sp_trial_check_privilege(const char *setting);
extern void sp_trial_check_source(const char *setting);
extern List *sp_trial_list_files(void);
extern void sp_trial_check_pending_edits(List *paths, TimestampTz loaded);

/* --------------------------------------------------------------- restore.c */

typedef enum sp_restored
{
	SP_NOT_SWITCHED,			/* there is nothing to restore */
	SP_RESTORED,				/* the original is in its place */
	SP_CHANGED_BY_OTHERS,		/* somebody ran ALTER SYSTEM meanwhile */
	SP_RESTORE_FAILED
} sp_restored;

/* Tells the files of one trial from those of the next one. */
typedef struct sp_trial_identity
{
	dev_t		device;
	ino_t		inode;
	struct timespec modified;
} sp_trial_identity;

extern bool sp_trial_identify(sp_trial_identity *identity);

/*
 * Put the original back.  Only async-signal-safe calls, no lock, and nothing done if
 * others have changed the file.
 */
extern sp_restored sp_trial_restore_raw(void);

/* The same under AutoFileLock.  Throws no error. */
extern sp_restored sp_trial_restore_quietly(void);

/*
 * Restore, and merge if others have changed the file: their change stays, that of the
 * trial goes.  May throw an error.  Returns whether there was something to restore, and
 * then tells the postmaster.  of: only files of this trial, or NULL.  patient: wait for
 * AutoFileLock as long as it takes.
 */
extern bool sp_trial_restore(const sp_trial_identity *of, bool patient);

/*
 * The marker in postgresql.auto.conf, in the current memory context, or NULL.  elevel: if the
 * file has an error.
 */
extern char *sp_trial_marker(int elevel);

extern void sp_trial_write_file(const char *path, const char *content, size_t length);

/* Let all processes read the configuration.  Returns when the postmaster has. */
extern void sp_trial_reload(void);

/* ---------------------------------------------------------------- switch.c */

/* The prepared files. */
typedef struct sp_trial_files
{
	ino_t		original;
	ino_t		values[SP_MAX_METHODS];
	ino_t		now;			/* of the file in place */
} sp_trial_files;

extern void sp_trial_files_make(const sp_trial *trial, sp_trial_files *files);

/* Put the file of a value in place, and reload. */
extern void sp_trial_switch(sp_trial_files *files, int value);

/* -------------------------------------------------------------- watchdog.c */

typedef struct sp_watchdog sp_watchdog;

/* Start it and wait until it watches.  After the files are made, before the first switch. */
extern sp_watchdog *sp_watchdog_start(void);

/* When the server has read its configuration: this session may have done so later. */
extern TimestampTz sp_watchdog_load_time(const sp_watchdog *watchdog);

/* Tell it that the trial lives, and may take that long until it says so again. */
extern void sp_watchdog_feed(sp_watchdog *watchdog, double seconds);

/* The trial has restored: end it, and wait for its end. */
extern void sp_watchdog_stop(sp_watchdog *watchdog);

/* After an error.  Restores, or leaves it to the watchdog; throws no error. */
extern void sp_watchdog_give_up(sp_watchdog *watchdog);

extern PGDLLEXPORT void sync_probe_trial_watchdog(Datum main_arg);

/* ---------------------------------------------------------- open_methods.c */

/* Why a method is left out. */
#define SP_TRIAL_WHY_UNFLUSHED \
	"WAL is written that is not flushed at once, which open_* would take as flushed"
#define SP_TRIAL_WHY_OLD \
	"a statement lasts longer than a slot, or does not tell (track_activities is off), and may" \
	" write WAL with another method"

/* Is this value open_datasync or open_sync? */
extern bool sp_trial_is_open_method(const char *setting, const char *value);

/* Is one of them still tried? */
extern bool sp_trial_tries_open(const sp_trial *trial);

extern void sp_trial_leave_out_open(sp_trial *trial, const char *why);

/*
 * Before the first switch: an error if one of them fails on a file of our own; none is tried
 * if WAL is seen that is not flushed.
 */
extern void sp_trial_open_gate(sp_trial *trial, sp_sampler *sampler);

/* ------------------------------------------------------------------ load.c */

extern void sp_trial_prepare_load(sp_trial *trial);

/* Start the load and wait until it commits, for a bounded time. */
extern void sp_trial_begin_load(sp_trial *trial);

/* Sample for that much of the time since the start, and attend to the load meanwhile. */
extern void sp_trial_sample(const sp_trial *trial, sp_sampler *sampler, double seconds);

/* ----------------------------------------------------------------- slots.c */

/*
 * The shortest slot for the sessions of the server, in seconds; that of the trial unless
 * one was given.  Looks at them for 0.2 s.
 */
extern void sp_trial_choose_slot(sp_trial *trial, double *shortest);
/* Try the values for the duration, and restore. */
extern void sp_trial_run(sp_trial *trial, sp_trial_files *files, sp_watchdog *watchdog,
						 sp_progress *progress);

/* ---------------------------------------------------------------- record.c */

/* Judge the trial, and record it.  Returns its run_id. */
extern int64 sp_trial_record(sp_trial *trial);
extern void sp_trial_tell(const sp_trial *trial);
extern const char *sp_trial_recommended(const sp_trial *trial);

/* -------------------------------------------------------------- leftover.c */

/* GUC, see pg_sync_probe.c: the marker as the server has read it. */
extern char *sp_trial_restores;

/* Restore what a trial left whose processes are gone.  Returns how much: 0 or 1. */
extern int	sp_trial_cleanup(void);

#endif							/* SP_TRIAL_H */
