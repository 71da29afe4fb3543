-- Events that a reader has not seen. By $1 and $2, one of the steps it has seen, the indexes find what may be new.
SELECT {FlowEvent e},
  c.status, c.complete, c.observed_from_ms AS "observedFromMs", c.observed_through_ms AS "observedThroughMs",
  c.registry_version AS "registryVersion", c.standard_multiplier_assumed AS "standardMultiplierAssumed",
  f.place AS position
FROM flow_feed AS f
JOIN flow_events AS e ON e.underlying = f.underlying AND e.session_date = f.session_date AND e.event_id = f.event_id
JOIN flow_coverage AS c ON c.underlying = e.underlying AND c.session_date = e.session_date
WHERE (f.place > $1 OR f.event_ts_ms > $2)
  AND NOT EXISTS (
    SELECT FROM (SELECT unnest($3::int8[]) AS position, unnest($4::int8[]) AS through_ms) AS s
    WHERE f.place <= s.position AND f.event_ts_ms <= s.through_ms)
  AND f.place > $5 AND f.place <= $6 AND f.event_ts_ms >= $7 AND f.event_ts_ms <= $8
  AND ($9::text IS NULL OR e.underlying = $9) AND ($10::float8 IS NULL OR e.premium_usd >= $10)
ORDER BY f.place LIMIT $11
