import { Router } from 'express';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { openWebSocket, requireWebSocket } from '../../access/web-socket.ts';
import { webSocketEndpoint } from '../../platform/http/websocket/websocket-connection.ts';
import { methodNotAllowed } from '../../platform/wire/failure.ts';
import type { SocketOperations } from './socket-topics.ts';
import { SocketConnection } from './topic-connection.ts';

/** Limits of clients' messages. @testonly */
export const controlLimits = { bytes: 64 * 1024, perTenSeconds: 1000 };

/** `/v2/ws`, the streaming channel. */
export function socketRouter(services: EndpointServices, operations: SocketOperations): Router {
  const endpoint = webSocketEndpoint(controlLimits);
  const parts = { services, operations };
  const router = Router({ caseSensitive: true });
  router.all('/v2/ws', (request, response) => {
    if (request.method !== 'GET') throw methodNotAllowed(request.method, ['GET']);
    requireWebSocket(request);
    openWebSocket(
      services,
      endpoint,
      request,
      response,
      (socket, life) => new SocketConnection(parts, request, socket, life),
    );
  });
  return router;
}
