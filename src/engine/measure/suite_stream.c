/*-------------------------------------------------------------------------
 *
 * suite_stream.c
 *		The suite stream: how fast WAL can stream, one test case after the other for a
 *		second each.
 *
 * How fast WAL can stream is told by the method of this server: in pages, as single
 * commits write, in 64 kB, as busy ones do together, and in 1 MB, as bulk loads do.  What
 * the storage could do is told by the same smallest and largest block with the flags of
 * dd that are used to find out: oflag=direct,dsync and conv=fdatasync.
 *
 * The device never rests.  A cliff (a full cache, garbage collection, a volume that is
 * throttled) comes after so many bytes or minutes of that, whichever case writes them; the
 * cases take turns, so that one can be compared with another before and after it.  The
 * order is random in each round: in a fixed order what comes every few seconds, such as
 * a flush of the page cache, would always hit the same case.
 *
 * All operations count.  Nothing else explains a slow first one as well as a stall.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

/* --------------------------------------------------------------------- plan */

/*
 * Large enough that a device does not keep all of it in its cache, and small enough to be
 * filled in seconds.
 */
#define STREAM_FILE_SIZE	(64 * 1024 * 1024)

typedef struct block_size
{
	const char *name;
	int			bytes;
} block_size;

static const block_size all_sizes[] = {
	{"8 kB", SP_WAL_PAGE_SIZE}, {"64 kB", 64 * 1024}, {"1 MB", 1024 * 1024},
};
static const block_size both_ends[] = {{"8 kB", SP_WAL_PAGE_SIZE}, {"1 MB", 1024 * 1024}};

_Static_assert(lengthof(all_sizes) + 2 * lengthof(both_ends) <= SP_MAX_CASES,
			   "the cases of the stream suite need room");

/* No file is larger than what may be written to it, but it holds the largest block. */
static int64_t
file_size(const sp_probe *probe)
{
	int64_t		largest = all_sizes[lengthof(all_sizes) - 1].bytes;
	int64_t		size = STREAM_FILE_SIZE;

	while (probe->max_bytes > 0 && size > probe->max_bytes && size > largest)
		size /= 2;
	return size;
}

/*
 * One file for all block sizes of a method: its flags are the same, and a write leaves
 * nothing that a write of another size pays for.
 */
static void
plan_method(sp_probe *probe, const sp_server *server, const sp_sync_method *method,
			bool direct_io, const block_size *sizes, size_t count)
{
	bool		available = method->supported && (!direct_io || sp_direct_io_flag != 0);
	int			file = sp_plan_file(probe, method, direct_io, file_size(probe),
									server->init_write_size, available);

	for (size_t i = 0; i < count; i++)
		sp_plan_case(probe, (sp_test_case) {
			.test = sizes[i].name, .label = method->name, .regime = SP_SATURATED,
				.file = file, .advances = true, .write_size = sizes[i].bytes,
				.writes_per_sync = 1,
				.baseline = method == server->current && count == lengthof(all_sizes)
				? probe->ncases : -1,
		});
}

static void
plan_stream(sp_probe *probe, const sp_server *server)
{
	const sp_sync_method *current = server->current;
	const sp_sync_method *buffered = sp_sync_method_find("fdatasync");
	const sp_sync_method *direct = sp_sync_method_find("open_datasync");

	if (current)
		plan_method(probe, server, current, sp_opens_directly(server, current),
					all_sizes, lengthof(all_sizes));
	if (current != buffered || sp_opens_directly(server, buffered))
		plan_method(probe, server, buffered, false, both_ends, lengthof(both_ends));
	if (current != direct || !sp_opens_directly(server, direct))
		plan_method(probe, server, direct, true, both_ends, lengthof(both_ends));
}

/* ---------------------------------------------------------------------- run */

/*
 * The counters are read between two operations, so often that those around a slow flush
 * tell what the device did meanwhile.
 */
#define READING_INTERVAL_NS		(10 * SP_NS_PER_MS)

/* The counters around a shorter flush tell nothing: busy time has steps of a clock tick. */
#define SLOW_FLUSH_NS			(5 * SP_CLOCK_TICK_NS)

static bool
may_write(sp_probe *probe, int c)
{
	int64_t		bytes = probe->written_bytes + probe->cases[c].write_size;

	if (probe->max_bytes == 0 || bytes <= probe->max_bytes)
		return true;
	probe->bytes_used_up = probe->done = true;
	return false;
}

/* What the device did between two readings. */
static sp_evidence_rates
device_between(const sp_counter_reading *before, const sp_counter_reading *after)
{
	sp_evidence evidence = {0};

	if (before->valid && after->valid)
		sp_evidence_add(&evidence, before->counters, after->counters,
						after->at_ns - before->at_ns, 1);
	return sp_evidence_rates_of(&evidence, SP_LEVEL_DEVICE);
}

static void
renew_reading(sp_probe *probe, sp_counter_reading *reading)
{
	if (sp_now_ns(probe) - reading->at_ns >= READING_INTERVAL_NS)
		sp_begin_reading(probe, reading);
}

/* One operation, and what it adds to the log.  False if it failed. */
static bool
stream_operation(sp_probe *probe, int c, sp_second *second, sp_counter_reading *before)
{
	int64_t		bytes = probe->cases[c].write_size;
	int64_t		elapsed;
	int64_t		end;

	renew_reading(probe, before);
	elapsed = sp_timed_operation(probe, c, probe->cases[c].file);
	if (elapsed < 0)
		return false;
	end = sp_now_ns(probe) - probe->started_ns;
	probe->written_bytes += bytes;
	sp_histogram_add(&probe->results[c].histogram, (uint64_t) elapsed);
	if (sp_second_add(second, end - elapsed, elapsed, bytes) && elapsed >= SLOW_FLUSH_NS)
	{
		sp_counter_reading after;

		sp_begin_reading(probe, &after);
		second->slowest_device = device_between(before, &after);
		*before = after;
	}
	return true;
}

/* The second is over: what the device did, and the sample of the case. */
static void
end_second(sp_probe *probe, int c, sp_second *second, sp_counter_reading *reading)
{
	sp_result  *result = &probe->results[c];
	sp_counter_reading begin = *reading;

	if (!sp_seconds_end(probe->seconds, sp_now_ns(probe) - probe->started_ns))
		return;
	sp_end_reading(probe, reading, &result->evidence, second->ops);
	second->device = device_between(&begin, reading);
	sp_series_add_round(&result->series,
						(double) second->busy_ns / (double) second->ops / SP_NS_PER_US);
	sp_series_end_sample(&result->series);
}

static void
stream_second(sp_probe *probe, int c, int64_t length, int64_t limit)
{
	int64_t		begin = sp_now_ns(probe);
	sp_second  *second = sp_seconds_begin(probe->seconds, c, begin - probe->started_ns);
	sp_counter_reading reading;
	sp_counter_reading before;

	if (second == NULL)
	{
		probe->done = true;
		return;
	}
	sp_begin_reading(probe, &reading);
	before = reading;
	while (sp_now_ns(probe) - begin < length && sp_now_ns(probe) < limit &&
		   may_write(probe, c) && stream_operation(probe, c, second, &before))
		;
	end_second(probe, c, second, &reading);
}

/* Every case for a second.  False if the time was up before, or the bytes. */
static bool
stream_round(sp_probe *probe, int64_t length)
{
	sp_due_operation order[SP_MAX_FILES];
	int			n = sp_shuffle_due(probe, SP_SATURATED, 1, order);
	int64_t		limit = probe->deadline_ns +
		(probe->rounds[SP_SATURATED] == 0 ? SP_FIRST_ROUND_GRACE_NS : 0);

	for (int i = 0; i < n; i++)
	{
		/* a file that has failed in this round has excluded its other cases */
		if (probe->results[order[i].c].status != SP_OK)
			continue;
		if (sp_now_ns(probe) >= limit)
			return false;
		stream_second(probe, order[i].c, length, limit);
		if (probe->done)
			return false;
	}
	probe->rounds[SP_SATURATED]++;
	probe->callbacks.round_done(probe->callbacks.context);
	return true;
}

static void
run_stream(sp_probe *probe)
{
	int64_t		length = sp_second_length_ns(probe->duration_ns,
											 sp_count_cases(probe, SP_SATURATED));

	probe->seconds->n = 0;
	probe->written_bytes = 0;
	probe->bytes_used_up = false;
	do
	{
		/* also where no operation has done so */
		probe->callbacks.check_interrupts(probe->callbacks.context);
	} while (sp_now_ns(probe) < probe->deadline_ns && sp_count_cases(probe, SP_SATURATED) > 0 &&
			 stream_round(probe, length));
}

const sp_suite sp_suite_stream = {
	.name = "stream",.plan = plan_stream,.run = run_stream
};
