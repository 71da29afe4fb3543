import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { handshakeHead } from './upgrade.ts';

/** An open WebSocket, written as fast as the client reads. */
export interface WebSocketConnection {
  /** The negotiated subprotocol; '' = none. */
  readonly protocol: string;
  readonly isClosed: boolean;
  /** Marks the client as identified: until then the size of its messages is limited. */
  admit(): void;
  /**
   * Sends a message as soon as the client's buffer has room, or drops it if the client has disconnected. A function is
   * called to build the message then.
   */
  send(message: Outgoing | (() => Outgoing)): Promise<void>;
  /** Sends a WebSocket ping, unless the client has unread data. */
  ping(): void;
  /** Sends `last` if given, and closes. A client that does not answer is cut off. Idempotent. */
  close(code: number, reason: string, last?: string): void;
}

/** An outgoing message: text, or bytes. */
export type Outgoing = string | Uint8Array;

/** Receives the messages of a WebSocket. */
export interface WebSocketListener {
  /** Handles a message. The next one follows when the returned promise has resolved; it must not reject. */
  onMessage(message: string | Buffer): Promise<void> | void;
  onPong?(): void;
  /** Called when the connection has ended, for any reason. */
  onClose(code: number, reason: string): void;
}

/** Limits of the messages of a WebSocket's client. */
export interface MessageLimits {
  /** Bytes of one message; a larger one closes the connection with 1009. */
  bytes: number;
  /** Messages, pings and pongs within ten seconds; one more closes the connection with 1008. */
  perTenSeconds: number;
}

/** Close codes of every endpoint: for a frame that violates RFC 6455, and for exceeding `MessageLimits`. @testonly */
export const frameClosing = { protocol: 1002, text: 1007, tooMany: 1008, tooLarge: 1009 };

/** Longest wait for a client's answer to the closing handshake, ms. */
const lastWordsMs = 1000;
/** Number of messages waiting to be handled at which reading pauses; also bounded by the bytes of one message. */
const mostWaiting = 16;
const windowMs = 10_000;
/**
 * Maximum bytes of a message before the client is admitted: there may be thousands of unknown clients, each with an
 * incomplete message.
 */
const mostUnknownBytes = 64 * 1024;
/** Most bytes of a close frame's reason. */
const mostReasonBytes = 123;

/** Negotiates WebSockets, with one of `protocols` if there are any. */
export interface WebSocketEndpoint {
  /**
   * Answers a handshake. `listen` creates the listener of the connection; headers are added to the answer. Throws
   * `BadHandshake` for an invalid request.
   */
  accept(
    request: IncomingMessage,
    headers: Readonly<Record<string, string>>,
    listen: (connection: WebSocketConnection) => WebSocketListener,
  ): void;
}

/** A request for a WebSocket that is not a handshake of the protocol. */
export class BadHandshake extends Error {}

function requireHandshake({ method, headers }: IncomingMessage): void {
  const version = Number(headers['sec-websocket-version']);
  if (method !== 'GET') throw new BadHandshake(`A WebSocket handshake is a GET request, got ${method}.`);
  if (version !== 13 && version !== 8) throw new BadHandshake('Sec-WebSocket-Version: expected 13.');
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? ''))
    throw new BadHandshake('Sec-WebSocket-Key: expected 16 bytes in base64.');
}

function clipped(reason: string): string {
  return Buffer.byteLength(reason) <= mostReasonBytes ? reason : `${reason.slice(0, 40)}…`;
}

/** A connection with its internal methods. */
interface OwnConnection extends WebSocketConnection {
  /** Resolves when the client's buffer has room, or the client has disconnected. */
  room(): Promise<void>;
  hasRoom(): boolean;
}

/** Counts incoming frames. Closes the connection and returns false beyond the limit. */
function countedFrames(socket: WebSocket, { perTenSeconds }: MessageLimits): () => boolean {
  let window = { startMs: performance.now(), frames: 0 };
  return () => {
    if (socket.readyState !== socket.OPEN) return false;
    const nowMs = performance.now();
    if (nowMs - window.startMs > windowMs) window = { startMs: nowMs, frames: 0 };
    window.frames += 1;
    if (window.frames <= perTenSeconds) return true;
    socket.close(frameClosing.tooMany, `More than ${perTenSeconds} messages within ten seconds.`);
    return false;
  };
}

/**
 * Passes messages to `listener` one after the other, each when the client has read enough of the earlier answers.
 * Reading pauses while too many wait: a client that does not read is not read from either.
 */
function receive(
  socket: WebSocket,
  { room, hasRoom }: OwnConnection,
  listener: WebSocketListener,
  limits: MessageLimits,
): void {
  const waiting: { message: string | Buffer; bytes: number }[] = [];
  let waitingBytes = 0;
  let isBusy = false;
  const isAllowed = countedFrames(socket, limits);
  const isFull = () => waiting.length >= mostWaiting || waitingBytes >= limits.bytes;
  async function work(): Promise<void> {
    isBusy = true;
    while (waiting.length > 0) {
      await room();
      const { message, bytes } = waiting.shift()!;
      waitingBytes -= bytes;
      await listener.onMessage(message);
      if (socket.isPaused && !isFull()) socket.resume();
    }
    isBusy = false;
  }
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (!isAllowed()) return;
    const bytes = (data as Buffer).length;
    waiting.push({ message: isBinary ? (data as Buffer) : String(data), bytes });
    waitingBytes += bytes;
    if (isFull()) socket.pause();
    if (!isBusy) void work();
  });
  socket.on('ping', (data) => {
    // After several pings before it reads, only the last needs an answer.
    if (isAllowed() && hasRoom()) socket.pong(data);
  });
  socket.on('pong', () => {
    if (isAllowed()) listener.onPong?.();
  });
}

/** Closes the connection for more than `mostUnknownBytes`, unless the returned function is called before. */
function limitUnknown(ws: WebSocket, socket: Socket): () => void {
  const mostRead = socket.bytesRead + mostUnknownBytes;
  const count = () => {
    if (socket.bytesRead <= mostRead) return;
    ws.close(frameClosing.tooLarge);
    ws.pause();
  };
  socket.on('data', count);
  return () => void socket.off('data', count);
}

function connectionOf(ws: WebSocket, socket: Socket): OwnConnection {
  let drained: PromiseWithResolvers<void> | null = null;
  const release = () => {
    drained?.resolve();
    drained = null;
  };
  socket.on('drain', release);
  ws.once('close', release);
  const isClosed = () => ws.readyState !== ws.OPEN;
  const hasRoom = () => isClosed() || !socket.writableNeedDrain;
  async function room(): Promise<void> {
    while (!hasRoom()) {
      drained ??= Promise.withResolvers<void>();
      await drained.promise;
    }
  }
  return {
    room,
    hasRoom,
    admit: limitUnknown(ws, socket),
    protocol: ws.protocol,
    get isClosed() {
      return isClosed();
    },
    async send(message) {
      await room();
      if (!isClosed()) ws.send(typeof message === 'function' ? message() : message);
    },
    ping() {
      if (!isClosed() && !socket.writableNeedDrain) ws.ping();
    },
    close(code, reason, last) {
      if (isClosed()) return;
      if (last !== undefined) ws.send(last);
      ws.close(code, clipped(reason));
      release();
    },
  };
}

/** Creates an endpoint. Nothing is compressed: messages are small, and a compression context per client is not. */
export function webSocketEndpoint(limits: MessageLimits, protocols: readonly string[] = []): WebSocketEndpoint {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // The library's answers to pings would be buffered without a limit for a client that does not read.
    autoPong: false,
    perMessageDeflate: false,
    maxPayload: limits.bytes,
    closeTimeout: lastWordsMs,
    handleProtocols: (asked: Set<string>) => [...asked].find((each) => protocols.includes(each)) ?? false,
  } as ConstructorParameters<typeof WebSocketServer>[0]);
  // A handshake that the library rejects is answered like any request.
  server.on('wsClientError', ({ message }: Error) => {
    throw new BadHandshake(`${message}.`);
  });
  const headersOf = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>();
  server.on('headers', (lines: string[], request) => {
    for (const [name, value] of Object.entries(headersOf.get(request) ?? {})) lines.push(`${name}: ${value}`);
  });
  return {
    accept(request, headers, listen) {
      requireHandshake(request);
      const { socket } = request;
      socket.setTimeout(0);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, 30_000);
      headersOf.set(request, headers);
      server.handleUpgrade(request, socket, handshakeHead(request) ?? Buffer.alloc(0), (ws) => {
        const connection = connectionOf(ws, socket);
        const listener = listen(connection);
        receive(ws, connection, listener, limits);
        // The library answers a protocol violation with its close code.
        ws.on('error', () => {});
        ws.once('close', (code, reason) => listener.onClose(code, String(reason)));
      });
    },
  };
}
