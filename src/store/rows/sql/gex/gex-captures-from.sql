-- The first published captures of each underlying from its instant on, without their curves.
SELECT g.*
FROM (SELECT unnest($1::text[]) AS underlying, unnest($2::int8[]) AS from_ms) AS wanted CROSS JOIN LATERAL (
  SELECT g.underlying, g.captured_at AS "capturedAt", g.delay_ms AS "delayMs", g.subset, g.session_date AS "sessionDate", g.spot, g.prior_close_spot AS "priorCloseSpot",
    g.net_gex AS "netGex", g.flip_point AS "flipPoint", g.zero_gamma AS "zeroGamma", g.call_wall AS "callGexPeak", g.put_wall AS "putGexPeak",
    g.net_call_wall AS "callWall", g.net_put_wall AS "putWall", g.flip_status AS "flipStatus",
    g.net_vanna AS "netVanna", g.net_charm AS "netCharm", g.gamma_source AS "gammaSource", g.oi_coverage AS "oiCoverage",
    g.contract_count AS "contractCount", g.gamma_absent AS "gammaAbsent", g.gamma_decimals AS "gammaDecimals", g.methodology_version AS "methodologyVersion", g.version,
    g.implied_spot AS "impliedSpot", g.spot_stale AS "spotStale", g.inconsistent_expiries AS "inconsistentExpiries"
  FROM gex_captures AS g
  WHERE g.underlying = wanted.underlying AND g.captured_at >= wanted.from_ms AND g.captured_at <= $3 AND g.subset IS NOT TRUE
  ORDER BY g.captured_at LIMIT $4
) AS g
ORDER BY 1, 2
