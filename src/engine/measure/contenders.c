/*-------------------------------------------------------------------------
 *
 * contenders.c
 *		Turn the results of a run into a comparison of methods.
 *
 * It must not: change the probe.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <math.h>
#include <string.h>

#include "engine/text/units.h"

/* The case of another regime that measures the same file; -1 if there is none. */
static int
same_file_in(const sp_probe *probe, sp_regime regime, int file)
{
	int			found = -1;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].contender && probe->cases[c].regime == regime &&
			probe->cases[c].file == file)
			found = c;
	}
	return found;
}

/*
 * The windows that tell of a case: its own, or, if it is not paced, those of the paced
 * case of the same file and so of the same calls.
 */
static const sp_windows *
case_windows(const sp_probe *probe, int c)
{
	int			paced = same_file_in(probe, SP_PACED, probe->cases[c].file);

	return &probe->results[paced >= 0 && probe->cases[c].regime != SP_PACED ? paced : c].windows;
}

/*
 * What the counters of a level say of a case's flushes.  at_best: if sham windows showed
 * that all of them are its own.
 */
static sp_flush_facts
flush_facts(const sp_probe *probe, int c, sp_level level, bool at_best)
{
	const sp_evidence *evidence = &probe->results[c].evidence;
	const sp_windows *windows = case_windows(probe, c);
	double		seconds_per_op = evidence->ops == 0 ? NAN :
		(double) evidence->ns / (double) evidence->ops / SP_NS_PER_S;
	sp_evidence_rates rates = sp_evidence_rates_of(evidence, level);

	return (sp_flush_facts) {
		.flushes_per_op = rates.required_flushes,
		.least_flushes_per_op = rates.least_flushes,
		.background_flushes_per_op = seconds_per_op *
			sp_evidence_max_flushes_per_second(&probe->background, level),
		.own_share = at_best ? 1 : sp_windows_own_share(windows, level),
		.lacking_share = sp_windows_lacking_share(windows, level),
	};
}

static sp_durable
case_durable(const sp_probe *probe, int c, bool at_best)
{
	const sp_device_facts *device = &probe->device;
	const sp_file *file = &probe->files[probe->cases[c].file];
	const sp_evidence *evidence = &probe->results[c].evidence;
	bool		may_use_fua = device->fua && sp_fua_may_replace_flush(file->method, file->direct_io);
	sp_durable_facts facts = {
		.syncs_nothing = device->syncs_nothing,
		.write_cache = device->write_cache,
		.flush_may_hide = device->flushes_uncounted || may_use_fua,
		.writes_per_op = device->writes_uncounted ? NAN :
			sp_evidence_rates_of(evidence, SP_LEVEL_DEVICE).writes,
		.device = flush_facts(probe, c, SP_LEVEL_DEVICE, at_best),
		.has_backing = device->has_backing,
		.backing_write_cache = device->backing_write_cache,
		.backing = flush_facts(probe, c, SP_LEVEL_BACKING, at_best),
	};

	return sp_judge_durable(&facts);
}

sp_durable
sp_probe_case_durable(const sp_probe *probe, int c)
{
	return case_durable(probe, c, false);
}

/* The word that claims less. */
static sp_durable
weaker_of(sp_durable one, sp_durable other)
{
	static const int strength[SP_DURABLES] = {
		[SP_DURABLE_NO] = 0,[SP_DURABLE_UNKNOWN] = 1,
		[SP_DURABLE_NO_CACHE] = 2,[SP_DURABLE_YES] = 3,
	};

	return strength[one] < strength[other] ? one : other;
}

static sp_durable
method_durable(const sp_probe *probe, const char *label, bool at_best)
{
	sp_durable	durable = SP_DURABLE_YES;
	bool		measured = false;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (!probe->cases[c].contender || strcmp(probe->cases[c].label, label) != 0 ||
			probe->results[c].histogram.ops == 0)
			continue;
		durable = weaker_of(durable, case_durable(probe, c, at_best));
		measured = true;
	}
	return measured ? durable : SP_DURABLE_UNKNOWN;
}

sp_durable
sp_probe_method_durable(const sp_probe *probe, const char *label)
{
	return method_durable(probe, label, false);
}

bool
sp_windows_may_tell(const sp_probe *probe, const char *label)
{
	return method_durable(probe, label, false) == SP_DURABLE_UNKNOWN &&
		method_durable(probe, label, true) != SP_DURABLE_UNKNOWN;
}

/* The pace of the cluster and of the probe, without the flush time of the current method. */
static sp_pace
pace_of(const sp_probe *probe)
{
	sp_pace		pace = {NAN, NAN, NAN};

	if (probe->cluster_interval_ns > 0)
		pace.cluster_interval_us = (double) probe->cluster_interval_ns / SP_NS_PER_US;
	if (probe->rounds[SP_PACED] > 0)
		pace.paced_interval_us =
			(double) probe->paced_ns / (double) probe->rounds[SP_PACED] / SP_NS_PER_US;
	return pace;
}

/* What the saturated case of a contender tells. */
static void
add_saturated(const sp_result *result, bool is_current, sp_contender *contender, sp_pace *pace)
{
	contender->speed[SP_SATURATED] = result->speed;
	contender->tail[SP_SATURATED] = result->tail;
	if (is_current)
		pace->saturated_flush_us = sp_histogram_mean_ns(&result->histogram) / SP_NS_PER_US;
}

bool
sp_probe_compare(const sp_probe *probe, sp_comparison *comparison)
{
	memset(comparison, 0, sizeof(*comparison));
	comparison->margin = probe->margin;
	comparison->pace = pace_of(probe);
	comparison->current = -1;
	for (int c = 0; c < probe->ncases && comparison->count < SP_MAX_METHODS; c++)
	{
		const sp_test_case *paced = &probe->cases[c];
		sp_contender *contender = &comparison->contenders[comparison->count];
		int			saturated = same_file_in(probe, SP_SATURATED, paced->file);

		if (!paced->contender || paced->regime != SP_PACED)
			continue;
		if (paced->baseline == c)
			comparison->current = comparison->count;
		contender->name = paced->label;
		contender->durable = sp_probe_method_durable(probe, contender->name);
		contender->speed[SP_PACED] = probe->results[c].speed;
		contender->tail[SP_PACED] = probe->results[c].tail;
		contender->speed[SP_SATURATED] = (sp_speed) {NAN, NAN, NAN};
		if (saturated >= 0)
			add_saturated(&probe->results[saturated], paced->baseline == c, contender,
						  &comparison->pace);
		comparison->count++;
	}
	sp_classify(comparison);
	return comparison->current >= 0;
}
