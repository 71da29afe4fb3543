import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How long requests in flight may take to finish when the server is told to stop. */
const graceMs = 8000;

/** Serves `app` at an address; resolves when it takes requests. */
export function listen(
  app: RequestListener,
  at: { port: number; host: string },
): Promise<{ server: Server; address: AddressInfo }> {
  const { port, host } = at;
  const server = createServer(app);
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
