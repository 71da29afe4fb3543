-- What a capture was computed from: the inputs of each root and expiry, the version of the program, the decimals of the source's gammas, and the
-- file of its chain. Null for captures of before, and for those that an older version writes beside this one.
ALTER TABLE "gex_captures" ADD COLUMN "gamma_decimals" INTEGER, ADD COLUMN "inputs" BYTEA, ADD COLUMN "product_version" TEXT COLLATE "C";
ALTER TABLE "chain_captures" ADD COLUMN "file_name" TEXT COLLATE "C", ADD COLUMN "file_hash" TEXT COLLATE "C";
