-- The first rows of each range. The disclosure rules are applied here again, regardless of what was written. Whole rows
-- are compared, and the session is asked for each: the planner then walks the index and sorts nothing.
SELECT w.nth, r.*
FROM (
  SELECT r.*, row_number() OVER () AS nth
  FROM (
    SELECT unnest($1::text[]) AS symbol, unnest($2::text[]) AS first, unnest($3::text[]) AS last,
      unnest($4::text[]) AS after_date, unnest($5::int8[]) AS after_key
  ) AS r
) AS w CROSS JOIN LATERAL (
  SELECT {OffExchangeProfile x}
  FROM off_exchange_profile AS x
  WHERE x.symbol = w.symbol AND (x.session_date, x.price_thousandths) > (coalesce(w.after_date, w.first), coalesce(w.after_key, -1))
    AND (x.session_date, x.price_thousandths) <= (w.last, 9223372036854775807)
    AND x.trade_count >= $7::int8
    AND (SELECT s.trade_count >= $7::int8 FROM off_exchange_sessions AS s
      WHERE s.symbol = x.symbol AND s.session_date = x.session_date)
  ORDER BY x.session_date, x.price_thousandths LIMIT $6
) AS r
ORDER BY w.nth, r."sessionDate", r."priceThousandths"
