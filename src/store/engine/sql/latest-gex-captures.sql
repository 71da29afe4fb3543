-- The last capture of each underlying at or before an instant, without its curves.
SELECT g.*
FROM unnest($1::text[]) AS wanted(underlying) CROSS JOIN LATERAL (
  SELECT g.underlying, g.captured_at AS "capturedAt", g.session_date AS "sessionDate", g.spot, g.prior_close_spot AS "priorCloseSpot",
    g.net_gex AS "netGex", g.flip_point AS "flipPoint", g.zero_gamma AS "zeroGamma", g.call_wall AS "callWall", g.put_wall AS "putWall",
    g.net_vanna AS "netVanna", g.net_charm AS "netCharm", g.gamma_source AS "gammaSource", g.oi_coverage AS "oiCoverage",
    g.contract_count AS "contractCount", g.gamma_absent AS "gammaAbsent", g.methodology_version AS "methodologyVersion", g.version
  FROM gex_captures AS g
  WHERE g.underlying = wanted.underlying AND g.captured_at <= $2 AND ($3::text IS NULL OR g.session_date = $3)
  ORDER BY g.captured_at DESC LIMIT 1
) AS g
