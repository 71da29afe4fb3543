-- The snapshot of a session, or the last, with its coverage.
SELECT s.*
FROM unnest($1::text[]) AS w(underlying) CROSS JOIN LATERAL (
  SELECT x.underlying, x.session_date AS "sessionDate", x.seq, x.by_strike AS "byStrike", x.by_expiration AS "byExpiration",
    c.status, c.complete, c.observed_from_ms AS "observedFromMs", c.observed_through_ms AS "observedThroughMs",
    c.registry_version AS "registryVersion", c.standard_multiplier_assumed AS "standardMultiplierAssumed"
  FROM cross_sections AS x
  JOIN flow_coverage AS c ON c.underlying = x.underlying AND c.session_date = x.session_date
  WHERE x.underlying = w.underlying AND ($2::text IS NULL OR x.session_date = $2) AND c.observed_through_ms <= $3
  ORDER BY x.session_date DESC LIMIT 1
) AS s
