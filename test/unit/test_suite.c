/*-------------------------------------------------------------------------
 *
 * test_suite.c
 *	  Tests of the plans that the suites of src/engine/measure make for a server.
 *
 * A plan that lets two test cases share a file, or compares with the wrong
 * baseline, gives numbers that look right.  So every plan of every server
 * must keep the same rules, and the lines of pg_test_fsync are spelled out.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "engine/measure/measure.h"

#define MEGABYTE	(INT64_C(1024) * 1024)

/* A server, and its plan. */
typedef struct server_case
{
	const char *name;
	const char *current;		/* NULL: unknown */
	const char *withheld;		/* a method that it does not offer, or NULL */
	bool		direct_io_open;
	bool		direct_io_all;
	int64_t		segment_size;
	int			flush_size;
	int64_t		file_size;		/* of the wal suite */
	int			direct_extras;
	int			copies;			/* files of each method when paced */
} server_case;

static const server_case server_cases[] = {
	{"PostgreSQL 15", "fdatasync", NULL, false, false, 16 * MEGABYTE, 8192, 4 * MEGABYTE, 2, 3},
	{"wal_level minimal", "open_datasync",
		NULL, true, false, 16 * MEGABYTE, 8192, 4 * MEGABYTE, 0, 3},
	{"debug_io_direct", "fsync", NULL, false, true, 16 * MEGABYTE, 300000, 16 * MEGABYTE, 0, 1},
	{"both direct", "open_sync", NULL, true, true, 16 * MEGABYTE, 1, 4 * MEGABYTE, 0, 3},
	{"small segments", "fdatasync", NULL, false, false, MEGABYTE, 8192, MEGABYTE, 2, 3},
	{"large segments", "fdatasync", NULL, false, false, 1024 * MEGABYTE, 8192, 4 * MEGABYTE, 2, 3},
	{"large segments and flushes", "fdatasync",
		NULL, false, false, 1024 * MEGABYTE, 65537, 16 * MEGABYTE, 2, 1},
	{"the largest flush for copies", "fdatasync",
		NULL, false, false, 16 * MEGABYTE, 65536, 4 * MEGABYTE, 2, 3},
	{"unknown method", NULL, NULL, false, false, 16 * MEGABYTE, 8192, 4 * MEGABYTE, 2, 3},
	{"no open_datasync", "fdatasync", "open_datasync",
		false, false, 16 * MEGABYTE, 8192, 4 * MEGABYTE, 2, 3},
	{"no fsync", "open_sync", "fsync", true, false, 16 * MEGABYTE, 8192, 4 * MEGABYTE, 0, 3},
};

/* The lines of the tool that are not one for each method; see pg_test_fsync.c of PostgreSQL. */
typedef struct tool_line
{
	const char *test;
	const char *label;
	const char *method;			/* NULL: not synced */
	int			write_size;
	int			writes_per_sync;
	sp_descriptor_use descriptor_use;
} tool_line;

static const tool_line tool_lines[] = {
	{"open_sync_sizes", "open_sync", "open_sync", 16384, 1, SP_KEEP_OPEN},
	{"open_sync_sizes", "open_sync", "open_sync", 8192, 2, SP_KEEP_OPEN},
	{"open_sync_sizes", "open_sync", "open_sync", 4096, 4, SP_KEEP_OPEN},
	{"open_sync_sizes", "open_sync", "open_sync", 2048, 8, SP_KEEP_OPEN},
	{"open_sync_sizes", "open_sync", "open_sync", 1024, 16, SP_KEEP_OPEN},
	{"non_write_descriptor", "write_fsync_close", "fsync", 8192, 1, SP_WRITE_SYNC_CLOSE},
	{"non_write_descriptor", "write_close_fsync", "fsync", 8192, 1, SP_WRITE_CLOSE_SYNC},
	{"unsynced_write", "write", NULL, 8192, 1, SP_KEEP_OPEN},
};

static sp_probe the_probe;
static sp_probe *const probe = &the_probe;
static sp_server server;

static void
plan(const sp_suite *suite, const server_case *row)
{
	memset(&server, 0, sizeof(server));
	server.current = row->current ? sp_sync_method_find(row->current) : NULL;
	for (size_t i = 0; i < sp_sync_method_count; i++)
		server.offers[i] = row->withheld == NULL ||
			strcmp(sp_sync_methods[i].name, row->withheld) != 0;
	server.direct_io_open = row->direct_io_open;
	server.direct_io_all = row->direct_io_all;
	server.segment_size = row->segment_size;
	server.flush_size = row->flush_size;
	server.init_write_size = 262144;

	static sp_stream stream;

	memset(probe, 0, sizeof(*probe));
	probe->data = &stream;
	sp_probe_plan(probe, suite, &server);
}

/* Rules for every plan of any suite and server. */
static void
check_rules(const server_case *row)
{
	assert_uint_in_range(probe->nfiles, 1, SP_MAX_FILES);
	assert_uint_in_range(probe->ncases, 1, SP_MAX_CASES);
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];
		const sp_file *file;

		assert_uint_in_range(test_case->file, 0, probe->nfiles - 1);
		file = &probe->files[test_case->file];
		assert_true(test_case->write_size > 0 && test_case->writes_per_sync > 0);
		assert_true(test_case->advances || (int64_t) test_case->write_size *
					test_case->writes_per_sync <= file->size);
		assert_int_equal(file->fd, -1);

		for (int other = 0; other < c; other++)
		{
			if (probe->cases[other].file != test_case->file)
				continue;
			if (probe->cases[other].regime == test_case->regime)
				fail_msg("%s: cases %d and %d share a file", row->name, other, c);
			assert_string_equal(probe->cases[other].label, test_case->label);
		}
		if (test_case->baseline < 0)
			continue;
		assert_uint_in_range(test_case->baseline, 0, probe->ncases - 1);
		assert_ptr_equal(probe->files[probe->cases[test_case->baseline].file].method,
						 server.current);
		assert_int_equal(probe->cases[test_case->baseline].regime, test_case->regime);
		assert_string_equal(probe->cases[test_case->baseline].test, test_case->test);
		assert_false(probe->cases[test_case->baseline].control);
	}
}

static bool
direct_in_server(const sp_sync_method *method)
{
	return server.direct_io_all || (server.direct_io_open && method->opens_synced);
}

/* A case of a method, of the control, or of direct I/O that the server does not use. */
static void
check_wal_case(const server_case *row, const sp_test_case *test_case)
{
	const sp_file *file = &probe->files[test_case->file];
	size_t		index = (size_t) (file->method - sp_sync_methods);
	bool		compared = test_case->candidate || test_case->control;

	assert_true(index < sp_sync_method_count);
	assert_string_equal(test_case->label, file->method->name);
	assert_string_equal(test_case->test, sp_regime_name(test_case->regime));
	assert_true(test_case->advances && test_case->descriptor_use == SP_KEEP_OPEN);
	assert_int_equal(test_case->write_size, row->flush_size);
	assert_int_equal(test_case->writes_per_sync, 1);
	assert_true((test_case->baseline >= 0) == (row->current != NULL));
	assert_int_equal(file->size, row->file_size);
	assert_int_equal(file->layout_write_size, server.init_write_size);
	assert_int_equal(file->status, file->method->supported && server.offers[index]
					 ? SP_OK : SP_UNSUPPORTED);
	/* what is compared rotates; what is only shown has its file for itself */
	assert_int_equal(file->ring > 0, compared);
	assert_int_equal(file->direct_io, compared ? direct_in_server(file->method) : true);
	assert_true(compared || (test_case->regime == SP_SATURATED && file->method->opens_synced &&
							 !direct_in_server(file->method)));
	if (test_case->control)
	{
		assert_ptr_equal(file->method, server.current);
		assert_int_not_equal(test_case->file, probe->cases[test_case->baseline].file);
	}
}

/*
 * Each case that is compared has its copies: like its own file, in rings of their own, and the
 * same in both regimes.
 */
static void
check_copies(const server_case *row, const sp_test_case *test_case, int users[SP_MAX_FILES])
{
	const sp_file *own = &probe->files[test_case->file];
	bool		compared = test_case->candidate || test_case->control;
	int			copies = 0;

	for (int file = test_case->file; file >= 0; file = probe->files[file].copy)
	{
		const sp_file *one = &probe->files[file];

		assert_ptr_equal(one->method, own->method);
		assert_int_equal(one->direct_io, own->direct_io);
		assert_int_equal(one->status, own->status);
		assert_int_equal(one->size, own->size);
		assert_int_equal(one->layout_write_size, own->layout_write_size);
		if (compared)
			assert_int_equal(one->ring, 1 + 2 * copies + one->direct_io);
		copies++;
		users[file]++;
	}
	assert_int_equal(copies, compared ? row->copies : 1);
}

/* Every method once in each regime, the current one twice, and the other cases. */
TEST(plans_what_the_server_does)
{
	for (size_t i = 0; i < lengthof(server_cases); i++)
	{
		const server_case *row = &server_cases[i];
		int			compared = (int) sp_sync_method_count + (row->current != NULL);
		int			candidates[SP_REGIMES] = {0};
		int			controls[SP_REGIMES] = {0};
		int			users[SP_MAX_FILES] = {0};

		plan(&sp_suite_wal, row);
		check_rules(row);
		for (int c = 0; c < probe->ncases; c++)
		{
			const sp_test_case *test_case = &probe->cases[c];

			check_wal_case(row, test_case);
			check_copies(row, test_case, users);
			candidates[test_case->regime] += test_case->candidate;
			controls[test_case->regime] += test_case->control;
		}
		for (int r = 0; r < SP_REGIMES; r++)
		{
			assert_int_equal(controls[r], row->current != NULL);
			assert_int_equal(candidates[r], sp_sync_method_count);
		}
		assert_int_equal(probe->ncases, row->direct_extras + SP_REGIMES * compared);
		assert_int_equal(probe->nfiles, row->direct_extras + row->copies * compared);
		for (int file = 0; file < probe->nfiles; file++)
			assert_int_equal(users[file], probe->files[file].ring > 0 ? 2 : 1);

		/* the copies are the last files */
		assert_int_equal(sp_suite_drop_copies(probe), row->copies > 1);
		assert_int_equal(probe->nfiles, row->direct_extras + compared);
		assert_false(sp_suite_drop_copies(probe));
		check_rules(row);
	}
}

/* What holds for each line of the tool. */
static void
check_tool_case(int c, const tool_line *line, const sp_sync_method *method)
{
	const sp_test_case *test_case = &probe->cases[c];
	const sp_file *file = &probe->files[test_case->file];

	assert_string_equal(test_case->test, line->test);
	assert_string_equal(test_case->label, line->label);
	assert_ptr_equal(file->method, method);
	assert_int_equal(test_case->write_size, line->write_size);
	assert_int_equal(test_case->writes_per_sync, line->writes_per_sync);
	assert_int_equal(test_case->descriptor_use, line->descriptor_use);
	assert_int_equal(test_case->regime, SP_SATURATED);
	assert_false(test_case->advances || test_case->candidate || test_case->control);
	assert_true(file->ring == 0 && file->copy == -1);
	/* the tool opens with O_DIRECT what it opens synced, and only that */
	assert_int_equal(file->direct_io, method && method->opens_synced);
	assert_int_equal(file->status, method == NULL || method->supported ? SP_OK : SP_UNSUPPORTED);
	/* larger than a record of ZFS; with small folios, as O_DIRECT leaves them */
	assert_true(file->size > 128 * 1024);
	assert_int_equal(file->layout_write_size, 8192);
}

TEST(plans_the_lines_of_the_tool)
{
	int			methods = (int) sp_sync_method_count;

	for (size_t i = 0; i < lengthof(server_cases); i++)
	{
		plan(&sp_suite_pg_test_fsync, &server_cases[i]);
		check_rules(&server_cases[i]);
		assert_int_equal(probe->ncases, 2 * methods + (int) lengthof(tool_lines));
		for (int c = 0; c < 2 * methods; c++)
		{
			const sp_sync_method *method = &sp_sync_methods[c % methods];
			tool_line	line = {
				c < methods ? "one_write" : "two_writes", method->name, NULL, 8192,
				c < methods ? 1 : 2, SP_KEEP_OPEN
			};

			check_tool_case(c, &line, method);
			assert_int_equal(probe->cases[c].baseline >= 0, server.current != NULL);
		}
		for (int n = 0; n < (int) lengthof(tool_lines); n++)
		{
			check_tool_case(2 * methods + n, &tool_lines[n], tool_lines[n].method ?
							sp_sync_method_find(tool_lines[n].method) : NULL);
			assert_int_equal(probe->cases[2 * methods + n].baseline, -1);
		}
	}
}

/* How small the files of a plan can become. */
static const struct
{
	const sp_suite *suite;
	int64_t		segment_size;
	int			flush_size;
	int64_t		smallest;
}			halved_cases[] =
{
	{&sp_suite_wal, 16 * MEGABYTE, 8192, MEGABYTE},
	{&sp_suite_wal, 1024 * MEGABYTE, 1024 * 1024, MEGABYTE},
	{&sp_suite_wal, 16 * MEGABYTE, 1024 * 1024 + 1, 2 * MEGABYTE},
	{&sp_suite_wal, 16 * MEGABYTE, 3000000, 4 * MEGABYTE},
	{&sp_suite_wal, 16 * MEGABYTE, 8 * 1024 * 1024, 8 * MEGABYTE},
	{&sp_suite_wal, 16 * MEGABYTE, 16 * 1024 * 1024, 16 * MEGABYTE},
	{&sp_suite_wal, 2 * MEGABYTE, 8192, MEGABYTE},
	{&sp_suite_wal, MEGABYTE, 8192, MEGABYTE},
	{&sp_suite_pg_test_fsync, 16 * MEGABYTE, 8192, MEGABYTE},
	{&sp_suite_stream, 16 * MEGABYTE, 8192, MEGABYTE},
};

TEST(shrinks_files_while_they_serve)
{
	for (size_t i = 0; i < lengthof(halved_cases); i++)
	{
		server_case row = server_cases[0];
		int64_t		size;

		row.segment_size = halved_cases[i].segment_size;
		row.flush_size = halved_cases[i].flush_size;
		plan(halved_cases[i].suite, &row);
		do
			size = probe->files[0].size;
		while (sp_suite_shrink_files(probe));
		/* the copies go last */
		for (int f = 0; f < probe->nfiles; f++)
			assert_int_equal(probe->files[f].copy, -1);
		if (size != halved_cases[i].smallest)
			fail_msg("row %zu: %lld", i, (long long) size);
		for (int f = 0; f < probe->nfiles; f++)
			assert_true(probe->files[f].size == size);
	}
}

TEST(knows_every_method_by_name)
{
	const int	all = O_RDWR | O_NOFOLLOW | O_CLOEXEC;

	for (size_t i = 0; i < sp_sync_method_count; i++)
	{
		const sp_sync_method *method = &sp_sync_methods[i];
		sp_file		file = {.method = method};

		assert_ptr_equal(sp_sync_method_find(method->name), method);
		assert_int_equal(sp_open_flags(&file), all | method->open_flags);
		file.direct_io = true;
		assert_int_equal(sp_open_flags(&file), all | method->open_flags | sp_direct_io_flag);
		/* it syncs by its open flags or by its call, never both or neither */
		if (method->supported)
			assert_true(method->opens_synced == (method->open_flags != 0) &&
						method->opens_synced == (method->sync == NULL));
	}
	assert_null(sp_sync_method_find("none"));
	assert_int_equal(sp_sync_method_find("open_datasync")->open_flags, O_DSYNC);
	assert_int_equal(sp_sync_method_find("open_sync")->open_flags, O_SYNC);
	assert_true(sp_sync_method_find("fsync")->sync == fsync);
	assert_true(sp_sync_method_find("fdatasync")->sync == fdatasync);
	assert_int_equal(sp_open_flags(&(sp_file) {.method = NULL}), all);
}

TEST_MAIN(NULL, NULL)
