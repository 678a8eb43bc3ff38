/*-------------------------------------------------------------------------
 *
 * commit_waits.c
 *		The mean wait of a commit, its parts, and what a faster sync would change.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/commit_waits.h"

#include <math.h>
#include <string.h>

#include "engine/text/text.h"

/* With fewer commits or processes seen in a commit, no sentence is made of them. */
#define MIN_COMMITS		20
#define MIN_SEEN		20

/* Below this share of the active time, half of a sync is not worth a change. */
#define SMALL_SHARE		0.1

/* NAN instead of a division by zero. */
static double
ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static int64_t
committing(const sp_commit_sums *sums)
{
	int64_t		sum = 0;

	for (int p = 0; p < SP_COMMIT_PARTS; p++)
		sum += sums->part[p];
	return sum;
}

void
sp_commit_figures_of(const sp_commit_sums *sums, sp_commit_figures *figures)
{
	double		samples = (double) sums->samples;
	double		rate = ratio((double) sums->commits, sums->seconds);

	memset(figures, 0, sizeof(*figures));
	figures->commits_per_sec = rate;
	figures->committing = ratio((double) committing(sums), samples);
	figures->active = ratio((double) sums->active, samples);
	figures->connected = ratio((double) sums->connected, samples);
	figures->wait_us = ratio(figures->committing * 1e6, rate);
	for (int p = 0; p < SP_COMMIT_PARTS; p++)
		figures->part_us[p] = ratio(ratio((double) sums->part[p], samples) * 1e6, rate);
	/* logical replication commits in processes that are not client backends */
	figures->wait_share = ratio(figures->committing, figures->active);
	if (figures->wait_share > 1)
		figures->wait_share = 1;
	figures->wal_bytes_per_commit = ratio((double) sums->wal_bytes, (double) sums->commits);
	figures->flushes_per_sec = ratio(sums->flushes, sums->seconds);
	figures->bytes_per_flush = ratio(sums->flushed_bytes, sums->flushes);
	figures->commits_per_flush = ratio((double) sums->commits, sums->flushes);
}

void
sp_commit_sums_add(sp_commit_sums *sums, const sp_commit_sums *other)
{
	sums->seconds += other->seconds;
	sums->samples += other->samples;
	for (int p = 0; p < SP_COMMIT_PARTS; p++)
		sums->part[p] += other->part[p];
	sums->active += other->active;
	sums->connected += other->connected;
	sums->unflushed += other->unflushed;
	if (other->committers > sums->committers)
		sums->committers = other->committers;
	sums->commits += other->commits;
	sums->wal_bytes += other->wal_bytes;
	sums->flushes += other->flushes;
	sums->flushed_bytes += other->flushed_bytes;
}

/* ------------------------------------------------------------------- words */

/* A time in the unit that suits it. */
static void
say_time(sp_sentence *to, double us)
{
	if (us < 1000)
		sp_say(to, "%.0f us", us);
	else if (us < 10000)
		sp_say(to, "%.1f ms", us / 1000);
	else
		sp_say(to, "%.0f ms", us / 1000);
}

/*
 * The time that follows that of a sync: the sync itself, and of the queue the share that
 * the process in front spends in its sync.
 */
static double
sync_us(const sp_commit_figures *figures)
{
	double		sync = figures->part_us[SP_PART_SYNC];
	double		front = sync + figures->part_us[SP_PART_WRITE] +
		figures->part_us[SP_PART_DELAY] + figures->part_us[SP_PART_RUNNING];

	return sync + (front > 0 ? figures->part_us[SP_PART_QUEUE] * sync / front : 0);
}

static void
say_parts(sp_sentence *to, const sp_commit_figures *figures, int commit_delay)
{
	double		delay = figures->part_us[SP_PART_DELAY] +
		(commit_delay > 0 ? figures->part_us[SP_PART_RUNNING] : 0);

	sp_say(to, "a commit waits ");
	say_time(to, figures->wait_us);
	sp_say(to, ", of which ");
	say_time(to, sync_us(figures));
	sp_say(to, " are syncs, its own or the one ahead of it");
	if (commit_delay > 0 && delay > 0)
	{
		sp_say(to, ", and up to ");
		say_time(to, delay);
		sp_say(to, " are commit_delay");
	}
	if (figures->part_us[SP_PART_SYNC_REP] > 0)
	{
		sp_say(to, ", and ");
		say_time(to, figures->part_us[SP_PART_SYNC_REP]);
		sp_say(to, " are for the synchronous standby");
	}
}

void
sp_commit_answer(const sp_commit_sums *sums, int commit_delay, char *answer, size_t size)
{
	sp_commit_figures figures;
	sp_sentence to = sp_sentence_begin(answer, size);
	double		saved;

	sp_commit_figures_of(sums, &figures);
	if (sums->commits < MIN_COMMITS)
	{
		sp_say(&to, "too few commits for an answer: %llu in %.1f s",
			(unsigned long long) sums->commits, sums->seconds);
		return;
	}
	if (committing(sums) < MIN_SEEN)
	{
		sp_say(&to, "no: commits hardly wait, %lld of %lld samples saw one that does",
			(long long) committing(sums), (long long) sums->samples);
		return;
	}
	saved = figures.wait_share * sync_us(&figures) / figures.wait_us / 2;
	sp_say(&to, "%s: ", saved * 2 < SMALL_SHARE ? "hardly" : "yes");
	sp_say(&to, "sessions wait for commits in %.0f %% of their active time; ",
		figures.wait_share * 100);
	say_parts(&to, &figures, commit_delay);
	sp_say(&to, "; syncs in half the time would save %.0f %% of the active time", saved * 100);
}
