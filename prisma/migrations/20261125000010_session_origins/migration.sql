-- Where stored sessions come from, where that is not a vendor's file: the sample market, or a live tape.
CREATE TABLE "session_origins" (
    "symbol" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "origin" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "session_origins_pkey" PRIMARY KEY ("symbol", "session_date")
);

-- What the sample market stored, while other data is: rows of any table, which are not served.
CREATE TABLE "sample_rows" (
    "table_name" TEXT COLLATE "C" NOT NULL,
    "row_key" TEXT COLLATE "C" NOT NULL,
    "symbol" TEXT COLLATE "C" NOT NULL,
    "row" JSONB NOT NULL,

    CONSTRAINT "sample_rows_pkey" PRIMARY KEY ("table_name", "row_key")
);
