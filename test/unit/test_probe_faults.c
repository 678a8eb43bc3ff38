/*
 * Runs of src/engine/measure of every suite, on a disk that fails.
 *
 * In the manner of SQLite's test/sysfault.test: of each call that the engine
 * makes the first one fails, in the next run the second one, and so on until
 * a run has no such call left.  The rules of fake_disk.h hold in all of these.
 */
#include "fake_disk.h"

/* Plans that together make every call, so short that the runs are few. */
enum
{
	TOOL, WAL, STREAM, SEGMENTS, PLANS
};

static const struct
{
	const sp_suite *suite;
	int64_t		duration;		/* ms */
}			plans[PLANS] =
{
	[TOOL] = {&sp_suite_pg_test_fsync, 30},	/* openat and close */
	[WAL] = {&sp_suite_wal, 300},	/* and moves */
	[STREAM] = {&sp_suite_stream, 30},
	[SEGMENTS] = {&sp_suite_segments, 150},	/* fstat, pwritev, renameat and unlinkat */
};

/* The first two rounds of the suite segments make every call: no more of them fail. */
#define ENOUGH_CALLS	60

/*
 * A call, its name in an error, and an errno that it may fail with.  SHORT_WRITE: the rest is
 * written, at last a part of a page.  EDQUOT: it is not.
 */
static const struct
{
	fake_call	call;
	const char *name;
	int			errors[7];		/* up to 0 */
}			faults[] =
{
	{PWRITE, "pwrite", {EIO, ENOSPC, EDQUOT, SHORT_WRITE, EINTR, EINVAL}},
	{PWRITEV, "pwrite", {EIO, EDQUOT, SHORT_WRITE, EINTR}},
	{OPENAT, "open", {EIO, EMFILE, ENOENT, EINTR}}, {FSTAT, "fstat", {EIO}},
	{CLOSE, "close", {EIO, ENOSPC, EINTR}}, {FSYNC, "fsync", {EIO, ENOSPC, EINTR}},
	{FDATASYNC, "fdatasync", {EIO, ENOSPC, EINTR}}, {RENAME, "rename", {EIO, EINTR}},
	{UNLINK, "unlink", {EIO, EINTR}},
};

/* The n-th run of a plan: only files that the engine makes are not there already. */
static void
plan_short_run(int plan, int n)
{
	if (n > 1 && plan != SEGMENTS)
		return;
	plan_suite(plans[plan].suite, "fdatasync", 8192, 1024 * 1024);
	probe->duration_ns = plans[plan].duration * MILLISECOND;
	disk.makes_files = plan == SEGMENTS;
	disk.fault_cost = 3 * MILLISECOND;
	if (plan == WAL)
	{
		probe->flush_interval_ns = 4 * MILLISECOND;
		disk.cost[PWRITE] = disk.cost[FSYNC] = disk.cost[FDATASYNC] = MILLISECOND / 2;
	}
}

/*
 * Run, which fails if a sync is repeated after it has failed.  None of the files is left that
 * the engine made, or after a jump the caller knows them.
 */
static void
run_and_look_for_files(void)
{
	run_probe();
	for (int i = 0; i < probe->nfiles && disk.makes_files; i++)
	{
		const sp_file *file = &probe->files[i];

		assert_int_equal(faccessat(directory_fd, file->name, F_OK, 0), file->exists ? 0 : -1);
		assert_int_equal(faccessat(directory_fd, file->other_name, F_OK, 0), -1);
		assert_true(!file->exists || !file->made_by_engine || disk.jump_at > 0);
	}
}

/* Nobody comes to a file after a call on it has failed; it is only closed and removed. */
static void
check_that_nobody_came(const call_record *failed, int error)
{
	/* the call after a short write is the one that fails */
	const call_record *call = failed + (error == EDQUOT ? 2 : 1);

	for (; failed->file >= 0 && call < disk.records + disk.nrecords; call++)
		assert_true(call->file != failed->file || call->call == CLOSE || call->call == UNLINK);
}

/* The rest of a write is written from where it ended: one operation, as in the server. */
static void
check_the_rest(const call_record *whole)
{
	const call_record *rest = whole + 1;

	assert_int_equal(rest->file, whole->file);
	assert_true(rest->offset == whole->offset + whole->size / 3);
	/* zeros are written on in whole writes, up to the end of the file */
	while (rest->call == PWRITEV && rest[1].call == PWRITEV)
		rest++;
	assert_true(rest->offset + rest->size == (rest->call == PWRITEV ?
				probe->files[rest->file].size : whole->offset + whole->size));
}

/*
 * All cases of a file have its error, since the sync after a failed one may report success.
 * All others are measured.  A signal fails none, and what it interrupted is not counted.
 */
static void
check_results(const char *name, int error, int home)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *one = &probe->cases[c];
		const sp_result *result = &probe->results[c];
		int			file = one->file;

		if (result->status == SP_UNSUPPORTED)
			continue;
		/* its own file, or one of the copies */
		while (file >= 0 && file != home)
			file = probe->files[file].copy;
		if (home < 0 || file < 0)
		{
			assert_int_equal(result->status, SP_OK);
			assert_true(result->histogram.ops > 0);
			/* unless the rest of a write took another call */
			assert_true(home >= 0 || disk.makes_files || error == SHORT_WRITE ||
						result->histogram.min_ns == result->histogram.max_ns);
			continue;
		}
		/* some file systems accept O_DIRECT at open and refuse it at the write */
		assert_int_equal(result->status, error == EINVAL && probe->files[home].direct_io ?
						 SP_NO_DIRECT_IO : SP_ERROR);
		assert_int_equal(result->error_number, error);
		assert_string_equal(result->error_call, name);
		assert_true(isnan(result->speed.low));
		/* if the current method fails, nothing is compared and nothing is recommended */
		if (probe->judged && one->baseline == c && one->regime == probe->deciding)
		{
			assert_int_equal(probe->judgement.verdict, SP_UNDECIDED);
			assert_non_null(strstr(reason_of_run(), "nothing could be compared with "));
		}
	}
}

/* Failures of syncs that a move makes: the method that comes pays for them. */
static int	failed_clean_ups;

/* A file that moves was synced, and a segment that is no longer used is closed without a sync. */
static bool
is_close_that_counts(const call_record *call)
{
	if (!disk.makes_files)
		return !call->cleans_up;
	return call > disk.records && call[-1].call == FSYNC && call[-1].file == call->file;
}

static void
check_run(const char *name, int error)
{
	const call_record *failed = disk.failed_record < 0 ? NULL : &disk.records[disk.failed_record];
	const call_record *call = failed;	/* the last one on a file: the directory is none */
	bool		fails = failed && error != EINTR && error != SHORT_WRITE;

	while (call && call->home < 0)
		call--;
	/* a third of a byte is nothing */
	if (failed && failed->size == 1 && (error == SHORT_WRITE || error == EDQUOT))
	{
		error = ENOSPC;
		fails = true;
	}
	fails = fails && (failed->call != CLOSE || is_close_that_counts(failed));
	check_results(name, error, fails ? call->home : -1);
	if (fails)
		check_that_nobody_came(failed, error);
	else if (failed && error == SHORT_WRITE)
		check_the_rest(failed);
	failed_clean_ups += failed && failed->cleans_up;
}

/* Let the n-th call fail for all n; the number of runs that had a failure. */
static int
fail_each_call(int plan, fake_call call, const char *name, int error)
{
	for (int n = 1; plan != SEGMENTS || n < ENOUGH_CALLS; n++)
	{
		plan_short_run(plan, n);
		let_fail(call, n, error == EDQUOT ? SHORT_WRITE : error);
		disk.rest_errno = error == EDQUOT ? EDQUOT : 0;
		run_and_look_for_files();
		check_run(name, error);
		if (disk.failed_record < 0)
			return n - 1;
	}
	return ENOUGH_CALLS;
}

TEST(survives_the_failure_of_any_call)
{
	int			runs[CALLS] = {0};

	for (int plan = 0; plan < PLANS; plan++)
	{
		FOR_EACH(fault, faults)
		{
			for (const int *error = fault->errors; *error != 0; error++)
				runs[fault->call] += fail_each_call(plan, fault->call, fault->name, *error);
		}
	}
	assert_true(failed_clean_ups > 10);
	for (int call = 0; call < CALLS; call++)
		assert_true(runs[call] > 10);
}

/*
 * When every file fails, only cases of the wal suite that are shown may be left.  The probe
 * must end, and no speed of the last look may stay.
 */
TEST(ends_when_every_file_fails)
{
	static const struct
	{
		int			plan;
		fake_call	call;
		int			fail_at;	/* and all later ones */
	}			rows[] = {
		/* a move opens five files or more */
		{WAL, OPENAT, 1}, {WAL, OPENAT, 51}, {WAL, OPENAT, 101},
		{STREAM, PWRITE, 1}, {SEGMENTS, FSYNC, 1},
	};

	FOR_EACH(row, rows)
	{
		plan_short_run(row->plan, 0);
		probe->duration_ns = 60 * SECOND;
		let_fail(row->call, -row->fail_at, EIO);
		run_probe();
		assert_true(disk.failed_record >= 0);
		assert_true(probe->finished_ns - probe->started_ns < 20 * SECOND);
		assert_uint_in_range(probe->rounds[SP_SATURATED], row->plan == WAL, 1000);
		assert_int_equal(probe->judgement.verdict, SP_UNDECIDED);
		for (int c = 0; c < probe->ncases; c++)
		{
			const sp_result *result = &probe->results[c];

			if (result->status == SP_UNSUPPORTED || probe->cases[c].max_rounds > 0)
				continue;
			assert_int_equal(result->status, SP_ERROR);
			assert_true(isnan(result->speed.estimate) && isnan(result->speed.low) &&
						isnan(result->speed.high));
		}
	}
}

/* An interrupt may come at any check, and leaves the engine by a jump. */
TEST(holds_nothing_when_interrupted)
{
	for (int plan = 0; plan < PLANS; plan++)
	{
		int			n = 0;

		do
		{
			plan_short_run(plan, ++n);
			disk.jump_at = n;
			run_and_look_for_files();
		} while (disk.interrupt_checks == n && n < 200);
		assert_true(n > 20);
	}
}

TEST_MAIN(set_up, tear_down)
