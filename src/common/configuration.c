/*-------------------------------------------------------------------------
 *
 * configuration.c
 *		Apply a reload of the configuration before a measurement.
 *
 * A backend reloads the configuration between two statements of its client, and only
 * if the postmaster has signalled it by then.  After
 *
 *		ALTER SYSTEM SET wal_sync_method = ...; SELECT pg_reload_conf();
 *
 * the next statement of the same session can therefore still see the old value (in 3
 * of 6 tries), while other processes of the server flush with the new one.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include <sys/stat.h>

#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "storage/latch.h"
#include "utils/guc.h"

#include "compat.h"

/* ALTER SYSTEM writes this file. */
#define AUTO_CONF_FILE		"postgresql.auto.conf"

/* A file that was edited within this time may be reloaded soon. */
#define RECENT_EDIT_US		(2 * USECS_PER_SEC)

/* The maximum wait of a call for such a reload, which may never come. */
#define MAX_WAIT_US			(200 * INT64CONST(1000))
#define POLL_MS				5

/* File timestamps are those of the last clock tick, at most 10 ms ago. */
#define CLOCK_TICK_US		(10 * INT64CONST(1000))

/* Reload the configuration as the backend does before the next statement. */
void
sp_process_reload(void)
{
	if (!ConfigReloadPending)
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
}

/* Was the file changed recently, and after this backend read it? */
static bool
is_newly_edited(const char *path, TimestampTz now)
{
	struct stat status;
	TimestampTz edited;

	if (path == NULL || stat(path, &status) != 0)
		return false;
	edited = time_t_to_timestamptz(status.st_mtim.tv_sec) + status.st_mtim.tv_nsec / 1000 +
		CLOCK_TICK_US;
	return edited > PgReloadTime && now - edited < RECENT_EDIT_US;
}

/*
 * Apply a pending reload.  The signal of a reload may not have reached this backend
 * yet, so wait for it briefly if a configuration file has just been edited.
 */
void
sp_await_reload(void)
{
	TimestampTz started = GetCurrentTimestamp();
	uint32		wait_event = sp_wait_event_new("SyncProbeReload");

	for (TimestampTz now = started; now - started < MAX_WAIT_US; now = GetCurrentTimestamp())
	{
		sp_process_reload();
		if (!is_newly_edited(AUTO_CONF_FILE, now) && !is_newly_edited(ConfigFileName, now))
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, POLL_MS,
						 wait_event);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	sp_process_reload();
}
