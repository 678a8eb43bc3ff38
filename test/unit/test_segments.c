/*-------------------------------------------------------------------------
 *
 * test_segments.c
 *	  Tests of the suite segments: its calls, its files, its verdict.
 *
 * The directory and its names are real; the writes and syncs are not.  Each takes a set
 * time on a simulated clock, and any one of them can be made to fail.  Whatever happens,
 * no file of the engine is left, no other file is touched, and no sync is repeated on a
 * descriptor after it has failed.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/measure/segments_internal.h"
#include "engine/measure/suite.h"

#define SEGMENT		(1024 * 1024)
#define FLUSH		8192
#define FILL		(256 * 1024)
#define SHORT_WRITE	(-1)		/* in the place of an errno */
#define MAX_FD		256

typedef enum fake_call
{
	OPEN, PWRITEV, PWRITE, FSYNC, FDATASYNC, CLOSE, RENAME, UNLINK, CALLS
} fake_call;

static const char *const call_names[CALLS] = {
	"open", "pwrite", "pwrite", "fsync", "fdatasync", "close", "rename", "unlink"
};

static struct
{
	bool		armed;
	int64_t		now;
	int64_t		cost[CALLS];
	int64_t		flush_cost[SP_SEGMENT_KINDS];
	double		noise;			/* of a flush: standard deviation of its logarithm */
	int64_t		slow_from;		/* flushes take eight times as long from then; 0: never */
	uint64_t	seed;
	int64_t		slept;
	int			kind_of[MAX_FD];	/* of the segment, or -1 */
	bool		sync_failed[MAX_FD];
	fake_call	fail_call;
	int			fail_at;		/* the n-th of them, from 1; 0: never */
	int			fail_errno;
	bool		failed;
	bool		rest_can_be_written;	/* after a short write */
	int			seen[CALLS];
	char		log[200];		/* calls, a letter each; all but the flushes */
	size_t		nlog;
	int			wrong_calls;
	long		checks;
	long		jump_at;
	jmp_buf		jump;
	int			rounds;
	int			spaces;
} disk;

static sp_probe the_probe;
static sp_probe *const probe = &the_probe;
static char buffer[SP_BUFFER_SIZE] __attribute__((aligned(4096)));
static char directory[64];
static int	directory_fd;

extern int	__real_openat(int dirfd, const char *name, int flags,...);
extern int	__real_close(int fd);
extern int	__real_renameat(int dirfd, const char *name, int to, const char *other);
extern int	__real_unlinkat(int dirfd, const char *name, int flags);

#pragma GCC diagnostic ignored "-Wmissing-prototypes"	/* of calls that are replaced */

/* --------------------------------------------------------------------- calls */

/* Time passes; returns whether this call fails. */
static bool
fails(fake_call call)
{
	disk.now += disk.cost[call];
	disk.seen[call]++;
	if (disk.nlog < sizeof(disk.log) - 1 && call != FDATASYNC)
		disk.log[disk.nlog++] = "OVWS CRU"[call];
	if (call != disk.fail_call || disk.seen[call] != disk.fail_at)
		return false;
	disk.failed = true;
	errno = disk.fail_errno == SHORT_WRITE ? 0 : disk.fail_errno;
	return true;
}

/* The slot is in the name, see plan(). */
static int
kind_of_name(const char *name)
{
	int			n = atoi(strrchr(name, '.') + 1) % SP_MAX_FILES;

	for (int i = 0; i < probe->segments.nslots; i++)
	{
		if (probe->segments.slots[i].file == n)
			return (int) probe->segments.slots[i].kind;
	}
	return -1;
}

int
__wrap_openat(int dirfd, const char *name, int flags,...)
{
	va_list		arguments;
	mode_t		mode;
	int			fd;

	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	if (!disk.armed)
		return __real_openat(dirfd, name, flags, mode);
	disk.wrong_calls += dirfd != directory_fd || (flags & (O_NOFOLLOW | O_CLOEXEC)) !=
		(O_NOFOLLOW | O_CLOEXEC) || (flags & O_CREAT && !(flags & O_EXCL));
	if (fails(OPEN))
		return -1;
	fd = __real_openat(dirfd, name, flags, mode);
	if (fd >= 0)
	{
		disk.kind_of[fd] = kind_of_name(name);
		disk.sync_failed[fd] = false;
	}
	return fd;
}

static ssize_t
fake_write(fake_call call, size_t size)
{
	if (!fails(call))
		return (ssize_t) size;
	if (disk.fail_errno != SHORT_WRITE)
		return -1;
	if (disk.rest_can_be_written)
		return (ssize_t) size / 2;
	/* the call after it says why */
	disk.fail_at++;
	disk.fail_errno = EDQUOT;
	return (ssize_t) size / 2;
}

ssize_t
__wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	(void) data;
	disk.wrong_calls += offset + (off_t) size > SEGMENT || disk.sync_failed[fd];
	return fake_write(PWRITE, size);
}

ssize_t
__wrap_pwritev(int fd, const struct iovec *parts, int nparts, off_t offset)
{
	size_t		size = 0;

	for (int i = 0; i < nparts; i++)
	{
		size += parts[i].iov_len;
		disk.wrong_calls += parts[i].iov_len != SP_WAL_PAGE_SIZE ||
			((const char *) parts[i].iov_base)[SP_WAL_PAGE_SIZE - 1] != 0;
	}
	disk.wrong_calls += size > FILL || offset + (off_t) size > SEGMENT || disk.sync_failed[fd];
	return fake_write(PWRITEV, size);
}

static int
fake_sync(fake_call call, int fd)
{
	disk.wrong_calls += disk.sync_failed[fd];
	if (!fails(call))
		return 0;
	/* a signal is no failure of the disk, and the directory has no other descriptor */
	disk.sync_failed[fd] = disk.fail_errno != EINTR && fd != directory_fd;
	return -1;
}

int
__wrap_fsync(int fd)
{
	return fake_sync(FSYNC, fd);
}

int
__wrap_fdatasync(int fd)
{
	int			kind = disk.kind_of[fd];

	if (kind >= 0)
		disk.now += (int64_t) ((double) disk.flush_cost[kind] *
							   (disk.slow_from > 0 && disk.now > disk.slow_from ? 8 : 1) *
							   exp(disk.noise * random_normal(&disk.seed)));
	return fake_sync(FDATASYNC, fd);
}

int
__wrap_close(int fd)
{
	bool		failed = disk.armed && fails(CLOSE);
	int			failed_errno = errno;

	(void) __real_close(fd);
	errno = failed_errno;
	return failed ? -1 : 0;
}

int
__wrap_renameat(int dirfd, const char *name, int to, const char *other)
{
	disk.wrong_calls += dirfd != directory_fd || to != directory_fd ||
		strncmp(name, "xlogtemp.", 9) != 0 || strncmp(other, "xlogtemp.", 9) != 0;
	return fails(RENAME) ? -1 : __real_renameat(dirfd, name, to, other);
}

int
__wrap_unlinkat(int dirfd, const char *name, int flags)
{
	if (disk.armed && fails(UNLINK))
		return -1;
	return __real_unlinkat(dirfd, name, flags);
}

/* ----------------------------------------------------------------- callbacks */

static int64_t
now_ns(void *context)
{
	(void) context;
	return disk.now;
}

static void
check_interrupts(void *context)
{
	(void) context;
	if (++disk.checks == disk.jump_at)
		longjmp(disk.jump, 1);
}

static void
sleep_until(void *context, int64_t deadline)
{
	(void) context;
	if (deadline > disk.now)
	{
		disk.slept += deadline - disk.now;
		disk.now = deadline;
	}
}

/* callbacks may change errno */
static void
nothing(void *context)
{
	(void) context;
	errno = EDOM;
}

static void
round_done(void *context)
{
	(void) context;
	disk.rounds++;
}

static void
check_space(void *context, int64_t bytes)
{
	(void) context;
	assert_int_equal(bytes, SEGMENT);
	disk.spaces++;
}

/* --------------------------------------------------------------------- stage */

static void
set_flush_costs(int recycled_us, int zero_filled_us, int sparse_us)
{
	disk.flush_cost[SP_RECYCLED] = recycled_us * SP_NS_PER_US;
	disk.flush_cost[SP_ZERO_FILLED] = zero_filled_us * SP_NS_PER_US;
	disk.flush_cost[SP_SPARSE] = sparse_us * SP_NS_PER_US;
}

/* A plan and a disk in order: a segment has 128 flushes of 0.3 ms, or 38 ms. */
static void
plan(bool wal_recycle, bool wal_init_zero)
{
	sp_server	server = {
		.current = sp_sync_method_find("fdatasync"),
		.segment_size = SEGMENT, .init_write_size = FILL, .flush_size = FLUSH,
		.wal_recycle = wal_recycle, .wal_init_zero = wal_init_zero
	};

	memset(&disk, 0, sizeof(disk));
	memset(probe, 0, sizeof(*probe));
	memset(disk.kind_of, -1, sizeof(disk.kind_of));
	disk.seed = 1;
	disk.noise = 0.02;
	for (int call = 0; call < CALLS; call++)
		disk.cost[call] = 10 * SP_NS_PER_US;
	disk.cost[FSYNC] = SP_NS_PER_MS;
	set_flush_costs(300, 300, 300);
	probe->buffer = buffer;
	probe->duration_ns = 60 * SP_NS_PER_S;
	probe->duty_cycle = 1;
	probe->margin = 0.05;
	probe->stop_early = true;
	probe->random_seed = 42;
	probe->callbacks = (sp_callbacks) {
		.now_ns = now_ns, .check_interrupts = check_interrupts, .sleep_until = sleep_until,
		.operation_begin = nothing, .operation_end = nothing, .round_done = round_done,
		.check_space = check_space,
	};
	sp_probe_plan(probe, &sp_suite_segments, &server);
}

/* As the caller does before a run. */
static void
make_old_segments(void)
{
	for (int i = 0; i < probe->nfiles; i++)
	{
		sp_file    *file = &probe->files[i];
		struct stat status;

		snprintf(file->name, SP_NAME_LEN, "xlogtemp.1.sync_probe.%d", i);
		snprintf(file->other_name, SP_NAME_LEN, "xlogtemp.1.sync_probe.%d", i + SP_MAX_FILES);
		file->directory_fd = directory_fd;
		file->create_mode = 0600;
		if (file->made_by_engine)
			continue;
		file->fd = __real_openat(directory_fd, file->name, O_RDWR | O_CREAT | O_EXCL, 0600);
		assert_true(file->fd >= 0 && fstat(file->fd, &status) == 0);
		disk.kind_of[file->fd] = SP_RECYCLED;
		file->exists = true;
		file->device = status.st_dev;
		file->inode = status.st_ino;
	}
}

static int
count_files(void)
{
	DIR		   *files = opendir(directory);
	struct dirent *sample;
	int			n = 0;

	assert_non_null(files);
	while ((sample = readdir(files)) != NULL)
		n += sample->d_name[0] != '.';
	closedir(files);
	return n;
}

static int
count_old(void)
{
	int			n = 0;

	for (int i = 0; i < probe->nfiles; i++)
		n += !probe->files[i].made_by_engine;
	return n;
}

/* As the caller does at the end of a run: it closes and removes what is there. */
static void
remove_files(void)
{
	for (int i = 0; i < probe->nfiles; i++)
	{
		sp_file    *file = &probe->files[i];

		if (file->fd >= 0)
			(void) __real_close(file->fd);
		if (file->exists)
			assert_int_equal(__real_unlinkat(directory_fd, file->name, 0), 0);
	}
	assert_int_equal(count_files(), 0);
}

static void __attribute__((noinline))
run_armed(void)
{
	disk.armed = true;
	if (setjmp(disk.jump) == 0)
		sp_probe_run(probe);
	disk.armed = false;
}

/* A whole run, and the rules that hold for each. */
static void
run(void)
{
	make_old_segments();
	run_armed();
	assert_int_equal(disk.wrong_calls, 0);
	if (disk.jump_at == 0)
	{
		assert_int_equal(count_files(), count_old());
		assert_int_equal(disk.rounds, probe->rounds[SP_SATURATED]);
	}
	remove_files();
}

static int
case_of(sp_segment_part part, sp_segment_kind kind, bool control)
{
	for (int i = 0; i < probe->segments.nslots; i++)
	{
		const sp_segment_slot *slot = &probe->segments.slots[i];

		if (slot->kind == kind && slot->control == control)
			return sp_segment_case(probe, part, slot->file);
	}
	return -1;
}

static const sp_result *
result(sp_segment_part part, sp_segment_kind kind)
{
	int			c = case_of(part, kind, false);

	assert_true(c >= 0);
	return &probe->results[c];
}

static sp_verdict
verdict(sp_segment_part part, const char **recommended)
{
	sp_comparison comparison;
	sp_judgement judgement;

	assert_true(sp_segments_judge(probe, part, &comparison, &judgement));
	*recommended = judgement.verdict != SP_SWITCH ? NULL :
		comparison.candidates[judgement.recommended].name;
	return judgement.verdict;
}

/* --------------------------------------------------------------------- plans */

TEST(plans_what_the_settings_say)
{
	static const struct
	{
		bool		recycle;
		bool		init_zero;
		sp_segment_kind current;
		sp_segment_kind created;
		int			slots;
	}			rows[] =
	{
		{true, true, SP_RECYCLED, SP_ZERO_FILLED, 5},
		{true, false, SP_RECYCLED, SP_SPARSE, 5},
		{false, true, SP_ZERO_FILLED, SP_ZERO_FILLED, 4},
		{false, false, SP_SPARSE, SP_SPARSE, 4},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		plan(rows[i].recycle, rows[i].init_zero);
		assert_int_equal(probe->segments.nslots, rows[i].slots);
		assert_int_equal(probe->nfiles, rows[i].slots);
		assert_int_equal(probe->segments.all_flushes, 128);
		for (int part = SP_WHOLE_SEGMENT; part < SP_SEGMENT_PARTS; part++)
		{
			sp_segment_kind baseline = part == SP_NEW_SEGMENT || part == SP_REMOVAL ?
				rows[i].created : rows[i].current;

			for (int kind = 0; kind < SP_SEGMENT_KINDS; kind++)
			{
				int			c = case_of(part, kind, false);

				assert_int_equal(c >= 0, kind != SP_RECYCLED ||
							 (part != SP_NEW_SEGMENT && part != SP_REMOVAL));
				if (c < 0)
					continue;
				assert_int_equal(probe->cases[c].baseline, case_of(part, baseline, false));
				assert_int_equal(probe->cases[c].candidate, part <= SP_NEW_SEGMENT);
				assert_false(probe->cases[c].control);
			}
			assert_true(case_of(part, baseline, true) >= 0);
			assert_int_equal(probe->cases[case_of(part, baseline, true)].baseline,
							 case_of(part, baseline, false));
		}
		/* rows come first, and the kinds of each test in one order */
		assert_string_equal(probe->cases[0].test, "segment");
		assert_string_equal(probe->cases[0].label, "recycle");
		assert_string_equal(probe->cases[1].label, "zero_fill");
		assert_string_equal(probe->cases[2].label, "sparse");
		assert_false(sp_suite_shrink_files(probe));
	}
}

TEST(bounds_what_is_large)
{
	sp_server	server = {
		.current = sp_sync_method_find("fsync"), .segment_size = INT64_C(1) << 30,
		.init_write_size = FILL, .flush_size = SP_WAL_FILE_MAX_SIZE
	};

	sp_probe_plan(memset(probe, 0, sizeof(*probe)), &sp_suite_segments, &server);
	assert_int_equal(probe->files[0].size, SP_WAL_FILE_MAX_SIZE);
	assert_int_equal(probe->segments.all_flushes, 1);
}

/* --------------------------------------------------------------------- calls */

/* What is done with a segment of that kind, without its flushes. */
static const char *
calls_of(sp_segment_kind kind)
{
	plan(true, true);
	make_old_segments();
	disk.armed = true;
	for (int i = 0; i < probe->segments.nslots; i++)
	{
		const sp_segment_slot *slot = &probe->segments.slots[i];
		sp_segment_work work = {
			.probe = probe, .file = &probe->files[slot->file], .limit = INT64_MAX
		};

		if (slot->kind != kind || slot->control)
			continue;
		assert_int_equal(sp_segment_make(&work, kind), SP_SEGMENT_DONE);
		assert_true(work.file->fd >= 0 && work.file->exists);
		assert_int_equal(count_files(), count_old() + (kind != SP_RECYCLED));
		/* what the engine opens for itself takes no time that counts */
		assert_true(work.ns > 0 && work.ns <= disk.now);
		disk.log[disk.nlog++] = ' ';
		if (kind != SP_RECYCLED)
			assert_int_equal(sp_segment_remove(&work), SP_SEGMENT_DONE);
	}
	disk.armed = false;
	remove_files();
	return disk.log;
}

/* O open, V pwritev, W pwrite, S fsync, C close, R rename, U unlink */
TEST(does_what_the_server_does)
{
	/* four writes of 256 kB; durable_rename(); and the descriptor for the flushes */
	assert_string_equal(calls_of(SP_ZERO_FILLED), "OVVVVSC" "OSCROSCS" "O CUS");
	assert_string_equal(calls_of(SP_SPARSE), "OWSC" "OSCROSCS" "O CUS");
	assert_string_equal(calls_of(SP_RECYCLED), "C" "OSCROSCS" "O ");
}

TEST(measures_every_kind)
{
	plan(true, true);
	run();
	for (int c = 0; c < probe->ncases; c++)
	{
		assert_int_equal(probe->results[c].status, SP_OK);
		assert_true(probe->results[c].histogram.ops > 0);
		assert_int_equal(probe->results[c].series.n, probe->rounds[SP_SATURATED]);
	}
	/* four of five segments are made, in each round and in the one that is not counted */
	assert_int_equal(disk.spaces, 3 * (disk.rounds + 1));
	assert_true(probe->segments.first_flushes == 128);
	/* 4 writes and 4 syncs, 1 write and 4 syncs, 3 syncs; the rest are calls of 10 us */
	assert_true(sp_histogram_mean_ns(&result(SP_CREATION, SP_ZERO_FILLED)->histogram) > 4e6);
	assert_true(sp_histogram_mean_ns(&result(SP_CREATION, SP_ZERO_FILLED)->histogram) < 4.2e6);
	assert_true(sp_histogram_mean_ns(&result(SP_CREATION, SP_RECYCLED)->histogram) > 3e6);
	assert_true(sp_histogram_mean_ns(&result(SP_CREATION, SP_RECYCLED)->histogram) < 3.1e6);
}

/* With few flushes measured, the whole is their mean, as often as a segment has one. */
TEST(adds_creation_and_all_flushes)
{
	double		whole;

	plan(true, true);
	disk.noise = 0;
	probe->duration_ns = 2 * SP_NS_PER_S;
	run();
	assert_uint_in_range(probe->segments.first_flushes, 8, 100);
	/* 128 flushes of 320 us with their write, and 4 syncs, 4 writes and 6 calls */
	whole = sp_histogram_mean_ns(&result(SP_WHOLE_SEGMENT, SP_ZERO_FILLED)->histogram);
	assert_true(fabs(whole / (128 * 320e3 + 4e6 + 120e3) - 1) < 0.01);
	assert_true(sp_histogram_mean_ns(&result(SP_NEW_SEGMENT, SP_ZERO_FILLED)->histogram) == whole);
	assert_true(probe->finished_ns - probe->started_ns <= probe->duration_ns);
	assert_true(probe->rounds[SP_SATURATED] >= 16);
}

/* ------------------------------------------------------------------- verdicts */

TEST(judges_the_kinds)
{
	static const struct
	{
		bool		recycle;
		bool		init_zero;
		int			flush_us[SP_SEGMENT_KINDS];
		sp_verdict	whole;
		const char *whole_kind; /* recommended, or NULL */
		sp_verdict	created;
		const char *created_kind;
	}			rows[] =
	{
		/* to allocate costs: as on ext4 */
		{true, true, {300, 300, 600}, SP_KEEP, NULL, SP_KEEP, NULL},
		{true, false, {300, 300, 600}, SP_KEEP, NULL, SP_SWITCH, "zero_fill"},
		{false, false, {300, 300, 600}, SP_SWITCH, "recycle", SP_SWITCH, "zero_fill"},
		/* old segments cost, new ones do not: what the manual expects of copy on write */
		{true, true, {600, 300, 250}, SP_SWITCH, "sparse", SP_SWITCH, "sparse"},
		{false, true, {600, 300, 250}, SP_SWITCH, "sparse", SP_SWITCH, "sparse"},
		{false, false, {600, 300, 250}, SP_KEEP, NULL, SP_KEEP, NULL},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		const char *kind;

		plan(rows[i].recycle, rows[i].init_zero);
		/* what a segment costs beside its flushes */
		disk.cost[FSYNC] = 2 * SP_NS_PER_MS;
		set_flush_costs(rows[i].flush_us[0], rows[i].flush_us[1], rows[i].flush_us[2]);
		run();
		assert_int_equal(verdict(SP_WHOLE_SEGMENT, &kind), rows[i].whole);
		assert_true(rows[i].whole_kind ? strcmp(kind, rows[i].whole_kind) == 0 : kind == NULL);
		assert_int_equal(verdict(SP_NEW_SEGMENT, &kind), rows[i].created);
		assert_true(rows[i].created_kind ? strcmp(kind, rows[i].created_kind) == 0 : kind == NULL);
		/* such differences are settled at the first look, after a quarter of the time */
		assert_true(probe->done);
		assert_int_equal(probe->looks, 1);
		assert_uint_in_range(probe->finished_ns - probe->started_ns,
							 15 * SP_NS_PER_S, 16 * SP_NS_PER_S);
	}
}

/* ----------------------------------------------------------------------- time */

TEST(rests_as_the_duty_cycle_says)
{
	plan(true, true);
	probe->stop_early = false;
	probe->duty_cycle = 0.25;
	probe->duration_ns = 20 * SP_NS_PER_S;
	run();
	assert_uint_in_range(disk.slept, 14 * SP_NS_PER_S, 16 * SP_NS_PER_S);
	assert_true(probe->rounds[SP_SATURATED] >= 16);
}

/* A disk that becomes slow gets fewer flushes in a round, not fewer rounds. */
TEST(adapts_to_a_disk_that_slows_down)
{
	plan(true, true);
	probe->stop_early = false;
	probe->duration_ns = 10 * SP_NS_PER_S;
	disk.slow_from = SP_NS_PER_S / 2;
	run();
	assert_true(probe->rounds[SP_SATURATED] >= 16);
	assert_uint_in_range(probe->segments.fewest_flushes, 8, 64);
	assert_true(probe->finished_ns - probe->started_ns <= probe->duration_ns);
}

/* -------------------------------------------------------------------- failures */

/* The slots whose cases have failed: exactly one, unless nothing did. */
static void
check_failure(fake_call call, int error)
{
	int			failed = 0;

	for (int i = 0; i < probe->segments.nslots; i++)
	{
		int			file = probe->segments.slots[i].file;
		bool		first = true;
		bool		slot_failed = false;

		for (int c = 0; c < probe->ncases; c++)
		{
			const sp_result *of_case = &probe->results[c];

			if (probe->cases[c].file != file)
				continue;
			if (first)
				slot_failed = of_case->status == SP_ERROR;
			first = false;
			if (!slot_failed)
			{
				assert_int_equal(of_case->status, SP_OK);
				assert_true(of_case->histogram.ops > 0);
				continue;
			}
			assert_int_equal(of_case->status, SP_ERROR);
			assert_int_equal(of_case->error_number, error);
			assert_string_equal(of_case->error_call, call_names[call]);
			assert_true(isnan(of_case->speed.low));
		}
		failed += slot_failed;
	}
	assert_int_equal(failed, 1);
}

static void
check_no_failure(void)
{
	for (int c = 0; c < probe->ncases; c++)
		assert_int_equal(probe->results[c].status, SP_OK);
	assert_true(probe->rounds[SP_SATURATED] > 0);
}

/* The n-th call fails, for all n of the first rounds. */
static int
fail_each_call(fake_call call, int error)
{
	int			runs = 0;

	for (int n = 1; n <= 120; n++)
	{
		bool		clean_up;

		plan(n % 2, n % 3);
		probe->duration_ns = 300 * SP_NS_PER_MS;
		probe->stop_early = false;
		disk.fail_call = call;
		disk.fail_errno = error;
		disk.fail_at = n;
		run();
		if (!disk.failed)
			break;
		runs++;
		/* what is closed before it gets another name was synced */
		clean_up = call == CLOSE && probe->results[0].status == SP_OK;
		for (int c = 0; clean_up && c < probe->ncases; c++)
			clean_up = probe->results[c].status != SP_ERROR;
		if (error == EINTR || clean_up)
			check_no_failure();
		else
			check_failure(call, error == SHORT_WRITE ? EDQUOT : error);
	}
	return runs;
}

TEST(survives_the_failure_of_any_call)
{
	static const int errors[] = {EIO, ENOSPC, EINTR};

	for (int call = 0; call < CALLS; call++)
	{
		for (size_t i = 0; i < lengthof(errors); i++)
			assert_true(fail_each_call(call, errors[i]) > 10);
	}
	assert_true(fail_each_call(PWRITEV, SHORT_WRITE) > 10);
}

/* Zeros that were written in part are written on from there. */
TEST(finishes_a_short_write)
{
	sp_segment_work work = {.probe = probe, .limit = INT64_MAX};

	plan(true, true);
	make_old_segments();
	work.file = &probe->files[probe->cases[case_of(SP_CREATION, SP_ZERO_FILLED, false)].file];
	disk.fail_call = PWRITEV;
	disk.fail_at = 1;
	disk.fail_errno = SHORT_WRITE;
	disk.rest_can_be_written = true;
	disk.armed = true;
	assert_int_equal(sp_segment_make(&work, SP_ZERO_FILLED), SP_SEGMENT_DONE);
	/* half a write, and what is left in whole ones */
	assert_memory_equal(disk.log, "OVVVVVSC", 8);
	assert_int_equal(work.position, SEGMENT);
	sp_segment_discard(work.file);
	disk.armed = false;
	assert_int_equal(disk.wrong_calls, 0);
	remove_files();
}

/* An interrupt leaves by a jump: the caller finds every file by its name. */
TEST(can_be_interrupted_anywhere)
{
	for (long n = 1;; n++)
	{
		plan(n % 2, n % 3);
		probe->duration_ns = 300 * SP_NS_PER_MS;
		disk.jump_at = n;
		run();
		if (disk.checks < n || n > 400)
			break;
		assert_int_equal(disk.checks, n);
	}
}

/* Another file has the name that a segment would get: it stays. */
TEST(replaces_no_file)
{
	const char *name = "xlogtemp.1.sync_probe.49";	/* of the second slot */
	int			fd = __real_openat(directory_fd, name, O_RDWR | O_CREAT | O_EXCL, 0600);
	struct stat before;
	struct stat after;

	assert_true(fd >= 0 && fstat(fd, &before) == 0);
	plan(true, true);
	make_old_segments();
	run_armed();
	assert_int_equal(fstatat(directory_fd, name, &after, 0), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_int_equal(result(SP_CREATION, SP_ZERO_FILLED)->status, SP_ERROR);
	assert_int_equal(result(SP_CREATION, SP_ZERO_FILLED)->error_number, EEXIST);
	assert_int_equal(result(SP_CREATION, SP_SPARSE)->status, SP_OK);
	(void) __real_close(fd);
	assert_int_equal(__real_unlinkat(directory_fd, name, 0), 0);
	remove_files();
}

/* A file that took the place of ours is not removed. */
TEST(removes_no_other_file)
{
	sp_segment_work work;
	int			fd;

	plan(true, true);
	make_old_segments();
	disk.armed = true;
	work = (sp_segment_work) {.probe = probe, .file = &probe->files[2], .limit = INT64_MAX};
	assert_int_equal(sp_segment_make(&work, SP_SPARSE), SP_SEGMENT_DONE);
	disk.armed = false;
	assert_int_equal(__real_renameat(directory_fd, work.file->name, directory_fd, "moved"), 0);
	fd = __real_openat(directory_fd, work.file->name, O_RDWR | O_CREAT | O_EXCL, 0600);
	disk.armed = true;
	assert_int_equal(sp_segment_remove(&work), SP_SEGMENT_FAILED);
	assert_int_equal(errno, ESTALE);
	sp_segment_discard(work.file);
	disk.armed = false;
	assert_int_equal(faccessat(directory_fd, work.file->name, F_OK, 0), 0);
	(void) __real_close(fd);
	assert_int_equal(__real_unlinkat(directory_fd, work.file->name, 0), 0);
	assert_int_equal(__real_unlinkat(directory_fd, "moved", 0), 0);
	remove_files();
}

/* A file that could not be removed is still known: the caller removes it, or says so. */
TEST(forgets_no_file)
{
	sp_segment_work work;

	plan(true, true);
	make_old_segments();
	work = (sp_segment_work) {.probe = probe, .file = &probe->files[2], .limit = INT64_MAX};
	disk.armed = true;
	assert_int_equal(sp_segment_make(&work, SP_SPARSE), SP_SEGMENT_DONE);
	disk.fail_call = UNLINK;
	disk.fail_at = disk.seen[UNLINK] + 1;
	disk.fail_errno = EIO;
	sp_segment_discard(work.file);
	assert_true(disk.failed);
	assert_true(work.file->exists);
	sp_segment_discard(work.file);
	disk.armed = false;
	assert_false(work.file->exists);
	assert_int_not_equal(faccessat(directory_fd, work.file->name, F_OK, 0), 0);
	remove_files();
}

/* --------------------------------------------------------------------- set-up */

static int
set_up(void **state)
{
	(void) state;
	strcpy(directory, "/tmp/sp_segments_XXXXXX");
	memset(buffer, 'x', SP_BUFFER_SIZE);
	directory_fd = mkdtemp(directory) == NULL ? -1 :
		open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return directory_fd < 0 ? -1 : 0;
}

static int
tear_down(void **state)
{
	(void) state;
	(void) __real_close(directory_fd);
	return rmdir(directory);
}

TEST_MAIN(set_up, tear_down)
