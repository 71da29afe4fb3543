import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response, Router } from 'express';
import type { Logger } from 'pino';
import type { Caller } from './access/caller.ts';
import { credentialOf } from './access/credential.ts';
import type { Access } from './access/open-access.ts';
import type { Config } from './config.ts';
import type { Clock } from './domain/clock.ts';
import { type Failure, methodNotAllowed, notFound } from './domain/failure.ts';
import { type KeptAnswers, keptAnswers } from './domain/kept-answers.ts';
import { bodyLimit } from './graphql/body-limit.ts';
import { graphqlDoor } from './graphql/door.ts';
import { askThrough } from './graphql/in-process.ts';
import { acceptAnything } from './graphql/request-form.ts';
import { mcpDoor } from './mcp/door.ts';
import { type Health, watchHealth } from './observe/health.ts';
import type { Metrics } from './observe/metrics.ts';
import { sendMetrics } from './observe/metrics-answer.ts';
import { note } from './observe/request-facts.ts';
import { requestLog } from './observe/request-log.ts';
import { observeRequests, type RequestObserver } from './observe/requests.ts';
import { traceRootFields } from './observe/traced-fields.ts';
import { type Traces, untraced } from './observe/tracing.ts';
import { type Assets, openAssets } from './pages/assets.ts';
import { aboveGraphiql } from './pages/graphiql/graphiql.ts';
import { pagesRouter } from './pages/pages.ts';
import { type RequestContext, requestContext, type Services } from './resolvers/context.ts';
import type { LiveHub } from './resolvers/live-hub.ts';
import { takeInFlightPlace } from './resolvers/stock-bars.ts';
import type { JsonSchema } from './rest/answer-schema.ts';
import { openApi } from './rest/openapi.ts';
import { protocolSource } from './rest/protobuf.ts';
import { sendFailure } from './rest/respond.ts';
import {
  asFailure,
  type CompiledRoute,
  chargeRefused,
  compiledRoutes,
  restRouter,
  type SentAnswer,
} from './rest/router.ts';
import { routes } from './rest/routes.ts';
import { type StreamOperations, streamOperations, streamRouter } from './rest/stream/stream.ts';
import { schema } from './schema/index.ts';
import { pingDatabase, type Store } from './store/connection.ts';
import { symbolRegistry } from './store/symbols.ts';

/** What a server is built from. */
export interface ServerParts {
  config: Config;
  store: Store;
  access: Access;
  now: Clock;
  log: Logger;
  /** Changes with the stored market data (`watchChanges`); null, or absent: nothing built from it is kept. */
  generation?: () => number | null;
  /** What is told as it happens (`openLiveHub`); whoever opened it closes it before the server stops. */
  live: LiveHub;
  /** A key that reads the sample market, shown to whoever opens `/`; null, or absent: the market is not the sample. */
  sampleKey?: string | null;
  /** True from the moment the process was asked to end; absent: never. */
  draining?: () => boolean;
  /** Null, or absent: nothing is measured. */
  metrics?: Metrics | null;
  /** Null, or absent: nothing is traced. */
  traces?: Traces | null;
}

/** Bytes of answers kept for asking again, by each door. */
const keptAnswerBytes = 64 * 1024 * 1024;

/** A request's id: the one it brought when well-formed, else a new one; on every answer as `x-request-id`. */
function requestId(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && /^[\w.:-]{1,128}$/.test(sent) ? sent : randomUUID();
}

/** Headers of answers that pages of other origins may read; those of `meta` come with their prefix. */
const exposedHeaders = [
  'ETag',
  'Retry-After',
  'Deprecation',
  'Sunset',
  'Link',
  'x-request-id',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];

function cors(origins: readonly string[], metaHeaderPrefix: string) {
  const allowed = new Set(origins);
  return (request: Request, response: Response, next: NextFunction) => {
    const { origin } = request.headers;
    if (allowed.size > 0) response.vary('Origin');
    if (origin && allowed.has(origin)) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader(
        'Access-Control-Expose-Headers',
        [...exposedHeaders, ...['plane', 'caps', 'extra', 'data'].map((name) => metaHeaderPrefix + name)].join(', '),
      );
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method']) {
        response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE');
        response.setHeader(
          'Access-Control-Allow-Headers',
          'Authorization, X-API-Key, Content-Type, Accept, If-None-Match, Last-Event-ID, X-GraphQL-Event-Stream-Token, X-Request-Id',
        );
        response.setHeader('Access-Control-Max-Age', '600');
        response.status(204).end();
        return;
      }
    }
    next();
  };
}

/** Gives every request its id and every answer the headers all have. */
function identify(request: Request, response: Response, next: NextFunction): void {
  request.id = requestId(request);
  response.setHeader('x-request-id', request.id);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  next();
}

/** Who is told of every request. */
function observersOf({ log, metrics, traces }: ServerParts): RequestObserver[] {
  return [requestLog(log), ...(metrics ? [metrics.requests] : []), ...(traces ? [traces.requests] : [])];
}

/** What answers a request is a part of its trace. */
function withinTrace(traces: Traces | null | undefined): express.RequestHandler {
  return (request, _response, next) => (traces ? traces.within(request, next) : next());
}

/** `/metrics` for whoever has the token; unknown without one. */
function metricsRoute({ config: { metricsToken }, metrics }: ServerParts): Router {
  const router = Router({ caseSensitive: true });
  if (!metrics || metricsToken === null) return router;
  return router.get('/metrics', (request, response) => sendMetrics(metrics, metricsToken, request, response));
}

/** Health as the addresses for it tell it. */
function healthOf({ store, access, draining = () => false }: ServerParts): Health {
  return watchHealth({ database: () => pingDatabase(store), redis: access.sharesLimits, draining });
}

async function sendReadiness(health: Health, response: Response): Promise<void> {
  const status = await health.readiness();
  response.status(status === 'ready' ? 200 : 503).json({ status });
}

/** The addresses that need no credential. */
function publicRoutes(health: Health, description: object): Router {
  const answers: Record<string, (response: Response) => unknown> = {
    '/healthz': async (response) => response.json({ status: await health.status() }),
    '/readyz': (response) => sendReadiness(health, response),
    '/v2/rest-protocol.proto': (response) => response.type('text/plain').send(protocolSource),
    '/v2/openapi.json': (response) => response.json(description),
  };
  const router = Router({ caseSensitive: true });
  for (const [path, answer] of Object.entries(answers)) {
    router.get(path, async (_request, response) => void (await answer(response)));
    router.all(path, (request) => {
      throw methodNotAllowed(request.method, ['GET', 'HEAD']);
    });
  }
  return router;
}

/** What both doors need of the server. */
function doorsOf({ config, store, access, now, log, traces, live }: ServerParts) {
  const services: Services = { store, access, sources: config.sources, now, random: randomBytes, live };
  return {
    now,
    async authenticate(request: IncomingMessage) {
      const found = await access.authenticate(credentialOf(request.headers));
      if (found.state === 'ok') {
        const { accountId, keyId, tier } = found.caller;
        note(request, { accountId, keyId, tier });
      }
      return found;
    },
    note,
    span: traces?.span ?? untraced,
    consume: (caller: Caller, cost = 1) => access.rate.consume(caller, cost),
    count: (caller: Caller, scopeGroup: string) => access.usage.count(caller.accountId, scopeGroup),
    context: (caller: Caller, onEnd: (undo: () => void) => void) => requestContext(services, caller, onEnd),
    takeStreamPlace: (caller: Caller) => access.streams.take(caller),
    attachStream: live.attach,
    takeInFlightPlace: (context: object) => takeInFlightPlace(context as RequestContext),
    report: (request: IncomingMessage, failure: Failure) =>
      log.error({ requestId: request.id, err: failure.cause ?? failure, code: failure.code }, failure.message),
  };
}

// What most people look at first; its place is taken by the first of a registry that lacks it.
const usualSymbol = 'SPY';

/** The symbol the dashboard begins with. While the registry cannot be read, the usual one. */
async function firstSymbol(store: Store): Promise<string> {
  const registered = await symbolRegistry(store).then(
    (registry) => registry.registered(),
    () => [],
  );
  return (registered.find(({ symbol }) => symbol === usualSymbol) ?? registered[0])?.symbol ?? usualSymbol;
}

/** What the ways to the graph are made from. */
interface GraphParts {
  parts: ServerParts;
  doors: ReturnType<typeof doorsOf>;
  assets: Assets;
  kept: KeptAnswers<string>;
  streams: StreamOperations;
  compiled: readonly CompiledRoute[];
  description: JsonSchema;
}

/** The graph at its own address, and what leads to it: live streams, and tools for AI clients. */
function graphRouter({ parts, doors, assets, kept, streams, compiled, description }: GraphParts): Router {
  const { yoga, stream } = graphqlDoor({ ...doors, schema, kept, aboveGraphiql: aboveGraphiql(assets) });
  const router = Router({ caseSensitive: true });
  // At this address alone: what lies below it is unknown, in the words every unknown path is told in.
  router.all('/graphql', acceptAnything, bodyLimit, yoga as unknown as express.RequestHandler);
  router.all('/graphql/stream', stream);
  router.use(streamRouter(schema, streams, doors));
  const originHosts = parts.config.corsOrigins.map((origin) => new URL(origin).hostname);
  return router.use(mcpDoor({ ...doors, schema, compiled, description, ask: askThrough(yoga), originHosts }));
}

/** Builds the server's application; opens no port. */
export function createApp(parts: ServerParts): Express {
  const { config, now, generation = () => null, sampleKey = null, metrics, traces } = parts;
  const doors = doorsOf(parts);
  // Before anything is compiled from it.
  if (traces) traceRootFields(schema, traces.span);
  const compiled = compiledRoutes(schema, routes);
  const streams = streamOperations(schema);
  const description = openApi(schema, compiled, streams);
  const kept = keptAnswers<string>(keptAnswerBytes, (json) => 2 * json.length, generation);
  const sealed = keptAnswers<SentAnswer>(keptAnswerBytes, ({ body }) => body.bytes.length, generation);
  metrics?.watchCache('graphql', kept.stats);
  metrics?.watchCache('rest', sealed.stats);
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(
    identify,
    observeRequests(observersOf(parts)),
    withinTrace(traces),
    cors(config.corsOrigins, config.metaHeaderPrefix),
  );
  app.use(metricsRoute(parts));
  app.use(publicRoutes(healthOf(parts), description));
  const assets = openAssets();
  app.use(
    pagesRouter(
      { compiled, description, streams, now, sampleKey, firstSymbol: () => firstSymbol(parts.store) },
      assets,
    ),
  );
  app.use(graphRouter({ parts, doors, assets, kept, streams, compiled, description }));
  app.use(restRouter({ ...doors, sealed, metaHeaderPrefix: config.metaHeaderPrefix }, compiled));
  app.use((request: Request) => {
    throw notFound(`${request.method} ${request.path}`);
  });
  app.use(async (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const failure = await chargeRefused(doors, request, response).then(() => asFailure(error), asFailure);
    note(request, { code: failure.code });
    if (failure.status >= 500) doors.report(request, failure);
    sendFailure(response, failure);
  });
  return app;
}
