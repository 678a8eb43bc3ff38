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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "engine/measure/segments.h"

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
static sp_segments segments;
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
		/* the slot is in the name, see make_old_segments() */
		disk.kind_of[fd] = segments.slots[atoi(strrchr(name, '.') + 1) % SP_MAX_FILES].kind;
		disk.sync_failed[fd] = false;
	}
	return fd;
}

static ssize_t
fake_write(fake_call call, int fd, size_t size, off_t offset)
{
	disk.wrong_calls += offset + (off_t) size > SEGMENT || disk.sync_failed[fd];
	if (!fails(call))
		return (ssize_t) size;
	if (disk.fail_errno != SHORT_WRITE)
		return -1;
	if (!disk.rest_can_be_written)
	{
		/* the call after it reports why */
		disk.fail_at++;
		disk.fail_errno = EDQUOT;
	}
	return (ssize_t) size / 2;
}

ssize_t
__wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	(void) data;
	return fake_write(PWRITE, fd, size, offset);
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
	disk.wrong_calls += size > FILL;
	return fake_write(PWRITEV, fd, size, offset);
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
	disk.now += (int64_t) ((double) disk.flush_cost[disk.kind_of[fd]] *
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
	disk.wrong_calls += dirfd != directory_fd || to != directory_fd;
	return fails(RENAME) ? -1 : __real_renameat(dirfd, name, to, other);
}

int
__wrap_unlinkat(int dirfd, const char *name, int flags)
{
	return disk.armed && fails(UNLINK) ? -1 : __real_unlinkat(dirfd, name, flags);
}

/* ----------------------------------------------------------------- callbacks */

static int64_t
now_ns(void *context __attribute__((unused)))
{
	return disk.now;
}

static void
check_interrupts(void *context __attribute__((unused)))
{
	if (++disk.checks == disk.jump_at)
		longjmp(disk.jump, 1);
}

static void
sleep_until(void *context __attribute__((unused)), int64_t deadline)
{
	if (deadline > disk.now)
	{
		disk.slept += deadline - disk.now;
		disk.now = deadline;
	}
}

/* callbacks may change errno */
static void
nothing(void *context __attribute__((unused)))
{
	errno = EDOM;
}

static void
round_done(void *context __attribute__((unused)))
{
	disk.rounds++;
}

static void
check_space(void *context __attribute__((unused)), int64_t bytes)
{
	assert_int_equal(bytes, SEGMENT);
	disk.spaces++;
}

/* --------------------------------------------------------------------- stage */

static void
plan_for(const sp_server *server)
{
	memset(probe, 0, sizeof(*probe));
	memset(&segments, 0, sizeof(segments));
	probe->data = &segments;
	sp_probe_plan(probe, &sp_suite_segments, server);
}

/* A plan and a disk in order: a segment has 128 flushes of 0.3 ms, or 38 ms. */
static void
plan(bool wal_recycle, bool wal_init_zero)
{
	plan_for(&(sp_server) {
		.current = sp_sync_method_find("fdatasync"),
		.segment_size = SEGMENT, .init_write_size = FILL, .flush_size = FLUSH,
		.wal_recycle = wal_recycle, .wal_init_zero = wal_init_zero
	});
	memset(&disk, 0, sizeof(disk));
	disk.seed = 1;
	disk.noise = 0.02;
	for (int call = 0; call < CALLS; call++)
		disk.cost[call] = 10 * SP_NS_PER_US;
	disk.cost[FSYNC] = SP_NS_PER_MS;
	for (int kind = 0; kind < SP_SEGMENT_KINDS; kind++)
		disk.flush_cost[kind] = 300 * SP_NS_PER_US;
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
}

/* As the caller does before a run. */
static void
make_old_segments(void)
{
	for (int i = 0; i < probe->nfiles; i++)
	{
		sp_file    *file = &probe->files[i];
		struct stat status;

		snprintf(file->name, SP_NAME_LEN, "segment.%d", i);
		snprintf(file->other_name, SP_NAME_LEN, "segment.%d", i + SP_MAX_FILES);
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
	disk.armed = true;
}

static int
count_files(void)
{
	DIR		   *files = opendir(directory);
	struct dirent *entry;
	int			n = 0;

	assert_non_null(files);
	while ((entry = readdir(files)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(files);
	return n;
}

/* As the caller does at the end of a run: it closes and removes what is there. */
static void
remove_files(void)
{
	disk.armed = false;
	for (int i = 0; i < probe->nfiles; i++)
	{
		sp_file    *file = &probe->files[i];

		if (file->fd >= 0)
			(void) __real_close(file->fd);
		if (file->exists)
			assert_int_equal(__real_unlinkat(directory_fd, file->name, 0), 0);
	}
	assert_int_equal(count_files(), 0);
	assert_int_equal(disk.wrong_calls, 0);
}

static void __attribute__((noinline))
run_armed(void)
{
	if (setjmp(disk.jump) == 0)
		sp_probe_run(probe);
}

/* A whole run, after which none is left of the files that it made. */
static void
run(void)
{
	int			old = 0;

	make_old_segments();
	run_armed();
	for (int i = 0; i < probe->nfiles; i++)
		old += !probe->files[i].made_by_engine;
	if (disk.jump_at == 0)
		assert_int_equal(count_files(), old);
	remove_files();
}

/* The first slot of a kind is not its control. */
static int
case_of(sp_segment_part part, sp_segment_kind kind, bool control)
{
	for (int i = 0; i < segments.nslots; i++)
	{
		if (segments.slots[i].kind == kind && segments.slots[i].control == control)
			return segments.slots[i].cases[part];
	}
	return -1;
}

static const sp_result *
result(sp_segment_part part, sp_segment_kind kind)
{
	return &probe->results[case_of(part, kind, false)];
}

/* Of a segment that is made by hand: the first of a kind. */
static sp_segment_work
work_on(sp_segment_kind kind)
{
	make_old_segments();
	return (sp_segment_work) {
		.probe = probe, .limit = INT64_MAX, .fill_write_size = FILL,
		.file = &probe->files[probe->cases[case_of(SP_CREATION, kind, false)].file]
	};
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
		assert_int_equal(probe->nfiles, rows[i].slots);
		assert_int_equal(segments.all_flushes, 128);
		for (int part = 0; part < SP_SEGMENT_PARTS; part++)
		{
			bool		of_new = part == SP_NEW_SEGMENT || part == SP_REMOVAL;
			sp_segment_kind kind = of_new ? rows[i].created : rows[i].current;
			int			baseline = case_of(part, kind, false);

			assert_int_equal(case_of(part, SP_RECYCLED, false) < 0, of_new);
			for (kind = of_new ? SP_ZERO_FILLED : SP_RECYCLED; kind < SP_SEGMENT_KINDS; kind++)
			{
				const sp_test_case *test_case = &probe->cases[case_of(part, kind, false)];

				assert_int_equal(test_case->baseline, baseline);
				assert_int_equal(test_case->candidate, part <= SP_NEW_SEGMENT);
			}
			assert_int_equal(sp_control_of(probe, baseline),
							 case_of(part, of_new ? rows[i].created : rows[i].current, true));
		}
		/* rows come in one order */
		assert_string_equal(probe->cases[0].label, "recycle");
		assert_string_equal(probe->cases[1].label, "zero_fill");
		assert_string_equal(probe->cases[2].label, "sparse");
		assert_false(sp_suite_shrink_files(probe));
	}
	/* larger files and flushes than the engine writes */
	plan_for(&(sp_server) {
		.current = sp_sync_method_find("fsync"), .segment_size = INT64_C(1) << 30,
		.flush_size = SP_WAL_FILE_MAX_SIZE
	});
	assert_int_equal(probe->files[0].size, SP_WAL_FILE_MAX_SIZE);
	assert_int_equal(segments.all_flushes, 1);
}

/* --------------------------------------------------------------------- calls */

/* O open, V pwritev, W pwrite, S fsync, C close, R rename, U unlink */
TEST(does_what_the_server_does)
{
	/* four writes of 256 kB; durable_rename(); and the descriptor for the flushes */
	static const char *const calls[SP_SEGMENT_KINDS] = {
		[SP_RECYCLED] = "C" "OSCROSCS" "O",
		[SP_ZERO_FILLED] = "OVVVVSC" "OSCROSCS" "O" "CUS",
		[SP_SPARSE] = "OWSC" "OSCROSCS" "O" "CUS",
	};

	for (int kind = 0; kind < SP_SEGMENT_KINDS; kind++)
	{
		sp_segment_work work;

		plan(true, true);
		work = work_on(kind);
		assert_int_equal(sp_segment_make(&work, kind), SP_SEGMENT_DONE);
		/* what the engine opens for itself takes no time that counts */
		assert_true(work.ns > 0 && work.ns <= disk.now);
		if (kind != SP_RECYCLED)
			assert_int_equal(sp_segment_remove(&work), SP_SEGMENT_DONE);
		assert_string_equal(disk.log, calls[kind]);
		remove_files();
	}
}

/* With few flushes measured, the whole is their mean, as often as a segment has one. */
TEST(adds_creation_and_all_flushes)
{
	double		whole;

	plan(true, true);
	disk.noise = 0;
	probe->duration_ns = 2 * SP_NS_PER_S;
	run();
	for (int c = 0; c < probe->ncases; c++)
	{
		assert_int_equal(probe->results[c].status, SP_OK);
		assert_int_equal(probe->results[c].series.n, probe->rounds[SP_SATURATED]);
	}
	/* three of five segments are made, in each round and in the one that is not counted */
	assert_int_equal(disk.spaces, 3 * (disk.rounds + 1));
	assert_uint_in_range(segments.first_flushes, 8, 100);
	/* 128 flushes of 320 us with their write, and 4 syncs, 4 writes and 6 calls */
	whole = sp_histogram_mean_ns(&result(SP_WHOLE_SEGMENT, SP_ZERO_FILLED)->histogram);
	assert_true(fabs(whole / (128 * 320e3 + 4e6 + 120e3) - 1) < 0.01);
	assert_true(sp_histogram_mean_ns(&result(SP_NEW_SEGMENT, SP_ZERO_FILLED)->histogram) == whole);
	assert_float_equal(sp_histogram_mean_ns(&result(SP_CREATION, SP_RECYCLED)->histogram),
					   3.05e6, 0.05e6);
	assert_true(probe->finished_ns - probe->started_ns <= probe->duration_ns);
	assert_true(probe->rounds[SP_SATURATED] >= 16);
}

/* ------------------------------------------------------------------- verdicts */

static void
check_verdict(const char *test, const char *recommended)
{
	sp_comparison comparison;
	sp_judgement judgement;

	assert_true(sp_segments_judge(probe, test, &comparison, &judgement));
	assert_int_equal(judgement.verdict, recommended ? SP_SWITCH : SP_KEEP);
	if (recommended)
		assert_string_equal(comparison.candidates[judgement.recommended].name, recommended);
}

TEST(judges_the_kinds)
{
	static const struct
	{
		bool		recycle;
		bool		init_zero;
		int			flush_us[SP_SEGMENT_KINDS];
		const char *whole;		/* recommended; NULL: keep */
		const char *created;
	}			rows[] =
	{
		/* to allocate costs: as on ext4 */
		{true, true, {300, 300, 600}, NULL, NULL},
		{true, false, {300, 300, 600}, NULL, "zero_fill"},
		{false, false, {300, 300, 600}, "recycle", "zero_fill"},
		/* old segments cost, new ones do not: what the manual expects of copy on write */
		{true, true, {600, 300, 250}, "sparse", "sparse"},
		{false, true, {600, 300, 250}, "sparse", "sparse"},
		{false, false, {600, 300, 250}, NULL, NULL},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		plan(rows[i].recycle, rows[i].init_zero);
		/* what a segment costs beside its flushes */
		disk.cost[FSYNC] = 2 * SP_NS_PER_MS;
		for (int kind = 0; kind < SP_SEGMENT_KINDS; kind++)
			disk.flush_cost[kind] = rows[i].flush_us[kind] * SP_NS_PER_US;
		run();
		check_verdict("segment", rows[i].whole);
		check_verdict("new_segment", rows[i].created);
		/* such differences are settled at the first look, after a quarter of the time */
		assert_true(probe->done);
		assert_uint_in_range(probe->finished_ns - probe->started_ns,
							 15 * SP_NS_PER_S, 16 * SP_NS_PER_S);
	}
}

/* A disk that becomes slow gets fewer flushes in a round, not fewer rounds; also with rests. */
TEST(adapts_to_a_disk_that_slows_down)
{
	static const double duty_cycles[] = {1, 0.25};

	for (size_t i = 0; i < lengthof(duty_cycles); i++)
	{
		double		slept;

		plan(true, true);
		probe->stop_early = false;
		probe->duration_ns = 20 * SP_NS_PER_S;
		probe->duty_cycle = duty_cycles[i];
		disk.slow_from = SP_NS_PER_S / 2;
		run();
		slept = (double) disk.slept / (double) (probe->finished_ns - probe->started_ns);
		assert_float_equal(slept, 1 - probe->duty_cycle, 0.02);
		assert_true(probe->rounds[SP_SATURATED] >= 16);
		assert_uint_in_range(segments.fewest_flushes, 8, 64);
		assert_true(probe->finished_ns - probe->started_ns <= probe->duration_ns);
	}
}

/* -------------------------------------------------------------------- failures */

/* The cases of one slot have the error, unless it was harmless; all others are measured. */
static void
check_failure(fake_call call, int error, bool harmless)
{
	int			failed_file = -1;

	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *one = &probe->results[c];

		if (one->status == SP_OK && probe->cases[c].file != failed_file)
		{
			assert_true(one->histogram.ops > 0);
			continue;
		}
		assert_true(failed_file < 0 || probe->cases[c].file == failed_file);
		failed_file = probe->cases[c].file;
		assert_int_equal(one->status, SP_ERROR);
		assert_int_equal(one->error_number, error);
		assert_string_equal(one->error_call, call_names[call]);
		assert_true(isnan(one->speed.low));
	}
	assert_true(harmless ? error != EINTR || failed_file < 0 : failed_file >= 0);
}

/* The n-th call fails, for all n of the first rounds. */
TEST(survives_the_failure_of_any_call)
{
	static const int errors[] = {EIO, ENOSPC, EINTR, SHORT_WRITE};

	for (int call = 0; call < CALLS; call++)
	{
		for (size_t i = 0; i < (call == PWRITEV ? lengthof(errors) : 3); i++)
		{
			int			n = 0;

			do
			{
				n++;
				plan(n % 2, n % 3);
				probe->duration_ns = 300 * SP_NS_PER_MS;
				probe->stop_early = false;
				disk.fail_call = call;
				disk.fail_errno = errors[i];
				disk.fail_at = n;
				run();
				/* what is closed before it gets another name was synced */
				check_failure(call, errors[i] == SHORT_WRITE ? EDQUOT : errors[i],
							  !disk.failed || errors[i] == EINTR || call == CLOSE);
			} while (disk.failed && n < 120);
			assert_true(n > 10);
		}
	}
}

/* Zeros that were written in part are written on from there. */
TEST(finishes_a_short_write)
{
	sp_segment_work work;

	plan(true, true);
	work = work_on(SP_ZERO_FILLED);
	disk.fail_call = PWRITEV;
	disk.fail_at = 1;
	disk.fail_errno = SHORT_WRITE;
	disk.rest_can_be_written = true;
	assert_int_equal(sp_segment_make(&work, SP_ZERO_FILLED), SP_SEGMENT_DONE);
	/* half a write, and what is left in whole ones */
	assert_memory_equal(disk.log, "OVVVVVSC", 8);
	assert_int_equal(work.position, SEGMENT);
	sp_segment_discard(work.file);
	remove_files();
}

/* An interrupt leaves by a jump: the caller finds every file by its name. */
TEST(can_be_interrupted_anywhere)
{
	for (long n = 1; n <= 400 && disk.checks >= n - 1; n++)
	{
		plan(n % 2, n % 3);
		probe->duration_ns = 300 * SP_NS_PER_MS;
		disk.jump_at = n;
		run();
	}
}

static ino_t
inode_of(const char *name)
{
	struct stat status;

	return fstatat(directory_fd, name, &status, 0) == 0 ? status.st_ino : 0;
}

/* Neither a file with the name that a segment would get nor one in its place is touched. */
TEST(touches_no_other_file)
{
	for (int later = 0; later < 2; later++)
	{
		sp_segment_work work;
		const char *name;
		ino_t		inode;

		plan(true, true);
		work = work_on(SP_SPARSE);
		name = work.file->other_name;
		if (later)
		{
			assert_int_equal(sp_segment_make(&work, SP_SPARSE), SP_SEGMENT_DONE);
			name = work.file->name;
			assert_int_equal(__real_unlinkat(directory_fd, name, 0), 0);
		}
		(void) __real_close(__real_openat(directory_fd, name, O_RDWR | O_CREAT | O_EXCL, 0600));
		inode = inode_of(name);
		if (later)
			assert_int_equal(sp_segment_remove(&work), SP_SEGMENT_FAILED);
		else
			assert_int_equal(sp_segment_make(&work, SP_SPARSE), SP_SEGMENT_FAILED);
		assert_int_equal(errno, later ? ESTALE : EEXIST);
		sp_segment_discard(work.file);
		assert_true(inode != 0 && inode_of(name) == inode);
		assert_int_equal(__real_unlinkat(directory_fd, name, 0), 0);
		remove_files();
	}
}

/* A file that could not be removed is still known: the caller removes it, or reports it. */
TEST(forgets_no_file)
{
	sp_segment_work work;

	plan(true, true);
	work = work_on(SP_SPARSE);
	assert_int_equal(sp_segment_make(&work, SP_SPARSE), SP_SEGMENT_DONE);
	disk.fail_call = UNLINK;
	disk.fail_at = 1;
	disk.fail_errno = EIO;
	sp_segment_discard(work.file);
	assert_true(disk.failed && work.file->exists);
	sp_segment_discard(work.file);
	assert_false(work.file->exists);
	remove_files();
}

/* --------------------------------------------------------------------- set-up */

static int
set_up(void **state)
{
	(void) state;
	strcpy(directory, "/tmp/sp_segments_XXXXXX");
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
