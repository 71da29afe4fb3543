import { poolOf } from '../../access/limits/rate.ts';
import type { Access } from '../../access/open-access.ts';
import { regularSession, sessionOf } from '../../core/domain/calendar.ts';
import type { LiveHub } from '../../live/hub.ts';
import type { Config } from '../../platform/config/config.ts';
import type { DataAges, Metrics } from '../../platform/observe/metrics.ts';
import { answersOf } from '../../platform/observe/metrics-answer.ts';
import type { Traces } from '../../platform/observe/tracing.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { productVersion } from '../../platform/runtime/product-version.ts';
import { newestData } from '../../store/market/data-ages.ts';
import type { Store } from '../../store/rows/connection.ts';
import { writeProbe } from '../../store/rows/probe-write.ts';
import type { StatementObserver } from '../../store/rows/timed-client.ts';
import { failedAssertions } from '../../store/series/assertions.ts';
import { listen, stop, urlOf } from './listen.ts';
import type { Closer } from './shutdown.ts';

/** Time for which ages of data are cached, ms, so that frequent scrapes cost the database one query. */
const agesCachedMs = 15_000;

/** The metrics by the settings; null = none, and nothing is measured. */
export async function metricsOf({ metricsPort, metricsToken }: Config): Promise<Metrics | null> {
  if (metricsPort === null && metricsToken === null) return null;
  // Loaded lazily, since most servers have none.
  const { createMetrics } = await import('../../platform/observe/metrics.ts');
  return createMetrics(productVersion);
}

/** The traces by the settings; null = none, and no module of them is loaded. */
export async function tracesOf({ traces }: Config, log: (line: string) => void): Promise<Traces | null> {
  if (traces === null) return null;
  const { createTraces } = await import('../../platform/observe/traces.ts');
  return createTraces(traces, productVersion, log);
}

const verbs: ReadonlySet<string> = new Set(['select', 'insert', 'update', 'delete', 'begin', 'commit', 'rollback']);

/** The verb a statement begins with, to label statements with a few names; `with` may begin any statement. */
function verbOf(text: string): string {
  const word = /^\s*(\w{1,10})/.exec(text)?.[1]?.toLowerCase() ?? '';
  return verbs.has(word) ? word : 'other';
}

/** Reports the duration of statements to metrics. */
export function timedBy(metrics: Metrics): StatementObserver {
  return (text) => {
    const startedMs = performance.now();
    return (failed) => metrics.statement(verbOf(text), (performance.now() - startedMs) / 1000, failed);
  };
}

/** Reports each statement to metrics and traces; undefined without either. */
export function statementObserver(metrics: Metrics | null, traces: Traces | null): StatementObserver | undefined {
  const observers = [...(metrics ? [timedBy(metrics)] : []), ...(traces ? [traces.statement] : [])];
  if (observers.length < 2) return observers[0];
  return (text) => {
    const ends = observers.map((observe) => observe(text));
    return (failed) => {
      for (const end of ends) end(failed);
    };
  };
}

/** `access`, wrapped to count rejected requests in the metrics. */
export function withLimitMetrics(metrics: Metrics, access: Access): Access {
  return {
    ...access,
    rate: {
      ...access.rate,
      async consume(caller, cost) {
        const state = await access.rate.consume(caller, cost);
        if (!state.allowed) metrics.refused('rate', poolOf(caller));
        return state;
      },
    },
    inFlight: {
      async acquire(caller) {
        const lease = await access.inFlight.acquire(caller);
        if (lease === null) metrics.refused('in_flight', caller.tier);
        return lease;
      },
    },
  };
}

/**
 * Ages of the newest data by dataset, s, while the market is open by the clock `now`; looked up at most every quarter
 * of a minute.
 */
export function dataAges(store: Store, now: Clock): DataAges {
  let cached: { atMs: number; newest: ReturnType<typeof newestData> } | null = null;
  return async () => {
    const nowMs = now();
    const session = sessionOf(nowMs);
    const hours = regularSession(session);
    if (hours === null || nowMs < hours.openMs || nowMs >= hours.closeMs) return {};
    const elapsedMs = performance.now();
    if (cached === null || elapsedMs - cached.atMs > agesCachedMs)
      cached = { atMs: elapsedMs, newest: newestData(store, session) };
    const found = Object.entries(await cached.newest).filter(([, atMs]) => atMs !== null);
    return Object.fromEntries(found.map(([dataset, atMs]) => [dataset, Math.max(0, (nowMs - atMs) / 1000)]));
  };
}

/** Sources of metrics. */
interface Watched {
  store: Store;
  access: Access;
  live: Pick<LiveHub, 'counts'>;
  config: Config;
  now: Clock;
}

/** Lets metrics read the state of a server's parts. */
export function watchBy(metrics: Metrics, { store, access, live, config, now }: Watched): void {
  const { pool } = store;
  metrics.watch({
    database: () => ({
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: pool.options.max,
    }),
    streams: () => live.counts(),
    redis: () => (config.redisUrl === null ? null : access.sharesLimits()),
    dataAges: dataAges(store, now),
    writes: {
      ...store.writes,
      tryWriting: writeProbe(store, () => performance.now()),
      usage: () => access.usage.waiting(),
    },
    failedAssertions,
  });
  metrics.watchCache('blocks', store.blocks.stats);
}

/** Serves metrics on a port of their own, if one is configured. Returns its address, and how to close it. */
export async function serveMetrics(
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  { metricsPort, metricsHost, metricsToken }: Pick<Config, 'metricsPort' | 'metricsHost' | 'metricsToken'>,
  chosenBy = 'METRICS_PORT',
): Promise<{ closer: Closer; url: string } | null> {
  if (metricsPort === null) return null;
  const listening = await listen(answersOf(metrics, metricsToken), { port: metricsPort, host: metricsHost, chosenBy });
  return { closer: { name: 'metrics', close: () => stop(listening, 500) }, url: `${urlOf(listening.address)}/metrics` };
}
