import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { requestBody, UnreadBody } from '../../../src/platform/http/request-body.ts';
import {
  limitServer,
  type ServerLimits,
  serverOptions,
  usualLimits,
} from '../../../src/platform/http/server-limits.ts';
import { type RawClient, rawClient, sentBlindly } from '../../support/raw-client.ts';

const get = (path = '/') => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const connections = { max: 100, perAddress: 100, addressOf: () => null };

/** A server with these limits, and how to reach it. */
async function served(app: RequestListener, limits: Partial<ServerLimits>) {
  const all = { connections, ...usualLimits, ...limits };
  const server = createServer(serverOptions(all), app);
  const counts = limitServer(server, all);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const opened: RawClient[] = [];
  onTestFinished(() => {
    for (const { socket } of opened) socket.destroy();
  });
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  const open = async (options: { allowHalfOpen?: boolean } = {}) => {
    const before = accepted;
    const client = await rawClient(port, options);
    opened.push(client);
    await expect.poll(() => accepted).toBeGreaterThan(before);
    return client;
  };
  /** A connection on which a request has been answered. */
  const used = async () => {
    const client = await open();
    await client.send(get());
    await client.until('\r\n\r\nok');
    return client;
  };
  return { port, counts, open, used };
}

/** Answers at once, but for `/wait`: that is answered when it is let go. */
function waiting(): { app: RequestListener; letGo: () => void } {
  const held: ServerResponse[] = [];
  return {
    app(request, response) {
      if (request.url === '/wait') held.push(response);
      else response.end('ok');
    },
    letGo() {
      for (const response of held.splice(0)) response.end('ok');
    },
  };
}

describe('connections over the limit', () => {
  test('the least recently used connection without a request under way closes for a new one', async () => {
    const { app } = waiting();
    const { counts, open, used } = await served(app, { connections: { ...connections, max: 3 } });
    const first = await used();
    const silent = await open();
    const busy = await open();
    await busy.send(get('/wait'));
    await first.send(get());
    await first.until(/ok.*\r\n\r\nok/s);
    // Most recently used first: busy, first, silent.
    const fourth = await used();
    expect(await silent.ended).toEqual({ text: '', reset: false });
    const fifth = await used();
    expect((await first.ended).reset).toBe(false);
    expect([busy, fourth, fifth].map(({ socket }) => socket.closed)).toEqual([false, false, false]);
    expect(counts()).toMatchObject({ open: 3, idle: 2, evicted: 2, refused: { total: 0, address: 0 } });
  });

  test('are answered 503 with Retry-After and closed while every other has a request under way', async () => {
    const { app, letGo } = waiting();
    const { counts, open } = await served(app, { connections: { ...connections, max: 2 } });
    const busy = [await open(), await open()];
    for (const client of busy) await client.send(get('/wait'));
    await expect.poll(() => counts().idle).toBe(0);
    const refused = await open();
    const { text } = await refused.ended;
    expect(text).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
    expect(text).toMatch(/\r\nRetry-After: 1\r\n/);
    expect(text).toMatch(/\r\n\r\n\{"error":\{"code":"internal","message":"[^"]+"\}\}$/);
    expect(counts()).toMatchObject({ open: 2, refused: { total: 1, address: 0 } });
    letGo();
    for (const client of busy) expect(await client.until('\r\n\r\nok')).toMatch(/^HTTP\/1\.1 200/);
    const later = await open();
    await later.send(get());
    expect(await later.until('\r\n\r\nok')).toMatch(/^HTTP\/1\.1 200/);
  });

  test('an address has its share: beyond it its own idle connections close, and others are let in', async () => {
    const { app } = waiting();
    const addresses = ['a', 'a', 'b', 'a', 'a', 'b'];
    const known = new WeakMap<Socket, string>();
    const addressOf = (socket: Socket) => {
      const address = known.get(socket) ?? addresses.shift()!;
      known.set(socket, address);
      return address;
    };
    const { counts, open, used } = await served(app, { connections: { max: 10, perAddress: 2, addressOf } });
    const first = await used();
    const second = await open();
    await second.send(get('/wait'));
    await expect.poll(() => counts().idle).toBe(1);
    const other = await used();
    const third = await open();
    await first.ended;
    await third.send(get('/wait'));
    await expect.poll(() => counts().idle).toBe(1);
    const fourth = await open();
    expect((await fourth.ended).text).toMatch(/^HTTP\/1\.1 503/);
    expect(counts()).toMatchObject({ open: 3, evicted: 1, refused: { total: 0, address: 1 } });
    await other.send(get());
    await other.until(/ok.*\r\n\r\nok/s);
    await used();
    expect(counts().open).toBe(4);
  });

  test('beyond those that are answered, refused connections are closed at once', async () => {
    const { app } = waiting();
    const { counts, open } = await served(app, { connections: { ...connections, max: 1 } });
    const busy = await open();
    await busy.send(get('/wait'));
    await expect.poll(() => counts().idle).toBe(0);
    const refused: RawClient[] = [];
    // They take the answer and leave their side open, so that none makes room for another.
    for (let i = 0; i < 100; i += 1) refused.push(await open({ allowHalfOpen: true }));
    const answered = () => refused.filter((client) => client.received() !== '').length;
    await expect.poll(answered).toBe(64);
    const over = refused.filter((client) => client.received() === '');
    for (const { socket } of over) socket.end();
    expect((await Promise.all(over.map(({ ended }) => ended))).every(({ text }) => text === '')).toBe(true);
    expect(counts().refused.total).toBe(100);
  });
});

describe('time', () => {
  test('headers that take too long are told so with 408; a connection that sends nothing is closed without a word', async () => {
    const { counts, open } = await served(waiting().app, { headersMs: 100 });
    const slow = await open();
    const silent = await open();
    await slow.send('GET / HTTP/1.1\r\nHost: x\r\n');
    expect((await slow.ended).text).toMatch(/^HTTP\/1\.1 408 .*"code":"invalid_params".*took too long/s);
    expect((await silent.ended).text).toBe('');
    expect(counts().lateHeaders).toBe(2);
  });

  test('a connection whose client stops reading in the middle of an answer is closed', async () => {
    const app: RequestListener = (_request, response) => response.end(Buffer.alloc(64 * 1024 * 1024));
    const { counts, open } = await served(app, { stallMs: 200 });
    const client = await open();
    client.socket.pause();
    await client.send(get());
    await expect.poll(() => counts().open, { timeout: 20_000 }).toBe(0);
  });

  test('of answers that are not read, the oldest are given up when they are too many bytes together', async () => {
    const bytes = 32 * 1024 * 1024;
    const app: RequestListener = (_request, response) => response.end(Buffer.alloc(bytes));
    const { counts, open } = await served(app, { unsentBytes: 1.5 * bytes });
    const stuck = await open();
    stuck.socket.pause();
    await stuck.send(get());
    const reading = await open();
    await reading.send(get());
    await expect.poll(() => reading.received().length, { timeout: 10_000 }).toBeGreaterThan(bytes);
    const second = await open();
    second.socket.pause();
    await second.send(get());
    await expect.poll(() => counts().unreadAnswers, { timeout: 10_000 }).toBe(1);
    await expect.poll(() => counts().open, { timeout: 10_000 }).toBe(2);
    stuck.socket.resume();
    expect((await stuck.ended).text.length).toBeLessThan(bytes);
    second.socket.resume();
    await expect.poll(() => second.received().length, { timeout: 10_000 }).toBeGreaterThan(bytes);
  });
});

/** Reads the body and says how many bytes it has, or why it was not read. */
const reader =
  (maxBytes: number, callers: string[] = []) =>
  (request: IncomingMessage, response: ServerResponse) =>
    void requestBody(request, maxBytes, callers.shift() ?? '').then(
      (bytes) => response.end(`${bytes.length} bytes`),
      (error: unknown) => {
        response.statusCode = error instanceof UnreadBody ? 413 : 500;
        response.end(error instanceof UnreadBody ? error.problem : String(error));
      },
    );

const post = (headers: string) => `POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`;

describe('bodies', () => {
  const body = { graceMs: 200, bytesPerSecond: 1000, stallMs: 60_000, bytesPerCaller: 1000, bytesInAll: 2500 };

  test('one that trickles is given up, one that keeps the least rate is read whole', async () => {
    const { open } = await served(reader(100_000), { body: { ...body, bytesPerCaller: 1e6, bytesInAll: 1e6 } });
    const slow = await open();
    await slow.send(post('Content-Length: 1000'));
    const trickle = setInterval(() => void slow.send('x').catch(() => {}), 50);
    onTestFinished(() => clearInterval(trickle));
    const steady = await open();
    await steady.send(post('Content-Length: 20000'));
    for (let i = 0; i < 20; i += 1) {
      await steady.send('x'.repeat(1000));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await steady.until('bytes')).toMatch(/\r\n\r\n20000 bytes$/);
    expect(await slow.until('too-slow')).toMatch(/^HTTP\/1\.1 413/);
  });

  test('one that stops is given up, however quick it was', async () => {
    const { open } = await served(reader(100_000), {
      body: { ...body, stallMs: 100, bytesPerCaller: 1e6, bytesInAll: 1e6 },
    });
    const client = await open();
    await client.send(`${post('Content-Length: 100000')}${'x'.repeat(90_000)}`);
    expect(await client.until('too-slow')).toMatch(/^HTTP\/1\.1 413/);
  });

  test('a caller, and all together, hold so many bytes of unfinished bodies and no more', async () => {
    const { open, counts } = await served(reader(10_000, ['a', 'a', 'b', 'c']), { body });
    const clients: RawClient[] = [];
    let held = 0;
    for (const bytes of [800, 300, 900, 900]) {
      const client = await open();
      await client.send(`${post('Content-Length: 2000')}${'x'.repeat(bytes)}`);
      clients.push(client);
      held += bytes;
      await expect.poll(() => counts().bodyBytes === held || client.received() !== '').toBe(true);
      if (client.received() !== '') held -= bytes;
    }
    expect(clients[1]!.received()).toMatch(/caller-holds-too-many$/);
    expect(clients[3]!.received()).toMatch(/too-many$/);
    expect(counts().bodyBytes).toBe(1700);
    for (const { socket } of clients) socket.destroy();
    await expect.poll(() => counts().bodyBytes).toBe(0);
  });

  test('one in a hundred thousand pieces is read', async () => {
    const { port } = await served(reader(1e6), {});
    const chunks = '1\r\nx\r\n'.repeat(100_000);
    const { text } = await sentBlindly(
      port,
      `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
    );
    expect(text).toMatch(/100000 bytes/);
  });

  test('100 Continue is sent once the body is read, and not when it is refused before', async () => {
    const served100 = await served(reader(100), {});
    const fine = await served100.open();
    await fine.send(post('Expect: 100-continue\r\nContent-Length: 5'));
    expect(await fine.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    await fine.send('12345');
    expect(await fine.until('5 bytes')).toMatch(/100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
    const large = await served100.open();
    await large.send(post('Expect: 100-continue\r\nContent-Length: 101'));
    const { text } = await large.ended;
    expect(text).toMatch(/^HTTP\/1\.1 413 .*\r\nConnection: close\r\n/s);
  });
});

describe('a connection whose last answer leaves a body unread', () => {
  const large = 4 * 1024 * 1024;
  const chunked = `${'10000\r\n'}${'x'.repeat(65_536)}\r\n`.repeat(large / 65_536);
  const forms: [string, string][] = [
    ['HTTP/1.1', `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${large}\r\n\r\n${'x'.repeat(large)}`],
    ['HTTP/1.0', `POST / HTTP/1.0\r\nContent-Length: ${large}\r\n\r\n${'x'.repeat(large)}`],
    ['Connection: close', `${post(`Connection: close\r\nContent-Length: ${large}`)}${'x'.repeat(large)}`],
    ['chunks', `${post('Transfer-Encoding: chunked')}${chunked}0\r\n\r\n`],
    ['a request before', `${get()}${post(`Content-Length: ${large}`)}${'x'.repeat(large)}`],
    ['a request behind', `${post(`Content-Length: ${large}`)}${'x'.repeat(large)}${get('/behind')}`],
  ];

  for (const reads of [true, false]) {
    test.each(forms)(
      `%s: its client sees the answer and no reset, ${reads ? 'over the limit' : 'not read at all'}`,
      async (_form, bytes) => {
        const urls: string[] = [];
        const { port } = await served((request, response) => {
          urls.push(request.url!);
          if (request.method === 'GET') response.end('ok');
          else if (reads) reader(100_000)(request, response);
          else response.writeHead(401, { 'content-length': 2 }).end('no');
        }, {});
        const { text, reset } = await sentBlindly(port, bytes);
        expect(reset).toBe(false);
        expect(text).toMatch(
          reads ? /HTTP\/1\.1 413 [\s\S]*Connection: close[\s\S]*too-large$/ : /HTTP\/1\.1 401 [\s\S]*no$/,
        );
        expect(urls).not.toContain('/behind');
      },
    );
  }

  test('closes when it is still sent to after so many bytes', async () => {
    const { port } = await served((_request, response) => response.writeHead(401, { 'content-length': 2 }).end('no'), {
      drain: { bytes: 1024 * 1024, idleMs: 2000, totalMs: 10_000 },
    });
    const { reset } = await sentBlindly(port, `${post(`Content-Length: ${4 * large}`)}${'x'.repeat(4 * large)}`);
    expect(reset).toBe(true);
  });

  test('goes on when the body is small: the next request is answered on it', async () => {
    const { open } = await served((request, response) => {
      response.statusCode = request.method === 'GET' ? 200 : 401;
      response.end('ok');
    }, {});
    const client = await open();
    await client.send(post('Content-Length: 60000'));
    expect(await client.until('\r\n\r\nok')).not.toMatch(/Connection: close/);
    await client.send(`${'x'.repeat(60_000)}${get()}`);
    expect(await client.until(/ok.*\r\n\r\nok/s)).toMatch(/401[\s\S]*200 OK/);
  });
});
