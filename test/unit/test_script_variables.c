/*-------------------------------------------------------------------------
 *
 * test_script_variables.c
 *	  Tests of src/engine/pgbench/script_variables.c.
 *
 * It must not: ask a server or psql what they make of a script.
 *
 * The values tell the form of the name: PLAIN is that of :rows.  Text that psql
 * would not replace must not change.
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/pgbench/script_variables.h"

static const sp_script_variable variables[] = {
	{"rows", "PLAIN", "LITERAL", "IDENTIFIER"},
	{"schema", "\"a schema\"", "'a schema'", "\"a schema\""},
	/* longer than its name, shorter, and empty; none is read again */
	{"t", "\"a tablespace's name\"", "'a tablespace''s name'", "\":rows\""},
	{"n_1", "", "''", ":rows"},
	{"2", "TWO", "'2'", "\"2\""},
	/* a second of the same name is not asked */
	{"rows", "WRONG", "WRONG", "WRONG"},
};

typedef struct script_case
{
	const char *script;
	const char *expected;		/* NULL: the script itself */
} script_case;

static const script_case script_cases[] = {
	/* the three forms */
	{":rows", "PLAIN"},
	{":'rows'", "LITERAL"},
	{":\"rows\"", "IDENTIFIER"},
	{"CREATE TABLE :schema.x (id int) TABLESPACE :t;",
	"CREATE TABLE \"a schema\".x (id int) TABLESPACE \"a tablespace's name\";"},
	{"x:rows y", "xPLAIN y"},
	{"1:rows", "1PLAIN"},
	{"(:rows)", "(PLAIN)"},
	{":rows:rows", "PLAINPLAIN"},
	{":rows::int", "PLAIN::int"},
	{"[1:rows]", "[1PLAIN]"},
	{"\\set id random(1, :rows)\n", "\\set id random(1, PLAIN)\n"},
	{":n_1", ""},
	{"a:n_1.b", "a.b"},
	{":2", "TWO"},
	{":\"t\":\"n_1\"", "\":rows\":rows"},
	/* other names, which pgbench may know */
	{":id", NULL},
	{":'id'", NULL},
	{":\"id\"", NULL},
	{":rowsx", NULL},
	{":rows_", NULL},
	{":rows1", NULL},
	{":row", NULL},
	{":Rows", NULL},
	{":xrows", NULL},
	{":'rowsx'", NULL},
	{":'row'", NULL},
	{":rows\303\251", NULL},
	{":r\303\266ws", NULL},
	{":id:rows", ":idPLAIN"},
	{":'id':rows", ":'id'PLAIN"},
	{":rows$x", "PLAIN$x"},
	{":rows-x", "PLAIN-x"},
	/* a colon that begins nothing */
	{"", NULL},
	{":", NULL},
	{": rows", NULL},
	{":=rows", NULL},
	{":=:rows", ":=PLAIN"},
	{"a : b", NULL},
	{":$rows", NULL},
	{":{?rows}", NULL},
	{":\n:rows", ":\nPLAIN"},
	/* casts */
	{"a::rows", NULL},
	{"'1'::rows", NULL},
	{"a::'rows'", NULL},
	{":::rows", "::PLAIN"},
	{"::::rows", NULL},
	/* a backslash keeps the colon from psql */
	{"\\:rows", NULL},
	{"\\::rows", "\\:PLAIN"},
	{"\\;:rows", "\\;PLAIN"},
	{"\\\\:rows", NULL},
	{"\\x:rows", "\\xPLAIN"},
	{"\\", NULL},
	/* the quoted forms without their ends begin a string */
	{":'rows", NULL},
	{":'rows :rows' :rows", ":'rows :rows' PLAIN"},
	{":'ro ws' :rows", ":'ro ws' PLAIN"},
	{":'' :rows", ":'' PLAIN"},
	{":\"rows", NULL},
	{":\"rows :rows\" :rows", ":\"rows :rows\" PLAIN"},
	{":'rows\" :rows", NULL},
	/* strings */
	{"':rows' :rows", "':rows' PLAIN"},
	{"'it''s :rows' :rows", "'it''s :rows' PLAIN"},
	{"'a'':rows'", NULL},
	{"'\\' :rows", "'\\' PLAIN"},
	{"' :rows", NULL},
	{"'\n:rows\n' :rows", "'\n:rows\n' PLAIN"},
	{"'\"' :rows '\"'", "'\"' PLAIN '\"'"},
	{"'--' :rows", "'--' PLAIN"},
	{"'$$' :rows", "'$$' PLAIN"},
	{"'/*' :rows", "'/*' PLAIN"},
	{"'a'\n'\\' :rows", "'a'\n'\\' PLAIN"},
	{"'::' :rows", "'::' PLAIN"},
	/* strings with backslashes, and what looks like them */
	{"E'\\' :rows' :rows", "E'\\' :rows' PLAIN"},
	{"e'\\' :rows' :rows", "e'\\' :rows' PLAIN"},
	{"E'\\\\' :rows", "E'\\\\' PLAIN"},
	{"E'\\\\\\' :rows'", NULL},
	{"E'a''\\' :rows' :rows", "E'a''\\' :rows' PLAIN"},
	{"E'' :rows", "E'' PLAIN"},
	{"E'\\", NULL},
	{"E'", NULL},
	{"E' :rows", NULL},
	{"+E'\\' :rows' :rows", "+E'\\' :rows' PLAIN"},
	{"TYPE'\\' :rows", "TYPE'\\' PLAIN"},
	{"_E'\\' :rows", "_E'\\' PLAIN"},
	{"\303\251E'\\' :rows", "\303\251E'\\' PLAIN"},
	{"a1E'\\' :rows", "a1E'\\' PLAIN"},
	{"EE'\\' :rows", "EE'\\' PLAIN"},
	{"E '\\' :rows", "E '\\' PLAIN"},
	{"E\"\\\" :rows", "E\"\\\" PLAIN"},
	{"N'\\' B'1' X'1' U&'\\' :rows", "N'\\' B'1' X'1' U&'\\' PLAIN"},
	/* they go on in the next line */
	{"E'a'\n'\\' :rows' :rows", "E'a'\n'\\' :rows' PLAIN"},
	{"E'a' -- b\n \t\f\v\r\n'\\' :rows' :rows",
	"E'a' -- b\n \t\f\v\r\n'\\' :rows' PLAIN"},
	{"E'a'\n--'\n'\\' :rows' :rows", "E'a'\n--'\n'\\' :rows' PLAIN"},
	{"E'a'\r'\\' :rows' :rows", "E'a'\r'\\' :rows' PLAIN"},
	{"E'a' '\\' :rows", "E'a' '\\' PLAIN"},
	{"E'a' -- '\\' :rows", NULL},
	{"E'a'\n:rows", "E'a'\nPLAIN"},
	{"E'a'\n-:rows", "E'a'\n-PLAIN"},
	{"E'a'\n/**/'\\' :rows", "E'a'\n/**/'\\' PLAIN"},
	{"E'a'\n", NULL},
	/* identifiers */
	{"\":rows\" :rows", "\":rows\" PLAIN"},
	{"\"a\"\":rows\" :rows", "\"a\"\":rows\" PLAIN"},
	{"\"\\\" :rows", "\"\\\" PLAIN"},
	{"\"it's\" :rows", "\"it's\" PLAIN"},
	{"\" :rows", NULL},
	/* dollar quotes */
	{"$$:rows$$ :rows", "$$:rows$$ PLAIN"},
	{"$tag$:rows$tag$ :rows", "$tag$:rows$tag$ PLAIN"},
	{"$_1$:rows$_1$ :rows", "$_1$:rows$_1$ PLAIN"},
	{"$\303\251$:rows$\303\251$ :rows", "$\303\251$:rows$\303\251$ PLAIN"},
	{"$a$ $b$ :rows $b$ :rows $a$ :rows", "$a$ $b$ :rows $b$ :rows $a$ PLAIN"},
	{"$a$ $$ :rows $a$ :rows", "$a$ $$ :rows $a$ PLAIN"},
	{"$a$ $ab$ :rows $a$ :rows", "$a$ $ab$ :rows $a$ PLAIN"},
	{"$a$ $A$ :rows $a$ :rows", "$a$ $A$ :rows $a$ PLAIN"},
	{"$a$b$a$:rows", "$a$b$a$PLAIN"},
	{"$a$x$$a$:rows", "$a$x$$a$PLAIN"},
	{"$$' -- /* \" $$ :rows", "$$' -- /* \" $$ PLAIN"},
	{"$$ :rows", NULL},
	{"$a$ :rows $a", NULL},
	{"$a$", NULL},
	{"$$$$ :rows", "$$$$ PLAIN"},
	{"$$$ :rows", NULL},
	{"$$ $$$b$ $b$ :rows", "$$ $$$b$ $b$ PLAIN"},
	/* and what looks like them */
	{"$1 :rows $1", "$1 PLAIN $1"},
	{"$1$ :rows $1$", "$1$ PLAIN $1$"},
	{"$1$a$:rows$a$", NULL},
	{"$ :rows $", "$ PLAIN $"},
	{"$a :rows $a", "$a PLAIN $a"},
	{"$a-$ :rows", "$a-$ PLAIN"},
	{"a$$ :rows a$$", "a$$ PLAIN a$$"},
	{"a$b$ :rows", "a$b$ PLAIN"},
	{"\303\251$$ :rows", "\303\251$$ PLAIN"},
	{"1$$:rows$$", NULL},
	{"$", NULL},
	/* comments */
	{"-- :rows\n:rows", "-- :rows\nPLAIN"},
	{"-- :rows\r:rows", "-- :rows\rPLAIN"},
	{"-- :rows", NULL},
	{"-- it's\n:rows", "-- it's\nPLAIN"},
	{"--", NULL},
	{"a--:rows\n:rows", "a--:rows\nPLAIN"},
	{"- -:rows", "- -PLAIN"},
	{"-:rows", "-PLAIN"},
	{"/* :rows */ :rows", "/* :rows */ PLAIN"},
	{"/* :rows\n */ :rows", "/* :rows\n */ PLAIN"},
	{"/* /* */ :rows */ :rows", "/* /* */ :rows */ PLAIN"},
	{"/*/*/ :rows */*/ :rows", "/*/*/ :rows */*/ PLAIN"},
	{"/**/:rows", "/**/PLAIN"},
	{"/***/:rows", "/***/PLAIN"},
	{"/*/:rows", NULL},
	{"/*//* */ :rows */ :rows", "/*//* */ :rows */ PLAIN"},
	{"/* it's */ :rows", "/* it's */ PLAIN"},
	{"/* -- */ :rows", "/* -- */ PLAIN"},
	{"-- /*\n:rows", "-- /*\nPLAIN"},
	{"/* :rows", NULL},
	{"/*", NULL},
	{"/ * :rows", "/ * PLAIN"},
	{"/:rows", "/PLAIN"},
	{"*/ :rows", "*/ PLAIN"},
	{"+/*:rows*/:rows", "+/*:rows*/PLAIN"},
	/* a meta-command has no comments, and its quotes end with its line */
	{"\\shell ls /tmp/* :rows\n:rows", "\\shell ls /tmp/* PLAIN\nPLAIN"},
	{"\\shell date --utc :rows\n:rows", "\\shell date --utc PLAIN\nPLAIN"},
	{"\\shell echo it's :rows\n:rows", "\\shell echo it's PLAIN\nPLAIN"},
	{"\\shell echo \"\n:rows\"", "\\shell echo \"\nPLAIN\""},
	{"\\shell echo ':rows' \":rows\" :rows", "\\shell echo ':rows' \":rows\" PLAIN"},
	{"\\shell echo ' :'rows'\n", "\\shell echo ' :'rows'\n"},
	{"\\shell echo $$ e'\\' :rows\n$$ :rows $$", "\\shell echo $$ e'\\' PLAIN\n$$ :rows $$"},
	{"SELECT 1 \\shell it's\n:rows", "SELECT 1 \\shell it's\nPLAIN"},
	{"\\set a 'b\\\n:rows\\\r\nc' :rows\n':rows'", "\\set a 'b\\\n:rows\\\r\nc' PLAIN\n':rows'"},
	{"\\set a \\\n b's\n:rows", "\\set a \\\n b's\nPLAIN"},
	{"\\\n':rows'", NULL},
	{"\\shell echo \\:rows :rows", "\\shell echo \\:rows PLAIN"},
	{"\\;':rows' :rows", "\\;':rows' PLAIN"},
	{"'\\shell' :rows $$ \\shell ' $$ :rows -- \\shell '\n:rows",
	"'\\shell' PLAIN $$ \\shell ' $$ PLAIN -- \\shell '\nPLAIN"},
};

/* Replaced into exactly that much room, so that writing behind it is noticed. */
static size_t
replace(const char *script, int n, char **result)
{
	size_t		length = sp_script_replace(script, variables, n, NULL, 0);

	*result = malloc(length + 1);
	assert_non_null(*result);
	assert_int_equal(sp_script_replace(script, variables, n, *result, length + 1), length);
	assert_int_equal((*result)[length], '\0');
	return length;
}

static void
replaces_as_psql_does(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(script_cases); i++)
	{
		const script_case *row = &script_cases[i];
		const char *expected = row->expected != NULL ? row->expected : row->script;
		char	   *result;
		size_t		length = replace(row->script, lengthof(variables), &result);

		if (length != strlen(expected) || strcmp(result, expected) != 0)
			fail_msg("%s\nbecame\n%s\ninstead of\n%s", row->script, result, expected);
		free(result);
	}
}

static void
leaves_all_alone_without_variables(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(script_cases); i++)
	{
		char	   *result;

		(void) replace(script_cases[i].script, 0, &result);
		assert_string_equal(result, script_cases[i].script);
		free(result);
	}
}

/* Cut to any size, the result is the beginning of the whole, whose length is returned. */
static void
cuts_to_size(void **state)
{
	static const char script[] = "a :rows ':rows' :'t' :id";
	static const char whole[] = "a PLAIN ':rows' 'a tablespace''s name' :id";

	(void) state;
	for (size_t size = 0; size <= sizeof(whole) + 3; size++)
	{
		char	   *to = malloc(size > 0 ? size : 1);
		size_t		written = size > sizeof(whole) ? sizeof(whole) : size;

		assert_non_null(to);
		to[0] = 'x';
		assert_int_equal(sp_script_replace(script, variables, lengthof(variables), to,
										   size), sizeof(whole) - 1);
		if (size == 0)
			assert_int_equal(to[0], 'x');
		else
		{
			assert_int_equal(strlen(to), written - 1);
			assert_memory_equal(to, whole, written - 1);
		}
		free(to);
	}
}

/* A comment within a comment, and so on: no limit, and no stack. */
static void
reads_deep_comments(void **state)
{
	const size_t depth = 200000;
	char	   *script = malloc(4 * depth + 16);
	char	   *result;

	(void) state;
	assert_non_null(script);
	for (size_t i = 0; i < depth; i++)
	{
		memcpy(script + 2 * i, "/*", 2);
		memcpy(script + 2 * depth + 2 * i, "*/", 2);
	}
	strcpy(script + 4 * depth, ":rows");
	assert_int_equal(replace(script, 1, &result), 4 * depth + 5);
	assert_string_equal(result + 4 * depth, "PLAIN");
	script[4 * depth - 1] = ' ';
	free(result);
	(void) replace(script, 1, &result);
	assert_string_equal(result, script);
	free(result);
	free(script);
}

typedef struct unknown_case
{
	const char *script;
	const char *unknown;		/* NULL: none */
} unknown_case;

static const unknown_case unknown_cases[] = {
	{"", NULL},
	{"SELECT 1;", NULL},
	{"SELECT :client_id, :scale;", NULL},
	{"SELECT :aid;", "aid"},
	{"SELECT :client_idx;", "client_idx"},
	{"SELECT :client;", "client"},
	{"SELECT :one, :two;", "one"},
	{"SELECT bench_:n;", "n"},
	{"SELECT :a_very_long_name_indeed;", "a_very_long_nam"},
	/* what \\set defines, before or after */
	{"\\set aid 1\nSELECT :aid;", NULL},
	{"  \t\\set \t aid 1\nSELECT :aid;", NULL},
	{"SELECT :aid;\n\\set aid 1", NULL},
	{"\\set aid 1\n\\set bid :aid + 1\nSELECT :bid;", NULL},
	{"\\set bid :aid + 1\nSELECT :bid;", "aid"},
	{"\\setshell aid date\nSELECT :aid;", NULL},
	{"\\set aidx 1\nSELECT :aid;", "aid"},
	{"\\set ai 1\nSELECT :aid;", "aid"},
	{"\\sleep aid\nSELECT :aid;", "aid"},
	{"\\setx aid\nSELECT :aid;", "aid"},
	{"SELECT '\\set aid 1' || :aid;", "aid"},
	{"\\set", NULL},
	{"\\set\nSELECT :aid;", "aid"},
	{"\\setaid 1\nSELECT :aid;", "aid"},
	{"\\set aid-x 1\nSELECT :aid;", "aid"},
	{"\\set AID 1\nSELECT :aid;", "aid"},
	/* anywhere but in quotes and comments, however pgbench takes it */
	{"BEGIN; \\set aid 1\nSELECT :aid;", NULL},
	{"SELECT 1 \\set aid 1\n; SELECT :aid;", NULL},
	{"SELECT 1\\;\\set aid 1\nSELECT :aid;", NULL},
	{"SELECT '' \\set aid 1\nSELECT :aid;", NULL},
	{"\\SET aid 1\nSELECT :aid;", NULL},
	{"\\ \t set aid 1\nSELECT :aid;", NULL},
	{"\\\\\nset aid 1\nSELECT :aid;", NULL},
	{"\\set \\\n aid 1\nSELECT :aid;", NULL},
	{"\\set\\\r\naid\\\r\n1\r\nSELECT :aid;", NULL},
	{"\\set\faid 1\nSELECT :aid;", NULL},
	{"\\shell ls /tmp/*\n\\set aid 1\nSELECT :aid;", NULL},
	{"\\shell echo it's\n\\set aid 1\nSELECT :aid;", NULL},
	{"\\\nset aid 1\nSELECT :aid;", "aid"},
	{"-- \\set aid 1\nSELECT :aid;", "aid"},
	{"/*\n\\set aid 1\n*/ SELECT :aid;", "aid"},
	{"SELECT '\n\\set aid 1\n', :aid;", "aid"},
	{"SELECT $$\n\\set aid 1\n$$, :aid;", "aid"},
	{"SELECT E'\\'\n\\set aid 1\n', :aid;", "aid"},
	{"\\shell echo \\set aid 1\nSELECT :aid;", "aid"},
	{"\\sleep :aid ms\n", "aid"},
	{"\\shell echo \\:aid\n", NULL},
	{"\\shell echo ':aid' it's :bid\n", "bid"},
	/* variables taken from results are unknown */
	{"SELECT 1 AS aid \\gset\nSELECT :aid;", NULL},
	{"SELECT 1 AS aid \\GSET\nSELECT :aid;", NULL},
	{"SELECT 1 AS aid \\aset p_\nSELECT :p_aid;", NULL},
	{"SELECT '\\gset', :aid;", "aid"},
	{"SELECT 1 AS aid \\gsetx\nSELECT :aid;", "aid"},
	/* what is no variable */
	{"SELECT 1::int, ':aid', \":aid\", $$:aid$$, E'\\':aid' /* :aid */; -- :aid", NULL},
	{"SELECT a[1:2], :1, x := 1, :, : aid, :'aid', :\"aid\"", NULL},
};

static void
finds_what_is_not_defined(void **state)
{
	static const char *const known[] = {"client_id", "scale", NULL};

	(void) state;
	for (size_t i = 0; i < lengthof(unknown_cases); i++)
	{
		const unknown_case *row = &unknown_cases[i];
		char		name[16] = "";
		bool		found = sp_script_unknown_variable(row->script, known, name, sizeof(name));

		if (found != (row->unknown != NULL) || strcmp(name, found ? row->unknown : "") != 0)
			fail_msg("\"%s\": found %d \"%s\"", row->script, found, name);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaces_as_psql_does),
		cmocka_unit_test(leaves_all_alone_without_variables),
		cmocka_unit_test(cuts_to_size),
		cmocka_unit_test(reads_deep_comments),
		cmocka_unit_test(finds_what_is_not_defined),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("script_variables", tests, NULL, NULL);
}
