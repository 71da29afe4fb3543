-- Implied volatilities by session, the dataset of this name.
CREATE TABLE "volatility_days" (
    "symbol" TEXT COLLATE "C" NOT NULL,
    "date" TEXT COLLATE "C" NOT NULL,
    "iv30" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "volatility_days_pkey" PRIMARY KEY ("symbol", "date")
);
