import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type BlockCache, createBlockCache } from './block-cache.ts';
import { toNumber } from './checked-number.ts';
import { type EmbeddedServer, openEmbeddedServer } from './embedded-server.ts';
import { PrismaClient } from './generated/client.ts';
import { type MigrateOptions, migrate } from './migrations.ts';
import { openReplicas, type Reader, type ReplicaPools, type Replicas } from './replicas.ts';
import { storeRefused } from './store-refused.ts';
import { observedPool, type StatementObserver } from './timed-client.ts';

/** The open store. Every function of `store/` takes it (or a transaction) first. */
export interface Store {
  prisma: PrismaClient;
  /** For raw SQL, COPY and bulk writes; here a BIGINT arrives as a checked number, not as text. */
  pool: pg.Pool;
  /** Standbys that market data may be read from; null = there are none. */
  replicas: Replicas | null;
  /** What `readFrom` gives, where something is read with several statements; null = whatever may be read at the moment. */
  reader: Reader | null;
  /** Decoded blocks of this process. */
  blocks: BlockCache;
  /** Names of the migrations that opening applied; empty when the store was at the code's version. */
  migrated: string[];
  /** Ends every connection; the last process to leave an embedded server stops it. May be called twice. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** A PostgreSQL server; null = the embedded one under `dataDir`. */
  databaseUrl: string | null;
  /** Folder of the embedded store; not used with `databaseUrl`. */
  dataDir: string;
  /** Apply missing migrations (default); false: refuse a store that lacks some. A newer store is refused either way. */
  migrate?: boolean;
  /** Gets a line when something is remarkable. */
  log?: (line: string) => void;
  /** Standbys of the server of `databaseUrl`, to read market data from. */
  readUrls?: readonly string[];
  /** Connections at most, to each server; 16 unless given. */
  poolSize?: number;
  /**
   * How long one statement may take, ms; 0, or absent, for ever. PostgreSQL ends what takes longer; one that does not even say that has its
   * connection closed a second later. Migrations may take as long as they need.
   */
  statementTimeoutMs?: number;
  /** Is told of every statement, for metrics and traces. */
  onStatement?: StatementObserver | undefined;
  /** Bytes of decoded blocks kept; 256 MiB unless given. */
  cacheBytes?: number;
}

/** Where market data is read. What an account owns, and what is written next, is read from `store.pool`. */
export function readFrom(store: Store): Reader {
  return store.reader ?? store.replicas ?? store.pool;
}

/** The store for one request: what it reads with several statements is never older than what it has read. */
export function readingTogether(store: Store): Store {
  return store.replicas ? { ...store, reader: store.replicas.together() } : store;
}

/** Opens the store: the server of `databaseUrl`, or the embedded one, brought to the code's version. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const {
    databaseUrl,
    dataDir,
    readUrls = [],
    migrate: apply = true,
    log = () => {},
    poolSize = 16,
    statementTimeoutMs = 0,
    onStatement,
    cacheBytes = 256 * 1024 * 1024,
  } = options;
  const embedded = databaseUrl === null ? await openEmbeddedServer({ dataDir, log }) : null;
  const connection: pg.PoolConfig = {
    ...(embedded?.connection ?? { connectionString: databaseUrl! }),
    application_name: 'tapegraph',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    types,
  };
  const openPool = (to: pg.PoolConfig): pg.Pool => {
    const limited = { ...to, ...limits(statementTimeoutMs), max: poolSize };
    return onStatement ? observedPool(limited, onStatement) : new pg.Pool(limited);
  };
  const pool = openPool(connection);
  // A connection that dies while idle is replaced at the next use; without a listener it would end the process.
  pool.on('error', (error) => log(`A database connection was lost: ${error.message}`));
  const standbys = readUrls.map((url) => replicaPools(url, openPool));
  const replicas = standbys.length === 0 ? null : openReplicas(pool, standbys, log);
  const adapter = new PrismaPg(pool, { statementNameGenerator: statementNames() });
  const store: Store = {
    prisma: new PrismaClient({ adapter }),
    pool,
    replicas,
    reader: null,
    blocks: createBlockCache(cacheBytes),
    migrated: [],
    close: closeOnce(pool, replicas, embedded),
  };
  try {
    await reach(pool, databaseUrl);
    store.migrated = await migrateWithoutLimits(connection, { apply, log });
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

function limits(statementTimeoutMs: number): pg.PoolConfig {
  if (statementTimeoutMs === 0) return {};
  return { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + 1000 };
}

// Another process may be migrating, which is waited for, and a change of a large table takes its time.
async function migrateWithoutLimits(connection: pg.PoolConfig, options: MigrateOptions): Promise<string[]> {
  const pool = new pg.Pool({ ...connection, max: 1 });
  pool.on('error', () => {});
  try {
    return await migrate(pool, options);
  } finally {
    await pool.end();
  }
}

const int8 = 20;

// Raw SQL reads BIGINT as a checked number. Prisma brings its own readers and gives bigint.
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === int8 && format !== 'binary'
      ? (text: string) => toNumber(BigInt(text))
      : pg.types.getTypeParser(oid, format),
};

/** Resolves when the database answers; rejects when it does not within 2 s of having a connection, or gives none. */
export async function pingDatabase({ pool }: Store): Promise<void> {
  // A limit of its own: the store's is for statements that do something, and may be none.
  await pool.query({ text: 'select 1', query_timeout: 2000 } as pg.QueryConfig);
}

async function reach(pool: pg.Pool, databaseUrl: string | null): Promise<void> {
  try {
    await pool.query('select 1');
  } catch (error) {
    if (databaseUrl === null) throw error;
    throw storeRefused(
      `The database of DATABASE_URL cannot be used: ${(error as Error).message || (error as { code?: string }).code}`,
      error,
    );
  }
}

function replicaPools(connectionString: string, openPool: (to: pg.PoolConfig) => pg.Pool): ReplicaPools {
  const to = { connectionString, connectionTimeoutMillis: 2000, keepAlive: true, types };
  const pool = openPool({ ...to, application_name: 'tapegraph reader' });
  const probe = new pg.Pool({ ...to, max: 1, application_name: 'tapegraph probe' });
  // Whether it is there, the probe tells.
  for (const each of [pool, probe]) each.on('error', () => {});
  const { host, port, database } = new pg.Client({ connectionString });
  return { pool, probe, shown: `${host.startsWith('/') ? host : `${host}:${port}`}/${database}` };
}

function closeOnce(pool: pg.Pool, replicas: Replicas | null, embedded: EmbeddedServer | null): () => Promise<void> {
  let closed: Promise<void> | null = null;
  return () => {
    closed ??= Promise.all([pool.end(), replicas?.close()]).then(() => embedded?.close());
    return closed;
  };
}

/**
 * Names statements, so that PostgreSQL prepares each once a connection. Lists of varying length make ever new texts: past
 * a thousand of them the rest go unnamed, or a long-lived server's memory would grow without bound.
 */
function statementNames(): (query: { sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    const name = names.size < 1000 ? createHash('sha1').update(sql).digest('base64url') : '';
    if (name !== '') names.set(sql, name);
    return name;
  };
}
