import { createServer, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as eventLoop } from 'node:timers/promises';
import { closeAfterDrain } from './lingering-close.ts';
import { routeHandshakes } from './websocket/upgrade.ts';

/** Ends a server's connections. */
export interface ConnectionDrain {
  /** From now on every answer says `Connection: close`, and its connection ends with it. */
  start(): void;
  /**
   * Closes the port once no more connections arrive; accepted ones stay open. Requests that come in the meantime are
   * begun after it: a client that waits for an answer opens no other connection.
   *
   * @param othersMs How long other processes that listen at the port may take longer to close theirs, ms: requests are
   *   begun after that, since a client that is answered may connect to any of them.
   */
  closePort(othersMs?: number): Promise<void>;
  /**
   * Resolves when every connection has ended. Requests in progress are answered first; a connection without one stays
   * open for another second, in which a request on its way still arrives. What is left after `graceMs` is cut off.
   */
  closeConnections(graceMs: number): Promise<void>;
}

/** A connection without a request in progress ends after this long, ms. */
const idleMs = 1000;
/**
 * The port is closed when no connection has arrived, and no answer has ended, for this long, ms: the time that an
 * answer to a distant client and its next connection take. A connection that the system holds for the server when the
 * port is closed is reset.
 */
const quietMs = 200;
/** Longest wait for that, ms. */
const mostQuietMs = 1000;
/** Limits within which the rest of what a client sends after its last answer is read and discarded. */
const leftOver = { bytes: 32 * 1024 * 1024, idleMs: 1000, totalMs: 1000 };

interface Connection {
  /** Answers in progress, in the order of their requests. */
  answers: ServerResponse[];
  /** True if an answer says `Connection: close`: what comes behind its request is not begun. */
  saidClose: boolean;
}

/** A server for `app`, and what ends its connections so that no client sees a reset or a part of an answer. */
export function createDrainingServer(
  options: ServerOptions,
  app: RequestListener,
): { server: Server; drain: ConnectionDrain } {
  const connections = new Map<Socket, Connection>();
  const allEnded = Promise.withResolvers<void>();
  let draining = false;
  let portClosing: Promise<void> | null = null;
  /** When something happened behind which a connection may follow. */
  let busyMs = 0;
  const noteBusy = () => {
    busyMs = performance.now();
  };

  /** Makes an answer the last of its connection, unless its headers are sent or the client waits for another. */
  function sayClose(socket: Socket, response: ServerResponse): void {
    const connection = connections.get(socket);
    if (!connection || response.headersSent || connection.answers.at(-1) !== response) return;
    connection.saidClose = true;
    response.setHeader('Connection', 'close');
    // Called by the HTTP server after the last answer of a connection.
    socket.destroySoon = () => closeAfterDrain(socket, leftOver);
  }

  const server = createServer(options, async (request, response) => {
    const { socket } = request;
    const { answers, saidClose } = connections.get(socket)!;
    if (saidClose) {
      request.resume();
      return;
    }
    answers.push(response);
    response.once('close', () => {
      answers.splice(answers.indexOf(response), 1);
      noteBusy();
    });
    if (draining) {
      // Requests that came together are all known when the first is answered.
      await (portClosing ?? eventLoop());
      sayClose(socket, response);
    }
    app(request, response);
  });
  routeHandshakes(server);
  server.on('connection', (socket) => {
    noteBusy();
    connections.set(socket, { answers: [], saidClose: false });
    socket.once('close', () => connections.delete(socket));
  });
  server.once('close', allEnded.resolve);

  async function untilQuiet(): Promise<void> {
    const endMs = performance.now() + mostQuietMs;
    // Answers that are in progress may end at once.
    noteBusy();
    for (let waitMs = quietMs; waitMs > 0; waitMs = Math.min(busyMs + quietMs, endMs) - performance.now()) {
      await delay(waitMs);
      // The event loop has looked for connections once more when this resolves.
      await eventLoop();
    }
    // If they come all the time, the system holds none after a turn of the event loop in which none came.
    for (let beforeMs = 0; beforeMs < busyMs && performance.now() < endMs + quietMs; ) {
      beforeMs = busyMs;
      await eventLoop();
    }
  }

  const drain: ConnectionDrain = {
    start() {
      if (draining) return;
      draining = true;
      // Earlier answers have said that these connections stay open.
      server.keepAliveTimeout = idleMs;
      for (const [socket, { answers }] of connections) for (const response of answers) sayClose(socket, response);
    },
    async closePort(othersMs = 0) {
      const closed = Promise.withResolvers<void>();
      portClosing = closed.promise;
      await untilQuiet();
      // Not the HTTP server's own, which also closes connections that wait for their next request.
      NetServer.prototype.close.call(server);
      await delay(othersMs);
      closed.resolve();
    },
    async closeConnections(graceMs) {
      const idle = setTimeout(() => {
        server.closeIdleConnections();
        // To the HTTP server, a connection on which nothing came yet is not idle.
        for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
      }, idleMs);
      const late = setTimeout(() => {
        for (const socket of connections.keys()) socket.destroy();
      }, graceMs);
      await allEnded.promise;
      clearTimeout(idle);
      clearTimeout(late);
    },
  };
  return { server, drain };
}
