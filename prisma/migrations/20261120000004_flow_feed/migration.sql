-- In which order large trades were told: what a stream that was cut off goes on from. An event that is written again, equal, keeps its place.
CREATE SEQUENCE "flow_feed_places";

CREATE TABLE "flow_feed" (
    "underlying" TEXT COLLATE "C" NOT NULL,
    "session_date" TEXT COLLATE "C" NOT NULL,
    "event_id" TEXT COLLATE "C" NOT NULL,
    "place" BIGINT NOT NULL DEFAULT nextval('flow_feed_places'),
    "event_ts_ms" BIGINT NOT NULL,
    "content" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "flow_feed_pkey" PRIMARY KEY ("underlying","session_date","event_id")
);

CREATE INDEX "flow_feed_place_idx" ON "flow_feed"("place");
CREATE INDEX "flow_feed_event_ts_ms_idx" ON "flow_feed"("event_ts_ms");
