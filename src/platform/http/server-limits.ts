import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type ConnectionCounts, type ConnectionLimits, limitConnections } from './connection-limits.ts';
import { closeAfterDrain, type DrainLimits } from './lingering-close.ts';
import { type RawAnswer, rawAnswer } from './raw-answer.ts';
import { type BodyLimits, declaredLength, type HeldBytes, isAwaitingContinue, limitBody } from './request-body.ts';
import { upgradeOptions } from './websocket/upgrade.ts';

/** Limits on what clients may use of an HTTP server. */
export interface ServerLimits {
  connections: ConnectionLimits;
  /** Longest time for receiving the headers of a request, ms. */
  headersMs: number;
  /** Bytes of a request's first line and headers. */
  headerBytes: number;
  /** Time for which an idle connection stays open, ms. */
  idleMs: number;
  /** Longest time without input or output while a request is in progress, ms. */
  stallMs: number;
  body: BodyLimits;
  drain: DrainLimits;
  /** Bytes of answers buffered in the process for slow clients. */
  unsentBytes: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

/** The limits of a server except those of its connections. */
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

/** Counts of the effects of a server's limits. */
export interface ServerCounts extends ConnectionCounts {
  /** Connections closed because a request's headers took too long. */
  lateHeaders: number;
  /** Connections closed because their clients left answers unread. */
  unreadAnswers: number;
  /** Bytes of request bodies being received. */
  bodyBytes: number;
}

/** Pending answers of a server, by connection. */
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

/** True if another answer can be written without garbling one: the first pending answer has not begun. */
function mayAnswer(socket: Socket, owed: ReadonlySet<ServerResponse>): boolean {
  const [first, ...more] = owed;
  return socket.writable && more.length === 0 && (!first || (!first.headersSent && !first.req.complete));
}

/** Makes the last answer of every connection reach its client, even if a body is unread or the request is malformed. */
function drainBeforeClosing(server: Server, limits: DrainLimits): void {
  const owedOn = watchAnswers(server);
  const unread = new WeakSet<Socket>();
  server.prependListener('request', (request, response) => {
    // Runs before the HTTP server's own listener, which closes the connection after its last answer.
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
    // A connection that sent nothing expects no answer.
    if (answer === null || socket.bytesRead === 0 || !mayAnswer(socket, owedOn(socket))) {
      socket.destroy();
      return;
    }
    socket.write(rawAnswer(answer));
    closeAfterDrain(socket, limits);
  });
}

/** Sets the limits of bodies, and handles `Expect: 100-continue`. */
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
  // The application answers other expectations, with the contract's envelope.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  return held;
}

/** Server options that enforce `limits`. */
export function serverOptions(limits: ServerLimits): ServerOptions {
  return {
    maxHeaderSize: limits.headerBytes,
    // The application answers a request without a Host, with the contract's envelope.
    requireHostHeader: false,
    headersTimeout: limits.headersMs,
    connectionsCheckingInterval: Math.min(1000, limits.headersMs),
    // Slow bodies are limited by their rate instead.
    requestTimeout: 0,
    keepAliveTimeout: limits.idleMs,
    ...upgradeOptions,
  };
}

/**
 * Enforces `limits` on a server created with `serverOptions` that does not listen yet. Returns the counts of their
 * effects so far.
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

interface ParseError extends NodeJS.ErrnoException {
  /** The bytes in which the error was found. */
  rawPacket?: Buffer;
}

/**
 * The answer to a request that Node's parser rejected and the application never sees; null = the client would not read
 * it.
 */
function unreadableRequest({ code, rawPacket }: ParseError): RawAnswer | null {
  const refused = (status: number, message: string): RawAnswer => ({ status, code: 'invalid_params', message });
  switch (code) {
    case 'ECONNRESET':
      return null;
    case 'HPE_HEADER_OVERFLOW':
      // The first line alone is too long if no line has ended within the limit.
      return rawPacket && /^[A-Z]+ \S*$/.test(rawPacket.toString('latin1'))
        ? refused(414, 'The URL is too long.')
        : refused(431, 'The headers are too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return refused(413, 'The extensions of a chunk are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refused(408, 'The headers took too long.');
    default:
      return refused(400, 'The request is not valid HTTP.');
  }
}

/**
 * Maximum size of an unread body that is read after the answer, so that its connection can continue. With a larger one
 * it closes.
 */
const smallBytes = 64 * 1024;

/** True if the connection of a request whose body was not read to its end must close after the answer. */
function closesConnection(request: IncomingMessage): boolean {
  if (request.complete) return false;
  // A client that waits for `100 Continue` may or may not send the body after the answer: the next bytes would be
  // ambiguous.
  if (isAwaitingContinue(request)) return true;
  const length = declaredLength(request);
  return length === null || length > smallBytes;
}

/**
 * Adds `Connection: close` to an answer sent before the request's body was read to its end, unless the rest is small.
 */
function closeWhenUnread(request: IncomingMessage, response: ServerResponse): void {
  if (declaredLength(request) === 0) return;
  const writeHead = response.writeHead;
  response.writeHead = ((...head: Parameters<typeof writeHead>) => {
    if (!response.headersSent && closesConnection(request)) response.setHeader('Connection', 'close');
    return writeHead.apply(response, head);
  }) as typeof writeHead;
}

const everyMs = 1000;

/**
 * Bounds the bytes of answers buffered for slow clients. Beyond `maxBytes`, the connections with the oldest unread
 * bytes are closed until the rest fits. Returns the number closed so far.
 */
function boundUnsentAnswers(server: Server, maxBytes: number): () => number {
  // By connection with unsent bytes: the tick at which they first appeared.
  const unsentSince = new Map<Socket, number>();
  const answering = new Set<Socket>();
  let tick = 0;
  let closed = 0;
  server.prependListener('request', ({ socket }, response) => {
    answering.add(socket);
    response.once('close', () => {
      answering.delete(socket);
      unsentSince.delete(socket);
    });
  });
  const timer = setInterval(() => {
    tick += 1;
    let bytes = 0;
    for (const socket of answering) {
      if (socket.writableLength === 0) unsentSince.delete(socket);
      else if (!unsentSince.has(socket)) unsentSince.set(socket, tick);
      bytes += socket.writableLength;
    }
    if (bytes <= maxBytes) return;
    const slowest = [...unsentSince].toSorted((a, b) => a[1] - b[1]);
    for (const [socket] of slowest) {
      if (bytes <= maxBytes) break;
      bytes -= socket.writableLength;
      closed += 1;
      socket.destroy();
    }
  }, everyMs).unref();
  server.once('close', () => clearInterval(timer));
  return () => closed;
}
