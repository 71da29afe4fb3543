-- Minute and slots in one statement, so that both are from one snapshot of the store.
SELECT m.underlying, m.session_date AS "sessionDate", m.ts_ms AS "tsMs", m.version, m.spot, m.payload, m.count, ARRAY(
    SELECT p.contract FROM greeks_places AS p
    WHERE p.underlying = m.underlying AND p.session_date = m.session_date AND p.place < m.count ORDER BY p.place
  ) AS contracts
FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::text[]) AS session_date, unnest($3::int8[]) AS ts_ms) AS w
JOIN greeks_minutes AS m ON m.underlying = w.underlying AND m.session_date = w.session_date AND m.ts_ms = w.ts_ms
