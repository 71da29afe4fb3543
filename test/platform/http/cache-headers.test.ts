import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import {
  allowPrivateCaching,
  allowSharedCaching,
  forbidCaching,
  guardHeaders,
} from '../../../src/platform/http/cache-headers.ts';

async function serving<T>(write: (response: ServerResponse) => void, ask: (port: number) => Promise<T>): Promise<T> {
  const server = http.createServer((_request, response) => {
    guardHeaders(response);
    write(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await ask((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The answer that `write` gives, as it comes over the wire. */
const answerOf = (write: (response: ServerResponse) => void) =>
  serving(write, async (port) => {
    const [answer] = (await once(http.get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage];
    return { ...answer, headers: answer.headers, status: answer.statusCode, body: await text(answer) };
  });

const everything = 'Accept, Accept-Encoding, Authorization, X-API-Key';

describe('an answer’s headers', () => {
  const writers: [string, (response: ServerResponse) => void][] = [
    ['says nothing', (response) => response.end('x')],
    ['says that it may be stored', (response) => response.setHeader('Cache-Control', 'public, max-age=60').end('x')],
    [
      'says so as it writes its head',
      (response) => response.writeHead(200, { 'cache-control': 'max-age=60' }).end('x'),
    ],
    [
      'says so in a list, with a reason',
      (response) => response.writeHead(200, 'Fine', ['Cache-Control', 'no-cache, no-transform', 'X-A', '1']).end('x'),
    ],
    ['says so in pairs', (response) => response.writeHead(200, [['Cache-Control', 'max-age=60']] as never).end('x')],
    [
      'flushes its head',
      (response) => {
        response.flushHeaders();
        response.end('x');
      },
    ],
  ];
  it.each(writers)('forbid storing it, and vary by the credential, when it %s', async (_, write) => {
    const { headers, body, status } = await answerOf(write);
    expect({ control: headers['cache-control'], vary: headers.vary, body, status }).toEqual({
      control: 'no-store',
      vary: everything,
      body: 'x',
      status: 200,
    });
  });

  it('are those it was written with besides, none of them twice', async () => {
    const { headers } = await answerOf((response) => {
      response.setHeader('Vary', 'Origin, accept');
      response.setHeader('X-A', 'before');
      response.writeHead(201, { 'Content-Length': 1, 'x-a': 'after', 'x-none': undefined, 'set-cookie': ['a', 'b'] });
      response.end('x');
    });
    expect(headers).toMatchObject({
      vary: `${everything}, Origin`,
      'x-a': 'after',
      'content-length': '1',
      'set-cookie': ['a', 'b'],
    });
    expect(headers).not.toHaveProperty('x-none');
  });

  it('let what was allowed be stored, until it is taken back', async () => {
    const allowed = await answerOf((response) => {
      allowPrivateCaching(response);
      response.end();
    });
    expect(allowed.headers).toMatchObject({ 'cache-control': 'private', vary: everything });
    const shared = await answerOf((response) => {
      response.setHeader('Vary', 'Accept-Encoding');
      allowSharedCaching(response, 'public, max-age=60');
      response.end();
    });
    expect(shared.headers).toMatchObject({ 'cache-control': 'public, max-age=60', vary: 'Accept-Encoding' });
    const failed = await answerOf((response) => {
      allowSharedCaching(response, 'public, max-age=60');
      response.setHeader('ETag', '"x"');
      forbidCaching(response);
      response.end();
    });
    expect(failed.headers).toMatchObject({ 'cache-control': 'no-store', vary: everything });
    expect(failed.headers).not.toHaveProperty('etag');
  });

  it('never keep a connection open that the client wants closed', async () => {
    const writesKeepAlive = (response: ServerResponse) =>
      response.writeHead(200, { Connection: 'keep-alive' }).end('x');
    const answer = await serving(writesKeepAlive, async (port) => {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      // Ends when the server has closed.
      return text(socket);
    });
    expect(answer).toMatch(/^connection: close\r$/im);
  });
});
