/*-------------------------------------------------------------------------
 *
 * suite_pg_test_fsync.c
 *		The suite pg_test_fsync: the lines of the tool, with its semantics.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/probe_internal.h"

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
	{"open_sync_sizes", "open_sync 16 kB", "open_sync", 16 * 1024, 1, SP_KEEP_OPEN},
	{"open_sync_sizes", "open_sync 8 kB", "open_sync", 8 * 1024, 2, SP_KEEP_OPEN},
	{"open_sync_sizes", "open_sync 4 kB", "open_sync", 4 * 1024, 4, SP_KEEP_OPEN},
	{"open_sync_sizes", "open_sync 2 kB", "open_sync", 2 * 1024, 8, SP_KEEP_OPEN},
	{"open_sync_sizes", "open_sync 1 kB", "open_sync", 1 * 1024, 16, SP_KEEP_OPEN},
	{"non_write_descriptor", "write_fsync_close", "fsync", SP_WAL_PAGE_SIZE, 1,
	SP_WRITE_SYNC_CLOSE},
	{"non_write_descriptor", "write_close_fsync", "fsync", SP_WAL_PAGE_SIZE, 1,
	SP_WRITE_CLOSE_SYNC},
	{"unsynced_write", "write", NULL, SP_WAL_PAGE_SIZE, 1, SP_KEEP_OPEN},
};

/* Each case has a file of its own. */
#define TOOL_CASES	(2 * SP_MAX_METHODS + lengthof(tool_lines))

_Static_assert(TOOL_CASES <= SP_MAX_FILES && TOOL_CASES <= SP_MAX_CASES,
			   "the lines of pg_test_fsync need room");

/* The tool measures all methods of the platform, even those the server does not offer. */
static void
add_tool_line(sp_probe *probe, const tool_line *line, const sp_sync_method *method)
{
	bool		direct_io = method && method->opens_synced && sp_direct_io_flag != 0;

	sp_plan_case(probe, (sp_test_case) {
		.test = line->test,
			.label = line->label || !method ? line->label : method->name,
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
	probe->deciding = SP_SATURATED;
	plan_tool_comparison(probe, server, "one_write", 1);
	plan_tool_comparison(probe, server, "two_writes", 2);
	for (size_t i = 0; i < lengthof(tool_lines); i++)
		add_tool_line(probe, &tool_lines[i],
					  tool_lines[i].method ? sp_sync_method_find(tool_lines[i].method) : NULL);
}

const sp_suite sp_suite_pg_test_fsync = {
	.plan = plan_pg_test_fsync,.run = sp_take_turns
};
