-- The newest records of each contract, cut out of the minutes of the last $6 sessions in which it was followed. The records of a minute are
-- of one length, and the last byte of one is 0 where there was no solve.
SELECT w.nth, r.session_date AS "sessionDate", r.ts_ms AS "tsMs", r.record
FROM (
  SELECT k.*, row_number() OVER () AS nth FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::text[]) AS contract) AS k
) AS w CROSS JOIN LATERAL (
  SELECT p.session_date, m.ts_ms, m.record
  FROM (
    SELECT session_date, place FROM greeks_places
    WHERE underlying = w.underlying AND contract = w.contract AND session_date <= $4
    ORDER BY session_date DESC LIMIT $6
  ) AS p CROSS JOIN LATERAL (
    SELECT ts_ms, substring(payload FROM p.place * (octet_length(payload) / count) + 1 FOR octet_length(payload) / count) AS record
    FROM greeks_minutes
    WHERE underlying = w.underlying AND session_date = p.session_date AND ts_ms <= $3 AND count > p.place
    ORDER BY ts_ms DESC OFFSET 0
  ) AS m
  WHERE get_byte(m.record, octet_length(m.record) - 1) > 0
  ORDER BY p.session_date DESC, m.ts_ms DESC LIMIT $5
) AS r
