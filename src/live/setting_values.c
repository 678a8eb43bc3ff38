/*-------------------------------------------------------------------------
 *
 * setting_values.c
 *		The values of a setting that a live run compares.
 *
 * The commit suite and trials take the same ones.  Values are in the form that SHOW prints:
 * '0.05ms' and '50us' are one value.
 *
 * It must not: accept a method of another kind than the current one.
 *
 *-------------------------------------------------------------------------
 */
#include "live/live.h"

#include "catalog/pg_type.h"
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
add_setting_value(sp_setting_values *values, const char *text)
{
	for (int i = 0; i < values->count; i++)
	{
		if (strcmp(values->text[i], text) == 0)
			return;
	}
	if (values->count == SP_MAX_METHODS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("too many values of \"%s\"", values->setting),
				 errdetail("At most %d can be compared, with the current one.", SP_MAX_METHODS)));
	if (strcmp(values->setting, "wal_sync_method") == 0 && values->count > 0)
		refuse_other_kind(text, values->text[0]);
	values->text[values->count++] = text;
}

static void
add_methods_of_kind(sp_setting_values *values)
{
	const sp_sync_method *current = sp_sync_method_find(values->text[0]);

	if (strcmp(values->setting, "wal_sync_method") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no values of \"%s\" are given", values->setting),
				 errhint("Name those to compare with the current one, \"%s\".", values->text[0])));
	for (size_t i = 0; current && i < sp_sync_method_count; i++)
	{
		if (sp_sync_methods[i].supported &&
			sp_sync_methods[i].opens_synced == current->opens_synced)
			add_setting_value(values, sp_sync_methods[i].name);
	}
}

/* given: text[] or integer[]. */
static void
add_given(sp_setting_values *values, ArrayType *given)
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
					 errmsg("values of \"%s\" must not contain nulls", values->setting)));
		add_setting_value(values, shown_value(values->setting, is_text ? TextDatumGetCString(datums[i]) :
									 psprintf("%d", DatumGetInt32(datums[i]))));
	}
}

/*
 * The current value comes first, whether it is given or not.  given: NULL for all methods
 * of the kind in use.
 */
void
sp_setting_values_take(sp_setting_values *values, const char *setting, const char *current,
					   ArrayType *given)
{
	values->setting = setting;
	values->count = 0;
	add_setting_value(values, pstrdup(current));
	if (given)
		add_given(values, given);
	else
		add_methods_of_kind(values);
	if (values->count == 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no value of \"%s\" to compare with the current one, \"%s\"",
						setting, current)));
}
