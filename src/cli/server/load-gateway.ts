import type { GraphQLSchema } from 'graphql';
import type { Config } from '../../platform/config/config.ts';

/** The schema of `/graphql` by the settings; undefined = the graph, and nothing besides it. */
export async function loadGraph({ federation }: Pick<Config, 'federation'>): Promise<GraphQLSchema | undefined> {
  return federation ? (await import('../../schema/federation.ts')).federatedSchema : undefined;
}

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
    import('../../store/versions/announcements.ts'),
    import('../../intake/ingest/files/lists/starter-registry.ts'),
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
