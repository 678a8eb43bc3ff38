/*-------------------------------------------------------------------------
 *
 * nulls.c
 *		One probe of the wal suite without a server, by the engine itself.
 *
 *	nulls [-b] [-f] [-r FILE] DIRECTORY METHOD SECONDS INTERVAL_US FLUSH_SIZE SEED null|real
 *
 * Creates the files of the suite in DIRECTORY, fills them as a server fills WAL
 * segments, runs the probe, prints one line, and removes the files.  METHOD is the
 * current method.  "real" measures each method as it is.  "null" gives the calls and
 * the open flags of the current method to every case: then all methods are truly
 * equal, and a switch is false.
 *
 * The line has these columns, separated by tabs: verdict, recommended method and best
 * method so far ("-" for none), bound of the loss of staying, deciding regime, seconds of
 * measuring, noise, paced rounds, saturated rounds, speeds, reason.  The speeds are an
 * array for PostgreSQL, one row for each method that was measured:
 * {name, estimate, low, high (paced), estimate, low, high (saturated)}.
 *
 * -b: back to back decides, as beside a load.  -f measures for the full time, also after the
 * verdict is settled: a recording for other rules.  -r FILE writes what the cases are compared by, too: a line for each, with test,
 * label (and " control"), and the samples of its series in microseconds.
 *
 * Exit status: 0 after a probe, 1 after an error, 2 for wrong arguments, and 128 and
 * the number of a signal that ended it.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/measure/measure.h"
#include "engine/text/units.h"
#include "engine/verdict/reason.h"

/* The server's default wal_segment_size.  A new segment gets writes of a whole buffer. */
#define SEGMENT_SIZE	(16 * 1024 * 1024)
#define FILL_WRITE		SP_BUFFER_SIZE
#define MARGIN			0.05

typedef struct arguments
{
	bool		back_to_back;	/* decides */
	bool		full;			/* no early stop */
	const char *rounds_file;	/* NULL: the rounds are not written */
	const char *directory;
	const sp_sync_method *current;
	double		seconds;
	double		interval_us;
	int			flush_size;
	uint64_t	seed;
	bool		null;
} arguments;

/* For the handlers of exits and signals: which files exist, and which signal came. */
static int	directory_fd = -1;
static const sp_probe *created_by;
static bool exists[SP_MAX_FILES];
static volatile sig_atomic_t signal_number;

static void
remove_files(void)
{
	for (int n = 0; n < SP_MAX_FILES; n++)
	{
		if (exists[n])
			unlinkat(directory_fd, created_by->files[n].name, 0);
		exists[n] = false;
	}
}

static _Noreturn void
fail(int status, const char *format,...)
{
	va_list		values;

	va_start(values, format);
	fputs("nulls: ", stderr);
	vfprintf(stderr, format, values);
	fputc('\n', stderr);
	va_end(values);
	exit(status);
}

/* ------------------------------------------------------------- callbacks */

static void
note_signal(int number)
{
	signal_number = number;
}

static void
check_interrupts(void *context)
{
	(void) context;
	if (signal_number != 0)
		fail(128 + signal_number, "ended by signal %d", (int) signal_number);
}

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

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
		check_interrupts(context);
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
		check_interrupts(NULL);
		if (pwrite(fd, probe->buffer, FILL_WRITE, done) != FILL_WRITE)
			fail(1, "could not write file \"%s\": %s", file->name, strerror(errno));
	}
	if (fsync(fd) != 0)
		fail(1, "could not fsync file \"%s\": %s", file->name, strerror(errno));
}

/* Open a file with the flags of its method.  The file system may refuse O_DIRECT. */
static void
open_file(sp_file *file)
{
	file->fd = sp_openat(directory_fd, file->name, sp_open_flags(file));
	if (file->fd >= 0)
		return;
	file->open_errno = errno;
	file->status = file->direct_io && errno == EINVAL ? SP_NO_DIRECT_IO : SP_ERROR;
}

static void
create_file(sp_probe *probe, int n)
{
	sp_file    *file = &probe->files[n];
	int			fd;

	snprintf(file->name, sizeof(file->name), "nulls.%ld.%d", (long) getpid(), n);
	file->directory_fd = directory_fd;
	fd = openat(directory_fd, file->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		fail(1, "could not create file \"%s\": %s", file->name, strerror(errno));
	exists[n] = true;
	fill_file(probe, file, fd);
	close(fd);
	open_file(file);
}

static void
create_files(sp_probe *probe, const char *directory)
{
	directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory_fd < 0)
		fail(1, "could not open directory \"%s\": %s", directory, strerror(errno));
	created_by = probe;
	for (int i = 0; i < probe->nfiles; i++)
	{
		if (probe->files[i].status == SP_OK)
			create_file(probe, i);
	}
	if (fsync(directory_fd) != 0)
		fail(1, "could not fsync directory \"%s\": %s", directory, strerror(errno));
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
	char	   *buffer = aligned_alloc(SP_WAL_PAGE_SIZE, SP_BUFFER_SIZE);

	if (buffer == NULL)
		fail(1, "out of memory");
	for (int i = 0; i < SP_BUFFER_SIZE; i++)
		buffer[i] = (char) lrand48();
	return buffer;
}

static sp_probe *
plan_probe(const arguments *given)
{
	sp_probe   *probe = calloc(1, sizeof(*probe));
	sp_server	server = {
		.current = given->current,
		.segment_size = SEGMENT_SIZE,
		.init_write_size = FILL_WRITE,
		.flush_size = given->flush_size,
	};

	if (probe == NULL)
		fail(1, "out of memory");
	for (size_t i = 0; i < sp_sync_method_count; i++)
		server.offers[i] = true;
	srand48((long) given->seed);
	probe->buffer = random_buffer();
	probe->duration_ns = (int64_t) (given->seconds * SP_NS_PER_S);
	probe->flush_interval_ns = (int64_t) (given->interval_us * SP_NS_PER_US);
	probe->deciding = given->back_to_back ? SP_SATURATED : SP_PACED;
	probe->duty_cycle = 1;
	probe->margin = MARGIN;
	probe->stop_early = !given->full;
	probe->random_seed = given->seed;
	probe->callbacks = (sp_callbacks) {
		.now_ns = now_ns,
		.check_interrupts = check_interrupts,
		.sleep_until = sleep_until,
		.operation_begin = ignore,
		.operation_end = ignore,
		.round_done = ignore,
	};
	sp_probe_plan(probe, &sp_suite_wal, &server);
	if (given->null)
		make_all_equal(probe, given->current);
	return probe;
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

	if (!probe->judged)
		fail(1, "the probe could not be judged");
	sp_probe_explain(probe, reason);
	printf("%s\t%s\t%s\t%.4f\t%s\t", sp_verdict_name(judgement->verdict),
		   method_name(comparison, judgement->recommended),
		   method_name(comparison, judgement->best), judgement->max_regret,
		   sp_regime_name(probe->deciding));
	printf("%.3f\t%.4f\t%lld\t%lld\t",
		   (double) (probe->finished_ns - probe->started_ns) / SP_NS_PER_S, judgement->noise,
		   (long long) probe->rounds[SP_PACED], (long long) probe->rounds[SP_SATURATED]);
	print_speeds(probe);
	printf("\t%s\n", reason);
	if (fflush(stdout) != 0)
		fail(1, "could not write the result: %s", strerror(errno));
}

static void
write_rounds(const sp_probe *probe, const char *path)
{
	FILE	   *out = fopen(path, "w");

	if (out == NULL)
		fail(1, "could not open file \"%s\": %s", path, strerror(errno));
	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];
		const sp_series *series = &probe->results[c].series;

		if (series->n == 0 || (!test_case->candidate && !test_case->control))
			continue;			/* what is only shown does not enter a rule */
		fprintf(out, "%s\t%s%s", test_case->test, test_case->label,
				test_case->control ? " control" : "");
		for (int i = 0; i < series->n; i++)
			fprintf(out, "\t%.4g", series->mean_us[i]);
		fputc('\n', out);
	}
	if (fclose(out) != 0)
		fail(1, "could not write file \"%s\": %s", path, strerror(errno));
}

/* ------------------------------------------------------------- arguments */

static _Noreturn void
usage(void)
{
	fail(2, "usage: nulls [-b] [-f] [-r FILE] "
		 "DIRECTORY METHOD SECONDS INTERVAL_US FLUSH_SIZE SEED null|real");
}

static double
number_argument(const char *text, double most)
{
	char	   *end;
	double		value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value > 0 && value <= most))
		fail(2, "\"%s\" is not a number greater than 0 and at most %g", text, most);
	return value;
}

static arguments
read_arguments(int argc, char **argv)
{
	arguments	given = {0};
	int			option;

	while ((option = getopt(argc, argv, "bfr:")) != -1)
	{
		if (option == 'b')
			given.back_to_back = true;
		else if (option == 'f')
			given.full = true;
		else if (option == 'r')
			given.rounds_file = optarg;
		else
			usage();
	}
	if (argc - optind != 7)
		usage();
	argv += optind;
	given.directory = argv[0];
	given.current = sp_sync_method_find(argv[1]);
	if (given.current == NULL || !given.current->supported)
		fail(2, "\"%s\" is not a method of this platform", argv[1]);
	given.seconds = number_argument(argv[2], 3600);
	given.interval_us = number_argument(argv[3], 1e9);
	given.flush_size = (int) number_argument(argv[4], SP_BUFFER_SIZE / 2);
	given.seed = (uint64_t) number_argument(argv[5], (double) (UINT64_C(1) << 48) - 1);
	given.null = strcmp(argv[6], "null") == 0;
	if (!given.null && strcmp(argv[6], "real") != 0)
		usage();
	return given;
}

/* Nothing is asked of a signal but to end the program, by way of remove_files(). */
static void
catch_signals(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
	struct sigaction action = {.sa_handler = note_signal};

	for (size_t i = 0; i < lengthof(signals); i++)
		sigaction(signals[i], &action, NULL);
}

int
main(int argc, char **argv)
{
	arguments	given = read_arguments(argc, argv);
	sp_probe   *probe = plan_probe(&given);

	if (atexit(remove_files) != 0)
		fail(1, "out of memory");
	catch_signals();
	create_files(probe, given.directory);
	sp_probe_run(probe);
	print_result(probe);
	if (given.rounds_file)
		write_rounds(probe, given.rounds_file);
	return 0;
}
