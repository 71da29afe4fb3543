-- The last published capture of each underlying at or before an instant, or the subset of exactly that instant, without its curves; when the
-- last was captured by then, and when the next one follows, subsets too.
SELECT wanted.underlying AS wanted, n."nextMs", l."lastMs", g.*
FROM unnest($1::text[]) AS wanted(underlying) LEFT JOIN LATERAL (
  SELECT captured_at AS "nextMs" FROM gex_captures WHERE underlying = wanted.underlying AND captured_at > $2
  ORDER BY captured_at LIMIT 1
) AS n ON true LEFT JOIN LATERAL (
  SELECT captured_at AS "lastMs" FROM gex_captures WHERE underlying = wanted.underlying AND captured_at <= $2
  ORDER BY captured_at DESC LIMIT 1
) AS l ON true LEFT JOIN LATERAL (
  SELECT g.underlying, g.captured_at AS "capturedAt", g.delay_ms AS "delayMs", g.subset, g.session_date AS "sessionDate", g.spot, g.prior_close_spot AS "priorCloseSpot",
    g.net_gex AS "netGex", g.flip_point AS "flipPoint", g.zero_gamma AS "zeroGamma", g.call_wall AS "callGexPeak", g.put_wall AS "putGexPeak",
    g.net_call_wall AS "callWall", g.net_put_wall AS "putWall", g.flip_status AS "flipStatus",
    g.net_vanna AS "netVanna", g.net_charm AS "netCharm", g.gamma_source AS "gammaSource", g.oi_coverage AS "oiCoverage",
    g.contract_count AS "contractCount", g.gamma_absent AS "gammaAbsent", g.gamma_decimals AS "gammaDecimals", g.methodology_version AS "methodologyVersion", g.version,
    g.implied_spot AS "impliedSpot", g.spot_stale AS "spotStale", g.inconsistent_expiries AS "inconsistentExpiries"
  FROM gex_captures AS g
  WHERE g.underlying = wanted.underlying AND g.captured_at <= $2
    AND (g.subset IS NOT TRUE OR g.captured_at = $2)
  ORDER BY g.captured_at DESC LIMIT 1
) AS g ON true
