-- An underlying's captures from an instant on up to a session, and the last published one before another instant that is of a session or a
-- later one, without their rows.
(SELECT captured_at AS "capturedAt", session_date AS "sessionDate", spot, delay_ms AS "delayMs", subset, joined, row_count AS "rowCount",
   open_interest AS "openInterest"
 FROM chain_captures WHERE underlying = $1 AND captured_at >= $2 AND session_date <= $3)
UNION
(SELECT captured_at, session_date, spot, delay_ms, subset, joined, row_count, open_interest
 FROM chain_captures WHERE underlying = $1 AND captured_at < $4 AND session_date >= $5 AND subset IS NOT TRUE
 ORDER BY captured_at DESC LIMIT 1)
ORDER BY 1
