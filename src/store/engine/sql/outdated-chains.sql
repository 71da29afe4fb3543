-- A chain without a GEX capture has a rate if a version after the first has computed it.
SELECT c.underlying, c.session_date AS session, count(*) AS captures
FROM chain_captures AS c LEFT JOIN gex_captures AS g ON g.underlying = c.underlying AND g.captured_at = c.captured_at
GROUP BY c.underlying, c.session_date
HAVING bool_or(CASE WHEN g.underlying IS NULL THEN c.rate IS NULL ELSE g.methodology_version <> $1 END)
ORDER BY c.session_date, c.underlying
