-- The header of the published capture of each underlying with the last quotes in each window; pages come up to 12 hours later.
SELECT g.*
FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::int8[]) AS from_ms, unnest($3::int8[]) AS to_ms) AS wanted CROSS JOIN LATERAL (
  SELECT g.underlying, g.captured_at AS "capturedAt", g.session_date AS "sessionDate", g.delay_ms AS "delayMs", g.version
  FROM gex_captures AS g
  WHERE g.underlying = wanted.underlying AND g.captured_at >= wanted.from_ms AND g.captured_at <= wanted.to_ms + 43200000
    AND g.captured_at - coalesce(g.delay_ms, 0) BETWEEN wanted.from_ms AND wanted.to_ms AND g.subset IS NOT TRUE
  ORDER BY g.captured_at - coalesce(g.delay_ms, 0) DESC, g.captured_at DESC LIMIT 1
) AS g
ORDER BY 1, 2
