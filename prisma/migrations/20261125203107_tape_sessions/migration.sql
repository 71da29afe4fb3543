-- The tapes that stored sessions were made from, and prints of sessions whose own tape is not stored yet.
CREATE TABLE "tape_sessions" (
    "symbol" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "dataset" TEXT COLLATE "C" NOT NULL,
    "prints" INTEGER NOT NULL,
    "sketch" BYTEA NOT NULL,

    CONSTRAINT "tape_sessions_pkey" PRIMARY KEY ("symbol", "session_date", "dataset")
);

CREATE TABLE "tape_remainders" (
    "symbol" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "dataset" TEXT COLLATE "C" NOT NULL,
    "version" TEXT COLLATE "C" NOT NULL,
    "prints" INTEGER NOT NULL,
    "kept_at_ms" BIGINT NOT NULL,
    "payload" BYTEA NOT NULL,

    CONSTRAINT "tape_remainders_pkey" PRIMARY KEY ("symbol", "session_date", "dataset", "version")
);
