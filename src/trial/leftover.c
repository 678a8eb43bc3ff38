/*-------------------------------------------------------------------------
 *
 * leftover.c
 *		What a trial leaves if all its processes are gone at once.
 *
 * After a power failure, or in a copy of a data directory that was taken during a trial,
 * the marker stays in postgresql.auto.conf.  A finding tells so, and cleanup() restores.
 *
 *-------------------------------------------------------------------------
 */
#include "trial/trial.h"

#include "funcapi.h"
#include "utils/builtins.h"

char	   *sp_trial_restores = NULL;

/* The caller holds the cluster lock, so that no trial is running. */
int
sp_trial_cleanup(void)
{
	if (!sp_trial_restore(NULL, true))
		return 0;
	/* so that the next statement of the caller sees it */
	sp_trial_reload();
	return 1;
}

static bool
trial_is_running(void)
{
	sp_progress progress;
	bool		published;

	return sp_cluster_lock_holder(&progress, &published) != 0 &&
		published && sp_progress_is_trial(&progress);
}

/*
 * sync_probe_internal.trial_leftover() RETURNS text: 'setting[=value]', what cleanup()
 * would restore; null if there is nothing, or a trial is running.
 */
SP_FUNCTION(sync_probe_trial_leftover, "-> text")
{
	/* findings must show the others also if the file has an error */
	char	   *marker = sp_trial_marker(DEBUG1);

	if (marker == NULL || trial_is_running())
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(marker));
}
