-- The last published capture of each underlying as of an instant, or the subset of exactly that instant, without its
-- curves; the time of the last capture by then, and of the next one, including subsets.
SELECT wanted.underlying AS wanted, n."nextMs", l."lastMs", g.*
FROM unnest($1::text[]) AS wanted(underlying) LEFT JOIN LATERAL (
  SELECT captured_at AS "nextMs" FROM gex_captures WHERE underlying = wanted.underlying AND captured_at > $2
  ORDER BY captured_at LIMIT 1
) AS n ON true LEFT JOIN LATERAL (
  SELECT captured_at AS "lastMs" FROM gex_captures WHERE underlying = wanted.underlying AND captured_at <= $2
  ORDER BY captured_at DESC LIMIT 1
) AS l ON true LEFT JOIN LATERAL (
  SELECT {GexCapture g}
  FROM gex_captures AS g
  WHERE g.underlying = wanted.underlying AND g.captured_at <= $2
    AND (g.subset IS NOT TRUE OR g.captured_at = $2)
  ORDER BY g.captured_at DESC LIMIT 1
) AS g ON true
