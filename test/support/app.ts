import http from 'node:http';
import { Writable } from 'node:stream';
import type { Logger } from 'pino';
import { type Access, openAccess } from '../../src/access/open-access.ts';
import { connectionLimits, listen, urlOf } from '../../src/cli/server/listen.ts';
import { loadGraph } from '../../src/cli/server/load-gateway.ts';
import { withLimitMetrics } from '../../src/cli/server/observing.ts';
import type { SymbolEntry } from '../../src/core/domain/market/symbol.ts';
import { type Every, LiveHub, type Pace } from '../../src/live/hub.ts';
import { type Config, readConfig } from '../../src/platform/config/config.ts';
import { secretsOf } from '../../src/platform/config/printed-settings.ts';
import type { Classification, Tier } from '../../src/platform/config/tiers.ts';
import type { ServerLimits } from '../../src/platform/http/server-limits.ts';
import type { MarketLoading } from '../../src/platform/observe/health.ts';
import { openLog } from '../../src/platform/observe/log.ts';
import type { Metrics } from '../../src/platform/observe/metrics.ts';
import type { Traces } from '../../src/platform/observe/tracing.ts';
import type { RouteFiles } from '../../src/rest/own/route-files.ts';
import { compileContract } from '../../src/rest/route-table.ts';
import { createApp } from '../../src/server.ts';
import { saveSymbols } from '../../src/store/market/symbols.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { watchChanges } from '../../src/store/versions/announcements.ts';
import { type TestStore, testStore } from './store.ts';

/** JSON as it came. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
export type Json = any;

/** An answer as it came over the wire. */
export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  bytes: Buffer;
  /** The body as JSON; undefined when it is none. */
  body: Json;
}

export interface Sending {
  /** A key or a session token; null sends none. Without it, a pro, attested key is used. */
  credential?: string | null;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Content-Type of the body; application/json unless given. */
  contentType?: string;
}

export interface AccountOptions {
  siteTier?: Tier;
  apiTier?: Tier;
  classification?: Classification | null;
}

/** The built application on a loopback port, over a store of its own. */
export interface TestApp {
  store: TestStore;
  access: Access;
  live: LiveHub;
  /** The server's clock, epoch ms; set it to travel. */
  clock: { nowMs: number };
  url: string;
  get(path: string, sending?: Sending): Promise<Answer>;
  send(method: string, path: string, sending?: Sending): Promise<Answer>;
  graphql(
    query: string,
    variables?: Record<string, unknown>,
    sending?: Sending,
  ): Promise<{ data: Json; errors?: Json[]; extensions?: Json; answer: Answer }>;
  /** A new account's id. */
  account(options?: AccountOptions): Promise<string>;
  /** A new API key, of a new account with these options. */
  key(options?: AccountOptions): Promise<string>;
  /** A new site-session token, of a new account with these options. */
  session(options?: AccountOptions): Promise<string>;
  /** Serves other routes of the operator. Throws if a file does not fit. */
  replaceRoutes(files: Record<string, string>): void;
  close(): Promise<void>;
}

/** Files of a folder of routes, by name. */
export function routeFiles(files: Record<string, string>): RouteFiles {
  const all = Object.entries(files).map(([name, text]) => ({ name, text }));
  const isDocument = ({ name }: { name: string }) => name.endsWith('.graphql');
  return { documents: all.filter(isDocument), json: all.filter((file) => !isDocument(file)) };
}

/** The registry the tests speak of: one symbol for each kind of entitlement, and a ticker outside the registry. */
export const testSymbols: SymbolEntry[] = [
  entry('SPY', { instrumentType: 'etf', sector: 'Funds' }),
  entry('AAPL', { sector: 'Technology' }),
  entry('MSFT', { sector: 'Technology', minTier: 'basic' }),
  entry('NVDA', { sector: 'Technology', minTier: 'pro' }),
  entry('XOM', { sector: 'Energy' }),
  entry('BRK.B', {}),
  entry('SPX', { class: 'index', minTier: 'pro', requiresAttestation: true, instrumentType: 'index' }),
  entry('XSP', { class: 'index', minTier: 'free', requiresAttestation: true, instrumentType: 'index' }),
  entry('ZZZ', { registered: false }),
];

function logOf(config: Config, lines: string[] = []): Logger {
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return openLog({ level: config.logLevel, secrets: secretsOf(config) }, stream);
}

function entry(symbol: string, change: Partial<SymbolEntry>): SymbolEntry {
  return {
    symbol,
    name: `${symbol} Inc.`,
    class: 'equity',
    registered: true,
    windowDays: 60,
    tenorFrame: 'weekly',
    minTier: 'free',
    requiresAttestation: false,
    sector: null,
    instrumentType: 'common_equity',
    ...change,
  };
}

// Over all applications of a process, which may share a store.
let accounts = 0;

/** Compiled contracts, by what they are made from. */
const contracts = new Map<string | null, ReturnType<typeof compileContract>>();

function contractOf(config: Config): ReturnType<typeof compileContract> {
  const contract = contracts.get(config.metaHeaderPrefix) ?? compileContract(config);
  contracts.set(config.metaHeaderPrefix, contract);
  return contract;
}

/** Starts the application. Close it: `afterAll(() => app.close())`. */
export async function testApp(
  options: {
    nowMs?: number;
    env?: Record<string, string>;
    store?: TestStore;
    symbols?: SymbolEntry[];
    sampleKey?: string;
    /** Loading state of the sample market; complete by default. */
    loading?: () => Promise<MarketLoading | null>;
    /** The timers of streams; the system's unless given. */
    every?: Every;
    /** The clock of replays; the system's unless given. */
    pace?: Pace;
    /** Gets the log's lines, at the level of `env`; without it there is no log. */
    logLines?: string[];
    metrics?: Metrics;
    traces?: Traces;
    /** Limits of clients that differ from the default. */
    limits?: Partial<ServerLimits>;
    /** Files of the operator's routes, by name. */
    routes?: Record<string, string>;
  } = {},
): Promise<TestApp> {
  const store = options.store ?? (await testStore());
  await inTransaction(store, (tx) => saveSymbols(tx, options.symbols ?? testSymbols));
  const clock = { nowMs: options.nowMs ?? Date.parse('2026-11-20T17:00Z') };
  const now = () => clock.nowMs;
  const config = readConfig({
    RATE_FREE: '1000000',
    RATE_BASIC: '1000000',
    RATE_PRO: '1000000',
    RATE_ANONYMOUS: '1000000',
    SESSION_SECRET: 'a secret for tests, long enough for HS256',
    LOG_LEVEL: 'silent',
    ...options.env,
  });
  const opened = await openAccess({ store, config, now });
  const access = options.metrics ? withLimitMetrics(options.metrics, opened) : opened;
  const changes = await watchChanges(store);
  const { every, pace } = options;
  const live = new LiveHub({ store, now, changes, onError: () => {}, ...(every && { every }), ...(pace && { pace }) });
  let replaceRoutes: (files: RouteFiles) => void = () => {};
  const app = createApp({
    config,
    live,
    store,
    access,
    now,
    log: logOf(config, options.logLines),
    metrics: options.metrics ?? null,
    traces: options.traces ?? null,
    // A traced contract is compiled with its traces.
    contract: options.traces ? undefined : contractOf(config),
    sampleKey: options.sampleKey ?? null,
    graph: await loadGraph(config),
    ...(options.loading && { loading: options.loading }),
    ...(options.routes && {
      ownRoutes: {
        files: routeFiles(options.routes),
        onReplace: (take) => {
          replaceRoutes = take;
        },
      },
    }),
  });
  const limits = { connections: connectionLimits(config), ...options.limits };
  const { server, address } = await listen(app, { port: 0, host: '127.0.0.1', limits });
  const url = urlOf(address);
  let usual: Promise<string> | null = null;

  const made: Omit<TestApp, 'get' | 'graphql'> = {
    store,
    access,
    live,
    clock,
    url,
    async account({ siteTier = 'pro', apiTier = 'pro', classification = 'non_professional' } = {}) {
      const id = `account-${++accounts}`;
      await access.accounts.set(id, { siteTier, apiTier, classification });
      return id;
    },
    async key(account) {
      const accountId = await made.account(account);
      return (await access.keys.create({ accountId, name: null, expiresAt: null })).key;
    },
    async session(account) {
      return access.sessions.create(await made.account(account), 3_600_000);
    },
    async send(method, path, { credential, headers = {}, body, contentType = 'application/json' } = {}) {
      if (credential === undefined) usual ??= made.key();
      const sent = credential === undefined ? await usual! : credential;
      return exchange(
        url,
        method,
        path,
        {
          ...(sent === null ? {} : { authorization: `Bearer ${sent}` }),
          ...(body === undefined ? {} : { 'content-type': contentType }),
          ...headers,
        },
        body,
      );
    },
    replaceRoutes: (files) => replaceRoutes(routeFiles(files)),
    async close() {
      live.close();
      server.closeAllConnections();
      server.close();
      await access.close();
      await changes.stop();
      await store.close();
    },
  };
  return {
    ...made,
    get: (path, sending) => made.send('GET', path, sending),
    async graphql(query, variables, sending) {
      const answer = await made.send('POST', '/graphql', { ...sending, body: JSON.stringify({ query, variables }) });
      return { ...answer.body, answer };
    },
  };
}

/** One request over `http`, which, unlike `fetch`, shows a 304 as it is. */
function exchange(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string | Buffer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(new URL(url).origin + path, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const isJson =
          /[/+]json\b/.test(response.headers['content-type'] ?? '') && !response.headers['content-encoding'];
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          bytes,
          body: isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined,
        });
      });
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}
