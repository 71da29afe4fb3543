-- What a capture was priced with beside its quotes: the roots that it lists, and a hash of their terms, the curve and the dividends. Null for
-- captures of before, and for those that an older version writes beside this one: unknown.
ALTER TABLE "chain_captures" ADD COLUMN "roots" TEXT[] COLLATE "C", ADD COLUMN "reference_version" TEXT COLLATE "C";
