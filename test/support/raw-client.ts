import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection that sends bytes as they are. */
export interface RawClient {
  socket: Socket;
  /** Writes all of it; rejects when the connection breaks before it is written. */
  send(bytes: string | Buffer): Promise<void>;
  /** Data received so far. */
  received(): string;
  /** Resolves with the received data once it contains `text`; rejects if the connection ends before. */
  until(text: string | RegExp): Promise<string>;
  /** Resolves when the connection is over: with all that came, and how it ended. */
  ended: Promise<{ text: string; reset: boolean }>;
}

/** Opens a raw connection to a server on this machine. */
export async function rawClient(port: number, options: { allowHalfOpen?: boolean } = {}): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', ...options });
  let text = '';
  let reset = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    text += chunk;
    wake();
  });
  socket.on('error', () => {
    reset = true;
  });
  const ended = new Promise<{ text: string; reset: boolean }>((resolve) => {
    socket.once('close', () => {
      wake();
      resolve({ text, reset });
    });
  });
  await once(socket, 'connect');
  return {
    socket,
    received: () => text,
    ended,
    send: (bytes) =>
      new Promise((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    until(wanted) {
      const isThere = () => (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text));
      return new Promise((resolve, reject) => {
        const look = () => {
          if (!isThere() && !socket.closed) return;
          waiting.delete(look);
          if (isThere()) resolve(text);
          else reject(new Error(`the connection ended: ${JSON.stringify(text)}`));
        };
        waiting.add(look);
        look();
      });
    },
  };
}

/**
 * Sends all of `bytes` before it reads anything, as simple clients do, and returns what came until the end of the
 * connection.
 */
export async function sentBlindly(port: number, bytes: string | Buffer): Promise<{ text: string; reset: boolean }> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let reset = false;
  socket.on('error', () => {
    reset = true;
  });
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  if (!socket.closed) await once(socket, 'close');
  return { text: Buffer.concat(chunks).toString('latin1'), reset };
}
