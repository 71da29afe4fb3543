-- The quotes of a session's option contracts, kept so that a tape of it that is read later has its sides.
CREATE TABLE "option_quote_blocks" (
    "underlying" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "contract" TEXT COLLATE "C" NOT NULL,
    "part" INTEGER NOT NULL,
    "first_ts_ms" BIGINT NOT NULL,
    "count" INTEGER NOT NULL,
    "version" TEXT COLLATE "C" NOT NULL,
    "payload" BYTEA NOT NULL,

    CONSTRAINT "option_quote_blocks_pkey" PRIMARY KEY ("underlying","session_date","contract","part")
);
-- They are compressed already.
ALTER TABLE "option_quote_blocks" ALTER COLUMN "payload" SET STORAGE EXTERNAL;
-- Which sessions a file was of: what is remembered of it is forgotten when quotes of one of them come. Of files stored before it is not known.
ALTER TABLE "ingested_files" ADD COLUMN "sessions" TEXT[] NOT NULL DEFAULT '{}';
