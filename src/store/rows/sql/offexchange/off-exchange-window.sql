-- The levels of the last $3 sessions before one, and of the first $4 from it on.
SELECT l.session_date AS "sessionDate", l.payload, s.vwap
FROM (
  (SELECT * FROM off_exchange_levels WHERE symbol = $1 AND session_date < $2 ORDER BY session_date DESC LIMIT $3)
  UNION ALL
  (SELECT * FROM off_exchange_levels WHERE symbol = $1 AND session_date >= $2 ORDER BY session_date LIMIT $4)
) AS l
JOIN off_exchange_sessions AS s ON s.symbol = l.symbol AND s.session_date = l.session_date
ORDER BY l.session_date
