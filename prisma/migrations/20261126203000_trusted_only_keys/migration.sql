-- Keys that run trusted documents of the graph alone.
ALTER TABLE "api_keys" ADD COLUMN "trusted_only" BOOLEAN NOT NULL DEFAULT false;
