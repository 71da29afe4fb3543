-- The published capture at or before an instant with the last quotes of each of the latest sessions of each underlying, newest first.
SELECT g.underlying, g.captured_at AS "capturedAt", g.session_date AS "sessionDate", g.spot, g.net_gex AS "netGex", g.flip_point AS "flipPoint",
  g.zero_gamma AS "zeroGamma", g.net_call_wall AS "callWall", g.net_put_wall AS "putWall", g.flip_status AS "flipStatus", g.delay_ms AS "delayMs"
FROM unnest($1::text[]) AS wanted(underlying) CROSS JOIN LATERAL (
  SELECT (array_agg(g.captured_at ORDER BY g.captured_at - coalesce(g.delay_ms, 0) DESC, g.captured_at DESC))[1] AS captured_at
  FROM gex_captures AS g
  WHERE g.underlying = wanted.underlying AND g.captured_at <= $2 AND g.subset IS NOT TRUE
  GROUP BY g.session_date ORDER BY g.session_date DESC LIMIT $3
) AS last JOIN gex_captures AS g ON g.underlying = wanted.underlying AND g.captured_at = last.captured_at
ORDER BY g.underlying, g.session_date DESC
