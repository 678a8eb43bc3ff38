/*-------------------------------------------------------------------------
 *
 * plan.c
 *		Make the plan of a suite, make it smaller where space or descriptors are short, and
 *		decide whether it fits into its duration.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

#include <math.h>

/* A suite cycles through its files, and smaller ones would soon be rewritten. */
#define FILE_MIN_SIZE	(1024 * 1024)

int
sp_plan_file(sp_probe *probe, const sp_sync_method *method, bool direct_io, int64_t size,
			 int layout_write_size, bool offered)
{
	probe->files[probe->nfiles] = (sp_file) {
		.method = method, .direct_io = direct_io, .size = size,
		.layout_write_size = layout_write_size, .fd = -1, .directory_fd = -1, .copy = -1,
		.status = offered ? SP_OK : SP_UNSUPPORTED,
	};
	return probe->nfiles++;
}

int
sp_plan_case(sp_probe *probe, sp_test_case test_case)
{
	probe->cases[probe->ncases] = test_case;
	probe->results[probe->ncases].status = probe->files[test_case.file].status;
	return probe->ncases++;
}

bool
sp_opens_directly(const sp_server *server, const sp_sync_method *method)
{
	return server->direct_io_all || (server->direct_io_open && method->opens_synced);
}

bool
sp_suite_drop_copies(sp_probe *probe)
{
	int			first = probe->nfiles;

	for (int i = 0; i < probe->nfiles; i++)
	{
		if (probe->files[i].copy >= 0 && probe->files[i].copy < first)
			first = probe->files[i].copy;
		probe->files[i].copy = -1;
	}
	if (first == probe->nfiles)
		return false;
	probe->nfiles = first;
	return true;
}

static bool
halve_files(sp_probe *probe)
{
	for (int i = 0; i < probe->nfiles; i++)
	{
		/* a smaller segment would be another question */
		if (probe->files[i].made_by_engine || probe->files[i].size / 2 < FILE_MIN_SIZE)
			return false;
	}
	/* a flush of several small writes is shorter than any file */
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->files[probe->cases[c].file].size / 2 < probe->cases[c].write_size)
			return false;
	}
	for (int i = 0; i < probe->nfiles; i++)
		probe->files[i].size /= 2;
	return true;
}

bool
sp_suite_shrink_files(sp_probe *probe)
{
	return halve_files(probe) || sp_suite_drop_copies(probe);
}

/* ------------------------------------------------------------------ duration */

double
sp_regime_share(const sp_probe *probe, sp_regime regime)
{
	sp_regime	other = regime == SP_PACED ? SP_SATURATED : SP_PACED;

	if (sp_count_cases(probe, other) == 0)
		return 1;
	return regime == probe->deciding ? SP_DECIDING_SHARE : 1 - SP_DECIDING_SHARE;
}

/*
 * The paced regime needs one flush interval, the saturated one a slice for each case, which
 * lasts 4 ms or its share of the duration, with the rests of the duty cycle.  No speed of the
 * device is assumed: for a slow one, the first round has two more seconds.
 */
bool
sp_probe_fits(const sp_probe *probe, double *enough_ns)
{
	double		duration = (double) probe->duration_ns;
	double		paced_ns = sp_count_cases(probe, SP_PACED) > 0 ?
		(double) probe->flush_interval_ns : 0;
	double		slices_ns = (double) (sp_count_cases(probe, SP_SATURATED) * SP_SLICE_NS);
	double		share_ns = sp_regime_share(probe, SP_SATURATED) * duration;

	*enough_ns = paced_ns + slices_ns / probe->duty_cycle;
	return probe->suite->any_duration ||
		paced_ns + fmin(slices_ns, share_ns) / probe->duty_cycle <= duration;
}
