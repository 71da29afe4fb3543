/** Loads the modules of a server: only when one is to run, so that help and usage errors need not wait for it. */
export async function loadGateway() {
  const [
    { loadPrisma },
    { watchChanges },
    { ensureStarterRegistry },
    { openAccess },
    { LiveHub },
    { createApp, compileContract },
    { loadArrow },
  ] = await Promise.all([
    import('../../store/rows/models/prisma.ts'),
    import('../../store/versions/changes.ts'),
    import('../../ingest/files/lists/starter-registry.ts'),
    import('../../access/open-access.ts'),
    import('../../live/hub.ts'),
    import('../../server.ts'),
    import('../../rest/contract/arrow-stream.ts'),
  ]);
  return {
    loadPrisma,
    watchChanges,
    ensureStarterRegistry,
    openAccess,
    LiveHub,
    createApp,
    compileContract,
    loadArrow,
  };
}
