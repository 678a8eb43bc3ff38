/*-------------------------------------------------------------------------
 *
 * jsonb.c
 *		Build a jsonb value member by member, in a StringInfo that is empty at first.
 *
 * Objects and arrays nest.  A value takes the name of its member; an element of an
 * array, and the whole value, take NULL.
 *
 * Members that are not known are left out, so that the views need not distinguish null from
 * absent.
 *
 *-------------------------------------------------------------------------
 */
#include "common/common.h"

#include <math.h>

#include "utils/fmgrprotos.h"
#include "utils/json.h"

/* Comma and key before a value. */
static void
begin_value(StringInfo json, const char *name)
{
	if (json->len > 0 && strchr("{[", json->data[json->len - 1]) == NULL)
		appendStringInfoChar(json, ',');
	if (name)
	{
		escape_json(json, name);
		appendStringInfoChar(json, ':');
	}
}

/* An object or an array; append the closing bracket when it is complete. */
void
sp_jsonb_begin(StringInfo json, const char *name, char bracket)
{
	begin_value(json, name);
	appendStringInfoChar(json, bracket);
}

/* NULL and empty text are not known. */
void
sp_jsonb_put_text(StringInfo json, const char *name, const char *text)
{
	char	   *known = sp_known_text(text);

	if (known == NULL)
		return;
	begin_value(json, name);
	escape_json(json, known);
}

/* NAN and infinity are not known. */
void
sp_jsonb_put_number(StringInfo json, const char *name, double number, int digits)
{
	if (!isfinite(number))
		return;
	begin_value(json, name);
	appendStringInfo(json, "%.*f", digits, number);
}

/* 1 is true, 0 is false; -1 is not known. */
void
sp_jsonb_put_boolean(StringInfo json, const char *name, int boolean)
{
	if (boolean < 0)
		return;
	begin_value(json, name);
	appendStringInfoString(json, boolean ? "true" : "false");
}

/* The value, once its outermost object or array is ended. */
Datum
sp_jsonb_datum(StringInfo json)
{
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json->data));
}
