import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDrainingServer } from '../../../src/platform/http/connection-drain.ts';

/** A server on loopback that is gone when the test ends. */
async function draining(app: RequestListener = (_request, response) => response.end('ok')) {
  const { server, drain } = createDrainingServer({}, app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const end = async (graceMs = 5000) => {
    drain.start();
    await drain.closePort();
    await drain.closeConnections(graceMs);
  };
  return { server, drain, port, end };
}

/** A raw connection, and all that came on it until it ended; `null` = it was reset. */
async function raw(port: number) {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  const all = new Promise<string | null>((resolve) => {
    socket.on('error', () => resolve(null)).on('end', () => resolve(text));
  });
  await once(socket, 'connect');
  return { socket, all, text: () => text };
}

const asking = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const answersIn = (text: string | null) => text?.match(/HTTP\/1\.1 200 OK/g)?.length;
const closesIn = (text: string | null) => text?.match(/^Connection: close/gim)?.length;

/** A handler that waits for each request's turn. */
function held() {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const turn = (path: string) => {
    const found = waiting.get(path) ?? Promise.withResolvers<void>();
    waiting.set(path, found);
    return found;
  };
  const begun: string[] = [];
  const app: RequestListener = async (request, response) => {
    begun.push(request.url!);
    await turn(request.url!).promise;
    response.end(request.url);
  };
  return { app, begun, letGo: (path: string) => turn(path).resolve() };
}

describe('a server whose connections end', () => {
  it('answers a connection on which nothing was sent before, and then closes it', async () => {
    const { port, end } = await draining();
    const client = await raw(port);
    const ended = end();
    await delay(50);
    client.socket.write(asking('/'));
    const text = await client.all;
    expect([answersIn(text), closesIn(text)]).toEqual([1, 1]);
    await ended;
  });

  it('answers the next request of a connection that was used before, and then closes it', async () => {
    const { port, end } = await draining();
    const client = await raw(port);
    client.socket.write(asking('/1'));
    await expect.poll(client.text).toMatch(/ok$|0\r\n\r\n$/);
    const ended = end();
    await delay(300);
    client.socket.write(asking('/2'));
    const text = await client.all;
    expect([answersIn(text), closesIn(text)]).toEqual([2, 1]);
    await ended;
  });

  it('ends connections that ask for nothing more, without a reset', async () => {
    const { port, end } = await draining();
    const [unused, used] = [await raw(port), await raw(port)];
    used.socket.write(asking('/'));
    await expect.poll(used.text).toMatch(/0\r\n\r\n$|ok$/);
    await end();
    expect([await unused.all, answersIn(await used.all)]).toEqual(['', 1]);
  });

  it('answers all requests that were sent together; the last answer says that the connection closes', async () => {
    const { port, end, drain } = await draining();
    const client = await raw(port);
    drain.start();
    client.socket.write(asking('/1') + asking('/2') + asking('/3'));
    const text = await client.all;
    expect([answersIn(text), closesIn(text)]).toEqual([3, 1]);
    expect(text!.lastIndexOf('HTTP/1.1')).toBeLessThan(text!.search(/^Connection: close/im));
    await end();
  });

  it('does not begin what comes behind the answer that closes the connection', async () => {
    const { app, begun, letGo } = held();
    const { port, end, drain } = await draining((request, response) => {
      response.flushHeaders();
      app(request, response);
    });
    const client = await raw(port);
    drain.start();
    client.socket.write(asking('/1'));
    await expect.poll(client.text).toMatch(/^Connection: close/im);
    client.socket.write(asking('/2'));
    await delay(100);
    letGo('/1');
    expect(answersIn(await client.all)).toBe(1);
    expect(begun).toEqual(['/1']);
    await end();
  });

  it('ends a connection whose last answer said that it stays open, before the server was told to stop', async () => {
    const { app, begun, letGo } = held();
    const { port, end } = await draining((request, response) => {
      response.flushHeaders();
      app(request, response);
    });
    const client = await raw(port);
    client.socket.write(asking('/1'));
    await expect.poll(() => begun).toEqual(['/1']);
    const ended = end(60_000);
    // Longer than connections without a request stay open.
    await delay(1500);
    letGo('/1');
    const text = await client.all;
    expect([answersIn(text), closesIn(text)]).toEqual([1, undefined]);
    await ended;
  });

  it('takes the rest of a body, however slowly it comes', async () => {
    const { port, end } = await draining(async (request, response) => {
      let length = 0;
      for await (const chunk of request) length += (chunk as Buffer).length;
      response.end(`length ${length}`);
    });
    const client = await raw(port);
    client.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc');
    const ended = end();
    await delay(1500);
    client.socket.write('def');
    expect(await client.all).toContain('length 6');
    await ended;
  });

  it('takes the rest of a request line that had begun', async () => {
    const { port, end } = await draining();
    const client = await raw(port);
    client.socket.write('GET / HTTP/1.1\r\nHo');
    const ended = end();
    await delay(1500);
    client.socket.write('st: x\r\n\r\n');
    expect(answersIn(await client.all)).toBe(1);
    await ended;
  });

  it('sends its last answer whole to a client that is still sending', async () => {
    const { port, end, drain } = await draining((_request, response) => response.end('x'.repeat(4_000_000)));
    const client = await raw(port);
    drain.start();
    client.socket.pause();
    client.socket.write(asking('/'));
    await delay(200);
    for (let i = 0; i < 20; i++) client.socket.write(asking(`/more${i}`));
    await delay(200);
    client.socket.resume();
    const text = await client.all;
    expect(text?.length).toBeGreaterThan(4_000_000);
    expect(answersIn(text)).toBe(1);
    await end();
  });

  it('takes the connections that the system holds for it before it closes the port', async () => {
    const { port, end } = await draining();
    const agent = () => new http.Agent({ keepAlive: true });
    const asked = Array.from(
      { length: 40 },
      () =>
        new Promise<string>((resolve) => {
          const request = http.get({ port, host: '127.0.0.1', agent: agent() }, (response) => {
            response.resume().on('end', () => resolve('answered'));
          });
          request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
        }),
    );
    // The connections are made in the kernel while this process does nothing.
    await new Promise((resolve) => process.nextTick(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    await end();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['answered']));
  });

  it('takes the next connection of a client whose answer ended while the port was closing', async () => {
    const { app, begun, letGo } = held();
    const { port, end } = await draining(app);
    const client = await raw(port);
    client.socket.write(asking('/first'));
    await expect.poll(() => begun).toEqual(['/first']);
    // Longer than a port waits for connections.
    await delay(400);
    const ended = end();
    letGo('/first');
    await expect.poll(() => closesIn(client.text()), { interval: 5 }).toBe(1);
    await delay(80);
    const next = await raw(port);
    next.socket.write(asking('/second'));
    letGo('/second');
    expect(answersIn(await next.all)).toBe(1);
    await ended;
  });

  it('refuses connections when it has ended', async () => {
    const { port, end } = await draining();
    await end();
    const socket: Socket = connect(port, '127.0.0.1');
    expect(await once(socket, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }]);
  });

  it('cuts off what is left when its time is over', async () => {
    const { app, begun } = held();
    const { port, end } = await draining(app);
    const client = await raw(port);
    client.socket.write(asking('/never'));
    await expect.poll(() => begun).toEqual(['/never']);
    await end(300);
    expect(answersIn(await client.all) ?? 0).toBe(0);
  });
});
