/** Loads the modules of a server. Called only to run one, so that help and usage errors are fast. */
export async function loadGateway() {
  const [
    { loadPrisma },
    { watchChanges },
    { ensureStarterRegistry },
    { openAccess },
    { LiveHub },
    { createApp },
    { compileContract },
    { loadArrow },
    { loadParquet },
  ] = await Promise.all([
    import('../../store/rows/models/prisma.ts'),
    import('../../store/versions/changes.ts'),
    import('../../ingest/files/lists/starter-registry.ts'),
    import('../../access/open-access.ts'),
    import('../../live/hub.ts'),
    import('../../server.ts'),
    import('../../rest/route-table.ts'),
    import('../../rest/contract/arrow-stream.ts'),
    import('../../rest/contract/parquet-file.ts'),
  ]);
  return {
    loadPrisma,
    watchChanges,
    ensureStarterRegistry,
    openAccess,
    LiveHub,
    createApp,
    compileContract,
    loadTableFormats: () => Promise.all([loadArrow(), loadParquet()]),
  };
}
