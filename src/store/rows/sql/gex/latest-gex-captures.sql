-- The last published capture of an underlying as of each time, or the subset of exactly that time, without its curves;
-- the time of the last capture by then, and of the next one, including subsets.
SELECT wanted.nth, n."nextMs", l."lastMs", g.*
FROM (
  SELECT w.*, row_number() OVER () AS nth FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::int8[]) AS at_ms) AS w
) AS wanted LEFT JOIN LATERAL (
  SELECT captured_at AS "nextMs" FROM gex_captures WHERE underlying = wanted.underlying AND captured_at > wanted.at_ms
  ORDER BY captured_at LIMIT 1
) AS n ON true LEFT JOIN LATERAL (
  SELECT captured_at AS "lastMs" FROM gex_captures WHERE underlying = wanted.underlying AND captured_at <= wanted.at_ms
  ORDER BY captured_at DESC LIMIT 1
) AS l ON true LEFT JOIN LATERAL (
  SELECT {GexCapture g}
  FROM gex_captures AS g
  WHERE g.underlying = wanted.underlying AND g.captured_at <= wanted.at_ms
    AND (g.subset IS NOT TRUE OR g.captured_at = wanted.at_ms)
  ORDER BY g.captured_at DESC LIMIT 1
) AS g ON true
