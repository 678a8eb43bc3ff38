/*-------------------------------------------------------------------------
 *
 * script_variables.c
 *		Replace :name, :'name' and :"name" in a script by values.
 *
 * It must not: include a server header, know what a statement means, or change
 * anything but the variables that it is given.
 *
 * The script is cut into tokens that are just long enough to tell where a
 * variable can be.  A quoted string, a comment and a word are tokens, since a $
 * or an E within a word does not begin a string.  All else is tokens of one
 * character.  A meta-command begins at a backslash anywhere in SQL, as pgbench
 * reads it, and ends with its line; SQL's comments and dollar quotes mean
 * nothing in it.  Texts are in the server's encoding, where no byte of a longer
 * character looks like ASCII. standard_conforming_strings is taken to be on, as
 * pgbench does.
 *
 *-------------------------------------------------------------------------
 */
#include "engine/pgbench/script_variables.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "engine/text/text.h"

typedef struct output
{
	char	   *to;
	size_t		size;
	size_t		length;			/* of the whole, even if it does not fit */
} output;

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* May a name or a tag begin with it?  All bytes beyond ASCII count as letters. */
static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
		(unsigned char) c >= 0x80;
}

static bool
is_name(char c)
{
	return is_letter(c) || is_digit(c);
}

static const char *
skip_name(const char *at)
{
	while (is_name(*at))
		at++;
	return at;
}

/* at: behind the quote.  A doubled quote ends this token and begins another. */
static const char *
skip_quoted(const char *at, char quote)
{
	const char *end = strchr(at, quote);

	return end != NULL ? end + 1 : at + strlen(at);
}

static const char *
skip_line_comment(const char *at)
{
	return at + strcspn(at, "\r\n");
}

/*
 * A string continues if the next line begins with a quote; blanks and line
 * comments may be between.  Returns the place behind that quote, or NULL.
 */
static const char *
skip_to_continuation(const char *at)
{
	bool		next_line = false;

	for (;;)
	{
		if (at[0] == '-' && at[1] == '-')
			at = skip_line_comment(at);
		else if (*at == '\'')
			return next_line ? at + 1 : NULL;
		else if (*at == '\n' || *at == '\r')
		{
			next_line = true;
			at++;
		}
		else if (*at == ' ' || *at == '\t' || *at == '\f' || *at == '\v')
			at++;
		else
			return NULL;
	}
}

/* at: behind the quote of E'. */
static const char *
skip_escape_string(const char *at)
{
	while (*at != '\0')
	{
		const char *next = NULL;

		if (at[0] == '\\' && at[1] != '\0')
			next = at + 2;
		else if (at[0] == '\'' && at[1] == '\'')
			next = at + 2;
		else if (at[0] == '\'')
		{
			next = skip_to_continuation(at + 1);
			if (next == NULL)
				return at + 1;
		}
		at = next != NULL ? next : at + 1;
	}
	return at;
}

/* Skip a word, and the string if the word is its prefix. */
static const char *
skip_word(const char *at)
{
	const char *start = at;

	while (is_name(*at) || *at == '$')
		at++;
	if (at - start == 1 && (*start == 'e' || *start == 'E') && *at == '\'')
		return skip_escape_string(at + 1);
	return at;
}

/* at: the first $.  A lone $ and a parameter like $1 do not begin a text. */
static const char *
skip_dollar_quoted(const char *at)
{
	const char *tag_end = is_digit(at[1]) ? at + 1 : skip_name(at + 1);
	size_t		length = (size_t) (tag_end + 1 - at);
	const char *end;

	if (*tag_end != '$')
		return at + 1;
	for (end = strchr(tag_end + 1, '$'); end != NULL; end = strchr(end + 1, '$'))
	{
		if (strncmp(end, at, length) == 0)
			return end + length;
	}
	return tag_end + strlen(tag_end);
}

/* Comments nest, unlike those of C. */
static const char *
skip_comment(const char *at)
{
	size_t		depth = 0;

	while (*at != '\0')
	{
		bool		begins = at[0] == '/' && at[1] == '*';
		bool		ends = at[0] == '*' && at[1] == '/';

		if (begins)
			depth++;
		if (ends)
			depth--;
		at += begins || ends ? 2 : 1;
		if (depth == 0)
			break;
	}
	return at;
}

/* A variable, a cast, or the colon alone. */
static const char *
skip_colon(const char *at)
{
	bool		quoted = at[1] == '\'' || at[1] == '"';
	const char *name = quoted ? at + 2 : at + 1;
	const char *end = skip_name(name);

	if (at[1] == ':')
		return at + 2;
	if (end == name || (quoted && *end != at[1]))
		return at + 1;
	return quoted ? end + 1 : end;
}

static const char *
skip_sql_token(const char *at)
{
	if (is_letter(*at))
		return skip_word(at);
	switch (*at)
	{
		case '\'':
		case '"':
			return skip_quoted(at + 1, *at);
		case '$':
			return skip_dollar_quoted(at);
		case ':':
			return skip_colon(at);
		case '-':
			return at[1] == '-' ? skip_line_comment(at) : at + 1;
		case '/':
			return at[1] == '*' ? skip_comment(at) : at + 1;
		case '\\':
			/* the backslash keeps psql from interpreting these */
			return at[1] == ':' || at[1] == ';' ? at + 2 : at + 1;
		default:
			return at + 1;
	}
}

/* ------------------------------------------------------------- meta-commands */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* The length of a continuation, which is a backslash at the end of a line; or 0. */
static size_t
continuation_length(const char *at)
{
	if (at[0] != '\\')
		return 0;
	if (at[1] == '\n')
		return 2;
	return at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

static const char *
skip_blanks(const char *at)
{
	for (;;)
	{
		size_t		length = is_blank(*at) ? 1 : continuation_length(at);

		if (length == 0)
			return at;
		at += length;
	}
}

/* Skip an argument of a meta-command. */
static const char *
skip_argument(const char *at)
{
	while (*at != '\0' && *at != '\n' && !is_blank(*at) && continuation_length(at) == 0)
		at++;
	return at;
}

/* at: the backslash.  Returns the end of the line, or of the script. */
static const char *
end_of_command(const char *at)
{
	at++;
	while (*at != '\0' && *at != '\n')
	{
		size_t		length = continuation_length(at);

		at += length > 0 ? length : 1;
	}
	return at;
}

/* pgbench does not interpret quotes here, but the shell of \shell does. */
static const char *
skip_command_token(const char *at, const char *command_end)
{
	if (is_letter(*at))
		return skip_name(at);
	if (*at == ':')
		return skip_colon(at);
	if (*at == '\'' || *at == '"')
	{
		const char *quote = memchr(at + 1, *at, (size_t) (command_end - at) - 1);

		return quote != NULL ? quote + 1 : at + 1;
	}
	return at[0] == '\\' && at[1] == ':' ? at + 2 : at + 1;
}

/* ------------------------------------------------------------------- the scan */

/* A position in a script.  It begins with end = the script and all else zero. */
typedef struct scan
{
	const char *token;
	const char *end;			/* behind the token; the next one begins there */
	const char *command_end;	/* of the current meta-command; or NULL */
	bool		begins_command; /* the token is the backslash of one */
} scan;

static bool
next_token(scan *at)
{
	at->token = at->end;
	at->begins_command = false;
	if (*at->token == '\0')
		return false;
	if (at->command_end == at->token)
		at->command_end = NULL;
	if (at->command_end != NULL)
	{
		at->end = skip_command_token(at->token, at->command_end);
		return true;
	}
	at->end = skip_sql_token(at->token);
	if (*at->token == '\\' && at->end == at->token + 1)
	{
		at->begins_command = true;
		at->command_end = end_of_command(at->token);
	}
	return true;
}

/* ----------------------------------------------------------------- the values */

/* The value that replaces a token; NULL if the token stays. */
static const char *
value_of(const scan *at, const sp_script_variable *variables, int n)
{
	const char *token = at->token;
	bool		quoted = token[1] == '\'' || token[1] == '"';
	sp_slice	name = {token + 1, (size_t) (at->end - token) - 1};

	if (token[0] != ':' || name.length < 1 || token[1] == ':')
		return NULL;
	if (quoted)
		name = (sp_slice) {name.start + 1, name.length - 2};
	for (int i = 0; i < n; i++)
	{
		const sp_script_variable *variable = &variables[i];

		if (!sp_slice_equals(name, variable->name))
			continue;
		if (!quoted)
			return variable->plain;
		return token[1] == '"' ? variable->identifier : variable->literal;
	}
	return NULL;
}

static void
append(output *out, const char *text, size_t length)
{
	/* one byte is left for the NUL */
	if (out->length + 1 < out->size)
	{
		size_t		room = out->size - 1 - out->length;

		memcpy(out->to + out->length, text, length < room ? length : room);
	}
	out->length += length;
}

size_t
sp_script_replace(const char *script, const sp_script_variable *variables, int n,
				  char *to, size_t size)
{
	output		out = {to, size, 0};
	scan		at = {.end = script};

	while (next_token(&at))
	{
		const char *value = value_of(&at, variables, n);

		if (value != NULL)
			append(&out, value, strlen(value));
		else
			append(&out, at.token, (size_t) (at.end - at.token));
	}
	if (size > 0)
		to[out.length < size ? out.length : size - 1] = '\0';
	return out.length;
}

/* ---------------------------------------------------------- what is not defined */

/* Case does not matter to pgbench; command: behind the backslash. */
static bool
is_command(const char *command, const char *name)
{
	const char *word = skip_blanks(command);
	size_t		length = strlen(name);

	return skip_argument(word) == word + length && strncasecmp(word, name, length) == 0;
}

/* \set or \setshell, with that name behind it */
static bool
assigns(const char *command, sp_slice name)
{
	const char *word;

	if (!is_command(command, "set") && !is_command(command, "setshell"))
		return false;
	word = skip_blanks(skip_argument(skip_blanks(command)));
	return skip_argument(word) == word + name.length &&
		memcmp(word, name.start, name.length) == 0;
}

static bool
is_assigned(const char *script, sp_slice name)
{
	scan		at = {.end = script};

	while (next_token(&at))
	{
		if (at.begins_command && assigns(at.end, name))
			return true;
	}
	return false;
}

static bool
takes_results(const char *script)
{
	scan		at = {.end = script};

	while (next_token(&at))
	{
		if (at.begins_command && (is_command(at.end, "gset") || is_command(at.end, "aset")))
			return true;
	}
	return false;
}

static bool
is_known(const char *const *known, sp_slice name)
{
	for (; *known != NULL; known++)
	{
		if (sp_slice_equals(name, *known))
			return true;
	}
	return false;
}

bool
sp_script_unknown_variable(const char *script, const char *const *known, char *name, size_t size)
{
	scan		at = {.end = script};

	if (takes_results(script))
		return false;
	while (next_token(&at))
	{
		sp_slice	found = {at.token + 1, (size_t) (at.end - at.token) - 1};

		if (*at.token != ':' || !is_letter(*found.start) || is_known(known, found) ||
			is_assigned(script, found))
			continue;
		if (found.length > size - 1)
			found.length = size - 1;
		memcpy(name, found.start, found.length);
		name[found.length] = '\0';
		return true;
	}
	return false;
}
