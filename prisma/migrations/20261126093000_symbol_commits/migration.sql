-- The last commits that wrote market data of a symbol, by subject. Rows are updated by every writer, without indexes on
-- what changes: half of a page is left for them.
CREATE TABLE "symbol_commits" (
    "symbol" TEXT COLLATE "C" NOT NULL,
    "commits" JSONB NOT NULL,

    CONSTRAINT "symbol_commits_pkey" PRIMARY KEY ("symbol")
) WITH (fillfactor = 50);
