import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const everyMs = 1000;

/**
 * Bounds the bytes of answers buffered for slow clients. Beyond `maxBytes`, the connections with the oldest unread
 * bytes are closed until the rest fits. Returns the number closed so far.
 */
export function boundUnsentAnswers(server: Server, maxBytes: number): () => number {
  // By connection with unsent bytes: the tick at which they first appeared.
  const unsentSince = new Map<Socket, number>();
  const answering = new Set<Socket>();
  let tick = 0;
  let closed = 0;
  server.prependListener('request', ({ socket }, response) => {
    answering.add(socket);
    response.once('close', () => {
      answering.delete(socket);
      unsentSince.delete(socket);
    });
  });
  const timer = setInterval(() => {
    tick += 1;
    let bytes = 0;
    for (const socket of answering) {
      if (socket.writableLength === 0) unsentSince.delete(socket);
      else if (!unsentSince.has(socket)) unsentSince.set(socket, tick);
      bytes += socket.writableLength;
    }
    if (bytes <= maxBytes) return;
    const slowest = [...unsentSince].toSorted((a, b) => a[1] - b[1]);
    for (const [socket] of slowest) {
      if (bytes <= maxBytes) break;
      bytes -= socket.writableLength;
      closed += 1;
      socket.destroy();
    }
  }, everyMs).unref();
  server.once('close', () => clearInterval(timer));
  return () => closed;
}
