-- The latest sessions up to $2 with stored data of each symbol: at most $3 of each kind of data. Captures and flow
-- count once they were there at $4, bars up to $5, off-exchange trading up to $6.
SELECT s.symbol, s."sessionDate"
FROM unnest($1::text[]) AS w(symbol) CROSS JOIN LATERAL (
  (SELECT b.symbol, b.span_start AS "sessionDate" FROM bar_blocks AS b
   WHERE b.symbol = w.symbol AND b.timeframe = '1m' AND b.span_start <= $5
   ORDER BY b.span_start DESC LIMIT $3)
  UNION
  (SELECT g.underlying, g.session_date FROM gex_captures AS g
   WHERE g.underlying = w.symbol AND g.session_date <= $2 AND g.captured_at <= $4 AND g.subset IS NOT TRUE
   GROUP BY g.underlying, g.session_date ORDER BY g.session_date DESC LIMIT $3)
  UNION
  (SELECT c.underlying, c.session_date FROM chain_captures AS c
   WHERE c.underlying = w.symbol AND c.session_date <= $2 AND c.captured_at <= $4 AND c.subset IS NOT TRUE
   GROUP BY c.underlying, c.session_date ORDER BY c.session_date DESC LIMIT $3)
  UNION
  (SELECT f.underlying, f.session_date FROM flow_coverage AS f
   WHERE f.underlying = w.symbol AND f.session_date <= $2 AND f.observed_from_ms <= $4
   ORDER BY f.session_date DESC LIMIT $3)
  UNION
  (SELECT o.symbol, o.session_date FROM off_exchange_sessions AS o
   WHERE o.symbol = w.symbol AND o.session_date <= $6
   ORDER BY o.session_date DESC LIMIT $3)
) AS s
ORDER BY s.symbol, s."sessionDate" DESC
