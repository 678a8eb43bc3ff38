-- How each file of test/tap ends.
SELECT * FROM finish();
ROLLBACK;
