/*-------------------------------------------------------------------------
 *
 * setting.h
 *		Values of a setting, compared on real commits and judged like methods.
 *
 * A round holds one slot of time for each value, and a second one for the current value,
 * the A/A control.  Two figures are compared: the mean wait of a commit and the commits per
 * second.  One of them decides, the other one is shown.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SETTING_H
#define SP_SETTING_H

#include "engine/verdict/commit_waits.h"
#include "engine/verdict/verdict.h"

/* Rounds beyond these are not compared. */
#define SP_SETTING_MAX_ROUNDS	4096

/* What mostly decides is the wait of a commit: it is what a session sees of it. */
typedef enum sp_setting_figure
{
	SP_COMMIT_WAIT,
	SP_COMMIT_RATE,
	SP_SETTING_FIGURES
} sp_setting_figure;

/* One value, and the figures of its slot in each round. */
typedef struct sp_setting_value
{
	const char *value;			/* as SHOW prints it */
	const char *left_out;		/* why it is not compared; NULL if it is */
	/* a mean wait, and the time for each commit of all sessions together: less is better */
	double		us[SP_SETTING_FIGURES][SP_SETTING_MAX_ROUNDS];
	sp_speed	speed[SP_SETTING_FIGURES];	/* against the current value, by sp_setting_judge() */
} sp_setting_value;

/* The caller fills in the first part, and adds rounds.  values[0] is the one in use. */
typedef struct sp_setting_comparison
{
	const char *setting;		/* "wal_sync_method" */
	const char *unit;			/* of its values in a sentence: " us", or "" */
	int			count;			/* of values */
	sp_setting_figure deciding;
	const sp_commit_sums *seen; /* of a trial: all commits of the server; else NULL */
	sp_setting_value values[SP_MAX_METHODS + 1];	/* values[count]: the control */

	int			rounds;
	int			lost_rounds;	/* of all that were added: a slot without a commit that waited */
	double		workspace[SP_SETTING_MAX_ROUNDS];

	/* by sp_setting_judge() */
	const char *nothing;		/* why there is nothing to compare, or NULL */
	sp_comparison comparison;	/* of the values; the caller sets margin and fsync_off */
	sp_judgement judgement;
} sp_setting_comparison;

/* The values that are compared with the current one, as they are not left out. */
extern int	sp_setting_others(const sp_setting_comparison *setting);

/*
 * Add a round: the figures of values[0] to values[count], but for those that are left out.  A
 * round in which one is not above zero counts as lost.
 */
extern void sp_setting_add_round(sp_setting_comparison *setting,
								 const double *wait_us, const double *commits_per_sec);

/*
 * Compare and judge all rounds.  error is that of each interval: SP_ALPHA if this is the only
 * look, else sp_look_alpha().  Without anything to compare, the current value stays.
 */
extern void sp_setting_judge(sp_setting_comparison *setting, double error);

/* The reason of the verdict, in words.  Cut short if it does not fit. */
extern void sp_setting_explain(const sp_setting_comparison *setting, char *reason, size_t size);

#endif							/* SP_SETTING_H */
