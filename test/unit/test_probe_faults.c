/*-------------------------------------------------------------------------
 *
 * test_probe_faults.c
 *	  The timed loop of src/engine/measure/probe.c on a disk that fails.
 *
 * In the manner of SQLite's test/sysfault.test: of each call that the engine
 * makes the first one fails, in the next run the second one, and so on until
 * a run has no such call left.  The __wrap_ functions are in fake_disk.h; the
 * rules that they watch over hold in all of these runs as well.
 *
 *-------------------------------------------------------------------------
 */
#include "fake_disk.h"

/* Plans that together make every call. */
static const struct
{
	const sp_suite *suite;
	int			flush_size;
}			plans[] =
{
	{&sp_suite_wal, 8192},
	{&sp_suite_pg_test_fsync, 8192},	/* openat and close */
	{&sp_suite_wal, 8192},				/* long enough that files move */
};

#define MOVING_PLAN		2

/* A call, its name in an error, and an errno that it may fail with. */
static const struct
{
	fake_call	call;
	const char *name;
	int			errors[5];		/* up to 0 */
}			faults[] =
{
	{PWRITE, "pwrite", {EIO, ENOSPC, SHORT_WRITE, EINTR}},
	{OPENAT, "open", {EIO, EMFILE, EINTR}},
	{CLOSE, "close", {EIO, ENOSPC, EINTR}},
	{FSYNC, "fsync", {EIO, ENOSPC, EINTR}},
	{FDATASYNC, "fdatasync", {EIO, ENOSPC, EINTR}},
};

/* Short, so that the runs are few: two turns of either regime; of the last plan with a move. */
static void
plan_short_run(size_t plan)
{
	plan_suite(plans[plan].suite, "fdatasync", plans[plan].flush_size, 1024 * 1024);
	probe->duration_ns = 30 * MILLISECOND;
	disk.fault_cost = 3 * MILLISECOND;
	if (plan == MOVING_PLAN)
	{
		probe->flush_interval_ns = 4 * MILLISECOND;
		probe->duration_ns = 300 * MILLISECOND;
		disk.cost[PWRITE] = disk.cost[FSYNC] = disk.cost[FDATASYNC] = MILLISECOND / 2;
	}
}

/* Nobody comes to a file after a call on it has failed; only its descriptor is closed. */
static void
check_that_nobody_came(int error)
{
	/* the call after a short write is the one that fails */
	int			first = disk.failed_record + (error == SHORT_WRITE ? 2 : 1);

	for (int i = first; i < disk.nrecords; i++)
	{
		if (disk.records[i].call != CLOSE && disk.records[i].file == disk.failed_file)
			fail_msg("call %d of %d came to file %d", i, disk.nrecords, disk.failed_file);
	}
}

/*
 * The failed cases have an error, all others are measured.  A signal fails none, and what it
 * interrupted is not counted; nor does a move whose close fails, since that file was synced.
 */
static void
check_results(size_t fault, int error, bool fails)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];

		if (result->status == SP_UNSUPPORTED)
			continue;
		/* all cases of a file, since the sync after a failed one may report success */
		assert_int_equal(result->status,
						 fails && uses_home(c, disk.failed_home) ? SP_ERROR : SP_OK);
		if (result->status == SP_ERROR)
		{
			assert_int_equal(result->error_number, error == SHORT_WRITE ? EDQUOT : error);
			assert_string_equal(result->error_call, faults[fault].name);
			continue;
		}
		assert_true(result->histogram.ops > 0);
		/* unless the rest of a write took another call */
		assert_true(fails || error == SHORT_WRITE ||
					result->histogram.min_ns == result->histogram.max_ns);
	}
}

/* Failures of syncs that a move makes: the method that comes pays for them. */
static int	failed_clean_ups;

/* Let the n-th call fail for all n; the number of runs that had a failure. */
static int
fail_each_call(size_t fault, int error)
{
	disk.fail_call = faults[fault].call;
	disk.fail_errno = error;
	for (int n = 1;; n++)
	{
		bool		cleans_up;

		disk.fail_at = n;
		disk.rest_errno = error == SHORT_WRITE ? EDQUOT : 0;
		run_probe();			/* fails if a sync is repeated after it has failed */
		if (disk.failed_file < 0)
		{
			check_results(fault, 0, false);	/* a clean run */
			return n - 1;
		}
		cleans_up = disk.records[disk.failed_record].cleans_up;
		failed_clean_ups += cleans_up;
		if (error == EINTR || (disk.fail_call == CLOSE && cleans_up))
			check_results(fault, error, false);
		else
		{
			check_results(fault, error, true);
			check_that_nobody_came(error);
		}
	}
}

TEST(survives_the_failure_of_any_call)
{
	int			runs[CALLS] = {0};

	for (size_t plan = 0; plan < lengthof(plans); plan++)
	{
		for (size_t fault = 0; fault < lengthof(faults); fault++)
		{
			for (int i = 0; faults[fault].errors[i] != 0; i++)
			{
				plan_short_run(plan);
				disk.spoils_errno = i % 2 == 0;	/* callbacks may change it */
				runs[faults[fault].call] += fail_each_call(fault, faults[fault].errors[i]);
			}
		}
	}
	assert_true(failed_clean_ups > 10);
	for (size_t fault = 0; fault < lengthof(faults); fault++)
		assert_true(runs[faults[fault].call] > 10);
}

/*
 * When no file can be opened again, only the cases that are shown are left, and these
 * end.  The probe must end, too, and no speed of the last look may stay.
 */
TEST(ends_when_every_file_fails)
{
	plan_suite(&sp_suite_wal, "fdatasync", 8192, 1024 * 1024);
	probe->duration_ns = 60 * SECOND;
	probe->stop_early = false;
	disk.fail_call = OPENAT;
	disk.fail_errno = EIO;
	disk.fails_on = true;
	for (int moves = 0; moves < 30; moves += 10)
	{
		/* each move opens five files or more */
		disk.fail_at = 1 + 5 * moves;
		run_probe();
		assert_true(disk.failed_file >= 0);
		assert_true(probe->finished_ns - probe->started_ns < 20 * SECOND);
		assert_uint_in_range(probe->rounds[SP_SATURATED], 1, 1000);
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
	disk.fails_on = false;
}

/* The rest of a short write can be written: it is one operation, as in the server. */
TEST(finishes_a_short_write)
{
	int			finished = 0;

	for (size_t plan = 0; plan < lengthof(plans); plan++)
	{
		plan_short_run(plan);
		disk.fault_cost = 0;
		disk.fail_call = PWRITE;
		disk.fail_errno = SHORT_WRITE;
		for (disk.fail_at = 1;; disk.fail_at++)
		{
			const call_record *whole;
			const call_record *rest;

			run_probe();
			check_results(0, SHORT_WRITE, false);
			if (disk.failed_file < 0)
				break;
			finished++;
			/* from the middle of the write to its end */
			whole = &disk.records[disk.failed_record];
			rest = whole + 1;
			assert_int_equal(rest->file, whole->file);
			assert_true(rest->offset == whole->offset + whole->size / 2);
			assert_true(rest->offset + rest->size == whole->offset + whole->size);
		}
	}
	assert_true(finished > 10);
}

/* If the current method fails, nothing is compared and nothing is recommended. */
TEST(advises_nothing_when_the_current_method_fails)
{
	plan_short_run(0);
	probe->duration_ns = SECOND;
	disk.fail_call = FDATASYNC;
	disk.fail_errno = EIO;
	for (disk.fail_at = 1; disk.fail_at < 10; disk.fail_at++)
	{
		run_probe();
		if (probe->results[1].error_call == NULL ||
			strcmp(probe->results[1].error_call, "fdatasync") != 0)
			continue;			/* it was the control */
		assert_true(probe->judged);
		assert_int_equal(probe->judgement.verdict, SP_UNDECIDED);
		assert_non_null(strstr(reason_of_run(), "nothing could be compared with fdatasync"));
	}
}

/* Some file systems accept O_DIRECT at open and refuse it at the write. */
TEST(knows_that_direct_io_is_refused)
{
	int			refused = 0;

	plan_short_run(1);
	disk.fail_call = PWRITE;
	disk.fail_errno = EINVAL;
	for (disk.fail_at = 1; disk.failed_file >= 0 || disk.fail_at == 1; disk.fail_at++)
	{
		run_probe();
		for (int c = 0; c < probe->ncases && disk.failed_file >= 0; c++)
		{
			bool		direct = probe->files[probe->cases[c].file].direct_io;

			if (!uses_home(c, disk.failed_home))
				continue;
			assert_int_equal(probe->results[c].status, direct ? SP_NO_DIRECT_IO : SP_ERROR);
			refused += direct;
		}
	}
	assert_true(refused > 10);
}

/* An interrupt may come at any check, and leaves the engine by a jump. */
TEST(holds_nothing_when_interrupted)
{
	for (size_t plan = 0; plan < lengthof(plans); plan++)
	{
		plan_short_run(plan);
		for (long n = 1;; n++)
		{
			disk.jump_at = n;
			run_probe();		/* checks what is left open */
			if (disk.interrupt_checks < n)
				break;
			assert_int_equal(disk.interrupt_checks, n);
		}
		assert_true(disk.jump_at > 20);
	}
}

TEST_MAIN(set_up, tear_down)
