/*-------------------------------------------------------------------------
 *
 * run_group.c
 *		Which runs of workloads belong to one statement.
 *
 * What tells statements apart is the portal that they run in.  A timestamp would
 * be that of a message, which may hold several statements; and a procedure that
 * commits is one statement, but several transactions.
 *
 * It must not: keep a portal alive, or look at one that may be gone.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include "storage/ipc.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"
#include "utils/portal.h"

/* Of the last run, and its group; NULL once the statement is over. */
static Portal group_portal;
static int64 group;

static void follow(Portal portal);

/*
 * A loop in PL/pgSQL has a portal of its own.  The statement goes on after it, in
 * the portal that is active then.  While the backend exits, portals end in any
 * order, and ActivePortal may be gone.
 */
static void
portal_has_ended(void *arg)
{
	if (group_portal != arg)
		return;
	group_portal = NULL;
	if (ActivePortal != NULL && ActivePortal != arg && !proc_exit_inprogress)
		follow(ActivePortal);
}

/* Throws nothing, since it is called while memory is freed, too. */
static void
follow(Portal portal)
{
	MemoryContextCallback *callback =
		MemoryContextAllocExtended(portal->portalContext, sizeof(MemoryContextCallback),
								   MCXT_ALLOC_NO_OOM);

	if (callback == NULL)
		return;
	callback->func = portal_has_ended;
	callback->arg = portal;
	MemoryContextRegisterResetCallback(portal->portalContext, callback);
	group_portal = portal;
}

/*
 * A portal that is there but not active is a cursor.  It belongs to this statement
 * if this one opened it: then it is the younger one.
 */
static bool
same_statement(void)
{
	return group_portal != NULL &&
		(group_portal->status == PORTAL_ACTIVE ||
		 (ActivePortal != NULL && group_portal->creation_time >= ActivePortal->creation_time));
}

/*
 * All runs of one statement are one group, since they were asked for together.  It
 * is called by the number of its first result.  Without a portal (SQL that a
 * background worker runs) each run is a group.
 */
int64
sp_run_group(int64 result_id)
{
	if (!same_statement())
	{
		group = result_id;
		group_portal = NULL;
		if (ActivePortal != NULL)
			follow(ActivePortal);
	}
	return group;
}
