-- Minute solves as they come: a row an underlying and minute, written once. A contract has the same place in every row of a session, so that
-- its series is read by cutting its record out of each; for that the payloads are kept as they are, not packed.
DROP TABLE "greeks_blocks";
DROP TABLE "greeks_latest";

CREATE TABLE "greeks_places" (
    "underlying" TEXT COLLATE "C" NOT NULL,
    "contract" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "place" INTEGER NOT NULL,

    CONSTRAINT "greeks_places_pkey" PRIMARY KEY ("underlying", "contract", "session_date")
);

CREATE INDEX "greeks_places_underlying_session_date_place_idx" ON "greeks_places" ("underlying", "session_date", "place");

CREATE TABLE "greeks_minutes" (
    "underlying" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "ts_ms" BIGINT NOT NULL,
    "spot" DOUBLE PRECISION,
    "count" INTEGER NOT NULL,
    "version" TEXT COLLATE "C" NOT NULL,
    "payload" BYTEA NOT NULL,

    CONSTRAINT "greeks_minutes_pkey" PRIMARY KEY ("underlying", "session_date", "ts_ms")
);

ALTER TABLE "greeks_minutes" ALTER COLUMN "payload" SET STORAGE EXTERNAL;
