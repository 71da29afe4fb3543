-- How much older the quotes of a capture are than its page. Null for captures of before, and for those that an older version writes beside
-- this one: unknown, and taken as none.
ALTER TABLE "chain_captures" ADD COLUMN "delay_ms" INTEGER;
ALTER TABLE "gex_captures" ADD COLUMN "delay_ms" INTEGER;
