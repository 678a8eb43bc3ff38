/*-------------------------------------------------------------------------
 *
 * suite_stream.c
 *		The suite stream: how fast WAL can stream, one test case after the other for a
 *		second each.
 *
 * How fast WAL can stream is measured with the method of this server: in pages, as single
 * commits write, in 64 kB, as busy ones do together, and in 1 MB, as bulk loads do.  What
 * the storage could do is measured with the same smallest and largest block with the flags of
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

#include <math.h>

#include "engine/measure/stream.h"

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
	int64_t		max_bytes = ((const sp_stream *) probe->data)->max_bytes;
	int64_t		largest = all_sizes[lengthof(all_sizes) - 1].bytes;
	int64_t		size = STREAM_FILE_SIZE;

	while (max_bytes > 0 && size > max_bytes && size > largest)
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

	((sp_stream *) probe->data)->max_bytes = server->max_stream_bytes;
	if (current)
		plan_method(probe, server, current, sp_opens_directly(server, current),
					all_sizes, lengthof(all_sizes));
	if (buffered && (current != buffered || sp_opens_directly(server, buffered)))
		plan_method(probe, server, buffered, false, both_ends, lengthof(both_ends));
	if (direct && (current != direct || !sp_opens_directly(server, direct)))
		plan_method(probe, server, direct, true, both_ends, lengthof(both_ends));
}

/* ---------------------------------------------------------------------- log */

/* The end of the run cuts the last second; what is at least half as long as it should is whole. */
#define WHOLE_SECOND	0.5

/*
 * Every test case has a second before the duration is over.  The log has room for all
 * seconds, also if the first round of the cases ends late.
 */
int64_t
sp_second_length_ns(int64_t duration_ns, int cases)
{
	int64_t		length = SP_NS_PER_S;
	int64_t		rows = SP_MAX_SECONDS - cases - 1;

	if (duration_ns / rows > length)
		length = (duration_ns / rows / SP_NS_PER_S + 1) * SP_NS_PER_S;
	return cases > 0 && duration_ns / cases < length ? duration_ns / cases : length;
}

double
sp_second_rate(const sp_second *second)
{
	return second->length_ns > 0 ?
		(double) second->bytes * SP_NS_PER_S / (double) second->length_ns : NAN;
}

sp_stream_rates
sp_stream_rates_of(const sp_stream *stream, int test_case)
{
	sp_stream_rates rates = {NAN, NAN};
	sp_second	sum = {0};
	int64_t		longest_ns = 0;

	for (int i = 0; i < stream->n; i++)
	{
		const sp_second *second = &stream->seconds[i];

		if (second->test_case != test_case)
			continue;
		sum.length_ns += second->length_ns;
		sum.bytes += second->bytes;
		if (second->length_ns > longest_ns)
			longest_ns = second->length_ns;
	}
	rates.slowest = rates.mean = sp_second_rate(&sum);
	if (longest_ns > SP_NS_PER_S)
		longest_ns = SP_NS_PER_S;
	for (int i = 0; i < stream->n; i++)
	{
		const sp_second *second = &stream->seconds[i];

		if (second->test_case == test_case &&
			(double) second->length_ns >= WHOLE_SECOND * (double) longest_ns)
			rates.slowest = fmin(rates.slowest, sp_second_rate(second));
	}
	return rates;
}

/* ---------------------------------------------------------------------- run */

/*
 * The counters are read between two operations, so often that those around a slow flush
 * show what the device did meanwhile.
 */
#define READING_INTERVAL_NS		(10 * SP_NS_PER_MS)

/* The counters around a shorter flush show nothing: busy time has steps of a clock tick. */
#define SLOW_FLUSH_NS			(5 * SP_CLOCK_TICK_NS)

static bool
may_write(sp_probe *probe, int c)
{
	sp_stream  *stream = probe->data;
	int64_t		bytes = stream->written_bytes + probe->cases[c].write_size;

	if (stream->max_bytes == 0 || bytes <= stream->max_bytes)
		return true;
	stream->bytes_used_up = probe->done = true;
	return false;
}

static sp_evidence_rates
device_between(const sp_counter_reading *before, const sp_counter_reading *after)
{
	sp_evidence evidence = {0};

	if (before->valid && after->valid)
		sp_evidence_add(&evidence, before->counters, after->counters,
						after->at_ns - before->at_ns, 1);
	return sp_evidence_rates_of(&evidence, SP_LEVEL_DEVICE);
}

/* One operation, and what it adds to the log.  False if it failed. */
static bool
stream_operation(sp_probe *probe, int c, sp_second *second, sp_counter_reading *before)
{
	int64_t		elapsed;

	if (sp_now_ns(probe) - before->at_ns >= READING_INTERVAL_NS)
		sp_begin_reading(probe, before);
	elapsed = sp_timed_operation(probe, c, probe->cases[c].file);
	if (elapsed < 0)
		return false;
	sp_histogram_add(&probe->results[c].histogram, (uint64_t) elapsed);
	((sp_stream *) probe->data)->written_bytes += probe->cases[c].write_size;
	second->ops++;
	second->bytes += probe->cases[c].write_size;
	second->busy_ns += elapsed;
	if (second->ops > 1 && elapsed <= second->slowest_ns)
		return true;
	second->slowest_ns = elapsed;
	if (elapsed >= SLOW_FLUSH_NS)
	{
		sp_counter_reading after;

		sp_begin_reading(probe, &after);
		second->slowest_utilization = device_between(before, &after).utilization;
		*before = after;
	}
	return true;
}

/*
 * One case for so long: a second of the log, and a sample of the case.  One without an
 * operation is dropped.
 */
static void
stream_second(sp_probe *probe, int c, int64_t length, int64_t limit)
{
	sp_stream  *stream = probe->data;
	sp_second  *second = &stream->seconds[stream->n];
	sp_result  *result = &probe->results[c];
	int64_t		begin_ns = sp_now_ns(probe);
	sp_counter_reading begin;
	sp_counter_reading before;
	sp_counter_reading end;

	*second = (sp_second) {
		.test_case = c, .begin_ns = begin_ns - probe->started_ns, .slowest_utilization = NAN
	};
	sp_begin_reading(probe, &begin);
	before = end = begin;
	while (sp_now_ns(probe) - begin_ns < length && sp_now_ns(probe) < limit &&
		   may_write(probe, c) && stream_operation(probe, c, second, &before))
		;
	if (second->ops == 0)
		return;
	stream->n++;
	second->length_ns = sp_now_ns(probe) - begin_ns;
	sp_end_reading(probe, &end, &result->evidence, second->ops);
	second->device = device_between(&begin, &end);
	sp_series_add_round(&result->series,
						(double) second->busy_ns / (double) second->ops / SP_NS_PER_US);
	sp_series_end_sample(&result->series);
}

/* Every case for a second.  False if the time was up before, or the bytes. */
static bool
stream_round(sp_probe *probe, int64_t length)
{
	sp_due_operation due[SP_MAX_FILES];
	int			n = sp_shuffle_due(probe, SP_SATURATED, 1, due);
	int64_t		limit = sp_round_limit(probe, SP_SATURATED);

	for (int i = 0; i < n; i++)
	{
		/* a file that has failed in this round has excluded its other cases */
		if (probe->results[due[i].c].status != SP_OK)
			continue;
		if (sp_now_ns(probe) >= limit || ((sp_stream *) probe->data)->n == SP_MAX_SECONDS)
			return false;
		stream_second(probe, due[i].c, length, limit);
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

	do
	{
		/* also where no operation has done so */
		probe->callbacks.check_interrupts(probe->callbacks.context);
	} while (sp_now_ns(probe) < probe->deadline_ns && sp_count_cases(probe, SP_SATURATED) > 0 &&
			 stream_round(probe, length));
}

const sp_suite sp_suite_stream = {
	.data_size = sizeof(sp_stream),.plan = plan_stream,.run = run_stream
};
