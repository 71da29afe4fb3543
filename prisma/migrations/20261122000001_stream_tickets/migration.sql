-- Tickets for the streaming channel: each is taken by the process that it is used at, once.
CREATE TABLE "stream_tickets" (
    "hash" TEXT COLLATE "C" NOT NULL,
    "credential" BYTEA NOT NULL,
    "expires_at" BIGINT NOT NULL,

    CONSTRAINT "stream_tickets_pkey" PRIMARY KEY ("hash")
);
CREATE INDEX "stream_tickets_expires_at_idx" ON "stream_tickets"("expires_at");
