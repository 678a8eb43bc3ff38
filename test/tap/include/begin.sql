-- How each file of test/tap begins: in a transaction that is rolled back, with both extensions,
-- and without a run.  Variable tests is their number, where it is the same in each server.
\set ON_ERROR_STOP on
\set QUIET on
\pset format unaligned
\pset tuples_only on
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS pg_sync_probe;
DELETE FROM sync_probe.runs;
\if :{?tests}
SELECT plan(:tests);
\else
SELECT no_plan();
\endif
