-- Premium of a session's options by minute.
ALTER TABLE "cross_sections" ADD COLUMN "minutes" BYTEA;
