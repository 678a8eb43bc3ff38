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
	{&sp_suite_wal, 300000},			/* pwritev */
	{&sp_suite_pg_test_fsync, 8192},	/* openat and close */
	{&sp_suite_wal, 8192},				/* long enough that files move */
};

#define MOVING_PLAN		3

/* A call, its name in an error, and an errno that it may fail with. */
static const struct
{
	fake_call	call;
	const char *name;
	int			errors[5];		/* up to 0 */
}			faults[] =
{
	{PWRITE, "pwrite", {EIO, ENOSPC, SHORT_WRITE, EINTR}},
	{PWRITEV, "pwrite", {EIO, ENOSPC, SHORT_WRITE, EINTR}},
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

/* The failed cases have an error; all others are measured. */
static void
check_failure(size_t fault, int error)
{
	int			failed = 0;

	check_that_nobody_came(error);
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];

		if (probe->files[probe->cases[c].file].status == SP_UNSUPPORTED)
			assert_int_equal(result->status, SP_UNSUPPORTED);
		else if (result->status == SP_ERROR)
		{
			failed++;
			assert_true(uses_home(c, disk.failed_home));
			assert_int_equal(result->error_number, error == SHORT_WRITE ? EDQUOT : error);
			assert_string_equal(result->error_call, faults[fault].name);
		}
		else
		{
			assert_int_equal(result->status, SP_OK);
			assert_true(result->histogram.ops > 0);
		}
	}
	assert_true(failed > 0);
}

/* A signal: no case fails, and the interrupted operation is not counted. */
static void
check_repetition(void)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_result *result = &probe->results[c];

		if (probe->files[probe->cases[c].file].status == SP_UNSUPPORTED)
			continue;
		assert_int_equal(result->status, SP_OK);
		assert_int_equal(result->error_number, 0);
		assert_true(result->histogram.ops > 0);
		assert_int_equal(result->histogram.min_ns, result->histogram.max_ns);
	}
}

static int	failed_clean_ups;

/* Let the n-th call fail for all n; the number of runs that had a failure. */
static int
fail_each_call(size_t fault, int error)
{
	disk.fail_call = faults[fault].call;
	disk.fail_errno = error;
	for (int n = 1;; n++)
	{
		disk.fail_at = n;
		disk.rest_errno = error == SHORT_WRITE ? EDQUOT : 0;
		run_probe();
		if (disk.failed_file < 0)
		{
			check_repetition();	/* a clean run */
			return n - 1;
		}
		failed_clean_ups += disk.records[disk.failed_record].cleans_up;
		/* what a move closes was synced: it does not matter whether that fails */
		if (error == EINTR || (disk.fail_call == CLOSE &&
							   disk.records[disk.failed_record].cleans_up))
			check_repetition();
		else
			check_failure(fault, error);
	}
}

TEST(survives_the_failure_of_any_call)
{
	int			runs[CALLS] = {0};

	for (size_t plan = 0; plan < lengthof(plans); plan++)
	{
		plan_short_run(plan);
		for (size_t fault = 0; fault < lengthof(faults); fault++)
		{
			for (int i = 0; faults[fault].errors[i] != 0; i++)
				runs[faults[fault].call] += fail_each_call(fault, faults[fault].errors[i]);
		}
	}
	print_message("# clean-up: %d runs with a failure\n", failed_clean_ups);
	assert_true(failed_clean_ups > 10);
	for (int call = 0; call < CALLS; call++)
	{
		print_message("# %s: %d runs with a failure\n", faults[call].name, runs[call]);
		assert_true(runs[call] > 10);
	}
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

/* The n-th record of a call, from 1. */
static const call_record *
find_record(fake_call call, int n)
{
	for (int i = 0; i < disk.nrecords; i++)
	{
		if (disk.records[i].call == call && --n == 0)
			return &disk.records[i];
	}
	fail_msg("there is no such record");
	return NULL;
}

/* The rest of a short write can be written: it is one operation, as in the server. */
TEST(finishes_a_short_write)
{
	const call_record *whole;
	const call_record *rest;
	int			finished = 0;

	for (size_t plan = 0; plan < lengthof(plans); plan++)
	{
		plan_short_run(plan);
		disk.fault_cost = 0;
		disk.fail_call = plan == 1 ? PWRITEV : PWRITE;
		disk.fail_errno = SHORT_WRITE;
		for (disk.fail_at = 1;; disk.fail_at++)
		{
			run_probe();
			if (disk.failed_file < 0)
				break;
			finished++;
			for (int c = 0; c < probe->ncases; c++)
			{
				if (probe->results[c].status != SP_UNSUPPORTED)
					assert_int_equal(probe->results[c].status, SP_OK);
			}
			/* from the middle of the write to its end */
			whole = find_record(disk.fail_call, disk.fail_at);
			rest = whole + 1;
			assert_int_equal(rest->file, whole->file);
			assert_true(rest->offset == whole->offset + whole->size / 2);
			assert_true(rest->offset + rest->size == whole->offset + whole->size);
		}
	}
	assert_true(finished > 10);
}

/* Callbacks may change errno. */
TEST(knows_errno_before_it_calls_back)
{
	for (size_t fault = 0; fault < lengthof(faults); fault++)
	{
		plan_short_run(faults[fault].call == OPENAT || faults[fault].call == CLOSE ? 2
					   : faults[fault].call == PWRITEV ? 1 : 0);
		disk.spoils_errno = true;
		assert_true(fail_each_call(fault, EIO) > 0);
		assert_true(fail_each_call(fault, EINTR) > 0);
	}
}

/*
 * After a failed sync, the next one on the same descriptor may report success.
 * So the other regime of the method is excluded, too.  Failures of a clean-up, which
 * the method at that file then pays for, are among them.
 */
TEST(never_repeats_a_failed_sync)
{
	int			clean_ups = 0;

	plan_short_run(MOVING_PLAN);
	disk.fail_call = FSYNC;
	disk.fail_errno = EIO;
	for (disk.fail_at = 1;; disk.fail_at++)
	{
		run_probe();			/* run_probe() fails if the rule is broken */
		if (disk.failed_file < 0)
			break;
		clean_ups += disk.records[disk.failed_record].cleans_up;
		for (int c = 0; c < probe->ncases; c++)
		{
			if (uses_home(c, disk.failed_home))
				assert_int_equal(probe->results[c].status, SP_ERROR);
		}
	}
	assert_true(disk.fail_at > 20);
	assert_true(clean_ups > 4);
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
TEST(tells_that_direct_io_is_refused)
{
	int			refused = 0;

	for (size_t plan = 0; plan < lengthof(plans); plan++)
	{
		plan_short_run(plan);
		disk.fail_call = plan == 1 ? PWRITEV : PWRITE;
		disk.fail_errno = EINVAL;
		for (disk.fail_at = 1;; disk.fail_at++)
		{
			run_probe();
			if (disk.failed_file < 0)
				break;
			for (int c = 0; c < probe->ncases; c++)
			{
				sp_status	status = probe->results[c].status;
				bool		direct = probe->files[probe->cases[c].file].direct_io;

				if (status != SP_NO_DIRECT_IO && status != SP_ERROR)
					continue;
				assert_true(uses_home(c, disk.failed_home));
				assert_int_equal(status, direct ? SP_NO_DIRECT_IO : SP_ERROR);
				refused += direct;
			}
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
