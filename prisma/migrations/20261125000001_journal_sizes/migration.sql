-- How many rows the journal of an account holds: its trades, accounts and imports. Every write of a journal locks its
-- row, so that the number is exact and the quota holds for writes at once.
CREATE TABLE "journal_sizes" (
    "account_id" TEXT COLLATE "C" NOT NULL,
    "row_count" INTEGER NOT NULL,

    CONSTRAINT "journal_sizes_pkey" PRIMARY KEY ("account_id")
);
INSERT INTO "journal_sizes" ("account_id", "row_count")
SELECT "account_id", count(*)::int
FROM (
    SELECT "account_id" FROM "journal_trades"
    UNION ALL SELECT "account_id" FROM "journal_accounts"
    UNION ALL SELECT "account_id" FROM "journal_imports"
) AS "held"
GROUP BY "account_id";
-- Of an import, the rows that were not imported and are not listed in its errors. Null where all are.
ALTER TABLE "journal_imports" ADD COLUMN "errors_omitted" INTEGER;
