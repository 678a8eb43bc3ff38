/*-------------------------------------------------------------------------
 *
 * verdict_function.c
 *		sync_probe_internal.verdict(), kinds_verdict() and durable(): the engine's rules on
 *		recorded figures.
 *
 * The views judge recorded figures with the same code that judged the running probe,
 * so that both always agree.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "engine/verdict/reason.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"

double		sp_margin = 0.05;

/* The arguments of verdict(), in order; speeds are three arrays, tails are two. */
enum
{
	ARG_CURRENT_METHOD,
	ARG_METHODS,
	ARG_PACED_SPEEDS,
	ARG_SATURATED_SPEEDS = ARG_PACED_SPEEDS + 3,
	ARG_PACED_TAILS = ARG_SATURATED_SPEEDS + 3,
	ARG_SATURATED_TAILS = ARG_PACED_TAILS + 2,
	ARG_DURABLE = ARG_SATURATED_TAILS + 2,
	ARG_CLUSTER_INTERVAL,
	ARG_PACED_INTERVAL,
	ARG_SATURATED_FLUSH
};

static void
check_count(int n, int count, const char *what)
{
	if (n != count)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of length %d for %s, expected %d", n, what, count)));
}

/* Copy an array argument; null becomes NAN. */
static void
read_doubles(FunctionCallInfo fcinfo, int arg, int count, double *into)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(arg), FLOAT8OID, sizeof(float8),
					  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls, &n);
	check_count(n, count, "numbers");
	for (int i = 0; i < n; i++)
		into[i] = nulls[i] ? NAN : DatumGetFloat8(values[i]);
}

/* Three arrays: the speeds of a regime. */
static void
read_speeds(FunctionCallInfo fcinfo, int arg, sp_comparison *comparison, sp_regime regime)
{
	double		estimates[SP_MAX_METHODS];
	double		lows[SP_MAX_METHODS];
	double		highs[SP_MAX_METHODS];

	read_doubles(fcinfo, arg, comparison->count, estimates);
	read_doubles(fcinfo, arg + 1, comparison->count, lows);
	read_doubles(fcinfo, arg + 2, comparison->count, highs);
	for (int i = 0; i < comparison->count; i++)
		comparison->contenders[i].speed[regime] = (sp_speed) {estimates[i], lows[i], highs[i]};
}

/* Two arrays: the rounds of a regime, and those with a slow flush.  Null is none. */
static void
read_tails(FunctionCallInfo fcinfo, int arg, sp_comparison *comparison, sp_regime regime)
{
	double		rounds[SP_MAX_METHODS];
	double		slow_rounds[SP_MAX_METHODS];

	read_doubles(fcinfo, arg, comparison->count, rounds);
	read_doubles(fcinfo, arg + 1, comparison->count, slow_rounds);
	for (int i = 0; i < comparison->count; i++)
	{
		if (slow_rounds[i] >= 0 && slow_rounds[i] <= rounds[i] && rounds[i] <= PG_INT32_MAX)
			comparison->contenders[i].tail[regime] =
				(sp_tail) {(int64) rounds[i], (int64) slow_rounds[i]};
	}
}

/* The words of sync_probe_internal.durable(), for all contenders. */
static void
read_durable(FunctionCallInfo fcinfo, int arg, sp_comparison *comparison)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(arg), TEXTOID, -1, false, TYPALIGN_INT,
					  &values, &nulls, &n);
	check_count(n, comparison->count, "words on durability");
	for (int i = 0; i < n; i++)
	{
		char	   *word = nulls[i] ? "" : TextDatumGetCString(values[i]);
		sp_contender *contender = &comparison->contenders[i];

		contender->durable = SP_DURABLE_UNKNOWN;
		for (int d = SP_DURABLE_UNKNOWN; d < SP_DURABLES; d++)
		{
			if (strcmp(word, sp_durable_name(d)) == 0)
				contender->durable = d;
		}
	}
}

/*
 * The methods, and which of them is the current one.  Returns whether there is something to
 * judge: an imported run may have any names.
 */
static bool
read_method_names(FunctionCallInfo fcinfo, sp_comparison *comparison)
{
	char	   *current_name = text_to_cstring(PG_GETARG_TEXT_PP(ARG_CURRENT_METHOD));
	Datum	   *names;
	bool	   *nulls;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(ARG_METHODS), TEXTOID, -1, false, TYPALIGN_INT,
					  &names, &nulls, &comparison->count);
	if (comparison->count > SP_MAX_METHODS)
		return false;
	comparison->current = -1;
	for (int i = 0; i < comparison->count; i++)
	{
		comparison->contenders[i].name = nulls[i] ? "" : TextDatumGetCString(names[i]);
		if (strcmp(comparison->contenders[i].name, current_name) == 0)
			comparison->current = i;
	}
	return comparison->current >= 0;
}

/* The name of a method, null for -1. */
static void
put_method(sp_row *row, const char *column, const sp_comparison *comparison, int method)
{
	sp_row_put_text(row, column, method < 0 ? NULL : comparison->contenders[method].name);
}

/*
 * sync_probe_internal.verdict(current_method text, method text[],
 *		paced_speed float8[], paced_speed_low, paced_speed_high,
 *		saturated_speed, saturated_speed_low, saturated_speed_high float8[],
 *		paced_rounds, paced_slow_rounds, saturated_rounds, saturated_slow_rounds float8[],
 *		durable text[], cluster_interval_us float8, paced_interval_us float8,
 *		saturated_flush_us float8,
 *		OUT verdict text, OUT recommended_method text, OUT best_method text,
 *		OUT loss_bound float8, OUT deciding_test text, OUT reason text,
 *		OUT times_as_long float8)
 *
 * All arrays have one element for each method.  The speeds of the current method are
 * those of its A/A control.  A null element, or a NaN, is unknown.  The function is
 * strict, and null if the current method is not among the methods, or if these are too many.
 */
SP_FUNCTION(sync_probe_verdict,
			"text, text[], float8[], float8[], float8[], float8[], float8[], float8[], float8[], "
			"float8[], float8[], float8[], text[], float8, float8, float8 -> verdict text, "
			"recommended_method text, best_method text, loss_bound float8, deciding_test text, "
			"reason text, times_as_long float8 STRICT")
{
	sp_comparison comparison = {.margin = sp_margin};
	sp_judgement judgement;
	char		reason[SP_REASON_SIZE];
	TupleDesc	row_type;
	sp_row	   *row;
	double		times_as_long;

	if (get_call_result_type(fcinfo, NULL, &row_type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (!read_method_names(fcinfo, &comparison))
		PG_RETURN_NULL();
	read_speeds(fcinfo, ARG_PACED_SPEEDS, &comparison, SP_PACED);
	read_speeds(fcinfo, ARG_SATURATED_SPEEDS, &comparison, SP_SATURATED);
	read_tails(fcinfo, ARG_PACED_TAILS, &comparison, SP_PACED);
	read_tails(fcinfo, ARG_SATURATED_TAILS, &comparison, SP_SATURATED);
	read_durable(fcinfo, ARG_DURABLE, &comparison);
	comparison.pace.cluster_interval_us = PG_GETARG_FLOAT8(ARG_CLUSTER_INTERVAL);
	comparison.pace.paced_interval_us = PG_GETARG_FLOAT8(ARG_PACED_INTERVAL);
	comparison.pace.saturated_flush_us = PG_GETARG_FLOAT8(ARG_SATURATED_FLUSH);

	sp_classify(&comparison);
	sp_judge(&comparison, &judgement);
	times_as_long = sp_explain(&comparison, &judgement, reason);
	/* it may have been cut within a letter of a method's name */
	reason[pg_mbcliplen(reason, strlen(reason), strlen(reason))] = '\0';

	row = sp_row_make(BlessTupleDesc(row_type));
	sp_row_put_text(row, "verdict", sp_verdict_name(judgement.verdict));
	put_method(row, "recommended_method", &comparison, judgement.recommended);
	put_method(row, "best_method", &comparison, judgement.best);
	sp_row_put_number(row, "loss_bound", judgement.loss_bound, 3);
	sp_row_put_text(row, "deciding_test", sp_regime_name(comparison.deciding));
	sp_row_put_text(row, "reason", reason);
	if (!isnan(times_as_long))
		sp_row_put(row, "times_as_long", FLOAT8OID, Float8GetDatum(times_as_long));
	return HeapTupleGetDatum(sp_row_form(row));
}

/*
 * sync_probe_internal.kinds_verdict(current_kind text, kind text[],
 *		speed float8[], speed_low float8[], speed_high float8[],
 *		OUT verdict text, OUT recommended_kind text)
 *
 * The same for kinds of WAL segments, whose one figure takes the place of both regimes.
 */
SP_FUNCTION(sync_probe_kinds_verdict,
			"text, text[], float8[], float8[], float8[] -> verdict text, recommended_kind text "
			"STRICT")
{
	sp_comparison comparison = {.margin = sp_margin, .pace = {NAN, NAN, NAN}};
	sp_judgement judgement;
	TupleDesc	row_type;
	sp_row	   *row;

	if (get_call_result_type(fcinfo, NULL, &row_type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (!read_method_names(fcinfo, &comparison))
		PG_RETURN_NULL();
	read_speeds(fcinfo, ARG_PACED_SPEEDS, &comparison, SP_PACED);
	read_speeds(fcinfo, ARG_PACED_SPEEDS, &comparison, SP_SATURATED);
	for (int i = 0; i < comparison.count; i++)
		comparison.contenders[i].durable = SP_DURABLE_UNKNOWN;

	sp_take_out_noise(&comparison);
	sp_classify(&comparison);
	sp_judge(&comparison, &judgement);

	row = sp_row_make(BlessTupleDesc(row_type));
	sp_row_put_text(row, "verdict", sp_verdict_name(judgement.verdict));
	put_method(row, "recommended_kind", &comparison, judgement.recommended);
	return HeapTupleGetDatum(sp_row_form(row));
}

/* A number, NAN for null. */
static double
double_argument(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NAN : PG_GETARG_FLOAT8(arg);
}

/* Some text, empty for null. */
static char *
text_argument(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(arg));
}

/*
 * sync_probe_internal.durable(write_cache text, flush_may_hide boolean, syncs_nothing boolean,
 *		flushes_per_op float8, background_flushes_per_op float8,
 *		has_backing boolean, backing_flushes_per_op float8,
 *		background_backing_flushes_per_op float8,
 *		writes_per_op float8, backing_write_cache text,
 *		least_flushes_per_op float8, own_share float8, lacking_share float8,
 *		backing_own_share float8, OUT durable text, OUT why text)
 *
 * Do the syncs of a test case reach the device?  A null argument is unknown.
 */
SP_FUNCTION(sync_probe_durable,
			"text, bool, bool, float8, float8, bool, float8, float8, float8, text, float8, "
			"float8, float8, float8 -> durable text, why text")
{
	sp_durable_facts facts = {
		.write_cache = text_argument(fcinfo, 0),
		.flush_may_hide = PG_ARGISNULL(1) || PG_GETARG_BOOL(1),
		.syncs_nothing = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2),
		.device.flushes_per_op = double_argument(fcinfo, 3),
		.device.least_flushes_per_op = double_argument(fcinfo, 10),
		.device.background_flushes_per_op = double_argument(fcinfo, 4),
		.has_backing = !PG_ARGISNULL(5) && PG_GETARG_BOOL(5),
		.backing.least_flushes_per_op = double_argument(fcinfo, 6),
		.backing.background_flushes_per_op = double_argument(fcinfo, 7),
		.writes_per_op = double_argument(fcinfo, 8),
		.backing_write_cache = text_argument(fcinfo, 9),
		.device.own_share = double_argument(fcinfo, 11),
		.device.lacking_share = double_argument(fcinfo, 12),
		.backing.own_share = double_argument(fcinfo, 13),
	};
	TupleDesc	row_type;
	sp_row	   *row;
	const char *why;
	bool		at_backing;

	if (get_call_result_type(fcinfo, NULL, &row_type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	/* of one disk, the sum is the least; of several that differ it proves nothing */
	if (PG_ARGISNULL(10) && strcmp(facts.write_cache, SP_MIXED_CACHES) != 0)
		facts.device.least_flushes_per_op = facts.device.flushes_per_op;

	why = sp_unknown_durable_reason(&facts, &at_backing);
	row = sp_row_make(BlessTupleDesc(row_type));
	sp_row_put_text(row, "durable", sp_durable_name(sp_judge_durable(&facts)));
	sp_row_put_text(row, "why",
					at_backing ? psprintf("at the disk below the loop device, %s", why) : why);
	return HeapTupleGetDatum(sp_row_form(row));
}
