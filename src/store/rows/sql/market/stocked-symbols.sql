-- The symbols with any stored data.
SELECT s.symbol
FROM unnest($1::text[]) AS w(symbol) CROSS JOIN LATERAL (
  SELECT x.symbol FROM (
    (SELECT b.symbol FROM bar_blocks AS b WHERE b.symbol = w.symbol LIMIT 1)
    UNION ALL
    (SELECT g.underlying FROM gex_captures AS g WHERE g.underlying = w.symbol LIMIT 1)
    UNION ALL
    (SELECT c.underlying FROM chain_captures AS c WHERE c.underlying = w.symbol LIMIT 1)
    UNION ALL
    (SELECT f.underlying FROM flow_coverage AS f WHERE f.underlying = w.symbol LIMIT 1)
    UNION ALL
    (SELECT o.symbol FROM off_exchange_sessions AS o WHERE o.symbol = w.symbol LIMIT 1)
  ) AS x LIMIT 1
) AS s
