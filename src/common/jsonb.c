/*-------------------------------------------------------------------------
 *
 * jsonb.c
 *		Build a jsonb value member by member.
 *
 * Objects and arrays nest.  A value takes the name of its member; an element of an
 * array, and the whole value, take NULL.
 *
 * It must not: decide what is left out.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"

#include "compat.h"

struct sp_jsonb
{
	JsonbInState state;
};

sp_jsonb *
sp_jsonb_make(void)
{
	return palloc0(sizeof(sp_jsonb));
}

static void
push_key(sp_jsonb *json, const char *name)
{
	JsonbValue	key = {.type = jbvString};

	if (name == NULL)
		return;
	key.val.string.val = pstrdup(name);
	key.val.string.len = strlen(name);
	pushJsonbValue(&json->state, WJB_KEY, &key);
}

static void
push_value(sp_jsonb *json, const char *name, JsonbValue *value)
{
	push_key(json, name);
	pushJsonbValue(&json->state, name ? WJB_VALUE : WJB_ELEM, value);
}

void
sp_jsonb_begin_object(sp_jsonb *json, const char *name)
{
	push_key(json, name);
	pushJsonbValue(&json->state, WJB_BEGIN_OBJECT, NULL);
}

void
sp_jsonb_end_object(sp_jsonb *json)
{
	pushJsonbValue(&json->state, WJB_END_OBJECT, NULL);
}

void
sp_jsonb_begin_array(sp_jsonb *json, const char *name)
{
	push_key(json, name);
	pushJsonbValue(&json->state, WJB_BEGIN_ARRAY, NULL);
}

void
sp_jsonb_end_array(sp_jsonb *json)
{
	pushJsonbValue(&json->state, WJB_END_ARRAY, NULL);
}

/* The text must be valid in the encoding of the database. */
void
sp_jsonb_put_text(sp_jsonb *json, const char *name, const char *text)
{
	JsonbValue	value = {.type = jbvString};

	value.val.string.val = pstrdup(text);
	value.val.string.len = strlen(text);
	push_value(json, name, &value);
}

/* The number must be finite. */
void
sp_jsonb_put_number(sp_jsonb *json, const char *name, double number, int digits)
{
	JsonbValue	value = {.type = jbvNumeric};
	Datum		numeric = DirectFunctionCall3(numeric_in,
											  CStringGetDatum(psprintf("%.*f", digits, number)),
											  ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));

	value.val.numeric = DatumGetNumeric(numeric);
	push_value(json, name, &value);
}

void
sp_jsonb_put_boolean(sp_jsonb *json, const char *name, bool boolean)
{
	JsonbValue	value = {.type = jbvBool};

	value.val.boolean = boolean;
	push_value(json, name, &value);
}

/* The value, once its outermost object or array is ended. */
Datum
sp_jsonb_datum(sp_jsonb *json)
{
	return JsonbPGetDatum(JsonbValueToJsonb(json->state.result));
}
