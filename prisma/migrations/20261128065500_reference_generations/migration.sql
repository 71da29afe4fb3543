-- Rates, terms of roots and symbols that a later list replaces are kept, as other reference data is: figures and answers as
-- known at an instant use those of then.
ALTER TABLE "rates" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "rates" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_rates" (LIKE "rates" INCLUDING STORAGE);
ALTER TABLE "superseded_rates" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_rates" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_rates" ADD CONSTRAINT "superseded_rates_pkey" PRIMARY KEY ("date", "days", "generation_ms");

ALTER TABLE "option_roots" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "option_roots" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_option_roots" (LIKE "option_roots" INCLUDING STORAGE);
ALTER TABLE "superseded_option_roots" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_option_roots" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_option_roots" ADD CONSTRAINT "superseded_option_roots_pkey" PRIMARY KEY ("root", "from_date", "generation_ms");

ALTER TABLE "symbols" ADD COLUMN "generation_ms" BIGINT;
ALTER TABLE "symbols" ALTER COLUMN "generation_ms" SET DEFAULT nullif(current_setting('tapegraph.generation_ms', true), '')::bigint;
CREATE TABLE "superseded_symbols" (LIKE "symbols" INCLUDING STORAGE);
ALTER TABLE "superseded_symbols" ALTER COLUMN "generation_ms" SET NOT NULL;
ALTER TABLE "superseded_symbols" ADD COLUMN "superseded_ms" BIGINT NOT NULL;
ALTER TABLE "superseded_symbols" ADD CONSTRAINT "superseded_symbols_pkey" PRIMARY KEY ("symbol", "generation_ms");
