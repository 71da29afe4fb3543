-- Tables of more than twice the pages that they had when they were last analyzed, beyond a few.
SELECT quote_ident(relname) AS "name" FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
  AND pg_relation_size(oid) / current_setting('block_size')::int8 > 2 * greatest(relpages, 16)
