-- The published capture of each session with the last quotes of its last quarter of an hour, else of all, without its rows; of those
-- that came by an instant.
SELECT wanted.nth, c.*
FROM (
  SELECT w.*, row_number() OVER () AS nth
  FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::text[]) AS session, unnest($3::int8[]) AS close_ms, $4::int8 AS at_ms) AS w
) AS wanted CROSS JOIN LATERAL (
  SELECT c.underlying, c.captured_at AS "capturedAt", c.session_date AS "sessionDate", c.spot, c.prior_close_spot AS "priorCloseSpot",
  c.version, c.delay_ms AS "delayMs", c.listing
  FROM chain_captures AS c
  WHERE c.underlying = wanted.underlying AND c.session_date = wanted.session AND c.captured_at <= wanted.at_ms AND c.subset IS NOT TRUE
  ORDER BY c.captured_at - coalesce(c.delay_ms, 0) BETWEEN wanted.close_ms - $5 AND wanted.close_ms DESC,
    c.captured_at - coalesce(c.delay_ms, 0) DESC, c.captured_at DESC LIMIT 1
) AS c
ORDER BY c."capturedAt"
