-- The last events of each underlying, or of contracts of it, with their coverage: without it an event is not read. An
-- event is there from its last leg on, at most half a second after its first.
-- The last two columns of the order make it one and only: sequences count within an underlying.
SELECT w.nth, {FlowEvent e},
  c.status, c.complete, c.observed_from_ms AS "observedFromMs", c.observed_through_ms AS "observedThroughMs",
  c.registry_version AS "registryVersion", c.standard_multiplier_assumed AS "standardMultiplierAssumed"
FROM (
  SELECT r.*, row_number() OVER () AS nth
  FROM (SELECT unnest($1::text[]) AS underlying, unnest($8::text[]) AS contracts) AS r
) AS w CROSS JOIN LATERAL (
  SELECT * FROM flow_events AS e
  WHERE e.underlying = w.underlying AND ($2::text IS NULL OR e.session_date = $2)
    AND ($3::float8 IS NULL OR e.premium_usd >= $3) AND e.event_ts_ms BETWEEN $4 AND $5
    AND ($6::text IS NULL OR e.event_kind = $6) AND ($7::text IS NULL OR e.side = $7)
    AND (w.contracts IS NULL OR EXISTS (
      SELECT FROM flow_legs AS l
      WHERE l.underlying = e.underlying AND l.session_date = e.session_date AND l.event_id = e.event_id
        AND l.contract LIKE w.contracts))
    AND (e.event_ts_ms < $5 - 500 OR NOT EXISTS (
      SELECT FROM flow_legs AS l
      WHERE l.underlying = e.underlying AND l.session_date = e.session_date AND l.event_id = e.event_id
        AND l.event_ts_ms > $5))
    AND ($9::int8 IS NULL OR (e.event_ts_ms, e.seq) < ($9, $10)
      OR (e.event_ts_ms = $9 AND e.seq = $10 AND e.event_id > $11))
  ORDER BY e.event_ts_ms DESC, e.seq DESC, e.underlying, e.event_id LIMIT $12
) AS e
JOIN flow_coverage AS c ON c.underlying = e.underlying AND c.session_date = e.session_date
ORDER BY e.event_ts_ms DESC, e.seq DESC, e.underlying, e.event_id
