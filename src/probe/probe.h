/*-------------------------------------------------------------------------
 *
 * probe/probe.h
 *		sync_probe.probe(): measure one location, and record it.
 *
 * function.c checks the arguments (arguments.c), reads how this cluster flushes WAL
 * (wal_profile.c), creates the files (files.c), and lets the engine measure with callbacks.c.
 * record.c builds the rows of the result, and records the run.  What differs between suites is a
 * row of suitelist.h; suites.c has the table.
 *
 * power_test.c has sync_probe.power_test() and what it has proved, from the same parts.
 *
 * The commit suite is not one of the engine's, see commit_internal.h.  What it shares with a
 * trial is in setting_run.c.
 *
 * It must not: time an operation, which the engine does, or use a workload.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PROBE_FUNCTION_H
#define SP_PROBE_FUNCTION_H

#include "common/common.h"
#include "engine/verdict/setting.h"
#include "live/live.h"
#include "nodes/execnodes.h"
#include "storage/storage.h"
#include "utils/array.h"

/* ------------------------------------------------------------- arguments.c */

/* The arguments of probe(), in order. */
typedef enum sp_probe_argument
{
	SP_ARG_LOCATION,
	SP_ARG_SUITE,
	SP_ARG_DURATION,
	SP_ARG_DUTY_CYCLE,
	SP_ARG_FLUSH_SIZE,
	SP_ARG_FLUSH_INTERVAL,
	SP_ARG_STOP_EARLY,
	SP_ARG_LABEL,
	SP_ARG_RECORD,
	SP_ARG_PACE,
	SP_ARG_METHODS,
	SP_ARG_COMMIT_DELAYS,
	SP_ARG_WORKERS,
	SP_PROBE_ARGUMENTS
} sp_probe_argument;

typedef struct sp_probe_suite sp_probe_suite;
typedef struct sp_wal_profile sp_wal_profile;
typedef struct sp_run sp_run;

/* The row of the suite.  Arguments that mean nothing to it are refused. */
extern const sp_probe_suite *sp_suite_argument(FunctionCallInfo fcinfo);

#define SP_MIN_DURATION_MS		10

/* The duration that was given, or the default; microseconds. */
extern int64 sp_probe_duration(FunctionCallInfo fcinfo);
extern double sp_duty_cycle_argument(FunctionCallInfo fcinfo);

/* Is the pace that of the busiest hour? */
extern bool sp_busiest_hour_argument(FunctionCallInfo fcinfo);

extern void sp_pace_arguments(FunctionCallInfo fcinfo, sp_wal_profile *profile,
							  int min_size, int max_size);

/* Throw an error if the duration is too short for one round of every test case. */
extern void sp_check_duration(const sp_probe *probe);
extern char *sp_rounded_time(double ns, double (*round_off) (double));

#define SP_MAX_INTERVAL_US		(60 * USECS_PER_SEC)

/* ----------------------------------------------------------- wal_profile.c */

/* How this cluster flushes WAL, and the sources of these values. */
struct sp_wal_profile
{
	sp_server	server;			/* for the suites */
	const char *wal_sync_method;
	int64		flush_interval_us;	/* of the paced regime */
	bool		knows_size;		/* from the cluster, or an argument */
	bool		knows_interval;
	bool		given;			/* one of them by an argument */
	const char *pace_unknown;	/* why the statistics give no size or interval, or NULL */
	bool		in_recovery;
	double		wal_busy;		/* share of the time in which WAL is written or synced */
	sp_commit_figures seen;			/* of the server's processes, just before */
	const char *load;			/* what was seen, in words; NULL: nothing */
	double		observed_busy;	/* wal_busy of the commit_waits() that gave the pace, or NAN */
	bool		busiest_hour;	/* those of which gave it, not the newest one */
};

extern void sp_wal_profile_read(sp_wal_profile *profile, bool busiest_hour);

/* Look at the processes of the server for a moment, to fill in what wal_busy and load are. */
extern void sp_wal_profile_look(sp_wal_profile *profile);

/* A NOTICE where the statistics hold enough, and lack what was asked for. */
extern void sp_wal_profile_notice_unknown(const sp_wal_profile *profile, bool interval_matters);
extern bool sp_server_offers(const char *method);
extern int	sp_wal_profile_max_flush_size(const sp_wal_profile *profile);

/* ---------------------------------------------------------------- files.c */

/* A run on files, while it measures. */
typedef struct sp_probing
{
	sp_run	   *run;

	bool		lasting;		/* its file must survive a restart */

	/* what is needed to remove the files */
	int			directory_fd;	/* -1 until opened */
	char		directory[MAXPGPATH];
	int			reserved_fds;	/* reserved at fd.c */

	/* while they are filled */
	int64		filled_bytes;	/* of all files, so far */
	int64		rested_ns;		/* between the chunks, in all */

	/* for the callbacks of the engine */
	uint32		flush_wait_event;
	uint32		sleep_wait_event;
	int64		now_ns;			/* the last reading of the clock */
	int64		next_check_ns;	/* of free space and DROP EXTENSION */
	int64		next_notice_ns;
} sp_probing;

/* Filling repeats this much of the buffer. */
#define SP_FILL_BUFFER_SIZE	(256 * 1024)

extern void sp_probe_file_error(const sp_probing *state, const char *verb, const sp_file *file);
extern void sp_probe_files_create(sp_probing *state);
extern void sp_probe_files_remove(sp_probing *state);
extern int64 sp_probe_files_size(const sp_probe *probe);
extern int	sp_probe_files_sweep(const sp_location *location);
extern bool sp_power_test_remove(const sp_location *location);

/* ------------------------------------------------------------- function.c */

extern double sp_margin;	/* GUC, see pg_sync_probe.c */

extern void sp_probe_plan(sp_run *run, int64 duration_us, sp_probing *state);
extern void sp_probe_location(sp_probing *state);
extern void sp_notice_if_too_short(const sp_run *run, int64 samples);

/* --------------------------------------------------------------- suites.c */

typedef struct sp_compared sp_compared;

/* A run, and its rows. */
struct sp_run
{
	const sp_probe_suite *suite;
	sp_location location;
	sp_wal_profile profile;
	sp_probe   *probe;
	const sp_compared *compared;	/* of the commit suite or a trial, which have no probe */
	int			workers;		/* that committed, or 0 */
	const char *workload;		/* of a trial: what made the load, or NULL */
	sp_storage	storage;
	Datum		storage_jsonb;	/* see sp_storage_jsonb(), or 0 */
	const char *label;			/* may be NULL */
	TimestampTz started_at;
	TimestampTz measuring_since;
	TimestampTz finished_at;
	int64		run_id;			/* 0: it is not recorded */
	HeapTuple	row;
	TupleDesc	measurement_type;
	HeapTuple	measurements[SP_MAX_CASES];
	int			nmeasurements;
	HeapTuple	samples[SP_MAX_CASES];
	int			nsamples;
};

#define SP_REFUSE(arg)		(1U << (arg))
#define SP_COMMIT_ARGUMENTS \
	(SP_REFUSE(SP_ARG_METHODS) | SP_REFUSE(SP_ARG_COMMIT_DELAYS) | SP_REFUSE(SP_ARG_WORKERS))
#define SP_PACE_ARGUMENTS \
	(SP_REFUSE(SP_ARG_FLUSH_SIZE) | SP_REFUSE(SP_ARG_FLUSH_INTERVAL) | SP_REFUSE(SP_ARG_PACE))

/* The parts of a suite beside measuring.  Functions may be NULL. */
struct sp_probe_suite
{
	const char *name;
	const sp_suite *engine;		/* or NULL, with measure */

	/* It measures itself, and sets run->compared. */
	void		(*measure) (FunctionCallInfo fcinfo, sp_run *run);

	uint32		refused;		/* SP_REFUSE() of the arguments that mean nothing to it */
	const char *refused_hint;
	int			flush_size;		/* if that is refused; 0: there are several */

	char	   *(*progress) (const sp_probe *probe);	/* instead of mean times: a line */
	void		(*report_end) (const sp_probe *probe);

	/* of a row of measurements: its detail if all went well, or NULL; more of its columns */
	char	   *(*describe) (const sp_probe *probe, int c);
	void		(*put_case) (sp_row *row, const sp_probe *probe, int c);

	/* of the row of the run: the columns of its verdict, if it has one */
	void		(*put_verdict) (sp_row *row, const sp_run *run);

	/* Insert more rows.  As the history's owner. */
	void		(*record) (const sp_run *run);
};

/* All of them; behind the last, one without a name. */
extern const sp_probe_suite sp_probe_suites[];

/* --------------------------------------------------------- suite_stream.c */

extern int	sp_max_stream_mb;	/* GUC, see pg_sync_probe.c */

extern char *sp_stream_progress(const sp_probe *probe);
extern void sp_stream_report_end(const sp_probe *probe);
extern char *sp_stream_describe(const sp_probe *probe, int c);
extern void sp_stream_record(const sp_run *run);

/* ------------------------------------------------------------ callbacks.c */

/* The maximum length of a progress NOTICE. */
#define SP_NOTICE_LENGTH	100

extern void sp_callbacks_set(sp_probe *probe, sp_probing *state);
extern void sp_notice_filling(sp_probing *state);

/* --------------------------------------------------------------- record.c */

extern void sp_add_sample_row(sp_run *run, const sp_histogram *histogram, const double *means,
							  int n, const double *controls, int ncontrols);

/* "recommended", if that is the label of what is recommended. */
extern void sp_put_recommended(sp_row *row, const sp_comparison *comparison,
							   const sp_judgement *judgement, const char *label);

/* All times of a measurement, and the number of its operations. */
extern void sp_put_latencies(sp_row *row, const sp_histogram *histogram);
extern void sp_put_judgement(sp_row *row, const char *setting, const sp_comparison *comparison,
							 const sp_judgement *judgement, const char *reason,
							 int64 duration_us, int least_s);
extern void sp_put_speed(sp_row *row, const sp_speed *speed);
extern void sp_record(sp_run *run, bool wanted);

/* ----------------------------------------------------------- setting_run.c */

/* Values of a setting, and what was seen with each of them.  Large. */
struct sp_compared
{
	sp_setting_comparison setting;
	int64		duration_us;
	bool		stop_early;		/* once the verdict is settled */
	int64		started_ns;
	sp_commit_sums sums[SP_MAX_METHODS];	/* the commits with each value */
	sp_histogram histograms[SP_MAX_METHODS];	/* of the commit suite: those of workers */
	int			looks;			/* interim ones that were taken */
	bool		settled;		/* by one of them */
	char		reason[2 * SP_REASON_SIZE];
};

/*
 * One slot with a value: the figures of its commits.  -1: the current value as its own control.
 * False if it was cut short.
 */
typedef bool (*sp_slot) (void *context, int value, double *wait_us, double *commits_per_sec);

extern void sp_compared_choose(sp_compared *compared, const char *setting, const char *unit,
							   sp_setting_figure deciding, const char *current, ArrayType *given);
extern void sp_compared_check_duration(const sp_compared *compared, double slot_s);
extern void sp_compared_rounds(sp_compared *compared, double slot_s, sp_slot slot, void *context);
extern void sp_compared_judge(sp_compared *compared);

extern void sp_compared_rows(sp_run *run);

/* ---------------------------------------------------------- commit_suite.c */

#define SP_COMMIT_SUITE		"commit"

extern int	sp_max_commit_wal_mb;	/* GUC, see pg_sync_probe.c */

extern void sp_commit_suite(FunctionCallInfo fcinfo, sp_run *run);
extern void sp_check_wal_consumers(const char *what);

#endif							/* SP_PROBE_FUNCTION_H */
