/*-------------------------------------------------------------------------
 *
 * commit_waits.c
 *		The mean wait of a commit, its parts, and what a faster sync would change.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/verdict/commit_waits.h"

#include <math.h>

#include "engine/text/text.h"

/* With fewer commits or processes seen in a commit, no sentence is made of them. */
#define MIN_COMMITS		20
#define MIN_SEEN		20

/* Below this share of the wait, commits do not wait for flushes. */
#define NO_FLUSH_SHARE	0.1

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

sp_commit_figures
sp_commit_figures_of(const sp_commit_sums *sums)
{
	double		samples = (double) sums->samples;
	double		rate = ratio((double) sums->commits, sums->seconds);
	double		seen = ratio((double) committing(sums), samples);
	double		active = ratio((double) sums->active, samples);
	sp_commit_figures figures = {
		.commits_per_sec = rate,
		.wait_us = ratio(seen * 1e6, rate),
		/* logical replication commits in processes that are not client backends */
		.wait_share = seen > active ? 1 : ratio(seen, active),
		.committing = seen,
		.wal_busy = ratio((double) sums->wal_busy, samples),
		.active = active,
		.connected = ratio((double) sums->connected, samples),
		.wal_bytes_per_commit = ratio((double) sums->wal_bytes, (double) sums->commits),
		.flushes_per_sec = ratio(sums->flushes, sums->seconds)
	};

	for (int p = 0; p < SP_COMMIT_PARTS; p++)
		figures.part_us[p] = ratio(ratio((double) sums->part[p], samples) * 1e6, rate);
	return figures;
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
	sums->wal_busy += other->wal_busy;
	if (other->committers > sums->committers)
		sums->committers = other->committers;
	sums->commits += other->commits;
	sums->wal_bytes += other->wal_bytes;
	sums->flushes += other->flushes;
}

/* ------------------------------------------------------------------- words */

static void
append_time(sp_sentence *to, double us)
{
	if (us < 1000)
		sp_append(to, "%.0f us", us);
	else if (us < 10000)
		sp_append(to, "%.1f ms", us / 1000);
	else
		sp_append(to, "%.0f ms", us / 1000);
}

/*
 * A part with its share of the queue: who queues waits for what the process in front does,
 * in the proportions of the parts.
 */
static double
with_queue(const sp_commit_figures *figures, double part_us)
{
	double		front_us = figures->part_us[SP_PART_SYNC] + figures->part_us[SP_PART_WRITE] +
		figures->part_us[SP_PART_DELAY] + figures->part_us[SP_PART_RUNNING];

	return part_us + (front_us > 0 ? figures->part_us[SP_PART_QUEUE] * part_us / front_us : 0);
}

/* With open_*, the write is the sync. */
static double
sync_us(const sp_commit_figures *figures)
{
	return with_queue(figures, figures->part_us[SP_PART_SYNC] + figures->part_us[SP_PART_WRITE]);
}

static double
delay_us(const sp_commit_figures *figures)
{
	return with_queue(figures, figures->part_us[SP_PART_DELAY]);
}

static void
append_parts(sp_sentence *to, const sp_commit_figures *figures)
{
	double		delay = delay_us(figures);

	sp_append(to, "a commit waits ");
	append_time(to, figures->wait_us);
	sp_append(to, ", of which ");
	append_time(to, sync_us(figures));
	sp_append(to, " are writes and syncs of WAL, its own or those ahead of it");
	if (delay > 0)
	{
		sp_append(to, ", and up to ");
		append_time(to, delay);
		sp_append(to, " are commit_delay");
	}
	if (figures->part_us[SP_PART_SYNC_REP] > 0)
	{
		sp_append(to, ", and ");
		append_time(to, figures->part_us[SP_PART_SYNC_REP]);
		sp_append(to, " are for the synchronous standby");
	}
}

bool
sp_commit_waits_for_no_flush(const sp_commit_sums *sums)
{
	int64_t		flush = sums->part[SP_PART_SYNC] + sums->part[SP_PART_WRITE] +
		sums->part[SP_PART_QUEUE] + sums->part[SP_PART_DELAY] + sums->part[SP_PART_SYNC_REP];

	return (double) flush < NO_FLUSH_SHARE * (double) committing(sums);
}

void
sp_commit_answer(const sp_commit_sums *sums, int commit_delay, char *answer, size_t size)
{
	sp_commit_figures figures = sp_commit_figures_of(sums);
	sp_sentence to = sp_sentence_begin(answer, size);
	double		saved;

	if (sums->commits < MIN_COMMITS ||
		(committing(sums) < MIN_SEEN && committing(sums) <= sums->active &&
		 figures.wait_share >= SMALL_SHARE))
	{
		/* most of the time somebody waits for it; commits of a light load wait shortly */
		if (sums->part[SP_PART_SYNC_REP] > sums->samples / 2)
			sp_append(&to, "no: a synchronous standby lets too few commits end");
		else
			sp_append(&to, "too few commits for an answer: %llu in %.1f s; call it under load",
					  (unsigned long long) sums->commits, sums->seconds);
		return;
	}
	if (committing(sums) < MIN_SEEN)
	{
		sp_append(&to, "no: commits hardly wait, %lld of %lld samples saw one that does",
				  (long long) committing(sums), (long long) sums->samples);
		return;
	}
	if (sp_commit_waits_for_no_flush(sums) && commit_delay == 0)
	{
		sp_append(&to, "no: commits do not wait for a sync (synchronous_commit may be off)");
		return;
	}
	saved = figures.wait_share * sync_us(&figures) / figures.wait_us / 2;
	sp_append(&to, "%s: ", saved * 2 >= SMALL_SHARE ? "yes" :
			  figures.part_us[SP_PART_SYNC_REP] > sync_us(&figures) ? "no" : "hardly");
	sp_append(&to, "sessions wait for commits in %.0f %% of their active time; ",
			  figures.wait_share * 100);
	append_parts(&to, &figures);
	sp_append(&to, "; syncs in half the time would save %.0f %% of the active time", saved * 100);
	if (delay_us(&figures) > sync_us(&figures))
		sp_append(&to, "; first try a shorter commit_delay, which is %d us", commit_delay);
}
