-- Off-exchange concentration is made from published price levels alone: two windows of levels before disclosure could be
-- subtracted from each other, which gave single executions. Rows that were made from them are removed at once;
-- `recompute off-exchange` makes them again. suppressed_buckets: null = not made since.
DELETE FROM "off_exchange_concentration";
DROP TABLE "off_exchange_levels";
DELETE FROM "sample_rows" WHERE "table_name" IN ('off_exchange_levels', 'off_exchange_concentration');
ALTER TABLE "off_exchange_sessions" ADD COLUMN "version" TEXT COLLATE "C";
ALTER TABLE "off_exchange_sessions" ALTER COLUMN "suppressed_buckets" DROP NOT NULL;
UPDATE "off_exchange_sessions" SET "suppressed_buckets" = NULL;
