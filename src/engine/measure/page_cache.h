/*-------------------------------------------------------------------------
 *
 * page_cache.h
 *		Files beside the page cache: direct I/O, and dropping what is cached.
 *
 * It must not know which methods use direct I/O: suite.h does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_PAGE_CACHE_H
#define SP_PAGE_CACHE_H

/*
 * The flag for direct I/O among those of sp_openat(), 0 where this platform has none.  It is
 * O_DIRECT, except on macOS.
 */
extern const int sp_direct_io_flag;

/*
 * Open an existing file, as openat(2).  The flags may have sp_direct_io_flag, which is why
 * openat() itself must not be called with them.
 */
extern int	sp_openat(int directory_fd, const char *name, int flags);

/* Let the kernel forget what it has cached of a synced file; not every system can. */
extern void sp_drop_cached_pages(int fd);

#endif							/* SP_PAGE_CACHE_H */
