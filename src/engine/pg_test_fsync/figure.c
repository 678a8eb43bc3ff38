/*-------------------------------------------------------------------------
 *
 * figure.c
 *		Words and numbers in a line of pg_test_fsync.
 *
 * It must not: ask the locale how a number looks.
 *
 * A wrong number is worse than a missing one.  So a number counts only with the unit behind
 * it, and only if it agrees with the second number of its line.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/pg_test_fsync/lines_internal.h"

#include <math.h>

#include "engine/text/text.h"

/* More digits than that are no rate of syncs. */
#define MAX_RATE_DIGITS		9

/* How far the two numbers of a line may be apart: both are rounded. */
#define MAX_DISAGREEMENT	0.01

bool
sp_tool_take_blanks(sp_slice *line)
{
	bool		any = false;

	for (; line->length > 0 && sp_is_blank(line->start[0]); sp_skip(line, 1))
		any = true;
	return any;
}

bool
sp_tool_take_words(sp_slice *line, const char *words)
{
	sp_slice	rest = *line;

	for (const char *c = words; *c != '\0'; c++)
	{
		if (*c == ' ')
		{
			if (!sp_tool_take_blanks(&rest))
				return false;
		}
		else if (rest.length > 0 && rest.start[0] == *c)
			sp_skip(&rest, 1);
		else
			return false;
	}
	*line = rest;
	return true;
}

/*
 * The digits are collected as an integer, and then divided: below 2^53 the quotient is
 * the nearest double.
 */
bool
sp_tool_take_decimal(sp_slice *line, int max_decimals, sp_tool_decimal *number)
{
	sp_slice	rest = *line;
	double		value = 0;
	double		scale = 1;
	int			digits = 0;
	sp_tool_decimal result = {0};

	for (; sp_at_digit(rest); sp_skip(&rest, 1), digits++)
		value = value * 10 + (rest.start[0] - '0');
	if (digits == 0 || digits > MAX_RATE_DIGITS)
		return false;
	if (rest.length > 1 && (rest.start[0] == '.' || rest.start[0] == ',') &&
		rest.start[1] >= '0' && rest.start[1] <= '9')
	{
		result.separator = rest.start[0];
		for (sp_skip(&rest, 1); sp_at_digit(rest); sp_skip(&rest, 1))
		{
			if (++result.decimals > max_decimals)
				return false;
			value = value * 10 + (rest.start[0] - '0');
			scale *= 10;
		}
	}
	result.value = value / scale;
	*number = result;
	*line = rest;
	return true;
}

bool
sp_tool_at_word_end(sp_slice line)
{
	return line.length == 0 || sp_is_blank(line.start[0]);
}

/*
 * The second number of a line, the microseconds; 0 if there is none.  If it is not whole,
 * because the line was cut or wrapped, the first number still stands.
 */
static double
take_usecs(sp_slice line)
{
	sp_tool_decimal usecs;

	if (sp_tool_take_blanks(&line) && sp_tool_take_decimal(&line, 0, &usecs) &&
		sp_tool_take_words(&line, " usecs/op") && sp_tool_at_word_end(line))
		return usecs.value;
	return 0;
}

/*
 * Both numbers are rounded, and for slow operations the second one says more.  With a
 * decimal comma, as PostgreSQL 11 and later print it in many locales, there must be a second
 * number: 14,640 could also be a number of thousands.
 */
static bool
make_figure(sp_tool_decimal rate, double usecs, sp_tool_figure *figure)
{
	double		mean_us;

	if (rate.value <= 0 || (rate.separator == ',' && (rate.decimals != 3 || usecs <= 0)))
		return false;
	mean_us = 1e6 / rate.value;
	if (usecs > 0)
	{
		if (fabs(mean_us - usecs) > 1 + (MAX_DISAGREEMENT + 0.0005 / rate.value) * mean_us)
			return false;
		if (rint(mean_us) != usecs)
			mean_us = usecs;
	}
	*figure = (sp_tool_figure) {SP_TOOL_OK, rate.value, mean_us};
	return true;
}

bool
sp_tool_take_unit(sp_slice *line)
{
	bool		after_blank = false;
	size_t		length = 0;

	while (length < line->length && !(line->start[length] >= '0' && line->start[length] <= '9'))
		after_blank = sp_is_blank(line->start[length++]);
	if (length == 0 || length == line->length || !after_blank)
		return false;
	sp_skip(line, length);
	return true;
}

/*
 * Two numbers and their units as other languages have them.  That both numbers agree proves
 * what the units are.
 */
static bool
parse_translated(sp_tool_decimal rate, sp_slice line, sp_tool_figure *figure)
{
	sp_tool_decimal usecs;

	return rate.decimals == 3 && sp_tool_take_blanks(&line) && sp_tool_take_unit(&line) &&
		sp_tool_take_decimal(&line, 0, &usecs) && usecs.value > 0 && sp_tool_take_blanks(&line) &&
		line.length > 0 && !sp_at_digit(line) && make_figure(rate, usecs.value, figure);
}

/* "n/a" at the end of a cut text may have been "n/a*". */
bool
sp_tool_parse_value(sp_slice line, bool cut, sp_tool_figure *figure)
{
	sp_tool_decimal rate;
	sp_slice	rest;

	if (sp_take_text(&line, "n/a"))
	{
		bool		star = sp_take_text(&line, "*");

		figure->status = star ? SP_TOOL_NO_DIRECT_IO : SP_TOOL_UNSUPPORTED;
		return line.length == 0 && (star || !cut);
	}
	if (!sp_tool_take_decimal(&line, 3, &rate))
		return false;
	rest = line;
	if (sp_tool_take_words(&rest, " ops/sec"))
		return sp_tool_at_word_end(rest) && make_figure(rate, take_usecs(rest), figure);
	return parse_translated(rate, line, figure);
}
