-- Events that a reader has not seen. $1 and $2 are one of the steps it has seen: unseen events were sent since, or
-- became due since. Each is a range of one index; the sums prevent index look-ups of the other bounds, which most rows
-- satisfy.
WITH entry AS MATERIALIZED (
  SELECT underlying, session_date, event_id, place, event_ts_ms FROM flow_feed
  WHERE place > greatest($1::int8, $5::int8) AND place <= $6 AND event_ts_ms + 0 >= $7 AND event_ts_ms + 0 <= $8
  UNION ALL
  SELECT underlying, session_date, event_id, place, event_ts_ms FROM flow_feed
  WHERE event_ts_ms > greatest($2::int8, $7::int8 - 1) AND event_ts_ms <= $8 AND place + 0 > $5 AND place + 0 <= least($1::int8, $6::int8))
SELECT {FlowEvent e},
  c.status, c.complete, c.observed_from_ms AS "observedFromMs", c.observed_through_ms AS "observedThroughMs",
  c.registry_version AS "registryVersion", c.standard_multiplier_assumed AS "standardMultiplierAssumed",
  f.place AS position
FROM entry AS f
JOIN flow_events AS e ON e.underlying = f.underlying AND e.session_date = f.session_date AND e.event_id = f.event_id
JOIN flow_coverage AS c ON c.underlying = e.underlying AND c.session_date = e.session_date
WHERE NOT EXISTS (
    SELECT FROM (SELECT unnest($3::int8[]) AS position, unnest($4::int8[]) AS through_ms) AS s
    WHERE f.place <= s.position AND f.event_ts_ms <= s.through_ms)
  AND ($9::text IS NULL OR e.underlying = $9) AND ($10::float8 IS NULL OR e.premium_usd >= $10)
ORDER BY f.place LIMIT $11
