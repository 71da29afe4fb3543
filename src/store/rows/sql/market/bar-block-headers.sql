-- Read where the headers of a page's blocks are not held in the process.
SELECT symbol, span_start AS "spanStart", first_ts_ms AS "firstTsMs", last_ts_ms AS "lastTsMs", count, version
FROM bar_blocks
WHERE symbol = ANY($1) AND timeframe = $2 AND span_start BETWEEN $3 AND $4
ORDER BY symbol, span_start
