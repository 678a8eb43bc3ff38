/*-------------------------------------------------------------------------
 *
 * run_group.c
 *		Find out which runs of workloads belong to one statement.
 *
 * The portal identifies the statement.  A statement timestamp is that of a message,
 * which may contain several statements.  A transaction does not identify it either,
 * since a procedure may commit.
 *
 * It must not: keep a portal alive, or access one that may no longer exist.
 *
 *-------------------------------------------------------------------------
 */
#include "workload/workload.h"

#include "storage/ipc.h"
#include "tcop/pquery.h"
#include "utils/memutils.h"
#include "utils/portal.h"

/* The portal and the group of the last run; NULL once the statement has ended. */
static Portal group_portal;
static int64 group;

static void follow(Portal portal);

/*
 * A loop in PL/pgSQL has its own portal.  After it, the statement goes on in the portal
 * that is active then.  While the backend exits, portals end in any order, and
 * ActivePortal may be invalid.
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

/* Throws no error, since it is also called while memory is freed. */
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
 * A portal that exists but is not active is a cursor.  If it is younger than the active
 * portal, this statement opened it, and it belongs to this statement.
 */
static bool
same_statement(void)
{
	return group_portal != NULL &&
		(group_portal->status == PORTAL_ACTIVE ||
		 (ActivePortal != NULL && group_portal->creation_time >= ActivePortal->creation_time));
}

/*
 * All runs of one statement are one group.  Its number is the ID of its first result.
 * Without a portal (SQL in a background worker), each run is a group.
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
