/*-------------------------------------------------------------------------
 *
 * bar.c
 *		sync_probe.bar(): a share as a bar of characters.
 *
 * chr() of a block character is an error in a database of another encoding, and the
 * conversion to the client's is one, too.  So the bar is of what both can show.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#define MAX_WIDTH	40

/* U+2588 is a full block, U+2589 is seven eighths of one, ... U+258F is one eighth. */
static void
append_block(StringInfo bar, int eighths)
{
	appendStringInfo(bar, "\xe2\x96%c", (char) (0x90 - eighths));
}

/* So many steps of the width's; something is never nothing. */
static int
steps_of(double fraction, int all)
{
	if (isnan(fraction) || fraction <= 0 || all <= 0)
		return 0;
	return Max(1, (int) rint(Min(fraction, 1.0) * all));
}

/*
 * sync_probe.bar(fraction float8, width integer) RETURNS text
 */
PG_FUNCTION_INFO_V1(sync_probe_bar);
Datum
sync_probe_bar(PG_FUNCTION_ARGS)
{
	double		fraction = PG_GETARG_FLOAT8(0);
	int			width = Min(PG_GETARG_INT32(1), MAX_WIDTH);
	bool		blocks = GetDatabaseEncoding() == PG_UTF8 && pg_get_client_encoding() == PG_UTF8;
	int			parts = blocks ? 8 : 1;
	int			steps = steps_of(fraction, width * parts);
	StringInfoData bar;

	initStringInfo(&bar);
	for (; steps >= parts; steps -= parts)
	{
		if (blocks)
			append_block(&bar, parts);
		else
			appendStringInfoChar(&bar, '#');
	}
	if (steps > 0)
		append_block(&bar, steps);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(bar.data, bar.len));
}
