-- The values of single contracts, cut out of captures by their layout. A payload is unpacked once, then cut.
SELECT c.underlying, c.captured_at AS "capturedAt", c.session_date AS "sessionDate", c.spot, c.prior_close_spot AS "priorCloseSpot",
  c.version, c.delay_ms AS "delayMs", c.listing, c.layout, (
    SELECT string_agg(
      substring(whole.bytes FROM (col->>'at')::int + 1 + cut.slot * (col->>'bytes')::int FOR (col->>'bytes')::int),
      ''::bytea ORDER BY cut.n, col_n)
    FROM unnest(string_to_array(wanted.slots, ' ')::int[]) WITH ORDINALITY AS cut(slot, n),
      json_array_elements(c.layout::json) WITH ORDINALITY AS cols(col, col_n)
  ) AS cuts
FROM (
  SELECT unnest($1::text[]) AS underlying, unnest($2::int8[]) AS captured_at, unnest($3::text[]) AS version,
    unnest($4::text[]) AS slots
) AS wanted
JOIN chain_captures AS c
  ON c.underlying = wanted.underlying AND c.captured_at = wanted.captured_at AND c.version = wanted.version
CROSS JOIN LATERAL (SELECT c.payload || ''::bytea AS bytes OFFSET 0) AS whole
