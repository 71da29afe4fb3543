-- The last commits of symbols by subject, of those whose commits are not the given ones: an object of such objects. Of
-- the others the number.
SELECT count(*) FILTER (WHERE c.commits = w.known::jsonb)::int4 AS same,
  jsonb_object_agg(c.symbol, c.commits) FILTER (WHERE c.commits IS DISTINCT FROM w.known::jsonb)::text AS others
FROM (SELECT unnest($1::text[]) AS symbol, unnest($2::text[]) AS known) AS w
JOIN symbol_commits AS c ON c.symbol = w.symbol
