import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

/** How long requests in flight may take to finish when the server is told to stop. */
const graceMs = 8000;

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

/** Serves `app` at an address; resolves when it takes requests. */
export function listen(
  app: RequestListener,
  at: { port: number; host: string },
): Promise<{ server: Server; address: AddressInfo }> {
  const { port, host } = at;
  const server = createServer(app);
  server.on('clientError', refuseUnreadable);
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(
        taken
          ? new Error(`port ${port} of ${host} is in use: choose another with --port, or 0 for any that is free`)
          : error,
      );
    });
    server.listen(port, host, () => resolve({ server, address: server.address() as AddressInfo }));
  });
}

/** Takes no more requests, lets those in flight finish, and ends what is left after a while. */
export async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
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
