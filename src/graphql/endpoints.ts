import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DocumentNode } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { EndpointServices } from '../access/endpoint-services.ts';
import { failureWithin } from '../platform/wire/failure.ts';
import type { AnswerCache } from '../platform/wire/response-cache.ts';
import type { DocumentCache } from './document-cache.ts';
import { type EstimateFor, estimatesFor } from './estimate.ts';
import type { GraphTables } from './execution/answer-table.ts';
import { standardIntrospection } from './limits/standard-introspection.ts';
import { operationWeights } from './limits/weighed-operation.ts';
import {
  answerCache,
  type CachedAnswer,
  compressedAnswers,
  errorCodes,
  largeAnswers,
  tableAnswers,
} from './plugins/answers.ts';
import { execution, type OpenSubscriptions, subscriptionStreams } from './plugins/execution.ts';
import {
  costExtension,
  documentBounds,
  operationAdmission,
  readInstant,
  requestForm,
  standardIntrospectionAnswers,
  variables,
} from './plugins/requests.ts';
import type { HttpContext } from './request-state.ts';
import { operationRunner } from './run-operation.ts';
import type { TrustedDocuments } from './trusted-documents.ts';
import { graphqlWebSockets } from './ws-endpoint.ts';

/** Dependencies of the graph's endpoints, beside those of every endpoint. */
export interface GraphqlParts {
  services: EndpointServices;
  /** Answers of the last second. */
  cache: AnswerCache<CachedAnswer>;
  documents: DocumentCache;
  trusted: TrustedDocuments;
  tables: GraphTables;
}

/** The graph over HTTP. */
export interface GraphqlEndpoints {
  /** `/graphql`: operations, and subscriptions each on a connection of its own. */
  yoga: YogaServerInstance<HttpContext, object>;
  /** `/graphql` over WebSockets. Throws for a request that is not a handshake. */
  webSocket: (request: IncomingMessage, response: ServerResponse) => void;
  /** Estimates operations, which are not run. */
  estimate: EstimateFor;
}

/** Yoga without what other parts of the server do. */
function yogaOf({ schema }: EndpointServices, plugins: Plugin[], documents: DocumentCache) {
  return createYoga<HttpContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    logging: false,
    maskedErrors: false,
    // One operation per request, as JSON. No field takes an upload.
    batching: false,
    multipart: false,
    // Bodies are bounded as they are received (body-limit.ts). Yoga would read each through another stream.
    maxRequestBodySize: false,
    // Cross-origin rules are the server's, for every endpoint alike.
    cors: false,
    plugins,
    // GraphiQL is a page like the others (src/pages/graphiql).
    graphiql: false,
    parserAndValidationCache: documents,
  });
}

/** Builds the graph's endpoints: Yoga with one plugin per concern, in the order in which they handle a request. */
export function graphqlEndpoints({ services, cache, documents, trusted, tables }: GraphqlParts): GraphqlEndpoints {
  const open: OpenSubscriptions = new WeakMap();
  const weigh = operationWeights(services.schema);
  const introspection = standardIntrospection(services.schema);
  const isFree = (document: DocumentNode) => introspection(document) !== null;
  const plugins: Plugin[] = [
    requestForm(trusted),
    documentBounds(isFree, trusted),
    tableAnswers(services, tables),
    standardIntrospectionAnswers(introspection),
    variables(),
    operationAdmission(services, weigh),
    costExtension(services),
    readInstant(),
    answerCache(services, cache),
    execution(services, services.answerLimits),
    errorCodes(services),
    largeAnswers(),
    subscriptionStreams(services, weigh, open),
    compressedAnswers(),
  ];
  const yoga = yogaOf(services, plugins, documents);
  const estimates = estimatesFor(services, { ...services, weigh, documents, isFree });
  return {
    yoga,
    webSocket: graphqlWebSockets(services, operationRunner(services, yoga, { open, trusted })),
    async estimate(request, response, operation) {
      await trusted.requireFor(request, operation.query).catch((error) => {
        throw failureWithin(error) ?? error;
      });
      return estimates(request, response, operation);
    },
  };
}
