import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig, variableNames } from '../../../src/platform/config/config.ts';
import { describeConfig } from '../../../src/platform/config/printed-settings.ts';

function complaint(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error(`expected ${JSON.stringify(env)} to be refused`);
}

describe('settings', () => {
  it('all have defaults', () => {
    expect(readConfig({})).toEqual({
      dataDir: resolve('.data'),
      port: 4000,
      host: '127.0.0.1',
      workers: 1,
      drainDelayMs: 0,
      answerMaxBytes: 32 * 1024 * 1024,
      answerTimeoutMs: 10_000,
      memoryLimitBytes: null,
      databaseUrl: null,
      databaseReadUrls: [],
      databaseTimeoutMs: 15_000,
      redisUrl: null,
      sessionSecret: null,
      sessionJwksUrl: null,
      sessionIssuer: null,
      sessionAudience: null,
      sessionMaxHours: 720,
      rates: { free: 60, basic: 300, pro: 600, anonymous: 60 },
      extendedBars: false,
      keepRemainderDays: 14,
      keepSupersededMs: 90 * 86_400_000,
      journalMaxRows: 1_000_000,
      maxSavedScreens: 100,
      provenance: 'account',
      routesDir: null,
      graphDocuments: 'any',
      federation: false,
      securityContact: null,
      maxStreams: 100,
      maxConnections: null,
      maxConnectionsPerAddress: null,
      metaHeaderPrefix: 'x-itm-',
      corsOrigins: [],
      trustedProxies: [],
      logLevel: 'info',
      logFormat: null,
      metricsPort: null,
      metricsHost: '127.0.0.1',
      metricsToken: null,
      traces: null,
      sources: { bars: true, chain: true, option_tape: true, stock_tape: true, option_bars: true },
    });
  });

  it('are read from the environment', () => {
    const config = readConfig({
      TAPEGRAPH_DATA: '/var/lib/tapegraph',
      PORT: '0',
      HOST: '::1',
      WORKERS: 'auto',
      DATABASE_URL: 'postgresql:///market?host=/var/run/postgresql',
      DATABASE_READ_URLS: 'postgres://one,two/market, postgresql://three/market',
      REDIS_URL: 'rediss://cache:6380/1',
      SESSION_SECRET: 's3cret',
      RATE_FREE: '1',
      RATE_BASIC: '2',
      RATE_PRO: '3',
      RATE_ANONYMOUS: '4',
      MAX_STREAMS: '4',
      MAX_CONNECTIONS: '5000',
      MAX_CONNECTIONS_PER_ADDRESS: '500',
      META_HEADER_PREFIX: 'X-TG-',
      CORS_ORIGINS: 'https://a.example, http://localhost:5173',
      TRUSTED_PROXIES: 'loopback, 10.0.0.0/8',
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'json',
      SOURCES: 'bars,chain',
    });
    expect(config).toMatchObject({
      dataDir: '/var/lib/tapegraph',
      port: 0,
      host: '::1',
      workers: 'auto',
      databaseUrl: 'postgresql:///market?host=/var/run/postgresql',
      databaseReadUrls: ['postgres://one,two/market', 'postgresql://three/market'],
      rates: { free: 1, basic: 2, pro: 3, anonymous: 4 },
      maxStreams: 4,
      maxConnections: 5000,
      maxConnectionsPerAddress: 500,
      metaHeaderPrefix: 'x-tg-',
      corsOrigins: ['https://a.example', 'http://localhost:5173'],
      trustedProxies: ['loopback', '10.0.0.0/8'],
      logLevel: 'debug',
      logFormat: 'json',
      sources: { bars: true, chain: true, option_tape: false, stock_tape: false, option_bars: false },
    });
  });

  it('count as not set when empty', () => {
    expect(readConfig(Object.fromEntries(variableNames.map((name) => [name, ' '])))).toEqual(readConfig({}));
  });

  it('send traces where OpenTelemetry’s own variables say', () => {
    const { traces } = readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318/otlp/',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%2Cb, x-team = data=1',
      OTEL_SERVICE_NAME: 'gateway',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    });
    expect(traces).toEqual({
      url: 'https://collector:4318/otlp/v1/traces',
      headers: { 'api-key': 'a,b', 'x-team': 'data=1' },
      serviceName: 'gateway',
      ratio: 0.25,
    });
  });

  it('can switch every source off', () => {
    expect(Object.values(readConfig({ SOURCES: 'none' }).sources)).toEqual([false, false, false, false, false]);
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', 'http'],
    ['DRAIN_DELAY_MS', '-1'],
    ['ANSWER_MAX_BYTES', '1024'],
    ['ANSWER_TIMEOUT_MS', '0'],
    ['HOST', 'two words'],
    ['WORKERS', '0'],
    ['WORKERS', 'all'],
    ['MEMORY_LIMIT', '100M'],
    ['DATABASE_URL', 'mysql://root@localhost/market'],
    ['DATABASE_URL', 'localhost:5432'],
    ['DATABASE_READ_URLS', 'postgres://a/market,b'],
    ['DATABASE_READ_URLS', 'postgres://a/market'],
    ['DATABASE_TIMEOUT_MS', '15s'],
    ['REDIS_URL', 'http://localhost:6379'],
    ['REDIS_URL', 'localhost:6379'],
    ['REDIS_URL', 'redis:localhost'],
    ['REDIS_URL', 'redis://'],
    ['REDIS_URL', 'redis://localhost:port'],
    ['REDIS_URL', 'redis://localhost:6379/first'],
    ['REDIS_URL', 'redis://:p#ss@localhost'],
    ['SESSION_JWKS_URL', 'ftp://example.com/keys'],
    ['RATE_FREE', '0'],
    ['RATE_BASIC', '-1'],
    ['RATE_PRO', 'lots'],
    ['MAX_STREAMS', '0'],
    ['MAX_CONNECTIONS', '0'],
    ['MAX_CONNECTIONS_PER_ADDRESS', 'all'],
    ['META_HEADER_PREFIX', 'x itm'],
    ['CORS_ORIGINS', 'https://a.example/path'],
    ['CORS_ORIGINS', '*'],
    ['TRUSTED_PROXIES', 'proxy.example.com'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'pretty'],
    ['METRICS_PORT', '-1'],
    ['METRICS_HOST', 'two words'],
    ['METRICS_TOKEN', 'too short'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'abc'],
    ['OTEL_TRACES_SAMPLER_ARG', '50%'],
    ['SOURCES', 'bars,tape'],
  ])('refuse %s=%s, naming the variable and what was expected', (name, value) => {
    const message = complaint({ [name]: value });
    expect(message).toMatch(new RegExp(`^${name}: expected .+`));
    expect(message.split('\n')).toHaveLength(1);
  });

  it('report every bad variable at once', () => {
    expect(
      complaint({ PORT: 'x', LOG_LEVEL: 'y' })
        .split('\n')
        .map((line) => line.split(':')[0]),
    ).toEqual(['PORT', 'LOG_LEVEL']);
  });

  it('do not repeat a secret in a complaint', () => {
    expect(complaint({ DATABASE_URL: 'pg://me:hunter2@db/market' })).not.toContain('hunter2');
    expect(complaint({ REDIS_URL: 'tcp://:hunter2@cache' })).not.toContain('hunter2');
    expect(complaint({ METRICS_TOKEN: 'hunter2' })).not.toContain('hunter2');
  });

  it.each([
    ['postgresql://me@/market?host=%2Fvar%2Frun&port=5432', 'postgresql://me@/market?host=%2Fvar%2Frun&port=5432'],
    ['postgresql://me:hunter2@/market?host=%2Fvar%2Frun', 'postgresql://me:***@/market?host=%2Fvar%2Frun'],
    ['postgres://me:hun@ter2@db/market', 'postgres://me:***@db/market'],
    ['postgres://db:5432/market?user=me&password=hunter2', 'postgres://db:5432/market?user=me&password=***'],
  ])('take %s for a database, shown as %s', (url, shown) => {
    const config = readConfig({ DATABASE_URL: url });
    expect(config.databaseUrl).toBe(url);
    expect(describeConfig(config).DATABASE_URL).toBe(shown);
  });

  it('allow one way to verify site sessions, not two', () => {
    expect(complaint({ SESSION_SECRET: 'hunter2', SESSION_JWKS_URL: 'https://id.example/keys' })).toMatch(
      /^SESSION_JWKS_URL: set .*SESSION_SECRET/,
    );
  });

  it('give way to the command line, even where the environment is wrong', () => {
    const config = readConfig(
      { PORT: 'x', HOST: '0.0.0.0', TAPEGRAPH_DATA: 'a' },
      { port: 0, host: 'localhost', dataDir: '/b' },
    );
    expect(config).toMatchObject({ port: 0, host: 'localhost', dataDir: '/b' });
  });

  it('are shown without passwords and secrets', () => {
    const shown = describeConfig(
      readConfig({
        DATABASE_URL: 'postgres://me:hunter2@db:5432/market?sslpassword=hunter2&sslmode=require',
        DATABASE_READ_URLS: 'postgres://me:hunter2@replica/market',
        REDIS_URL: 'redis://:hunter2@cache:6379',
        SESSION_SECRET: 'hunter2',
        METRICS_TOKEN: 'hunter2hunter2hunter2',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:hunter2@collector:4318',
        OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hunter2',
      }),
    );
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    expect(shown).toMatchObject({ SESSION_SECRET: 'set', SESSION_JWKS_URL: null, PORT: 4000 });
    expect(shown.DATABASE_URL).toBe('postgres://me:***@db:5432/market?sslpassword=***&sslmode=require');
    expect(Object.keys(shown)).toEqual(variableNames);
  });
});
