/*-------------------------------------------------------------------------
 *
 * suite_wal.c
 *		The suite wal: what the server does when it commits, with every method.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

/*
 * Three files of 4 MB for each method take less time to fill than one of 16 MB.  For
 * large flushes one file must do: they leave no room for more in an interval.
 */
#define WAL_COPY_SIZE		(4 * 1024 * 1024)
#define COPY_MAX_FLUSH_SIZE	(64 * 1024)

/*
 * The rounds of cases that are shown but not judged: enough for an interval, and few, so
 * that the judged cases get the time.
 */
#define SHOWN_ROUNDS	SP_MIN_SAMPLES

/* The largest possible plan.  sp_plan_file() and sp_plan_case() rely on its fitting. */
#define WAL_FILES	(SP_PACED_COPIES * (SP_MAX_METHODS + 1) + SP_MAX_METHODS)
#define WAL_CASES	(SP_REGIMES * (SP_MAX_METHODS + 1) + SP_MAX_METHODS)

_Static_assert(WAL_FILES <= SP_MAX_FILES, "the files of the wal suite need room");
_Static_assert(WAL_CASES <= SP_MAX_CASES, "the cases of the wal suite need room");

static sp_test_case
wal_case(const sp_server *server, sp_regime regime, const sp_sync_method *method, int file,
		 int baseline)
{
	return (sp_test_case) {
		.test = sp_regime_names[regime], .regime = regime, .label = method->name, .file = file,
		.advances = true, .write_size = server->flush_size, .writes_per_sync = 1,
		.baseline = baseline
	};
}

/*
 * One regime of the wal suite: a case for every method, and the A/A control of
 * the current method.  The regimes take turns and share the files.  A method may leave
 * its file dirty, as fdatasync leaves a time stamp: so a file is synced before another
 * method gets it, see rotation.c.  Returns the case of the current method, or -1.
 */
static int
plan_wal_regime(sp_probe *probe, const sp_server *server, sp_regime regime)
{
	int			methods = (int) sp_sync_method_count;
	int			baseline = server->current == NULL ? -1 :
		probe->ncases + (int) (server->current - sp_sync_methods);
	sp_test_case row;

	for (int i = 0; i < methods; i++)
	{
		row = wal_case(server, regime, &sp_sync_methods[i], i, baseline);
		row.candidate = true;
		sp_plan_case(probe, row);
	}
	if (server->current)
	{
		row = wal_case(server, regime, server->current, methods, baseline);
		row.control = true;
		sp_plan_case(probe, row);
	}
	return baseline;
}

/*
 * A file for every method, and behind them one for the control.  Files with and
 * without O_DIRECT are rings of their own.
 */
static int
add_wal_files(sp_probe *probe, const sp_server *server, int64_t size, int copy)
{
	int			first = probe->nfiles;

	for (size_t i = 0; i < sp_sync_method_count; i++)
	{
		const sp_sync_method *method = &sp_sync_methods[i];

		sp_plan_file(probe, method, sp_opens_directly(server, method), size,
					 server->init_write_size, method->supported && server->offers[i]);
	}
	if (server->current)
		sp_plan_file(probe, server->current, sp_opens_directly(server, server->current), size,
					 server->init_write_size, true);
	for (int i = first; i < probe->nfiles; i++)
		probe->files[i].ring = 1 + 2 * copy + probe->files[i].direct_io;
	return first;
}

/* Also open_* with O_DIRECT, if this server does not use it: shown, but not compared. */
static void
plan_direct_cases(sp_probe *probe, const sp_server *server, int64_t size, int baseline)
{
	for (size_t i = 0; i < sp_sync_method_count; i++)
	{
		const sp_sync_method *method = &sp_sync_methods[i];
		sp_test_case row;

		if (!method->opens_synced || sp_opens_directly(server, method))
			continue;
		row = wal_case(server, SP_SATURATED, method,
					   sp_plan_file(probe, method, true, size, server->init_write_size,
									method->supported && server->offers[i]), baseline);
		row.max_rounds = SHOWN_ROUNDS;
		sp_plan_case(probe, row);
	}
}

static void
plan_wal(sp_probe *probe, const sp_server *server)
{
	bool		has_copies = server->flush_size <= COPY_MAX_FLUSH_SIZE;
	int64_t		max_size = has_copies ? WAL_COPY_SIZE : SP_WAL_FILE_MAX_SIZE;
	int64_t		size = server->segment_size < max_size ? server->segment_size : max_size;
	int			first = add_wal_files(probe, server, size, 0);
	int			compared = probe->nfiles;

	plan_wal_regime(probe, server, SP_PACED);
	plan_direct_cases(probe, server, size, plan_wal_regime(probe, server, SP_SATURATED));

	/* the copies are the last files of a plan, so that they can be dropped */
	for (int copy = 1; copy < (has_copies ? SP_PACED_COPIES : 1); copy++)
	{
		int			next = add_wal_files(probe, server, size, copy);

		for (int i = 0; i < compared; i++)
			probe->files[first + i].copy = next + i;
		first = next;
	}
}

const sp_suite sp_suite_wal = {
	.plan = plan_wal,.run = sp_take_turns,.judge = sp_judge_methods
};
