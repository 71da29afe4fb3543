-- What later sessions need of a session for their concentration: its price levels before disclosure. Never served.
CREATE TABLE "off_exchange_levels" (
    "symbol" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "version" TEXT COLLATE "C" NOT NULL,
    "payload" BYTEA NOT NULL,

    CONSTRAINT "off_exchange_levels_pkey" PRIMARY KEY ("symbol","session_date")
);
