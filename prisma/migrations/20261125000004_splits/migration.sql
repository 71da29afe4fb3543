-- Splits of shares, the dataset `splits`: prices are stored as printed, and divided when they are read.
CREATE TABLE "splits" (
    "symbol" TEXT COLLATE "C" NOT NULL,
    "ex_date" TEXT COLLATE "C" NOT NULL,
    "ratio" DOUBLE PRECISION NOT NULL,
    "declared" TEXT COLLATE "C",

    CONSTRAINT "splits_pkey" PRIMARY KEY ("symbol", "ex_date")
);
