/*-------------------------------------------------------------------------
 *
 * contenders.c
 *		What a run says of each method, for the verdict.
 *
 * It must not: change the probe.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <math.h>
#include <string.h>

sp_durable
sp_probe_case_durable(const sp_probe *probe, int c)
{
	const sp_evidence *evidence = &probe->results[c].evidence;
	double		seconds_per_op = evidence->ops == 0 ? NAN :
		(double) evidence->ns / (double) evidence->ops / 1e9;
	sp_durable_facts facts = {
		.syncs_nothing = probe->device.syncs_nothing,
		.write_cache = probe->device.write_cache,
		.fua = probe->device.fua,
		.has_backing = probe->device.has_backing,
	};

	facts.flushes_per_op = sp_evidence_rates_of(evidence, SP_LEVEL_DEVICE).flushes;
	facts.backing_flushes_per_op = sp_evidence_rates_of(evidence, SP_LEVEL_BACKING).flushes;
	facts.background_flushes_per_op = seconds_per_op *
		sp_evidence_max_flushes_per_second(&probe->background, SP_LEVEL_DEVICE);
	facts.background_backing_flushes_per_op = seconds_per_op *
		sp_evidence_max_flushes_per_second(&probe->background, SP_LEVEL_BACKING);
	return sp_judge_durable(&facts);
}

sp_durable
sp_probe_method_durable(const sp_probe *probe, const char *label)
{
	sp_durable	durable = SP_DURABLE_UNKNOWN;
	bool		first = true;

	for (int c = 0; c < probe->ncases; c++)
	{
		sp_durable	one;

		if (!probe->cases[c].contender || strcmp(probe->cases[c].label, label) != 0 ||
			probe->results[c].histogram.ops == 0)
			continue;
		one = sp_probe_case_durable(probe, c);
		if (one == SP_DURABLE_NO)
			return SP_DURABLE_NO;
		if (first || one == SP_DURABLE_UNKNOWN)
			durable = one;
		first = false;
	}
	return durable;
}

void
sp_probe_contenders(const sp_probe *probe, sp_contenders *contenders)
{
	int			n = 0;

	contenders->current = -1;
	contenders->margin = probe->margin;
	for (int c = 0; c < probe->ncases && n < SP_MAX_METHODS; c++)
	{
		sp_contender *contender = &contenders->list[n];

		if (!probe->cases[c].contender || probe->cases[c].regime != SP_PACED)
			continue;
		if (probe->cases[c].baseline == c)
			contenders->current = n;
		contender->name = probe->cases[c].label;
		contender->durable = sp_probe_method_durable(probe, contender->name);
		contender->speed[SP_PACED] = probe->results[c].speed;
		contender->speed[SP_SATURATED] = (sp_speed) {NAN, NAN, NAN};
		for (int s = 0; s < probe->ncases; s++)
		{
			if (probe->cases[s].contender && probe->cases[s].regime == SP_SATURATED &&
				probe->cases[s].file == probe->cases[c].file)
				contender->speed[SP_SATURATED] = probe->results[s].speed;
		}
		n++;
	}
	contenders->count = n;
}
