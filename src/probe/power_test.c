/*-------------------------------------------------------------------------
 *
 * power_test.c
 *		sync_probe.power_test(), power_test_result(): do synced writes survive a power cut?
 *
 * Numbered blocks are written and synced as WAL is, in a ring, one at a time.  The client gets a
 * number after its sync: so all that it has seen must be there after the cut.
 *
 * The file stays if the process is killed, as by the cut, or if a write or sync fails after a
 * number was shown: the storage may have lost its power alone.  However else the test ends, the
 * file is removed.
 *
 * It must not: repeat a failed sync, or believe a block that it has not checked.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <fcntl.h>
#include <unistd.h>

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"

#include "compat.h"
#include "engine/text/text.h"

#define NOTICE_INTERVAL_NS	(250 * SP_NS_PER_MS)

#define BLOCK_MAGIC			0x73795054
#define BOOT_ID_SIZE		40

typedef struct block
{
	pg_crc32c	crc;			/* of all that follows */
	uint32		magic;
	uint64		system_identifier;
	uint64		test;			/* random */
	int64		number;			/* from 1 */
	TimestampTz started_at;		/* of the test */
	int32		blocks;			/* of the ring */
	char		method[36];
	char		boot_id[BOOT_ID_SIZE];	/* "" if the system has none */
	uint64		filler[(SP_WAL_PAGE_SIZE - 120) / sizeof(uint64)];
} block;

StaticAssertDecl(sizeof(block) == SP_WAL_PAGE_SIZE, "a block is a page of WAL");

static pg_crc32c
block_crc(const block *of)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, (const char *) of + sizeof(crc), sizeof(*of) - sizeof(crc));
	FIN_CRC32C(crc);
	return crc;
}

/* Which boot of the machine this is: within one, what is read may come from the page cache. */
static void
read_boot_id(char boot_id[BOOT_ID_SIZE])
{
	FILE	   *file = AllocateFile("/proc/sys/kernel/random/boot_id", "r");

	memset(boot_id, 0, BOOT_ID_SIZE);
	if (file == NULL)
		return;
	if (fgets(boot_id, BOOT_ID_SIZE, file) == NULL)
		boot_id[0] = '\0';
	FreeFile(file);
}

/* ------------------------------------------------------------------ the test */

/* Write a block, and sync it.  A call that a signal has interrupted has not failed. */
static void
write_block(sp_probing *state, const block *of)
{
	sp_file    *file = &state->run->probe->files[0];
	const sp_callbacks *callbacks = &state->run->probe->callbacks;
	off_t		offset = (off_t) (of->number % of->blocks) * sizeof(block);
	const char *failed;

	callbacks->operation_begin(state);
	do
	{
		ssize_t		written = pwrite(file->fd, of, sizeof(*of), offset);

		failed = written == sizeof(*of) ? NULL : "write";
		if (written >= 0 && failed)
			errno = ENOSPC;
		if (failed == NULL && file->method->sync && file->method->sync(file->fd) != 0)
			failed = "fsync";
	} while (failed && errno == EINTR);
	callbacks->operation_end(state);
	if (failed == NULL)
		return;
	file->exists = of->number == 1; /* else it is not removed */
	sp_probe_file_error(state, failed, file);
}

/* Write numbers until the time is up, to the file that was filled from the buffer. */
static void
write_numbers(sp_probe *probe)
{
	const sp_callbacks *callbacks = &probe->callbacks;
	sp_probing *state = callbacks->context;
	block	   *of = (block *) probe->buffer;

	errno = probe->files[0].open_errno;
	if (probe->files[0].status != SP_OK)
		sp_probe_file_error(state, "open", &probe->files[0]);
	/* what is not set here is random */
	of->magic = BLOCK_MAGIC;
	of->system_identifier = GetSystemIdentifier();
	of->started_at = GetCurrentTimestamp();
	of->blocks = (int32) (probe->files[0].size / sizeof(block));
	memset(of->method, 0, sizeof(of->method));
	strlcpy(of->method, probe->files[0].method->name, sizeof(of->method));
	read_boot_id(of->boot_id);
	state->next_notice_ns = 0;
	for (of->number = 1; state->now_ns < probe->deadline_ns; of->number++)
	{
		callbacks->check_interrupts(state);
		for (size_t i = 0; i < lengthof(of->filler); i++)
			of->filler[i] = (of->number + i) * UINT64CONST(0x9E3779B97F4A7C15);
		of->crc = block_crc(of);
		write_block(state, of);
		if (callbacks->now_ns(state) < state->next_notice_ns)
			continue;
		/* client_min_messages may hide a NOTICE */
		ereport(INFO, (errmsg("sync_probe: " INT64_FORMAT " is synced", of->number)));
		state->next_notice_ns = state->now_ns + NOTICE_INTERVAL_NS;
	}
	ereport(NOTICE, (errmsg("the power test has ended without a power cut: it proves nothing"),
					 errdetail("The last number was " INT64_FORMAT ".", of->number - 1)));
}

/* The judgement is the data of the run. */
static void
put_judgement(sp_row *row, const sp_run *run)
{
	const sp_power_judgement *found = run->probe->data;

	sp_row_put_text(row, "durable", found->durable);
	sp_row_put_text(row, "reason", found->reason);
}

/* Not in the table of suites.c: probe() cannot run it. */
static const sp_suite engine = {.plan = sp_power_plan, .run = write_numbers};
static const sp_probe_suite suite = {
	.name = SP_POWER_TEST_SUITE, .engine = &engine, .put_verdict = put_judgement
};

/* Check the call, and lock. */
static void
begin(const char *location, int64 duration_us, sp_run *run)
{
	sp_check_circumstances("probe");
	run->suite = &suite;
	sp_location_find(location, &run->location);
	sp_location_check_privilege(&run->location);
	sp_cluster_lock_acquire("a power test", location, suite.name, duration_us);
}

/* CALL sync_probe.power_test(location, duration) */
PG_FUNCTION_INFO_V1(sync_probe_power_test);
Datum
sync_probe_power_test(PG_FUNCTION_ARGS)
{
	sp_run		run = {0};
	sp_probing	state = {.run = &run, .lasting = true, .directory_fd = -1};
	int64		duration_us;
	char		path[MAXPGPATH];

	sp_refuse_nulls(fcinfo, 1 << 0 | 1 << 1);
	duration_us = sp_interval_argument(fcinfo, 1, USECS_PER_SEC, USECS_PER_DAY, NULL);
	begin(NameStr(*PG_GETARG_NAME(0)), duration_us, &run);
	if (sp_power_test_left(&run.location, path))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("location \"%s\" has the file of an earlier power test", NameStr(run.location.name)),
				 errhint("Call sync_probe.power_test_result() with the last number that its client has shown, then sync_probe.cleanup().")));
	sp_await_reload();
	sp_wal_profile_read(&run.profile, false);
	if (run.profile.server.current == NULL)
		elog(ERROR, "unrecognized wal_sync_method \"%s\"", run.profile.wal_sync_method);
	sp_probe_plan(&run, duration_us, &state);
	sp_probe_location(&state);
	sp_cluster_lock_release();
	PG_RETURN_VOID();
}

/* ---------------------------------------------------------------- its result */

static bool
is_whole(const block *of, int place)
{
	return of->magic == BLOCK_MAGIC && of->crc == block_crc(of) && of->blocks > 0 &&
		of->blocks <= SP_POWER_MAX_BLOCKS && of->number % of->blocks == place &&
		of->method[sizeof(of->method) - 1] == '\0';
}

/*
 * Read the numbers of whole blocks, and one of these.  Blocks of an earlier test, which old sectors
 * of the device may hold, count as not whole.
 */
static void
read_blocks(const sp_location *location, block *any, int64 numbers[SP_POWER_MAX_BLOCKS])
{
	char		path[MAXPGPATH];
	block		of;
	int			fd;

	if (!sp_power_test_left(location, path))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FILE),
				 errmsg("location \"%s\" has no file of a power test", NameStr(location->name)),
				 errdetail("There is no regular file \"%s\". A test that ends by itself removes it, and so does sync_probe.cleanup().", path),
				 errhint("If its file system is mounted, and the power failed after a number was shown, a file that was synced is lost.")));
	if ((fd = OpenTransientFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | PG_BINARY)) < 0)
		ereport(ERROR,
				(sp_errcode_for_file_access(), errmsg("could not open file \"%s\": %m", path)));
	for (int i = 0; i < SP_POWER_MAX_BLOCKS; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (pread(fd, &of, sizeof(of), (off_t) i * sizeof(of)) != sizeof(of) || !is_whole(&of, i) ||
			of.started_at < any->started_at)
			continue;
		if (of.test != any->test)
			memset(numbers, 0, i * sizeof(*numbers));
		*any = of;
		numbers[i] = of.number;
	}
	CloseTransientFile(fd);
	if (any->number > 0 && any->system_identifier != GetSystemIdentifier())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" is of a power test of another cluster", path),
				 errdetail("Its system identifier is " UINT64_FORMAT ".", any->system_identifier),
				 errhint("Call sync_probe.cleanup(), which removes the file.")));
}

static void
record(sp_run *run, block *any, int blocks)
{
	run->probe->nfiles = 1;
	run->probe->files[0].size = (int64) blocks * sizeof(block);
	run->probe->device = sp_storage_facts(&run->storage);
	run->storage_jsonb = sp_storage_jsonb(&run->storage, run->probe);
	run->profile.wal_sync_method = any->number > 0 ? any->method :
		pstrdup(GetConfigOption("wal_sync_method", false, false));
	run->profile.given = true;	/* no advice on a method rests on it */
	run->started_at = any->started_at;
	run->finished_at = GetCurrentTimestamp();
	sp_record(run, true);
}

/* sync_probe.power_test_result(last_number, location) */
PG_FUNCTION_INFO_V1(sync_probe_power_test_result);
Datum
sync_probe_power_test_result(PG_FUNCTION_ARGS)
{
	int64		seen = PG_ARGISNULL(0) ? 0 : PG_GETARG_INT64(0);
	int64	   *numbers = palloc0(SP_POWER_MAX_BLOCKS * sizeof(int64));
	block	   *any = palloc0(sizeof(block));
	sp_run		run = {0};
	sp_power_judgement found;
	sp_row	   *row = sp_row_of_result(fcinfo);
	char		boot_id[BOOT_ID_SIZE];
	bool		restarted;
	int			blocks;

	sp_refuse_nulls(fcinfo, 1 << 1);
	if (seen < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("last_number " INT64_FORMAT " is out of range", seen),
				 errhint("Give the last number that the client of power_test() has shown, 0 if there was none.")));
	begin(NameStr(*PG_GETARG_NAME(1)), 0, &run);
	read_blocks(&run.location, any, numbers);
	blocks = any->number > 0 ? any->blocks : SP_POWER_MAX_BLOCKS;
	read_boot_id(boot_id);
	/* a file without a whole block has no boot */
	restarted = any->number == 0 || (any->boot_id[0] != '\0' && boot_id[0] != '\0' &&
									 memcmp(any->boot_id, boot_id, BOOT_ID_SIZE) != 0);
	found = sp_power_judge(numbers, blocks, seen, restarted);
	run.probe = palloc0(sizeof(sp_probe));
	run.probe->data = &found;
	sp_storage_examine(&run.location, &run.storage);
	if (strcmp(found.durable, "unknown") != 0)
		record(&run, any, blocks);
	sp_cluster_lock_release();

	sp_row_put_int(row, "last_number", INT8OID, seen);
	sp_row_put_name(row, "location", NameStr(run.location.name));
	sp_row_put_text(row, "device", sp_known_text(run.storage.disks.top.name));
	if (any->number > 0)
	{
		sp_row_put_text(row, "method", any->method);
		sp_row_put(row, "started_at", TIMESTAMPTZOID, TimestampTzGetDatum(any->started_at));
	}
	sp_row_put_int(row, "newest_number", INT8OID, found.newest);
	sp_row_put_int(row, "lost", INT8OID, found.lost);
	put_judgement(row, &run);
	return HeapTupleGetDatum(sp_row_form(row));
}
