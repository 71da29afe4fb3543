import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../../platform/config/config.ts';
import { peerAddressOf } from '../../platform/http/client-address.ts';
import { type ConnectionDrain, createDrainingServer } from '../../platform/http/connection-drain.ts';
import type { ConnectionLimits } from '../../platform/http/connection-limits.ts';
import {
  limitServer,
  type ServerCounts,
  type ServerLimits,
  serverOptions,
  usualLimits,
} from '../../platform/http/server-limits.ts';

/** A server that accepts requests. */
export interface Listening {
  server: Server;
  drain: ConnectionDrain;
  address: AddressInfo;
  /** True if other processes listen at the address, each with its own socket. */
  isShared: boolean;
  /** Counts of the effects of its limits. */
  counts: () => ServerCounts;
}

// Systems that spread connections evenly over listening sockets. Elsewhere processes share one socket, and the fastest
// accepts a connection.
const spreads = process.platform === 'linux';

/** Serves `app` at an address. Resolves when it accepts requests. */
export function listen(app: RequestListener, at: ListenAt): Promise<Listening> {
  const { port, host, shared = false, socket } = at;
  const limits = { connections: connectionLimits(), ...usualLimits, ...at.limits };
  const { server, drain } = createDrainingServer(serverOptions(limits), app);
  const counts = limitServer(server, limits);
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, at)));
    const isShared = shared && spreads;
    server.listen(socket ?? { port, host, reusePort: isShared }, () =>
      resolve({ server, drain, address: server.address() as AddressInfo, isShared, counts }),
    );
  });
}

/** Processes that are stopped together close their ports within this time of each other, ms. */
const closingTogetherMs = 250;

/** Closes the port, lets requests in progress finish, and cuts off the rest after `graceMs`. */
export async function stop({ drain, isShared }: Listening, graceMs: number): Promise<void> {
  drain.start();
  await drain.closePort(isShared ? closingTogetherMs : 0);
  await drain.closeConnections(graceMs);
}

/** Default number of connections of a server, unless the system has room for fewer. */
const usualMax = 8192;

/** Maximum number of open files of a process; null = unknown. */
function openFilesLimit(): number | null {
  // Missing in Node's types. Without it, the names of all peers would be looked up.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: number | 'unlimited' } } };
  const soft = userLimits?.open_files.soft;
  return typeof soft === 'number' ? soft : null;
}

/** Default number of connections of a process: a quarter of its open files is reserved for everything else. */
function maxConnections(): number {
  return Math.min(usualMax, Math.floor(0.75 * (openFilesLimit() ?? usualMax)));
}

/** The connection limits by the settings, else the defaults of a server. */
export function connectionLimits(
  settings: Pick<Config, 'maxConnections' | 'maxConnectionsPerAddress' | 'trustedProxies'> = {
    maxConnections: null,
    maxConnectionsPerAddress: null,
    trustedProxies: [],
  },
): ConnectionLimits {
  const max = settings.maxConnections ?? maxConnections();
  return {
    max,
    perAddress: Math.min(max, settings.maxConnectionsPerAddress ?? Math.ceil(max / 4)),
    addressOf: peerAddressOf(['loopback', ...settings.trustedProxies]),
  };
}

/** A listening address. */
export interface ListenAt {
  port: number;
  host: string;
  /** Settings that choose the port; `--port or PORT` by default. */
  chosenBy?: string;
  /** True if other processes of this server listen there too, each with its own socket. */
  shared?: boolean;
  /** A socket bound there, which another process holds too. */
  socket?: object | undefined;
  /** Limits of its clients that differ from the default. */
  limits?: Partial<ServerLimits>;
}

/** The error of an address that cannot be listened on, which names the setting to change. */
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

/** The URL for clients on this machine of a server that listens at `address`. */
export function urlOf({ address, port, family }: AddressInfo): string {
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
