-- Is it known which methods lose less than 3 %, and which more?
CREATE TEMP TABLE truth (place text, round int, load text, method text, us float8);
\copy truth FROM 'advice.truth.tsv'
\ir truth.sql
SELECT bool_and(regret_low > 0.03 OR regret_high < 0.03) FROM regret;
