-- The published capture with the last quotes up to the end of each range, without its rows; of those that came by an instant.
SELECT wanted.nth, c.*
FROM (
  SELECT w.*, row_number() OVER () AS nth
  FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::int8[]) AS through_ms, unnest($3::int8[]) AS known_ms) AS w
) AS wanted CROSS JOIN LATERAL (
  SELECT c.underlying, c.captured_at AS "capturedAt", c.session_date AS "sessionDate", c.spot, c.prior_close_spot AS "priorCloseSpot",
  c.version, c.delay_ms AS "delayMs", c.listing
  FROM chain_captures AS c
  WHERE c.underlying = wanted.underlying AND c.captured_at > wanted.through_ms - 86400000 AND c.captured_at <= wanted.known_ms
    AND c.captured_at - coalesce(c.delay_ms, 0) <= wanted.through_ms AND c.subset IS NOT TRUE
  ORDER BY c.captured_at - coalesce(c.delay_ms, 0) DESC, c.captured_at DESC LIMIT 1
) AS c
ORDER BY c."capturedAt"
