/*
 * Makes a tree of files, such as a sysfs, from a text that people can read.
 *
 *	# a comment
 *	= disks /: what a test finds in it; see check_kinds()
 *	proc/self/mountinfo:
 *		28 1 8:1 / / rw - ext4 /dev/sda1 rw		lines with a tab are its content
 *	device 8:0 sda								a directory below sys/devices
 *		queue/write_cache: write back			a file in it, of one line
 *	device 8:1 sda/sda1
 *		partition: 1
 *	device 9:0 md0
 *		slaves/sda1 -> sda1						a link to a device
 *	dev/disk/by-id/x -> sda						a file or a link elsewhere
 *
 * sys/class/block and, unless the number is "-", sys/dev/block link to a device.
 */
#ifndef TREE_H
#define TREE_H

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the next lines belong to. */
typedef struct tree
{
	const char *root;
	char		device[256];	/* below root, with a slash at its end; or "" */
	FILE	   *file;			/* or NULL */
} tree;

static inline void
tree_end_file(tree *made)
{
	if (made->file != NULL)
		fclose(made->file);
	made->file = NULL;
}

/*
 * Makes a file, or a link to a target below root/sys, and the directories above it.  Nothing
 * may leave root.
 */
static inline bool
tree_make(tree *made, const char *above, const char *name, const char *target)
{
	char		path[PATH_MAX];
	char		absolute[PATH_MAX];

	if (snprintf(path, PATH_MAX, "%s/%s%s", made->root, above, name) >= PATH_MAX ||
		snprintf(absolute, PATH_MAX, "%s/sys/%s", made->root, target ? target : "") >= PATH_MAX ||
		strstr(path + strlen(made->root), "..") || strstr(absolute + strlen(made->root), ".."))
		return false;
	for (char *slash = path + strlen(made->root); slash != NULL; slash = strchr(slash + 1, '/'))
	{
		*slash = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return false;
		*slash = '/';
	}
	if (target != NULL)
		return symlink(absolute, path) == 0 || errno == EEXIST;
	tree_end_file(made);
	made->file = fopen(path, "we");
	return made->file != NULL;
}

/* "NUMBER DIRECTORY" */
static inline bool
tree_device(tree *made, const char *line)
{
	char		number[32];
	char		target[sizeof(made->device)];

	if (sscanf(line, "%31s %200s", number, target + strlen("devices/")) != 2)
		return false;
	memcpy(target, "devices/", strlen("devices/"));
	snprintf(made->device, sizeof(made->device), "sys/%.240s/", target);
	/* as each device has, so that the directory is there */
	return tree_make(made, made->device, "uevent", NULL) &&
		tree_make(made, "sys/class/block/", strrchr(target, '/') + 1, target) &&
		(strcmp(number, "-") == 0 || tree_make(made, "sys/dev/block/", number, target));
}

/* "PATH -> DEVICE", "PATH: LINE", or, for a file of other lines or none, "PATH:" */
static inline bool
tree_entry(tree *made, const char *above, char *line)
{
	char	   *end = strstr(line, " -> ");
	char		target[PATH_MAX];

	if (end != NULL)
	{
		*end = '\0';
		snprintf(target, sizeof(target), "class/block/%s", end + strlen(" -> "));
		return tree_make(made, above, line, target);
	}
	end = strstr(line, ": ");
	if (end == NULL && (end = strrchr(line, ':')) != NULL && end[1] != '\0')
		end = NULL;
	if (end == NULL)
		return false;
	*end++ = '\0';
	return tree_make(made, above, line, NULL) &&
		(*end == '\0' || fprintf(made->file, "%s\n", end + 1) > 0);
}

static inline bool
tree_line(tree *made, char *line)
{
	if (line[0] == '\0' || line[0] == '#' || line[0] == '=')
		return true;
	if (line[0] != '\t')
	{
		tree_end_file(made);
		made->device[0] = '\0';
		return strncmp(line, "device ", 7) == 0 ? tree_device(made, line + 7) :
			tree_entry(made, "", line);
	}
	if (made->device[0] != '\0')
		return tree_entry(made, made->device, line + 1);
	return made->file != NULL && fprintf(made->file, "%s\n", line + 1) > 0;
}

/* Adds to what there is below root.  False if a line is not understood or cannot be made. */
static inline bool
make_tree(const char *root, const char *text)
{
	tree		made = {.root = root};
	char	   *copy = strdup(text);
	char	   *rest = copy;
	char	   *line;
	bool		done = copy != NULL;

	while (done && (line = strsep(&rest, "\n")) != NULL)
		done = tree_line(&made, line);
	tree_end_file(&made);
	free(copy);
	return done;
}

static inline int
remove_one(const char *path, const struct stat *st __attribute__((unused)),
		   int type __attribute__((unused)), struct FTW *ftw __attribute__((unused)))
{
	return remove(path);
}

static inline bool
remove_tree(const char *root)
{
	/* that of musl goes no deeper than it may open directories */
	return nftw(root, remove_one, 64, FTW_DEPTH | FTW_PHYS) == 0;
}

static char tree_directory[32]; /* or "" */

static inline void
remove_tree_directory(void)
{
	(void) remove_tree(tree_directory);
}

/*
 * Where the next tree may be made: below a directory that is removed when the program ends, in
 * memory where there is such a place.  Good until the next call.
 */
static inline const char *
tree_root(void)
{
	static char path[64];
	static int	number;

	if (tree_directory[0] == '\0')
	{
		strcpy(tree_directory, access("/dev/shm", W_OK) == 0 ? "/dev/shm/sp_test_XXXXXX" :
			   "/tmp/sp_test_XXXXXX");
		if (mkdtemp(tree_directory) == NULL || atexit(remove_tree_directory) != 0)
			abort();
	}
	snprintf(path, sizeof(path), "%s/%d", tree_directory, number++);
	return path;
}

#endif							/* TREE_H */
