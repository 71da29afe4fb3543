SELECT session_date AS session, underlying, count(DISTINCT contract) AS contracts, sum(count)::int8 AS quotes,
  sum(octet_length(payload))::int8 AS bytes
FROM option_quote_blocks GROUP BY session_date, underlying ORDER BY session_date, underlying
