/*-------------------------------------------------------------------------
 *
 * setting_run.c
 *		The values of a setting that the commit suite or a trial compares: their rounds, their
 *		verdict, and their rows.
 *
 * Values are in the form that SHOW prints: '0.05ms' and '50us' are one value.
 *
 * It must not: accept a method of another kind than the current one.
 *
 *-------------------------------------------------------------------------
 */
#include "probe/probe.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "compat.h"

/* ------------------------------------------------------------------- values */

static bool
is_same_kind(const char *method, const char *current)
{
	const sp_sync_method *wanted = sp_sync_method_find(method);
	const sp_sync_method *used = sp_sync_method_find(current);

	return wanted && used && wanted->opens_synced == used->opens_synced;
}

/*
 * A process with an open_* method, see XLogWrite(), takes all WAL that it finds written as
 * flushed, and the reverse.  Lost acknowledged commits were seen.
 */
static void
refuse_other_kind(const char *method, const char *current)
{
	if (is_same_kind(method, current))
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
	setting->values[setting->count++].value = value;
}

/* given: text[] or integer[]. */
static void
add_given(sp_compared *compared, ArrayType *given)
{
	const char *setting = compared->setting.setting;
	bool		is_text = ARR_ELEMTYPE(given) == TEXTOID;
	ArrayIterator values = array_create_iterator(given, 0, NULL);
	Datum		value;
	bool		isnull;

	while (array_iterate(values, &value, &isnull))
	{
		if (isnull)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("values of \"%s\" must not contain nulls", setting)));
		add_value(compared, shown_value(setting, is_text ? TextDatumGetCString(value) :
										psprintf("%d", DatumGetInt32(value))));
	}
}

/*
 * Compare values of that setting with the current one, which comes first, whether it is given or
 * not.  given: NULL for all methods of the kind in use.
 */
void
sp_compared_choose(sp_compared *compared, const char *setting, const char *unit,
				   sp_setting_figure deciding, const char *current, ArrayType *given)
{
	compared->setting.setting = setting;
	compared->setting.unit = unit;
	compared->setting.deciding = deciding;
	add_value(compared, pstrdup(current));
	if (given)
		add_given(compared, given);
	for (size_t i = 0; !given && i < sp_sync_method_count; i++)
	{
		if (is_sync_method(&compared->setting) && sp_sync_methods[i].supported &&
			sp_server_offers(sp_sync_methods[i].name) &&
			is_same_kind(sp_sync_methods[i].name, current))
			add_value(compared, sp_sync_methods[i].name);
	}
	if (compared->setting.count == 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no value of \"%s\" to compare with the current one, \"%s\"",
						setting, current),
				 errhint("Give at least one other value.")));
}

/* ------------------------------------------------------------------- rounds */

/* Throw an error if one round does not fit. */
void
sp_compared_check_duration(const sp_compared *compared, double slot_s)
{
	int			slots = compared->setting.count + 1;
	double		seconds = slots * slot_s;

	if (compared->duration_us <= seconds * USECS_PER_SEC)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duration of %g s is too short for one round",
						(double) compared->duration_us / USECS_PER_SEC),
				 errdetail("A round has %d slots of %.2f s.", slots, slot_s),
				 errhint("A verdict needs %d rounds, which take about %g s.",
						 SP_MIN_SAMPLES, ceil(seconds * SP_MIN_SAMPLES * 1.2))));
}

/*
 * A round: a slot for each value in random order, and a second one for the current value, the
 * A/A control.  False if a slot was cut short: then the round does not count.
 */
static bool
take_round(sp_compared *compared, sp_slot slot, void *context)
{
	int			control = compared->setting.count;
	int			order[SP_MAX_METHODS + 1];
	double		wait_us[SP_MAX_METHODS + 1] = {0};
	double		commits_per_sec[SP_MAX_METHODS + 1] = {0};

	/* all orders alike (Fisher and Yates, inside out) */
	for (int i = 0; i <= control; i++)
	{
		int			j = (int) pg_prng_uint64_range(&pg_global_prng_state, 0, i);

		order[i] = j < i ? order[j] : i;
		order[j] = i;
	}
	for (int i = 0; i <= control; i++)
	{
		int			k = order[i];

		if (!compared->setting.values[k].left_out &&
			!slot(context, k == control ? -1 : k, &wait_us[k], &commits_per_sec[k]))
			return false;
	}
	sp_setting_add_round(&compared->setting, wait_us, commits_per_sec);
	return true;
}

static double
elapsed_seconds(const sp_compared *compared)
{
	return (double) (sp_monotonic_ns() - compared->started_ns) / 1e9;
}

/* error: see sp_setting_judge() */
static void
judge(sp_compared *compared, double error)
{
	compared->setting.comparison.fsync_off = !enableFsync;
	compared->setting.comparison.margin = sp_margin;
	sp_setting_judge(&compared->setting, error);
}

static void
look_if_due(sp_compared *compared)
{
	int			due = sp_looks_due((int64) (elapsed_seconds(compared) * 1e6),
								   compared->duration_us);

	if (!compared->stop_early || due <= compared->looks)
		return;
	compared->looks = due;
	judge(compared, sp_look_alpha(due));
	compared->settled = sp_is_settled(&compared->setting.comparison, &compared->setting.judgement);
}

/*
 * Rounds, as long as one more fits into the time of the run and the verdict is open, or until a
 * slot is cut short.  slot_s: how long one takes at least.
 */
void
sp_compared_rounds(sp_compared *compared, double slot_s, sp_slot slot, void *context)
{
	double		began = elapsed_seconds(compared);
	double		longest_s = (sp_setting_others(&compared->setting) + 2) * slot_s;

	while (!compared->settled && sp_setting_others(&compared->setting) > 0 &&
		   compared->setting.rounds < SP_SETTING_MAX_ROUNDS &&
		   began + longest_s < compared->duration_us / 1e6 &&
		   take_round(compared, slot, context))
	{
		double		ended = elapsed_seconds(compared);

		longest_s = Max(longest_s, ended - began);
		began = ended;
		look_if_due(compared);
	}
}

/* The verdict.  A settled one keeps the intervals that settled it. */
void
sp_compared_judge(sp_compared *compared)
{
	if (!compared->settled)
		judge(compared, compared->stop_early ? sp_look_alpha(SP_LOOKS) : SP_ALPHA);
	sp_setting_explain(&compared->setting, compared->reason, sizeof(compared->reason));
}

/* --------------------------------------------------------------------- rows */

static HeapTuple
value_row(const sp_run *run, int v)
{
	const sp_setting_comparison *setting = &run->compared->setting;
	const sp_setting_value *value = &setting->values[v];
	const sp_commit_sums *sums = &run->compared->sums[v];
	sp_commit_figures figures = sp_commit_figures_of(sums);
	sp_row	   *row = sp_row_make(run->measurement_type);

	if (run->run_id != 0)
		sp_row_put_int(row, "run_id", INT8OID, run->run_id);
	sp_row_put_int(row, "ordinal", INT4OID, v + 1);
	sp_row_put_text(row, "test", setting->setting);
	sp_row_put_text(row, "method", value->value);
	/* its methods are of one kind */
	sp_row_put(row, "direct_io", BOOLOID, BoolGetDatum(SP_WAL_DIRECT_IO_ALL ||
			   (SP_WAL_DIRECT_IO_OPEN &&
				is_same_kind(run->profile.wal_sync_method, "open_sync"))));
	sp_row_put_text(row, "choice", v == 0 ? "current" :
					v == setting->judgement.recommended ? "recommended" : NULL);
	if (v == 0)
		sp_row_put_text(row, "verdict", sp_verdict_names[setting->judgement.verdict]);
	sp_row_put_text(row, "status",
					sp_status_names[sums->commits > 0 && !value->left_out ? SP_OK : SP_STOPPED]);
	sp_row_put_text(row, "detail", value->left_out);
	sp_row_put_int(row, "ops", INT8OID, (int64) sums->commits);
	sp_row_put_number(row, "ops_per_sec", figures.commits_per_sec, 1);
	sp_row_put_number(row, "mean_us", figures.wait_us, 1);
	if (run->workers > 0)
		sp_put_latencies(row, &run->compared->histograms[v]);
	if (!value->left_out && setting->rounds > 0)
		sp_put_speed(row, &value->speed[setting->deciding]);
	return sp_row_form(row);
}

/* One for each value: it is compared with the current one. */
void
sp_compared_rows(sp_run *run)
{
	const sp_setting_comparison *setting = &run->compared->setting;

	sp_storage_examine(&run->location, &run->storage);
	for (int v = 0; v < setting->count; v++)
	{
		const sp_histogram *histogram = &run->compared->histograms[v];

		run->measurements[run->nmeasurements++] = value_row(run, v);
		sp_add_sample_row(run, histogram, setting->values[v].us[SP_COMMIT_WAIT], setting->rounds,
					  v == 0 ? setting->values[setting->count].us[SP_COMMIT_WAIT] : NULL,
					  setting->rounds);
	}
}
