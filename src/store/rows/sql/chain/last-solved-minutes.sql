-- The last minute of an underlying as of each time, without its records.
SELECT wanted.nth, m.*
FROM (
  SELECT w.*, row_number() OVER () AS nth
  FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::text[]) AS today, unnest($3::int8[]) AS through_ms) AS w
) AS wanted CROSS JOIN LATERAL (
  SELECT underlying, session_date AS "sessionDate", ts_ms AS "tsMs", version FROM greeks_minutes
  WHERE underlying = wanted.underlying AND session_date <= wanted.today AND ts_ms <= wanted.through_ms
  ORDER BY session_date DESC, ts_ms DESC LIMIT 1
) AS m
