/*-------------------------------------------------------------------------
 *
 * suite_stream.c
 *		The suite stream of sync_probe.probe(): its limit, its NOTICEs, its seconds.
 *
 * The engine measures it like the others; see engine/measure/suite_stream.c.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "catalog/pg_type.h"

#include "engine/measure/stream.h"
#include "engine/text/text.h"

int			sp_max_stream_mb = 16 * 1024;

#define BYTES_PER_MB	(1024.0 * 1024.0)

/* -------------------------------------------------------------------- NOTICEs */

/* MB per second, with two or three digits. */
static char *
pretty_rate(double bytes_per_second)
{
	double		rate = bytes_per_second / BYTES_PER_MB;

	return psprintf("%.*f", rate < 0.995 ? 2 : rate < 99.5 ? 1 : 0, rate);
}

static const sp_second *
last_second(const sp_probe *probe, int c)
{
	const sp_stream *stream = probe->data;

	for (int i = stream->n - 1; i >= 0; i--)
	{
		if (stream->seconds[i].test_case == c)
			return &stream->seconds[i];
	}
	return NULL;
}

/* The rates of the last second of each test case, in one line. */
char *
sp_stream_progress(const sp_probe *probe)
{
	StringInfoData line;
	int			file = -1;

	initStringInfo(&line);
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];
		const sp_second *second = last_second(probe, c);
		char	   *method = psprintf("%s%s ", test_case->label,
									  probe->files[test_case->file].direct_io ? " direct" : "");
		char	   *more;

		if (probe->results[c].status != SP_OK || second == NULL)
			continue;
		more = psprintf("%s%s%s %s",
						file < 0 ? "MB/s: " : test_case->file == file ? ", " : "; ",
						test_case->file == file ? "" : method,
						test_case->test, pretty_rate(sp_second_rate(second)));
		if (line.len + strlen(more) >= SP_NOTICE_LENGTH)
			break;
		appendStringInfoString(&line, more);
		file = test_case->file;
	}
	return line.data;
}

char *
sp_stream_describe(const sp_probe *probe, int c)
{
	sp_stream_rates rates = sp_stream_rates_of(probe->data, c);

	if (probe->results[c].histogram.ops == 0)
		return NULL;
	return psprintf("%s MB/s, slowest second %s MB/s", pretty_rate(rates.mean),
					pretty_rate(rates.slowest));
}

void
sp_stream_report_end(const sp_probe *probe)
{
	const sp_stream *stream = probe->data;
	double		ns = (double) (probe->finished_ns - probe->started_ns);

	if (!stream->bytes_used_up)
		return;
	ereport(NOTICE,
			(errmsg("the run ended after %.1f s: pg_sync_probe.max_stream_write (%s) is used up",
					ns / SP_NS_PER_S, sp_pretty_bytes(stream->max_bytes)),
			 errdetail("What was measured until then counts. At this rate, the whole duration would write %s.",
					   sp_pretty_bytes((int64) (stream->written_bytes *
												(probe->duration_ns / ns)))),
			 errhint("A superuser can raise the limit, which bounds the wear of the device.")));
}

/* ------------------------------------------------------------------- records */

static HeapTuple
second_row(const sp_run *run, const sp_second *second, TupleDesc row_type)
{
	sp_row	   *row = sp_row_make(row_type);

	sp_row_put_int(row, "run_id", INT8OID, run->run_id);
	/* the plan has no control, so that each case has a row */
	sp_row_put_int(row, "ordinal", INT4OID, second->test_case + 1);
	sp_row_put_int(row, "second", INT4OID, second->begin_ns / SP_NS_PER_S);
	sp_row_put(row, "began_at", TIMESTAMPTZOID,
			   TimestampTzGetDatum(run->measuring_since + second->begin_ns / SP_NS_PER_US));
	sp_row_put_number(row, "length_ms", (double) second->length_ns / SP_NS_PER_MS, 3);
	sp_row_put_int(row, "bytes", INT8OID, second->bytes);
	sp_row_put_number(row, "slowest_us", (double) second->slowest_ns / SP_NS_PER_US, 1);
	if (!isnan(second->device.bytes))
		sp_row_put_int(row, "device_bytes", INT8OID, (int64) second->device.bytes);
	sp_row_put_number(row, "device_utilization", second->device.utilization, 3);
	sp_row_put_number(row, "slowest_device_utilization", second->slowest_utilization, 3);
	return sp_row_form(row);
}

void
sp_stream_record(const sp_run *run)
{
	const sp_stream *stream = run->probe->data;
	TupleDesc	row_type = sp_history_row_type("stream_seconds");
	HeapTuple  *rows = palloc((stream->n + 1) * sizeof(HeapTuple));

	for (int i = 0; i < stream->n; i++)
		rows[i] = second_row(run, &stream->seconds[i], row_type);
	sp_history_insert(row_type, rows, stream->n);
}
