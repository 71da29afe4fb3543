-- The terms of roots and the market that a chain was priced in: what is computed from it later uses these. Null = before they were stored.
ALTER TABLE "chain_captures" ADD COLUMN "pricing" TEXT COLLATE "C";
ALTER TABLE "superseded_chain_captures" ADD COLUMN "pricing" TEXT COLLATE "C";
