/*-------------------------------------------------------------------------
 *
 * setting_values.c
 *		The values of a setting that the commit suite or a trial compares: their rounds, and
 *		their verdict.
 *
 * Values are in the form that SHOW prints: '0.05ms' and '50us' are one value.
 *
 * It must not: accept a method of another kind than the current one.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"
#include "probe/setting_run.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"

/*
 * A process with an open_* method, see XLogWrite(), takes all WAL that it finds written as
 * flushed, and the reverse.  Lost acknowledged commits were seen.
 */
static void
refuse_other_kind(const char *method, const char *current)
{
	const sp_sync_method *wanted = sp_sync_method_find(method);
	const sp_sync_method *used = sp_sync_method_find(current);

	if (wanted && used && wanted->opens_synced == used->opens_synced)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("method \"%s\" must not be used beside \"%s\"", method, current),
			 errdetail("A process with open_datasync or open_sync takes WAL that others have only written as flushed, so that a power failure can lose acknowledged commits."),
			 errhint("To compare all methods on files of its own, use " SP_SCHEMA ".probe() with suite 'wal'.")));
}

/*
 * The value as SHOW prints it.  An invalid one is the server's own error.  This process
 * has the value for a moment, and no other one.
 */
static const char *
shown_value(const char *setting, const char *value)
{
	int			nest_level = NewGUCNestLevel();
	const char *shown;

	(void) set_config_option(setting, value, PGC_SIGHUP, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, ERROR, false);
	shown = pstrdup(GetConfigOptionByName(setting, NULL, false));
	AtEOXact_GUC(false, nest_level);
	return shown;
}

static bool
is_sync_method(const sp_setting_comparison *setting)
{
	return strcmp(setting->setting, "wal_sync_method") == 0;
}

/* A value that occurs twice counts once. */
static void
add_value(sp_compared *compared, const char *value)
{
	sp_setting_comparison *setting = &compared->setting;

	for (int i = 0; i < setting->count; i++)
	{
		if (strcmp(setting->values[i].value, value) == 0)
			return;
	}
	if (setting->count == SP_MAX_METHODS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("too many values of \"%s\"", setting->setting),
				 errdetail("At most %d can be compared, with the current one.", SP_MAX_METHODS)));
	if (is_sync_method(setting) && setting->count > 0)
		refuse_other_kind(value, setting->values[0].value);
	sp_histogram_reset(&compared->histograms[setting->count]);
	setting->values[setting->count++].value = value;
}

static void
add_methods_of_kind(sp_compared *compared)
{
	const char *name = compared->setting.values[0].value;
	const sp_sync_method *current = sp_sync_method_find(name);

	if (!is_sync_method(&compared->setting))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no values of \"%s\" are given", compared->setting.setting),
				 errhint("Name those to compare with the current one, \"%s\".", name)));
	for (size_t i = 0; current && i < sp_sync_method_count; i++)
	{
		if (sp_sync_methods[i].supported &&
			sp_sync_methods[i].opens_synced == current->opens_synced)
			add_value(compared, sp_sync_methods[i].name);
	}
}

/* given: text[] or integer[]. */
static void
add_given(sp_compared *compared, ArrayType *given)
{
	const char *setting = compared->setting.setting;
	bool		is_text = ARR_ELEMTYPE(given) == TEXTOID;
	Datum	   *datums;
	bool	   *nulls;
	int			count;

	deconstruct_array(given, ARR_ELEMTYPE(given), is_text ? -1 : (int) sizeof(int32), !is_text,
					  TYPALIGN_INT, &datums, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("values of \"%s\" must not contain nulls", setting)));
		add_value(compared, shown_value(setting, is_text ? TextDatumGetCString(datums[i]) :
										psprintf("%d", DatumGetInt32(datums[i]))));
	}
}

/*
 * Compare values of one more setting with the current one, which comes first, whether it is
 * given or not.  given: NULL for all methods of the kind in use.
 */
void
sp_setting_run_add(sp_setting_run *run, const char *setting, const char *unit,
				   sp_setting_figure deciding, const char *current, ArrayType *given)
{
	sp_compared *compared = &run->settings[run->nsettings++];

	compared->setting.setting = setting;
	compared->setting.unit = unit;
	compared->setting.deciding = deciding;
	add_value(compared, pstrdup(current));
	if (given)
		add_given(compared, given);
	else
		add_methods_of_kind(compared);
	if (compared->setting.count == 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no value of \"%s\" to compare with the current one, \"%s\"",
						setting, current)));
}

/*
 * A round: a slot for each value in random order, and a second one for the current value, the
 * A/A control.  False if a slot was cut short: then the round does not count.
 */
bool
sp_compared_round(sp_compared *compared, sp_slot slot, void *context)
{
	int			control = compared->setting.count;
	int			order[SP_MAX_METHODS + 1];
	double		wait_us[SP_MAX_METHODS + 1] = {0};
	double		commits_per_sec[SP_MAX_METHODS + 1] = {0};

	/* all orders alike (Fisher and Yates, inside out) */
	for (int i = 0; i <= control; i++)
	{
		int			j = (int) pg_prng_uint64_range(&pg_global_prng_state, 0, i);

		order[i] = order[j];
		order[j] = i;
	}
	for (int i = 0; i <= control; i++)
	{
		int			k = order[i];

		if (!compared->setting.values[k].left_out &&
			!slot(context, compared, k == control ? -1 : k, &wait_us[k], &commits_per_sec[k]))
			return false;
	}
	sp_setting_add_round(&compared->setting, wait_us, commits_per_sec);
	return true;
}

/* -------------------------------------------------------------------- a run */

void
sp_setting_run_begin(sp_setting_run *run)
{
	run->started_at = GetCurrentTimestamp();
	run->started_ns = sp_monotonic_ns();
}

static double
elapsed_seconds(const sp_setting_run *run)
{
	return (double) (sp_monotonic_ns() - run->started_ns) / 1e9;
}

/* error: see sp_setting_judge() */
static void
judge_setting(sp_compared *compared, double error)
{
	compared->setting.fsync_off = !enableFsync;
	compared->setting.margin = sp_margin;
	sp_setting_judge(&compared->setting, error);
}

static void
look_if_due(const sp_setting_run *run, sp_compared *compared)
{
	int			due = sp_looks_due((int64) (elapsed_seconds(run) * 1e6), run->duration_us);

	if (!run->stop_early || due <= compared->looks)
		return;
	compared->looks = due;
	judge_setting(compared, sp_look_alpha(due));
	compared->settled = sp_is_settled(&compared->setting.comparison, &compared->setting.judgement);
}

/*
 * Rounds of all settings in turn, as long as one more fits into the time of the run and a verdict
 * is open, or until a slot is cut short.  round_s: how long one may take, as far as is known.
 */
void
sp_setting_run_rounds(sp_setting_run *run, double round_s, sp_slot slot, void *context)
{
	for (bool left = true; left;)
	{
		left = false;
		for (int i = 0; i < run->nsettings; i++)
		{
			sp_compared *compared = &run->settings[i];
			double		began = elapsed_seconds(run);

			if (compared->settled || sp_setting_others(&compared->setting) == 0 ||
				compared->setting.rounds == SP_SETTING_MAX_ROUNDS ||
				began + round_s >= run->duration_us / 1e6)
				continue;
			left = true;
			if (!sp_compared_round(compared, slot, context))
				return;
			round_s = Max(round_s, elapsed_seconds(run) - began);
			look_if_due(run, compared);
		}
	}
}

/* The verdicts.  A settled one keeps the intervals that settled it. */
void
sp_setting_run_judge(sp_setting_run *run)
{
	for (int i = 0; i < run->nsettings; i++)
	{
		sp_compared *compared = &run->settings[i];

		if (!compared->settled)
			judge_setting(compared, run->stop_early ? sp_look_alpha(SP_LOOKS) : SP_ALPHA);
		sp_setting_explain(&compared->setting, compared->reason, sizeof(compared->reason));
	}
}
