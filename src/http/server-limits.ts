import type { Server, ServerOptions, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type ConnectionCounts, type ConnectionLimits, limitConnections } from './connection-limits.ts';
import { closeAfterDrain, type DrainLimits } from './lingering-close.ts';
import { rawAnswer } from './raw-answer.ts';
import { type BodyLimits, type HeldBytes, limitBody } from './request-body.ts';
import { closeWhenUnread } from './unread-body.ts';
import { unreadableRequest } from './unreadable-request.ts';
import { boundUnsentAnswers } from './unsent-answers.ts';
import { upgradeOptions } from './websocket/upgrade.ts';

/** Everything that bounds what clients may take of an HTTP server. */
export interface ServerLimits {
  connections: ConnectionLimits;
  /** Longest time in which the headers of a request come, ms. */
  headersMs: number;
  /** Bytes of a request's first line and headers. */
  headerBytes: number;
  /** Time for which an idle connection stays open, ms. */
  idleMs: number;
  /** Longest time in which a connection neither reads nor sends anything while a request is in progress, ms. */
  stallMs: number;
  body: BodyLimits;
  drain: DrainLimits;
  /** Bytes of answers that wait in the process for their clients to read them. */
  unsentBytes: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

/** The limits of a server but for its connections. */
export const usualLimits: Omit<ServerLimits, 'connections'> = {
  headersMs: 10_000,
  headerBytes: 32 * KiB,
  idleMs: 65_000,
  stallMs: 60_000,
  body: {
    graceMs: 10_000,
    bytesPerSecond: 8 * KiB,
    stallMs: 30_000,
    bytesPerCaller: 16 * MiB,
    bytesInAll: 128 * MiB,
  },
  drain: { bytes: 32 * MiB, idleMs: 2000, totalMs: 10_000 },
  unsentBytes: 64 * MiB,
};

/** Counts of what the limits of a server did. */
export interface ServerCounts extends ConnectionCounts {
  /** Connections closed because a request's headers took too long. */
  lateHeaders: number;
  /** Connections closed because their clients left answers unread. */
  unreadAnswers: number;
  /** Bytes of request bodies being received. */
  bodyBytes: number;
}

/** The answers that a server owes, by connection. */
function watchAnswers(server: Server): (socket: Socket) => ReadonlySet<ServerResponse> {
  const none: ReadonlySet<ServerResponse> = new Set();
  const owed = new WeakMap<Socket, Set<ServerResponse>>();
  server.prependListener('request', ({ socket }, response) => {
    const answers = owed.get(socket) ?? new Set();
    owed.set(socket, answers.add(response));
    response.once('close', () => answers.delete(response));
  });
  return (socket) => owed.get(socket) ?? none;
}

/**
 * True if nothing of an answer has been written that another one would garble: of all that are owed, the first is not
 * begun.
 */
function mayAnswer(socket: Socket, owed: ReadonlySet<ServerResponse>): boolean {
  const [first, ...more] = owed;
  return socket.writable && more.length === 0 && (!first || (!first.headersSent && !first.req.complete));
}

/**
 * Makes the last answer of every connection reach its client, though a body is left unread or the request cannot be
 * read.
 */
function drainBeforeClosing(server: Server, limits: DrainLimits): void {
  const owedOn = watchAnswers(server);
  const unread = new WeakSet<Socket>();
  server.prependListener('request', (request, response) => {
    // Before the HTTP server's own listener, which closes the connection after its last answer.
    response.prependOnceListener('finish', () => {
      if (!request.complete) unread.add(request.socket);
    });
  });
  server.on('connection', (socket) => {
    // Called by the HTTP server after the last answer of a connection.
    socket.destroySoon = () => {
      if (unread.has(socket)) closeAfterDrain(socket, limits);
      else Socket.prototype.destroySoon.call(socket);
    };
  });
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const answer = unreadableRequest(error);
    // A connection on which nothing was sent expects no answer.
    if (answer === null || socket.bytesRead === 0 || !mayAnswer(socket, owedOn(socket))) {
      socket.destroy();
      return;
    }
    socket.write(rawAnswer(answer));
    closeAfterDrain(socket, limits);
  });
}

/** Sets the limits of bodies, and answers a client that asks before it sends one. */
function limitBodies(server: Server, limits: BodyLimits): HeldBytes {
  const held: HeldBytes = { total: 0, byCaller: new Map() };
  const waiting = new WeakSet<object>();
  server.prependListener('request', (request, response) => {
    limitBody(request, response, { limits, held, waiting: waiting.has(request) });
    closeWhenUnread(request, response);
  });
  // `100 Continue` is sent by the reader of the body, once the request is accepted.
  server.on('checkContinue', (request, response) => {
    waiting.add(request);
    server.emit('request', request, response);
  });
  // The application answers another expectation, with the contract's envelope.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  return held;
}

/** Options with which a server keeps within `limits`. */
export function serverOptions(limits: ServerLimits): ServerOptions {
  return {
    maxHeaderSize: limits.headerBytes,
    // The application answers a request without one, with the contract's envelope.
    requireHostHeader: false,
    headersTimeout: limits.headersMs,
    connectionsCheckingInterval: Math.min(1000, limits.headersMs),
    // A slow body is a matter of its rate.
    requestTimeout: 0,
    keepAliveTimeout: limits.idleMs,
    ...upgradeOptions,
  };
}

/**
 * Keeps a server, created with `serverOptions` and not listening yet, within `limits`. Returns what they did up to now.
 */
export function limitServer(server: Server, limits: ServerLimits): () => ServerCounts {
  server.timeout = limits.stallMs;
  let lateHeaders = 0;
  server.on('clientError', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') lateHeaders += 1;
  });
  const connections = limitConnections(server, limits.connections);
  const unreadAnswers = boundUnsentAnswers(server, limits.unsentBytes);
  const held = limitBodies(server, limits.body);
  drainBeforeClosing(server, limits.drain);
  return () => ({ ...connections(), lateHeaders, unreadAnswers: unreadAnswers(), bodyBytes: held.total });
}
