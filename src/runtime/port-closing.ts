import { type AddressInfo, connect, Server, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as eventLoop } from 'node:timers/promises';
import { holdsOnly } from './accept-queue.ts';

/** The port is closed when no connection has come for this long, ms: as long as an answer to a far client and its next connection take. */
const quietMs = 200;
/** It is closed after this long, however many connections come, ms. */
const mostMs = 1000;
/** A process that shares the port may take the connection that closes it: then another is made, so many times at most. */
const mostKnocks = 8;
const knockMs = 2;

interface Handle {
  fd?: number;
  listen?: (backlog: number) => number;
}

const handleOf = (server: Server) => (server as Server & { _handle?: Handle | null })._handle ?? {};

// Not the HTTP server's own, which also closes connections that wait for their next request.
const close = (server: Server) => void Server.prototype.close.call(server);

/**
 * Lets the system accept one connection more than are taken, and ignore the others: their clients try again after a second, and find the
 * port closed. Node has no call for it. Elsewhere than on Linux processes may share the socket, and it stays as it is.
 */
function shrinkBacklog(server: Server): void {
  if (process.platform === 'linux') handleOf(server).listen?.(0);
}

/** Opens a connection to a server of this process. */
function knock({ address, port }: AddressInfo): Socket {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return connect({ host, port }).on('error', () => {});
}

/** Closes the port if the server's own connection is all that the system holds for it; whether it has. */
function closeOver(server: Server, own: Socket): boolean {
  const { fd } = handleOf(server);
  const { port } = server.address() as AddressInfo;
  try {
    if (fd === undefined || own.localPort === undefined || !holdsOnly({ fd, port }, own.localPort)) return false;
  } catch {
    // What the system holds cannot be read here.
    return false;
  }
  close(server);
  return true;
}

/**
 * Closes the port over a connection of the server's own. With a backlog of one, no other is accepted while that one is not taken, and it is
 * the only one that is reset. The server takes none before the event loop goes on: so the connection is made, found to be alone, and
 * reset in one go. Where it is not alone, what is there is taken first. Linux only; the port may still be open afterwards.
 */
async function closeOverOwn(server: Server): Promise<void> {
  if (process.platform !== 'linux') return;
  const untilMs = performance.now() + mostMs;
  while (server.listening && performance.now() < untilMs) {
    const own = knock(server.address() as AddressInfo);
    // Node connects in the next tick, behind which this comes.
    await new Promise<void>((resolve) => {
      process.nextTick(() => {
        closeOver(server, own);
        resolve();
      });
    });
    own.destroy();
    await delay(knockMs);
  }
}

/** Closes the port in the moment in which a connection is taken: no other can have come but in that moment. The server makes it itself. */
async function closeAtNext(server: Server): Promise<void> {
  server.prependOnceListener('connection', () => close(server));
  for (let knocks = 0; server.listening && knocks < mostKnocks; knocks++) {
    const own = knock(server.address() as AddressInfo);
    own.on('connect', () => own.destroy());
    await delay(knockMs);
  }
  if (server.listening) close(server);
}

/**
 * Watches the connections that come to a server, from before its first. The returned function closes the port: a connection that is open
 * for its client when the port closes, but not taken by the server, is reset by the system. So it waits until no more come, takes those that the system
 * still holds, and closes the port in between. Connections that were taken stay as they are.
 */
export function watchPort(server: Server): () => Promise<void> {
  let taken = 0;
  let takenMs = Number.NEGATIVE_INFINITY;
  server.on('connection', () => {
    taken++;
    takenMs = performance.now();
  });

  async function untilQuiet(): Promise<void> {
    const untilMs = performance.now() + mostMs;
    for (;;) {
      const waitMs = Math.min(takenMs + quietMs, untilMs) - performance.now();
      if (waitMs <= 0) return;
      await delay(waitMs);
    }
  }

  async function untilTaken(): Promise<void> {
    const untilMs = performance.now() + mostMs;
    let before: number;
    do {
      before = taken;
      // The event loop has looked for connections once more when this resolves.
      await eventLoop();
    } while (taken > before && performance.now() < untilMs);
  }

  return async () => {
    await untilQuiet();
    shrinkBacklog(server);
    await untilTaken();
    await closeOverOwn(server);
    if (server.listening) await closeAtNext(server);
  };
}
