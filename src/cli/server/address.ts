import type { AddressInfo } from 'node:net';
import type { ServerLimits } from '../../http/server-limits.ts';

/** An address to listen at. */
export interface ListenAt {
  port: number;
  host: string;
  /** Settings that choose the port; `--port or PORT` unless given. */
  chosenBy?: string;
  /** Other processes of this server listen there too, each with a socket of its own. */
  shared?: boolean;
  /** A socket that is bound there, which another process holds too. */
  socket?: object | undefined;
  /** Limits of its clients, where they differ from the usual. */
  limits?: Partial<ServerLimits>;
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

/** Where a client on this machine finds what listens at `address`. */
export function urlOf({ address, port, family }: AddressInfo): string {
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
