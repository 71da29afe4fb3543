-- The first rows of each range. The disclosure rules are applied here again, regardless of what was written.
SELECT w.nth, r.*
FROM (
  SELECT r.*, row_number() OVER () AS nth
  FROM (
    SELECT unnest($1::text[]) AS symbol, unnest($2::text[]) AS first, unnest($3::text[]) AS last,
      unnest($4::text[]) AS after_date, unnest($5::text[]) AS after_key
  ) AS r
) AS w CROSS JOIN LATERAL (
  SELECT {OffExchangeComposition x}
  FROM off_exchange_composition AS x
  WHERE x.symbol = w.symbol AND x.session_date BETWEEN w.first AND w.last
    AND (w.after_date IS NULL OR (x.session_date, x.category COLLATE "C") > (w.after_date, w.after_key))
    AND x.trade_count >= $7::int8
    AND (SELECT s.trade_count >= $7::int8 FROM off_exchange_sessions AS s
      WHERE s.symbol = x.symbol AND s.session_date = x.session_date)
  ORDER BY x.session_date, x.category COLLATE "C" LIMIT $6
) AS r
ORDER BY w.nth, r."sessionDate", r.category COLLATE "C"
