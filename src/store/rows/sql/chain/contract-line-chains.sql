-- Whole captures that list any of the expiries, streamed one by one.
SELECT c.underlying, c.captured_at AS "capturedAt", c.session_date AS "sessionDate", c.spot, c.prior_close_spot AS "priorCloseSpot",
  c.version, c.delay_ms AS "delayMs", c.listing, c.payload
FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::int8[]) AS captured_at) AS wanted
JOIN chain_captures AS c ON c.underlying = wanted.underlying AND c.captured_at = wanted.captured_at
WHERE c.expirations && $3
