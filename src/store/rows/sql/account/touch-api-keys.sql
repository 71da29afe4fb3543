-- Locked in the order of their ids, to prevent deadlocks.
WITH used AS MATERIALIZED (
  SELECT k.id, u.at
  FROM (SELECT unnest($1::text[]) AS id, unnest($2::int8[]) AS at) AS u JOIN api_keys AS k ON k.id = u.id
  WHERE k.last_used_at IS NULL OR k.last_used_at < u.at
  ORDER BY k.id FOR UPDATE OF k
)
UPDATE api_keys AS k SET last_used_at = used.at FROM used WHERE k.id = used.id
