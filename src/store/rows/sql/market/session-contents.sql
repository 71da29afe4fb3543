-- The latest sessions up to $2 with stored data of each symbol, at most $3 of each kind of data, with their kind.
-- Captures and flow count once they were there at $4, minute bars up to $5, off-exchange trading up to $6.
SELECT w.symbol, s."sessionDate", s.kind
FROM unnest($1::text[]) AS w(symbol) CROSS JOIN LATERAL (
  (SELECT b.span_start AS "sessionDate", 'bars' AS kind FROM bar_blocks AS b
   WHERE b.symbol = w.symbol AND b.timeframe = '1m' AND b.span_start <= $5
   ORDER BY b.span_start DESC LIMIT $3)
  UNION ALL
  (SELECT c.session_date, 'chains' FROM chain_captures AS c
   WHERE c.underlying = w.symbol AND c.session_date <= $2 AND c.captured_at <= $4 AND c.subset IS NOT TRUE
   GROUP BY c.session_date ORDER BY c.session_date DESC LIMIT $3)
  UNION ALL
  (SELECT f.session_date, 'flow' FROM flow_coverage AS f
   WHERE f.underlying = w.symbol AND f.session_date <= $2 AND f.observed_from_ms <= $4
   ORDER BY f.session_date DESC LIMIT $3)
  UNION ALL
  (SELECT o.session_date, 'offExchange' FROM off_exchange_sessions AS o
   WHERE o.symbol = w.symbol AND o.session_date <= $6
   ORDER BY o.session_date DESC LIMIT $3)
) AS s
