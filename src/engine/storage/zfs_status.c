/*-------------------------------------------------------------------------
 *
 * zfs_status.c
 *	  The parts of a pool, from the tree that `zpool status` prints.
 *
 * It must not: include a server header, keep state between calls, start a
 * program, print, exit, or open anything.
 *
 * Only indentation tells the parts: a line is a leaf if the next line is not
 * deeper.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "engine/storage/zfs.h"
#include "engine/text/text.h"

/* The current part of the output of zpool status. */
typedef enum status_part
{
	OUTSIDE,					/* before "config:" or behind its tree */
	IN_CONFIG,					/* before the heading of the tree */
	IN_TREE,					/* before the first line of the tree */
	IN_POOL						/* in the tree of the pool that was asked for */
} status_part;

typedef struct status_reader
{
	sp_zfs	   *zfs;
	const char *pool;
	status_part part;
	size_t		name_column;	/* of the heading */
	size_t		state_column;
	sp_vdev_use use;
	bool		has_pending;	/* a leaf, unless the next line is deeper */
	size_t		pending_depth;
	sp_slice	pending_name;
	sp_slice	pending_state;
} status_reader;

/* A device that takes no more writes does not affect the cost of a sync. */
static bool
is_lost(sp_slice state)
{
	static const char *const lost[] = {
		"UNAVAIL", "REMOVED", "OFFLINE", "FAULTED",
	};

	for (size_t i = 0; i < lengthof(lost); i++)
	{
		if (sp_slice_equals(state, lost[i]))
			return true;
	}
	return false;
}

/* A spare of dRAID, "draid2-0-1", is space on the disks of the group. */
static bool
is_distributed_spare(sp_slice name)
{
	return sp_take_text(&name, "draid") && name.length > 0;
}

/* Add the previous line, which is a leaf. */
static void
add_pending(status_reader *reader)
{
	sp_zfs	   *zfs = reader->zfs;
	sp_vdev    *vdev = &zfs->vdevs[zfs->nvdevs];

	if (!reader->has_pending)
		return;
	reader->has_pending = false;
	if (is_lost(reader->pending_state) ||
		is_distributed_spare(reader->pending_name))
		return;
	if (zfs->nvdevs >= SP_ZFS_MAX_VDEVS ||
		!sp_copy_slice(reader->pending_name, vdev->path, sizeof(vdev->path)))
	{
		zfs->more_vdevs = true;
		return;
	}
	vdev->use = reader->use;
	zfs->nvdevs++;
}

/*
 * "NAME   STATE   READ WRITE CKSUM": the columns tell where a name ends, which
 * may have blanks inside.
 */
static void
read_heading(status_reader *reader, sp_slice line)
{
	static const char name[] = "NAME ";
	static const char state[] = " STATE ";
	const char *found = memmem(line.start, line.length, state,
							   sizeof(state) - 1);
	sp_slice	heading = sp_trim(line);

	if (found == NULL || heading.length < sizeof(name) - 1 ||
		memcmp(heading.start, name, sizeof(name) - 1) != 0)
		return;
	reader->name_column = (size_t) (heading.start - line.start);
	reader->state_column = (size_t) (found - line.start) + 1;
	reader->part = IN_TREE;
}

/* A line of the top level: the pool first, then the uses of other parts. */
static void
read_tree_top(status_reader *reader, sp_slice name)
{
	if (reader->part == IN_TREE)
	{
		reader->part = sp_slice_equals(name, reader->pool) ? IN_POOL : OUTSIDE;
		reader->use = SP_VDEV_DATA;
	}
	else if (sp_slice_equals(name, "logs"))
		reader->use = SP_VDEV_LOG;
	else if (sp_slice_equals(name, "cache"))
		reader->use = SP_VDEV_CACHE;
	else if (sp_slice_equals(name, "spares"))
		reader->use = SP_VDEV_SPARE;
	else
		reader->use = SP_VDEV_DATA;
}

/* A line of the tree: its depth is how far it is indented. */
static void
read_tree_line(status_reader *reader, sp_slice line)
{
	size_t		column = reader->state_column;
	sp_slice	name = {line.start, line.length < column ? line.length : column};
	sp_slice	rest = {line.start + name.length, line.length - name.length};
	sp_slice	state;
	sp_slice	trimmed = sp_trim(name);
	size_t		depth = (size_t) (trimmed.start - line.start);

	if (reader->has_pending && depth > reader->pending_depth)
		reader->has_pending = false;
	add_pending(reader);
	if (depth <= reader->name_column)
		read_tree_top(reader, trimmed);
	else if (reader->part != IN_POOL)
		return;
	else if (rest.length == 0 || !sp_is_blank(line.start[column - 1]) ||
			 sp_is_blank(line.start[column]))
		reader->zfs->more_vdevs = true;
	else
	{
		(void) sp_take_word(&rest, &state);	/* may be the last */
		reader->has_pending = true;
		reader->pending_depth = depth;
		reader->pending_name = trimmed;
		reader->pending_state = state;
	}
}

static void
read_status_line(status_reader *reader, sp_slice line)
{
	if (reader->part == IN_TREE || reader->part == IN_POOL)
	{
		if (sp_trim(line).length > 0 && sp_is_blank(line.start[0]))
		{
			read_tree_line(reader, line);
			return;
		}
		add_pending(reader);
		reader->part = OUTSIDE;
	}
	if (sp_slice_equals(line, "config:"))
		reader->part = IN_CONFIG;
	else if (reader->part == IN_CONFIG)
		read_heading(reader, line);
}

bool
sp_zfs_parse_status(const char *text, size_t length, const char *pool,
					sp_zfs *zfs)
{
	status_reader reader = {.zfs = zfs,.pool = pool};
	sp_slice	rest = {text, length};
	sp_slice	line;

	zfs->nvdevs = 0;
	zfs->more_vdevs = false;
	while (sp_take_line(&rest, &line))
		read_status_line(&reader, line);
	/* cut off: the last line may be a mirror whose disks are missing */
	if (reader.part == IN_POOL)
		zfs->more_vdevs = true;
	return zfs->nvdevs > 0;
}
