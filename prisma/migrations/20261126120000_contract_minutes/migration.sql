-- Trading of an underlying's contracts by minute, signed by the side of its prints. Sessions of before have none.
CREATE TABLE "contract_minute_blocks" (
    "underlying" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "part" INTEGER NOT NULL,
    "start_ms" BIGINT NOT NULL,
    "count" INTEGER NOT NULL,
    "version" TEXT COLLATE "C" NOT NULL,
    "contracts" BYTEA NOT NULL,
    "payload" BYTEA NOT NULL,

    CONSTRAINT "contract_minute_blocks_pkey" PRIMARY KEY ("underlying", "session_date", "part")
);
