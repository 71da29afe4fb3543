import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestLife } from '../http/request-life.ts';
import { asksForWebSocket } from '../http/websocket/upgrade.ts';
import {
  BadHandshake,
  type WebSocketConnection,
  type WebSocketEndpoint,
  type WebSocketListener,
} from '../http/websocket/websocket-connection.ts';
import type { Lifetime } from '../runtime/lifetime.ts';
import { currentRequest } from '../runtime/request-scope.ts';
import { invalidHandshake, notFound, webSocketRequired } from '../wire/failure.ts';
import type { OpenStream } from '../wire/open-stream.ts';
import type { EndpointServices } from './endpoint-services.ts';

/** The addresses at which WebSockets are answered. */
export const webSocketPaths = ['/v2/ws', '/graphql'] as const;

/** Throws 404 for a WebSocket handshake at an address that has none. */
export function requireWebSocketPath(request: Pick<IncomingMessage, 'headers'>, path: string): void {
  if (!asksForWebSocket(request) || (webSocketPaths as readonly string[]).includes(path)) return;
  throw notFound(`A WebSocket at ${path} (there are WebSockets at ${webSocketPaths.join(' and ')})`);
}

/** Throws 426 for a request of an address that answers nothing but WebSocket handshakes. */
export function requireWebSocket(request: Pick<IncomingMessage, 'headers'>): void {
  if (asksForWebSocket(request)) return;
  throw webSocketRequired();
}

/**
 * Opens a WebSocket. It is a stream of the process from its handshake on: heartbeats, rechecks and the end of the
 * process reach what `open` returns. What is bound to `life` ends with the connection. Throws 400 for a request that is
 * no handshake, 503 when the process ends.
 */
export function openWebSocket(
  services: EndpointServices,
  endpoint: WebSocketEndpoint,
  request: IncomingMessage,
  response: ServerResponse,
  open: (connection: WebSocketConnection, life: Lifetime) => WebSocketListener & OpenStream,
): void {
  const life = requestLife(response);
  let opened: OpenStream | null = null;
  try {
    life.onEnd(
      services.attachStream({
        beat: () => opened?.beat(),
        recheck: async () => opened?.recheck(),
        end: (reason) => opened?.end(reason),
      }),
    );
    endpoint.accept(request, { 'x-request-id': request.id ?? '' }, (connection) => {
      response.statusCode = 101;
      // It lasts: what is waited for is not it.
      currentRequest()?.isHeavy();
      const made = open(connection, life);
      opened = made;
      return made;
    });
  } catch (error) {
    life.end();
    if (!(error instanceof BadHandshake)) throw error;
    throw invalidHandshake(error.message);
  }
}
