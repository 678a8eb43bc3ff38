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

#include "lib/stringinfo.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"

struct sp_jsonb
{
	StringInfoData text;
};

sp_jsonb *
sp_jsonb_make(void)
{
	sp_jsonb   *json = palloc(sizeof(sp_jsonb));

	initStringInfo(&json->text);
	return json;
}

/* What precedes a value. */
static StringInfo
begin_value(sp_jsonb *json, const char *name)
{
	StringInfo	text = &json->text;

	if (text->len > 0 && strchr("{[", text->data[text->len - 1]) == NULL)
		appendStringInfoChar(text, ',');
	if (name)
	{
		escape_json(text, name);
		appendStringInfoChar(text, ':');
	}
	return text;
}

/* An object or an array. */
void
sp_jsonb_begin(sp_jsonb *json, const char *name, char bracket)
{
	appendStringInfoChar(begin_value(json, name), bracket);
}

void
sp_jsonb_end(sp_jsonb *json, char bracket)
{
	appendStringInfoChar(&json->text, bracket);
}

/* The text must be valid in the encoding of the database. */
void
sp_jsonb_put_text(sp_jsonb *json, const char *name, const char *text)
{
	escape_json(begin_value(json, name), text);
}

/* The number must be finite. */
void
sp_jsonb_put_number(sp_jsonb *json, const char *name, double number, int digits)
{
	appendStringInfo(begin_value(json, name), "%.*f", digits, number);
}

void
sp_jsonb_put_boolean(sp_jsonb *json, const char *name, bool boolean)
{
	appendStringInfoString(begin_value(json, name), boolean ? "true" : "false");
}

/* The value, once its outermost object or array is ended. */
Datum
sp_jsonb_datum(sp_jsonb *json)
{
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json->text.data));
}
