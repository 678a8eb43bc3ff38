/*-------------------------------------------------------------------------
 *
 * candidates.c
 *		Turn the results of a run into a comparison of methods, and word the result.
 *
 * It must not: change a result.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <math.h>
#include <string.h>

static bool
is_of_method(const sp_probe *probe, int c, const char *label)
{
	return probe->cases[c].candidate && strcmp(probe->cases[c].label, label) == 0;
}

int
sp_method_case(const sp_probe *probe, sp_regime regime, const char *label)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == regime && is_of_method(probe, c, label))
			return c;
	}
	return -1;
}

/* The windows of a case: its own, or for a method those of its paced case. */
static const sp_windows *
case_windows(const sp_probe *probe, int c)
{
	int			paced = probe->cases[c].candidate ?
		sp_method_case(probe, SP_PACED, probe->cases[c].label) : -1;

	return &probe->results[paced >= 0 ? paced : c].windows;
}

/* What the counters of a level show of a case's flushes. */
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
			sp_evidence_background(&probe->background, level).most_flushes,
		.flushed_fraction = at_best ? 1 : sp_windows_flushed_fraction(windows, level),
		.unflushed_fraction = sp_windows_unflushed_fraction(windows, level),
	};
}

static sp_durable_facts
durable_facts(const sp_probe *probe, int c, bool at_best)
{
	const sp_device_facts *device = &probe->device;
	const sp_file *file = &probe->files[probe->cases[c].file];
	const sp_evidence *evidence = &probe->results[c].evidence;
	bool		may_use_fua = device->fua &&
		sp_fua_may_replace_flush(file->method, file->direct_io);

	return (sp_durable_facts) {
		.syncs_nothing = device->syncs_nothing != NULL,
		.write_cache = device->write_cache,
		.flush_may_hide = device->flushes_uncounted || may_use_fua,
		.writes_per_op = device->writes_uncounted ? NAN :
			sp_evidence_rates_of(evidence, SP_LEVEL_DEVICE).writes,
		.device = flush_facts(probe, c, SP_LEVEL_DEVICE, at_best),
		.has_backing = device->has_backing,
		.backing_write_cache = device->backing_write_cache,
		.backing = flush_facts(probe, c, SP_LEVEL_BACKING, at_best),
	};
}

sp_durable
sp_probe_case_durable(const sp_probe *probe, int c, bool at_best)
{
	sp_durable_facts facts = durable_facts(probe, c, at_best);

	return sp_judge_durable(&facts);
}

/* The case of a method of which least is claimed; -1 if none was measured. */
static int
weakest_case(const sp_probe *probe, const char *label, bool at_best)
{
	static const int strength[SP_DURABLES] = {
		[SP_DURABLE_NO] = 0,[SP_DURABLE_UNKNOWN] = 1,
		[SP_DURABLE_NO_CACHE] = 2,[SP_DURABLE_YES] = 3,
	};
	int			least = SP_DURABLES;
	int			weakest = -1;

	for (int c = 0; c < probe->ncases; c++)
	{
		int			claim;

		if (!is_of_method(probe, c, label) || probe->results[c].histogram.ops == 0)
			continue;
		claim = strength[sp_probe_case_durable(probe, c, at_best)];
		if (claim < least)
		{
			weakest = c;
			least = claim;
		}
	}
	return weakest;
}

sp_durable
sp_probe_method_durable(const sp_probe *probe, const char *label, bool at_best)
{
	int			weakest = weakest_case(probe, label, at_best);

	return weakest < 0 ? SP_DURABLE_UNKNOWN : sp_probe_case_durable(probe, weakest, at_best);
}

bool
sp_windows_may_decide(const sp_probe *probe, const char *label)
{
	return sp_probe_method_durable(probe, label, false) == SP_DURABLE_UNKNOWN &&
		sp_probe_method_durable(probe, label, true) != SP_DURABLE_UNKNOWN;
}

const char *
sp_probe_method_doubt(const sp_probe *probe, const char *label, bool *at_backing)
{
	int			weakest = weakest_case(probe, label, false);
	sp_durable_facts facts;

	*at_backing = false;
	if (weakest < 0)
		return "none of its syncs was measured";
	facts = durable_facts(probe, weakest, false);
	return sp_unknown_durable_reason(&facts, at_backing);
}

/*
 * The rounds of a method in both regimes, and those with a slow flush.  A stall of a method
 * shows in both, and short rests do not make it rarer: a slice has more flushes.  The current
 * one has as many rounds of each, so that the shares can be compared.
 */
static sp_tail
method_tail(const sp_probe *probe, const char *label)
{
	sp_tail		sum = {0, 0};

	for (int c = 0; c < probe->ncases; c++)
	{
		if (!is_of_method(probe, c, label))
			continue;
		sum.rounds += probe->results[c].tail.rounds;
		sum.slow_rounds += probe->results[c].tail.slow_rounds;
	}
	return sum;
}

bool
sp_compare(const sp_probe *probe, const char *test, sp_comparison *comparison)
{
	*comparison = (sp_comparison) {
		.margin = probe->margin, .current = -1,
		.samples = (int) probe->samples[probe->deciding]
	};
	for (int c = 0; c < probe->ncases && comparison->count < SP_MAX_METHODS; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];
		sp_candidate *candidate = &comparison->candidates[comparison->count];

		/* a method that this platform lacks is none */
		if (!test_case->candidate || strcmp(test_case->test, test) != 0 ||
			test_case->baseline < 0 || probe->results[c].status == SP_UNSUPPORTED)
			continue;
		if (test_case->baseline == c)
		{
			comparison->current = comparison->count;
			comparison->mostly_slow = sp_is_mostly_slow(&probe->results[c]);
		}
		candidate->name = test_case->label;
		candidate->speed = probe->results[c].speed;
		comparison->count++;
	}
	return comparison->current >= 0;
}

bool
sp_judge_methods(sp_probe *probe)
{
	sp_comparison *comparison = &probe->comparison;
	const sp_sync_method *current;

	probe->judged = sp_compare(probe, sp_regime_names[probe->deciding], comparison);
	if (!probe->judged)
		return false;
	comparison->fsync_off = probe->fsync_off;
	current = sp_sync_method_find(comparison->candidates[comparison->current].name);
	for (int i = 0; i < comparison->count; i++)
	{
		sp_candidate *candidate = &comparison->candidates[i];
		const sp_sync_method *method = sp_sync_method_find(candidate->name);

		candidate->durable = sp_probe_method_durable(probe, candidate->name, false);
		candidate->tail = method_tail(probe, candidate->name);
		candidate->other_kind = method->opens_synced != current->opens_synced;
		candidate->data_only = method->data_only;
	}
	sp_judge(comparison, &probe->judgement);
	/* unsafe needs no interval, but more than a few syncs */
	return probe->samples[probe->deciding] >= SP_MIN_SAMPLES &&
		sp_is_settled(comparison, &probe->judgement) && !sp_needs_windows(probe);
}

void
sp_probe_explain(const sp_probe *probe, char reason[SP_REASON_SIZE])
{
	char		when[64];
	sp_words	words = {
		.unit = "",
		.when = when,
		.load = probe->load,
		.syncs_nothing = probe->device.syncs_nothing
	};
	sp_sentence to = sp_sentence_begin(when, sizeof(when));
	/* the pace that was achieved */
	double		interval_ms = (double) probe->paced_ns / (double) probe->rounds[SP_PACED] /
		SP_NS_PER_MS;

	if (probe->deciding == SP_SATURATED)
		sp_append(&to, " back to back");
	else if (probe->rounds[SP_PACED] > 0)
		sp_append(&to, interval_ms < 10 ? " with a flush every %.2g ms" :
				  " with a flush every %.0f ms", interval_ms);
	sp_explain(&probe->comparison, &probe->judgement, &words, reason);
}
