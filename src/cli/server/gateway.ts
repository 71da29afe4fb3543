import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { LocalLimits } from '../../access/limits/limits-by-message.ts';
import type { SampleShape } from '../../intake/sample/market/plan.ts';
import type { LiveHub } from '../../live/hub.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Metrics } from '../../platform/observe/metrics.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { MemoryPlan } from '../../platform/runtime/memory-plan.ts';
import type { CompiledContract } from '../../rest/route-table.ts';
import type { OwnRoutesSource } from '../../server.ts';
import type { Store } from '../../store/rows/connection.ts';
import type { StatementObserver } from '../../store/rows/timed-client.ts';
import { type Terminal, unlessInterrupted, untilInterrupted } from '../io/terminal.ts';
import { lineLog } from '../line-log.ts';
import { connectionLimits, type ListenAt, type Listening, listen, stop, urlOf } from './listen.ts';
import { loadGateway, loadGraph } from './load-gateway.ts';
import { metricsOf, serveMetrics, statementObserver, tracesOf, watchBy, withLimitMetrics } from './observing.ts';
import { alwaysOpen, bringSample, startLiveSample } from './sample.ts';
import { type Closer, closeAll, shutdownMs } from './shutdown.ts';

/** A process that answers requests. */
export interface Gateway {
  terminal: Terminal;
  config: Config;
  /** True if the clock was set to another time: bars are shown only once they end. */
  endedBarsOnly: boolean;
  /** The requested clock of the server, which `alwaysOpen` may set forward. */
  clock: Clock;
  log: Logger;
  memory: MemoryPlan;
  /** Its role besides answering. */
  part: LeadPart | FollowerPart;
  /** Counts shared by all processes of the server; absent: its own. */
  limits?: LocalLimits;
  /** Maximum number of database connections; absent: the store's default. */
  poolSize?: number;
  /** The precompiled contract. */
  contract?: CompiledContract | undefined;
  /** The operator's routes; null, or absent: there are none. */
  ownRoutes?: OwnRoutesSource | null;
  /** Set if other processes of the server listen at the port too, or the parent process holds its socket. */
  port?: Pick<ListenAt, 'shared' | 'socket'>;
}

/** The role of the first of a server's processes: it prepares the store for all, and loads the sample market. */
export interface LeadPart {
  sample: boolean;
  alwaysOpen: boolean;
  /** False if it replaces one that ended. */
  isFirst: boolean;
  /** A smaller sample market, for tests. */
  sampleShape?: SampleShape;
}

/** The role of the others, which start when the first listens; `key` = the sample market's, null without one. */
export interface FollowerPart {
  key: string | null;
}

/** Events of a process for its parent. */
export interface GatewayEvents {
  /** Called when it accepts requests. */
  onListening?: (opened: Opened) => void;
  /** Called when it has data: the latest session of a sample market is stored. */
  onReady: (opened: Opened) => void;
}

/** A running server; `key` = the sample market's, null without one. */
export interface Opened {
  listening: Listening;
  live: LiveHub;
  key: string | null;
  now: Clock;
  /** Resolves when the sample market's latest session is stored, so that the key is of use; null = already. */
  latest: Promise<void> | null;
}

/** Warns if another server uses the store and the two do not count limits together. */
async function warnOfOthers(store: Store, { redisUrl }: Config, log: Logger): Promise<void> {
  const { othersListen } = await import('../../store/versions/notifications.ts');
  if (redisUrl === null && (await othersListen(store)))
    log.warn(
      'another server uses this database and REDIS_URL is not set: each server counts rate and in-flight limits on its own',
    );
}

/** Time from the start of a server to its loading of the table formats, ms. */
const tableFormatsAfterMs = 10_000;

/** Time for requests in flight to finish when the server is stopped, ms. */
const graceMs = 5000;

function isLead(part: Gateway['part']): part is LeadPart {
  return 'isFirst' in part;
}

async function openStoreOf(
  { terminal, config, log, memory, part, poolSize, endedBarsOnly }: Gateway,
  onStatement: StatementObserver | undefined,
): Promise<Store> {
  const { databaseUrl, dataDir, databaseReadUrls: readUrls, databaseTimeoutMs: statementTimeoutMs } = config;
  const { extendedBars, keepSupersededMs } = config;
  const options = {
    databaseUrl,
    dataDir,
    readUrls,
    statementTimeoutMs,
    onStatement,
    endedBarsOnly,
    extendedBars,
    keepSupersededMs,
    cacheBytes: memory.caches.blocks,
    log: lineLog(log),
    stop: terminal.interrupted,
    ...(poolSize !== undefined && { poolSize }),
  };
  if (isLead(part)) {
    const { openCurrentStore } = await import('../../store/current-store.ts');
    return openCurrentStore(options);
  }
  // The lead has already brought it up to date.
  const { openStore } = await import('../../store/rows/connection.ts');
  return openStore({ ...options, migrate: false });
}

/** Starts to open the store, which requires few modules. It is closed at the end, once it has been opened. */
function beginStore(gateway: Gateway, onStatement: StatementObserver | undefined, closers: Closer[]): Promise<Store> {
  const opening = openStoreOf(gateway, onStatement);
  const close = () =>
    opening.then(
      (store) => store.close(),
      () => {},
    );
  closers.push({ name: 'the store', close });
  // A failure is handled where the store is awaited.
  opening.catch(() => {});
  return opening;
}

/** Creates the metrics of a server, and serves them on their own port if one is set. */
async function startMetrics(
  metrics: Metrics,
  { config, log, memory }: Gateway,
  watched: Omit<Parameters<typeof watchBy>[1], 'config'>,
  closers: Closer[],
): Promise<void> {
  metrics.memory(memory);
  watchBy(metrics, { ...watched, config });
  const served = await serveMetrics(metrics, config);
  if (!served) return;
  closers.push(served.closer);
  log.info(`metrics are at ${served.url}`);
}

/** Returns the loading state of the sample market. Its modules are loaded only for the few servers that show it. */
async function watchLoading(store: Store) {
  const { watchSampleLoading } = await import('../../intake/ingest/sample-metadata.ts');
  return watchSampleLoading(store);
}

/** Opens everything a server requires and listens. Everything opened is in `closers`, also if this throws. */
async function open(gateway: Gateway, closers: Closer[]): Promise<Opened> {
  const { terminal, config, clock, log, memory, part, limits, ownRoutes = null } = gateway;
  const lead = isLead(part) ? part : null;
  const line = lineLog(log);
  const metrics = await metricsOf(config);
  const traces = await tracesOf(config, line);
  if (traces) closers.push({ name: 'traces', close: traces.close, atMostMs: 1500 });
  // An embedded database starts, and recovers, while the rest is loaded and compiled.
  const opening = beginStore(gateway, statementObserver(metrics, traces), closers);
  const modules = await loadGateway();
  // A start that is stopped compiles nothing.
  terminal.interrupted.throwIfAborted();
  const { watchChanges, ensureStarterRegistry, openAccess, LiveHub, createApp, loadTableFormats } = modules;
  // A traced contract is compiled with its traces.
  const contract = gateway.contract ?? (traces ? undefined : modules.compileContract(config));
  const store = await opening;
  const now = lead?.alwaysOpen ? await alwaysOpen(store, clock) : clock;
  if (lead) await ensureStarterRegistry(store, now);
  if (lead?.isFirst) await warnOfOthers(store, config, log);
  const changes = await watchChanges(store);
  closers.push({ name: 'the listener for changes', close: changes.stop, atMostMs: 1000 });
  const opened = await openAccess({ store, config, now, log: line, ...(limits && { limits }) });
  closers.push({ name: 'usage counts', close: () => opened.close(), atMostMs: 3000 });
  const access = metrics ? withLimitMetrics(metrics, opened) : opened;
  const sample = lead?.sample ? { terminal, config, store, access, now, log, shape: lead.sampleShape } : null;
  const served = sample && (await bringSample(sample));
  if (served) closers.push(served.closer);
  const key = isLead(part) ? (served?.key ?? null) : part.key;
  // Other data revokes it in the transaction that stores it, and this process is notified of the change.
  if (key !== null) changes.onChange(() => access.keys.forget(key));
  const draining = () => terminal.interrupted.aborted;
  const onError = (failure: Error) => log.warn({ err: failure.cause ?? failure }, `streams: ${failure.message}`);
  const live = new LiveHub({ store, now, changes, onError });
  const { caches } = memory;
  const graph = await loadGraph(config);
  const shown = { config, log, metrics, traces, caches, contract, ownRoutes, graph };
  const loading = key === null ? undefined : await watchLoading(store);
  const parts = { ...shown, store, access, now, draining, live, sampleKey: key, ...(loading && { loading }) };
  if (metrics) await startMetrics(metrics, gateway, { store, access, live, now }, closers);
  const { port, host } = config;
  const taken = { connections: connectionLimits(config) };
  const listening = await listen(createApp(parts), { port, host, limits: taken, ...gateway.port });
  metrics?.watchConnections(listening.counts);
  // Streams do not end by themselves: they are ended before requests in flight are waited for.
  closers.push({ name: 'requests in flight', begin: () => live.close(), close: () => stop(listening, graceMs) });
  // A tenth of a second of the event loop: neither while the server starts, nor in the first request for Arrow.
  setTimeout(loadTableFormats, tableFormatsAfterMs).unref();
  if (sample && served) closers.push(startLiveSample(sample, served.whole));
  return { listening, live, key, now, latest: served?.latest ?? null };
}

/** Calls `onReady` once the server has data, and logs the wait. */
async function announceWhenReady(opened: Opened, log: Logger, { onListening, onReady }: GatewayEvents): Promise<void> {
  const { latest, listening } = opened;
  onListening?.(opened);
  if (latest) log.info(`listening on ${urlOf(listening.address)} while the sample market is loaded`);
  await latest;
  onReady(opened);
}

/**
 * Runs a server, reports its state to `events`, and ends when the process is stopped. Then `/readyz` says so, streams
 * end, and every answer closes its connection; after the configured delay no more requests are accepted, those in
 * flight finish, and everything is closed, usage counts first.
 */
export async function runGateway(gateway: Gateway, events: GatewayEvents): Promise<void> {
  const { terminal, config, log } = gateway;
  const { interrupted } = terminal;
  const endAtLatest = () => terminal.endWithin?.(config.drainDelayMs + shutdownMs + 500);
  interrupted.addEventListener('abort', endAtLatest, { once: true });
  const closers: Closer[] = [];
  try {
    const opened = await open(gateway, closers);
    await unlessInterrupted(terminal, announceWhenReady(opened, log, events));
    await untilInterrupted(terminal);
    log.info('stopping');
    opened.listening.drain.start();
    opened.live.drain();
    await delay(config.drainDelayMs);
  } catch (error) {
    // A server that is stopped while it starts ends like any other.
    if (!interrupted.aborted) throw error;
  } finally {
    for (const { begin } of closers) begin?.();
    const left = await closeAll(closers, shutdownMs, () => performance.now());
    for (const { name, reason } of left) log.warn({ reason }, `not finished: ${name}`);
    if (interrupted.aborted && left.length > 0) terminal.endWithin?.(0);
  }
}
