/*-------------------------------------------------------------------------
 *
 * values.c
 *		The setting of a trial, and its values.
 *
 * Values are compared in the form that SHOW prints: '0.05ms' and '50us' are one value.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "compat.h"
#include "engine/measure/sync_method.h"

/* The settings that can be tried, and the figure that decides. */
static const struct
{
	const char *name;
	const char *unit;			/* where SHOW prints none */
	sp_setting_figure deciding;
	const char *example;
}			trial_settings[] = {
	{"wal_sync_method", "", SP_COMMIT_WAIT, "fsync,fdatasync"},
	{"commit_delay", " us", SP_COMMIT_WAIT, "0,20,50,100"},
	{"commit_siblings", "", SP_COMMIT_WAIT, "5,10"},
	{"wal_compression", "", SP_COMMIT_RATE, "off,pglz"},
	{"wal_writer_delay", "", SP_COMMIT_RATE, "50ms,200ms"},
	{"wal_writer_flush_after", "", SP_COMMIT_RATE, "256kB,1MB"},
};

/* -1 if it cannot be tried. */
static int
lookup_setting(const char *name)
{
	for (size_t i = 0; i < lengthof(trial_settings); i++)
	{
		if (pg_strcasecmp(trial_settings[i].name, name) == 0)
			return i;
	}
	return -1;
}

bool
sp_trial_can_try(const char *setting)
{
	return lookup_setting(setting) >= 0;
}

void
sp_trial_take_setting(sp_trial *trial, const char *name)
{
	int			i = lookup_setting(name);
	StringInfoData valid;

	initStringInfo(&valid);
	for (size_t k = 0; k < lengthof(trial_settings); k++)
		appendStringInfo(&valid, "%s%s", k > 0 ? ", " : "", trial_settings[k].name);
	/* the server has its own words for a setting that does not exist */
	if (i < 0)
		(void) GetConfigOption(name, false, false);
	if (i < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("setting \"%s\" cannot be tried", name),
				 errhint("Settings that can be tried are %s.", valid.data)));
	trial->setting = trial_settings[i].name;
	trial->unit = trial_settings[i].unit;
	trial->deciding = trial_settings[i].deciding;
}

/* ------------------------------------------------------------------ values */

/*
 * The value as SHOW prints it.  An invalid one is the server's own error.  This process
 * has the value for a moment, and no other one.
 */
static const char *
normal_form(const char *setting, const char *value)
{
	int			nest_level = NewGUCNestLevel();
	const char *shown;

	(void) set_config_option(setting, value, PGC_SIGHUP, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, ERROR, false);
	shown = pstrdup(GetConfigOptionByName(setting, NULL, false));
	AtEOXact_GUC(false, nest_level);
	return shown;
}

static void
add_tried_value(sp_trial *trial, const char *text)
{
	if (trial->count == SP_MAX_METHODS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("too many values"),
				 errdetail("At most %d can be compared, with the current one.", SP_MAX_METHODS)));
	if (strcmp(trial->setting, "wal_sync_method") == 0 && trial->count > 0)
		sp_refuse_other_kind(text, trial->values[0].text);
	trial->values[trial->count++].text = text;
}

/* All methods of the current one's kind. */
static void
take_default_values(sp_trial *trial)
{
	const sp_sync_method *current = sp_sync_method_find(trial->values[0].text);

	if (strcmp(trial->setting, "wal_sync_method") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no values of \"%s\" are given", trial->setting),
				 errhint("For example: \"values\" => '{%s}'",
						 trial_settings[lookup_setting(trial->setting)].example)));
	for (size_t i = 0; current && i < sp_sync_method_count; i++)
	{
		const sp_sync_method *method = &sp_sync_methods[i];

		if (method->supported && method->opens_synced == current->opens_synced && method != current)
			add_tried_value(trial, method->name);
	}
}

/* A value that occurs twice counts once. */
static void
take_given_values(sp_trial *trial, ArrayType *array)
{
	Datum	   *datums;
	bool	   *nulls;
	int			count;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &datums, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		const char *shown;
		int			found = 0;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"values\" must not contain nulls")));
		shown = normal_form(trial->setting, TextDatumGetCString(datums[i]));
		while (found < trial->count && strcmp(trial->values[found].text, shown) != 0)
			found++;
		if (found == trial->count)
			add_tried_value(trial, shown);
	}
}

/* The current value comes first, whether it is given or not.  given may be NULL. */
void
sp_trial_take_values(sp_trial *trial, const char *current, ArrayType *given)
{
	add_tried_value(trial, pstrdup(current));
	if (given)
		take_given_values(trial, given);
	else
		take_default_values(trial);
	if (trial->count == 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no value to compare with the current one, \"%s\"",
						trial->values[0].text)));
}

/* An error if the current value is another one now. */
void
sp_trial_check_current(const sp_trial *trial, const char *shown)
{
	if (strcmp(shown, trial->values[0].text) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("\"%s\" was changed while the workload was set up", trial->setting),
				 errdetail("Its value was \"%s\", and is \"%s\" now.", trial->values[0].text, shown),
				 errhint("Call the trial again.")));
}
