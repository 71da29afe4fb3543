-- Terms of option roots, the dataset `roots`. What it does not name keeps the terms that the project knows, or those of
-- its underlying's class.
CREATE TABLE "option_roots" (
    "root" TEXT COLLATE "C" NOT NULL,
    "from_date" TEXT COLLATE "C" NOT NULL,
    "to_date" TEXT COLLATE "C",
    "underlying" TEXT COLLATE "C" NOT NULL,
    "style" TEXT COLLATE "C" NOT NULL,
    "settlement" TEXT COLLATE "C" NOT NULL,
    "multiplier" INTEGER,
    "deliverable" TEXT COLLATE "C" NOT NULL,
    "on_forwards" BOOLEAN NOT NULL,

    CONSTRAINT "option_roots_pkey" PRIMARY KEY ("root", "from_date")
);
