import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { LocalLimits } from '../../access/limits/limits-by-message.ts';
import type { Config } from '../../config/config.ts';
import type { LiveHub } from '../../live/hub.ts';
import type { Metrics } from '../../observe/metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { MemoryPlan } from '../../runtime/memory-plan.ts';
import type { SampleShape } from '../../sample/market/plan.ts';
import type { CompiledContract } from '../../server.ts';
import type { Store } from '../../store/engine/connection.ts';
import type { StatementObserver } from '../../store/engine/timed-client.ts';
import { type Terminal, unlessInterrupted } from '../io/terminal.ts';
import { lineLog } from '../line-log.ts';
import { connectionLimits } from './connection-limits.ts';
import { type Listening, listen, stop, urlOf } from './listen.ts';
import { loadGateway } from './load-gateway.ts';
import { metricsOf, serveMetrics, statementObserver, tracesOf, watchBy, withLimitMetrics } from './observing.ts';
import { alwaysOpen, bringSample, startLiveSample } from './sample.ts';
import { type Closer, closeAll } from './shutdown.ts';

/** A server that is to run. */
export interface Gateway {
  terminal: Terminal;
  config: Config;
  options: {
    sample?: boolean;
    alwaysOpen?: boolean;
    spareWorker?: boolean;
    /** A smaller sample market, for tests. */
    sampleShape?: SampleShape;
  };
  /** True if the clock was set to another time: no bar is shown before its end. */
  endedBarsOnly: boolean;
  /** The clock the server was asked to run by, which `alwaysOpen` may set forward. */
  clock: Clock;
  log: Logger;
  /** Of each process that answers requests. */
  memory: MemoryPlan;
  /** Absent: this process is the whole server. */
  worker?: WorkerPart;
}

/**
 * What one of several processes that serve together is given by the one that started them, which has prepared the
 * store.
 */
export interface WorkerPart {
  /** The counts that all of them share. */
  limits: LocalLimits;
  /** The sample market's key; null without one. */
  key: string | null;
  /** Database connections at most. */
  poolSize: number;
  /** What was compiled before the worker got its task, if it was. */
  contract: CompiledContract | undefined;
}

/** A server that runs; `key` = the sample market's, null without one. */
export interface Opened {
  listening: Listening;
  live: LiveHub;
  key: string | null;
  now: Clock;
  /** Resolves when the key is of use: the sample market's latest session is stored; null = it is. */
  latest: Promise<void> | null;
}

/** Resolves when the process is asked to end. */
export function untilInterrupted({ interrupted }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.aborted) resolve();
    interrupted.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Says so when another server uses the store and nothing makes the two count limits together. */
export async function warnOfOthers(store: Store, { redisUrl }: Config, log: Logger): Promise<void> {
  const { othersListen } = await import('../../store/engine/notifications.ts');
  if (redisUrl === null && (await othersListen(store)))
    log.warn(
      'another server uses this database and REDIS_URL is not set: each server counts rate and in-flight limits on its own',
    );
}

/** How long requests in flight may take to finish when the server is stopped, ms. */
const graceMs = 5000;
/** How long closing everything may take, including those requests, ms. A little later the process exits in any case. */
export const shutdownMs = 8500;

async function openStoreOf(
  { terminal, config, log, memory, worker, endedBarsOnly }: Gateway,
  onStatement: StatementObserver | undefined,
): Promise<Store> {
  const { databaseUrl, dataDir, databaseReadUrls: readUrls, databaseTimeoutMs: statementTimeoutMs } = config;
  const { openStore } = await import('../../store/engine/connection.ts');
  return openStore({
    databaseUrl,
    dataDir,
    readUrls,
    statementTimeoutMs,
    onStatement,
    endedBarsOnly,
    cacheBytes: memory.caches.blocks,
    log: lineLog(log),
    stop: terminal.interrupted,
    ...(worker && { migrate: false, poolSize: worker.poolSize }),
  });
}

/** Begins to open the store, for which few modules are needed. It is closed at the end, once it has been opened. */
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

/** Measures a server, and serves the metrics on their own port if it is set. */
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

/** Opens what a server needs and lets it listen; everything that was opened is in `closers`, also when this throws. */
async function open(gateway: Gateway, closers: Closer[]): Promise<Opened> {
  const { terminal, config, options, clock, log, memory, worker } = gateway;
  const line = lineLog(log);
  const metrics = await metricsOf(config);
  const traces = await tracesOf(config, line);
  if (traces) closers.push({ name: 'traces', close: traces.close, atMostMs: 1500 });
  // An embedded database starts, and recovers, while the rest is loaded and compiled.
  const opening = beginStore(gateway, statementObserver(metrics, traces), closers);
  const modules = await loadGateway();
  const { watchChanges, ensureStarterRegistry, openAccess, openLiveHub, createApp, loadArrow } = modules;
  const { watchSampleLoading } = await import('../../ingest/sample-metadata.ts');
  // What is traced is compiled with its traces.
  const contract = worker?.contract ?? (traces ? undefined : modules.compileContract(config));
  const store = await opening;
  const now = options.alwaysOpen ? await alwaysOpen(store, clock) : clock;
  if (!worker) await ensureStarterRegistry(store, now);
  if (!worker) await warnOfOthers(store, config, log);
  const changes = await watchChanges(store);
  closers.push({ name: 'the listener for changes', close: changes.stop, atMostMs: 1000 });
  const opened = await openAccess({ store, config, now, log: line, ...(worker && { limits: worker.limits }) });
  closers.push({ name: 'usage counts', close: () => opened.close(), atMostMs: 3000 });
  const access = metrics ? withLimitMetrics(metrics, opened) : opened;
  const sample = options.sample ? { terminal, config, store, access, now, log, shape: options.sampleShape } : null;
  const served = sample && (await bringSample(sample));
  if (served) closers.push(served.closer);
  const key = worker?.key ?? served?.key ?? null;
  // Other data revokes it in the transaction that stores it, and this process is notified of the change.
  if (key !== null) changes.onChange(() => access.keys.forget(key));
  const draining = () => terminal.interrupted.aborted;
  const onError = (failure: Error) => log.warn({ err: failure.cause ?? failure }, `streams: ${failure.message}`);
  const live = openLiveHub({ store, now, changes, onError });
  const { caches } = memory;
  const shown = { config, log, metrics, traces, caches, contract };
  const loading = key === null ? undefined : watchSampleLoading(store);
  const parts = { ...shown, store, access, now, draining, live, sampleKey: key, ...(loading && { loading }) };
  if (metrics) await startMetrics(metrics, gateway, { store, access, live, now }, closers);
  const { port, host } = config;
  const limits = { connections: connectionLimits(config) };
  const listening = await listen(createApp(parts), { port, host, limits, shared: worker !== undefined });
  metrics?.watchConnections(listening.counts);
  // Streams do not end by themselves: they are ended before requests in flight are waited for.
  closers.push({ name: 'requests in flight', begin: live.close, close: () => stop(listening, graceMs) });
  // A tenth of a second of the event loop, that nobody who asks for Arrow is to wait for.
  void loadArrow();
  if (sample && served) closers.push(startLiveSample(sample, served.whole));
  return { listening, live, key, now, latest: served?.latest ?? null };
}

/** Calls `onReady` once the server has something to answer with; that it waits is logged. */
async function announceWhenReady(opened: Opened, log: Logger, onReady: (opened: Opened) => void): Promise<void> {
  const { latest, listening } = opened;
  if (latest) log.info(`listening on ${urlOf(listening.address)} while the sample market is loaded`);
  await latest;
  onReady(opened);
}

/**
 * Runs a server, calls `onReady` when it takes requests, and ends when the process is stopped. Then `/readyz` says so,
 * streams end, and every answer says that its connection ends with it; after the configured delay no more requests are
 * taken, those in flight finish, and everything is closed, usage counts first.
 */
export async function runGateway(gateway: Gateway, onReady: (opened: Opened) => void): Promise<void> {
  const { terminal, config, log } = gateway;
  const { interrupted } = terminal;
  const endAtLatest = () => terminal.endWithin?.(config.drainDelayMs + shutdownMs + 500);
  interrupted.addEventListener('abort', endAtLatest, { once: true });
  const closers: Closer[] = [];
  try {
    const opened = await open(gateway, closers);
    await unlessInterrupted(terminal, announceWhenReady(opened, log, onReady));
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
