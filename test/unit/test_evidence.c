/*
 * Tests of src/engine/verdict/evidence.c, and of what the timed loop counts for it.
 *
 * The rule is tested by a table of facts.  The counters are those of a
 * simulated disk (the __wrap_ functions of fake_disk.h), so that the effect of
 * each sync is known.
 */
#include "fake_disk.h"

#define UNKNOWN		SP_DURABLE_UNKNOWN
#define NO			SP_DURABLE_NO
#define YES			SP_DURABLE_YES
#define NO_CACHE	SP_DURABLE_NO_CACHE

/* ---------------------------------------------------------------------- rule */

/* A write cache, writes per sync, and flushes. */
#define ON(cache, writes, ...) \
	{.write_cache = cache, .writes_per_op = writes, __VA_ARGS__}

/* The flushes of each sync, those of background I/O, and what windows tell. */
#define SEEN(required, least, background, own, lacking) \
	{.flushes_per_op = required, .least_flushes_per_op = least, \
	.background_flushes_per_op = background, .flushed_fraction = own, .unflushed_fraction = lacking}
#define DEVICE(flushes, background)		.device = SEEN(flushes, flushes, background, NAN, NAN)
#define LEAST(required, least)			.device = SEEN(required, least, 0, NAN, NAN)
#define WINDOWS(flushes, own, lacking)	.device = SEEN(flushes, flushes, 1.5, own, lacking)
#define LOOP(flushes, background)		.has_backing = true, .backing_write_cache = "write back", \
	.backing = SEEN(flushes, flushes, background, NAN, NAN)
#define LOOP_NO_CACHE					.has_backing = true, \
	.backing_write_cache = "write through", .backing = SEEN(0, 0, 0, NAN, NAN)
#define MAY_HIDE						.flush_may_hide = true

#define BELOW		", at the backing device"
#define FEWER		"unknown: there were fewer flushes than syncs, but not so few that this " \
	"proves anything"
#define UNCOUNTED	"unknown: flushes are not counted"
#define UNSEEN		"unknown: there were flushes, but it was not seen how many background I/O makes"
#define DROWNED		"unknown: background I/O was not seen for long enough, or flushes so often that it may have made all"
#define WHICH_CACHE	"unknown: it is not known whether the write cache is volatile"
#define FUA			"unknown: a FUA write may replace a flush, or the driver may not count flushes"
#define WHICH_DISK	"unknown: a disk had too few flushes, and it is not known whether it needs them"
#define PASSES_NONE	"unknown: the loop device is set to write through, so that it passes " \
	"no flush on"

static const struct
{
	const char *scenario;
	sp_durable_facts facts;
	const char *durable;		/* and why it is unknown */
}			rule_cases[] =
{
	{"a flush a sync, whatever hides", ON("", NAN, DEVICE(1, 0), MAY_HIDE), "yes"},
	{"nearly a flush a sync", ON("write back", NAN, DEVICE(0.9, 0)), "yes"},
	{"not for each sync", ON("write back", NAN, DEVICE(0.89, 0)), FEWER},
	{"a tenth of the syncs", ON("write back", NAN, DEVICE(0.1, 0)), FEWER},
	{"hardly any flush", ON("write back", NAN, DEVICE(0.09, 0)), "no"},
	{"none needed", ON("write through", NAN, DEVICE(0, 0)), "no_cache"},
	{"one that was not needed", ON("write through", NAN, DEVICE(1, 0)), "yes"},
	{"no flush, cache unknown", ON("", NAN, DEVICE(0, 0)), WHICH_CACHE},
	{"not counted", ON("write back", NAN, DEVICE(NAN, 0)), UNCOUNTED},
	{"nothing is synced", ON("write back", NAN, DEVICE(1, 0), .syncs_nothing = true), "no"},
	/* a sync that writes nothing reaches nothing, whatever cache there is */
	{"no writes", ON("write back", 0.09, DEVICE(1, 0)), "no"},
	{"few writes", ON("write back", 0.1, DEVICE(1, 0)), "yes"},
	/* background I/O can hide a missing flush, but not remove one */
	{"background unknown", ON("write back", NAN, DEVICE(0.9, NAN), MAY_HIDE), UNSEEN},
	{"background unknown, no flush", ON("write back", NAN, DEVICE(0, NAN)), "no"},
	{"background may be half of it", ON("write back", NAN, DEVICE(1.3, 0.41)), DROWNED},
	{"only background", ON("write back", NAN, DEVICE(0.3, 0.3)), "no"},
	{"background, and half a flush", ON("write back", NAN, DEVICE(0.5, 0.5)), FEWER},
	/* windows decide where the mean rate of background I/O does not */
	{"too few own flushes", ON("write back", 4, WINDOWS(2, 0.49, NAN)), DROWNED},
	{"own flushes", ON("write back", 4, WINDOWS(2, 0.5, NAN)), "yes"},
	{"hardly a sync without any", ON("write back", 4, WINDOWS(0.89, 0.5, 0.05)), FEWER},
	{"syncs without any flush", ON("write back", 4, WINDOWS(0.89, 0.5, 0.06)), "no"},
	{"the same, and FUA", ON("write back", 4, WINDOWS(0.89, 0.5, 0.06), MAY_HIDE), FUA},
	/* a loop device is no better than its backing device */
	{"backing device too", ON("write back", 1, DEVICE(1, 0), LOOP(1, 0)), "yes"},
	{"backing device, but not here", ON("write back", 1, DEVICE(0, 0), LOOP(1, 0)), "no"},
	{"it, beside background", ON("write back", 1, DEVICE(1, 0), LOOP(1, 0.3)), DROWNED BELOW},
	/* flushes must reach a loop device, though the disks below need none */
	{"it needs none", ON("write back", 1, DEVICE(1, 0), LOOP_NO_CACHE), "no_cache"},
	{"it needs none, not each", ON("write back", 1, DEVICE(0.5, 0), LOOP_NO_CACHE), FEWER},
	{"it passes none on", ON("write through", 1, DEVICE(0, 0), LOOP(0, 0)), PASSES_NONE},
	/* the disk with the fewest proves a yes; only those that a sync must flush prove a no */
	{"a disk without any", ON("write back", 4, LEAST(1, 0)), FEWER},
	{"one that may need none", ON("write back", 4, LEAST(NAN, 0)), WHICH_DISK},
	{"all of them, needed or not", ON("write back", 4, LEAST(NAN, 1)), "yes"},
};

TEST(judges_by_the_rule)
{
	FOR_EACH(row, rule_cases)
	{
		bool		at_backing = true;
		const char *name = sp_durable_names[sp_judge_durable(&row->facts)];
		const char *reason = sp_unknown_durable_reason(&row->facts, &at_backing);
		char		durable[256];

		snprintf(durable, sizeof(durable), "%s%s%s%s", name, reason ? ": " : "",
				 reason ? reason : "", at_backing ? BELOW : "");
		if (strcmp(durable, row->durable) != 0)
			fail_msg("%s: %s", row->scenario, durable);
	}
}

/* --------------------------------------------------------------------- rates */

/* A difference of two readings, so many times, and what describe_rates() says of it. */
static const struct
{
	int			times;
	sp_counters counted;
	int64_t		ns;
	int64_t		ops;
	const char *rates;
}			rate_cases[] =
{
#define FLUSHES(n)			.has_flushes = true, .flushes = n
	{0, {FLUSHES(9)}, 0, 0, "-1 -1 -1 -1 -1, -1 -1"},
	/* the lesser of both times counts, and a device is busy all the time at most */
	{2, {.writes = 20,.written_bytes = 81920, FLUSHES(10),.busy_ms = 3,.request_ms = 6},
	10 * MILLISECOND, 10, "1 1 2 8192 0.3, 1000 8.192e+06"},
	{2, {.writes = 30,.written_bytes = 163840, FLUSHES(5),.busy_ms = 9,.request_ms = 2},
	10 * MILLISECOND, 10, "0.5 0.5 3 16384 0.2, 500 1.6384e+07"},
	/* statistics that are off tell flushes, and nothing else; old kernels the opposite */
	{2, {FLUSHES(20),.flushes_only = true}, 10 * MILLISECOND, 10, "2 2 -1 -1 -1, 2000 -1"},
	{1, {.busy_ms = 12,.request_ms = 40}, 10 * MILLISECOND, 10, "-1 -1 0 0 1, -1 0"},
	/* idle samples must be long enough */
	{1, {FLUSHES(0)}, 10 * MILLISECOND - 1, 0, "-1 -1 -1 -1 -1, -1 -1"},
	{1, {FLUSHES(0)}, 10 * MILLISECOND, 0, "-1 -1 -1 -1 -1, 0 0"},
};

static double
known(double rate)
{
	return isnan(rate) ? -1 : rate;
}

/*
 * "FLUSHES LEAST WRITES BYTES UTILIZATION, FLUSHES BYTES": of each operation, and of the
 * background in a second; -1 is unknown.
 */
static const char *
describe_rates(const sp_evidence *evidence, sp_level level)
{
	static char text[256];
	sp_evidence_rates rates = sp_evidence_rates_of(evidence, level);
	sp_background_rates idle = sp_evidence_background(evidence, level);

	snprintf(text, sizeof(text), "%g %g %g %g %g, %g %g", known(rates.flushes),
			 known(rates.least_flushes), known(rates.writes), known(rates.bytes),
			 known(rates.utilization), known(idle.flushes), known(idle.bytes));
	return text;
}

/* At either level alike. */
TEST(computes_rates)
{
	FOR_EACH(row, rate_cases)
	{
		const sp_counters *counted = &row->counted;
		const sp_counters zero = {
			.has_flushes = counted->has_flushes,.flushes_only = counted->flushes_only
		};
		sp_evidence evidence = {0};

		for (int n = 0; n < row->times; n++)
			sp_evidence_add(&evidence, (sp_counters[SP_LEVELS]) {zero, zero},
							(sp_counters[SP_LEVELS]) {*counted, *counted}, row->ns, row->ops);
		for (int level = 0; level < SP_LEVELS; level++)
			assert_string_equal(describe_rates(&evidence, (sp_level) level), row->rates);
	}
}

TEST(loses_pairs_that_go_backwards)
{
	sp_counters less = {.has_flushes = true,.flushes = 1};
	sp_counters more = {.has_flushes = true,.flushes = 2};
	sp_evidence evidence = {0};

	sp_evidence_add(&evidence, (sp_counters[SP_LEVELS]) {more, less},
					(sp_counters[SP_LEVELS]) {less, more}, SECOND, 1000);
	sp_evidence_add(&evidence, (sp_counters[SP_LEVELS]) {less, more},
					(sp_counters[SP_LEVELS]) {more, less}, SECOND, 1000);
	sp_evidence_add(&evidence, (sp_counters[SP_LEVELS]) {less, less},
					(sp_counters[SP_LEVELS]) {more, more}, SECOND, 20);
	assert_int_equal(evidence.lost, 2);
	assert_int_equal(evidence.ops, 20);
	assert_int_equal(evidence.counters[SP_LEVEL_DEVICE].flushes, 1);
}

static void
add_pages(sp_evidence *evidence, uint64_t pages, int64_t ops)
{
	const sp_counters none[SP_LEVELS] = {{0}};
	const sp_counters written[SP_LEVELS] = {{.written_bytes = pages * 8192}};

	sp_evidence_add(evidence, none, written, MILLISECOND, ops);
}

/* Of operations and of time: a few bursts make the mean uncertain. */
TEST(bytes_have_an_error)
{
	sp_evidence steady = {0};
	sp_evidence bursty = {0};
	sp_evidence restless = {0};

	add_pages(&steady, 1, 1);
	assert_true(isnan(sp_evidence_rates_of(&steady, SP_LEVEL_DEVICE).bytes_error));
	/* two are enough */
	add_pages(&steady, 1, 1);
	assert_true(sp_evidence_rates_of(&steady, SP_LEVEL_DEVICE).bytes_error < 1e-6);
	for (int i = 0; i < 100; i++)
	{
		add_pages(&bursty, i == 50 ? 100 : 0, 1);
		add_pages(&restless, i == 50 ? 100 : 0, 0);
	}
	/* one of 100: the standard error is as large as the mean */
	assert_float_equal(sp_evidence_rates_of(&bursty, SP_LEVEL_DEVICE).bytes, 8192, 1e-9);
	assert_float_equal(sp_evidence_rates_of(&bursty, SP_LEVEL_DEVICE).bytes_error, 8192, 1e-6);
	assert_float_equal(sp_evidence_background(&restless, SP_LEVEL_DEVICE).bytes_error, 8192000, 1);
}

/* ------------------------------------------------------------------ windows */

/* Add so many windows; in each, the two disks of the level have so many flushes. */
static void
add_windows(sp_window_count *counts, int n, uint64_t first, uint64_t second)
{
	sp_counters before[SP_LEVELS] = {
		{.has_flushes = true,.flushes = 10,.nmembers = 2,.required = 1,.member_flushes = {3, 7}},
		{.has_flushes = false},
	};
	sp_counters after[SP_LEVELS];

	memcpy(after, before, sizeof(after));
	after[0].flushes += first + second;
	after[0].member_flushes[0] += first;
	after[0].member_flushes[1] += second;
	for (int i = 0; i < n; i++)
		sp_windows_add(counts, before, after);
}

TEST(counts_windows_without_a_flush)
{
	sp_windows	windows = {0};
	sp_counters less[SP_LEVELS] = {{.has_flushes = true}, {.has_flushes = true}};
	sp_counters more[SP_LEVELS] = {{.has_flushes = true,.flushes = 1}, {.has_flushes = true}};

	add_windows(windows.syncs, 5, 1, 2);
	add_windows(windows.syncs, 3, 2, 0);
	add_windows(windows.syncs, 2, 0, 4);
	/* not at a level that counts no flushes */
	assert_int_equal(windows.syncs[1].all, 0);
	/* a level goes backwards, and the other one does not */
	sp_windows_add(windows.syncs, more, less);
	assert_int_equal(windows.syncs[0].all, 10);
	assert_int_equal(windows.syncs[0].unflushed, 5);
	assert_int_equal(windows.syncs[0].lacking, 2);
	assert_int_equal(windows.syncs[1].all, 1);
	assert_int_equal(windows.syncs[1].unflushed, 1);
}

/* Unknown (?), more than the most that is no proof (+), or not (-). */
static char
tells(double share, double most)
{
	return isnan(share) ? '?' : share > most ? '+' : '-';
}

/*
 * What was seen beside others: whether it proves that half of the syncs flush, and that more
 * than some do not.
 */
TEST(compares_syncs_with_controls)
{
	static const struct
	{
		int			syncs;
		int			syncs_without;
		int			controls;
		int			controls_without;
		const char *tells;
	}			rows[] = {
		{0, 0, 0, 0, "??"}, {100, 0, 0, 0, "?-"}, {100, 13, 0, 0, "?+"}, {100, 11, 0, 0, "?-"},
		/* others flush all the time, or nearly */
		{100, 0, 100, 0, "?-"}, {100, 0, 101, 1, "--"},
		/* a quiet device */
		{100, 0, 100, 100, "+-"}, {100, 100, 100, 100, "-+"},
		/* beside pgbench, and beside a program that flushes */
		{200, 0, 200, 47, "+-"}, {60, 0, 60, 15, "+-"}, {200, 33, 200, 68, "-+"},
		{200, 0, 200, 6, "--"},
		/* too few, or too many */
		{5, 0, 5, 1, "--"}, {100, 1, 3, 3, "+-"}, {100, 1, 3, 1, "--"},
		{100, 20, 100, 40, "-+"}, {1000, 10, 1000, 300, "+-"},
	};

	FOR_EACH(row, rows)
	{
		sp_windows	windows = {0};

		add_windows(windows.syncs, row->syncs_without, 0, 1);
		add_windows(windows.syncs, row->syncs - row->syncs_without, 1, 1);
		add_windows(windows.controls, row->controls_without, 0, 1);
		add_windows(windows.controls, row->controls - row->controls_without, 1, 1);
		print_message("# row %d\n", (int) (row - rows));
		assert_int_equal(tells(sp_windows_flushed_fraction(&windows, SP_LEVEL_DEVICE), 0.5),
						 row->tells[0]);
		assert_int_equal(tells(sp_windows_unflushed_fraction(&windows, SP_LEVEL_DEVICE), 0.05),
						 row->tells[1]);
		assert_true(isnan(sp_windows_flushed_fraction(&windows, SP_LEVEL_BACKING)));
	}
}

/* ---------------------------------------------------------------- timed loop */

/* Without files that rotate among the methods, only control windows open one. */
static void
plan_with_counters(const char *current, int64_t duration, double others_flush)
{
	plan_wal(current, duration);
	stay_at_home();
	probe->callbacks.read_counters = fake_read_counters;
	probe->device.write_cache = "write back";
	disk.sync_flushes = 1;
	disk.write_requests = 2;
	disk.background_flushes_per_second = others_flush;
}

static sp_durable
found(void)
{
	return sp_probe_method_durable(probe, "fdatasync", false);
}

/* Does the case sync by a call of its own?  This disk counts only these. */
static bool
syncs(int c)
{
	return probe->files[probe->cases[c].file].method->sync != NULL;
}

/* Each case counts the flushes of its own syncs, without those of others and of the warm-up. */
TEST(counts_what_each_case_did)
{
	plan_with_counters("fdatasync", 2 * SECOND, 0);
	run_probe();
	FOR_EACH_MEASURED(c)
	{
		const sp_evidence *evidence = &probe->results[c].evidence;
		sp_evidence_rates rates = sp_evidence_rates_of(evidence, SP_LEVEL_DEVICE);

		assert_int_equal(evidence->ops, probe->results[c].histogram.ops);
		assert_int_equal(evidence->lost, 0);
		assert_float_equal(rates.flushes, syncs(c) ? 1 : 0, 1e-9);
		assert_float_equal(rates.writes, 2, 1e-9);
		assert_float_equal(rates.bytes, 2 * 8192, 1e-9);
		/* open_* flush in the write, which this disk does not count */
		assert_int_equal(sp_probe_case_durable(probe, c, false), syncs(c) ? YES : NO);
	}
}

/* A disk, a run on it, and what is found of fdatasync. */
static const struct
{
	int			seconds;
	double		background;		/* flushes a second */
	uint64_t	own;			/* flushes of a sync */
	sp_durable	durable;
	int			windows[2];		/* at least and at most */
	bool		paced_only;		/* control windows write to a file of the other regime */
	int			looks;			/* of a run that may end early */
	int64_t		interval_us;	/* 0: as planned, and so the next one */
	int64_t		call_us;		/* of each write and sync */
	bool		passes_none;	/* a loop device, set to write through */
}			run_cases[] = {
	{10, 0, 1, YES, .windows = {0, 0}}, {10, 1500, 1, YES, .windows = {1, 2000}},
	{10, 5000, 1, UNKNOWN, .windows = {1, 2000}}, {10, 1500, 0, NO, .windows = {1, 2000}},
	{10, 5000, 0, UNKNOWN, .windows = {1, 2000}},
	{10, 100, 1, YES, .paced_only = true}, {10, 1500, 1, UNKNOWN, .paced_only = true},

	/*
	 * Without rests, idle samples are taken before the first round, and more of them until they
	 * are as long as the syncs of a method, or a sixth of the time.  The last one is too slow.
	 */
	{2, 0, 1, YES, .paced_only = true, .interval_us = 500, .call_us = 300},
	{2, 0, 1, YES, .paced_only = true, .interval_us = 500, .call_us = 8000},
	{2, 0, 1, UNKNOWN, .paced_only = true, .interval_us = 500, .call_us = 50000},
	/* windows between flushes that follow each other closely */
	{10, 1000, 1, YES, .windows = {10, 2000}, .interval_us = 500},

	/*
	 * A verdict may be settled before the windows are enough: then the run goes on to the next
	 * look.  Idle samples tell, windows tell, or nothing: each has a flush, or no disk needs one.
	 */
	{4, 0, 1, YES, .windows = {0, 0}, .looks = 1}, {60, 0, 0, NO, .windows = {0, 0}, .looks = 1},
	{4, 1500, 1, YES, .windows = {10, 150}, .looks = 1},
	{4, 5000, 1, UNKNOWN, .windows = {200, 350}, .looks = 2},
	{4, 5000, 1, UNKNOWN, .windows = {0, 350}, .looks = 1, .passes_none = true},
};

TEST(finds_out_beside_background_io)
{
	FOR_EACH(row, run_cases)
	{
		int64_t		call_ns = row->call_us * SP_NS_PER_US;
		sp_background_rates idle;

		plan_with_counters("fdatasync", row->seconds * SECOND, row->background);
		if (row->paced_only)
			keep_regime(SP_PACED);
		if (row->interval_us > 0)
			probe->flush_interval_ns = row->interval_us * SP_NS_PER_US;
		if (call_ns > 0)
			disk.cost[FSYNC] = disk.cost[FDATASYNC] = disk.cost[PWRITE] = call_ns;
		if (row->passes_none)
		{
			probe->device.has_backing = disk.counters.has_exempt = true;
			probe->device.write_cache = "write through";
			probe->device.backing_write_cache = "write back";
		}
		probe->stop_early = row->looks > 0;
		disk.sync_flushes = row->own;
		run_probe();
		if (found() != row->durable)
			fail_msg("row %d: %s", (int) (row - run_cases), sp_durable_names[found()]);
		assert_uint_in_range(probe->control_windows, row->windows[0], row->windows[1]);
		assert_true(probe->windows_ns <= probe->duration_ns / 8);
		assert_int_equal(probe->looks, row->looks);
		assert_int_equal(probe->done, row->looks > 0);
		assert_true(!row->passes_none ||
					probe->results[1].windows.controls[SP_LEVEL_DEVICE].all == 0);
		idle = sp_evidence_background(&probe->background, SP_LEVEL_DEVICE);
		assert_uint_in_range(idle.flushes, row->background * 0.7, row->background * 1.3);
		assert_uint_in_range(idle.most_flushes, row->background, row->background * 2 + 100);
		/* a window waits for its own length, that of a flush, after the last flush */
		for (int i = 1; i < disk.nrecords; i++)
			assert_true(disk.records[i].call != OPENAT ||
						disk.records[i].at - disk.records[i - 1].at >= disk.cost[PWRITE]);
		if (row->paced_only && call_ns > 0)
			assert_uint_in_range(probe->background.ns, probe->duration_ns / 6,
								 probe->duration_ns / 6 + 10 * call_ns);
	}
}

/*
 * A rest is a sample if it is as long as the flush before it, since background I/O may have waited
 * for that; not after one that failed.
 */
TEST(samples_rests_after_flushes)
{
	static const int64_t flushes_ns[] = {0, MILLISECOND, 2 * MILLISECOND, -1};

	for (int i = 0; i < (int) lengthof(flushes_ns); i++)
	{
		sp_counter_reading reading;
		int64_t		begin;

		plan_with_counters("fdatasync", 2 * SECOND, 0);
		sp_begin_reading(probe, &reading);
		begin = reading.at_ns;
		disk.now += MILLISECOND;
		sp_sample_rest(probe, &reading, flushes_ns[i]);
		assert_int_equal(probe->background.ns > 0, i < 2);
		assert_int_equal(probe->background.lost, 0);
		/* the next flush begins with a new reading in any case */
		assert_true(reading.valid && reading.at_ns >= begin + MILLISECOND);
	}
}

/*
 * Windows take three calls, one of them a write: a device may let writes wait for flushes of
 * others.  One that fails is of the last window, but for a signal.
 */
TEST(makes_control_windows)
{
	static const fake_call calls[] = {OPENAT, PWRITE, CLOSE};
	int			writes = 0;		/* before that of the fifth window */
	int			file = -1;		/* of the windows */

	plan_with_counters("fdatasync", 2 * SECOND, 1000);
	run_probe();
	/* no other call opens a file and closes it again */
	for (int k = 0, opened = 0; opened < 5; k++)
	{
		opened += disk.records[k].call == OPENAT;
		writes += disk.records[k].call == PWRITE;
		file = disk.records[k].file;
	}
	for (size_t i = 0; i < 2 * lengthof(calls); i++)
	{
		bool		fails = i % 2 == 0;

		plan_with_counters("fdatasync", 2 * SECOND, 1000);
		let_fail(calls[i / 2], calls[i / 2] == PWRITE ? writes + 1 : 5, fails ? EIO : EINTR);
		run_probe();
		assert_uint_in_range(probe->control_windows, fails ? 4 : 10, fails ? 4 : 1000);
		assert_int_equal(disk.calls[OPENAT], probe->control_windows + 1);
		assert_int_equal(probe->windows_failed, fails);
		for (int c = 0; c < probe->ncases; c++)
			assert_int_not_equal(probe->results[c].status, SP_ERROR);
		assert_int_equal(disk.records[disk.failed_record].file, file);
	}
}

TEST(survives_a_device_that_goes_away)
{
	static const long from[] = {1, 2, 3, 50};

	for (size_t i = 0; i < lengthof(from); i++)
	{
		plan_with_counters("fdatasync", 2 * SECOND, 0);
		disk.fail_reading_from = from[i];
		run_probe();
		assert_true(probe->background.lost > 0);
		FOR_EACH_MEASURED(c)
		{
			const sp_evidence *evidence = &probe->results[c].evidence;

			assert_true(probe->results[c].histogram.ops > 0);
			assert_true(evidence->lost > 0);
			/* readings before the failure count, later ones do not */
			assert_true(from[i] > 3 || evidence->ops == 0);
			assert_true(evidence->ops == 0 ||
						sp_evidence_rates_of(evidence, SP_LEVEL_DEVICE).flushes == syncs(c));
		}
	}
}

TEST(believes_the_worst)
{
	sp_result  *paced;
	sp_result  *saturated;
	bool		at_backing = true;

	plan_with_counters("fdatasync", 2 * SECOND, 0);
	run_probe();
	paced = result_in(SP_PACED, "fdatasync");
	saturated = result_in(SP_SATURATED, "fdatasync");
	assert_int_equal(found(), YES);
	assert_null(sp_probe_method_doubt(probe, "fdatasync", &at_backing));
	saturated->evidence.ops = 0;
	assert_int_equal(found(), UNKNOWN);
	assert_string_equal(sp_probe_method_doubt(probe, "fdatasync", &at_backing),
						"flushes are not counted");
	assert_false(at_backing);
	assert_string_equal(sp_probe_method_doubt(probe, "no method", &at_backing),
						"none of its syncs was measured");
	paced->evidence.counters[SP_LEVEL_DEVICE] = (sp_counters) {.has_flushes = true};
	assert_int_equal(found(), NO);
	/* a case that was not measured is ignored */
	paced->histogram.ops = 0;
	assert_int_equal(found(), UNKNOWN);
}

/*
 * Missing flushes prove something, where they are counted and needed, and no FUA replaces them:
 * see sync_method.h.  A sync that writes nothing is none, where writes are counted.
 */
TEST(knows_what_a_device_hides)
{
	static const struct
	{
		sp_device_facts device;
		uint64_t	writes;
		sp_durable	durable;
	}			rows[] = {
		{{.write_cache = "write back"}, 2, NO}, {{.write_cache = "write back", .fua = true}, 2, NO},
		{{.write_cache = "write back", .flushes_uncounted = true}, 2, UNKNOWN},
		{{.write_cache = "write through"}, 2, NO_CACHE}, {{.write_cache = "write through"}, 0, NO},
		{{.write_cache = "write through", .writes_uncounted = true}, 0, NO_CACHE},
		{{.write_cache = "write through", .syncs_nothing = " (in memory)"}, 2, NO},
	};
	int			hidden = 0;

	FOR_EACH(row, rows)
	{
		plan_with_counters("fdatasync", 2 * SECOND, 0);
		probe->device = row->device;
		disk.sync_flushes = 0;
		disk.write_requests = row->writes;
		run_probe();
		assert_int_equal(found(), row->durable);
		assert_int_equal(probe->judgement.verdict == SP_UNSAFE, row->durable == NO);
		assert_true(!row->device.syncs_nothing ||
					strstr(reason_of_run(), row->device.syncs_nothing) != NULL);
		FOR_EACH_MEASURED(c)
		{
			const sp_file *file = &probe->files[probe->cases[c].file];
			bool		hides = row->device.fua && file->direct_io &&
				strcmp(file->method->name, "open_datasync") == 0;

			hidden += hides;
			assert_int_equal(sp_probe_case_durable(probe, c, false),
							 hides ? UNKNOWN : row->durable);
		}
	}
	assert_int_equal(hidden, 1);
}

/* Where others sync, they are compared before that: the verdict says which is the fastest. */
TEST(compares_what_syncs_before_it_ends)
{
	/* this disk counts no flush of open_datasync */
	plan_with_counters("open_datasync", 60 * SECOND, 0);
	probe->stop_early = true;
	run_probe();
	assert_int_equal(probe->judgement.verdict, SP_UNSAFE);
	assert_true(probe->judgement.recommended >= 0);
	assert_true(probe->rounds[SP_PACED] >= 64 && probe->rounds[SP_SATURATED] >= 64);
	assert_uint_in_range(probe->finished_ns - probe->started_ns, 15 * SECOND, 16 * SECOND);
}

TEST_MAIN(set_up, tear_down)
