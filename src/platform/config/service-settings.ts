import type { Config } from './config.ts';

/** The settings that resolvers read. */
export const serviceSettings = ({ sources, journalMaxRows, maxSavedScreens, provenance }: Config) => ({
  sources,
  journalMaxRows,
  maxSavedScreens,
  provenance,
});
