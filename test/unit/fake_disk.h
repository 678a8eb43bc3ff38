/*
 * A simulated disk and clock, for the tests of the timed loop.
 *
 * The linker replaces the calls of the engine (--wrap).  Each takes a set time
 * on a simulated clock, so that a run of minutes takes milliseconds and is the
 * same every time.  Any one call can be made to fail.  The files are real, but the
 * writes are not.  The suite segments makes, renames and removes real files.
 *
 * Rules that must hold in every run are checked here: calls are made only within an
 * operation, on known descriptors with the flags of the method that uses them, never
 * beyond the end of a file, and never after a failed sync of the same file.
 */
#ifndef FAKE_DISK_H
#define FAKE_DISK_H

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "engine/measure/probe_internal.h"
#include "engine/measure/segments.h"
#include "engine/measure/stream.h"
#include "engine/verdict/verdict.h"

#define MILLISECOND		SP_NS_PER_MS
#define SECOND			SP_NS_PER_S
#define KILOBYTE		INT64_C(1024)
#define MEGABYTE		(1024 * KILOBYTE)
#define MAX_FD			64
#define MAX_RECORDS		100000
#define SHORT_WRITE		(-1)	/* in the place of an errno: a third of it */

typedef enum fake_call
{
	PWRITE, PWRITEV, OPENAT, FSTAT, CLOSE, FSYNC, FDATASYNC, RENAME, UNLINK, CALLS
} fake_call;

typedef struct call_record
{
	fake_call	call;
	int			file;
	int			home;			/* whose cases use it */
	int64_t		offset;
	int64_t		size;
	bool		cleans_up;		/* its operation began with a sync: the file moves */
	int64_t		at;				/* when it had been done */
} call_record;

typedef struct fake_disk
{
	bool		makes_files;	/* the suite segments: see wrong() */

	/* what the device counts for each sync, and for background I/O */
	uint64_t	sync_flushes;
	uint64_t	write_requests;
	double		background_flushes_per_second;
	int64_t		reading_cost;
	long		fail_reading_from;	/* the n-th reading and all later ones; 0: never */
	sp_counters counters;
	int64_t		last_reading;	/* when background I/O was counted last */
	int64_t		now;
	int64_t		tick;			/* time of reading the clock */
	int64_t		cost[CALLS];
	int64_t		home_cost[SP_MAX_FILES];	/* additional time of each sync and write of the
											 * method with this file, wherever it is */
	void		(*model) (int file, int home, bool moves);	/* adds the time of a flush, or of
															 * the sync of a move, to now */
	double		sd;				/* of the logarithm of the time of a write */
	uint64_t	seed;			/* for that */
	int64_t		fault_cost;		/* additional time of the call that fails */

	fake_call	fail_call;
	int			fail_at;		/* the n-th of them, from 1; 0 never; -n: and all later ones */
	int			fail_errno;
	int			rest_errno;		/* of the rest of a short write; 0 succeeds */
	long		jump_at;		/* check of interrupts that jumps; 0 never */
	jmp_buf		jump;

	int			file_of[MAX_FD];	/* index into files, -1 unknown */
	int			flags_of[MAX_FD];	/* with which it was opened */

	/* What follows is that of the last run; see run_probe(). */
	int			failed_record;	/* index into records, or -1 */
	bool		was_short;		/* the last write, which has a rest */
	bool		sync_failed[SP_MAX_FILES];
	bool		in_operation;
	bool		has_written;	/* in this operation */
	bool		cleaning;		/* see cleans_up of the records */
	int64_t		operation_began;
	int64_t		longest_operation;
	int			reopened;		/* descriptors opened and not yet closed */
	const char *broken_rule;	/* of those above: the condition that held */
	int			calls[CALLS];
	long		operations;
	long		interrupt_checks;
	long		readings;
	long		rounds;
	int64_t		slept;
	int			nrecords;
	call_record records[MAX_RECORDS];
} fake_disk;

static fake_disk disk;
static sp_probe the_probe;
static sp_probe *const probe = &the_probe;
static char buffer[SP_WAL_FILE_MAX_SIZE] __attribute__((aligned(4096)));
static char directory[64];
static int	directory_fd;

static union
{
	sp_stream	stream;
	sp_segments segments;
}			suite_data;
static int64_t max_stream_bytes;	/* set before a plan; 0: unlimited */

/* What the linker puts in the place of the calls has no other declaration. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

extern int	__real_openat(int dirfd, const char *name, int flags,...);
extern int	__real_fstat(int fd, struct stat *status);
extern int	__real_renameat(int dirfd, const char *name, int to, const char *other);
extern int	__real_unlinkat(int dirfd, const char *name, int flags);
extern int	__real_close(int fd);

/* The file whose cases are at this one, or -1. */
static int
home_at(int file)
{
	for (int home = 0; file >= 0 && home < probe->nfiles; home++)
	{
		if (probe->rotation.in_use[home] == file)
			return home;
	}
	return -1;
}

/* Does a method use the descriptor of a file that was opened with other flags? */
static bool
has_wrong_flags(int fd)
{
	int			file = disk.file_of[fd];

	return probe->files[file].fd == fd &&
		disk.flags_of[fd] != sp_open_flags(&probe->files[home_at(file)]);
}

/*
 * A rule is broken if the condition holds.  Some are none for files that the engine makes: these
 * are also opened and closed beside the operations, and are open when interrupts are checked.
 */
#define wrong(is_wrong, of_made_files) \
	(void) ((is_wrong) && ((of_made_files) || !disk.makes_files) && (disk.broken_rule = #is_wrong))

/* Record a call.  Returns the errno with which it fails, or 0. */
static int
on_call(fake_call call, int file, int64_t offset, int64_t size)
{
	int			home = home_at(file);
	bool		writes = call == PWRITE || call == PWRITEV;
	bool		syncs = call == FSYNC || call == FDATASYNC;

	disk.cleaning = disk.cleaning || (syncs && !disk.has_written);
	disk.calls[call]++;
	disk.now += disk.sd == 0 || !writes ? disk.cost[call] :
		(int64_t) ((double) disk.cost[call] * exp(disk.sd * random_normal(&disk.seed)));
	wrong(!disk.in_operation || file < 0, false);
	if (file >= 0 && (writes || syncs))
	{
		disk.now += disk.home_cost[home];
		wrong(writes && (offset < 0 || offset + size > probe->files[file].size), true);
		wrong(disk.sync_failed[file], true);
	}
	if (disk.model && (writes || (syncs && !disk.has_written)))
		disk.model(file, home, syncs);
	disk.has_written = disk.has_written || writes;
	if (writes)
	{
		disk.counters.writes += disk.write_requests;
		disk.counters.written_bytes += (uint64_t) size * disk.write_requests;
	}
	if (syncs)
		disk.counters.flushes += disk.sync_flushes;
	if (disk.nrecords < MAX_RECORDS)
		disk.records[disk.nrecords++] = (call_record) {
			call, file, home, offset, size, disk.cleaning, disk.now
		};

	if (call != disk.fail_call || disk.fail_at == 0 || disk.calls[call] < abs(disk.fail_at) ||
		(disk.calls[call] > disk.fail_at && disk.fail_at > 0))
		return 0;
	disk.failed_record = disk.nrecords - 1;
	disk.now += disk.fault_cost;
	disk.counters.busy_ms += (uint64_t) (disk.fault_cost / SP_NS_PER_MS);
	disk.counters.request_ms = disk.counters.busy_ms;
	return disk.fail_errno;
}

static int
file_of(int fd)
{
	return fd >= 0 && fd < MAX_FD ? disk.file_of[fd] : -1;
}

static ssize_t
fake_write(fake_call call, int fd, const struct iovec *parts, int nparts, off_t offset)
{
	size_t		size = 0;
	int			failure;

	for (int i = 0; i < nparts; i++)
		size += parts[i].iov_len;
	failure = on_call(call, file_of(fd), offset, (int64_t) size);
	wrong(file_of(fd) >= 0 && has_wrong_flags(fd), false);
	if (failure == 0 && disk.was_short)
		failure = disk.rest_errno;
	disk.was_short = failure == SHORT_WRITE && size > 1;
	if (failure == SHORT_WRITE)
		return (ssize_t) size / 3;
	errno = failure;
	return failure == 0 ? (ssize_t) size : -1;
}

ssize_t
__wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	struct iovec part = {(void *) data, size};

	return fake_write(PWRITE, fd, &part, 1, offset);
}

ssize_t
__wrap_pwritev(int fd, const struct iovec *parts, int nparts, off_t offset)
{
	/* one page of zeros, again and again */
	for (int i = 0; i < nparts; i++)
		wrong(parts[i].iov_base != parts[0].iov_base || parts[i].iov_len > SP_WAL_PAGE_SIZE, true);
	return fake_write(PWRITEV, fd, parts, nparts, offset);
}

static int
file_of_name(const char *name)
{
	int			file = probe->nfiles - 1;

	while (file >= 0 && strcmp(probe->files[file].name, name) != 0)
		file--;
	return file;
}

int
__wrap_openat(int dirfd, const char *name, int flags,...)
{
	int			file = file_of_name(name);
	int			fd;

	if ((errno = on_call(OPENAT, file, 0, 0)) != 0)
		return -1;
	wrong((flags & O_NOFOLLOW) == 0, true);
	wrong((flags & O_CREAT) != 0 && (flags & O_EXCL) == 0, true);
	/* the flags are only looked at: a synced write would take its time */
	fd = __real_openat(dirfd, name, flags & ~(O_SYNC | O_DSYNC | O_DIRECT), 0600);
	if (fd < 0)
		return -1;
	assert_true(fd < MAX_FD);
	disk.file_of[fd] = file;
	disk.flags_of[fd] = flags;
	disk.reopened++;
	return fd;
}

/* Of files that the engine makes: without the inode nobody could remove one later. */
int
__wrap_fstat(int fd, struct stat *status)
{
	errno = disk.makes_files ? on_call(FSTAT, file_of(fd), 0, 0) : 0;
	return errno == 0 ? __real_fstat(fd, status) : -1;
}

/* A close that fails closes the descriptor all the same, as on Linux. */
int
__wrap_close(int fd)
{
	int			failure = on_call(CLOSE, file_of(fd), 0, 0);

	/* that one is the caller's, or another one takes its place */
	wrong(file_of(fd) >= 0 && probe->files[file_of(fd)].fd == fd &&
		  (!disk.cleaning || disk.reopened == 0), false);
	if (fd >= 0 && fd < MAX_FD)
		disk.file_of[fd] = -1;
	disk.reopened--;
	__real_close(fd);
	errno = failure;
	return failure == 0 ? 0 : -1;
}

int
__wrap_renameat(int dirfd, const char *name, int to, const char *other)
{
	errno = on_call(RENAME, file_of_name(name), 0, 0);
	return errno == 0 ? __real_renameat(dirfd, name, to, other) : -1;
}

int
__wrap_unlinkat(int dirfd, const char *name, int flags)
{
	errno = on_call(UNLINK, file_of_name(name), 0, 0);
	return errno == 0 ? __real_unlinkat(dirfd, name, flags) : -1;
}

static int
fake_sync(fake_call call, int fd)
{
	int			file = file_of(fd);
	int			failure = on_call(call, file, 0, 0);

	wrong(file >= 0 && disk.has_written && has_wrong_flags(fd), false);
	/* the directory has no other descriptor */
	if (file >= 0 && failure != 0 && failure != EINTR)
		disk.sync_failed[file] = true;
	errno = failure;
	return failure == 0 ? 0 : -1;
}

int
__wrap_fsync(int fd)
{
	return fake_sync(FSYNC, fd);
}

int
__wrap_fdatasync(int fd)
{
	return fake_sync(FDATASYNC, fd);
}

/* ----------------------------------- callbacks, which may change errno at any time */

static int64_t
fake_now_ns(void *context)
{
	assert_ptr_equal(context, &disk);
	errno = ENOTTY;
	return disk.now += disk.tick;
}

/* Both callbacks may jump, so no descriptor may be open and no operation running. */
static void
fake_check_interrupts(void *context)
{
	assert_ptr_equal(context, &disk);
	wrong(disk.in_operation, true);
	wrong(disk.reopened != 0, false);
	if (++disk.interrupt_checks == disk.jump_at)
		longjmp(disk.jump, 1);
}

static void
fake_sleep_until(void *context, int64_t deadline_ns)
{
	fake_check_interrupts(context);
	if (deadline_ns > disk.now)
	{
		disk.slept += deadline_ns - disk.now;
		disk.now = deadline_ns;
	}
}

static void
fake_operation_begin(void *context)
{
	(void) context;
	wrong(disk.in_operation, true);
	disk.in_operation = true;
	disk.has_written = disk.cleaning = false;
	disk.operation_began = disk.now;
	disk.operations++;
}

static void
fake_operation_end(void *context)
{
	(void) context;
	wrong(!disk.in_operation, true);
	disk.in_operation = false;
	if (disk.now - disk.operation_began > disk.longest_operation)
		disk.longest_operation = disk.now - disk.operation_began;
	errno = ENOTTY;
}

static void
fake_round_done(void *context)
{
	(void) context;
	disk.rounds++;
}

/*
 * The counters of the device.  Background I/O adds to them at random: in step
 * with the rounds it could hide in them.
 */
static inline bool
fake_read_counters(void *context, sp_counters counters[SP_LEVELS])
{
	double		seconds;

	assert_ptr_equal(context, &disk);
	wrong(disk.in_operation, true);
	disk.now += disk.reading_cost;
	seconds = (double) (disk.now - disk.last_reading) / SECOND;
	disk.counters.flushes += (uint64_t) (disk.background_flushes_per_second * seconds +
										 random_uniform(&disk.seed));
	disk.last_reading = disk.now;
	errno = ENOTTY;
	disk.readings++;
	if (disk.fail_reading_from > 0 && disk.readings >= disk.fail_reading_from)
		return false;
	counters[SP_LEVEL_DEVICE] = disk.counters;
	counters[SP_LEVEL_DEVICE].has_flushes = true;
	counters[SP_LEVEL_BACKING] = (sp_counters) {.has_flushes = true};
	return true;
}

/* -------------------------------------------------------------------- plans */

/* As the caller does at the end of a run: close and remove what is there. */
static void
close_files(void)
{
	for (int i = 0; i < probe->nfiles; i++)
	{
		sp_file    *file = &probe->files[i];

		if (file->fd >= 0)
			__real_close(file->fd);
		if (file->exists)
			__real_unlinkat(directory_fd, file->name, 0);
	}
	probe->nfiles = 0;
}

/* Create the files of a plan. */
static void
open_files(void)
{
	memset(disk.file_of, -1, sizeof(disk.file_of));
	for (int i = 0; i < probe->nfiles; i++)
	{
		sp_file    *file = &probe->files[i];

		snprintf(file->name, sizeof(file->name), "file%d", i);
		snprintf(file->other_name, sizeof(file->other_name), "other%d", i);
		file->directory_fd = directory_fd;
		file->create_mode = 0600;
		assert_int_equal(file->fd, -1);
		if (file->status != SP_OK || file->made_by_engine)
			continue;
		assert_null(sp_create_file(file));
		assert_int_equal(ftruncate(file->fd, file->size), 0);
	}
}

static void
forget_run(void)
{
	memset(&disk.failed_record, 0,
		   offsetof(fake_disk, records) - offsetof(fake_disk, failed_record));
	disk.failed_record = -1;
}

/*
 * The figures of these tests are those of four methods, or five where fsync_writethrough is one.
 * A method that the engine learns has its own tests, and is not measured here.
 */
static bool
is_known(const char *method)
{
	return strstr("open_datasync fdatasync fsync_writethrough open_sync", method) != NULL;
}

static void
leave_out_unknown_methods(void)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		sp_file    *file = &probe->files[probe->cases[c].file];

		if (file->method && !is_known(file->method->name))
			file->status = probe->results[c].status = SP_UNSUPPORTED;
	}
}

/* Defaults for a test: a fast disk, and a run on it. */
static void
plan_for(const sp_suite *suite, const sp_server *server)
{
	close_files();
	memset(probe, 0, sizeof(*probe));
	memset(&disk, 0, offsetof(fake_disk, records));
	memset(&suite_data, 0, sizeof(suite_data));
	probe->device = (sp_device_facts) {.write_cache = "", .backing_write_cache = ""};
	probe->data = &suite_data;
	probe->suite = suite;
	suite->plan(probe, server);
	leave_out_unknown_methods();

	probe->duration_ns = 100 * MILLISECOND;
	probe->flush_interval_ns = 5 * MILLISECOND;
	probe->duty_cycle = 1;
	probe->margin = 0.05;
	probe->random_seed = 42;
	probe->buffer = buffer;
	probe->callbacks = (sp_callbacks) {
		&disk, fake_now_ns, fake_check_interrupts, fake_sleep_until,
			fake_operation_begin, fake_operation_end, fake_round_done, NULL, NULL
	};
	disk.tick = 50;
	disk.cost[PWRITE] = disk.cost[PWRITEV] = 200 * 1000;
	disk.cost[FSYNC] = disk.cost[FDATASYNC] = 300 * 1000;
	open_files();
	forget_run();
}

static inline sp_server
server_with(const char *current)
{
	sp_server	server = {
		.current = current ? sp_sync_method_find(current) : NULL,
		.flush_size = 8192,.segment_size = 64 * KILOBYTE,.init_write_size = 262144
	};

	for (size_t i = 0; i < sp_sync_method_count; i++)
		server.offers[i] = is_known(sp_sync_methods[i].name);
	return server;
}

static inline void
plan_suite(const sp_suite *suite, const char *current, int flush_size, int64_t segment_size)
{
	sp_server	server = server_with(current);

	server.flush_size = flush_size;
	server.segment_size = segment_size;
	server.max_stream_bytes = max_stream_bytes;
	plan_for(suite, &server);
}

/* The wal suite, with the defaults of a server. */
static inline void
plan_wal(const char *current, int64_t duration)
{
	plan_suite(&sp_suite_wal, current, 8192, 64 * KILOBYTE);
	probe->duration_ns = duration;
}

/* Let the n-th of these calls fail; of errno 0 it only takes the time of a fault. */
static inline void
let_fail(fake_call call, int n, int error)
{
	disk.fail_call = call;
	disk.fail_at = n;
	disk.fail_errno = error;
}

#define FOR_EACH_MEASURED(c) \
	for (int c = 0; c < probe->ncases; c++) \
		if (probe->results[c].status == SP_OK)

/* Drop the cases of the other regime.  Those of one follow each other. */
static inline void
keep_regime(sp_regime regime)
{
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime != regime)
			continue;
		probe->cases[n] = probe->cases[c];
		probe->cases[n].baseline -= probe->cases[n].baseline >= 0 ? c - n : 0;
		n++;
	}
	probe->ncases = n;
}

/* Let every method stay at its first file. */
static inline void
stay_at_home(void)
{
	for (int i = 0; i < probe->nfiles; i++)
		probe->files[i].ring = 0;
}

/* One file for each case.  The others of the plan only move. */
static inline void
drop_copies(void)
{
	for (int i = 0; i < probe->nfiles; i++)
		probe->files[i].copy = -1;
}

/* Run from the start, and check that the rules held.  An interrupt leaves the engine by a jump. */
static inline void
run_probe(void)
{
	memset(&probe->started_ns, 0, sizeof(*probe) - offsetof(sp_probe, started_ns));
	forget_run();
	for (int i = 0; i < probe->nfiles; i++)
	{
		probe->files[i].position = 0;
		/* as the caller opens it: a run that has ended leaves the flags of another method */
		if (probe->files[i].fd >= 0)
			disk.flags_of[probe->files[i].fd] = sp_open_flags(&probe->files[i]);
	}

	if (setjmp(disk.jump) == 0)
		sp_probe_run(probe);
	if (disk.broken_rule)
		fail_msg("a call for which %s", disk.broken_rule);
	/* the caller closes what it knows */
	for (int fd = 0; fd < MAX_FD; fd++)
		assert_true(disk.file_of[fd] < 0 || probe->files[disk.file_of[fd]].fd == fd);
}

static inline sp_result *
result_in(sp_regime regime, const char *method)
{
	int			c = sp_method_case(probe, regime, method);

	assert_true(c >= 0);
	return &probe->results[c];
}

/*
 * The calls on a file, or all (-1), a letter each: W pwrite, V pwritev, O open, T fstat, C close,
 * S fsync, F fdatasync, R rename, U unlink.
 */
static inline const char *
calls_of(int file)
{
	static char letters[MAX_RECORDS + 1];
	int			n = 0;

	for (int i = 0; i < disk.nrecords; i++)
	{
		if (file < 0 || disk.records[i].file == file)
			letters[n++] = "WVOTCSFRU"[disk.records[i].call];
	}
	letters[n] = '\0';
	return letters;
}

/* The reason of the verdict of the last run. */
static inline const char *
reason_of_run(void)
{
	static char reason[SP_REASON_SIZE];

	assert_true(probe->judged);
	sp_probe_explain(probe, reason);
	return reason;
}

static int
set_up(void **state)
{
	(void) state;
	strcpy(directory, "/tmp/sp_test_XXXXXX");
	memset(buffer, 'x', sizeof(buffer));
	directory_fd = mkdtemp(directory) == NULL ? -1 :
		open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return directory_fd < 0 ? -1 : 0;
}

static int
tear_down(void **state)
{
	(void) state;
	close_files();
	__real_close(directory_fd);
	return rmdir(directory);	/* nothing may be left in it */
}

#endif							/* FAKE_DISK_H */
