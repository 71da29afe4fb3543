import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay, setImmediate as eventLoop } from 'node:timers/promises';
import { closeAfterDrain } from './lingering-close.ts';
import { watchPort } from './port-closing.ts';
import { routeHandshakes } from './websocket/upgrade.ts';

/** Ends a server's connections. */
export interface ConnectionDrain {
  /** From now on every answer says `Connection: close`, and its connection ends with it. */
  start(): void;
  /**
   * Closes the port once every connection that the system has accepted for it is taken. Requests that come in the
   * meantime are begun after it.
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
const sweepMs = 50;
/** Limits within which the rest of what a client sends after its last answer is read and discarded. */
const leftOver = { bytes: 32 * 1024 * 1024, idleMs: 1000, totalMs: 1000 };

interface Connection {
  socket: Socket;
  /** Answers in progress, in the order of their requests. */
  answers: ServerResponse[];
  /** True if an answer has said `Connection: close`: what comes behind its request is not begun. */
  saidClose: boolean;
  /** Bytes read when the last request had come whole. When more were read, a part of the next has come. */
  wholeBytes: number;
  /** When it was opened, or its last answer was through, by performance.now(). */
  idleSinceMs: number;
}

function track(connection: Connection, request: IncomingMessage, response: ServerResponse, answered: () => void): void {
  const { answers, socket } = connection;
  const cameWhole = () => {
    connection.wholeBytes = socket.bytesRead;
  };
  answers.push(response);
  cameWhole();
  request.once('close', cameWhole);
  response.once('close', () => {
    answers.splice(answers.indexOf(response), 1);
    connection.idleSinceMs = performance.now();
    answered();
  });
}

/**
 * Makes an answer whose headers are not sent yet say that the connection closes with it, if it is the last that the
 * client waits for.
 */
function sayClose(connection: Connection, response: ServerResponse): void {
  const { socket, answers } = connection;
  // Called by the HTTP server after the last answer of a connection.
  socket.destroySoon = () => closeAfterDrain(socket, leftOver);
  const { writeHead } = response;
  response.writeHead = (...head: unknown[]) => {
    if (answers.at(-1) === response) {
      connection.saidClose = true;
      response.setHeader('Connection', 'close');
    }
    return Reflect.apply(writeHead, response, head);
  };
}

/** A server for `app`, and what ends its connections so that no client sees a reset or a part of an answer. */
export function createDrainingServer(
  options: ServerOptions,
  app: RequestListener,
): { server: Server; drain: ConnectionDrain } {
  const connections = new Map<Socket, Connection>();
  const allEnded = Promise.withResolvers<void>();
  let draining = false;
  /** While the port closes no request is begun: a client that waits for an answer opens no other connection. */
  let portClosing: Promise<void> | null = null;

  const server = createServer(options, (request, response) => {
    const connection = connections.get(request.socket)!;
    if (connection.saidClose) {
      request.resume();
      return;
    }
    track(connection, request, response, port.answered);
    if (!draining) {
      app(request, response);
      return;
    }
    sayClose(connection, response);
    // Requests that came together are all known when the first is answered.
    void (portClosing ?? eventLoop()).then(() => app(request, response));
  });
  routeHandshakes(server);
  const port = watchPort(server);
  server.on('connection', (socket) => {
    connections.set(socket, {
      socket,
      answers: [],
      saidClose: false,
      wholeBytes: 0,
      idleSinceMs: performance.now(),
    });
    socket.once('close', () => {
      connections.delete(socket);
      if (connections.size === 0 && !server.listening) allEnded.resolve();
    });
  });

  function closeIdle(): void {
    const nowMs = performance.now();
    for (const { socket, answers, wholeBytes, idleSinceMs } of connections.values()) {
      const isIdle = answers.length === 0 && socket.bytesRead === wholeBytes;
      if (isIdle && nowMs - idleSinceMs >= idleMs) closeAfterDrain(socket, leftOver);
    }
  }

  const drain: ConnectionDrain = {
    start() {
      if (draining) return;
      draining = true;
      const nowMs = performance.now();
      for (const connection of connections.values()) {
        connection.idleSinceMs = nowMs;
        for (const response of connection.answers) if (!response.headersSent) sayClose(connection, response);
      }
    },
    async closePort(othersMs = 0) {
      const closed = Promise.withResolvers<void>();
      portClosing = closed.promise;
      await port.close();
      if (othersMs > 0) await delay(othersMs);
      closed.resolve();
    },
    async closeConnections(graceMs) {
      const sweeping = setInterval(closeIdle, sweepMs);
      const late = setTimeout(() => {
        for (const socket of connections.keys()) socket.destroy();
      }, graceMs);
      if (connections.size > 0) await allEnded.promise;
      clearInterval(sweeping);
      clearTimeout(late);
    },
  };
  return { server, drain };
}
