import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ExecutionArgs, parse } from 'graphql';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer } from 'graphql-ws';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { openWebSocket } from '../../access/web-socket.ts';
import { webSocketEndpoint } from '../../platform/http/websocket/websocket-connection.ts';
import { documentLimits } from '../limits/document-limits.ts';
import { withoutStatus } from '../request-error.ts';
import type { RunOperation, SentOperation } from '../run-operation.ts';
import { GraphqlConnection } from './subscription-connection.ts';

/** Limits of clients' messages. @testonly */
export const messageLimits = { bytes: documentLimits.bytes, perTenSeconds: 1000 };

/** Longest wait for `connection_init`, ms. */
const initMs = 10_000;

// The operation has already run when the library asks for it: these documents only say whether to expect a result or
// events.
const expectResult = parse('query { expected }');
const expectEvents = parse('subscription { expected }');

/**
 * `/graphql` by the protocol `graphql-transport-ws`: operations are admitted, weighed and charged like those of POST.
 */
export function graphqlWebSockets(services: EndpointServices, run: RunOperation) {
  const endpoint = webSocketEndpoint(messageLimits, [GRAPHQL_TRANSPORT_WS_PROTOCOL]);
  const made = ({ contextValue }: ExecutionArgs) => contextValue as never;
  const server = makeServer<Record<string, unknown>, GraphqlConnection>({
    connectionInitWaitTimeout: initMs,
    onConnect: ({ connectionParams, extra }) => extra.admit(connectionParams),
    async onSubscribe({ extra }, id, payload) {
      const result = await extra.operation(id, payload as SentOperation);
      if (Array.isArray(result)) return result;
      const document = Symbol.asyncIterator in result ? expectEvents : expectResult;
      return { schema: services.schema, document, contextValue: result };
    },
    execute: made,
    subscribe: made,
    onError: (_context, _id, _payload, errors) => errors.map((error) => withoutStatus(error).toJSON()),
  });
  const parts = { services, run, server: server as never };
  return (request: IncomingMessage, response: ServerResponse): void =>
    openWebSocket(
      services,
      endpoint,
      request,
      response,
      (socket, life) => new GraphqlConnection(parts, request, socket, life),
    );
}
