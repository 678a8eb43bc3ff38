/*-------------------------------------------------------------------------
 *
 * mounts.h
 *	  The file system of a path, and how it is mounted.
 *
 * The file system decides the cost of a sync, and options such as nobarrier or
 * data=writeback decide whether it is effective.
 *
 * It must not: resolve paths, or ask a file system, which may hang: the kernel answers
 * from what it has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_MOUNTS_H
#define SP_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One mount.  No string is NULL; all live as long as the table. */
typedef struct sp_mount
{
	unsigned	dev_major;		/* 0: none of its own */
	unsigned	dev_minor;
	char	   *line;			/* holds the strings that follow, but for mount_options */
	char	   *mount_point;	/* absolute */
	char	   *mount_options;	/* see sp_mount_table_read */
	char	   *fstype;			/* "ext4", "fuse.sshfs" */
	char	   *source;			/* "/dev/vda1", "host:/export", "tank/pg"; may be empty */
} sp_mount;

typedef struct sp_mount_table
{
	size_t		count;
	sp_mount   *mounts;
} sp_mount_table;

/*
 * Read all mounts that this process sees.  Lines that cannot be understood are skipped.
 *
 * sysroot: "" on a live system, else the directory of a captured tree.  *table is to be freed with
 * sp_mount_table_free, also on error: then it has some of them.
 *
 * mount_options are "ro" or "rw", the other options of the mount, and those of the
 * super block (where ext4 keeps nobarrier and data=writeback), separated by commas.
 * A mount is read-only if either list has it.  An escaped comma (\054) stays
 * escaped, for it is part of a value.
 *
 * Returns 0 or an errno.
 */
extern int	sp_mount_table_read(const char *sysroot, sp_mount_table *table);

/* Add the mounts of a stream, which is read to its end and stays open. */
extern int	sp_mount_table_add_lines(sp_mount_table *table, FILE *file);

/* The table is empty then. */
extern void sp_mount_table_free(sp_mount_table *table);

/*
 * The mount of a path: that with the longest mount point that is the path or one of its
 * parent directories; of several mounted on the same place the last line, which hides the
 * others.  NULL if there is none.
 *
 * path: absolute, without symbolic links, "." or ".."; need not exist.
 *
 * Limit: a mount point hidden by a later mount further up (/data mounted after /data/pg)
 * is still the answer.
 */
extern const sp_mount *sp_mount_table_find(const sp_mount_table *table, const char *path);

/*
 * Do two mounts show the same file system?  True for equal device numbers,
 * and for two btrfs mounts with the same source, because btrfs hands out
 * anonymous numbers.  Data sets of one ZFS pool are different file systems.
 */
extern bool sp_mount_same_filesystem(const sp_mount *a, const sp_mount *b);

/*
 * The value of an option of mount_options, up to its next comma; "" or what begins with
 * that comma if it has none; NULL if it is not there.
 */
extern const char *sp_mount_option(const char *options, const char *name);

/*
 * The mount where the data of a mount is stored: of an overlay that of its upper directory,
 * also over several overlays; of any other mount it is the mount itself.
 *
 * NULL if it is unknown: there is no upper directory (read-only), or it is not visible here.
 * A container's own root is such an overlay: its upper directory is a path of the host,
 * which here lies on the overlay itself.
 *
 * Limit: the path is the text given to mount(8), where symbolic links are not
 * followed.  If it is relative, or has "." or ".." or a backslash, the result is unknown.
 */
extern const sp_mount *sp_mount_beneath(const sp_mount_table *table, const sp_mount *mount);

#endif							/* SP_MOUNTS_H */
