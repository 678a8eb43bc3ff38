/*-------------------------------------------------------------------------
 *
 * engine/measure/measure.h
 *		Time writes and syncs: a run of the engine, its suite, its plan, its results.
 *
 * A suite plans test cases and files for a server.  The caller creates the files, and the
 * engine measures.  The clock, interrupts, sleep and wait events are callbacks.
 *
 * It must not: include a server header, allocate, print, remove a file that it has not created,
 * or keep state outside of the caller's sp_probe.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_MEASURE_H
#define SP_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/measure/histogram.h"
#include "engine/measure/sync_method.h"
#include "engine/verdict/verdict.h"

/* Sources with and without server headers share structures: off_t decides their layout. */
_Static_assert(sizeof(off_t) == 8, "compile with -D_FILE_OFFSET_BITS=64");

#define SP_MAX_CASES	32
#define SP_MAX_FILES	48
#define SP_NAME_LEN		64

/* The server writes whole WAL pages: the default XLOG_BLCKSZ. */
#define SP_WAL_PAGE_SIZE	8192

/*
 * A tick of most kernels' clocks (HZ=250).  A file's time stamp changes once a tick, and
 * fsync and open_sync must write it to the journal.
 */
#define SP_CLOCK_TICK_NS	(4 * SP_NS_PER_MS)

/*
 * A paced sample is the mean of so much time of flushes: two clock ticks.  fsync pays for
 * its journal once a tick, which the median of single flushes does not see: at 0.5 ms an
 * extra cost of 12 to 14 % looked like 1 to 2 %.  A saturated sample is one round.
 */
#define SP_PACED_SAMPLE_NS	(2 * SP_CLOCK_TICK_NS)

/*
 * A case that never syncs has few, longer slices.  After the syncs of other
 * cases the disk stays busy, and unsynced writes are slower for 50 ms: by 9 %
 * on ext4 on a loop device.  The case needs no short rounds, since no other
 * case is compared with it.
 */
#define SP_UNSYNCED_ROUNDS	4

/*
 * The files of a method in the paced regime.  Each has the cluster's own interval, and
 * the mean of three flushes has less noise than one.
 */
#define SP_PACED_COPIES	3

/* No file of WAL, and no write, is larger: it takes longer and gives the same figures. */
#define SP_WAL_FILE_MAX_SIZE	(16 * 1024 * 1024)

typedef enum sp_status
{
	SP_OK,
	SP_UNSUPPORTED,				/* not on this platform or server */
	SP_NO_DIRECT_IO,			/* the file system refuses O_DIRECT */
	SP_STOPPED,					/* the time ran out before it was measured */
	SP_ERROR					/* error_call and error_number are what failed */
} sp_status;

/* How an operation opens and closes its file. */
typedef enum sp_descriptor_use
{
	SP_KEEP_OPEN,
	SP_WRITE_SYNC_CLOSE,		/* open, write, sync, close */
	SP_WRITE_CLOSE_SYNC			/* open, write, close, open again, sync, close */
} sp_descriptor_use;

/*
 * A file that is probed, and the method whose cases begin with it.  The caller
 * opens it with sp_openat() and sp_open_flags(), and closes it.
 *
 * Two files of one method differ by their places on the disk: by 3 % on btrfs.  So
 * the files of the wal suite rotate among the methods, see rotation.c.  Then the engine
 * opens them again by name, with the flags of the method that comes.
 */
typedef struct sp_file
{
	const sp_sync_method *method;	/* NULL: not synced at all */
	bool		direct_io;
	int			ring;			/* files of one ring rotate among its methods; 0: stays */
	int			copy;			/* another file for the same cases, or -1 */
	int			fd;				/* with the flags of the method that uses it now, or -1 */
	int			directory_fd;	/* where it is opened by name */
	char		name[SP_NAME_LEN];
	char		other_name[SP_NAME_LEN];	/* of a segment: a rename swaps it with name */
	bool		made_by_engine;	/* while it is measured, and removed again */
	mode_t		create_mode;
	bool		exists;			/* below its name, with this device and inode */
	dev_t		device;
	ino_t		inode;
	int64_t		size;			/* bytes; the caller has written all of them */
	int			layout_write_size;	/* bytes of each of these writes: this decides the size of
									 * folios in the page cache, and so the cost of writes */
	int64_t		position;		/* where WAL ends: the next flush begins here */
	sp_status	status;			/* result of opening it; all its test cases have it */
	int			open_errno;
} sp_file;

/* One way to write and sync: a row of a suite. */
typedef struct sp_test_case
{
	const char *test;
	const char *label;			/* the method, or another name of the case */
	int			file;			/* index of the first one, whose method it uses; when paced, it
								 * also has the copies */
	sp_regime	regime;
	sp_descriptor_use descriptor_use;
	bool		advances;		/* moves through the file as WAL does */
	int			write_size;		/* bytes: of WAL per flush if it advances, else per write */
	int			writes_per_sync;
	int			baseline;		/* case that its speed is compared with, or -1 */
	int			max_rounds;		/* of a case that is only shown; 0: unlimited */
	bool		control;		/* a second copy of its baseline, for A/A */
	bool		candidate;		/* may be recommended */
} sp_test_case;

#define SP_MAX_SAMPLES	4096

/*
 * The samples of a test case: the times that it is compared by.  A sample is the mean time
 * of a flush in one or more rounds.  When a series is full, each two samples are merged
 * into one.  So memory does not grow with the duration of a probe.
 */
typedef struct sp_series
{
	int			n;
	int64_t		rounds;			/* all that were added */
	int			merges;			/* 2^merges ends of samples make one of mean_us */
	int64_t		pending_ends;	/* since the last sample of mean_us */
	int64_t		pending_rounds;
	double		pending_us;
	double		mean_us[SP_MAX_SAMPLES];
} sp_series;

/* The results of a test case. */
typedef struct sp_result
{
	sp_status	status;
	const char *error_call;		/* "pwrite", "fsync", ... */
	int			error_number;
	sp_histogram histogram;
	sp_series	series;
	sp_tail		tail;
	int64_t		slow_ns;		/* of a baseline: what takes longer is slow; 0: not known yet */
	uint64_t	next_slow_ops;	/* operations after which slow_ns is set again */
	sp_speed	speed;			/* against its baseline, as of the last look */
	bool		excluded;		/* known to gain too little: no longer measured */
	sp_evidence evidence;		/* counters of the device, while it was measured */
	sp_windows	windows;		/* of each paced flush, and control windows as long */
	int64_t		window_ns;		/* the length of the last of these flushes; 0 before */
} sp_result;

/*
 * The callbacks of the engine. check_interrupts and sleep_until may leave by a
 * long jump: when they are called, the engine holds nothing that must be freed,
 * and no descriptor of an SP_WRITE_*_CLOSE operation is open.
 */
typedef struct sp_callbacks
{
	void	   *context;
	int64_t		(*now_ns) (void *context);
	void		(*check_interrupts) (void *context);
	void		(*sleep_until) (void *context, int64_t deadline_ns);	/* may be in the past */
	void		(*operation_begin) (void *context);
	void		(*operation_end) (void *context);
	void		(*round_done) (void *context);	/* for progress */

	/*
	 * Read the counters of the device, summed for each level; false if they
	 * cannot be read now.  NULL if there are none.
	 */
	bool		(*read_counters) (void *context, sp_counters counters[SP_LEVELS]);

	/*
	 * Is there room for a file of so many bytes?  It may leave by a long jump, too.  NULL
	 * if that is not asked.
	 */
	void		(*check_space) (void *context, int64_t bytes);
} sp_callbacks;

/* The file rotation: which file the cases of each method write to, see rotation.c. */
typedef struct sp_rotation
{
	int			in_use[SP_MAX_FILES];	/* by the file that its cases begin with */
	int			shift[SP_REGIMES];
	int64_t		block_rounds[SP_REGIMES];	/* counted since the last move */
	int64_t		block_ns[SP_REGIMES];	/* their length */
	bool		frozen;			/* a file has failed: all stay where they are */
} sp_rotation;

/* Facts about the device, known before the probe. */
typedef struct sp_device_facts
{
	const char *syncs_nothing;	/* why the file system does not sync, or NULL */
	const char *write_cache;	/* see sp_durable_facts */
	bool		fua;			/* a disk may take FUA writes */
	bool		flushes_uncounted;	/* a disk may not count flushes */
	bool		writes_uncounted;	/* syncs may write where no counter shows it */
	bool		has_backing;	/* it is a loop device, with its file on other disks */
	const char *backing_write_cache;
} sp_device_facts;

typedef struct sp_probe sp_probe;

/* The properties of the server whose commits a suite imitates. */
typedef struct sp_server
{
	const sp_sync_method *current;	/* wal_sync_method; NULL if unknown */
	bool		offers[SP_MAX_METHODS];	/* by index into sp_sync_methods */
	bool		direct_io_open; /* O_DIRECT with open_*? */
	bool		direct_io_all;	/* O_DIRECT with every method? */
	int64_t		segment_size;	/* wal_segment_size, bytes */
	int			init_write_size;	/* bytes of a write that fills a new segment */
	int			flush_size;		/* bytes of WAL per flush */
	int64_t		max_stream_bytes;	/* that the stream suite may write; 0: unlimited */
	bool		wal_recycle;
	bool		wal_init_zero;
} sp_server;

/* Which test cases are measured together, and how. */
typedef struct sp_suite
{
	size_t		data_size;		/* of sp_probe.data, see stream.h and segments.h */
	void		(*plan) (sp_probe *probe, const sp_server *server);

	/* Measure until the time is up, or probe->done. */
	void		(*run) (sp_probe *probe);

	/*
	 * At a look: fill in probe->comparison, and set probe->judged.  Returns whether more
	 * time is not expected to change the verdict.  NULL: nothing is judged.
	 */
	bool		(*judge) (sp_probe *probe);
	bool		any_duration;	/* how long a round takes is not known before */
} sp_suite;

#define SP_SUITE(name, ...)		extern const sp_suite sp_suite_##name;
#include "engine/measure/suitelist.h"
#undef SP_SUITE

/* A run: plan, state and results.  Large; the caller allocates it, all zeros. */
struct sp_probe
{
	/* the plan */
	const sp_suite *suite;
	void	   *data;			/* of the suite: data_size zeros, which it may plan by */
	int			nfiles;
	int			ncases;
	sp_file		files[SP_MAX_FILES];
	sp_test_case cases[SP_MAX_CASES];
	int64_t		duration_ns;	/* upper bound of the measuring */
	int64_t		flush_interval_ns;	/* of the paced regime */
	sp_regime	deciding;		/* the regime that the verdict is about */
	const char *load;			/* what was seen of the server's load, in words; or NULL */
	bool		fsync_off;		/* the server syncs nothing */
	double		duty_cycle;		/* (0, 1]: share of the time spent writing */
	double		margin;
	bool		stop_early;		/* when settled; exclude methods that cannot be worth a switch */
	uint64_t	random_seed;
	int64_t		clock_cost_ns;	/* of reading the clock; subtracted from each time */
	const char *buffer;			/* as long as the longest write, and aligned for O_DIRECT */
	sp_device_facts device;
	sp_callbacks callbacks;

	/* the state */
	int64_t		started_ns;
	int64_t		deadline_ns;	/* started_ns + duration_ns */
	int64_t		finished_ns;
	int64_t		rounds[SP_REGIMES];
	int64_t		samples[SP_REGIMES];	/* that were ended, see SP_PACED_SAMPLE_NS */
	int64_t		sample_ns;		/* length of the paced rounds since the last one */
	int			looks;			/* interim ones that were taken */
	int64_t		spent_ns[SP_REGIMES];
	int64_t		round_ns[SP_REGIMES];	/* how long the last one took */
	int			paced_copies;	/* files that a case flushes in a paced round */
	int64_t		paced_busy_ns;	/* in operations, of the last paced round */
	int64_t		paced_ns;		/* length of all paced rounds that were counted */
	bool		exhausted[SP_REGIMES];	/* no further round fits into the time */
	sp_rotation rotation;
	unsigned short random_state[3];
	sp_evidence background;		/* idle samples: I/O of other processes */
	int64_t		last_flush_ns;	/* when the last paced flush had been done */
	int64_t		windows_ns;		/* spent on control windows */
	int64_t		control_windows;	/* also those whose counters could not be read */
	bool		windows_failed;	/* none is possible */
	bool		judged;			/* comparison and judgement are valid */
	bool		done;			/* before the time was up */
	sp_comparison comparison;	/* of its methods, in the deciding regime, by the last look */
	sp_judgement judgement;
	double		workspace[SP_MAX_SAMPLES];

	/* the results, by test case */
	sp_result	results[SP_MAX_CASES];
};

/*
 * For a small file system: halve the files of a plan or, if a file would become
 * smaller than 1 MB or than one flush, drop the copies.  Returns false if neither
 * is possible.
 */
extern bool sp_suite_shrink_files(sp_probe *probe);

/* Drop the copies of a plan: its last files.  Returns false if it has none. */
extern bool sp_suite_drop_copies(sp_probe *probe);

/*
 * Does one round of every case fit into the duration, as far as the plan alone shows?
 * *enough_ns: a duration that surely has room, a double since a tiny duty cycle makes a
 * round last for years.
 */
extern bool sp_probe_fits(const sp_probe *probe, double *enough_ns);

/*
 * Run the probe.  Cases whose file could not be opened get the status of the
 * file.  A case that fails during the probe gets SP_ERROR and is excluded (a
 * failed fsync is never repeated on its descriptor); the others continue.
 *
 * The probe ends within duration_ns, but every case runs at least one round,
 * even if this takes up to two extra seconds.  An operation that has begun is
 * finished.
 */
extern void sp_probe_run(sp_probe *probe);

/* ------------------------------------------------------------------ files */

/*
 * The flag for direct I/O among those of sp_openat(), 0 where this platform has none.  It is
 * O_DIRECT, except on macOS.
 */
extern const int sp_direct_io_flag;

/*
 * Open an existing file, as openat(2).  The flags may have sp_direct_io_flag, which is why
 * openat() itself must not be called with them.
 */
extern int	sp_openat(int directory_fd, const char *name, int flags);

/*
 * Create a file below its name, where there must be none, and remember its device and inode.
 * Returns NULL, or the name of the call that failed, with errno set; then there is no file.
 */
extern const char *sp_create_file(sp_file *file);

/*
 * Is the file below that name the one that was created?  Else errno is set, to ESTALE if another
 * one is there.
 */
extern bool sp_is_in_place(const sp_file *file);

/* The flags with which the method of a file opens it, for sp_openat(). */
extern int	sp_open_flags(const sp_file *file);

/* The sp_suite.plan() of a power test: its file.  It has no cases. */
extern void sp_power_plan(sp_probe *probe, const sp_server *server);

#define SP_POWER_MAX_BLOCKS	(SP_WAL_FILE_MAX_SIZE / SP_WAL_PAGE_SIZE)

typedef struct sp_power_judgement
{
	const char *durable;		/* 'proven', 'refuted' or 'unknown' */
	int64_t		newest;			/* the newest number that is there; 0: none is */
	int64_t		lost;			/* of those that must be there, and whole */
	char		reason[256];
} sp_power_judgement;

/*
 * The numbers of the blocks (at least one) that a power test has left, 0 for one that is not whole.
 * seen: the newest that the client got.  Each was written after the one before was synced.
 * restarted: the machine has, so that they were read from the storage; else nothing is known.
 */
extern sp_power_judgement sp_power_judge(const int64_t *numbers, int blocks, int64_t seen,
										 bool restarted);

/* ---------------------------------------------------------------- results */

/* The reason of its judgement, in words. */
extern void sp_probe_explain(const sp_probe *probe, char reason[SP_REASON_SIZE]);

/* The second copy of a baseline; -1 if it has none. */
extern int	sp_control_of(const sp_probe *probe, int baseline);

/*
 * Do the syncs of a case reach the device, as far as the counters show?  Those
 * of a method do if they do in each regime.  at_best: if control windows showed that all
 * flushes of the case are its own.
 */
extern sp_durable sp_probe_case_durable(const sp_probe *probe, int c, bool at_best);
extern sp_durable sp_probe_method_durable(const sp_probe *probe, const char *label, bool at_best);

/*
 * Why that is unknown of a method, in words; NULL if it is known.  at_backing: that is so at
 * the disks below a loop device.
 */
extern const char *sp_probe_method_doubt(const sp_probe *probe, const char *label,
										 bool *at_backing);

extern const char *const sp_status_names[];

#endif							/* SP_MEASURE_H */
