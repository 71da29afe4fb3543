-- The last published capture of an underlying as of each time, or the subset of exactly that time, without its rows;
-- the time of the last capture by then, and of the next one, including subsets.
SELECT wanted.nth, n."nextMs", l."lastMs", c.*
FROM (
  SELECT w.*, row_number() OVER () AS nth FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::int8[]) AS at_ms) AS w
) AS wanted LEFT JOIN LATERAL (
  SELECT captured_at AS "nextMs" FROM chain_captures WHERE underlying = wanted.underlying AND captured_at > wanted.at_ms
  ORDER BY captured_at LIMIT 1
) AS n ON true LEFT JOIN LATERAL (
  SELECT captured_at AS "lastMs" FROM chain_captures WHERE underlying = wanted.underlying AND captured_at <= wanted.at_ms
  ORDER BY captured_at DESC LIMIT 1
) AS l ON true LEFT JOIN LATERAL (
  SELECT underlying, captured_at AS "capturedAt", session_date AS "sessionDate", spot, prior_close_spot AS "priorCloseSpot",
    partial, rate, version, delay_ms AS "delayMs", subset, alone, expirations
  FROM chain_captures WHERE underlying = wanted.underlying AND captured_at <= wanted.at_ms
    AND (subset IS NOT TRUE OR captured_at = wanted.at_ms)
  ORDER BY captured_at DESC LIMIT 1
) AS c ON true
