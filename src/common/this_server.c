/*-------------------------------------------------------------------------
 *
 * this_server.c
 *		Identify the server, since a result is valid only where it was measured, and the library.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include <unistd.h>

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/builtins.h"

/*
 * Columns system_identifier and host of a table of the history.  A standby has the identifier of
 * its primary, so the name of the machine is needed, too.
 */
void
sp_row_put_this_server(sp_row *row)
{
	char		host[MAXPGPATH];

	if (gethostname(host, MAXPGPATH) != 0)
		host[0] = '\0';
	host[MAXPGPATH - 1] = '\0';
	sp_row_put_int(row, "system_identifier", INT8OID, (int64) GetSystemIdentifier());
	sp_row_put_text(row, "host", sp_valid_text(host));
}

/* sync_probe_internal.this_server(OUT system_identifier, OUT host): see sync_probe.runs. */
PG_FUNCTION_INFO_V1(sync_probe_this_server);
Datum
sync_probe_this_server(PG_FUNCTION_ARGS)
{
	sp_row	   *row = sp_row_of_result(fcinfo);

	sp_row_put_this_server(row);
	return HeapTupleGetDatum(sp_row_form(row));
}

/* sync_probe_internal.library_version(): the release, with the number of its patch. */
PG_FUNCTION_INFO_V1(sync_probe_library_version);
Datum
sync_probe_library_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(SP_VERSION));
}
