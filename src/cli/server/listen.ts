import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ConnectionDrain, createDrainingServer } from '../../runtime/http/connection-drain.ts';
import {
  limitServer,
  type ServerCounts,
  type ServerLimits,
  serverOptions,
  usualLimits,
} from '../../runtime/http/server-limits.ts';
import { connectionLimits } from './connection-limits.ts';

/** A server that takes requests. */
export interface Listening {
  server: Server;
  drain: ConnectionDrain;
  address: AddressInfo;
  /** Whether other processes listen at the address, each with a socket of its own. */
  isShared: boolean;
  /** What its limits did. */
  counts: () => ServerCounts;
}

/** Why an address cannot be listened at, and which setting to change. */
export function cannotListen(
  error: NodeJS.ErrnoException,
  { port, host, chosenBy = '--port or PORT' }: ListenAt,
): Error {
  const hostBy = chosenBy === 'METRICS_PORT' ? 'METRICS_HOST' : 'HOST or --host';
  if (error.code === 'EACCES')
    return new Error(`port ${port} of ${host} is not allowed to this user: choose one above 1023 with ${chosenBy}`);
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN')
    return new Error(
      `${host} is no address of this machine (${error.code}): choose another with ${hostBy}, such as 127.0.0.1`,
    );
  if (error.code !== 'EADDRINUSE') return error;
  return new Error(`port ${port} of ${host} is in use: choose another with ${chosenBy}, or 0 for any that is free`);
}

/** An address to listen at. */
export interface ListenAt {
  port: number;
  host: string;
  /** What the port is chosen by; `--port or PORT` unless given. */
  chosenBy?: string;
  /** Other processes of this server listen there too. */
  shared?: boolean;
  /** What clients may take of it, where it differs from what is usual. */
  limits?: Partial<ServerLimits>;
}

// Where the system spreads connections evenly over those who listen. Elsewhere they share one socket, and the quickest
// takes what comes.
const spreads = process.platform === 'linux';

/** Serves `app` at an address; resolves when it takes requests. */
export function listen(app: RequestListener, at: ListenAt): Promise<Listening> {
  const { port, host, shared = false } = at;
  const limits = { connections: connectionLimits(), ...usualLimits, ...at.limits };
  const { server, drain } = createDrainingServer(serverOptions(limits), app);
  const counts = limitServer(server, limits);
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, at)));
    const isShared = shared && spreads;
    server.listen({ port, host, reusePort: isShared }, () =>
      resolve({ server, drain, address: server.address() as AddressInfo, isShared, counts }),
    );
  });
}

/** Processes that are stopped together close their ports within this time of each other, ms. */
const closingTogetherMs = 250;

/** Closes the port, lets requests in progress finish, and cuts off what is left after `graceMs`. */
export async function stop({ drain, isShared }: Listening, graceMs: number): Promise<void> {
  drain.start();
  await drain.closePort(isShared ? closingTogetherMs : 0);
  await drain.closeConnections(graceMs);
}

/** Where a client on this machine finds what listens at `address`. */
export function urlOf({ address, port, family }: AddressInfo): string {
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
