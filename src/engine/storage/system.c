/*-------------------------------------------------------------------------
 *
 * system.c
 *	  How each system lists its mounts.
 *
 * Nothing else in this folder depends on the system: the files of /proc and /sys are
 * those of Linux, and are missing elsewhere.  So counters, caches and kinds of disks are
 * unknown there, and are never guessed.
 *
 * It must not: include a server header, or ask a file system, which may hang: the kernel
 * answers from what it has.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/storage/mounts.h"

#include <errno.h>

#if defined(__linux__)

int
sp_system_mounts(sp_mount_table **table)
{
	FILE	   *file = fopen("/proc/self/mountinfo", "re");
	int			status;

	if (file == NULL)
		return errno;
	status = sp_mount_table_read_stream(file, table);
	fclose(file);
	return status;
}

#elif defined(__FreeBSD__) || defined(__APPLE__)

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/mount.h>

#include "engine/text/units.h"

/*
 * Those that affect syncs, as mount(8) of these systems prints them, with blanks escaped.
 * Each system has some that the other one lacks.
 */
static const struct
{
	uint64_t	flag;
	const char *option;
}			flags[] =
{
#ifdef MNT_ASYNC
	{MNT_ASYNC, ",async"},
#endif
#ifdef MNT_SYNCHRONOUS
	{MNT_SYNCHRONOUS, ",sync"},
#endif
#ifdef MNT_SOFTDEP
	{MNT_SOFTDEP, ",soft-updates"},
#endif
#ifdef MNT_SUJ
	{MNT_SUJ, ",journaled\\040soft-updates"},
#endif
#ifdef MNT_GJOURNAL
	{MNT_GJOURNAL, ",gjournal"},
#endif
#ifdef MNT_JOURNALED
	{MNT_JOURNALED, ",journaled"},
#endif
};

/* A field of a line, escaped as Linux does. */
static void
print_field(FILE *out, const char *text)
{
	for (; *text != '\0'; text++)
		fprintf(out, strchr(" \t\n\\", *text) ? "\\%03o" : "%c", (unsigned char) *text);
	putc(' ', out);
}

/* As a line of Linux.  FreeBSD tells the fsid to root only; to others it is 0. */
static void
print_mount(FILE *out, const struct statfs *mount)
{
	int32_t		fsid[2];

	memcpy(fsid, &mount->f_fsid, sizeof(fsid));
	fprintf(out, "0 0 %u:%u / ", (unsigned) fsid[0], (unsigned) fsid[1]);
	print_field(out, mount->f_mntonname);
	fputs(mount->f_flags & MNT_RDONLY ? "ro" : "rw", out);
	for (size_t i = 0; i < lengthof(flags); i++)
	{
		if (mount->f_flags & flags[i].flag)
			fputs(flags[i].option, out);
	}
	fputs(" - ", out);
	print_field(out, mount->f_fstypename);
	print_field(out, mount->f_mntfromname);
	fputs("rw\n", out);
}

/* A file system may be mounted between two calls: ask again while the room is full. */
static int
get_mounts(struct statfs **mounts, int *count)
{
	int			room = getfsstat(NULL, 0, MNT_NOWAIT);

	for (*mounts = NULL; room >= 0;)
	{
		struct statfs *larger = realloc(*mounts, (size_t) ++room * sizeof(struct statfs));

		if (larger == NULL)
			return ENOMEM;
		*mounts = larger;
		*count = getfsstat(larger, (long) ((size_t) room * sizeof(struct statfs)), MNT_NOWAIT);
		if (*count >= 0 && *count < room)
			return 0;
		room = *count < 0 ? -1 : room * 2;
	}
	return errno;
}

/* Printed to memory, so that one parser reads all systems. */
int
sp_system_mounts(sp_mount_table **table)
{
	struct statfs *mounts;
	char	   *text = NULL;
	size_t		size;
	FILE	   *file;
	int			count;
	int			status = get_mounts(&mounts, &count);

	if (status == 0)
	{
		file = open_memstream(&text, &size);
		for (int i = 0; file != NULL && i < count; i++)
			print_mount(file, &mounts[i]);
		status = file == NULL || fclose(file) != 0 ? ENOMEM : 0;
	}
	free(mounts);
	if (status == 0)
	{
		file = fmemopen(text, size, "r");
		status = file == NULL ? ENOMEM : sp_mount_table_read_stream(file, table);
		if (file != NULL)
			fclose(file);
	}
	free(text);
	return status;
}

#else

int
sp_system_mounts(sp_mount_table **table)
{
	(void) table;
	return ENOTSUP;
}

#endif
