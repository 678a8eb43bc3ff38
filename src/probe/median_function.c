/*-------------------------------------------------------------------------
 *
 * median_function.c
 *		sync_probe_internal.median_interval(): what the samples of one test case are worth.
 *
 * Methods within a run are compared sample by sample.  Two runs have no samples in common:
 * what can be compared is the median of each.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "engine/verdict/interval.h"
#include "funcapi.h"

/* The elements that are numbers.  Returns their count. */
static int
take_numbers(ArrayType *array, double **numbers)
{
	Datum	   *values;
	bool	   *nulls;
	int			n;
	int			count = 0;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &values, &nulls, &n);
	*numbers = palloc(Max(n, 1) * sizeof(double));
	for (int i = 0; i < n; i++)
	{
		if (!nulls[i] && isfinite(DatumGetFloat8(values[i])))
			(*numbers)[count++] = DatumGetFloat8(values[i]);
	}
	return count;
}

/*
 * sync_probe_internal.median_interval(samples float8[], alpha float8,
 *		OUT median float8, OUT low float8, OUT high float8)
 *
 * What is unknown is null: everything without a number, the interval if they are too few.
 */
PG_FUNCTION_INFO_V1(sync_probe_median_interval);
Datum
sync_probe_median_interval(PG_FUNCTION_ARGS)
{
	double	   *numbers;
	int			count = take_numbers(PG_GETARG_ARRAYTYPE_P(0), &numbers);
	sp_median	median = sp_median_interval(numbers, count, PG_GETARG_FLOAT8(1));
	sp_row	   *row = sp_row_of_result(fcinfo);

	if (!isnan(median.estimate))
		sp_row_put(row, "median", FLOAT8OID, Float8GetDatum(median.estimate));
	if (!isnan(median.low))
	{
		sp_row_put(row, "low", FLOAT8OID, Float8GetDatum(median.low));
		sp_row_put(row, "high", FLOAT8OID, Float8GetDatum(median.high));
	}
	return HeapTupleGetDatum(sp_row_form(row));
}
