-- GEX captures whose chains could be compared with none; null for those of before: false.
ALTER TABLE "gex_captures" ADD COLUMN "alone" BOOLEAN;
ALTER TABLE "superseded_gex_captures" ADD COLUMN "alone" BOOLEAN;
