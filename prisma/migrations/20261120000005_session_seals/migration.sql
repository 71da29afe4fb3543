-- Sessions whose figures are final by an operator's word: nothing of them is written any more.
CREATE TABLE "session_seals" (
    "symbol" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "sealed_at_ms" BIGINT NOT NULL,

    CONSTRAINT "session_seals_pkey" PRIMARY KEY ("symbol","session_date")
);
