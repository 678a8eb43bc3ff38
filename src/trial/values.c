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

static void
complain_about_setting(const char *name)
{
	StringInfoData valid;

	/* the server has its own words for a setting that does not exist */
	(void) GetConfigOption(name, false, false);
	initStringInfo(&valid);
	for (size_t i = 0; i < lengthof(trial_settings); i++)
		appendStringInfo(&valid, "%s%s", i > 0 ? ", " : "", trial_settings[i].name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("setting \"%s\" cannot be tried", name),
			 errhint("Settings that can be tried are %s.", valid.data)));
}

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

static int
find_setting(const char *name)
{
	int			i = lookup_setting(name);

	if (i < 0)
		complain_about_setting(name);
	return i;
}

void
sp_trial_take_setting(sp_trial *trial, const char *name)
{
	int			i = find_setting(name);

	trial->setting = trial_settings[i].name;
	trial->unit = trial_settings[i].unit;
	trial->deciding = trial_settings[i].deciding;
}

/* ------------------------------------------------------------------ values */

static const char *
shown_value(const char *setting)
{
	return pstrdup(GetConfigOptionByName(setting, NULL, false));
}

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
	shown = shown_value(setting);
	AtEOXact_GUC(false, nest_level);
	return shown;
}

static int
find_value(const sp_trial *trial, const char *text)
{
	for (int i = 0; i < trial->count; i++)
	{
		if (strcmp(trial->values[i].text, text) == 0)
			return i;
	}
	return -1;
}

static void
add_tried_value(sp_trial *trial, const char *text)
{
	sp_trial_value *value = &trial->values[trial->count];

	if (trial->count == SP_MAX_METHODS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("too many values"),
				 errdetail("At most %d can be compared, with the current one.", SP_MAX_METHODS)));
	value->text = text;
	value->is_open = sp_trial_is_open_method(trial->setting, text);
	trial->count++;
}

/* All methods of the current one's kind: the other kind must not meet it unasked. */
static void
take_default_values(sp_trial *trial)
{
	const sp_sync_method *current;

	if (strcmp(trial->setting, "wal_sync_method") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no values of \"%s\" are given", trial->setting),
				 errhint("For example: \"values\" => '{%s}'",
						 trial_settings[find_setting(trial->setting)].example)));
	current = sp_sync_method_find(trial->values[0].text);
	for (size_t i = 0; current && i < sp_sync_method_count; i++)
	{
		const sp_sync_method *method = &sp_sync_methods[i];

		if (method->supported && method->opens_synced == current->opens_synced &&
			find_value(trial, method->name) < 0)
			add_tried_value(trial, method->name);
	}
}

static void
take_given_values(sp_trial *trial, ArrayType *array)
{
	Datum	   *datums;
	bool	   *nulls;
	int			count;
	bool		seen[SP_MAX_METHODS] = {false};

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &datums, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		const char *shown;
		int			found;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"values\" must not contain nulls")));
		shown = normal_form(trial->setting, TextDatumGetCString(datums[i]));
		found = find_value(trial, shown);
		if (found < 0)
		{
			found = trial->count;
			add_tried_value(trial, shown);
		}
		if (seen[found])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("value \"%s\" occurs twice", TextDatumGetCString(datums[i])),
					 errdetail("The server shows it as \"%s\".", shown)));
		seen[found] = true;
	}
}

void
sp_trial_check_current(const sp_trial *trial)
{
	const char *shown = shown_value(trial->setting);

	if (strcmp(shown, trial->values[trial->current].text) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("\"%s\" was changed while the workload was set up", trial->setting),
				 errdetail("Its value was \"%s\", and is \"%s\" now.",
						   trial->values[trial->current].text, shown),
				 errhint("Call the trial again.")));
}

/* The current value comes first, whether it is given or not. */
void
sp_trial_take_values(sp_trial *trial, Datum array, bool isnull)
{
	trial->current = 0;
	add_tried_value(trial, shown_value(trial->setting));
	if (isnull)
		take_default_values(trial);
	else
		take_given_values(trial, DatumGetArrayTypeP(array));
	if (trial->count == 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no value to compare with the current one, \"%s\"",
						trial->values[0].text)));
}
