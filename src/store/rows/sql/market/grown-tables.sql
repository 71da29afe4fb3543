-- Tables with more than twice the pages of their last analysis, beyond a few.
SELECT quote_ident(relname) AS "name" FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
  AND pg_relation_size(oid) / current_setting('block_size')::int8 > 2 * greatest(relpages, 16)
