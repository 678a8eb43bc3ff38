/*-------------------------------------------------------------------------
 *
 * verdict_function.c
 *		sync_probe_internal.verdict() and durable(): the engine's rules on recorded figures.
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

PG_FUNCTION_INFO_V1(sync_probe_verdict);
PG_FUNCTION_INFO_V1(sync_probe_durable);

static void
check_count(int n, int count, const char *what)
{
	if (n != count)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of %d %s for %d methods", n, what, count)));
}

/* Copy an array argument into a field of all contenders; null becomes NAN. */
static void
read_doubles(FunctionCallInfo fcinfo, int arg, sp_comparison *comparison, size_t offset)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(arg), FLOAT8OID, sizeof(float8),
					  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &values, &nulls, &n);
	check_count(n, comparison->count, "speeds");
	for (int i = 0; i < n; i++)
		*(double *) ((char *) &comparison->contenders[i] + offset) =
			nulls[i] ? NAN : DatumGetFloat8(values[i]);
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
		for (int d = SP_DURABLE_UNKNOWN; d <= SP_DURABLE_YES; d++)
		{
			if (strcmp(word, sp_durable_name(d)) == 0)
				contender->durable = d;
		}
	}
}

/*
 * sync_probe_internal.verdict(current_method text, method text[],
 *		paced_speed float8[], paced_speed_low, paced_speed_high,
 *		saturated_speed, saturated_speed_low, saturated_speed_high float8[],
 *		durable text[],
 *		OUT verdict text, OUT recommended_method text, OUT reason text,
 *		OUT times_as_long float8)
 *
 * All arrays have one element for each method.  The elements of the current method are
 * those of its A/A control.  A null element is unknown.  The function is strict.
 */
Datum
sync_probe_verdict(PG_FUNCTION_ARGS)
{
	static const size_t offsets[] = {
		offsetof(sp_contender, speed[SP_PACED].estimate),
		offsetof(sp_contender, speed[SP_PACED].low),
		offsetof(sp_contender, speed[SP_PACED].high),
		offsetof(sp_contender, speed[SP_SATURATED].estimate),
		offsetof(sp_contender, speed[SP_SATURATED].low),
		offsetof(sp_contender, speed[SP_SATURATED].high),
	};
	char	   *current_name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	sp_comparison comparison = {.current = -1,.margin = sp_margin};
	sp_judgement judgement;
	char		reason[SP_REASON_SIZE];
	TupleDesc	row_type;
	Datum	   *names;
	bool	   *name_nulls;
	double		times_as_long;
	Datum		values[4];
	bool		nulls[4] = {false, false, false, false};
	int			durable_arg = 2 + lengthof(offsets);

	if (get_call_result_type(fcinfo, NULL, &row_type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT,
					  &names, &name_nulls, &comparison.count);
	if (comparison.count < 1 || comparison.count > SP_MAX_METHODS)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("%d methods, expected 1 to %d", comparison.count, SP_MAX_METHODS)));
	for (int i = 0; i < comparison.count; i++)
	{
		comparison.contenders[i].name = name_nulls[i] ? "" : TextDatumGetCString(names[i]);
		if (strcmp(comparison.contenders[i].name, current_name) == 0)
			comparison.current = i;
	}
	for (int i = 0; i < lengthof(offsets); i++)
		read_doubles(fcinfo, 2 + i, &comparison, offsets[i]);
	read_durable(fcinfo, durable_arg, &comparison);
	if (comparison.current < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("current method \"%s\" is not among the methods", current_name)));

	sp_classify(&comparison);
	sp_judge(&comparison, &judgement);
	times_as_long = sp_explain(&comparison, &judgement, reason);
	values[0] = CStringGetTextDatum(sp_verdict_name(judgement.verdict));
	nulls[1] = judgement.recommended < 0;
	if (!nulls[1])
		values[1] = CStringGetTextDatum(comparison.contenders[judgement.recommended].name);
	/* it may have been cut within a letter of a method's name */
	reason[pg_mbcliplen(reason, strlen(reason), strlen(reason))] = '\0';
	values[2] = CStringGetTextDatum(reason);
	nulls[3] = isnan(times_as_long);
	values[3] = Float8GetDatum(times_as_long);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row_type), values, nulls));
}

/* A number, NAN for null. */
static double
double_argument(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NAN : PG_GETARG_FLOAT8(arg);
}

/*
 * sync_probe_internal.durable(write_cache text, fua boolean, syncs_nothing boolean,
 *		flushes_per_op float8, background_flushes_per_op float8,
 *		has_backing boolean, backing_flushes_per_op float8,
 *		background_backing_flushes_per_op float8) RETURNS text
 *
 * Do the syncs of a test case reach the device?  A null argument is unknown.
 */
Datum
sync_probe_durable(PG_FUNCTION_ARGS)
{
	sp_durable_facts facts = {
		.write_cache = PG_ARGISNULL(0) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(0)),
		.fua = PG_ARGISNULL(1) || PG_GETARG_BOOL(1),
		.syncs_nothing = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2),
		.flushes_per_op = double_argument(fcinfo, 3),
		.background_flushes_per_op = double_argument(fcinfo, 4),
		.has_backing = !PG_ARGISNULL(5) && PG_GETARG_BOOL(5),
		.backing_flushes_per_op = double_argument(fcinfo, 6),
		.background_backing_flushes_per_op = double_argument(fcinfo, 7),
	};

	PG_RETURN_TEXT_P(cstring_to_text(sp_durable_name(sp_judge_durable(&facts))));
}
