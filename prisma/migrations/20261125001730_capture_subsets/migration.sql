-- Captures that list only a part of what the underlying's last whole capture listed, which are stored and not published. Null for captures of
-- before, and for those that an older version writes beside this one: whole.
ALTER TABLE "chain_captures" ADD COLUMN "subset" BOOLEAN, ADD COLUMN "joined" TEXT[], ADD COLUMN "open_interest" BIGINT;
ALTER TABLE "gex_captures" ADD COLUMN "subset" BOOLEAN;
