import type { IncomingMessage, ServerResponse } from 'node:http';
import { requestLife } from '../platform/http/request-life.ts';
import { asksForWebSocket } from '../platform/http/websocket/upgrade.ts';
import {
  BadHandshake,
  type WebSocketConnection,
  type WebSocketEndpoint,
  type WebSocketListener,
} from '../platform/http/websocket/websocket-connection.ts';
import type { Lifetime } from '../platform/runtime/lifetime.ts';
import { currentRequest } from '../platform/runtime/request-scope.ts';
import { invalidHandshake, notFound, webSocketRequired } from '../platform/wire/failure.ts';
import type { OpenStream } from '../platform/wire/open-stream.ts';
import type { EndpointServices } from './endpoint-services.ts';

/** The paths of WebSockets. */
export const webSocketPaths = ['/v2/ws', '/graphql'] as const;

/** Throws 404 for a WebSocket handshake at any other path. */
export function requireWebSocketPath(request: Pick<IncomingMessage, 'headers'>, path: string): void {
  if (!asksForWebSocket(request) || (webSocketPaths as readonly string[]).includes(path)) return;
  throw notFound(`A WebSocket at ${path} (there are WebSockets at ${webSocketPaths.join(' and ')})`);
}

/** Throws 426 for any other request to a WebSocket path. */
export function requireWebSocket(request: Pick<IncomingMessage, 'headers'>): void {
  if (asksForWebSocket(request)) return;
  throw webSocketRequired();
}

/**
 * Opens a WebSocket. It counts as a stream of the process from its handshake on: heartbeats, rechecks and shutdown
 * reach the object that `open` returns. Resources bound to `life` are freed when the connection ends. Throws 400 for a
 * request that is not a handshake, 503 during shutdown.
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
      // Not awaited, because it lasts as long as the connection.
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
