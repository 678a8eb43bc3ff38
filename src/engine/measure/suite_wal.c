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

/*
 * One regime of the wal suite: a case for every method, and the A/A control of
 * the current method.  The regimes take turns and share the files.  A method may leave
 * its file dirty, as fdatasync leaves a time stamp: so a file is synced before another
 * method gets it, see rotation.c.
 */
static void
plan_wal_regime(sp_probe *probe, const sp_server *server, sp_regime regime,
				int first_file, int control_file)
{
	int			first_case = probe->ncases;
	int			baseline = -1;
	sp_test_case row = {
		.test = regime == SP_PACED ? "paced" : "saturated",
		.regime = regime,
		.advances = true,
		.write_size = server->flush_size,
		.writes_per_sync = 1,
	};

	for (size_t i = 0; i < sp_sync_method_count; i++)
	{
		row.label = sp_sync_methods[i].name;
		row.file = first_file + (int) i;
		row.candidate = true;
		row.baseline = -1;
		if (&sp_sync_methods[i] == server->current)
			baseline = probe->ncases;
		sp_plan_case(probe, row);
	}
	if (baseline < 0)
		return;
	for (int i = first_case; i < probe->ncases; i++)
		probe->cases[i].baseline = baseline;

	row.label = server->current->name;
	row.file = control_file;
	row.baseline = baseline;
	row.control = true;
	row.candidate = false;
	sp_plan_case(probe, row);
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

/* The copies are the last files of a plan, so that they can be dropped. */
static void
add_copies(sp_probe *probe, const sp_server *server, int first_file, int copies)
{
	for (int copy = 1; copy < copies; copy++)
	{
		int			next_file = add_wal_files(probe, server, probe->files[first_file].size, copy);

		for (int i = 0; next_file + i < probe->nfiles; i++)
			probe->files[first_file + i].copy = next_file + i;
		first_file = next_file;
	}
}

static void
plan_wal(sp_probe *probe, const sp_server *server)
{
	int64_t		size = server->segment_size;
	int			copies = 1;
	int			first_file;
	int			control_file = -1;
	int			baseline = -1;

	if (size > SP_WAL_FILE_MAX_SIZE)
		size = SP_WAL_FILE_MAX_SIZE;
	if (server->flush_size <= COPY_MAX_FLUSH_SIZE)
	{
		copies = SP_PACED_COPIES;
		if (size > WAL_COPY_SIZE)
			size = WAL_COPY_SIZE;
	}

	first_file = add_wal_files(probe, server, size, 0);
	if (server->current)
		control_file = probe->nfiles - 1;
	plan_wal_regime(probe, server, SP_PACED, first_file, control_file);
	plan_wal_regime(probe, server, SP_SATURATED, first_file, control_file);
	for (int i = 0; i < probe->ncases; i++)
	{
		if (probe->cases[i].regime == SP_SATURATED && probe->cases[i].control)
			baseline = probe->cases[i].baseline;
	}

	/* also measure open_* with O_DIRECT, if this server does not use it */
	for (size_t i = 0; i < sp_sync_method_count; i++)
	{
		const sp_sync_method *method = &sp_sync_methods[i];

		if (!method->opens_synced || probe->files[first_file + (int) i].direct_io)
			continue;
		sp_plan_case(probe, (sp_test_case) {
			.test = "saturated", .label = method->name, .regime = SP_SATURATED,
				.file = sp_plan_file(probe, method, true, size, server->init_write_size,
									 method->supported && server->offers[i]),
				.advances = true, .write_size = server->flush_size, .writes_per_sync = 1,
				.baseline = baseline, .max_rounds = SHOWN_ROUNDS,
		});
	}
	add_copies(probe, server, first_file, copies);
}

const sp_suite sp_suite_wal = {
	.name = "wal",.plan = plan_wal,.run = sp_take_turns,.judge = sp_judge_methods
};
