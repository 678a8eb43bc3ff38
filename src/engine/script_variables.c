/*-------------------------------------------------------------------------
 *
 * script_variables.c
 *		Put values for :name, :'name' and :"name" into a script.
 *
 * It must not: include a server header, know what a statement means, or change
 * anything but the variables that it is given.
 *
 * The script is cut into tokens that are just long enough to know where a
 * variable can be: a quoted string or a comment is one, and so is a word, since
 * the $ or the E within it begin nothing.  What is left is one character each.
 * Texts are in the server's encoding, where no byte of a longer character
 * looks like ASCII.  standard_conforming_strings is taken to be on, which is
 * how pgbench reads a script, too.
 *
 *-------------------------------------------------------------------------
 */
#include "script_variables.h"

#include <stdbool.h>
#include <string.h>

typedef struct output
{
	char	   *to;
	size_t		size;
	size_t		length;			/* that it would have, were there room */
} output;

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What a name or a tag may begin with; all that is not ASCII counts as letters. */
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

/* at: behind the quote.  A doubled one ends this token and begins another. */
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
 * A string goes on where the next line begins with a quote; blanks and line
 * comments may be between.  Behind that quote, or NULL.
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

/* A word, or with it the string whose prefix it is. */
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

/* at: the first $.  A lone one, or a parameter like $1, begins no text. */
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
skip_token(const char *at)
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
			/* these would otherwise mean something to psql */
			return at[1] == ':' || at[1] == ';' ? at + 2 : at + 1;
		default:
			return at + 1;
	}
}

/* What to put in the place of a token; NULL: itself. */
static const char *
value_of(const char *token, const char *end, const sp_script_variable *variables, int n)
{
	bool		quoted = token[1] == '\'' || token[1] == '"';
	const char *name = quoted ? token + 2 : token + 1;
	size_t		length;

	if (token[0] != ':' || end - token < 2 || token[1] == ':')
		return NULL;
	length = (size_t) (end - name) - (quoted ? 1 : 0);
	for (int i = 0; i < n; i++)
	{
		const sp_script_variable *variable = &variables[i];

		if (strlen(variable->name) != length || memcmp(variable->name, name, length) != 0)
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
	/* a byte is left for the end */
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

	for (const char *end; *script != '\0'; script = end)
	{
		const char *value;

		end = skip_token(script);
		value = value_of(script, end, variables, n);
		if (value != NULL)
			append(&out, value, strlen(value));
		else
			append(&out, script, (size_t) (end - script));
	}
	if (size > 0)
		to[out.length < size ? out.length : size - 1] = '\0';
	return out.length;
}

/* ---------------------------------------------------------- what is not defined */

/* The meta-command of the line, behind its backslash; NULL if it is none. */
static const char *
meta_command(const char *line)
{
	line += strspn(line, " \t");
	return *line == '\\' ? line + 1 : NULL;
}

static const char *
next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line == '\n' ? line + 1 : line;
}

/* at: a word, or the rest of one. */
static bool
is_word(const char *at, const char *word, size_t length)
{
	return strncmp(at, word, length) == 0 && !is_name(at[length]);
}

static bool
is_set_command(const char *command)
{
	return is_word(command, "set", 3) || is_word(command, "setshell", 8);
}

/* \set or \setshell, with that name behind it */
static bool
is_assigned(const char *script, const char *name, size_t length)
{
	for (const char *line = script; *line != '\0'; line = next_line(line))
	{
		const char *command = meta_command(line);

		if (command == NULL || !is_set_command(command))
			continue;
		command = skip_name(command);
		command += strspn(command, " \t");
		if (is_word(command, name, length))
			return true;
	}
	return false;
}

static bool
is_known(const char *const *known, const char *name, size_t length)
{
	for (; *known != NULL; known++)
	{
		if (strlen(*known) == length && memcmp(*known, name, length) == 0)
			return true;
	}
	return false;
}

bool
sp_script_unknown_variable(const char *script, const char *const *known, char *name, size_t size)
{
	if (strstr(script, "\\gset") != NULL || strstr(script, "\\aset") != NULL)
		return false;
	for (const char *at = script, *end; *at != '\0'; at = end)
	{
		size_t		length;

		end = skip_token(at);
		if (*at != ':' || !is_letter(at[1]))
			continue;
		length = (size_t) (end - at) - 1;
		if (is_known(known, at + 1, length) || is_assigned(script, at + 1, length))
			continue;
		if (length > size - 1)
			length = size - 1;
		memcpy(name, at + 1, length);
		name[length] = '\0';
		return true;
	}
	return false;
}
