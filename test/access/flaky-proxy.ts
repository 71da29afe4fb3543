import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that a test can take away, let hang, and bring back. */
export interface FlakyProxy {
  port: number;
  /** Closes every connection and refuses new ones. */
  takeAway(): Promise<void>;
  /** Keeps connections open and passes nothing on. */
  hang(): void;
  bringBack(): Promise<void>;
  /** Round trips up to now: how often a client sent something after it had an answer. */
  roundTrips(): number;
}

/**
 * Proxies a port of this machine to `host:port`, or to PostgreSQL's socket in the folder `host`. `passes` is asked of
 * whatever a client sends, before it is passed on.
 */
export async function flakyProxy(
  host: string,
  port: number,
  passes: (sent: Buffer) => boolean = () => true,
): Promise<FlakyProxy> {
  const sockets = new Set<Socket>();
  let hanging = false;
  let roundTrips = 0;
  const server = createServer((client) => {
    let isAsking = false;
    client.on('data', () => {
      if (!isAsking) roundTrips += 1;
      isAsking = true;
    });
    const upstream = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    upstream.on('data', () => {
      isAsking = false;
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => hanging || (from === client && !passes(data)) || to.write(data));
      from.on('close', () => to.destroy());
      from.on('error', () => to.destroy());
    }
  });
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  return {
    port: own,
    roundTrips: () => roundTrips,
    async takeAway() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      await closed;
    },
    hang() {
      hanging = true;
    },
    async bringBack() {
      hanging = false;
      if (!server.listening) await listen(own);
    },
  };
}
