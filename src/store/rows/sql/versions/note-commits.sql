-- Notes the commit at hand with symbols, each with an object of the subjects that it changes. In order, so that two
-- writers do not wait for each other in a circle.
INSERT INTO symbol_commits AS c (symbol, commits)
SELECT unnest($1::text[]), unnest($2::text[])::jsonb
ON CONFLICT (symbol) DO UPDATE SET commits = c.commits || excluded.commits
