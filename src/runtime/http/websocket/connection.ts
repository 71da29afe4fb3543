import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { handshakeHead } from './upgrade.ts';

/** An open WebSocket, written as fast as its client reads. */
export interface WebSocketConnection {
  /** The subprotocol that was agreed on; '' = none. */
  readonly protocol: string;
  readonly isClosed: boolean;
  /**
   * Sends a message as soon as the client has room for it, or drops it when the client is gone; one given as a function
   * is made then.
   */
  send(message: Outgoing | (() => Outgoing)): Promise<void>;
  /** Sends a WebSocket ping, unless the client has not read what was sent before. */
  ping(): void;
  /** Says `last` if it is given, and closes; a client that does not answer is cut off. A second time does nothing. */
  close(code: number, reason: string, last?: string): void;
}

/** A message that is sent: text, or bytes. */
export type Outgoing = string | Uint8Array;

/** Hears what comes over a WebSocket. */
export interface WebSocketListener {
  /** A message. The next one is handed over when what this returns is resolved; it must not reject. */
  onMessage(message: string | Buffer): Promise<void> | void;
  onPong?(): void;
  /** The connection is over, however it ended. */
  onClose(code: number, reason: string): void;
}

/** What a client may send over a WebSocket. */
export interface MessageLimits {
  /** Bytes of one message; a larger one closes the connection with 1009. */
  bytes: number;
  /** Messages within ten seconds; one more closes the connection with 1008. */
  perTenSeconds: number;
}

/**
 * Codes that close a connection of any endpoint: for a frame that breaks RFC 6455, and for what is over
 * `MessageLimits`. @testonly
 */
export const frameClosing = { protocol: 1002, text: 1007, tooMany: 1008, tooLarge: 1009 };

/** How long a client may take to answer the closing handshake, ms. */
const lastWordsMs = 1000;
/** Messages that wait to be handled, before reading stops until they are. */
const mostWaiting = 16;
const windowMs = 10_000;
/** What fits into a close frame, bytes. */
const mostReasonBytes = 123;

/** Agrees with clients on WebSockets, of one of `protocols` where there are any. */
export interface WebSocketEndpoint {
  /**
   * Answers a handshake. `listen` makes the listener of the connection; headers are added to the answer. Throws
   * `BadHandshake` for a request that is none.
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

/** Hands messages to `listener` one after the other, and stops reading while too many wait. */
function receive(socket: WebSocket, listener: WebSocketListener, { perTenSeconds }: MessageLimits): void {
  const waiting: (string | Buffer)[] = [];
  let isBusy = false;
  let window = { startMs: performance.now(), messages: 0 };
  async function work(): Promise<void> {
    isBusy = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await listener.onMessage(next);
      if (socket.isPaused && waiting.length < mostWaiting) socket.resume();
    }
    isBusy = false;
  }
  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (socket.readyState !== socket.OPEN) return;
    const nowMs = performance.now();
    if (nowMs - window.startMs > windowMs) window = { startMs: nowMs, messages: 0 };
    window.messages += 1;
    if (window.messages > perTenSeconds)
      return socket.close(frameClosing.tooMany, `More than ${perTenSeconds} messages within ten seconds.`);
    waiting.push(isBinary ? (data as Buffer) : String(data));
    if (waiting.length >= mostWaiting) socket.pause();
    if (!isBusy) void work();
  });
}

function connectionOf(ws: WebSocket, socket: Socket): WebSocketConnection {
  let drained: PromiseWithResolvers<void> | null = null;
  const release = () => {
    drained?.resolve();
    drained = null;
  };
  socket.on('drain', release);
  ws.once('close', release);
  const isClosed = () => ws.readyState !== ws.OPEN;
  return {
    protocol: ws.protocol,
    get isClosed() {
      return isClosed();
    },
    async send(message) {
      while (!isClosed() && socket.writableNeedDrain) {
        drained ??= Promise.withResolvers<void>();
        await drained.promise;
      }
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

/** Makes an endpoint. Nothing is compressed: what is sent is small, and a memory of its own for each client is not. */
export function webSocketEndpoint(limits: MessageLimits, protocols: readonly string[] = []): WebSocketEndpoint {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.bytes,
    closeTimeout: lastWordsMs,
    handleProtocols: (asked: Set<string>) => [...asked].find((each) => protocols.includes(each)) ?? false,
  } as ConstructorParameters<typeof WebSocketServer>[0]);
  // What the library rejects of a handshake is answered like any request.
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
        const listener = listen(connectionOf(ws, socket));
        receive(ws, listener, limits);
        ws.on('pong', () => listener.onPong?.());
        // What breaks the protocol is answered with its close code by the library.
        ws.on('error', () => {});
        ws.once('close', (code, reason) => listener.onClose(code, String(reason)));
      });
    },
  };
}
