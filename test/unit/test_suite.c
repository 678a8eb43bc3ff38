/*
 * Tests of the plans that the suites of src/engine/measure make for a server.
 *
 * A plan that lets two test cases share a file, or compares with the wrong
 * baseline, gives numbers that look right.  So plans are compared as text, and
 * must keep the same rules.  The suite segments is in test_segments.c.
 */
#include "fake_disk.h"

/*
 * Cases in a row of one test, as describe() writes them.  The test, * if its cases have a baseline;
 * size and number of the writes, @0 if they begin at offset 0; files of a case, their size and that
 * of the writes that fill them.  Then its cases: + may be recommended, = is the control.
 */
#define CASES(test, writes, files, cases)	"; " test " " writes " " files ": " cases

/* The suite wal: the same in both regimes. */
#define WAL(writes, files, cases) \
	CASES("paced*", writes, files, cases) CASES("saturated*", writes, files, cases)
#define BUFFERED		"+open_datasync +fdatasync +fsync +open_sync"
#define OPEN_DIRECT		"+open_datasync/direct +fdatasync +fsync +open_sync/direct"
#define ALL_DIRECT		"+open_datasync/direct +fdatasync/direct +fsync/direct +open_sync/direct"
#define SHOWN(test, writes, files) \
	CASES(test, writes, files " shown", "open_datasync/direct open_sync/direct")
#define COPIES			"3*4096k/256k"

/* The lines of pg_test_fsync.c of PostgreSQL. */
#define TOOL_FILE		"1*1024k/8k"
#define TOOL_METHODS	"open_datasync/direct fdatasync fsync open_sync/direct"
#define TOOL_LINE(test, writes, cases)	CASES(test, writes "@0", TOOL_FILE, cases)
#define TOOL(known) \
	TOOL_LINE("one_write" known, "8192x1", TOOL_METHODS) \
	TOOL_LINE("two_writes" known, "8192x2", TOOL_METHODS) \
	TOOL_LINE("open_sync_sizes", "16384x1", "open_sync 16 kB=open_sync/direct") \
	TOOL_LINE("open_sync_sizes", "8192x2", "open_sync 8 kB=open_sync/direct") \
	TOOL_LINE("open_sync_sizes", "4096x4", "open_sync 4 kB=open_sync/direct") \
	TOOL_LINE("open_sync_sizes", "2048x8", "open_sync 2 kB=open_sync/direct") \
	TOOL_LINE("open_sync_sizes", "1024x16", "open_sync 1 kB=open_sync/direct") \
	TOOL_LINE("non_write_descriptor", "8192x1", \
			  "write_fsync_close=fsync/write,sync,close write_close_fsync=fsync/write,close,sync") \
	CASES("unsynced_write", "8192x1@0", TOOL_FILE " shown", "write")

/* The suite stream: the current method, and those of dd. */
#define STREAM_FILE		"1*65536k/256k"
#define STREAM(what) \
	CASES("8 kB*", "8192x1", STREAM_FILE, what) CASES("64 kB*", "65536x1", STREAM_FILE, what) \
	CASES("1 MB*", "1048576x1", STREAM_FILE, what)
#define DD(what) \
	CASES("8 kB", "8192x1", STREAM_FILE, what) CASES("1 MB", "1048576x1", STREAM_FILE, what)
#define DD_BUFFERED		DD("fdatasync")
#define DD_DIRECT		DD("open_datasync/direct")

/* A server, and its plan. */
static const struct plan_case
{
	const sp_suite *suite;
	const char *current;		/* NULL: unknown */
	const char *withheld;		/* a method that it does not offer, or NULL */
	bool		direct_io_open;
	bool		direct_io_all;
	int64_t		segment_size;	/* MB */
	int			flush_size;
	const char *plan;
}			plan_cases[] =
{
	{&sp_suite_wal, "fdatasync", NULL, false, false, 16, 8192,
	WAL("8192x1", COPIES, BUFFERED " =fdatasync") SHOWN("saturated*", "8192x1", "1*4096k/256k")},
	/* wal_level minimal */
	{&sp_suite_wal, "open_datasync", NULL, true, false, 16, 8192,
	WAL("8192x1", COPIES, OPEN_DIRECT " =open_datasync/direct")},
	/* debug_io_direct; large segments, and a flush that leaves no time for copies */
	{&sp_suite_wal, "fsync", NULL, false, true, 1024, 65537,
	WAL("65537x1", "1*16384k/256k", ALL_DIRECT " =fsync/direct")},
	/* the largest flush for copies */
	{&sp_suite_wal, "fdatasync", NULL, true, false, 1024, 65536,
	WAL("65536x1", COPIES, OPEN_DIRECT " =fdatasync")},
	{&sp_suite_wal, NULL, NULL, false, false, 16, 8192,
		CASES("paced", "8192x1", COPIES, BUFFERED) CASES("saturated", "8192x1", COPIES, BUFFERED)
	SHOWN("saturated", "8192x1", "1*4096k/256k")},
	/* small segments */
	{&sp_suite_wal, "fdatasync", "open_sync", false, false, 1, 8192, WAL("8192x1", "3*1024k/256k",
			"+open_datasync +fdatasync +fsync +open_sync/unsupported =fdatasync")
		CASES("saturated*", "8192x1", "1*1024k/256k shown",
	"open_datasync/direct open_sync/direct/unsupported")},

	/* the tool has all methods, and opens with O_DIRECT what it opens synced, and only that */
	{&sp_suite_pg_test_fsync, "fsync", "open_sync", false, false, 16, 8192, TOOL("*")},
	{&sp_suite_pg_test_fsync, NULL, NULL, true, true, 1024, 65536, TOOL("")},

	{&sp_suite_stream, "fdatasync", NULL, false, false, 16, 8192, STREAM("fdatasync") DD_DIRECT},
	{&sp_suite_stream, "open_datasync", NULL, false, false, 16, 8192,
	STREAM("open_datasync") DD_BUFFERED DD_DIRECT},
	{&sp_suite_stream, "open_datasync", NULL, true, false, 16, 8192,
	STREAM("open_datasync/direct") DD_BUFFERED},
	{&sp_suite_stream, "fdatasync", NULL, false, true, 16, 8192,
	STREAM("fdatasync/direct") DD_BUFFERED DD_DIRECT},
	{&sp_suite_stream, NULL, NULL, false, false, 16, 8192, DD_BUFFERED DD_DIRECT},
};

static void
plan(const struct plan_case *row)
{
	sp_server	server = server_with(row->current);

	if (row->withheld)
		server.offers[sp_sync_method_find(row->withheld) - sp_sync_methods] = false;
	server.direct_io_open = row->direct_io_open;
	server.direct_io_all = row->direct_io_all;
	server.segment_size = row->segment_size * MEGABYTE;
	server.flush_size = row->flush_size;
	plan_for(row->suite, &server);
}

/* The copies of a file are as it is, but in rings of their own.  How many are they all? */
static int
check_copies(int first)
{
	const sp_file *own = &probe->files[first];
	int			copies = 0;

	for (int file = first; file >= 0; file = probe->files[file].copy)
	{
		const sp_file *one = &probe->files[file];

		assert_ptr_equal(one->method, own->method);
		assert_int_equal(one->direct_io, own->direct_io);
		assert_int_equal(one->status, own->status);
		assert_int_equal(one->size, own->size);
		assert_int_equal(one->layout_write_size, own->layout_write_size);
		assert_int_equal(one->ring, own->ring == 0 ? 0 : 1 + 2 * copies + one->direct_io);
		copies++;
	}
	return copies;
}

/* A case, and before it its test, unless its test is that of the case before. */
static void
describe_case(sp_sentence *to, const sp_test_case *one, char test[100])
{
	static const char *const uses[] = {"", "/write,sync,close", "/write,close,sync"};
	const sp_file *file = &probe->files[one->file];
	char		own_test[100];

	snprintf(own_test, sizeof(own_test), "; %s%s %dx%d%s %d*%dk/%dk%s:", one->test,
			 one->baseline >= 0 ? "*" : "", one->write_size, one->writes_per_sync,
			 one->advances ? "" : "@0", check_copies(one->file), (int) (file->size / 1024),
			 file->layout_write_size / 1024, one->max_rounds > 0 ? " shown" : "");
	if (strcmp(test, own_test) != 0)
		sp_append(to, "%s", strcpy(test, own_test));
	sp_append(to, " %s%s", one->candidate ? "+" : one->control ? "=" : "", one->label);
	if (file->method && strcmp(file->method->name, one->label) != 0)
		sp_append(to, "=%s", file->method->name);
	sp_append(to, "%s%s%s", uses[one->descriptor_use], file->direct_io ? "/direct" : "",
			  file->status == SP_UNSUPPORTED && file->method->supported ? "/unsupported" : "");
}

/* Rules for every plan of any suite and server, which its text does not show. */
static void
check_rules(const struct plan_case *row, const sp_test_case *one)
{
	const sp_file *file = &probe->files[one->file];
	const sp_test_case *baseline;
	bool		compared = one->candidate || one->control;

	assert_int_equal(one->regime, strcmp(one->test, "paced") == 0 ? SP_PACED : SP_SATURATED);
	assert_true(one->advances || (int64_t) one->write_size * one->writes_per_sync <= file->size);
	/* what is compared rotates; what is only shown has its file for itself */
	assert_int_equal(file->ring > 0, compared);
	if (file->method && !file->method->supported)
		assert_int_equal(file->status, SP_UNSUPPORTED);
	if (one->baseline < 0)
		return;
	baseline = &probe->cases[one->baseline];
	assert_string_equal(probe->files[baseline->file].method->name, row->current);
	assert_int_equal(baseline->regime, one->regime);
	assert_string_equal(baseline->test, one->test);
	assert_false(baseline->control);
	assert_true(!one->control || baseline->file != one->file);
}

TEST(plans_for_a_server)
{
	FOR_EACH(row, plan_cases)
	{
		char		text[2000];
		sp_sentence to = sp_sentence_begin(text, sizeof(text));
		char		test[100] = "";
		int			used[SP_MAX_FILES] = {0};

		plan(row);
		assert_uint_in_range(probe->nfiles, 1, SP_MAX_FILES);
		assert_uint_in_range(probe->ncases, 1, SP_MAX_CASES);
		for (int c = 0; c < probe->ncases; c++)
		{
			const sp_test_case *one = &probe->cases[c];
			const sp_sync_method *method = probe->files[one->file].method;

			check_rules(row, one);
			for (int file = one->file; file >= 0; file = probe->files[file].copy)
				used[file]++;
			/* the plans are those of a platform without fsync_writethrough */
			if (!method || (is_known(method->name) && !strstr(method->name, "_writethrough")))
				describe_case(&to, one, test);
		}
		assert_string_equal(text, row->plan);
		/* of a stream by both or all sizes; else in both regimes, or once */
		for (int file = 0; file < probe->nfiles; file++)
		{
			if (row->suite == &sp_suite_stream)
				assert_uint_in_range(used[file], 2, 3);
			else
				assert_int_equal(used[file], probe->files[file].ring > 0 ? 2 : 1);
		}
	}
}

TEST(shrinks_files_while_they_serve)
{
	static const struct
	{
		const sp_suite *suite;
		int64_t		segment_size;	/* MB */
		int			flush_size;
		int64_t		smallest;	/* MB */
	}			rows[] = {
		{&sp_suite_wal, 16, 8192, 1}, {&sp_suite_wal, 16, 1024 * 1024, 1},
		{&sp_suite_wal, 16, 1024 * 1024 + 1, 2}, {&sp_suite_stream, 16, 8192, 1},
		/* a smaller segment would be another one */
		{&sp_suite_segments, 8, 8192, 8}, {&sp_suite_segments, 1024, 8192, 16},
	};

	FOR_EACH(row, rows)
	{
		int			used = 0;
		int			planned;

		plan_suite(row->suite, "fdatasync", row->flush_size, row->segment_size * MEGABYTE);
		planned = probe->nfiles;
		while (sp_suite_shrink_files(probe))
			;
		/* the copies go last, and then all */
		for (int c = 0; c < probe->ncases; c++)
			used = probe->cases[c].file >= used ? probe->cases[c].file + 1 : used;
		assert_int_equal(probe->nfiles, used);
		for (int f = 0; f < probe->nfiles; f++)
		{
			assert_int_equal(probe->files[f].size, row->smallest * MEGABYTE);
			assert_int_equal(probe->files[f].copy, -1);
		}
		probe->nfiles = planned;	/* they are closed */
	}
}

TEST(opens_as_the_method_does)
{
	static const struct
	{
		const char *method;
		int			flags;
	}			rows[] = {
		{"open_datasync", O_DSYNC}, {"open_sync", O_SYNC}, {"fdatasync", 0}, {"fsync", 0},
	};
	const int	all = O_RDWR | O_NOFOLLOW | O_CLOEXEC;

	FOR_EACH(row, rows)
	{
		sp_file		file = {.method = sp_sync_method_find(row->method)};

		assert_string_equal(file.method->name, row->method);
		/* it syncs by its open flags or by its call, never both or neither */
		assert_int_equal(file.method->opens_synced, row->flags != 0);
		assert_int_equal(file.method->sync == NULL, row->flags != 0);
		assert_int_equal(sp_open_flags(&file), all | row->flags);
		file.direct_io = true;
		assert_int_equal(sp_open_flags(&file), all | row->flags | sp_direct_io_flag);
	}
	assert_int_equal(sp_open_flags(&(sp_file) {.method = NULL}), all);
	assert_null(sp_sync_method_find("none"));
}

TEST_MAIN(set_up, tear_down)
