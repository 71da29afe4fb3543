-- What a root stands for follows from its name (src/domain/option-root.ts), its multiplier from the source's shares per contract: nothing ever
-- was in this table.
DROP TABLE "option_roots";
