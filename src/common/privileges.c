/*-------------------------------------------------------------------------
 *
 * privileges.c
 *		sync_probe_internal.require_monitor(): may the caller read the history?
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* The first of the tables that the current role may not read; InvalidOid if there is none. */
static Oid
first_unreadable(ArrayType *tables)
{
	Datum	   *relations;
	bool	   *nulls;
	int			n;

	deconstruct_array(tables, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT, &relations, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		Oid			relation = DatumGetObjectId(relations[i]);

		if (pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
			return relation;
	}
	return InvalidOid;
}

/*
 * sync_probe_internal.require_monitor(caller text, or_select regclass[])
 *
 * The PL/pgSQL functions that call this would be the context of the error.  Neither
 * their lines nor their names help a role that lacks a privilege.
 */
PG_FUNCTION_INFO_V1(sync_probe_require_monitor);
Datum
sync_probe_require_monitor(PG_FUNCTION_ARGS)
{
	char	   *caller = text_to_cstring(PG_GETARG_TEXT_PP(0));
	ArrayType  *tables = PG_GETARG_ARRAYTYPE_P(1);
	Oid			unreadable = first_unreadable(tables);

	if (has_privs_of_role(GetUserId(), ROLE_PG_MONITOR) ||
		(ArrayGetNItems(ARR_NDIM(tables), ARR_DIMS(tables)) > 0 && !OidIsValid(unreadable)))
		PG_RETURN_VOID();
	error_context_stack = NULL;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied to call " SP_SCHEMA ".%s", caller),
			 OidIsValid(unreadable) ?
			 errdetail("It reads table \"%s.%s\".", SP_SCHEMA, get_rel_name(unreadable)) :
			 errdetail("Only roles with privileges of the \"pg_monitor\" role may call it."),
			 errhint("GRANT pg_monitor TO %s;",
					 quote_identifier(GetUserNameFromId(GetUserId(), false)))));
}
