-- Read by every request for bars that is not in a cache.
SELECT symbol, span_start AS "spanStart", first_ts_ms AS "firstTsMs", last_ts_ms AS "lastTsMs", count, version
FROM bar_blocks
WHERE symbol = ANY($1) AND timeframe = $2 AND last_ts_ms >= $3 AND first_ts_ms < $4
ORDER BY symbol, span_start
