import { createServer, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as eventLoop } from 'node:timers/promises';
import { closeAfterDrain } from './lingering-close.ts';
import { routeHandshakes } from './websocket/upgrade.ts';

/** Drains a server's connections. */
export interface ConnectionDrain {
  /** Adds `Connection: close` to every answer from now on, so that its connection ends with it. */
  start(): void;
  /**
   * Closes the port once no more connections arrive; accepted ones stay open. Requests that arrive in the meantime
   * start after that: a client that waits for an answer opens no other connection.
   * @param othersMs Additional time that other processes at the same port may take to close theirs, ms. Requests start
   * after that, since a client that got an answer may connect to any of them.
   */
  closePort(othersMs?: number): Promise<void>;
  /**
   * Resolves when every connection has ended. Requests in progress are answered first; an idle connection stays open
   * for another second, in which a request in transit still arrives. The rest is cut off after `graceMs`.
   */
  closeConnections(graceMs: number): Promise<void>;
}

/** Time after which an idle connection ends, ms. */
const idleMs = 1000;
/**
 * Time without a new connection or a finished answer after which the port is closed, ms: enough for an answer to a
 * distant client and its next connection. A connection in the system's backlog is reset when the port closes.
 */
const quietMs = 200;
/** Longest wait for that, ms. */
const mostQuietMs = 1000;
/** Limits within which the rest of what a client sends after its last answer is read and discarded. */
const leftOver = { bytes: 32 * 1024 * 1024, idleMs: 1000, totalMs: 1000 };

interface Connection {
  /** Answers in progress, in the order of their requests. */
  answers: ServerResponse[];
  /** True if an answer said `Connection: close`: later requests of the connection are not started. */
  saidClose: boolean;
}

/** Creates a server for `app`, and the drain that ends its connections without a reset or a truncated answer. */
export function createDrainingServer(
  options: ServerOptions,
  app: RequestListener,
): { server: Server; drain: ConnectionDrain } {
  const connections = new Map<Socket, Connection>();
  const allEnded = Promise.withResolvers<void>();
  let draining = false;
  let portClosing: Promise<void> | null = null;
  /** Time of the last event after which a connection may follow. */
  let busyMs = 0;
  const noteBusy = () => {
    busyMs = performance.now();
  };

  /** Makes an answer the last of its connection, unless its headers are sent or the client awaits another. */
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
      // Pipelined requests are all known when the first is answered.
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
    // Answers in progress may end immediately.
    noteBusy();
    for (let waitMs = quietMs; waitMs > 0; waitMs = Math.min(busyMs + quietMs, endMs) - performance.now()) {
      await delay(waitMs);
      // Resolves when the event loop has polled for connections once more.
      await eventLoop();
    }
    // If connections keep arriving, the backlog is empty after an iteration of the event loop without one.
    for (let beforeMs = 0; beforeMs < busyMs && performance.now() < endMs + quietMs; ) {
      beforeMs = busyMs;
      await eventLoop();
    }
  }

  const drain: ConnectionDrain = {
    start() {
      if (draining) return;
      draining = true;
      // Earlier answers announced keep-alive for these connections.
      server.keepAliveTimeout = idleMs;
      for (const [socket, { answers }] of connections) for (const response of answers) sayClose(socket, response);
    },
    async closePort(othersMs = 0) {
      const closed = Promise.withResolvers<void>();
      portClosing = closed.promise;
      await untilQuiet();
      // Replaces the HTTP server's own method, which also closes connections that wait for their next request.
      NetServer.prototype.close.call(server);
      await delay(othersMs);
      closed.resolve();
    },
    async closeConnections(graceMs) {
      const idle = setTimeout(() => {
        server.closeIdleConnections();
        // The HTTP server does not count a connection that has sent nothing as idle.
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
