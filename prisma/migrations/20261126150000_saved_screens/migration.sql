-- Screens of the screener that accounts saved: filter and order as JSON.
CREATE TABLE "saved_screens" (
    "account_id" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT COLLATE "C" NOT NULL,
    "definition" TEXT COLLATE "C" NOT NULL,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,

    CONSTRAINT "saved_screens_pkey" PRIMARY KEY ("account_id", "id")
);
CREATE UNIQUE INDEX "saved_screens_account_id_name_key" ON "saved_screens"("account_id", "name");
