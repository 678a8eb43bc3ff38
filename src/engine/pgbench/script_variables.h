/*-------------------------------------------------------------------------
 *
 * script_variables.h
 *		Replace :name, :'name' and :"name" in a script by values.
 *
 * This works as in psql, and unlike pgbench: nothing is replaced in quotes, in
 * dollar-quoted text, in comments or in a cast (a::name); [1:n] is replaced.
 * An unknown name and :{?name} stay for pgbench to replace.  Values are not
 * scanned again.
 *
 * pgbench's own variables become parameters where it prepares statements, and a
 * parameter cannot be a table or a tablespace.  So names of objects are
 * replaced before pgbench reads the script.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_SCRIPT_VARIABLES_H
#define SP_SCRIPT_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

/* A variable in its three forms, each quoted by the caller as SQL wants it. */
typedef struct sp_script_variable
{
	const char *name;			/* letters, digits and _ */
	const char *plain;			/* for :name */
	const char *literal;		/* for :'name' */
	const char *identifier;		/* for :"name" */
} sp_script_variable;

/*
 * Like snprintf(), this writes at most size bytes with the terminating NUL, and
 * returns the length of the whole.
 */
extern size_t sp_script_replace(const char *script, const sp_script_variable *variables, int n,
								char *to, size_t size);

/*
 * Does pgbench's transaction script use a :name that is not in known (ends with
 * NULL) and that no \set defines?  If so, name is the first of these, cut to
 * size.  Returns false if the script takes variables from results (\gset,
 * \aset), whose names are unknown.
 *
 * With protocols extended and prepared, pgbench silently replaces such a name
 * by null.  With protocol simple it leaves the name.
 */
extern bool sp_script_unknown_variable(const char *script, const char *const *known,
									   char *name, size_t size);

#endif							/* SP_SCRIPT_VARIABLES_H */
