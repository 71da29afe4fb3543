-- A live session's bars of a contract are several blocks, one a part of the session, so that a commit writes what is new alone. 0: all of it.
ALTER TABLE "option_bar_blocks" ADD COLUMN "part" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "option_bar_blocks" DROP CONSTRAINT "option_bar_blocks_pkey";
ALTER TABLE "option_bar_blocks" ALTER COLUMN "part" DROP DEFAULT;
ALTER TABLE "option_bar_blocks" ADD CONSTRAINT "option_bar_blocks_pkey" PRIMARY KEY ("underlying", "session_date", "contract", "timeframe", "part");
