-- What a minute was solved with, so that `recompute greeks` finds the minutes of an older version. Null for minutes of before, and for those
-- that an older version writes beside this one.
ALTER TABLE "greeks_minutes" ADD COLUMN "rate" DOUBLE PRECISION, ADD COLUMN "methodology_version" TEXT COLLATE "C";
