/*-------------------------------------------------------------------------
 *
 * setting_values.c
 *		The values of a setting that the commit suite or a trial compares, and their rounds.
 *
 * Values are in the form that SHOW prints: '0.05ms' and '50us' are one value.
 *
 * It must not: accept a method of another kind than the current one.
 *
 *-------------------------------------------------------------------------
 */
#include "live/live.h"

#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "engine/measure/sync_method.h"

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

/* A value that occurs twice counts once. */
static void
add_value(sp_compared *compared, const char *text)
{
	for (int i = 0; i < compared->count; i++)
	{
		if (strcmp(compared->values[i].text, text) == 0)
			return;
	}
	if (compared->count == SP_MAX_METHODS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("too many values of \"%s\"", compared->setting.setting),
				 errdetail("At most %d can be compared, with the current one.", SP_MAX_METHODS)));
	if (strcmp(compared->setting.setting, "wal_sync_method") == 0 && compared->count > 0)
		refuse_other_kind(text, compared->values[0].text);
	compared->setting.values[compared->count].value = text;
	sp_histogram_reset(&compared->values[compared->count].histogram);
	compared->values[compared->count++].text = text;
	compared->setting.count = compared->count;
}

static void
add_methods_of_kind(sp_compared *compared)
{
	const sp_sync_method *current = sp_sync_method_find(compared->values[0].text);

	if (strcmp(compared->setting.setting, "wal_sync_method") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no values of \"%s\" are given", compared->setting.setting),
				 errhint("Name those to compare with the current one, \"%s\".", compared->values[0].text)));
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
					 errmsg("values of \"%s\" must not contain nulls", compared->setting.setting)));
		add_value(compared, shown_value(compared->setting.setting,
										is_text ? TextDatumGetCString(datums[i]) :
										psprintf("%d", DatumGetInt32(datums[i]))));
	}
}

/*
 * Prepare the comparison of values with the current one, which comes first, whether it is given
 * or not.  given: NULL for all methods of the kind in use.
 */
void
sp_compared_take(sp_compared *compared, const char *setting, const char *unit,
				 sp_setting_figure deciding, const char *current, ArrayType *given)
{
	compared->setting.setting = setting;
	compared->setting.unit = unit;
	compared->setting.deciding = deciding;
	add_value(compared, pstrdup(current));
	if (given)
		add_given(compared, given);
	else
		add_methods_of_kind(compared);
	if (compared->count == 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no value of \"%s\" to compare with the current one, \"%s\"",
						setting, current)));
}

/* Compare value i no more: it becomes the last one. */
void
sp_compared_leave_out(sp_compared *compared, int i, const char *why)
{
	sp_compared_value value = compared->values[i];
	int			last = --compared->setting.count;

	value.left_out = why;
	for (; i < last; i++)
	{
		compared->values[i] = compared->values[i + 1];
		compared->setting.values[i].value = compared->values[i].text;
	}
	compared->values[last] = value;
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
	double		wait_us[SP_MAX_METHODS + 1];
	double		commits_per_sec[SP_MAX_METHODS + 1];

	sp_shuffle(order, control + 1, &pg_global_prng_state);
	for (int i = 0; i <= control; i++)
	{
		int			k = order[i];

		if (!slot(context, k == control ? 0 : k, k == control, &wait_us[k], &commits_per_sec[k]))
			return false;
	}
	sp_setting_add_round(&compared->setting, wait_us, commits_per_sec);
	return true;
}
