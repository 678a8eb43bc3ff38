/*-------------------------------------------------------------------------
 *
 * nulls.c
 *		One probe of the wal suite without a server, where all methods are equal.
 *
 *	nulls DIRECTORY METHOD SECONDS INTERVAL_US FLUSH_SIZE SEED
 *
 * The engine of a probe, but every case gets the calls and the open flags of the current
 * method, METHOD: so a switch is false.  The files of the suite are created in DIRECTORY,
 * which the caller removes.  With an INTERVAL_US of 0 back to back decides, as beside a load.
 *
 * Prints one line, its columns separated by tabs: verdict, recommended method and best
 * method so far ("-" for none), bound of the loss of staying, deciding regime, seconds of
 * measuring, noise, paced rounds, saturated rounds, speeds, reason.  The speeds are an
 * array for PostgreSQL, one row for each method that was measured:
 * {name, estimate, low, high (paced), estimate, low, high (saturated)}.
 *
 *-------------------------------------------------------------------------
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/measure/measure.h"
#include "engine/text/text.h"
#include "engine/verdict/verdict.h"

/* The server's default wal_segment_size.  A new segment gets writes of a whole buffer. */
#define SEGMENT_SIZE	(16 * 1024 * 1024)
#define FILL_WRITE		SP_WAL_FILE_MAX_SIZE
#define MARGIN			0.05
#define SHOWN_INTERVAL_US	5000	/* of paced flushes that do not decide */

static _Noreturn void
fail(const char *action, const char *object)
{
	fprintf(stderr, "nulls: could not %s \"%s\": %s\n", action, object, strerror(errno));
	exit(1);
}

/* ------------------------------------------------------------- callbacks */

static int64_t
now_ns(void *context)
{
	struct timespec now;

	(void) context;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SP_NS_PER_S + now.tv_nsec;
}

static void
sleep_until(void *context, int64_t deadline_ns)
{
	struct timespec deadline = {deadline_ns / SP_NS_PER_S, deadline_ns % SP_NS_PER_S};

	(void) context;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
		;
}

static void
ignore(void *context)
{
	(void) context;
}

/* ----------------------------------------------------------------- files */

/* Write every block, as a server does with a new segment. */
static void
fill_file(const sp_probe *probe, const sp_file *file, int fd)
{
	for (int64_t done = 0; done < file->size; done += FILL_WRITE)
	{
		if (pwrite(fd, probe->buffer, FILL_WRITE, done) != FILL_WRITE)
			fail("write file", file->name);
	}
	if (fsync(fd) != 0)
		fail("fsync file", file->name);
}

/* Opened at last with the flags of its method; the file system may refuse O_DIRECT. */
static void
create_file(const sp_probe *probe, sp_file *file, int n)
{
	int			fd;

	snprintf(file->name, sizeof(file->name), "nulls.%d", n);
	fd = openat(file->directory_fd, file->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		fail("create file", file->name);
	fill_file(probe, file, fd);
	close(fd);
	file->fd = sp_openat(file->directory_fd, file->name, sp_open_flags(file));
	if (file->fd >= 0)
		return;
	file->open_errno = errno;
	file->status = file->direct_io && errno == EINVAL ? SP_NO_DIRECT_IO : SP_ERROR;
}

static void
create_files(sp_probe *probe, const char *directory)
{
	int			directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory_fd < 0)
		fail("open directory", directory);
	for (int n = 0; n < probe->nfiles; n++)
	{
		probe->files[n].directory_fd = directory_fd;
		if (probe->files[n].status == SP_OK)
			create_file(probe, &probe->files[n], n);
	}
	if (fsync(directory_fd) != 0)
		fail("fsync directory", directory);
}

/* ------------------------------------------------------------------ plan */

/*
 * Give every file the flags and calls of the current method.  The cases keep their
 * labels, and so the rules see as many methods as usual.
 */
static void
make_all_equal(sp_probe *probe, const sp_sync_method *current)
{
	bool		direct_io = false;

	for (int n = 0; n < probe->nfiles; n++)
	{
		if (probe->files[n].method == current && probe->files[n].status == SP_OK)
		{
			direct_io = probe->files[n].direct_io;
			break;				/* a second one may only be shown, with O_DIRECT */
		}
	}
	for (int n = 0; n < probe->nfiles; n++)
	{
		probe->files[n].method = current;
		probe->files[n].direct_io = direct_io;
	}
}

static const char *
random_buffer(void)
{
	char	   *buffer = aligned_alloc(SP_WAL_PAGE_SIZE, SP_WAL_FILE_MAX_SIZE);

	if (buffer == NULL)
		fail("allocate", "buffer");
	for (int i = 0; i < SP_WAL_FILE_MAX_SIZE; i++)
		buffer[i] = (char) lrand48();
	return buffer;
}

static void
plan_probe(sp_probe *probe, char **arguments)
{
	double		interval_us = atof(arguments[3]);
	sp_server	server = {
		.current = sp_sync_method_find(arguments[1]),
		.segment_size = SEGMENT_SIZE,
		.init_write_size = FILL_WRITE,
		.flush_size = atoi(arguments[4]),
	};

	if (server.current == NULL || !server.current->supported)
	{
		errno = EINVAL;
		fail("use method", arguments[1]);
	}
	for (size_t i = 0; i < sp_sync_method_count; i++)
		server.offers[i] = true;
	probe->random_seed = strtoull(arguments[5], NULL, 10);
	srand48((long) probe->random_seed);
	probe->buffer = random_buffer();
	probe->duration_ns = (int64_t) (atof(arguments[2]) * SP_NS_PER_S);
	probe->deciding = interval_us > 0 ? SP_PACED : SP_SATURATED;
	probe->flush_interval_ns =
		(int64_t) ((interval_us > 0 ? interval_us : SHOWN_INTERVAL_US) * SP_NS_PER_US);
	probe->duty_cycle = 1;
	probe->margin = MARGIN;
	probe->stop_early = true;
	probe->callbacks = (sp_callbacks) {
		.now_ns = now_ns,
		.check_interrupts = ignore,
		.sleep_until = sleep_until,
		.operation_begin = ignore,
		.operation_end = ignore,
		.round_done = ignore,
	};
	probe->device = (sp_device_facts) {.write_cache = "", .backing_write_cache = ""};
	probe->suite = &sp_suite_wal;
	probe->suite->plan(probe, &server);
	make_all_equal(probe, server.current);
}

/* --------------------------------------------------------------- results */

/* The speed of a method in a regime; NULL if it was not measured. */
static const sp_speed *
speed_of(const sp_probe *probe, const char *label, sp_regime regime)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].candidate && probe->cases[c].regime == regime &&
			strcmp(probe->cases[c].label, label) == 0 && !isnan(probe->results[c].speed.estimate))
			return &probe->results[c].speed;
	}
	return NULL;
}

static void
print_speeds(const sp_probe *probe)
{
	static const sp_speed none = {NAN, NAN, NAN};
	bool		first = true;

	putchar('{');
	for (int i = 0; i < probe->comparison.count; i++)
	{
		const char *name = probe->comparison.candidates[i].name;
		const sp_speed *speeds[SP_REGIMES];

		for (int r = 0; r < SP_REGIMES; r++)
			speeds[r] = speed_of(probe, name, (sp_regime) r);
		if (speeds[SP_PACED] == NULL && speeds[SP_SATURATED] == NULL)
			continue;
		printf("%s{%s", first ? "" : ",", name);
		for (int r = 0; r < SP_REGIMES; r++)
		{
			const sp_speed *speed = speeds[r] ? speeds[r] : &none;

			printf(",%.4f,%.4f,%.4f", speed->estimate, speed->low, speed->high);
		}
		putchar('}');
		first = false;
	}
	putchar('}');
}

static const char *
method_name(const sp_comparison *comparison, int candidate)
{
	return candidate < 0 ? "-" : comparison->candidates[candidate].name;
}

static void
print_result(const sp_probe *probe)
{
	const sp_judgement *judgement = &probe->judgement;
	const sp_comparison *comparison = &probe->comparison;
	char		reason[SP_REASON_SIZE];

	assert(probe->judged);
	sp_probe_explain(probe, reason);
	printf("%s\t%s\t%s\t%.4f\t%s\t", sp_verdict_names[judgement->verdict],
		   method_name(comparison, judgement->recommended),
		   method_name(comparison, judgement->best), judgement->max_regret,
		   sp_regime_names[probe->deciding]);
	printf("%.3f\t%.4f\t%lld\t%lld\t",
		   (double) (probe->finished_ns - probe->started_ns) / SP_NS_PER_S, judgement->noise,
		   (long long) probe->rounds[SP_PACED], (long long) probe->rounds[SP_SATURATED]);
	print_speeds(probe);
	printf("\t%s\n", reason);
	if (fflush(stdout) != 0)
		fail("write", "result");
}

int
main(int argc, char **argv)
{
	static sp_probe probe;

	if (argc != 7)
	{
		fputs("usage: nulls DIRECTORY METHOD SECONDS INTERVAL_US FLUSH_SIZE SEED\n", stderr);
		return 2;
	}
	plan_probe(&probe, argv + 1);
	create_files(&probe, argv[1]);
	sp_probe_run(&probe);
	print_result(&probe);
	return 0;
}
