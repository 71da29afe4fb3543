-- The last session of each scope.
SELECT s.*
FROM unnest($1::text[]) AS w(scope) CROSS JOIN LATERAL (
  SELECT r.scope, r.session_date AS "sessionDate", r.coverage_status AS "coverageStatus", r.scanned_at_ms AS "scannedAtMs", r.source
  FROM ranked_sessions AS r
  WHERE r.scope = w.scope AND r.list = $2 AND ($3::text IS NULL OR r.session_date = $3) AND r.session_date <= $4
  ORDER BY r.session_date DESC LIMIT 1
) AS s
