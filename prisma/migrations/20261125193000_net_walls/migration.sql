-- Strikes of the largest positive and the most negative net gex, and how much the flip point says. Null for captures of before, and for those
-- that an older version writes beside this one; "call_wall" and "put_wall" stay what they were, the peaks of one side.
ALTER TABLE "gex_captures" ADD COLUMN "net_call_wall" INTEGER, ADD COLUMN "net_put_wall" INTEGER, ADD COLUMN "flip_status" TEXT COLLATE "C";
