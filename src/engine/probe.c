/*-------------------------------------------------------------------------
 *
 * probe.c
 *		The timed loop: test cases, rounds, regimes.
 *
 * There is one loop for every method, suite and regime.  It must not allocate,
 * must not print, and must not do anything between the two readings of the
 * clock but what is measured.
 *
 *-------------------------------------------------------------------------
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define NS_PER_MS		INT64_C(1000000)

/*
 * A slice has at least five counted operations; a slow device may take longer
 * for these, but never more than the case's share of the time.
 */
#define SLICE_MIN_OPS	5

/*
 * And it lasts 4 ms, a tick of most kernels' clocks (HZ=250).  Within a tick a
 * file's time stamp changes once, which is what fsync and open_sync have to
 * journal: a shorter slice would often miss it, a longer one makes fewer
 * rounds.  Many short rounds are what beats the bursts of a shared disk: in
 * 2.5 s of a busy virtual disk the interval of the control was 0.90 to 1.10
 * with slices of 3 ms, 0.7 to 1.5 with 10 ms, and 0.4 to 4 with 30 ms.
 */
#define SLICE_NS		(4 * NS_PER_MS)

/*
 * The regimes take turns, so that both see the same hours of a busy disk.  The
 * first paced round of a turn still feels the saturated ones and is not
 * counted: turns must not be too short.
 */
#define TURN_NS			(500 * NS_PER_MS)

/*
 * When nothing better can be there any more, equals may still show: it is
 * worth 128 rounds to see them, and no more.
 */
#define EXCLUSION_LOOKS	5

/* How long the first round of a regime may run beyond the time. */
#define FIRST_ROUND_GRACE_NS	(2000 * NS_PER_MS)

const char *
sp_status_name(sp_status status)
{
	switch (status)
	{
		case SP_OK:
			return "ok";
		case SP_UNSUPPORTED:
			return "unsupported";
		case SP_NO_DIRECT_IO:
			return "no_direct_io";
		case SP_STOPPED:
			return "stopped";
		case SP_ERROR:
			break;
	}
	return "error";
}

static int64_t
now_ns(sp_probe *probe)
{
	return probe->callbacks.now_ns(probe->callbacks.context);
}

static void
check_interrupts(sp_probe *probe)
{
	probe->callbacks.check_interrupts(probe->callbacks.context);
}

/* ---------------------------------------------------------------- operation */

/*
 * One write as one system call.  Writes longer than the buffer repeat it, so
 * that a flush of a whole segment needs no memory of that size.
 */
static ssize_t
write_once(int fd, const char *buffer, size_t size, off_t offset)
{
	struct iovec parts[SP_BUFFER_SIZE / SP_WAL_PAGE_SIZE * 2 + 1];
	int			nparts = 0;

	if (size <= SP_BUFFER_SIZE)
		return pwrite(fd, buffer, size, offset);

	for (size_t done = 0; done < size && nparts < (int) (sizeof(parts) / sizeof(parts[0]));)
	{
		size_t		part = size - done < SP_BUFFER_SIZE ? size - done : SP_BUFFER_SIZE;

		parts[nparts].iov_base = (void *) buffer;
		parts[nparts++].iov_len = part;
		done += part;
	}
	return pwritev(fd, parts, nparts, offset);
}

static size_t
whole_pages(int64_t bytes)
{
	return (size_t) ((bytes + SP_WAL_PAGE_SIZE - 1) / SP_WAL_PAGE_SIZE * SP_WAL_PAGE_SIZE);
}

int64_t
sp_test_case_write_bytes(const sp_test_case *test_case)
{
	/* a flush that begins inside a page may touch one page more */
	return test_case->advances
		? (int64_t) whole_pages(test_case->write_size) + SP_WAL_PAGE_SIZE
		: test_case->write_size;
}

/*
 * What XLogWrite() does for a flush: write again the page that holds the old
 * end of WAL, and all pages up to the new end, in one call.
 */
static const char *
write_flush(sp_probe *probe, const sp_test_case *test_case, sp_file *file)
{
	int64_t		first = file->position / SP_WAL_PAGE_SIZE * SP_WAL_PAGE_SIZE;
	int64_t		end = file->position + test_case->write_size;
	size_t		size;
	ssize_t		written;

	if (end > file->size)
	{
		first = 0;
		end = test_case->write_size;
	}
	size = whole_pages(end - first);
	if (first + (int64_t) size > file->size)
		size = (size_t) (file->size - first);

	written = write_once(file->fd, probe->buffer, size, first);
	if (written != (ssize_t) size)
	{
		if (written >= 0)
			errno = ENOSPC;		/* as the server sees a short write */
		return "pwrite";
	}
	file->position = end;
	return NULL;
}

static const char *
write_pattern(sp_probe *probe, const sp_test_case *test_case, int fd)
{
	for (int i = 0; i < test_case->writes_per_sync; i++)
	{
		ssize_t		written = pwrite(fd, probe->buffer, test_case->write_size,
									 (off_t) i * test_case->write_size);

		if (written != test_case->write_size)
		{
			if (written >= 0)
				errno = ENOSPC;
			return "pwrite";
		}
	}
	return NULL;
}

/* The name of what failed, with errno set; NULL if nothing did. */
static const char *
sync_file(const sp_sync_method *method, int fd)
{
	if (method == NULL || method->sync == NULL || method->sync(fd) == 0)
		return NULL;
	return method->name;
}

static int
open_again(const sp_file *file)
{
	return openat(file->directory_fd, file->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
}

/* Close on the way out of a failure, whose errno is the one to report. */
static const char *
close_after(int fd, const char *failed)
{
	int			saved_errno = errno;

	if (close(fd) != 0 && failed == NULL)
		return "close";
	errno = saved_errno;
	return failed;
}

/*
 * The tool's two lines about descriptors.  Both open twice, so that their
 * difference is only which descriptor is synced.
 */
static const char *
reopening_operation(sp_probe *probe, const sp_test_case *test_case, const sp_file *file)
{
	bool		sync_second = test_case->descriptor_use == SP_WRITE_CLOSE_SYNC;
	const char *failed;
	int			fd;

	if ((fd = open_again(file)) < 0)
		return "open";
	failed = write_pattern(probe, test_case, fd);
	if (failed == NULL && !sync_second)
		failed = sync_file(file->method, fd);
	if ((failed = close_after(fd, failed)) != NULL)
		return failed;

	if ((fd = open_again(file)) < 0)
		return "open";
	if (sync_second)
		failed = sync_file(file->method, fd);
	return close_after(fd, failed);
}

/* One operation: NULL, or the name of the call that failed with errno set. */
static inline const char *
operate(sp_probe *probe, const sp_test_case *test_case, sp_file *file)
{
	const char *failed;

	if (test_case->descriptor_use != SP_KEEP_OPEN)
		return reopening_operation(probe, test_case, file);
	failed = test_case->advances
		? write_flush(probe, test_case, file)
		: write_pattern(probe, test_case, file->fd);
	return failed ? failed : sync_file(file->method, file->fd);
}

/*
 * A file that failed is out for all its test cases: the other regime shares
 * the descriptor, and a sync after a failed sync may claim success.
 */
static void
fail_file(sp_probe *probe, int file, const char *call, int error_number)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		sp_result  *result = &probe->results[c];

		if (probe->cases[c].file != file || result->status != SP_OK)
			continue;

		/* some file systems take O_DIRECT at open, and refuse it at the write */
		result->status = error_number == EINVAL && probe->files[file].direct_io
			? SP_NO_DIRECT_IO : SP_ERROR;
		result->error_number = error_number;
		result->error_call = call;
	}
}

/*
 * Run and time one operation.  Returns its time in ns, or -1 when the case has
 * failed and is out.  Interrupts are looked at before it, so that the wait for
 * a cancel is one sync at most; what a signal hit is done again, uncounted.
 */
static int64_t
timed_operation(sp_probe *probe, int c)
{
	const sp_test_case *test_case = &probe->cases[c];
	sp_file    *file = &probe->files[test_case->file];
	const sp_callbacks *callbacks = &probe->callbacks;
	const char *failed;
	int64_t		begin;
	int64_t		end;
	int			failed_errno;

	for (;;)
	{
		check_interrupts(probe);
		callbacks->operation_begin(callbacks->context);
		begin = callbacks->now_ns(callbacks->context);
		failed = operate(probe, test_case, file);
		failed_errno = errno;	/* callbacks may change it */
		end = callbacks->now_ns(callbacks->context);
		callbacks->operation_end(callbacks->context);

		if (failed == NULL)
			return end - begin > probe->clock_cost_ns ? end - begin - probe->clock_cost_ns : 0;
		if (failed_errno != EINTR)
			break;
	}
	fail_file(probe, test_case->file, failed, failed_errno);
	return -1;
}

/* ------------------------------------------------------------------- rounds */

static void
series_append(sp_series *series, double round_us)
{
	series->pending_us += round_us;
	if (++series->pending < series->rounds_per_entry)
		return;

	if (series->n == SP_MAX_ROUNDS)
	{
		for (int i = 0; i < SP_MAX_ROUNDS / 2; i++)
			series->mean_us[i] = (series->mean_us[2 * i] + series->mean_us[2 * i + 1]) / 2;
		series->n = SP_MAX_ROUNDS / 2;
		series->rounds_per_entry *= 2;
		return;					/* what is pending is now half an entry */
	}
	series->mean_us[series->n++] = series->pending_us / (double) series->pending;
	series->pending = 0;
	series->pending_us = 0;
}

/* Has the case had all the rounds that it gets? */
static bool
is_finished(const sp_probe *probe, int c)
{
	return probe->cases[c].most_rounds > 0 &&
		probe->results[c].rounds.n >= probe->cases[c].most_rounds;
}

/* The cases of a regime that are to be measured, in a fresh random order. */
static int
shuffle_cases(sp_probe *probe, sp_regime regime, int *order)
{
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == regime && probe->results[c].status == SP_OK &&
			!is_finished(probe, c))
			order[n++] = c;
	}
	for (int i = n - 1; i > 0; i--)
	{
		int			j = (int) (nrand48(probe->random_state) % (i + 1));
		int			swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
	return n;
}

static int
count_cases(const sp_probe *probe, sp_regime regime)
{
	int			n = 0;

	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == regime && probe->results[c].status == SP_OK)
			n++;
	}
	return n;
}

static void
sleep_until(sp_probe *probe, int64_t deadline)
{
	if (now_ns(probe) < deadline)
		probe->callbacks.sleep_until(probe->callbacks.context, deadline);
}

/*
 * Every case once, evenly spread over one flush interval: each file sees the
 * cluster's own interval, and the device rests in between as it does there.
 */
static void
paced_round(sp_probe *probe, bool counted, int64_t give_up)
{
	int			order[SP_MAX_CASES];
	int			n = shuffle_cases(probe, SP_PACED, order);
	int64_t		start = now_ns(probe);
	int64_t		busy = 0;
	int64_t		length;

	for (int i = 0; i < n; i++)
	{
		sp_result  *result = &probe->results[order[i]];
		int64_t		elapsed;

		sleep_until(probe, start + probe->flush_interval_ns * i / n);
		if (now_ns(probe) > give_up)
			return;
		elapsed = timed_operation(probe, order[i]);
		if (elapsed < 0)
			continue;
		busy += elapsed;
		if (counted)
		{
			sp_histogram_add(&result->histogram, (uint64_t) elapsed);
			series_append(&result->rounds, (double) elapsed / 1000);
		}
	}

	length = (int64_t) ((double) busy / probe->duty_cycle);
	if (length < probe->flush_interval_ns)
		length = probe->flush_interval_ns;
	sleep_until(probe, start + length);
}

/*
 * One case, back to back.  The first operation pays for what others left (a
 * time stamp to be journaled, a cold path) and is made but not counted.
 */
static void
saturated_slice(sp_probe *probe, int c, int64_t share)
{
	sp_result  *result = &probe->results[c];
	int64_t		least = share < SLICE_NS ? share : SLICE_NS;
	int64_t		begin = now_ns(probe);
	int64_t		sum = 0;
	int64_t		length;
	int			ops = 0;

	if (timed_operation(probe, c) < 0)
		return;
	do
	{
		int64_t		elapsed = timed_operation(probe, c);

		if (elapsed < 0)
			return;
		sp_histogram_add(&result->histogram, (uint64_t) elapsed);
		sum += elapsed;
		ops++;
		length = now_ns(probe) - begin;
	} while (length < share && (length < least || ops < SLICE_MIN_OPS));

	series_append(&result->rounds, (double) sum / ops / 1000);
	if (probe->duty_cycle < 1)
		sleep_until(probe, begin + (int64_t) ((double) length / probe->duty_cycle));
}

static void
saturated_round(sp_probe *probe, int64_t share, int64_t give_up)
{
	int			order[SP_MAX_CASES];
	int			n = shuffle_cases(probe, SP_SATURATED, order);

	for (int i = 0; i < n && now_ns(probe) <= give_up; i++)
		saturated_slice(probe, order[i], share);
}

/* -------------------------------------------------------------------- looks */

/* Speed of a case, of its baseline's control in the place of the baseline. */
static sp_speed
case_speed(sp_probe *probe, int c, double alpha)
{
	const sp_series *baseline = &probe->results[probe->cases[c].baseline].rounds;
	sp_speed	one = {1, NAN, NAN};
	int			other = c;
	int			n;

	if (c == probe->cases[c].baseline)
	{
		for (int i = 0; i < probe->ncases; i++)
		{
			if (probe->cases[i].control && probe->cases[i].baseline == c &&
				probe->results[i].status == SP_OK)
				other = i;
		}
		if (other == c)
			return one;
	}
	n = probe->results[other].rounds.n;
	if (n > baseline->n)
		n = baseline->n;
	return sp_speed_interval(baseline->mean_us, probe->results[other].rounds.mean_us,
							 n, alpha, probe->scratch);
}

static void
look(sp_probe *probe, sp_regime regime)
{
	sp_contender contenders[SP_MAX_METHODS];
	sp_speed	none = {NAN, NAN, NAN};
	int			comparisons = 0;
	int			count;
	int			current;
	double		alpha;
	double		control_alpha;	/* the control is a question of its own */

	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_test_case *test_case = &probe->cases[c];

		if (test_case->regime == regime && test_case->contender &&
			test_case->baseline >= 0 && test_case->baseline != c &&
			probe->results[c].status == SP_OK)
			comparisons++;
	}
	probe->looks[regime]++;
	alpha = sp_look_alpha(probe->looks[regime], comparisons);
	control_alpha = sp_look_alpha(probe->looks[regime], 1);

	for (int c = 0; c < probe->ncases; c++)
	{
		int			baseline = probe->cases[c].baseline;

		/* the interval of its last round stands */
		if (probe->cases[c].regime != regime ||
			(is_finished(probe, c) && probe->rounds[regime] > probe->cases[c].most_rounds))
			continue;
		probe->results[c].speed = baseline >= 0 && probe->results[c].status == SP_OK &&
			probe->results[baseline].status == SP_OK ?
			case_speed(probe, c, c == baseline ? control_alpha : alpha) : none;
	}

	count = sp_probe_contenders(probe, contenders, &current);
	if (current >= 0)
	{
		sp_judge(contenders, count, current, probe->margin, &probe->judgement);
		probe->judged = true;
	}
	probe->callbacks.look_done(probe->callbacks.context, regime);
}

int
sp_probe_contenders(const sp_probe *probe, sp_contender *contenders, int *current)
{
	int			n = 0;

	*current = -1;
	for (int c = 0; c < probe->ncases && n < SP_MAX_METHODS; c++)
	{
		sp_contender *contender = &contenders[n];

		if (!probe->cases[c].contender || probe->cases[c].regime != SP_PACED)
			continue;
		if (probe->cases[c].baseline == c)
			*current = n;
		contender->name = probe->cases[c].label;
		contender->speed[SP_PACED] = probe->results[c].speed;
		contender->speed[SP_SATURATED] = (sp_speed) {NAN, NAN, NAN};
		for (int s = 0; s < probe->ncases; s++)
		{
			if (probe->cases[s].contender && probe->cases[s].regime == SP_SATURATED &&
				probe->cases[s].file == probe->cases[c].file)
				contender->speed[SP_SATURATED] = probe->results[s].speed;
		}
		n++;
	}
	return n;
}

/* ---------------------------------------------------------------------- run */

static bool
settled(const sp_probe *probe)
{
	sp_contender contenders[SP_MAX_METHODS];
	int			current;
	int			count = sp_probe_contenders(probe, contenders, &current);

	if (!probe->judged)
		return false;
	if (probe->judgement.by_exclusion)
		return probe->looks[SP_PACED] >= EXCLUSION_LOOKS && probe->looks[SP_SATURATED] >= EXCLUSION_LOOKS;
	return sp_judgement_settled(contenders, count, current, probe->margin, &probe->judgement);
}

/*
 * One turn of a regime: rounds until the turn is over, the time is up or the
 * advice is settled.  The length of the round before tells whether another
 * one would end nearer to the end than now.
 */
static void
take_turn(sp_probe *probe, sp_regime regime, int64_t share, int64_t deadline)
{
	int64_t		turn_begin = now_ns(probe);
	int64_t		turn_end = turn_begin + TURN_NS;
	int64_t		give_up = deadline + FIRST_ROUND_GRACE_NS;
	int64_t		length = probe->round_ns[regime];
	bool		warm = regime == SP_SATURATED;
	bool		first = true;

	if (turn_end > turn_begin + share * count_cases(probe, regime))
		turn_end = turn_begin + share * count_cases(probe, regime);

	for (;;)
	{
		int64_t		begin = now_ns(probe);
		bool		needed = probe->rounds[regime] == 0 && begin < give_up;

		if (!needed && (begin + length / 2 >= deadline || (!first && begin + length / 2 >= turn_end)))
			break;

		if (regime == SP_PACED)
			paced_round(probe, warm, give_up);
		else
			saturated_round(probe, share, give_up);
		length = probe->round_ns[regime] = now_ns(probe) - begin;

		if (warm)
		{
			probe->rounds[regime]++;
			first = false;
			probe->callbacks.round_done(probe->callbacks.context);
			if (probe->rounds[regime] == (int64_t) SP_FIRST_LOOK_ROUNDS << probe->looks[regime])
				look(probe, regime);
			if (probe->stop_early && settled(probe))
				break;
		}
		warm = true;
		if (count_cases(probe, regime) == 0 || now_ns(probe) >= give_up)
			break;
	}
	probe->spent_ns[regime] += now_ns(probe) - turn_begin;
}

static void
prepare(sp_probe *probe)
{
	memset(probe->rounds, 0, sizeof(probe->rounds));
	memset(probe->looks, 0, sizeof(probe->looks));
	memset(probe->spent_ns, 0, sizeof(probe->spent_ns));
	memset(probe->round_ns, 0, sizeof(probe->round_ns));
	probe->judged = false;
	for (int i = 0; i < 3; i++)
		probe->random_state[i] = (unsigned short) (probe->random_seed >> (16 * i));

	for (int c = 0; c < probe->ncases; c++)
	{
		const sp_file *file = &probe->files[probe->cases[c].file];
		sp_result  *result = &probe->results[c];

		result->status = file->status;
		result->error_number = file->open_errno;
		result->error_call = file->status == SP_ERROR ? "open" : NULL;
		sp_histogram_reset(&result->histogram);
		memset(&result->rounds, 0, sizeof(result->rounds));
		result->rounds.rounds_per_entry = 1;
		result->speed = (sp_speed) {NAN, NAN, NAN};
	}
}

/* The noise of a regime as of its last look; NAN before. */
static double
regime_noise(const sp_probe *probe, sp_regime regime)
{
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->cases[c].regime == regime && probe->cases[c].baseline == c)
			return sp_speed_noise(probe->results[c].speed);
	}
	return NAN;
}

/*
 * The regime whose turn it is, or -1 when none can be measured.  The time goes
 * where the doubt is: to the noisier regime, unless the other has had less than
 * a quarter; to the one that has had less while either's noise is unknown.
 */
static int
next_regime(const sp_probe *probe)
{
	int			less = probe->spent_ns[SP_PACED] <= probe->spent_ns[SP_SATURATED]
		? SP_PACED : SP_SATURATED;
	int			more = SP_REGIMES - 1 - less;

	if (count_cases(probe, less) == 0)
		return count_cases(probe, more) > 0 ? more : -1;
	if (count_cases(probe, more) > 0 &&
		regime_noise(probe, more) > regime_noise(probe, less) &&
		probe->spent_ns[less] * 3 > probe->spent_ns[more])
		return more;
	return less;
}

void
sp_probe_run(sp_probe *probe)
{
	int64_t		deadline;
	int64_t		share[SP_REGIMES];
	int			regimes = 0;
	int			regime;

	prepare(probe);
	for (int r = 0; r < SP_REGIMES; r++)
		regimes += count_cases(probe, r) > 0;
	for (int r = 0; r < SP_REGIMES; r++)
	{
		int			cases = count_cases(probe, r);

		share[r] = cases > 0 ? probe->duration_ns / regimes / cases : 0;
	}

	probe->started_ns = now_ns(probe);
	deadline = probe->started_ns + probe->duration_ns;
	while ((regime = next_regime(probe)) >= 0 && !(probe->stop_early && settled(probe)))
	{
		int64_t		rounds_before = probe->rounds[regime];

		take_turn(probe, regime, share[regime], deadline);
		if (count_cases(probe, regime) == 0)
			continue;			/* all failed: the time is the other regime's */
		if (now_ns(probe) >= deadline || probe->rounds[regime] == rounds_before)
		{
			/* the other regime may still be owed its first round */
			for (int r = 0; r < SP_REGIMES; r++)
			{
				if (probe->rounds[r] == 0 && count_cases(probe, r) > 0)
					take_turn(probe, r, share[r], deadline);
			}
			break;
		}
	}

	/* an advice that was settled keeps the intervals that settled it */
	for (int r = 0; r < SP_REGIMES && !(probe->stop_early && settled(probe)); r++)
	{
		if (probe->rounds[r] > 0 &&
			(probe->looks[r] == 0 ||
			 probe->rounds[r] > (int64_t) SP_FIRST_LOOK_ROUNDS << (probe->looks[r] - 1)))
			look(probe, r);
	}
	for (int c = 0; c < probe->ncases; c++)
	{
		if (probe->results[c].status == SP_OK && probe->results[c].histogram.ops == 0)
			probe->results[c].status = SP_STOPPED;
	}
	probe->finished_ns = now_ns(probe);
}
