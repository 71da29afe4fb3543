-- Of each span of sessions: an underlying's capture with the most pairs of expiry and right, then the most contracts, then the first, but for
-- those of some instants; and the time of the first of these captures.
SELECT wanted.nth, r."capturedAt", r."expiryRights", r."rowCount", r.listing, f."firstMs"
FROM (
  SELECT w.*, row_number() OVER () AS nth
  FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::text[]) AS since, unnest($3::text[]) AS through) AS w
) AS wanted LEFT JOIN LATERAL (
  SELECT captured_at AS "capturedAt", coalesce(expiry_rights, 2 * cardinality(expirations)) AS "expiryRights", row_count AS "rowCount", listing
  FROM chain_captures
  WHERE underlying = wanted.underlying AND session_date >= wanted.since AND session_date <= wanted.through AND captured_at <> ALL($4::int8[])
  ORDER BY 2 DESC, 3 DESC, 1 LIMIT 1
) AS r ON true LEFT JOIN LATERAL (
  SELECT min(captured_at) AS "firstMs" FROM chain_captures
  WHERE underlying = wanted.underlying AND session_date >= wanted.since AND session_date <= wanted.through AND captured_at <> ALL($4::int8[])
) AS f ON true
ORDER BY wanted.nth
