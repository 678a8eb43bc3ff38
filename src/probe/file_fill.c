/*-------------------------------------------------------------------------
 *
 * file_fill.c
 *		Fill the files of a probe.
 *
 * Every block is written.  Otherwise a measured sync would have to convert unwritten
 * extents, which changes metadata.  Filling is not measured, but the size of its writes
 * determines the folios of the page cache, and on some file systems these determine
 * the cost of later writes.
 *
 * It must not: delay a cancel, ignore the duty cycle, or use up the reserve.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <unistd.h>

#include "engine/measure/segments.h"
#include "miscadmin.h"

/* The bytes between two pauses of the duty cycle, and between two checks of free space. */
#define REST_BYTES		(256 * 1024)
#define CHECK_BYTES		(1024 * 1024)

/*
 * With a duty cycle, flush what was just written, not everything at the end, and then
 * pause, so that other processes can use the device.  The sum of all pauses is at most
 * the duration of the probe.
 */
static void
rest_after_chunk(sp_probing *state, const sp_file *file, int64 begin_ns)
{
	const sp_probe *probe = state->run->probe;
	const sp_callbacks *callbacks = &probe->callbacks;
	int64		now_ns;
	int64		rest_ns;

	if (fdatasync(file->fd) != 0)
		sp_probe_file_error(state, "fsync", file);
	now_ns = callbacks->now_ns(callbacks->context);
	rest_ns = (int64) ((double) (now_ns - begin_ns) * (1 / probe->duty_cycle - 1));
	rest_ns = Min(rest_ns, probe->duration_ns - state->rested_ns);
	if (rest_ns > 0)
		callbacks->sleep_until(callbacks->context, now_ns + rest_ns);
	state->rested_ns += Max(rest_ns, 0);
}

/*
 * Write one chunk.  After a short write, the next call returns the reason, usually a
 * full file system or a quota.
 */
static void
fill_chunk(const sp_probing *state, const sp_file *file, int64 offset, int64 size)
{
	for (int64 done = 0; done < size;)
	{
		ssize_t		written;

		CHECK_FOR_INTERRUPTS();
		written = sp_write_blocks(file->fd, state->run->probe->buffer, SP_FILL_BUFFER_SIZE,
								  size - done, offset + done);
		if (written < 0 && errno == EINTR)
			continue;
		if (written == 0)
			errno = ENOSPC;
		if (written <= 0)
			sp_probe_file_error(state, "write", file);
		done += written;
	}
}

/* Write all blocks of a new file, and sync it.  Sizes of files and of writes are powers of two. */
void
sp_probe_file_fill(sp_probing *state, const sp_file *file)
{
	const sp_probe *probe = state->run->probe;
	int64		begin_ns = probe->callbacks.now_ns(probe->callbacks.context);

	Assert(file->size % CHECK_BYTES == 0);
	for (int64 done = 0; done < file->size;)
	{
		int64		chunk = Min(file->layout_write_size, file->size - done);

		if (done % CHECK_BYTES == 0)
			sp_check_reserve(&state->run->location, state->directory_fd, 0);
		fill_chunk(state, file, done, chunk);
		done += chunk;
		state->filled_bytes += chunk;
		sp_notice_filling(state);
		if (probe->duty_cycle < 1 && done % REST_BYTES == 0)
		{
			rest_after_chunk(state, file, begin_ns);
			begin_ns = probe->callbacks.now_ns(probe->callbacks.context);
		}
	}
	if (fsync(file->fd) != 0)
		sp_probe_file_error(state, "fsync", file);
}
