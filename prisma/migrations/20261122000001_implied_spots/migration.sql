-- What the quotes of a chain say of its underlying's price, whether its expiries agree with themselves, and the re-priced profile. Null for
-- captures of before, and for those that an older version writes beside this one.
ALTER TABLE "gex_captures" ADD COLUMN "implied_spot" DOUBLE PRECISION, ADD COLUMN "spot_stale" BOOLEAN,
  ADD COLUMN "inconsistent_expiries" INTEGER, ADD COLUMN "profile" BYTEA;
-- The rate that a chain was solved with; null where it was not, or by an older version.
ALTER TABLE "chain_captures" ADD COLUMN "rate" DOUBLE PRECISION;
