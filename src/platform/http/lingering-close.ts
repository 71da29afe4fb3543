import type { Socket } from 'node:net';

/** Limits within which the rest of what a client sends is read and discarded before its connection closes. */
export interface DrainLimits {
  bytes: number;
  /** Longest pause between two reads, ms. */
  idleMs: number;
  totalMs: number;
}

const lingering = new WeakSet<Socket>();

/**
 * Closes an HTTP connection after its last answer. A socket that closes with unread input makes TCP send a reset, which
 * can reach the client before it has read the answer. So the server ends its side first, discards what the client still
 * sends within `limits`, and then closes the socket. Input after this call is never parsed as a request.
 */
export function closeAfterDrain(socket: Socket, limits: DrainLimits): void {
  if (lingering.has(socket) || socket.destroyed) return;
  lingering.add(socket);
  let left = limits.bytes;
  const discard = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  };
  // Adding a listener takes the socket back from the HTTP parser; then the parser's own listener is removed.
  socket.on('data', discard);
  for (const listener of socket.listeners('data')) {
    if (listener !== discard) socket.removeListener('data', listener as (chunk: Buffer) => void);
  }
  const deadline = setTimeout(() => socket.destroy(), limits.totalMs).unref();
  socket.once('close', () => clearTimeout(deadline));
  socket.setTimeout(limits.idleMs, () => socket.destroy());
  socket.end();
  // The socket still counts as reading if the parser paused it, and does not read again until that ends.
  socket.push('');
  socket.resume();
}
