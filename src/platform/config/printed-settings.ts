import { dayMs } from '../runtime/clock.ts';
import { type Config, sourceNames, type VariableName } from './config.ts';

// Passwords are before the last @, or in a parameter. Matched by pattern, because PostgreSQL's URLs are not always
// valid URLs.
function maskUrl(text: string | null): string | null {
  return (
    text?.replace(/^(\w+:\/\/[^:@/?#]*):.*@/, '$1:***@').replace(/([?&][^=&]*pass[^=&]*=)[^&]*/gi, '$1***') ?? null
  );
}

const describeTraces = ({ traces }: Config) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: maskUrl(traces?.url.replace(/\/v1\/traces$/, '') ?? null),
  OTEL_EXPORTER_OTLP_HEADERS: Object.keys(traces?.headers ?? {}).length > 0 ? 'set' : null,
  OTEL_SERVICE_NAME: traces?.serviceName ?? 'tapegraph',
  OTEL_TRACES_SAMPLER_ARG: traces?.ratio ?? 1,
});

/** The settings by variable name, safe to show: passwords of URLs are masked, secrets read `set`. Null = not set. */
export function describeConfig(config: Config): Record<VariableName, string | number | string[] | null> {
  return {
    TAPEGRAPH_DATA: config.dataDir,
    PORT: config.port,
    DRAIN_DELAY_MS: config.drainDelayMs,
    ANSWER_MAX_BYTES: config.answerMaxBytes,
    ANSWER_TIMEOUT_MS: config.answerTimeoutMs,
    HOST: config.host,
    WORKERS: config.workers,
    MEMORY_LIMIT: config.memoryLimitBytes,
    DATABASE_URL: maskUrl(config.databaseUrl),
    DATABASE_READ_URLS: config.databaseReadUrls.map((url) => maskUrl(url)!),
    DATABASE_TIMEOUT_MS: config.databaseTimeoutMs,
    REDIS_URL: maskUrl(config.redisUrl),
    SESSION_SECRET: config.sessionSecret === null ? null : 'set',
    SESSION_JWKS_URL: maskUrl(config.sessionJwksUrl),
    SESSION_ISSUER: config.sessionIssuer,
    SESSION_AUDIENCE: config.sessionAudience,
    SESSION_MAX_HOURS: config.sessionMaxHours,
    RATE_FREE: config.rates.free,
    RATE_BASIC: config.rates.basic,
    RATE_PRO: config.rates.pro,
    RATE_ANONYMOUS: config.rates.anonymous,
    EXTENDED_BARS: String(config.extendedBars),
    KEEP_REMAINDERS: config.keepRemainderDays,
    KEEP_SUPERSEDED: `${config.keepSupersededMs / dayMs}d`,
    JOURNAL_MAX_ROWS: config.journalMaxRows,
    MAX_SAVED_SCREENS: config.maxSavedScreens,
    MAX_STREAMS: config.maxStreams,
    MAX_CONNECTIONS: config.maxConnections,
    MAX_CONNECTIONS_PER_ADDRESS: config.maxConnectionsPerAddress,
    META_HEADER_PREFIX: config.metaHeaderPrefix,
    CORS_ORIGINS: config.corsOrigins,
    TRUSTED_PROXIES: config.trustedProxies,
    LOG_LEVEL: config.logLevel,
    LOG_FORMAT: config.logFormat,
    METRICS_PORT: config.metricsPort,
    METRICS_HOST: config.metricsHost,
    METRICS_TOKEN: config.metricsToken === null ? null : 'set',
    ...describeTraces(config),
    SOURCES: sourceNames.filter((name) => config.sources[name]),
    PROVENANCE: config.provenance,
    SECURITY_CONTACT: config.securityContact,
    ROUTES_DIR: config.routesDir,
    GRAPH_DOCUMENTS: config.graphDocuments,
    FEDERATION: String(config.federation),
  };
}

function passwordIn(url: string | null): string[] {
  // Matched by pattern, as in `maskUrl`; encoded or not.
  const found =
    url === null ? undefined : (/^\w+:\/\/[^:@/?#]*:(.*)@/.exec(url)?.[1] ?? /[?&]password=([^&]*)/i.exec(url)?.[1]);
  return found ? [found, ...(found.includes('%') ? [decodeURIComponent(found)] : [])] : [];
}

/** The values that no log may contain. */
export function secretsOf({
  databaseUrl,
  databaseReadUrls,
  redisUrl,
  sessionSecret,
  sessionJwksUrl,
  metricsToken,
  traces,
}: Config): string[] {
  const plain = [sessionSecret, metricsToken].filter((secret) => secret !== null);
  const urls = [databaseUrl, ...databaseReadUrls, redisUrl, sessionJwksUrl, traces?.url ?? null];
  return [...plain, ...Object.values(traces?.headers ?? {}), ...urls.flatMap(passwordIn)];
}

/** The settings that resolvers read. */
export const serviceSettings = ({ sources, journalMaxRows, maxSavedScreens, provenance }: Config) => ({
  sources,
  journalMaxRows,
  maxSavedScreens,
  provenance,
});
