import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Answering, watchAnswering } from './answering.ts';

/** What node's parser refuses never reaches the application: it is answered in the contract's words here. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const message = tooLarge ? 'The headers are too large.' : 'The request is not valid HTTP.';
  const body = JSON.stringify({ error: { code: 'invalid_params', message } });
  const lines = [
    `HTTP/1.1 ${tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request'}`,
    `x-request-id: ${randomUUID()}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** A server that takes requests. */
export interface Listening {
  server: Server;
  answering: Answering;
  address: AddressInfo;
}

/** Why an address cannot be listened at, and what to do when it is in use. */
export function cannotListen(error: NodeJS.ErrnoException, { port, host, chosenBy = '--port' }: ListenAt): Error {
  if (error.code !== 'EADDRINUSE') return error;
  return new Error(`port ${port} of ${host} is in use: choose another with ${chosenBy}, or 0 for any that is free`);
}

/** An address to listen at. */
export interface ListenAt {
  port: number;
  host: string;
  /** What the port is chosen by; `--port` unless given. */
  chosenBy?: string;
  /** Other processes of this server listen there too. */
  shared?: boolean;
}

// Where the system spreads connections evenly over those who listen. Elsewhere they share one socket, and the quickest takes what comes.
const spreads = process.platform === 'linux';

/** Serves `app` at an address; resolves when it takes requests. */
export function listen(app: RequestListener, at: ListenAt): Promise<Listening> {
  const { port, host, shared = false } = at;
  const server = createServer(app);
  const answering = watchAnswering(server);
  server.on('clientError', refuseUnreadable);
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, at)));
    server.listen({ port, host, reusePort: shared && spreads }, () =>
      resolve({ server, answering, address: server.address() as AddressInfo }),
    );
  });
}

/** Takes no more requests, lets those in flight finish, and cuts off what is left after `graceMs`. */
export async function stop({ server, answering }: Listening, graceMs: number): Promise<void> {
  answering.lastAnswers();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  answering.endUnused();
  const impatience = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(impatience);
}

/** Where a client on this machine finds what listens at `address`. */
export function urlOf({ address, port, family }: AddressInfo): string {
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
