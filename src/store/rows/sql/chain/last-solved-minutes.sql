-- The last minute of each underlying, without its records.
SELECT m.*
FROM unnest($1::text[]) AS w(underlying) CROSS JOIN LATERAL (
  SELECT underlying, session_date AS "sessionDate", ts_ms AS "tsMs", version FROM greeks_minutes
  WHERE underlying = w.underlying AND session_date <= $2 AND ts_ms <= $3
  ORDER BY session_date DESC, ts_ms DESC LIMIT 1
) AS m
