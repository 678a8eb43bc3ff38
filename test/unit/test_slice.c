/*-------------------------------------------------------------------------
 *
 * test_slice.c
 *	  Tests of src/engine/text/slice.c: all other parsers are made of it.
 *
 *-------------------------------------------------------------------------
 */
#include "fixtures.h"

#include "engine/text/text.h"

#define UNTOUCHED	UINT64_C(12345)

/* What sp_take_number takes from the front of a text, and what is left of it. */
static const struct
{
	const char *text;
	bool		taken;
	uint64_t	number;
	const char *rest;
}			number_cases[] =
{
	{"0", true, 0, ""},
	{"7 8", true, 7, " 8"},
	{"007x", true, 7, "x"},
	{"18446744073709551615", true, UINT64_MAX, ""},
	{"000000000018446744073709551615", true, UINT64_MAX, ""},
	{"18446744073709551616", false, UNTOUCHED, "18446744073709551616"},
	{"18446744073709551620", false, UNTOUCHED, "18446744073709551620"},
	{"99999999999999999999999", false, UNTOUCHED, "99999999999999999999999"},
	{"", false, UNTOUCHED, ""},
	{"-1", false, UNTOUCHED, "-1"},
	{"+1", false, UNTOUCHED, "+1"},
	{" 1", false, UNTOUCHED, " 1"},
	{"/", false, UNTOUCHED, "/"},
	{":", false, UNTOUCHED, ":"},
	{"\261", false, UNTOUCHED, "\261"},
};

static void
takes_numbers(void **state)
{
	(void) state;
	for (size_t i = 0; i < lengthof(number_cases); i++)
	{
		/* of exactly its length, so that reading behind it is noticed */
		size_t		length = strlen(number_cases[i].text);
		char	   *copy = copy_bytes(number_cases[i].text, length);
		sp_slice	text = {copy, length};
		uint64_t	number = UNTOUCHED;

		if (sp_take_number(&text, &number) != number_cases[i].taken ||
			number != number_cases[i].number ||
			!sp_slice_equals(text, number_cases[i].rest))
			fail_msg("\"%s\" gives %ju and leaves %zu bytes", number_cases[i].text,
					 (uintmax_t) number, text.length);
		free(copy);
	}
}

static void
takes_lines(void **state)
{
	sp_slice	text = sp_slice_of("one\r\n\ntwo\rx\nrest\r");
	sp_slice	line;

	(void) state;
	assert_true(sp_take_line(&text, &line));
	assert_true(sp_slice_equals(line, "one"));
	assert_true(sp_take_line(&text, &line));
	assert_int_equal(line.length, 0);
	assert_true(sp_take_line(&text, &line));
	assert_true(sp_slice_equals(line, "two\rx"));
	assert_false(sp_take_line(&text, &line));
	assert_true(sp_slice_equals(text, "rest\r"));
}

static void
takes_texts(void **state)
{
	sp_slice	text = sp_slice_of("state  x");

	(void) state;
	assert_false(sp_take_text(&text, "states"));
	assert_false(sp_take_text(&text, "state  xy"));
	assert_true(sp_take_text(&text, "state"));
	assert_true(sp_take_spaces(&text));
	assert_false(sp_take_spaces(&text));
	assert_true(sp_slice_equals(text, "x"));
}

/* A text of no bytes may have no address. */
static void
takes_nothing_from_nothing(void **state)
{
	sp_slice	text = {NULL, 0};
	sp_slice	line;
	uint64_t	number;

	(void) state;
	assert_false(sp_take_line(&text, &line));
	assert_false(sp_take_field(&text, '\t', &line));
	assert_false(sp_take_number(&text, &number));
	assert_false(sp_take_text(&text, "x"));
	assert_int_equal(sp_trim(text).length, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_numbers),
		cmocka_unit_test(takes_lines),
		cmocka_unit_test(takes_texts),
		cmocka_unit_test(takes_nothing_from_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("slice", tests, NULL, NULL);
}
