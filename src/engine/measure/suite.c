/*-------------------------------------------------------------------------
 *
 * suite.c
 *		The suites: which test cases are measured together.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/suite.h"

#include <string.h>

#include "engine/measure/probe_internal.h"
#include "engine/text/units.h"

/*
 * The pg_test_fsync suite writes at offset 0 only, but its files must be larger
 * than a record of ZFS (128 kB), as the tool's own file is.  ZFS stores a small
 * file as one short record and logs it in another way.
 */
#define PG_TEST_FSYNC_FILE_SIZE	(1024 * 1024)

/*
 * The tool's file has small folios in the page cache at the offsets of its
 * lines: the lines with O_DIRECT drop the large folios of the first write.
 */
#define PG_TEST_FSYNC_LAYOUT_WRITE	SP_WAL_PAGE_SIZE

/* The wal suite cycles through its files, and smaller ones would soon be rewritten. */
#define WAL_FILE_MIN_SIZE	(1024 * 1024)

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
#define SHOWN_ROUNDS	SP_MIN_ENTRIES

/* The largest possible plans.  sp_plan_file() and sp_plan_case() rely on their fitting. */
#define WAL_FILES		(SP_PACED_COPIES * (SP_MAX_METHODS + 1) + SP_MAX_METHODS)
#define WAL_CASES		(SP_REGIMES * (SP_MAX_METHODS + 1) + SP_MAX_METHODS)
#define TOOL_CASES(lines)	(2 * SP_MAX_METHODS + (lines))

_Static_assert(WAL_FILES <= SP_MAX_FILES, "the files of the wal suite need room");
_Static_assert(WAL_CASES <= SP_MAX_CASES, "the cases of the wal suite need room");

int
sp_plan_file(sp_probe *probe, const sp_sync_method *method, bool direct_io, int64_t size,
			 int layout_write_size, bool offered)
{
	sp_file    *file = &probe->files[probe->nfiles];

	memset(file, 0, sizeof(*file));
	file->method = method;
	file->direct_io = direct_io;
	file->size = size;
	file->layout_write_size = layout_write_size;
	file->fd = -1;
	file->directory_fd = -1;
	file->copy = -1;
	file->status = offered ? SP_OK : SP_UNSUPPORTED;
	return probe->nfiles++;
}

int
sp_plan_case(sp_probe *probe, sp_test_case test_case)
{
	probe->cases[probe->ncases] = test_case;
	return probe->ncases++;
}

bool
sp_opens_directly(const sp_server *server, const sp_sync_method *method)
{
	return server->direct_io_all || (server->direct_io_open && method->opens_synced);
}

/*
 * One regime of the wal suite: a case for every method, and the A/A control of
 * the current method.  The regimes take turns and share the files.  A method may leave
 * its file dirty, as fdatasync leaves a time stamp: so a file is synced before another
 * method gets it, see places.c.
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
		row.contender = true;
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
	row.contender = false;
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

/* A line of pg_test_fsync. */
typedef struct tool_line
{
	const char *test;
	const char *label;			/* NULL: the method's name */
	const char *method;			/* NULL: not synced */
	int			write_size;
	int			writes_per_sync;
	sp_descriptor_use descriptor_use;
} tool_line;

static const tool_line tool_lines[] = {
	{"open_sync_sizes", NULL, "open_sync", 16 * 1024, 1, SP_KEEP_OPEN},
	{"open_sync_sizes", NULL, "open_sync", 8 * 1024, 2, SP_KEEP_OPEN},
	{"open_sync_sizes", NULL, "open_sync", 4 * 1024, 4, SP_KEEP_OPEN},
	{"open_sync_sizes", NULL, "open_sync", 2 * 1024, 8, SP_KEEP_OPEN},
	{"open_sync_sizes", NULL, "open_sync", 1 * 1024, 16, SP_KEEP_OPEN},
	{"non_write_descriptor", "write_fsync_close", "fsync", SP_WAL_PAGE_SIZE, 1, SP_WRITE_SYNC_CLOSE},
	{"non_write_descriptor", "write_close_fsync", "fsync", SP_WAL_PAGE_SIZE, 1, SP_WRITE_CLOSE_SYNC},
	{"unsynced_write", "write", NULL, SP_WAL_PAGE_SIZE, 1, SP_KEEP_OPEN},
};

/* Each case has a file of its own. */
_Static_assert(TOOL_CASES(lengthof(tool_lines)) <= SP_MAX_FILES &&
			   TOOL_CASES(lengthof(tool_lines)) <= SP_MAX_CASES,
			   "the lines of pg_test_fsync need room");

/* The tool measures all methods of the platform, even those the server does not offer. */
static void
add_tool_line(sp_probe *probe, const tool_line *line, const sp_sync_method *method)
{
	bool		direct_io = method && method->opens_synced && sp_direct_io_flag != 0;

	sp_plan_case(probe, (sp_test_case) {
		.test = line->test,
			.label = line->label ? line->label : method->name,
			.regime = SP_SATURATED,
			.file = sp_plan_file(probe, method, direct_io, PG_TEST_FSYNC_FILE_SIZE,
								 PG_TEST_FSYNC_LAYOUT_WRITE, method == NULL || method->supported),
			.descriptor_use = line->descriptor_use,
			.write_size = line->write_size,
			.writes_per_sync = line->writes_per_sync,
			.baseline = -1,
			.max_rounds = method ? 0 : SP_UNSYNCED_ROUNDS,
	});
}

/* One or two writes with every method, compared with the current one. */
static void
plan_tool_comparison(sp_probe *probe, const sp_server *server, const char *test, int writes)
{
	int			first_case = probe->ncases;
	tool_line	line = {test, NULL, NULL, SP_WAL_PAGE_SIZE, writes, SP_KEEP_OPEN};

	for (size_t i = 0; i < sp_sync_method_count; i++)
		add_tool_line(probe, &line, &sp_sync_methods[i]);
	for (int i = first_case; server->current && i < probe->ncases; i++)
		probe->cases[i].baseline = first_case + (int) (server->current - sp_sync_methods);
}

static void
plan_pg_test_fsync(sp_probe *probe, const sp_server *server)
{
	plan_tool_comparison(probe, server, "one_write", 1);
	plan_tool_comparison(probe, server, "two_writes", 2);
	for (size_t i = 0; i < lengthof(tool_lines); i++)
		add_tool_line(probe, &tool_lines[i],
					  tool_lines[i].method ? sp_sync_method_find(tool_lines[i].method) : NULL);
}

const sp_suite sp_suites[] = {
	{"wal", plan_wal, false},
	{"pg_test_fsync", plan_pg_test_fsync, false},
	{"stream", sp_plan_stream, true},
	{"segments", sp_plan_segments, false},
};

const int	sp_suite_count = lengthof(sp_suites);

const sp_suite *
sp_suite_find(const char *name)
{
	for (int i = 0; i < sp_suite_count; i++)
	{
		if (strcmp(sp_suites[i].name, name) == 0)
			return &sp_suites[i];
	}
	return NULL;
}

/* The number of bytes of its file that a case needs. */
static int64_t
extent_of(const sp_test_case *test_case)
{
	int64_t		bytes = test_case->advances ? test_case->write_size
		: (int64_t) test_case->write_size * test_case->writes_per_sync;

	return (bytes + SP_WAL_PAGE_SIZE - 1) / SP_WAL_PAGE_SIZE * SP_WAL_PAGE_SIZE;
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
		if (probe->files[i].size / 2 < WAL_FILE_MIN_SIZE)
			return false;
	}
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->files[probe->cases[c].file].size / 2 < extent_of(&probe->cases[c]))
			return false;
	}
	for (int i = 0; i < probe->nfiles; i++)
		probe->files[i].size /= 2;
	return true;
}

bool
sp_suite_shrink_files(sp_probe *probe)
{
	/* a smaller segment would be another question */
	if (probe->segments.nslots > 0)
		return false;
	return halve_files(probe) || sp_suite_drop_copies(probe);
}
