/*-------------------------------------------------------------------------
 *
 * arguments.c
 *		The arguments of sync_probe.probe().
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <ctype.h>
#include <math.h>

#include "utils/builtins.h"

/* ----------------------------------------------------------------- the suite */

static const sp_probe_suite *
find_suite(const char *name)
{
	StringInfoData valid;

	initStringInfo(&valid);
	for (int i = 0; sp_probe_suites[i].name; i++)
	{
		const char *known = sp_probe_suites[i].name;

		if (strcmp(known, name) == 0)
			return &sp_probe_suites[i];
		appendStringInfo(&valid, "%s\"%s\"", i == 0 ? "" : ", ", known);
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized suite \"%s\"", name),
			 isdigit((unsigned char) name[0]) ?
			 errhint("The second argument is the suite. For a time: duration => '%s'.", name) :
			 errhint("Valid suites are %s.", valid.data)));
}

/* probe_run() has not all of the arguments.  A duty_cycle of 1 is none. */
static bool
is_given(FunctionCallInfo fcinfo, sp_probe_argument arg)
{
	return (int) arg < PG_NARGS() && !PG_ARGISNULL(arg) &&
		!(arg == SP_ARG_DUTY_CYCLE && PG_GETARG_FLOAT8(arg) == 1);
}

const sp_probe_suite *
sp_suite_argument(FunctionCallInfo fcinfo)
{
	const sp_probe_suite *suite = find_suite(text_to_cstring(PG_GETARG_TEXT_PP(SP_ARG_SUITE)));

	/* it reads arguments that probe_run() has not */
	if (suite->measure && PG_NARGS() < SP_PROBE_ARGUMENTS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("suite \"%s\" is for sync_probe.probe() alone", suite->name)));
	for (int arg = 0; arg < SP_PROBE_ARGUMENTS; arg++)
	{
		if ((suite->refused & SP_REFUSE(arg)) != 0 && is_given(fcinfo, arg))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"%s\" does not apply to suite \"%s\"",
							sp_argument_name(fcinfo, arg), suite->name),
					 errhint("%s", (SP_COMMIT_ARGUMENTS & SP_REFUSE(arg)) != 0 ?
							 "Omit it, or use suite => '" SP_COMMIT_SUITE "'." : suite->refused_hint)));
	}
	return suite;
}

/* ------------------------------------------------------------------- figures */

/* Without an argument a probe takes so long. */
#define DEFAULT_DURATION_US		(5 * USECS_PER_SEC)

/* 1 if it is not given, see be_gentle() in function.c. */
double
sp_duty_cycle_argument(FunctionCallInfo fcinfo)
{
	double		duty_cycle = PG_ARGISNULL(SP_ARG_DUTY_CYCLE) ? 1 :
		PG_GETARG_FLOAT8(SP_ARG_DUTY_CYCLE);

	if (isnan(duty_cycle) || duty_cycle <= 0 || duty_cycle > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duty_cycle %g is out of range", duty_cycle),
				 errdetail("It must be greater than 0 and at most 1."),
				 errhint("With 0.2, the probe writes one fifth of the time and sleeps the rest.")));
	return duty_cycle;
}

int64
sp_probe_duration(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(SP_ARG_DURATION))
		return Min(DEFAULT_DURATION_US, sp_max_duration_ms * INT64CONST(1000));
	return sp_duration_argument(fcinfo, SP_ARG_DURATION, SP_MIN_DURATION_MS * INT64CONST(1000));
}

bool
sp_busiest_hour_argument(FunctionCallInfo fcinfo)
{
	const char *pace = PG_ARGISNULL(SP_ARG_PACE) ? NULL :
		text_to_cstring(PG_GETARG_TEXT_PP(SP_ARG_PACE));

	if (pace && strcmp(pace, "busiest hour") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized pace \"%s\"", pace),
				 errhint("Valid is \"busiest hour\". Omit it for the pace that the newest commit_waits() saw.")));
	return pace != NULL;
}

/* Arguments override the statistics of the cluster. */
void
sp_pace_arguments(FunctionCallInfo fcinfo, sp_wal_profile *profile, int min_size, int max_size)
{
	static const char *const hint = "Omit it to use the average of this cluster.";

	if (!PG_ARGISNULL(SP_ARG_FLUSH_SIZE))
	{
		profile->server.flush_size = sp_integer_argument(fcinfo, SP_ARG_FLUSH_SIZE,
														 min_size, max_size, hint);
		profile->knows_size = profile->given = true;
	}
	if (!PG_ARGISNULL(SP_ARG_FLUSH_INTERVAL))
	{
		profile->flush_interval_us = sp_interval_argument(fcinfo, SP_ARG_FLUSH_INTERVAL, 1,
														  SP_MAX_INTERVAL_US, hint);
		profile->knows_interval = profile->given = true;
	}
}

/* A time with its unit, rounded up or down: to 1 ms, or from a second on 100 ms. */
char *
sp_rounded_time(double ns, double (*round_off) (double))
{
	if (ns < 1e9)
		return psprintf("%g ms", round_off(ns / 1e6));
	return psprintf("%g s", round_off(ns / 1e8) / 10);
}

void
sp_check_duration(const sp_probe *probe)
{
	double		enough_ns;

	if (sp_probe_fits(probe, &enough_ns))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("duration %s is too short for one round of all test cases",
					sp_rounded_time((double) probe->duration_ns, rint)),
			 errdetail("At this duty_cycle and flush_interval, %s are enough.",
					   sp_rounded_time(enough_ns, ceil)),
			 errhint("Use a longer duration, a larger duty_cycle, or a shorter flush_interval.")));
}
