-- The snapshot of a session, or the last, with its coverage: as it was stored, if that is as of an instant up to $3; else
-- without its tables, if the session has minutes that began before $4. Where minutes are stored and $5, only what was
-- observed before $4 is as it was stored. $6 is the session in progress at $3.
SELECT s.*
FROM unnest($1::text[]) AS w(underlying) CROSS JOIN LATERAL (
  SELECT v."underlying", v."sessionDate", v.seq, v."isWhole",
    CASE WHEN v."isWhole" THEN v.by_strike END AS "byStrike",
    CASE WHEN v."isWhole" THEN v.by_expiration END AS "byExpiration",
    v.status, v.complete, v."observedFromMs", v."observedThroughMs", v."registryVersion", v."standardMultiplierAssumed"
  FROM (
    SELECT x.underlying, x.session_date AS "sessionDate", x.seq, x.by_strike, x.by_expiration, m.first_ms,
      c.status, c.complete, c.observed_from_ms AS "observedFromMs", c.observed_through_ms AS "observedThroughMs",
      c.registry_version AS "registryVersion", c.standard_multiplier_assumed AS "standardMultiplierAssumed",
      c.observed_through_ms <= $3 AND (NOT $5::bool OR m.first_ms IS NULL OR c.observed_through_ms < $4) AS "isWhole"
    FROM cross_sections AS x
    JOIN flow_coverage AS c ON c.underlying = x.underlying AND c.session_date = x.session_date
    LEFT JOIN LATERAL (
      SELECT min(b.start_ms) AS first_ms FROM contract_minute_blocks AS b
      WHERE b.underlying = x.underlying AND b.session_date = x.session_date
    ) AS m ON TRUE
    WHERE x.underlying = w.underlying AND ($2::text IS NULL OR x.session_date = $2) AND x.session_date <= $6
  ) AS v
  WHERE v."isWhole" OR v.first_ms < $4
  ORDER BY v."sessionDate" DESC LIMIT 1
) AS s
