-- Where the values of a capture's columns lie, so that the lines of a few contracts can be cut out of it, and which captures list the same
-- contracts in the same order. Null for captures of before, which are read whole.
ALTER TABLE "chain_captures" ADD COLUMN "listing" TEXT COLLATE "C", ADD COLUMN "layout" TEXT COLLATE "C";
