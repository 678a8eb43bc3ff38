/*-------------------------------------------------------------------------
 *
 * stream_plan.c
 *		The test cases of the stream suite.
 *
 * How fast WAL can stream is told by the method of this server: in pages, as single
 * commits write, in 64 kB, as busy ones do together, and in 1 MB, as bulk loads do.  What
 * the storage could do is told by the same smallest and largest block with the flags of
 * dd that are used to find out: oflag=direct,dsync and conv=fdatasync.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/measure/suite.h"

#include "engine/measure/probe_internal.h"

/*
 * Large enough that a device does not keep all of it in its cache, and small enough to be
 * filled in seconds.
 */
#define STREAM_FILE_SIZE	(64 * 1024 * 1024)

typedef struct block_size
{
	const char *name;
	int			bytes;
} block_size;

static const block_size all_sizes[] = {
	{"8 kB", SP_WAL_PAGE_SIZE}, {"64 kB", 64 * 1024}, {"1 MB", 1024 * 1024},
};
static const block_size both_ends[] = {{"8 kB", SP_WAL_PAGE_SIZE}, {"1 MB", 1024 * 1024}};

_Static_assert(lengthof(all_sizes) + 2 * lengthof(both_ends) <= SP_MAX_CASES,
			   "the cases of the stream suite need room");

/* No file is larger than what may be written to it, but it holds the largest block. */
static int64_t
file_size(const sp_probe *probe)
{
	int64_t		largest = all_sizes[lengthof(all_sizes) - 1].bytes;
	int64_t		size = STREAM_FILE_SIZE;

	while (probe->max_bytes > 0 && size > probe->max_bytes && size > largest)
		size /= 2;
	return size;
}

/*
 * One file for all block sizes of a method: its flags are the same, and a write leaves
 * nothing that a write of another size pays for.
 */
static void
plan_method(sp_probe *probe, const sp_server *server, const sp_sync_method *method,
			bool direct_io, const block_size *sizes, size_t count)
{
	bool		available = method->supported && (!direct_io || sp_direct_io_flag != 0);
	int			file = sp_plan_file(probe, method, direct_io, file_size(probe),
									server->init_write_size, available);

	for (size_t i = 0; i < count; i++)
		sp_plan_case(probe, (sp_test_case) {
			.test = sizes[i].name, .label = method->name, .regime = SP_SATURATED,
				.file = file, .advances = true, .write_size = sizes[i].bytes,
				.writes_per_sync = 1,
				.baseline = method == server->current && count == lengthof(all_sizes)
				? probe->ncases : -1,
		});
}

void
sp_plan_stream(sp_probe *probe, const sp_server *server)
{
	const sp_sync_method *current = server->current;
	const sp_sync_method *buffered = sp_sync_method_find("fdatasync");
	const sp_sync_method *direct = sp_sync_method_find("open_datasync");

	if (current)
		plan_method(probe, server, current, sp_opens_directly(server, current),
					all_sizes, lengthof(all_sizes));
	if (current != buffered || sp_opens_directly(server, buffered))
		plan_method(probe, server, buffered, false, both_ends, lengthof(both_ends));
	if (current != direct || !sp_opens_directly(server, direct))
		plan_method(probe, server, direct, true, both_ends, lengthof(both_ends));
}
