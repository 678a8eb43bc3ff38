/*-------------------------------------------------------------------------
 *
 * evidence.c
 *		Sum up counters, compute rates, and judge what they prove.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/evidence.h"

#include <math.h>
#include <string.h>

#include "engine/text/text.h"

/*
 * The limits are cast: where the processor computes with more digits (x87), a constant keeps
 * these, and differs from the same number in a variable.
 *
 * A sync that reaches a write-back cache makes a flush of its own, since it
 * follows its own write.  So there are 1 or more flushes per sync, or nearly
 * none; figures between the two limits prove nothing.
 */
#define FLUSHED			((double) 0.9)
#define NOT_FLUSHED		((double) 0.1)

/* Likewise, each sync makes at least one write.  Others can only add to them. */
#define NOT_WRITTEN		((double) 0.1)

/*
 * Background I/O is sampled at other times than the syncs.  So at least 0.5
 * flushes per sync must remain after subtracting twice the background rate.
 */
#define BACKGROUND_FACTOR	2
#define MIN_OWN				0.5

/*
 * A sync that reaches the cache has a flush each time, its own or one of others.  If more
 * than one sync in 20 surely saw no flush at all, that is no counting error.
 */
#define LACKING			((double) 0.05)

/* An idle sample shorter than this can miss a process that flushes 100 times a second. */
#define MIN_IDLE_SAMPLE_NS	(10 * SP_NS_PER_MS)

const char *const sp_durable_names[] = {
	[SP_DURABLE_UNKNOWN] = "unknown",[SP_DURABLE_NO] = "no",
	[SP_DURABLE_YES] = "yes",[SP_DURABLE_NO_CACHE] = "no_cache"
};

bool
sp_durable_is_safe(sp_durable durable)
{
	return durable == SP_DURABLE_YES || durable == SP_DURABLE_NO_CACHE;
}

static void
add_bytes(sp_byte_sums *sums, double bytes, double amount)
{
	sums->pairs++;
	sums->amount += amount;
	sums->bytes += bytes;
	sums->amount_squared += amount * amount;
	sums->bytes_squared += bytes * bytes;
	sums->product += bytes * amount;
}

/* The standard error of bytes / amount, a ratio of sums; NAN where it is unknown. */
static double
bytes_error(const sp_byte_sums *sums)
{
	double		n = (double) sums->pairs;
	double		ratio = sums->bytes / sums->amount;
	double		squares = sums->bytes_squared - 2 * ratio * sums->product +
		ratio * ratio * sums->amount_squared;

	if (sums->pairs < 2)
		return NAN;
	return sqrt(fmax(squares, 0) * n / (n - 1)) / sums->amount;
}

void
sp_evidence_add(sp_evidence *evidence, const sp_counters before[SP_LEVELS],
				const sp_counters after[SP_LEVELS], int64_t ns, int64_t ops)
{
	sp_counters between[SP_LEVELS];

	for (int level = 0; level < SP_LEVELS; level++)
	{
		if (!sp_counters_between(&before[level], &after[level], &between[level]))
		{
			evidence->lost++;
			return;
		}
	}
	for (int level = 0; level < SP_LEVELS; level++)
	{
		/* the first sample shows whether flushes are counted at all */
		if (evidence->ns == 0)
			evidence->counters[level] = between[level];
		else
			sp_counters_add(&evidence->counters[level], &between[level]);
	}
	add_bytes(&evidence->byte_sums, (double) between[SP_LEVEL_DEVICE].written_bytes,
			  (double) (ops > 0 ? ops : ns));
	evidence->ops += ops;
	evidence->ns += ns;
}

/*
 * An upper bound of the busy share.  The kernel has two times, and both are at
 * least the busy time. io_ticks counts a whole clock tick (1 to 10 ms) for a
 * request of 0.1 ms, so that a few short requests look like a busy device.  The
 * sum of request times counts overlapping requests twice.
 */
static double
utilization(const sp_counters *counters, int64_t ns)
{
	uint64_t	busy_ms = counters->busy_ms < counters->request_ms
		? counters->busy_ms : counters->request_ms;

	return fmin(1, (double) busy_ms * SP_NS_PER_MS / (double) ns);
}

sp_evidence_rates
sp_evidence_rates_of(const sp_evidence *evidence, sp_level level)
{
	const sp_counters *counters = &evidence->counters[level];
	sp_evidence_rates rates = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	double		ops = (double) evidence->ops;

	if (evidence->ops <= 0 || evidence->ns <= 0)
		return rates;
	if (counters->has_flushes)
		rates.flushes = (double) counters->flushes / ops;
	rates.least_flushes = sp_counters_least_flushes(counters) / ops;
	rates.required_flushes = sp_counters_required_flushes(counters) / ops;
	if (counters->flushes_only)
		return rates;
	rates.writes = (double) counters->writes / ops;
	rates.bytes = (double) counters->written_bytes / ops;
	rates.bytes_error = bytes_error(&evidence->byte_sums);
	rates.utilization = utilization(counters, evidence->ns);
	return rates;
}

/*
 * If n flushes were counted, the true rate is at most that of n + 3 sqrt(n) + 3
 * flushes (Poisson; this is wrong once in 20 times for n = 0, and less often
 * for more).
 */
sp_background_rates
sp_evidence_background(const sp_evidence *evidence, sp_level level)
{
	const sp_counters *counters = &evidence->counters[level];
	double		flushes = counters->has_flushes ? (double) counters->flushes : NAN;
	double		seconds = (double) evidence->ns / SP_NS_PER_S;

	if (evidence->ns < MIN_IDLE_SAMPLE_NS)
		return (sp_background_rates) {NAN, NAN, NAN, NAN};
	return (sp_background_rates) {
		.flushes = flushes / seconds,
		.most_flushes = (flushes + 3 * sqrt(flushes) + 3) / seconds,
		.bytes = counters->flushes_only ? NAN : (double) counters->written_bytes / seconds,
		.bytes_error = counters->flushes_only ? NAN :
			bytes_error(&evidence->byte_sums) * SP_NS_PER_S
	};
}

/*
 * Did each sync cause a flush of its own?  Control windows show it on a busy device, where the
 * mean rate of background I/O does not.  Comparisons with NAN are false, so that an
 * unknown rate proves nothing.
 */
static bool
is_flushed(const sp_flush_facts *facts)
{
	double		own = facts->least_flushes_per_op -
		BACKGROUND_FACTOR * facts->background_flushes_per_op;

	return facts->least_flushes_per_op >= FLUSHED &&
		(own >= MIN_OWN || facts->flushed_fraction >= MIN_OWN);
}

/*
 * Did hardly any sync cause a flush, or had some surely none?  Unknown background I/O
 * cannot have removed one.
 */
static bool
is_unflushed(const sp_flush_facts *facts)
{
	double		background = isnan(facts->background_flushes_per_op) ? 0 :
		facts->background_flushes_per_op;

	return facts->unflushed_fraction > LACKING ||
		(facts->flushes_per_op < MIN_OWN &&
		 facts->flushes_per_op - BACKGROUND_FACTOR * background < NOT_FLUSHED);
}

static bool
has_volatile_cache(const char *write_cache)
{
	return strcmp(write_cache, "write back") == 0;
}

sp_durable
sp_judge_durable(const sp_durable_facts *facts)
{
	bool		flushed = is_flushed(&facts->device);

	if (facts->syncs_nothing || facts->writes_per_op < NOT_WRITTEN)
		return SP_DURABLE_NO;
	if (flushed && (!facts->has_backing || is_flushed(&facts->backing)))
		return SP_DURABLE_YES;
	if (has_volatile_cache(facts->write_cache) && !facts->flush_may_hide &&
		is_unflushed(&facts->device))
		return SP_DURABLE_NO;

	/*
	 * A loop device has no cache of its own: its data are in the page cache of this
	 * machine.  Set to write through it passes no flush on, and its data stay there.
	 */
	if (strcmp(facts->has_backing ? facts->backing_write_cache : facts->write_cache,
			   "write through") == 0 && (flushed || !facts->has_backing))
		return SP_DURABLE_NO_CACHE;
	return SP_DURABLE_UNKNOWN;
}

/* Why flushes that were not is_flushed() leave open whether syncs arrive. */
static const char *
doubt(const sp_flush_facts *flushes)
{
	if (isnan(flushes->least_flushes_per_op))
		return "flushes are not counted";
	if (flushes->least_flushes_per_op < FLUSHED)
		return "there were fewer flushes than syncs, but not so few that this proves anything";
	if (isnan(flushes->background_flushes_per_op))
		return "there were flushes, but it was not seen how many background I/O makes";
	return "background I/O was not seen for long enough, or flushes so often that it may have made all";
}

const char *
sp_unknown_durable_reason(const sp_durable_facts *facts, bool *at_backing)
{
	const sp_flush_facts *device = &facts->device;

	*at_backing = false;
	if (sp_judge_durable(facts) != SP_DURABLE_UNKNOWN)
		return NULL;
	if (is_flushed(device))
	{
		*at_backing = true;
		return doubt(&facts->backing);
	}
	if (isnan(device->least_flushes_per_op) || device->least_flushes_per_op >= FLUSHED)
		return doubt(device);
	if (!has_volatile_cache(facts->write_cache))
		return strcmp(facts->write_cache, "write through") == 0 ?
			"the loop device is set to write through, so that it passes no flush on" :
			"it is not known whether the write cache is volatile";
	if (facts->flush_may_hide)
		return "a FUA write may replace a flush, or the driver may not count flushes";
	if (isnan(device->flushes_per_op))
		return "a disk had too few flushes, and it is not known whether it needs them";
	return doubt(device);
}

/* ------------------------------------------------------------------ windows */

void
sp_windows_add(sp_window_count counts[SP_LEVELS], const sp_counters before[SP_LEVELS],
			   const sp_counters after[SP_LEVELS])
{
	for (int level = 0; level < SP_LEVELS; level++)
	{
		sp_counters between;
		double		least;

		if (!sp_counters_between(&before[level], &after[level], &between))
			continue;
		least = sp_counters_least_flushes(&between);
		if (isnan(least))
			continue;
		counts[level].all++;
		counts[level].unflushed += least < 1;
		counts[level].lacking += sp_counters_required_flushes(&between) < 1;
	}
}

/*
 * A bound of a share of which k in n were seen, so many standard errors away (Wilson's
 * interval): the upper one, or with negative errors the lower one.
 */
static double
share_bound(int64_t k, int64_t n, double errors)
{
	double		share = (double) k / (double) n;
	double		squared = errors * errors / (double) n;
	double		spread = errors * sqrt(share * (1 - share) / (double) n + squared / 4 / (double) n);

	return (share + squared / 2 + spread) / (1 + squared);
}

double
sp_windows_flushed_fraction(const sp_windows *windows, sp_level level)
{
	const sp_window_count *syncs = &windows->syncs[level];
	const sp_window_count *controls = &windows->controls[level];

	if (syncs->all == 0 || controls->all == 0 || controls->unflushed == 0)
		return NAN;
	return fmax(0, 1 - share_bound(syncs->unflushed, syncs->all, 2) /
				share_bound(controls->unflushed, controls->all, -2));
}

double
sp_windows_unflushed_fraction(const sp_windows *windows, sp_level level)
{
	const sp_window_count *syncs = &windows->syncs[level];

	return syncs->all == 0 ? NAN : share_bound(syncs->lacking, syncs->all, -3);
}
