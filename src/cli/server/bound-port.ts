import { lookup } from 'node:dns/promises';
import * as net from 'node:net';
import { type AddressInfo, isIP } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { cannotListen, type ListenAt } from './listen-address.ts';
import type { BoundSocket } from './pool-process.ts';

/** Node's internal API for a bound socket that does not listen; a negative number is a system error. */
interface BindingNet {
  _createServerHandle(address: string, port: number, addressType: 4 | 6, fd: number, flags: number): Handle | number;
}

type Handle = BoundSocket & { getsockname(out: Partial<AddressInfo>): number };

function throwIfFailed(code: number, at: ListenAt): void {
  if (code >= 0) return;
  const name = getSystemErrorName(code);
  throw cannotListen(Object.assign(new Error(`bind ${name} ${at.host}:${at.port}`), { code: name }), at);
}

/**
 * Binds a socket to the port, for a process that will listen on it. The holder of the socket keeps the port:
 * connections that arrive while no process accepts them wait in the system's queue. A `net.Server` would accept them
 * here. Node has no public call for a socket that does not.
 */
export async function bindSocket(at: ListenAt): Promise<{ port: number; socket: BoundSocket }> {
  const { address } = await lookup(at.host).catch((error: NodeJS.ErrnoException) => {
    throw cannotListen(error, at);
  });
  const addressType = isIP(address) === 6 ? 6 : 4;
  const socket = (net as unknown as BindingNet)._createServerHandle(address, at.port, addressType, -1, 0);
  if (typeof socket === 'number') {
    throwIfFailed(socket, at);
    throw new Error(`${at.host} cannot be bound`);
  }
  const name: Partial<AddressInfo> = {};
  // The system reports a port in use here at the latest.
  throwIfFailed(socket.getsockname(name), at);
  return { port: name.port!, socket };
}

/** Finds the port that several workers will open, each with its own socket: the requested one if it is free. */
export async function sharedPort(at: ListenAt): Promise<number> {
  const { port, socket } = await bindSocket(at);
  socket.close();
  return port;
}
