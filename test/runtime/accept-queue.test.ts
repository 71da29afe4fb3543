import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { holdsOnly } from '../../src/runtime/accept-queue.ts';

/** A server for which the system accepts one connection ahead, and where it listens. */
async function shallowServer() {
  const server = createServer((socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { _handle } = server as Server & { _handle: { fd: number; listen(backlog: number): number } };
  _handle.listen(0);
  return { fd: _handle.fd, port: (server.address() as AddressInfo).port };
}

function client(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** What `ask` gives when connections that were just made are there, and before the server takes any. */
const beforeTaken = <T>(ask: () => T): Promise<T> =>
  new Promise((resolve, reject) => {
    process.nextTick(() => {
      try {
        resolve(ask());
      } catch (error) {
        reject(error as Error);
      }
    });
  });

describe.runIf(process.platform === 'linux')('what the system holds for a listening socket', () => {
  it('is the one connection that was made since the last was taken', async () => {
    const { fd, port } = await shallowServer();
    const own = client(port);
    expect(await beforeTaken(() => holdsOnly({ fd, port }, own.localPort!))).toBe(true);
  });

  it('is not that connection once it is taken, nor when another came first', async () => {
    const { fd, port } = await shallowServer();
    const taken = client(port);
    await once(taken, 'connect');
    await delay(20);
    expect(holdsOnly({ fd, port }, taken.localPort!)).toBe(false);
    const [first, own] = [client(port), client(port)];
    const seen = await beforeTaken(() => [first, own].map(({ localPort }) => holdsOnly({ fd, port }, localPort!)));
    expect(seen).toEqual([true, false]);
  });
});
