import type { AddressInfo } from 'node:net';
import type { ServerLimits } from '../../platform/http/server-limits.ts';

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
