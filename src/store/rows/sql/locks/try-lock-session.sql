-- Held by the connection until it ends.
SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS free
