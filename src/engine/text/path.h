/*-------------------------------------------------------------------------
 *
 * path.h
 *	  Puts paths together.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PATH_H
#define SP_PATH_H

/*
 * path: PATH_MAX bytes.  A name cut short would be another file's name, so this
 * returns ENAMETOOLONG then, else 0.
 */
extern int	sp_build_path(char *path, const char *format,...)
			__attribute__((format(printf, 2, 3)));

#endif							/* SP_PATH_H */
