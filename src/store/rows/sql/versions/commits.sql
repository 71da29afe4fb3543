-- The last commits of symbols by subject, as an object.
SELECT symbol, commits::text AS commits FROM symbol_commits WHERE symbol = ANY($1)
