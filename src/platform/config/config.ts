import { resolve } from 'node:path';
import { z } from 'zod';
import { isTrustedProxy, trustedProxyExpected } from '../http/client-address.ts';
import { dayMs } from '../runtime/clock.ts';
import { leastMemoryBytes, readByteSize } from '../runtime/memory-plan.ts';
import { defaultRates, type Rates } from './tiers.ts';
import {
  connections,
  days,
  headersOf,
  host,
  isOrigin,
  isWorkers,
  list,
  milliseconds,
  perMinute,
  port,
  redisUrl,
  trueOrFalse,
  urlOf,
  wholeNumber,
  workersExpected,
} from './values.ts';

/** Callers that may see the names of source files: everybody, attested accounts, nobody. */
const provenances = ['public', 'account', 'off'] as const;
export type Provenance = (typeof provenances)[number];

/** Data that a source can provide (spec 4: a route whose source is not configured answers 503). */
export const sourceNames = ['bars', 'chain', 'option_tape', 'stock_tape', 'option_bars'] as const;
type SourceName = (typeof sourceNames)[number];

/** Log levels, most verbose first. */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

/** Forms of the log: a sentence per line, or a JSON object per line. */
const logFormats = ['text', 'json'] as const;

/** Documents that `/graphql` runs. */
const graphDocuments = ['any', 'trusted'] as const;

/** Destination of traces, and their sampling. */
export interface TraceSettings {
  /** URL of a collector for OTLP over HTTP. */
  url: string;
  headers: Record<string, string>;
  serviceName: string;
  /** Traced share of the requests that belong to no caller's trace, 0 to 1. */
  ratio: number;
}

/** All validated settings of a server. Null = not set. */
export interface Config {
  /** Absolute path of the folder with the embedded store and the sample files. */
  dataDir: string;
  /** TCP port; 0 lets the system choose one. */
  port: number;
  host: string;
  /**
   * Time for which a server continues to accept requests after the signal to stop, ms, so that load balancers notice.
   */
  drainDelayMs: number;
  /** Maximum bytes of a GraphQL answer. */
  answerMaxBytes: number;
  /** Maximum processing time of a GraphQL answer, ms, without the time it waits in the queue. */
  answerTimeoutMs: number;
  /** Processes that serve the port together; `auto` = one per processor. */
  workers: number | 'auto';
  /** Memory limit of all processes of a server together, bytes; null = the container's limit, or 512 MiB each. */
  memoryLimitBytes: number | null;
  /** URL of a PostgreSQL server; null = the embedded one. */
  databaseUrl: string | null;
  /** URLs of its standbys, from which market data is read; empty = none. */
  databaseReadUrls: string[];
  /** Maximum time of one database statement, ms; 0 = unlimited. */
  databaseTimeoutMs: number;
  /** Shares rate and in-flight limits between processes; null = each process counts for itself. */
  redisUrl: string | null;
  /** HS256 secret of site sessions. At most one of this and `sessionJwksUrl` is set. */
  sessionSecret: string | null;
  /** URL of the public keys of site sessions. */
  sessionJwksUrl: string | null;
  /** Required `iss` of a session token; null = any. */
  sessionIssuer: string | null;
  /** Required `aud` of a session token; null = any. */
  sessionAudience: string | null;
  /** Maximum lifetime of a session token, hours. */
  sessionMaxHours: number;
  /** Requests per minute of each tier, and of an address without a credential. */
  rates: Rates;
  /** True if a stock tape makes bars of extended hours too. */
  extendedBars: boolean;
  /** Number of days for which prints of a tape file wait for the tape of their session. */
  keepRemainderDays: number;
  /** Time for which data that a later generation replaced is kept, ms; 0 = it is not. */
  keepSupersededMs: number;
  /** Maximum number of rows in the journal of an account: trades, accounts and imports. */
  journalMaxRows: number;
  /** Maximum number of saved screens of an account. */
  maxSavedScreens: number;
  /** Maximum number of concurrent streams of one key, or of one account for sessions, in each process. */
  maxStreams: number;
  /** Maximum number of connections, in each process; null = as many as the open-file limit allows. */
  maxConnections: number | null;
  /** Maximum number of these for one client address; null = a quarter. */
  maxConnectionsPerAddress: number | null;
  /** Prefix of the headers that carry `meta` beside protobuf, lower case. */
  metaHeaderPrefix: string;
  /** Origins whose pages may read answers; empty = none. */
  corsOrigins: string[];
  /** Proxies whose forwarding headers are trusted, in the form of `clientAddressOf`; empty = none. */
  trustedProxies: string[];
  logLevel: LogLevel;
  /** Format of the log; null = sentences on a terminal, JSON elsewhere. */
  logFormat: (typeof logFormats)[number] | null;
  /** TCP port of `/metrics`; 0 lets the system choose one, null = none of its own. */
  metricsPort: number | null;
  metricsHost: string;
  /** Token required to read `/metrics`. Without one, the server's own port has no metrics. */
  metricsToken: string | null;
  /** Destination of traces; null = tracing is off. */
  traces: TraceSettings | null;
  sources: Record<SourceName, boolean>;
  provenance: Provenance;
  /** Address for reports of vulnerabilities; null = `security.txt` is not served. */
  securityContact: string | null;
  /** Absolute path of the folder of the operator's routes; null = none. */
  routesDir: string | null;
  /** Documents that `/graphql` runs: any, or those of the routes' folder alone. */
  graphDocuments: (typeof graphDocuments)[number];
  /** True if `/graphql` is a subgraph of Apollo Federation. */
  federation: boolean;
}

/** Settings that the command line can override. */
export interface ConfigOverrides {
  dataDir?: string | undefined;
  port?: number | undefined;
  host?: string | undefined;
  workers?: string | undefined;
  routes?: string | undefined;
}

/** Thrown for invalid settings. The message has a line for each, naming the variable and what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const variables = z.object({
  TAPEGRAPH_DATA: z.string().default('.data'),
  PORT: port.default(4000),
  DRAIN_DELAY_MS: milliseconds(600_000).default(0),
  ANSWER_MAX_BYTES: wholeNumber(65_536, 33_554_432, 'bytes, a whole number from 65536 to 33554432').default(
    32 * 1024 * 1024,
  ),
  ANSWER_TIMEOUT_MS: wholeNumber(100, 600_000, 'milliseconds, a whole number from 100 to 600000').default(10_000),
  HOST: host.default('127.0.0.1'),
  WORKERS: z
    .string()
    .refine(isWorkers, { error: `expected ${workersExpected}` })
    .transform((text) => (text === 'auto' ? text : Number(text)))
    .default(1),
  MEMORY_LIMIT: z
    .string()
    .refine((text) => (readByteSize(text) ?? 0) >= leastMemoryBytes, {
      error: 'expected a size such as 512M or 2G, 384M or more',
    })
    .transform((text) => readByteSize(text)!)
    .nullable()
    .default(null),
  DATABASE_URL: z
    .string()
    // A user without a host (a Unix socket in a parameter) is PostgreSQL's own form, so it is not checked further.
    .regex(/^postgres(ql)?:\/\/\S+$/, { error: 'expected a URL that begins with postgres:// or postgresql://' })
    .nullable()
    .default(null),
  DATABASE_READ_URLS: z
    .string()
    // A URL may name several hosts, separated by commas: the next URL begins with its protocol.
    .transform((text) => text.split(/\s*,\s*(?=postgres(?:ql)?:\/\/)/))
    .refine((urls) => urls.every((url) => /^postgres(ql)?:\/\/\S+$/.test(url)), {
      error: 'expected URLs that begin with postgres:// or postgresql://, separated by commas',
    })
    .default([]),
  DATABASE_TIMEOUT_MS: milliseconds(3_600_000).default(15_000),
  REDIS_URL: redisUrl.nullable().default(null),
  SESSION_SECRET: z.string().nullable().default(null),
  SESSION_JWKS_URL: urlOf(['https:', 'http:']).nullable().default(null),
  SESSION_ISSUER: z.string().nullable().default(null),
  SESSION_AUDIENCE: z.string().nullable().default(null),
  SESSION_MAX_HOURS: wholeNumber(1, 87_600, 'hours, a whole number from 1 to 87600').default(720),
  RATE_FREE: perMinute.default(defaultRates.free),
  RATE_BASIC: perMinute.default(defaultRates.basic),
  RATE_PRO: perMinute.default(defaultRates.pro),
  RATE_ANONYMOUS: perMinute.default(defaultRates.anonymous),
  EXTENDED_BARS: trueOrFalse.default(false),
  KEEP_REMAINDERS: wholeNumber(1, 3650, 'days, a whole number from 1 to 3650').default(14),
  KEEP_SUPERSEDED: days.default(90 * dayMs),
  JOURNAL_MAX_ROWS: wholeNumber(1, 1_000_000_000, 'rows, a whole number from 1 to 1000000000').default(1_000_000),
  MAX_SAVED_SCREENS: wholeNumber(1, 10_000, 'screens, a whole number from 1 to 10000').default(100),
  MAX_STREAMS: wholeNumber(1, 1_000_000, 'streams at a time, a whole number from 1 to 1000000').default(100),
  MAX_CONNECTIONS: connections.nullable().default(null),
  MAX_CONNECTIONS_PER_ADDRESS: connections.nullable().default(null),
  META_HEADER_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9-]*$/i, { error: 'expected a header name prefix such as x-itm-' })
    .transform((text) => text.toLowerCase())
    .default('x-itm-'),
  CORS_ORIGINS: z
    .string()
    .transform(list)
    .refine((origins) => origins.every(isOrigin), {
      error: 'expected origins such as https://app.example.com, separated by commas',
    })
    .default([]),
  TRUSTED_PROXIES: z
    .string()
    .transform(list)
    .refine((entries) => entries.every(isTrustedProxy), { error: `expected ${trustedProxyExpected}` })
    .default([]),
  LOG_LEVEL: z.enum(logLevels, { error: `expected one of ${logLevels.join(', ')}` }).default('info'),
  LOG_FORMAT: z
    .enum(logFormats, { error: `expected one of ${logFormats.join(', ')}` })
    .nullable()
    .default(null),
  METRICS_PORT: port.nullable().default(null),
  METRICS_HOST: host.default('127.0.0.1'),
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, { error: 'expected 16 or more visible ASCII characters' })
    .nullable()
    .default(null),
  OTEL_EXPORTER_OTLP_ENDPOINT: urlOf(['http:', 'https:']).nullable().default(null),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .regex(/^\s*[\w.-]+\s*=([^,%]|%[\da-f]{2})*(,\s*[\w.-]+\s*=([^,%]|%[\da-f]{2})*)*$/i, {
      error: 'expected headers such as api-key=abc, separated by commas, with values percent-encoded',
    })
    .transform(headersOf)
    .default({}),
  OTEL_SERVICE_NAME: z.string().default('tapegraph'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .refine((text) => /^[\d.]+$/.test(text) && Number(text) <= 1, { error: 'expected a fraction from 0 to 1' })
    .transform(Number)
    .default(1),
  SOURCES: z
    .string()
    .transform((text) => (text === 'none' ? [] : list(text)))
    .pipe(
      z.array(
        z.enum(sourceNames, { error: `expected none, or some of ${sourceNames.join(', ')}, separated by commas` }),
      ),
    )
    .default([...sourceNames]),
  PROVENANCE: z.enum(provenances, { error: `expected one of ${provenances.join(', ')}` }).default('account'),
  SECURITY_CONTACT: z
    .string()
    .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, {
      error: 'expected an address such as mailto:security@example.com or https://example.com/security',
    })
    .nullable()
    .default(null),
  ROUTES_DIR: z.string().nullable().default(null),
  GRAPH_DOCUMENTS: z.enum(graphDocuments, { error: `expected ${graphDocuments.join(' or ')}` }).default('any'),
  FEDERATION: trueOrFalse.default(false),
});

/** The name of an environment variable that Tapegraph reads. */
export type VariableName = keyof typeof variables.shape;

/** The environment variables that Tapegraph reads. */
export const variableNames = Object.keys(variables.shape) as VariableName[];

/** Variables whose values are never repeated in a message or a log. */
const secretVariables: ReadonlySet<string> = new Set([
  'DATABASE_URL',
  'DATABASE_READ_URLS',
  'REDIS_URL',
  'SESSION_SECRET',
  'METRICS_TOKEN',
  'OTEL_EXPORTER_OTLP_HEADERS',
]);

function complaints(error: z.ZodError, given: Record<string, string>): string[] {
  const seen = new Map<string, string>();
  for (const issue of error.issues) {
    const variable = String(issue.path[0]);
    const value = secretVariables.has(variable) ? '' : `, got ${JSON.stringify((given[variable] ?? '').slice(0, 80))}`;
    if (!seen.has(variable)) seen.set(variable, `${variable}: ${issue.message}${value}`);
  }
  return [...seen.values()];
}

function tracesOf(settings: z.infer<typeof variables>): TraceSettings | null {
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === null) return null;
  return {
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: settings.OTEL_EXPORTER_OTLP_HEADERS,
    serviceName: settings.OTEL_SERVICE_NAME,
    ratio: settings.OTEL_TRACES_SAMPLER_ARG,
  };
}

const sourcesOf = ({ SOURCES }: Pick<z.infer<typeof variables>, 'SOURCES'>) =>
  Object.fromEntries(sourceNames.map((name) => [name, SOURCES.includes(name)])) as Record<SourceName, boolean>;

function configOf(settings: z.infer<typeof variables>): Config {
  return {
    dataDir: resolve(settings.TAPEGRAPH_DATA),
    port: settings.PORT,
    host: settings.HOST,
    workers: settings.WORKERS,
    drainDelayMs: settings.DRAIN_DELAY_MS,
    answerMaxBytes: settings.ANSWER_MAX_BYTES,
    answerTimeoutMs: settings.ANSWER_TIMEOUT_MS,
    memoryLimitBytes: settings.MEMORY_LIMIT,
    databaseUrl: settings.DATABASE_URL,
    databaseReadUrls: settings.DATABASE_READ_URLS,
    databaseTimeoutMs: settings.DATABASE_TIMEOUT_MS,
    redisUrl: settings.REDIS_URL,
    sessionSecret: settings.SESSION_SECRET,
    sessionJwksUrl: settings.SESSION_JWKS_URL,
    sessionIssuer: settings.SESSION_ISSUER,
    sessionAudience: settings.SESSION_AUDIENCE,
    sessionMaxHours: settings.SESSION_MAX_HOURS,
    rates: {
      free: settings.RATE_FREE,
      basic: settings.RATE_BASIC,
      pro: settings.RATE_PRO,
      anonymous: settings.RATE_ANONYMOUS,
    },
    extendedBars: settings.EXTENDED_BARS,
    keepRemainderDays: settings.KEEP_REMAINDERS,
    keepSupersededMs: settings.KEEP_SUPERSEDED,
    journalMaxRows: settings.JOURNAL_MAX_ROWS,
    maxSavedScreens: settings.MAX_SAVED_SCREENS,
    maxStreams: settings.MAX_STREAMS,
    maxConnections: settings.MAX_CONNECTIONS,
    maxConnectionsPerAddress: settings.MAX_CONNECTIONS_PER_ADDRESS,
    metaHeaderPrefix: settings.META_HEADER_PREFIX,
    corsOrigins: settings.CORS_ORIGINS,
    trustedProxies: settings.TRUSTED_PROXIES,
    logLevel: settings.LOG_LEVEL,
    logFormat: settings.LOG_FORMAT,
    metricsPort: settings.METRICS_PORT,
    metricsHost: settings.METRICS_HOST,
    metricsToken: settings.METRICS_TOKEN,
    traces: tracesOf(settings),
    sources: sourcesOf(settings),
    provenance: settings.PROVENANCE,
    securityContact: settings.SECURITY_CONTACT,
    graphDocuments: settings.GRAPH_DOCUMENTS,
    federation: settings.FEDERATION,
    routesDir: settings.ROUTES_DIR === null ? null : resolve(settings.ROUTES_DIR),
  };
}

/**
 * Reads the settings from `env`. `overrides` (the command line) win: a variable that they replace is not validated. An
 * empty variable counts as not set, as compose files leave them. A relative data folder starts at the working
 * directory. Throws a `ConfigError` that names every invalid variable.
 */
export function readConfig(env: Record<string, string | undefined>, overrides: ConfigOverrides = {}): Config {
  const replaced: Partial<Record<string, string | undefined>> = {
    TAPEGRAPH_DATA: overrides.dataDir,
    PORT: overrides.port?.toString(),
    HOST: overrides.host,
    WORKERS: overrides.workers,
    ROUTES_DIR: overrides.routes,
  };
  const given: Record<string, string> = {};
  for (const name of variableNames) {
    const text = (replaced[name] ?? env[name] ?? '').trim();
    if (text !== '') given[name] = text;
  }
  const read = variables.safeParse(given);
  if (!read.success) throw new ConfigError(complaints(read.error, given).join('\n'));
  const settings = read.data;
  if (settings.DATABASE_READ_URLS.length > 0 && settings.DATABASE_URL === null)
    throw new ConfigError('DATABASE_READ_URLS: expected together with DATABASE_URL, the server of these standbys');
  if (settings.GRAPH_DOCUMENTS === 'trusted' && settings.ROUTES_DIR === null)
    throw new ConfigError('GRAPH_DOCUMENTS: trusted needs ROUTES_DIR, the folder with the documents');
  if (settings.GRAPH_DOCUMENTS === 'trusted' && settings.FEDERATION)
    throw new ConfigError(
      'FEDERATION: expected false with GRAPH_DOCUMENTS=trusted, since a router makes its documents',
    );
  if (settings.SESSION_SECRET !== null && settings.SESSION_JWKS_URL !== null) {
    throw new ConfigError('SESSION_JWKS_URL: set either SESSION_SECRET or SESSION_JWKS_URL, not both');
  }
  return configOf(settings);
}
