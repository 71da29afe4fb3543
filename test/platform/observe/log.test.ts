import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { generateApiKey } from '../../../src/access/identity/api-keys.ts';
import { readConfig } from '../../../src/platform/config/config.ts';
import { secretsOf } from '../../../src/platform/config/printed-settings.ts';
import { openLog } from '../../../src/platform/observe/log.ts';
import { testApp } from '../../support/app.ts';

/** A log and the lines written to it. */
function logged(secrets: readonly string[] = [], { isTTY, ...settings }: LoggedAs = {}) {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { lines, log: openLog({ level: 'trace', secrets, ...settings }, Object.assign(stream, { isTTY })) };
}

interface LoggedAs {
  level?: string;
  format?: 'text' | 'json' | null;
  isTTY?: boolean;
}

async function loggingApp(LOG_LEVEL: string) {
  const logLines: string[] = [];
  const app = await testApp({ env: { LOG_LEVEL }, logLines });
  onTestFinished(() => app.close());
  const entries = () => logLines.map((line) => JSON.parse(line));
  return { app, logLines, entries };
}

describe('the log', () => {
  test('has a line a request at debug: id, route, status, time, whose it is, what it cost; and no address', async () => {
    const { app, entries } = await loggingApp('debug');
    const accountId = await app.account();
    const { key, keyId } = await app.access.keys
      .create({ accountId, name: null, expiresAt: null })
      .then((made) => ({ key: made.key, keyId: made.meta.id }));
    await app.get('/v2/symbols/SPY?fields=hidden', { credential: key, headers: { 'x-request-id': 'mine' } });
    await app.graphql(
      '{ symbol(symbol: "SPX") { gex { latest { spot } } } }',
      {},
      { credential: await app.key({ apiTier: 'free' }) },
    );
    await expect.poll(() => entries().length).toBe(2);
    const [rest, graphql] = entries();
    expect(rest).toEqual({
      level: 20,
      time: expect.any(String),
      requestId: 'mine',
      method: 'GET',
      route: '/v2/symbols/:symbol',
      status: 200,
      ms: expect.any(Number),
      bytes: expect.any(Number),
      accountId,
      keyId,
      tier: 'pro',
      cost: 1,
      msg: 'request',
    });
    expect(graphql).toMatchObject({
      route: '/graphql',
      operation: 'query',
      groups: ['analytics.gex'],
      cost: 1,
      code: 'not_entitled_tier',
    });
  });

  test('is silent about requests at info, but for those that failed here, which have their cause beside them', async () => {
    const { app, entries } = await loggingApp('info');
    await app.get('/v2/watchlists', { credential: await app.session() });
    expect(entries()).toEqual([]);
    await app.store.pool.query('alter table watchlists rename to watchlists_away');
    await app.get('/v2/watchlists', { credential: await app.session(), headers: { 'x-request-id': 'mine' } });
    await expect.poll(() => entries().length).toBe(2);
    expect(entries()).toMatchObject([
      { level: 50, requestId: 'mine', code: 'internal', err: { message: expect.stringContaining('watchlists') } },
      { level: 30, requestId: 'mine', route: '/v2/watchlists', status: 502 },
    ]);
  });

  test('holds no secret that a client sends, wherever it sends it, whether it is answered, refused or fails', async () => {
    const { app, logLines } = await loggingApp('trace');
    const { key } = generateApiKey(randomBytes);
    const own = await app.key();
    const session = await app.session();
    const secret = 'opensesame-opensesame';
    const ask = async () => {
      for (const credential of [key, own, session, secret]) {
        const query = encodeURIComponent(credential);
        await app.get('/v2/symbols/SPY', { credential });
        await app.get('/v2/symbols/SPY', { credential: null, headers: { 'x-api-key': credential } });
        await app.get(`/v2/quotes?symbols=SPY&api_key=${query}`, { credential });
        await app.get(`/v2/symbols/${query}?api_key=${query}`, { credential });
        await app.get(`/nowhere/${query}?api_key=${query}`, { credential: null, headers: { cookie: `key=${query}` } });
        await app.graphql('query A($s: Ticker!) { symbol(symbol: $s) { name } }', { s: credential });
        await app.graphql(`{ symbol(symbol: "${credential}") { name } me { nothing } }`, {}, { credential });
        await app.send('POST', '/graphql', { body: `{"query": "${credential}`, credential });
        await app.send('GET', `/graphql?query=${encodeURIComponent(`{ symbol(symbol: "${credential}") { name } }`)}`);
        const watchlist = { name: credential, symbols: ['SPY'] };
        await app.send('PUT', '/v2/watchlists/w1', { body: JSON.stringify(watchlist), credential: session });
        const trade = `{"id":"${credential}","account_id":"main","symbol":"SPY","side":"buy","qty":2,"price":1,"note":"${credential}"}\n`;
        const path = `/v2/journal/import?import_id=${Math.random()}`;
        await app.send('POST', path, { body: trade, contentType: 'text/plain', credential: session });
      }
    };
    await ask();
    // The same, now that the database refuses to read and write: its errors repeat values.
    await app.store.pool.query(`alter table watchlists add constraint never check (name = '')`).catch(() => {});
    await app.store.pool.query('alter table watchlists add constraint none check (false) not valid');
    await app.store.pool.query('alter table journal_trades add constraint none check (false) not valid');
    await app.store.pool.query('alter table symbols rename to symbols_away');
    await ask();
    expect(logLines.some((line) => line.includes('violates check constraint'))).toBe(true);
    for (const credential of [key, own, session, secret])
      expect(logLines.filter((line) => line.includes(credential))).toEqual([]);
  });

  test('holds no secret of the settings, in whatever message or cause it turns up', () => {
    const secrets = secretsOf(
      readConfig({
        DATABASE_URL: 'postgresql://me:hunter%402@db/market',
        REDIS_URL: 'redis://:cached-secret@cache',
        SESSION_SECRET: 'signed "secret"',
        METRICS_TOKEN: 'sixteen-and-more-characters',
      }),
    );
    const { lines, log } = logged(secrets);
    const cause = Object.assign(new TypeError('Invalid URL postgresql://me:hunter%402@db/market'), {
      input: 'postgresql://me:hunter%402@db/market',
      detail: 'Key (name)=(mine) already exists.',
    });
    const err = new AggregateError([new Error('hunter@2')], 'cached-secret', { cause });
    log.warn({ err, given: 'signed "secret"' }, 'sixteen-and-more-characters, Bearer abc.def and redis://x:y@z');
    expect(lines).toHaveLength(1);
    for (const secret of ['hunter', 'cached-secret', 'signed', 'sixteen', 'abc.def', 'x:y', 'mine'])
      expect(lines[0]).not.toContain(secret);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      err: { type: 'AggregateError', cause: { message: expect.stringContaining('@db/market') } },
    });
  });
});

describe('the log for people', () => {
  const clear = '\r\u001b[K';

  test.each([
    { isTTY: true, format: null, line: `${clear}Stopping.\n` },
    { isTTY: true, format: 'text', line: `${clear}Stopping.\n` },
    { isTTY: false, format: 'text', line: 'Stopping.\n' },
  ] as const)('is sentences on a terminal, or where asked for: terminal $isTTY, format $format', ({ line, ...how }) => {
    const { lines, log } = logged([], how);
    log.info('stopping');
    expect(lines).toEqual([line]);
  });

  test.each([
    { isTTY: false, format: null },
    { isTTY: false, format: 'json' },
    { isTTY: true, format: 'json' },
  ] as const)('is JSON in a pipe, or where asked for: terminal $isTTY, format $format', (how) => {
    const { lines, log } = logged([], how);
    log.info('stopping');
    expect(JSON.parse(lines[0]!)).toEqual({ level: 30, time: expect.any(String), msg: 'stopping' });
  });

  test('says that a warning and an error are one, why, and the details', () => {
    const { lines, log } = logged([], { format: 'text', level: 'info' });
    const cause = new AggregateError([new Error('connect ECONNREFUSED ::1:1')], '');
    const err = new Error('no database', { cause });
    log.warn({ reason: 'not closed within 5 ms' }, 'not finished: the store');
    log.error({ requestId: 'mine', code: 'internal', err }, 'a request failed');
    log.fatal({ err }, 'gone: no database');
    log.info('metrics are at http://127.0.0.1:9464/metrics');
    log.info('Created the database (18 migrations).');
    expect(lines).toEqual([
      'Warning: not finished: the store (reason not closed within 5 ms).\n',
      'Error: a request failed: no database: connect ECONNREFUSED ::1:1 (requestId mine, code internal).\n',
      'Fatal: gone: no database: connect ECONNREFUSED ::1:1.\n',
      'Metrics are at http://127.0.0.1:9464/metrics\n',
      'Created the database (18 migrations).\n',
    ]);
  });

  test('has the stack of an error at debug', () => {
    const { lines, log } = logged([], { format: 'text', level: 'debug' });
    log.error({ err: new Error('no database') }, 'a request failed');
    expect(lines[0]).toMatch(/^Error: a request failed: no database\.\n {4}at .*log\.test\.ts/);
  });

  test('moves no cursor and holds no secret, as it is or escaped', () => {
    const { lines, log } = logged(['signed "secret"'], { format: 'text' });
    log.warn({ given: 'signed "secret"', all: ['signed "secret"'] }, 'a\u001b[2Jb, Bearer abc.def');
    expect(lines).toEqual(['Warning: a [2Jb, Bearer *** (given ***, all ["***"]).\n']);
  });
});
