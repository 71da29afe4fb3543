-- The profile withholds price levels of its own: how many is said beside it, as for categories and buckets.
ALTER TABLE "off_exchange_sessions" ADD COLUMN "suppressed_levels" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "off_exchange_sessions" ALTER COLUMN "suppressed_levels" DROP DEFAULT;
