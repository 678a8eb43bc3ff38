/*-------------------------------------------------------------------------
 *
 * engine/text/text.h
 *		Text in buffers of the caller's.
 *
 * The lowest folder: all of the engine may use it.
 *
 * It must not: include a header of another folder, allocate, print, or open a
 * file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_TEXT_H
#define SP_TEXT_H

#include "engine/text/path.h"
#include "engine/text/sentence.h"
#include "engine/text/units.h"

#endif							/* SP_TEXT_H */
