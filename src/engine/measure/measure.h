/*-------------------------------------------------------------------------
 *
 * engine/measure/measure.h
 *		Time writes and syncs: methods, suites, rounds, histograms.
 *
 * What is measured is a plan over open files; probe.h runs it with callbacks for
 * the clock, interrupts and sleep, and has its figures judged.
 *
 * It must not: include a server header, allocate, print, create or remove a
 * file, or keep state outside of the caller's sp_probe.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SP_MEASURE_H
#define SP_MEASURE_H

#include "engine/measure/histogram.h"
#include "engine/measure/probe.h"
#include "engine/measure/segments.h"
#include "engine/measure/stream.h"
#include "engine/measure/sync_method.h"

#endif							/* SP_MEASURE_H */
