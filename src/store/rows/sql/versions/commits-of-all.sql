-- A text that differs when a subject of any symbol has been written.
SELECT coalesce(sum(hashtextextended(commits ->> $1, 0)), 0)::text || ' ' || count(commits ->> $1)::text AS digest
FROM symbol_commits
