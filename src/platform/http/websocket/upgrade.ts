import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeAfterDrain } from '../lingering-close.ts';

/** Limits within which the rest of what a client sends after its handshake was rejected is read and discarded. */
const leftOver = { bytes: 64 * 1024, idleMs: 1000, totalMs: 1000 };

/** The first bytes after the handshake, by request. */
const heads = new WeakMap<IncomingMessage, Buffer>();

/** True if a request asks for a WebSocket. */
export function asksForWebSocket({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Bytes that the client sent after its handshake; null = the HTTP server did not hand the connection over. */
export function handshakeHead(request: IncomingMessage): Buffer | null {
  return heads.get(request) ?? null;
}

/**
 * Options of a server that hands over the connections of WebSocket handshakes; a request to upgrade to another protocol
 * is answered normally.
 */
export const upgradeOptions = { shouldUpgradeCallback: asksForWebSocket };

/**
 * Routes handshakes like all requests: limits, identification, log and errors are the same. Their connections no longer
 * belong to the HTTP server, so the response created here closes with the connection, and closes it after use.
 */
export function routeHandshakes(server: Server): void {
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const socket = stream as Socket;
    // Replaces the removed listeners of the HTTP server.
    socket.on('error', () => socket.destroy());
    heads.set(request, head);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => closeAfterDrain(socket, leftOver));
    server.emit('request', request, response);
  });
}
