-- What the last published capture at or before each time lists; where there is none, the last open interest by then. Also, when the next of either follows.
SELECT wanted.nth, c."capturedAt", c.expirations, n."nextMs", o.session_date AS "sessionDate", o.payload, p."nextDate"
FROM (
  SELECT w.*, row_number() OVER () AS nth
  FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::int8[]) AS at_ms, unnest($3::text[]) AS date) AS w
) AS wanted LEFT JOIN LATERAL (
  SELECT captured_at AS "capturedAt", expirations FROM chain_captures
  WHERE underlying = wanted.underlying AND captured_at <= wanted.at_ms AND subset IS NOT TRUE
  ORDER BY captured_at DESC LIMIT 1
) AS c ON true LEFT JOIN LATERAL (
  SELECT captured_at AS "nextMs" FROM chain_captures WHERE underlying = wanted.underlying AND captured_at > wanted.at_ms AND subset IS NOT TRUE
  ORDER BY captured_at LIMIT 1
) AS n ON true LEFT JOIN LATERAL (
  SELECT session_date, payload FROM open_interest_blocks
  WHERE c."capturedAt" IS NULL AND underlying = wanted.underlying AND session_date <= wanted.date
  ORDER BY session_date DESC LIMIT 1
) AS o ON true LEFT JOIN LATERAL (
  SELECT session_date AS "nextDate" FROM open_interest_blocks
  WHERE c."capturedAt" IS NULL AND underlying = wanted.underlying AND session_date > wanted.date
  ORDER BY session_date LIMIT 1
) AS p ON true
