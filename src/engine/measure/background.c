/*-------------------------------------------------------------------------
 *
 * background.c
 *		The device's counters, around each slice and while nothing is written.
 *
 * What is counted while the probe writes nothing is background I/O, which is part of
 * what is counted during the slices.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

/*
 * The length of all idle samples and of one, as multiples of our flush time.  If no
 * flush is seen in 20 flush times, background I/O flushes in less than 1 of 6 (see
 * sp_evidence_background).  How much it writes is known only if it is seen for
 * as long as the syncs of a case.  All samples take at most a sixth of the duration: that is
 * what each of five cases has where paced flushes leave no rest, as on btrfs.
 */
#define ENOUGH_FLUSHES			20
#define IDLE_SAMPLE_FLUSHES		4
#define MAX_IDLE_SAMPLE_SHARE	6

void
sp_begin_reading(sp_probe *probe, sp_counter_reading *reading)
{
	reading->valid = probe->callbacks.read_counters != NULL &&
		probe->callbacks.read_counters(probe->callbacks.context, reading->counters);
	reading->at_ns = sp_now_ns(probe);
}

void
sp_end_reading(sp_probe *probe, sp_counter_reading *reading, sp_evidence *evidence, int64_t ops)
{
	sp_counter_reading begin = *reading;

	if (probe->callbacks.read_counters == NULL)
		return;
	sp_begin_reading(probe, reading);
	if (evidence == NULL)
		return;
	if (begin.valid && reading->valid)
		sp_evidence_add(evidence, begin.counters, reading->counters,
						reading->at_ns - begin.at_ns, ops);
	else
		evidence->lost++;
}

void
sp_idle_sample(sp_probe *probe, int64_t length_ns)
{
	sp_counter_reading reading;

	if (probe->callbacks.read_counters == NULL)
		return;
	sp_begin_reading(probe, &reading);
	probe->callbacks.sleep_until(probe->callbacks.context, reading.at_ns + length_ns);
	sp_end_reading(probe, &reading, &probe->background, 0);
}

/*
 * Take the rest since the last flush as an idle sample: what was counted is
 * background I/O.  A rest shorter than that flush is not taken.  While our flush
 * waited, the device may have served all requests of others, so that a short rest
 * sees too few of them.  How long a rest must be after a flush that failed is unknown.
 */
void
sp_sample_rest(sp_probe *probe, sp_counter_reading *reading, int64_t flush_ns)
{
	if (flush_ns >= 0 && sp_now_ns(probe) - reading->at_ns >= flush_ns)
		sp_end_reading(probe, reading, &probe->background, 0);
	else
		sp_begin_reading(probe, reading);
}

/* How long the paced case took that took longest. */
static int64_t
paced_syncs_ns(const sp_probe *probe)
{
	int64_t		longest = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == SP_PACED && probe->results[c].evidence.ns > longest)
			longest = probe->results[c].evidence.ns;
	}
	return longest;
}

/*
 * Without such rests, take idle samples between the rounds, until they are long
 * enough to exclude that background I/O flushes during each of our flushes, and as long as
 * these.
 */
void
sp_sample_more(sp_probe *probe, int64_t flush_ns)
{
	int64_t		syncs_ns = paced_syncs_ns(probe);
	int64_t		enough_ns = ENOUGH_FLUSHES * flush_ns;

	if (probe->background.ns < (syncs_ns > enough_ns ? syncs_ns : enough_ns) &&
		probe->background.ns < probe->duration_ns / MAX_IDLE_SAMPLE_SHARE &&
		sp_now_ns(probe) + IDLE_SAMPLE_FLUSHES * flush_ns < probe->deadline_ns)
		sp_idle_sample(probe, IDLE_SAMPLE_FLUSHES * flush_ns);
}

void
sp_end_flush(sp_probe *probe, sp_counter_reading *reading, sp_result *result)
{
	sp_counter_reading begin = *reading;

	sp_end_reading(probe, reading, result ? &result->evidence : NULL, 1);
	if (result == NULL || !begin.valid || !reading->valid)
		return;
	sp_windows_add(result->windows.syncs, begin.counters, reading->counters);
	result->window_ns = reading->at_ns - begin.at_ns;
}
