/*-------------------------------------------------------------------------
 *
 * child_output.c
 *		Read what a child writes: its outputs, line by line, and its streams.
 *
 * It must not: wait for the child or for input.
 *
 *-------------------------------------------------------------------------
 */
#include "common/child_process_internal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "utils/memutils.h"

#define READ_SIZE		8192

void
sp_init_outputs(sp_child_output *outputs, sp_child_result *result, sp_child_fds *fds)
{
	for (int i = 0; i < SP_N_OUTPUTS; i++)
	{
		sp_child_output *output = &outputs[i];

		output->from_stderr = i == 1;
		output->fd = &fds->fd[output->from_stderr ? SP_ERR_READ : SP_OUT_READ];
		output->kept = output->from_stderr ? &result->err : &result->out;
		initStringInfo(output->kept);
		initStringInfo(&output->line);
	}
}

static void
append_at_most(StringInfo to, const char *data, Size length, Size max)
{
	Size		room = max - Min(max, to->len);

	appendBinaryStringInfo(to, data, Min(length, room));
}

static void
give_line(const sp_child_program *program, sp_child_output *output)
{
	program->line(program->context, output->from_stderr, output->line.data);
	resetStringInfo(&output->line);
}

static void
take_lines(const sp_child_program *program, sp_child_output *output,
		   const char *data, Size length, Size max)
{
	const char *end = data + length;

	while (data < end)
	{
		const char *newline = memchr(data, '\n', end - data);

		append_at_most(&output->line, data, (newline ? newline : end) - data, max);
		if (newline == NULL)
			return;
		give_line(program, output);
		data = newline + 1;
	}
}

static ssize_t
read_again(int fd, char *buffer, Size bytes)
{
	ssize_t		got;

	do
		got = read(fd, buffer, bytes);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Read at most that many bytes; returns their number, 0 if none are available. */
static Size
read_some(const sp_child_program *program, sp_child_output *output, Size bytes)
{
	Size		max = Min(program->max_output, MaxAllocSize / 2);
	char		buffer[READ_SIZE];
	ssize_t		got = read_again(*output->fd, buffer, Min(bytes, sizeof(buffer)));

	if (got > 0)
	{
		append_at_most(output->kept, buffer, got, max);
		if (program->line)
			take_lines(program, output, buffer, got, max);
		return got;
	}
	if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
		sp_close_descriptor(output->fd);
	return 0;
}

void
sp_read_output(const sp_child_program *program, sp_child_output *output)
{
	(void) read_some(program, output, READ_SIZE);
}

/*
 * The child has ended, and its output is in the pipe.  Later output is that of its own
 * children, and is not awaited.
 */
void
sp_read_rest(const sp_child_program *program, sp_child_output *output)
{
	int			left = 0;

	if (*output->fd >= 0 && ioctl(*output->fd, FIONREAD, &left) == 0)
	{
		Size		got = left > 0 ? read_some(program, output, left) : 0;

		while (got > 0 && (left -= got) > 0)
			got = read_some(program, output, left);
	}
	if (program->line && output->line.len > 0)
		give_line(program, output);
}

/*
 * Read only what is available now, since the writer may be as fast as the reader.  A
 * FIFO without a writer is empty, whether the first one has not come yet or the last
 * one has gone.
 */
Size
sp_read_stream(const sp_child_program *program, const sp_child_fds *fds, int stream)
{
	char		buffer[READ_SIZE];
	int			fd = fds->stream[stream];
	int			there = 0;
	Size		done = 0;

	if (ioctl(fd, FIONREAD, &there) != 0)
		return 0;
	while (done < (Size) there)
	{
		ssize_t		got = read_again(fd, buffer, Min(there - done, sizeof(buffer)));

		if (got <= 0)
			break;
		program->stream_data(program->context, stream, buffer, got);
		done += got;
	}
	return done;
}
