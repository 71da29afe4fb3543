-- The lines of a live tape as they were taken, so that a follower that starts again knows what the one before it knew.
CREATE TABLE "followed_lines" (
    "source" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "through_line" BIGINT NOT NULL,
    "payload" BYTEA NOT NULL,

    CONSTRAINT "followed_lines_pkey" PRIMARY KEY ("source","session_date","through_line")
);
