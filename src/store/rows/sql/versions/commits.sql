-- The last commits of symbols by subject, as an object.
SELECT c.symbol, c.commits::text AS commits
FROM unnest($1::text[]) AS w(symbol) JOIN symbol_commits AS c ON c.symbol = w.symbol
