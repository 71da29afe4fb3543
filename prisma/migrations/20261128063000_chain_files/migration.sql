-- Captures that are made of several files: these as they came, and the number of pairs of expiry and right, by which captures are compared.
-- Null for captures of before: of one file, compared by their expiries.
ALTER TABLE "chain_captures" ADD COLUMN "files" JSONB, ADD COLUMN "expiry_rights" INTEGER, ADD COLUMN "alone" BOOLEAN;
ALTER TABLE "superseded_chain_captures" ADD COLUMN "files" JSONB, ADD COLUMN "expiry_rights" INTEGER, ADD COLUMN "alone" BOOLEAN;
