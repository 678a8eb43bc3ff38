/*-------------------------------------------------------------------------
 *
 * system.c
 *	  The mounts of FreeBSD and macOS.
 *
 * Nothing else in this folder depends on the system: the files of /proc and /sys are
 * those of Linux, and are missing elsewhere.  So counters, caches and kinds of disks are
 * unknown there, and are never guessed.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/storage/mounts.h"

#include <errno.h>

#if defined(__FreeBSD__) || defined(__APPLE__)

#include <stdint.h>
#include <string.h>
#include <sys/param.h>
#include <sys/mount.h>

#include "engine/text/text.h"

/*
 * Those that affect syncs, as mount(8) of these systems prints them.  Each system has some
 * that the other one lacks.
 */
static const struct
{
	uint64_t	flag;
	const char *option;
}			flags[] =
{
#ifdef MNT_ASYNC
	{MNT_ASYNC, "async"},
#endif
#ifdef MNT_SYNCHRONOUS
	{MNT_SYNCHRONOUS, "sync"},
#endif
#ifdef MNT_SOFTDEP
	{MNT_SOFTDEP, "soft-updates"},
#endif
#ifdef MNT_SUJ
	{MNT_SUJ, "journaled soft-updates"},
#endif
#ifdef MNT_GJOURNAL
	{MNT_GJOURNAL, "gjournal"},
#endif
#ifdef MNT_JOURNALED
	{MNT_JOURNALED, "journaled"},
#endif
};

/* FreeBSD tells the fsid to root only; to others it is 0. */
static int
add_statfs(sp_mount_table *table, struct statfs *from)
{
	char		text[128];
	sp_sentence options = sp_sentence_begin(text, sizeof(text));
	int32_t		fsid[2];

	memcpy(fsid, &from->f_fsid, sizeof(fsid));
	sp_say(&options, "%s", from->f_flags & MNT_RDONLY ? "ro" : "rw");
	for (size_t i = 0; i < lengthof(flags); i++)
	{
		if (from->f_flags & flags[i].flag)
			sp_say(&options, ",%s", flags[i].option);
	}
	return sp_mount_table_add(table, &(sp_mount) {
		.dev_major = (unsigned) fsid[0],.dev_minor = (unsigned) fsid[1],
		.mount_point = from->f_mntonname,.mount_options = text,
		.fstype = from->f_fstypename,.source = from->f_mntfromname
	});
}

int
sp_mount_table_ask_system(sp_mount_table *table)
{
	struct statfs *mounts;
	int			count = getmntinfo(&mounts, MNT_NOWAIT);
	int			status = count > 0 ? 0 : errno;

	for (int i = 0; i < count && status == 0; i++)
		status = add_statfs(table, &mounts[i]);
	return status;
}

#endif
