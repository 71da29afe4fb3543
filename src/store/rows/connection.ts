import pg from 'pg';
import { dayMs } from '../../platform/runtime/clock.ts';
import { currentRequest } from '../../platform/runtime/request-scope.ts';
import { type Cluster, openCluster } from '../cluster/cluster.ts';
import type { ReplicaPools } from '../cluster/replica.ts';
import { Replicas } from '../cluster/replicas.ts';
import type { EmbeddedServer, EmbeddedServerOptions } from '../embedded/embedded-server.ts';
import { type BlockCache, createBlockCache } from '../series/block-cache.ts';
import { DataVersions } from '../versions/data-versions.ts';
import { ReadView } from '../versions/read-view.ts';
import type { Subject } from '../versions/subjects.ts';
import { connectionFailure } from './connection-failure.ts';
import { isMigrated, type MigrateOptions, migrate } from './migrations.ts';
import { readModels } from './models/noted-models.ts';
import { type HeldModels, type Models, openPrisma, type PrismaOverPool } from './models/prisma.ts';
import { toNumber } from './models/row-values.ts';
import type { Reader } from './reader.ts';
import { type Snapshot, Snapshots } from './snapshots.ts';
import { storeError } from './store-error.ts';
import { observedPool, PooledClient, type StatementObserver } from './timed-client.ts';
import { type WriteWatch, watchWrites } from './write-watch.ts';

/** Data as it was known at an instant. */
export interface AsKnown {
  /** Epoch ms. */
  atMs: number;
  /** The store as it is today. */
  today: Store;
  /** The version of what was read of it, or is about to be; null = the answer may not be cached. */
  versionOf(subject: Subject, symbol: string | null): number | null;
  /** Throws 400 if it is no longer stored. */
  check(): Promise<void>;
  /** The statement that reads of it what another reads of now. */
  statement(config: pg.QueryConfig): Promise<pg.QueryConfig>;
}

/** The open store. Every function of `store/` takes it (or a transaction) first. */
export interface Store {
  /** The models of `schema.prisma`. Read from the primary. */
  prisma: Models;
  /** For statements that Prisma has no form for; a BIGINT is returned as a checked number, not as text. */
  pool: pg.Pool;
  /** Opens the models on a connection with a transaction, for `inTransaction`. */
  holdModels(connection: pg.PoolClient): Promise<HeldModels>;
  /** Reads by the pool and its models. */
  primary: Reader;
  /** Standbys that market data may be read from; null = none. */
  replicas: Replicas | null;
  /** Result of `readFrom` during a read of several statements; null = any usable reader. */
  reader: Reader | null;
  /** The view of the request that it is read for; null = what is read need not be of one commit. */
  view: ReadView | null;
  /** Set if data is read as it was known at an instant; null = as it is now. */
  known: AsKnown | null;
  /** Where a request reads that found no view of one commit; null = it has none. */
  snapshot: Snapshot | null;
  snapshots: Snapshots;
  /** Decoded blocks of this process, and what is held under a version. */
  blocks: BlockCache;
  /** The versions of the data known to this process (`watchChanges`). */
  versions: DataVersions;
  /** Currently failing writes, with the reason. */
  writes: WriteWatch;
  /** The nodes with its tables. */
  cluster: Cluster;
  /**
   * True if the clock of its reader is in a past session, whose bars are stored whole: prices are shown up to the last
   * second that has ended.
   */
  endedBarsOnly: boolean;
  /** True if minutes have prices of extended hours, which differ from those of the day. */
  extendedBars: boolean;
  /** Time for which rows that a later generation replaced are kept, ms; 0 = they are not. */
  keepSupersededMs: number;
  /** Schema of its tables. */
  schema: string;
  /** Names of the migrations that were applied on opening; empty if the store was at the code's version. */
  migrated: string[];
  /** Ends every connection; the last process to leave an embedded server stops it. Idempotent. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** A PostgreSQL server; null = the embedded one under `dataDir`. */
  databaseUrl: string | null;
  /** Folder of the embedded store; not used with `databaseUrl`. */
  dataDir: string;
  /**
   * True (default) to apply missing migrations; false: a store that lacks some is rejected. A newer store is rejected
   * either way.
   */
  migrate?: boolean;
  /** Called with a line to log. */
  log?: (line: string) => void;
  /** Standbys of the server of `databaseUrl`, for reading market data. */
  readUrls?: readonly string[];
  /** Maximum number of connections to each server; default 16. */
  poolSize?: number;
  /**
   * Maximum time of one statement, ms; 0, or absent = unlimited. PostgreSQL ends longer ones; if it does not even
   * report that, the connection is closed a second later. Migrations are not limited.
   */
  statementTimeoutMs?: number;
  /**
   * True to show prices up to the last second that has ended; false, or absent: everything stored of the bar in
   * progress.
   */
  endedBarsOnly?: boolean;
  /** True if stock tapes give minutes prices of extended hours; false if absent. */
  extendedBars?: boolean;
  /** As of `Store`; default 90 days. */
  keepSupersededMs?: number;
  /** Called for every statement, for metrics and traces. */
  onStatement?: StatementObserver | undefined;
  /** Maximum size of cached decoded blocks, bytes; default 64 MiB. */
  cacheBytes?: number;
  /** Aborted when the store is no longer needed: an open that waits for the embedded server rejects. */
  stop?: AbortSignal;
}

/**
 * The reader for market data of a subject and symbols; null = any symbol. Data of accounts, and data about to be
 * written, is read from `store.pool`. The current request's answer depends on the data from here on. Throws if that
 * request is over.
 */
export function readFrom(store: Store, subject: Subject, symbols: Iterable<string> | null): Reader {
  currentRequest()?.requireClient();
  const { view } = store;
  for (const symbol of symbols ?? [null]) {
    dependOn(store, subject, symbol);
    view?.useFresh(subject, symbol);
  }
  return view?.reader ?? store.reader ?? store.replicas ?? store.primary;
}

/**
 * The version of a symbol's data, or of all symbols' for null; call it before the data is read. Null = the data may not
 * be cached. The current request's answer depends on it: it is cached only while the version is unchanged.
 */
export function dependOn(
  { versions, view, snapshot, known }: Store,
  subject: Subject,
  symbol: string | null,
): number | null {
  if (symbol !== null) view?.use(subject, symbol);
  // A snapshot may be older than what is known now.
  const version = snapshot === null ? versions.of(subject, symbol) : null;
  const { dependencies } = currentRequest() ?? {};
  dependencies?.add(versions, subject, symbol, known ? known.versionOf(subject, symbol) : version);
  if (known) dependencies?.add(versions, 'known', null, known.versionOf('known', null));
  return version;
}

/** The store for one request: several statements never read older data than earlier ones. */
export function readingTogether(store: Store): Store {
  return store.replicas ? { ...store, reader: store.replicas.together() } : store;
}

/** The store for one request, in which all that is read of a symbol is of one commit, if it is (`isOfOneCommit`). */
export function withView(store: Store): Store & { view: ReadView } {
  const { versions, blocks, replicas, primary } = store;
  const reader = replicas?.together() ?? primary;
  // A standby may lack a commit that was read elsewhere. If it then replays it while a view reads, the view ends with
  // the commit that it began with, and has read what was before it.
  const sawCommits = (from: Reader) => replicas?.sawChange(from);
  return { ...store, view: new ReadView({ versions, blocks, reader, sawCommits }) };
}

/** The store for one request that reads market data from a snapshot alone. */
export function withSnapshot(store: Store): Store & { snapshot: Snapshot } {
  const snapshot = store.snapshots.lease();
  const { reader } = snapshot;
  return { ...store, view: null, snapshot, reader, primary: reader, replicas: null };
}

function settingsOf({
  endedBarsOnly = false,
  extendedBars = false,
  keepSupersededMs = usualKeepSupersededMs,
}: StoreOptions) {
  return { endedBarsOnly, extendedBars, keepSupersededMs };
}

const ofNoRequest = { reader: null, view: null, known: null, snapshot: null };

/** Joins or starts the embedded server, whose code others do not load. */
async function embeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { openEmbeddedServer } = await import('../embedded/embedded-server.ts');
  return openEmbeddedServer(options);
}

/** Opens the store: the server of `databaseUrl`, or the embedded one, brought to the code's version. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const {
    databaseUrl,
    dataDir,
    readUrls = [],
    migrate: apply = true,
    log = () => {},
    cacheBytes = 64 * 1024 * 1024,
    stop,
  } = options;
  const shown = readUrls.map(addressOf);
  const embedded = databaseUrl === null ? await embeddedServer({ dataDir, log, stop }) : null;
  const connection = primaryConnection(embedded?.connection ?? { connectionString: databaseUrl! });
  const openPool = poolOpener(options);
  const pool = openPrimaryPool(connection, openPool, log);
  try {
    const schema = await reach(pool, databaseUrl);
    const cluster = await openCluster(pool);
    const migrated = (await isMigrated(pool)) ? [] : await migrateWithoutLimits(connection, { apply, log });
    const prisma = openPrisma(pool, schema);
    const primary = readerOf(pool, prisma, cluster);
    const standbys = readUrls.map((url, index) => replicaPools(shown[index]!, url, openPool, { schema, cluster }));
    const replicas = standbys.length === 0 ? null : new Replicas({ primary, pool }, standbys, log);
    return {
      prisma: primary.prisma,
      pool,
      holdModels: prisma.hold,
      ...settingsOf(options),
      primary,
      replicas,
      ...ofNoRequest,
      snapshots: new Snapshots({ pool, hold: prisma.hold, cluster }, options.poolSize ?? usualPoolSize),
      blocks: createBlockCache(cacheBytes),
      versions: new DataVersions(),
      writes: watchWrites(),
      cluster,
      schema,
      migrated,
      close: once(async () => {
        await Promise.all([pool.end(), replicas?.close()]);
        await prisma.close();
        await embedded?.close();
      }),
    };
  } catch (error) {
    await pool.end();
    await embedded?.close();
    throw error;
  }
}

function primaryConnection(to: pg.PoolConfig): pg.PoolConfig {
  return { ...to, application_name: 'tapegraph', connectionTimeoutMillis: 10_000, keepAlive: true, types };
}

/** Time for which replaced rows are kept, ms. */
const usualKeepSupersededMs = 90 * dayMs;

/** Connections of a pool. */
const usualPoolSize = 16;

type OpenPool = (to: pg.PoolConfig) => pg.Pool;

/** Opens pools of the size, and with the limits and the observer, that the options say. */
function poolOpener({ poolSize = usualPoolSize, statementTimeoutMs = 0, onStatement }: StoreOptions): OpenPool {
  return (to) => {
    const limited = { ...to, ...limits(statementTimeoutMs), max: poolSize };
    return survivingLosses(
      onStatement ? observedPool(limited, onStatement) : new pg.Pool({ ...limited, Client: PooledClient }),
    );
  };
}

function openPrimaryPool(connection: pg.PoolConfig, openPool: OpenPool, log: (line: string) => void): pg.Pool {
  const pool = openPool(connection);
  // A connection that dies while idle is replaced at the next use; without a listener it would end the process.
  pool.on('error', (error) => log(`A database connection was lost: ${error.message}`));
  return pool;
}

function readerOf(pool: pg.Pool, { models }: PrismaOverPool, cluster: Cluster): Reader {
  return cluster.reader({ query: pool.query.bind(pool) as Reader['query'], prisma: readModels(models) });
}

function limits(statementTimeoutMs: number): pg.PoolConfig {
  if (statementTimeoutMs === 0) return {};
  return { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + 1000 };
}

// A connection that dies while it is lent, between two statements, says so by an event for which the pool no longer
// listens, and for which there is no other listener yet: it would end the process. The next statement fails, and the
// pool drops the connection.
function survivingLosses(pool: pg.Pool): pg.Pool {
  return pool.on('connect', (client) => client.on('error', () => {}));
}

// Another process may be migrating, which is awaited, and changing a large table takes time.
async function migrateWithoutLimits(connection: pg.PoolConfig, options: MigrateOptions): Promise<string[]> {
  const pool = survivingLosses(new pg.Pool({ ...connection, max: 1 }));
  pool.on('error', () => {});
  try {
    return await migrate(pool, options);
  } finally {
    await pool.end();
  }
}

const int8 = 20;

// Raw SQL reads BIGINT as a checked number. Prisma uses its own parsers and returns bigint.
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === int8 && format !== 'binary'
      ? (text: string) => toNumber(BigInt(text))
      : pg.types.getTypeParser(oid, format),
};

/**
 * Resolves when the database answers; rejects if it does not within 2 s of getting a connection, or if none is
 * available.
 */
export async function pingDatabase({ pool }: Store): Promise<void> {
  // A separate limit: the store's is for statements that do something, and may be absent.
  await pool.query({ text: 'SELECT 1', query_timeout: 2000 } as pg.QueryConfig);
}

/** Connects to the database. Returns the schema with its tables. */
async function reach(pool: pg.Pool, databaseUrl: string | null): Promise<string> {
  try {
    const { rows } = await pool.query<{ schema: string | null }>('SELECT current_schema() AS schema');
    return rows[0]!.schema ?? 'public';
  } catch (error) {
    if (databaseUrl === null) throw error;
    throw storeError(`The database of DATABASE_URL cannot be used: ${connectionFailure(error)}`, error);
  }
}

/** The address of a standby without secrets. */
function addressOf(connectionString: string, index: number): string {
  try {
    const { host, port, database } = new pg.Client({ connectionString });
    return `${host.startsWith('/') ? host : `${host}:${port}`}/${database}`;
  } catch (error) {
    const { message } = error as Error;
    throw storeError(
      `DATABASE_READ_URLS: URL ${index + 1} cannot be read: ${message}. Expected postgres://user:password@host:port/database, special characters percent-encoded.`,
      error,
    );
  }
}

function replicaPools(
  shown: string,
  connectionString: string,
  openPool: OpenPool,
  { schema, cluster }: { schema: string; cluster: Cluster },
): ReplicaPools {
  const to = { connectionString, connectionTimeoutMillis: 2000, keepAlive: true, types };
  const pool = openPool({ ...to, application_name: 'tapegraph reader' });
  const probe = survivingLosses(new pg.Pool({ ...to, max: 1, application_name: 'tapegraph probe' }));
  // The probe shows whether it is there.
  for (const each of [pool, probe]) each.on('error', () => {});
  const prisma = openPrisma(pool, schema);
  const close = async () => {
    await Promise.all([pool.end(), probe.end()]);
    await prisma.close();
  };
  return Object.assign(readerOf(pool, prisma, cluster), { probe, shown, close });
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => {
    done ??= work();
    return done;
  };
}
