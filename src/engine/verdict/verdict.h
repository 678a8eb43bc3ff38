/*-------------------------------------------------------------------------
 *
 * engine/verdict/verdict.h
 *		From the intervals of all methods to one verdict.
 *
 * Methods of a probe, kinds of WAL segments, and values of a setting in a trial or the
 * commit suite are all judged by this rule, once, when they have been measured.
 *
 * It must not: include a server header, allocate, print, or read a clock or a
 * file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_VERDICT_H
#define SP_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/verdict/evidence.h"
#include "engine/verdict/interval.h"

#define SP_MAX_METHODS			8

/* --------------------------------------------------------------------- tail */

/*
 * The rounds of a case, and those with a slow flush, which takes more than five times the median
 * of the current method.  A method can be faster in most flushes, and still make a few commits
 * wait for a long time.  The round is the unit: one stall of the disk can make several flushes of
 * a slice slow.
 */
typedef struct sp_tail
{
	int64_t		rounds;
	int64_t		slow_rounds;
} sp_tail;

/* The share of rounds with a slow flush; NAN without a round. */
extern double sp_tail_share(const sp_tail *tail);

/*
 * Is the share larger than that of the other by more than chance, and by enough to
 * matter?  False if one of them has no round.
 *
 * Given all slow rounds of both, those of one are binomial if the shares are equal
 * (Przyborowski and Wilenski, Biometrika 31, 1940); three standard deviations are
 * about once in 500 times.
 */
extern bool sp_tail_exceeds(const sp_tail *tail, const sp_tail *other);

/*
 * May it be larger, as far as these rounds show?  Few rounds cannot prove more slow flushes,
 * but they can make them likely.  Below 400 rounds of each, two slow ones against none are
 * enough.  With more rounds these are less than the least difference that matters.
 */
extern bool sp_tail_may_exceed(const sp_tail *tail, const sp_tail *other);

/*
 * How many times as many rounds until a share that may be larger is known to be, if
 * both shares stay as they are; 1 if it is known, or may not be larger.
 */
extern double sp_tail_rounds_needed(const sp_tail *tail, const sp_tail *other);

/* ------------------------------------------------------------------- verdict */

typedef enum sp_regime
{
	SP_PACED,
	SP_SATURATED,
	SP_REGIMES
} sp_regime;

typedef enum sp_verdict
{
	SP_UNDECIDED,
	SP_SWITCH,
	SP_KEEP,
	SP_UNSAFE
} sp_verdict;

/* The state of a candidate's gain over the current one. */
typedef enum sp_standing
{
	SP_CURRENT,					/* it is the current one itself */
	SP_UNMEASURED,				/* no figures, or its syncs do not reach the device */
	SP_NO_GAIN,					/* it gains at most the margin */
	SP_STALLING,				/* it may gain more, but has more slow flushes */
	SP_DOUBTED,					/* it gains more, but maybe by noise, or at more slow flushes */
	SP_OPEN,					/* it may gain more than the margin */
	SP_FASTER					/* worth a switch */
} sp_standing;

/* A method, a kind of segment, or a value of a setting. */
typedef struct sp_candidate
{
	const char *name;
	sp_speed	speed;			/* against the current one, in the regime that decides; for
								 * the current one itself, the A/A control */
	sp_tail		tail;
	sp_durable	durable;		/* do its syncs reach the device? */
	bool		other_kind;		/* of another kind than the current one: open_* or buffered */
	bool		data_only;		/* syncs data without the file's times: fdatasync, open_datasync */
	sp_standing standing;		/* set by sp_judge() */
} sp_candidate;

/*
 * All candidates of a run.  The caller fills them in, with their count, the current one, and
 * the margin.
 */
typedef struct sp_comparison
{
	sp_candidate candidates[SP_MAX_METHODS];
	int			count;
	int			current;		/* index of the one in use */
	double		margin;			/* the least gain worth a switch: 0.05 is 5 % */
	bool		fsync_off;		/* the server syncs nothing */
	bool		mostly_slow;	/* samples show nothing, so that there are no intervals */
	int			samples;		/* that were compared */
} sp_comparison;

typedef struct sp_judgement
{
	sp_verdict	verdict;
	int			recommended;	/* the current one unless the verdict is switch or unsafe; -1 if
								 * unsafe and none is known to be durable */
	int			best;			/* the best choice so far, whatever the verdict; -1 likewise */
	double		noise;			/* of the control: 0.02 is 2 %, NAN if unknown */
	double		max_regret;		/* a flush with the current one takes at most so much longer
								 * than with the best: 0.03 is 3 %; NAN if unknown */
	double		times_as_long;	/* how many times as long a run must take that may decide;
								 * NAN if unknown, and unless undecided; INFINITY if more than
								 * SP_MAX_TIMES_AS_LONG; 1 if a longer one does not help */
} sp_judgement;

#define SP_MAX_TIMES_AS_LONG	20

extern const char *const sp_verdict_names[];
extern const char *const sp_regime_names[];

/*
 * The verdict.  It also sets the standing of each candidate.
 *
 * unsafe: fsync is off, or the syncs of the current method do not reach the device.  The
 * fastest method is recommended whose syncs do, as far as the counters show, of the own kind
 * where there is one.
 *
 * switch: the whole interval of a candidate's gain is above the margin and above the noise of
 * the control, and it has no more slow flushes, neither proven (sp_tail_exceeds()) nor likely
 * (sp_tail_may_exceed()).  For one of the other kind the interval of its gain is that over
 * the best one of the own kind: a change of the kind has a window in which commits can be
 * lost at a power failure, so it must be worth that.
 *
 * keep: none can gain more than the margin, or what gains more has more slow flushes.  The
 * control does not count: a method that is proven slower is slower even where two files of one
 * method differ.
 *
 * undecided: at least one may gain more than the margin.
 *
 * A candidate that was not measured, or whose syncs do not reach the device, cannot win and
 * does not block a verdict.
 */
extern void sp_judge(sp_comparison *comparison, sp_judgement *judgement);

/*
 * The interval of the gain that the rule looks at: for a candidate of the other kind that
 * over the best one of the own kind, bounded by the intervals of both over the current one.
 * One of the own kind that is known to have more slow flushes is no alternative.
 */
extern sp_speed sp_gain(const sp_comparison *comparison, int candidate);

/* Is more time not expected to change the verdict? */
extern bool sp_is_settled(const sp_comparison *comparison, const sp_judgement *judgement);

/* May that candidate be worth a switch, as far as is known? */
extern bool sp_may_gain(const sp_candidate *candidate);

/* ---------------------------------------------------------- reason.c: in words */

#define SP_REASON_SIZE	1024

/* The comparison in words. */
typedef struct sp_words
{
	bool		values;			/* of a setting and its commits, not methods and their flushes */
	const char *unit;			/* of a name: " us", or "" */
	bool		rate;			/* speeds are operations per second, not time for each */
	const char *when;			/* " back to back", or "" */
	const sp_speed *other;		/* of each candidate, where something else was compared, too: if
								 * rate the time, else the rate; or NULL */
	const char *load;			/* what was seen of the server's load, or NULL */
	const char *syncs_nothing;	/* why the file system does not sync, or NULL */
} sp_words;

/* An upper bound in parts of 1 / unit.  It is never rounded to less than was shown. */
extern double sp_bound_rounded_up(double bound, double unit);

/* The reason of a verdict of sp_judge(), as one sentence.  Cut short if it does not fit. */
extern void sp_explain(const sp_comparison *comparison, const sp_judgement *judgement,
					   const sp_words *words, char reason[SP_REASON_SIZE]);

#endif							/* SP_VERDICT_H */
