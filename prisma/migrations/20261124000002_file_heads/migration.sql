-- A hash of how a file begins: a file that begins as no other need not be read before it is stored. Null for files of before.
ALTER TABLE "ingested_files" ADD COLUMN "head" TEXT COLLATE "C";
