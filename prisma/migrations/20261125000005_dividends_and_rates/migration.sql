-- Dividends and interest rates, the datasets of these names.
CREATE TABLE "dividends" (
    "symbol" TEXT COLLATE "C" NOT NULL,
    "ex_date" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "amount" DOUBLE PRECISION,
    "ratio" DOUBLE PRECISION,
    "declared" TEXT COLLATE "C",

    CONSTRAINT "dividends_pkey" PRIMARY KEY ("symbol", "ex_date", "kind")
);
CREATE TABLE "rates" (
    "date" TEXT COLLATE "C" NOT NULL,
    "days" INTEGER NOT NULL,
    "rate" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "rates_pkey" PRIMARY KEY ("date", "days")
);
