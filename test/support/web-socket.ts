import { WebSocket } from 'ws';
import type { Json } from './app.ts';

/** A WebSocket as a client has it: what came, and how it ended. */
export interface Talk {
  socket: WebSocket;
  /** Text messages as JSON, in their order. */
  said: Json[];
  /** Binary messages. */
  bytes: Buffer[];
  send(message: object | string | Buffer): void;
  /** Resolves with the end of the connection. */
  closed: Promise<{ code: number; reason: string }>;
  open: Promise<void>;
}

/** An HTTP answer to a handshake. */
export interface Rejected {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Json;
}

/** Opens a WebSocket at `url`, which begins with http. */
export function talk(url: string, protocols: string[] = [], headers: Record<string, string> = {}): Talk {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocols, { headers });
  const said: Json[] = [];
  const bytes: Buffer[] = [];
  const open = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) bytes.push(data);
    else said.push(JSON.parse(String(data)));
  });
  socket.on('open', () => open.resolve());
  socket.on('error', open.reject);
  socket.on('close', (code, reason) => closed.resolve({ code, reason: String(reason) }));
  open.promise.catch(() => {});
  return {
    socket,
    said,
    bytes,
    send: (message) =>
      socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message)),
    closed: closed.promise,
    open: open.promise,
  };
}

/** The HTTP answer to a handshake that is rejected. */
export function rejected(url: string, headers: Record<string, string> = {}): Promise<Rejected> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => reject(new Error('the handshake was accepted')));
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: JSON.parse(text) }),
      );
    });
  });
}
