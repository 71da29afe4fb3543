-- The last events of each underlying, with their coverage: without it an event is not read.
-- The last two columns of the order make it one and only: sequences count within an underlying.
SELECT {FlowEvent e},
  c.status, c.complete, c.observed_from_ms AS "observedFromMs", c.observed_through_ms AS "observedThroughMs",
  c.registry_version AS "registryVersion", c.standard_multiplier_assumed AS "standardMultiplierAssumed"
FROM unnest($1::text[]) AS w(underlying) CROSS JOIN LATERAL (
  SELECT * FROM flow_events AS e
  WHERE e.underlying = w.underlying AND ($2::text IS NULL OR e.session_date = $2)
    AND ($3::float8 IS NULL OR e.premium_usd >= $3) AND e.event_ts_ms BETWEEN $4 AND $5
  ORDER BY e.event_ts_ms DESC, e.seq DESC, e.underlying, e.event_id LIMIT $6
) AS e
JOIN flow_coverage AS c ON c.underlying = e.underlying AND c.session_date = e.session_date
ORDER BY e.event_ts_ms DESC, e.seq DESC, e.underlying, e.event_id
