import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import http from 'node:http';
import { connect, type Socket } from 'node:net';
import type pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { dataFolder } from '../support/data-folder.ts';
import { type EventReader, readEvents } from '../support/event-reader.ts';
import { waitingForLocks } from '../support/locks.ts';
import { proxiedDatabase } from '../support/servers/proxied-database.ts';
import { storeForThisTest, type TestStore } from '../support/store.ts';
import { start, tapegraph } from './command-line.ts';
import { served } from './served.ts';

// Each starts processes of its own, which is slow where other tests run beside them.
vi.setConfig({ testTimeout: 90_000 });
const patient = { timeout: 15_000 };

type Served = Awaited<ReturnType<typeof served>>;

interface Answered {
  status: number;
  connection: string | undefined;
  body: string;
}

/** A request over `agent`, or over a connection of its own that would be kept. */
function ask({ ready }: Served, path: string, options: http.RequestOptions = {}, body?: string): Promise<Answered> {
  const agent = new http.Agent({ keepAlive: true });
  return new Promise((resolve, reject) => {
    const request = http.request(`${ready.url}${path}`, { agent, ...options }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode!, connection: response.headers.connection, body: text }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** A server over a store of its own, with an account's key; `url` leads to the database another way. */
async function server(more: Record<string, string> = {}, through?: (databaseUrl: string) => Promise<string>) {
  const store = await storeForThisTest();
  const direct = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'warn' };
  await tapegraph(['account', 'set', 'acme', '--api-tier', 'pro', '--site-tier', 'pro'], direct);
  const { key } = JSON.parse((await tapegraph(['key', 'create', '--account', 'acme', '--json'], direct)).stdout);
  const DATABASE_URL = (await through?.(store.databaseUrl)) ?? store.databaseUrl;
  const running = await served([], { ...direct, DATABASE_URL, ...more });
  return { store, running, headers: { authorization: `Bearer ${key}` } };
}

/** Holds a table so that whatever reads or writes it waits; `reached` resolves when something does. */
async function holding(store: TestStore, table: string) {
  const tx: pg.PoolClient = await store.pool.connect();
  await tx.query('begin');
  await tx.query(`lock table ${table} in access exclusive mode`);
  let held = true;
  const release = async () => {
    if (held) await tx.query('rollback');
    if (held) tx.release();
    held = false;
  };
  onTestFinished(release);
  return {
    release,
    reached: () => expect.poll(() => waitingForLocks(store.pool, table), patient).toBe(1),
  };
}

const requestsCounted = async (store: TestStore) =>
  (await store.pool.query('select coalesce(sum(count), 0)::int as sum from usage_counts')).rows[0].sum as number;

/** Signals a server, and how it ended and how long that took, ms. */
async function ending({ child, ended }: Served) {
  const startedMs = performance.now();
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  return { code, stderr, tookMs: performance.now() - startedMs };
}

const clean = { code: 0, stderr: '' };

/** A stream of the graph and one of REST, which have begun. */
async function streamsOf({ ready }: Served, headers: Record<string, string>): Promise<EventReader[]> {
  const body = JSON.stringify({ query: 'subscription { quotes(symbols: ["SPY"]) { spot } }' });
  const json = { ...headers, 'content-type': 'application/json' };
  const streams = await Promise.all([
    readEvents(`${ready.url}/graphql`, { method: 'POST', headers: json, body }),
    readEvents(`${ready.url}/v2/stream?topics=quotes:SPY`, { headers }),
  ]);
  for (const stream of streams) expect(stream.headers['content-type']).toMatch(/^text\/event-stream/);
  return streams;
}

/** Waits for the end of streams, which say that the server stops. */
async function endAtShutdown(streams: readonly EventReader[]): Promise<void> {
  for (const { over, events } of streams) {
    await over;
    expect(JSON.stringify(events)).toContain('shutdown');
  }
}

describe('a server that is told to stop', () => {
  it('finishes the requests it is answering, an import too, counts them, and closes their connections', async () => {
    const { store, running, headers } = await server();
    const idle = new http.Agent({ keepAlive: true, maxSockets: 1 });
    expect(await ask(running, '/readyz', { agent: idle })).toMatchObject({ status: 200, body: '{"status":"ready"}' });
    const lists = await holding(store, 'watchlists');
    const slow = ask(running, '/v2/watchlists', { headers });
    await lists.reached();
    const trades = await holding(store, 'journal_trades');
    const trade = {
      id: 't1',
      account_id: 'main',
      symbol: 'SPY',
      side: 'buy',
      qty: 2,
      price: 600.5,
      ts: 1_699_999_999_000,
    };
    const importing = ask(
      running,
      '/v2/journal/import?import_id=i1',
      { method: 'POST', headers: { ...headers, 'content-type': 'text/plain' } },
      `${JSON.stringify(trade)}\n`,
    );
    await trades.reached();
    const ended = ending(running);
    // Nobody new is let in.
    const refused = () =>
      fetch(`${running.ready.url}/healthz`).then(
        () => 'let in',
        () => 'refused',
      );
    await expect.poll(refused, patient).toBe('refused');
    await lists.release();
    expect(await slow).toEqual({ status: 200, connection: 'close', body: expect.stringContaining('"data":') });
    await trades.release();
    expect(await importing).toMatchObject({ status: 200, body: expect.stringContaining('"created":1') });
    expect(await ended).toMatchObject(clean);
    expect((await store.pool.query('select id from journal_trades')).rows).toEqual([{ id: 't1' }]);
    expect(await requestsCounted(store)).toBe(2);
  });

  it('goes on taking requests as long as it was told to, so that balancers notice', async () => {
    const { running } = await server({ DRAIN_DELAY_MS: '1500' });
    const ended = ending(running);
    const readiness = () => ask(running, '/readyz');
    await expect.poll(readiness, patient).toEqual({ status: 503, connection: 'close', body: '{"status":"draining"}' });
    expect(await ask(running, '/healthz')).toEqual({ status: 200, connection: 'close', body: '{"status":"ok"}' });
    expect(await ended).toMatchObject(clean);
  });

  it('says at every address, whatever it answers, that the connection closes, and ends the streams that come', async () => {
    const { running, headers } = await server({ DRAIN_DELAY_MS: '15000' });
    const before = await streamsOf(running, headers);
    running.child.kill('SIGTERM');
    await endAtShutdown(before);
    await expect.poll(async () => (await ask(running, '/readyz')).status, patient).toBe(503);
    const post = (body: unknown, more = {}) => ({
      body: typeof body === 'string' ? body : JSON.stringify(body),
      options: { method: 'POST', headers: { ...headers, 'content-type': 'application/json', ...more } },
    });
    const get = (more = {}) => ({ options: { headers: { ...headers, ...more } } });
    const query = '{ registry { symbol } }';
    const asked: [string, number, { options: http.RequestOptions; body?: string }][] = [
      ['/', 200, get()],
      ['/dashboard', 200, get()],
      ['/healthz', 200, get()],
      ['/v2/openapi.json', 200, get()],
      ['/v2/symbols', 200, get()],
      ['/v2/symbols', 401, { options: {} }],
      ['/v2/nothing', 404, get()],
      ['/v2/symbols', 405, post({})],
      ['/v2/journal/trades', 400, post('{')],
      ['/v2/journal/import?import_id=big', 413, post('x'.repeat(11 * 1024 * 1024), { 'content-type': 'text/plain' })],
      ['/graphql', 200, post({ query })],
      ['/graphql', 200, get({ accept: 'text/html' })],
      [`/graphql?query=${encodeURIComponent(query)}`, 200, get()],
      [
        '/mcp',
        200,
        post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { accept: 'application/json, text/event-stream' }),
      ],
    ];
    const met = await Promise.all(
      asked.map(async ([path, , { options, body }]) => {
        const { status, connection } = await ask(running, path, options, body);
        return [path, status, connection];
      }),
    );
    expect(met).toEqual(asked.map(([path, status]) => [path, status, 'close']));
    // The port stays open for the time that is set.
    const later = await streamsOf(running, headers);
    for (const stream of later) expect(stream).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await endAtShutdown(later);
    expect(await ask(running, '/readyz')).toMatchObject({ status: 503, body: '{"status":"draining"}' });
    expect(await running.ended).toMatchObject(clean);
  });

  it('ends its streams, says why, and waits for no connection that asks for nothing: neither used before, nor ever', async () => {
    const { running, headers } = await server();
    const idle = new http.Agent({ keepAlive: true });
    await ask(running, '/healthz', { agent: idle });
    const opened = connect(running.ready.port, '127.0.0.1');
    await once(opened, 'connect');
    const streams = await streamsOf(running, headers);
    const ended = ending(running);
    await endAtShutdown(streams);
    const [graph, rest] = streams.map(({ events }) => events);
    expect(JSON.stringify(graph)).toContain('shutting down');
    expect(graph!.at(-1)!.event).toBe('complete');
    const error = { message: expect.stringContaining('shutting down') };
    expect(rest!.at(-1)).toMatchObject({ event: 'end', data: { reason: 'shutdown', error } });
    expect(await ended).toMatchObject({ ...clean, tookMs: expect.toSatisfy((ms) => ms < 4000) });
  });

  it('leaves clients behind that never read', async () => {
    const { running } = await server();
    const client: Socket = connect(running.ready.port, '127.0.0.1');
    client.pause().on('error', () => {});
    await once(client, 'connect');
    client.write('GET /v2/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200));
    // Asked after those, this one is answered when the server has come to them.
    await ask(running, '/v2/openapi.json');
    const ended = await ending(running);
    expect(ended.code).toBe(0);
    expect(ended.tookMs).toBeLessThan(10_000);
  });

  it.each(['hangs', 'is away'] as const)(
    'ends in time and with 0 when the database %s in the middle of a request',
    async (how) => {
      let proxy: Awaited<ReturnType<typeof proxiedDatabase>>['proxy'] | undefined;
      const { store, running, headers } = await server({}, async (databaseUrl) => {
        const proxied = await proxiedDatabase(databaseUrl);
        proxy = proxied.proxy;
        return proxied.url;
      });
      await ask(running, '/v2/watchlists', { headers });
      const { reached } = await holding(store, 'watchlists');
      const slow = ask(running, '/v2/watchlists', { headers }).catch(() => 'cut off');
      await reached();
      if (how === 'hangs') proxy!.hang();
      else await proxy!.takeAway();
      const body = '{"status":"degraded","reasons":["The database does not answer."]}';
      expect(await ask(running, '/healthz')).toMatchObject({ status: 200, body });
      expect(await ask(running, '/readyz')).toMatchObject({ status: 503, body: '{"status":"not_ready"}' });
      const ended = await ending(running);
      expect(ended.code).toBe(0);
      expect(ended.tookMs).toBeLessThan(10_000);
      expect(ended.stderr).toMatch(how === 'hangs' ? /not finished: / : /usage counts of the last seconds are lost/);
      await slow;
    },
  );

  it('leaves the sample market that it is bringing', async () => {
    const { databaseUrl } = await storeForThisTest();
    const env = { DATABASE_URL: databaseUrl, TAPEGRAPH_DATA: dataFolder() };
    const { child, ended } = start(['serve', '--port', '0', '--sample', '--clock', '2026-11-19T22:00:00Z'], env);
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stderr!.on('data', (chunk) => {
      said += chunk;
    });
    const listening = () => /listening on (\S+) while the sample market is loaded/.exec(said)?.[1];
    await vi.waitUntil(listening, { timeout: 20_000 });
    const loaded = async () => (await (await fetch(`${listening()}/healthz`)).json()).loading?.percent;
    await vi.waitUntil(async () => (await loaded()) > 0, { timeout: 20_000, interval: 50 });
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, stdout: '', stderr: expect.not.stringContaining('not finished') });
  });

  it('ends while its embedded database is created for the first time, and the next start creates it', async () => {
    const data = dataFolder();
    const env = { TAPEGRAPH_DATA: data, LOG_LEVEL: 'warn' };
    const { child, ended } = start(['serve', '--port', '0'], env);
    onTestFinished(() => void child.kill('SIGKILL'));
    const created = () => readdirSync(data).filter((name) => name.startsWith('postgres.new-'));
    await vi.waitUntil(() => created().length > 0, { timeout: 20_000, interval: 1 });
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect([created(), existsSync(`${data}/postgres`)]).toEqual([[], false]);
    const next = await served([], env);
    expect((await ask(next, '/readyz')).status).toBe(200);
  });

  it('ends at once at a second signal', async () => {
    const { store, running, headers } = await server();
    const { reached } = await holding(store, 'watchlists');
    const slow = ask(running, '/v2/watchlists', { headers }).catch(() => 'cut off');
    await reached();
    const { child } = running;
    child.kill('SIGTERM');
    await expect
      .poll(
        () =>
          fetch(running.ready.url).then(
            () => 'let in',
            () => 'refused',
          ),
        patient,
      )
      .toBe('refused');
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(child.signalCode).toBe('SIGTERM');
    expect(await slow).toBe('cut off');
  });

  it.each([1, 2])('has its embedded database stop at a second signal, processes: %i', async (workers) => {
    const data = dataFolder();
    const env = { TAPEGRAPH_DATA: data, LOG_LEVEL: 'warn', DRAIN_DELAY_MS: '60000' };
    const running = await served(['--workers', String(workers)], env);
    const { child } = running;
    child.kill('SIGINT');
    await expect.poll(async () => (await ask(running, '/readyz')).status, patient).toBe(503);
    child.kill('SIGINT');
    await once(child, 'exit');
    expect(child.signalCode).toBe('SIGINT');
    await vi.waitUntil(() => !existsSync(`${data}/postgres/postmaster.pid`), patient);
  });

  it('leaves an embedded database that others use as it is at a second signal', async () => {
    const env = { TAPEGRAPH_DATA: dataFolder(), LOG_LEVEL: 'warn' };
    const [first, other] = [await served([], { ...env, DRAIN_DELAY_MS: '60000' }), await served([], env)];
    first.child.kill('SIGINT');
    await expect.poll(async () => (await ask(first, '/readyz')).status, patient).toBe(503);
    first.child.kill('SIGINT');
    await once(first.child, 'exit');
    expect(await ask(other, '/readyz')).toMatchObject({ status: 200 });
    const { code, stderr } = await ending(other);
    expect(code).toBe(0);
    expect(stderr).not.toContain('embedded database stopped');
  });
});
