-- Number of events of each underlying, or of contracts of it, and their premium: as numeric, so that the result does not
-- depend on the order of addition.
SELECT w.nth, count(*) AS count, sum(e.premium_usd::numeric)::float8 AS "premiumUsd"
FROM (
  SELECT r.*, row_number() OVER () AS nth
  FROM (SELECT unnest($1::text[]) AS underlying, unnest($8::text[]) AS contracts) AS r
) AS w
JOIN flow_events AS e ON e.underlying = w.underlying
JOIN flow_coverage AS c ON c.underlying = e.underlying AND c.session_date = e.session_date
WHERE ($2::text IS NULL OR e.session_date = $2)
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
GROUP BY w.nth
