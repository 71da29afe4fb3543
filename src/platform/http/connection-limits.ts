import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { closeAfterDrain } from './lingering-close.ts';
import { rawAnswer } from './raw-answer.ts';

/** Limits of a server's connections. */
export interface ConnectionLimits {
  /** Maximum number of connections. */
  max: number;
  /** Maximum number of connections per client address. */
  perAddress: number;
  /**
   * The client address that a connection counts for; null = shared by clients, as behind a proxy, so that only `max`
   * applies.
   */
  addressOf: (socket: Socket) => string | null;
}

/** Counts of a server's connections. */
export interface ConnectionCounts {
  open: number;
  /** Number of these without a request in progress. */
  idle: number;
  /** Number of connections rejected since the start, by the limit that was reached. */
  refused: { total: number; address: number };
  /** Idle connections closed since the start to make room for new ones. */
  evicted: number;
}

/** Connections that share a limit. */
interface Group {
  limit: number;
  open: number;
  /** Connections without a request in progress, the least recently used first. */
  idle: Set<Socket>;
}

interface Held {
  address: string | null;
  groups: readonly Group[];
  /** Requests in progress on the connection. */
  requests: number;
}

/** Maximum number of rejected connections that get an answer concurrently; others are closed without one. */
const mostAnswered = 64;
const rejectionLimits = { bytes: 64 * 1024, idleMs: 1000, totalMs: 1000 };

function rejecter(): (socket: Socket) => void {
  let open = 0;
  return (socket) => {
    if (open >= mostAnswered) {
      socket.destroy();
      return;
    }
    open += 1;
    socket.once('close', () => {
      open -= 1;
    });
    const message = 'The server has too many connections.';
    socket.write(rawAnswer({ status: 503, code: 'internal', message, retryAfter: 1 }));
    closeAfterDrain(socket, rejectionLimits);
  };
}

/**
 * Limits the connections of a server. When a limit is reached, the least recently used connection without a request in
 * progress is closed for the new one, so idle connections never block a client. When every connection has a request in
 * progress, the new one is answered 503 and closed. Call it before the server listens.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): () => ConnectionCounts {
  const all: Group = { limit: limits.max, open: 0, idle: new Set() };
  const byAddress = new Map<string, Group>();
  const connections = new Map<Socket, Held>();
  const refuse = rejecter();
  const refused = { total: 0, address: 0 };
  let evicted = 0;

  function forget(socket: Socket): void {
    const held = connections.get(socket);
    if (!held) return;
    connections.delete(socket);
    for (const group of held.groups) {
      group.open -= 1;
      group.idle.delete(socket);
    }
    if (held.address !== null && byAddress.get(held.address)?.open === 0) byAddress.delete(held.address);
  }

  function makeRoom({ limit, open, idle }: Group): boolean {
    if (open < limit) return true;
    const [oldest] = idle;
    if (!oldest) return false;
    evicted += 1;
    forget(oldest);
    oldest.destroy();
    return true;
  }

  server.on('connection', (socket) => {
    const address = limits.addressOf(socket);
    const own =
      address === null ? null : (byAddress.get(address) ?? { limit: limits.perAddress, open: 0, idle: new Set() });
    const full = own && !makeRoom(own) ? 'address' : makeRoom(all) ? null : 'total';
    if (full !== null) {
      refused[full] += 1;
      refuse(socket);
      return;
    }
    if (own) byAddress.set(address!, own);
    const groups = own ? [all, own] : [all];
    for (const group of groups) {
      group.open += 1;
      group.idle.add(socket);
    }
    connections.set(socket, { address, groups, requests: 0 });
    socket.once('close', () => forget(socket));
  });

  server.prependListener('request', ({ socket }, response) => {
    const held = connections.get(socket);
    if (!held) return;
    held.requests += 1;
    for (const { idle } of held.groups) idle.delete(socket);
    response.once('close', () => {
      held.requests -= 1;
      if (held.requests > 0 || !connections.has(socket)) return;
      for (const { idle } of held.groups) idle.add(socket);
    });
  });

  return () => ({ open: all.open, idle: all.idle.size, refused: { ...refused }, evicted });
}
