import { type AddressInfo, connect, Server } from 'node:net';
import { setTimeout as delay, setImmediate as eventLoop } from 'node:timers/promises';

/**
 * The port is closed when no connection has arrived, and no answer has ended, for this long, ms: the time that an
 * answer to a distant client and its next connection take.
 */
const quietMs = 200;
/** It is closed after this time in any case, ms. */
const mostMs = 1000;
/**
 * A process that shares the port may accept the connection that closes it: then another is made, at most this often.
 */
const mostKnocks = 8;
const knockMs = 2;

/**
 * Lets the system accept only one connection more than the server has accepted, and ignore the others: their clients
 * try again after a second, and find the port closed. Node has no public call for this. On systems other than Linux
 * processes may share the socket, and it is not changed.
 */
function shrinkBacklog(server: Server): void {
  const { _handle } = server as Server & { _handle?: { listen?: (backlog: number) => number } | null };
  if (process.platform === 'linux') _handle?.listen?.(0);
}

/** Opens a connection to a server of this process, and closes it. */
function knock({ address, port }: AddressInfo): void {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  const socket = connect({ host, port });
  socket.on('error', () => {});
  socket.on('connect', () => socket.destroy());
}

/**
 * Closes the port at the instant a connection is accepted. With a backlog of one, another connection can only have
 * arrived since that instant. The server makes this connection itself, so that it need not wait for one.
 */
async function closeAtNext(server: Server): Promise<void> {
  // Not the HTTP server's own, which also closes connections that wait for their next request.
  const close = () => void Server.prototype.close.call(server);
  server.prependOnceListener('connection', close);
  for (let knocks = 0; server.listening && knocks < mostKnocks; knocks++) {
    knock(server.address() as AddressInfo);
    await delay(knockMs);
  }
  if (server.listening) close();
}

/** A server's port. */
export interface WatchedPort {
  /** Reports that an answer has ended: its client may open a connection for its next request. */
  answered(): void;
  /** Closes the port; accepted connections stay open. */
  close(): Promise<void>;
}

/**
 * Watches a server's port, from before its first connection. A connection that is open for its client when the port
 * closes, but not accepted by the server, is reset by the system. So closing waits until no more connections arrive,
 * accepts those that the system still holds, and closes the port between two of them.
 */
export function watchPort(server: Server): WatchedPort {
  let taken = 0;
  /** When something happened behind which a connection may follow. */
  let busyMs = Number.NEGATIVE_INFINITY;
  const noteBusy = () => {
    busyMs = performance.now();
  };
  server.on('connection', () => {
    taken++;
    noteBusy();
  });

  async function untilQuiet(): Promise<void> {
    const untilMs = performance.now() + mostMs;
    for (;;) {
      const waitMs = Math.min(busyMs + quietMs, untilMs) - performance.now();
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

  return {
    answered: noteBusy,
    async close() {
      // Answers that are in progress may end at once.
      noteBusy();
      await untilQuiet();
      shrinkBacklog(server);
      await untilTaken();
      await closeAtNext(server);
    },
  };
}
