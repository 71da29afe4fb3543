-- The published levels of the last $3 sessions before one, and of the first $4 from it on. A column of a session's
-- levels is one array: a row a level would take ten times as long to read.
SELECT s.session_date AS "sessionDate", s.vwap, p.*
FROM (
  (SELECT * FROM off_exchange_sessions WHERE symbol = $1 AND session_date < $2 ORDER BY session_date DESC LIMIT $3)
  UNION ALL
  (SELECT * FROM off_exchange_sessions WHERE symbol = $1 AND session_date >= $2 ORDER BY session_date LIMIT $4)
) AS s CROSS JOIN LATERAL (
  SELECT coalesce(array_agg(x.price_thousandths::float8), '{}') AS "priceThousandths",
    coalesce(array_agg(x.volume), '{}') AS volume, coalesce(array_agg(x.notional), '{}') AS notional,
    coalesce(array_agg(x.trade_count::float8), '{}') AS "tradeCount"
  FROM (
    SELECT * FROM off_exchange_profile WHERE symbol = $1 AND session_date = s.session_date
    ORDER BY price_thousandths
  ) AS x
) AS p
ORDER BY s.session_date
