-- The last session of each underlying, without its block.
SELECT o.*
FROM unnest($1::text[]) AS w(underlying) CROSS JOIN LATERAL (
  SELECT underlying, session_date AS "sessionDate", version FROM open_interest_blocks
  WHERE underlying = w.underlying AND session_date <= $2
  ORDER BY session_date DESC LIMIT 1
) AS o
