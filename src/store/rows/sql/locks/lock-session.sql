-- Held by the connection until it ends.
SELECT pg_advisory_lock(hashtextextended($1, 0))
