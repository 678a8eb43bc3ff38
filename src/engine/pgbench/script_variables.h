/*-------------------------------------------------------------------------
 *
 * script_variables.h
 *		Put values for :name, :'name' and :"name" into a script.
 *
 * As psql does, and unlike pgbench: nothing is replaced in quotes, in
 * dollar-quoted text, in comments, in a cast (a::name) or a slice ([1:n]
 * is replaced, as psql does it); a name that is not given stays as it is, for
 * pgbench to replace, and so does :{?name}.  A value is not looked at again.
 *
 * pgbench's own variables become parameters where it prepares statements, and
 * a parameter cannot be a table or a tablespace.  So what a script needs to know
 * is put in before pgbench sees it.
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
 * Like snprintf(): writes at most size bytes with the terminating NUL, and
 * returns the length that the whole has.
 */
extern size_t sp_script_replace(const char *script, const sp_script_variable *variables, int n,
								char *to, size_t size);

/*
 * Does pgbench's transaction script use a :name that is not in known (ends with
 * NULL) and that no \set defines?  Then true, and name is the first of these, cut
 * to size.  False, too, if the script takes variables from results (\gset, \aset):
 * these cannot be known.
 *
 * With protocols extended and prepared pgbench makes a null of such a name, and
 * tells nobody.  With protocol simple it leaves it as it is.
 */
extern bool sp_script_unknown_variable(const char *script, const char *const *known,
									   char *name, size_t size);

#endif							/* SP_SCRIPT_VARIABLES_H */
