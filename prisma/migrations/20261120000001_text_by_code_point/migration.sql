-- Text is ordered by code point, as the code orders it, whatever language the database was made for: lists, cursors and
-- ranges must not depend on the server. A later migration that adds a text column says COLLATE "C" itself.
DO $$
DECLARE
    each record;
BEGIN
    FOR each IN
        SELECT c.relname AS "table", string_agg(format('ALTER COLUMN %I TYPE TEXT COLLATE "C"', a.attname), ', ') AS changes
        FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
            AND a.atttypid = 'text'::regtype AND NOT a.attisdropped AND a.attnum > 0
            AND a.attcollation <> '"C"'::regcollation AND c.relname <> '_prisma_migrations'
        GROUP BY c.relname
    LOOP
        EXECUTE format('ALTER TABLE %I %s', each."table", each.changes);
    END LOOP;
END
$$;
