-- The first published captures of each underlying from its instant on, without their curves.
SELECT g.*
FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::int8[]) AS from_ms) AS wanted CROSS JOIN LATERAL (
  SELECT {GexCapture g}
  FROM gex_captures AS g
  WHERE g.underlying = wanted.underlying AND g.captured_at >= wanted.from_ms AND g.captured_at <= $3 AND g.subset IS NOT TRUE
  ORDER BY g.captured_at LIMIT $4
) AS g
ORDER BY 1, 2
