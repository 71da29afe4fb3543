-- The stored data of each symbol up to session $4, and of the sessions of its range; an open end is filled in.
SELECT w.nth, h.*, x.*
FROM (
  SELECT r.*, row_number() OVER () AS nth
  FROM (SELECT unnest($1::text[]) AS symbol, unnest($2::text[]) AS first, unnest($3::text[]) AS last) AS r
) AS w CROSS JOIN LATERAL (
  SELECT count(*) AS "historySessions", max(session_date) AS "latestSession",
    coalesce(w.first, CASE WHEN w.last IS NULL THEN max(session_date) ELSE min(session_date) END) AS first,
    least(w.last, $4) AS last
  FROM off_exchange_sessions AS s WHERE s.symbol = w.symbol AND s.session_date <= $4
) AS h CROSS JOIN LATERAL (
  SELECT max(session_date) AS session, max(as_of_ms) AS "asOfMs",
    count(*) FILTER (WHERE (trade_count >= $5::int8) IS NOT TRUE) AS activity,
    coalesce(sum(suppressed_count), 0) AS composition, coalesce(sum(suppressed_buckets), 0) AS concentration,
    coalesce(sum(suppressed_levels), 0) AS profile, count(*) - count(suppressed_buckets) AS unconcentrated
  FROM off_exchange_sessions AS s WHERE s.symbol = w.symbol AND s.session_date BETWEEN h.first AND h.last
) AS x
