import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ServerCounts } from '../http/server-limits.ts';
import type { MemoryPlan } from '../runtime/memory-plan.ts';
import type { CacheStats } from '../wire/response-cache.ts';
import type { Ended, RequestObserver } from './requests.ts';

/** Sources of metrics. */
interface Measured {
  /** Database connections: all, the idle ones, and the number of requests that wait for one. */
  database: () => { total: number; idle: number; waiting: number; max: number };
  /** Number of open streams, and of topics that at least one of them follows. */
  streams: () => { streams: number; topics: number };
  /** Null = no Redis is configured. */
  redis: () => boolean | null;
  dataAges: DataAges;
  writes: WriteFailures;
  /** Failed assertions on blocks of the store, by kind of block and `write` or `read`. */
  failedAssertions: () => readonly { kind: string; when: string; count: number }[];
}

/** The metrics of one process. */
export interface Metrics {
  requests: RequestObserver;
  /** Counts a request rejected because the caller's rate (`rate`) or in-flight slots (`in_flight`) were used up. */
  refused(limit: 'rate' | 'in_flight', tier: string): void;
  /** Counts a database statement and its duration, s. `verb` is an SQL verb, lower case. */
  statement(verb: string, seconds: number, failed: boolean): void;
  /** Reads these sources whenever metrics are read; call it once. */
  watch(measured: Measured): void;
  /** Reads the effects of the server's limits whenever metrics are read; call it once. */
  watchConnections(counts: () => ServerCounts): void;
  /** Reads a cache's figures whenever metrics are read. */
  watchCache(name: string, stats: () => CacheStats): void;
  /** Reports the memory plan of the process. */
  memory(plan: MemoryPlan): void;
  /** All metrics in Prometheus's text format. */
  text(): Promise<string>;
  contentType: string;
}

// Buckets, s, from answers out of memory to those that a caller gives up on.
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Maximum number of distinct combinations of scope groups; callers choose them, so they must be bounded. */
const mostOperations = 60;

/** Labels the first `most` values by name, and later ones as `other`. */
function bounded(most: number): (value: string) => string {
  const seen = new Set<string>();
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= most) return 'other';
    seen.add(value);
    return value;
  };
}

function requestMetrics(registers: Registry[]): RequestObserver {
  const inFlight = new Gauge({
    name: 'tapegraph_http_requests_in_flight',
    help: 'Requests in progress.',
    registers,
  });
  const total = new Counter({
    name: 'tapegraph_http_requests_total',
    help: 'Requests answered, by route, method, status and the error code of the contract (empty: none).',
    labelNames: ['route', 'method', 'status', 'code'],
    registers,
  });
  const took = new Histogram({
    name: 'tapegraph_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its answer. Streams are not counted.',
    labelNames: ['route', 'method'],
    buckets: seconds,
    registers,
  });
  const bytes = new Counter({
    name: 'tapegraph_http_response_bytes_total',
    help: 'Bytes sent, headers included.',
    labelNames: ['route'],
    registers,
  });
  const cost = new Counter({
    name: 'tapegraph_request_cost_total',
    help: 'Requests charged against rate limits. A GraphQL request can cost several.',
    labelNames: ['tier'],
    registers,
  });
  const operation = operationMetrics(registers);
  return () => {
    inFlight.inc();
    return (ended) => {
      const { route, method, details } = ended;
      inFlight.dec();
      const status = ended.aborted ? 'aborted' : String(ended.status);
      total.inc({ route, method, status, code: details.code ?? '' });
      bytes.inc({ route }, ended.bytes);
      if (!ended.stream) took.observe({ route, method }, ended.tookMs / 1000);
      if (details.cost !== undefined) cost.inc({ tier: details.tier ?? '' }, details.cost);
      if (details.groups) operation(ended);
    };
  };
}

function operationMetrics(registers: Registry[]): (ended: Ended) => void {
  const labelNames = ['operation', 'groups'];
  const took = new Histogram({
    name: 'tapegraph_graphql_operation_duration_seconds',
    help: `Requests to /graphql by kind of operation and the scope groups of its fields (the first ${mostOperations} combinations, the rest are "other").`,
    labelNames,
    buckets: seconds,
    registers,
  });
  const errors = new Counter({
    name: 'tapegraph_graphql_operation_errors_total',
    help: 'GraphQL answers with errors, by the code of the first error.',
    labelNames: [...labelNames, 'code'],
    registers,
  });
  const named = bounded(mostOperations);
  return ({ details, tookMs, stream }) => {
    const labels = {
      operation: details.operation ?? 'query',
      groups: named((details.groups ?? []).toSorted().join('+') || 'none'),
    };
    if (!stream) took.observe(labels, tookMs / 1000);
    if (details.code !== undefined) errors.inc({ ...labels, code: details.code });
  };
}

function processMetrics(registers: Registry[], version: string): void {
  new Gauge({
    name: 'tapegraph_build_info',
    help: 'Always 1; the labels give the version.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.versions.node }, 1);
  let last = performance.eventLoopUtilization();
  new Gauge({
    name: 'tapegraph_event_loop_utilization',
    help: 'Fraction of the time since the last scrape that the event loop was busy, 0 to 1.',
    registers,
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  });
}

function watch(registers: Registry[], measured: Measured): void {
  new Gauge({
    name: 'tapegraph_redis_up',
    help: '1 while the configured Redis is reachable; 0 while it is not and each process counts limits on its own. Absent without Redis.',
    registers,
    collect() {
      this.reset();
      const up = measured.redis();
      if (up === null) this.remove();
      else this.set(up ? 1 : 0);
    },
  });
  new Counter({
    name: 'tapegraph_assertions_failed_total',
    help: 'Blocks of the store in which a figure was wrong, by kind of block: rejected when written, or not served when read.',
    labelNames: ['kind', 'when'],
    registers,
    collect() {
      this.reset();
      for (const { kind, when, count } of measured.failedAssertions()) this.inc({ kind, when }, count);
    },
  });
  watchDataAges(registers, measured.dataAges);
  watchWriteFailures(registers, measured.writes);
  watchStreams(registers, measured);
  watchDatabase(registers, measured);
}

function watchStreams(registers: Registry[], { streams }: Measured): void {
  const gauge = (name: string, help: string, of: 'streams' | 'topics') =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(streams()[of]);
      },
    });
  gauge('tapegraph_streams_open', 'Open subscriptions and streams.', 'streams');
  gauge(
    'tapegraph_stream_topics',
    'Topics followed for open streams. A topic is read once for all its subscribers.',
    'topics',
  );
}

function watchDatabase(registers: Registry[], measured: Measured): void {
  new Gauge({
    name: 'tapegraph_database_connections',
    help: 'Database connections by state: in use, idle, and the maximum.',
    labelNames: ['state'],
    registers,
    collect() {
      const { total, idle, max } = measured.database();
      this.set({ state: 'used' }, total - idle);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'max' }, max);
    },
  });
  new Gauge({
    name: 'tapegraph_database_waiting',
    help: 'Requests waiting for a database connection.',
    registers,
    collect() {
      this.set(measured.database().waiting);
    },
  });
}

function statementMetrics(registers: Registry[]): Metrics['statement'] {
  const took = new Histogram({
    name: 'tapegraph_database_statement_duration_seconds',
    help: 'Duration of database statements by verb, from sending to the answer.',
    labelNames: ['verb'],
    buckets: seconds,
    registers,
  });
  const failures = new Counter({
    name: 'tapegraph_database_statement_failures_total',
    help: 'Database statements that failed or timed out.',
    labelNames: ['verb'],
    registers,
  });
  return (verb, tookSeconds, failed) => {
    took.observe({ verb }, tookSeconds);
    if (failed) failures.inc({ verb });
  };
}

function cacheMetrics(registers: Registry[]): Metrics['watchCache'] {
  const caches = new Map<string, () => CacheStats>();
  const counter = (name: string, help: string, of: 'hits' | 'misses') =>
    new Counter({
      name,
      help,
      labelNames: ['cache'],
      registers,
      // The counts are made elsewhere; metrics only report them.
      collect() {
        this.reset();
        for (const [cache, stats] of caches) this.inc({ cache }, stats()[of]);
      },
    });
  counter('tapegraph_cache_hits_total', 'Cache hits: answers of REST and GraphQL, or decoded blocks.', 'hits');
  counter('tapegraph_cache_misses_total', 'Cache misses.', 'misses');
  new Gauge({
    name: 'tapegraph_cache_bytes',
    help: 'Size of a cache.',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const [cache, stats] of caches) this.set({ cache }, stats().bytes);
    },
  });
  new Gauge({
    name: 'tapegraph_cache_max_bytes',
    help: 'Maximum size of a cache, a fraction of the memory limit.',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const [cache, stats] of caches) this.set({ cache }, stats().maxBytes);
    },
  });
  return (name, stats) => void caches.set(name, stats);
}

function memoryMetrics(registers: Registry[]): Metrics['memory'] {
  const limit = new Gauge({
    name: 'tapegraph_memory_limit_bytes',
    help: 'Memory limit of the process and its origin: the setting, the cgroup, or the default.',
    labelNames: ['source'],
    registers,
  });
  new Gauge({
    name: 'tapegraph_heap_limit_bytes',
    help: 'Maximum heap size. V8 ends the process when the heap exceeds it.',
    registers,
  }).set(getHeapStatistics().heap_size_limit);
  return ({ source, limitBytes }) => limit.set({ source }, limitBytes);
}

/**
 * Creates the metrics of this process, beside those of Node itself (memory, garbage collection, delay of the event
 * loop).
 */
export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectNodeMetrics(registry);
  const refusals = new Counter({
    name: 'tapegraph_limited_total',
    help: 'Requests rejected with 429: the rate limit (rate) or the in-flight limit (in_flight).',
    labelNames: ['limit', 'tier'],
    registers,
  });
  processMetrics(registers, version);
  return {
    requests: requestMetrics(registers),
    refused: (limit, tier) => refusals.inc({ limit, tier }),
    statement: statementMetrics(registers),
    watch: (measured) => watch(registers, measured),
    watchConnections: (counts) => watchConnections(registers, counts),
    watchCache: cacheMetrics(registers),
    memory: memoryMetrics(registers),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Metrics of the connections of the server and of the effects of its limits. */
function watchConnections(registers: Registry[], counts: () => ServerCounts): void {
  new Gauge({
    name: 'tapegraph_connections',
    help: 'Client connections by state: with a request in progress (active) or without (idle).',
    labelNames: ['state'],
    registers,
    collect() {
      const { open, idle } = counts();
      this.set({ state: 'active' }, open - idle);
      this.set({ state: 'idle' }, idle);
    },
  });
  new Counter({
    name: 'tapegraph_connections_closed_total',
    help: 'Connections closed by a limit: refused over MAX_CONNECTIONS (total) or MAX_CONNECTIONS_PER_ADDRESS (address); idle ones closed to make room for others (idle); headers that took too long (late_headers); answers the client did not read (unread).',
    labelNames: ['limit'],
    registers,
    // The counts are made elsewhere; metrics only report them.
    collect() {
      this.reset();
      const { refused, evicted, lateHeaders, unreadAnswers } = counts();
      const closed = { ...refused, idle: evicted, late_headers: lateHeaders, unread: unreadAnswers };
      for (const [limit, count] of Object.entries(closed)) this.inc({ limit }, count);
    },
  });
  new Gauge({
    name: 'tapegraph_request_body_bytes',
    help: 'Bytes of request bodies being received.',
    registers,
    collect() {
      this.set(counts().bodyBytes);
    },
  });
}

/** Longest time for which a reader of metrics waits to learn whether writes work, ms. */
const patienceMs = 500;

/** A process's failed writes. */
interface WriteFailures {
  /** Determines whether writes work, unless that is known; may hang. Never rejects. */
  tryWriting: () => Promise<void>;
  /** Currently failing writers, each with the reason. */
  failing: () => ReadonlyMap<string, string>;
  /** Number of failures of each writer since the start. */
  failures: () => ReadonlyMap<string, number>;
  /** Number of unwritten rows of usage, and of requests that could not be counted because there were too many. */
  usage: () => { rows: number; lost: number };
}

/** Reports failing writes in the metrics. */
function watchWriteFailures(registers: Registry[], parts: WriteFailures): void {
  const { tryWriting, failing, failures, usage } = parts;
  new Gauge({
    name: 'tapegraph_writes_failing',
    help: '1 for each writer whose last write to the database failed, by cause.',
    labelNames: ['writer', 'problem'],
    registers,
    async collect() {
      await Promise.race([tryWriting(), delay(patienceMs, undefined, { ref: false })]);
      this.reset();
      for (const [writer, problem] of failing()) this.set({ writer, problem }, 1);
    },
  });
  new Counter({
    name: 'tapegraph_write_failures_total',
    help: 'Failed writes to the database: those that would fail for every write, and all of periodic writers.',
    labelNames: ['writer'],
    registers,
    collect() {
      this.reset();
      for (const [writer, count] of failures()) this.inc({ writer }, count);
    },
  });
  new Gauge({
    name: 'tapegraph_usage_rows_waiting',
    help: 'Usage counts (account, date, scope group) waiting to be written.',
    registers,
    collect() {
      this.set(usage().rows);
    },
  });
  new Counter({
    name: 'tapegraph_usage_lost_total',
    help: 'Requests not counted as usage because too many counts were waiting to be written.',
    registers,
    collect() {
      this.reset();
      this.inc(usage().lost);
    },
  });
}

/**
 * Collects Node's own metrics, except gauges named `_total`: Prometheus reserves that suffix for counters, and the
 * gauges of the same name without it have the same figures by type.
 */
export function collectNodeMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const type of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${type}_total`);
}

/** Age of the newest data by dataset, s; empty while the market is closed. Bounded in time. */
export type DataAges = () => Promise<Record<string, number>>;

/** Reports the ages of data whenever metrics are read; none if they cannot be determined. */
export function watchDataAges(registers: Registry[], dataAges: DataAges): void {
  new Gauge({
    name: 'tapegraph_data_age_seconds',
    help: 'Age of the latest stored data by dataset, by the clock of this process. Only while the market is open.',
    labelNames: ['dataset'],
    registers,
    async collect() {
      const ages = await dataAges().catch(() => ({}));
      this.reset();
      for (const [dataset, age] of Object.entries(ages)) this.set({ dataset }, age);
    },
  });
}
