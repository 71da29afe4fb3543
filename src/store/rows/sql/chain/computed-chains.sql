-- A chain without a GEX capture has a rate if a version after the first has computed it.
SELECT c.underlying, c.session_date AS session, coalesce(c.roots, '{}') AS roots, c.reference_version AS "referenceVersion",
  count(*) AS captures,
  $3::bool OR bool_or(CASE WHEN g.underlying IS NULL THEN c.rate IS NULL ELSE g.methodology_version <> $1 END)
    OR bool_or($2::int4 IS NOT NULL AND c.delay_ms IS DISTINCT FROM $2) AS "isWanted"
FROM chain_captures AS c LEFT JOIN gex_captures AS g ON g.underlying = c.underlying AND g.captured_at = c.captured_at
GROUP BY c.underlying, c.session_date, c.roots, c.reference_version
ORDER BY c.session_date, c.underlying, c.roots, c.reference_version
