import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { unescape as unescaped } from 'node:querystring';
import express, { type Express, type NextFunction, type Request, type Response, Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { Admission } from './access/admission.ts';
import type { Caller } from './access/caller.ts';
import type { EndpointServices } from './access/endpoint-services.ts';
import { takeInFlightSlot } from './access/limits/in-flight.ts';
import type { Access } from './access/open-access.ts';
import { requireWebSocketPath } from './access/web-socket.ts';
import { weighAccept } from './graphql/accept.ts';
import { receiveBody } from './graphql/body-limit.ts';
import { type DocumentCache, documentCache } from './graphql/document-cache.ts';
import { graphqlEndpoints } from './graphql/endpoints.ts';
import { asksForEstimate, type EstimateFor, estimateEndpoint } from './graphql/estimate.ts';
import type { GraphTables } from './graphql/execution/answer-table.ts';
import type { CachedAnswer } from './graphql/plugins/answers.ts';
import { askThrough } from './graphql/run-operation.ts';
import { TrustedDocuments } from './graphql/trusted-documents.ts';
import type { LiveHub } from './live/hub.ts';
import { builtInTools } from './mcp/built-in-tools.ts';
import { mcpRouter } from './mcp/mcp-endpoint.ts';
import { openAssets } from './pages/assets.ts';
import { pageDocuments } from './pages/client/documents.ts';
import * as dashboardDocuments from './pages/dashboard/client/data/operations.ts';
import { descriptionsRouter } from './pages/descriptions.ts';
import type { SampleMarket } from './pages/market-note.ts';
import { missingPages, pagesRouter } from './pages/pages.ts';
import { searchDocuments } from './pages/reference/search-documents.ts';
import { searchAsset } from './pages/reference/search-index.ts';
import type { Config } from './platform/config/config.ts';
import { serviceSettings } from './platform/config/printed-settings.ts';
import { cors, identify } from './platform/http/answer-headers.ts';
import { clientAddressOf, isFromThisMachine, namesOneHost } from './platform/http/client-address.ts';
import { requestLife } from './platform/http/request-life.ts';
import { asksForWebSocket } from './platform/http/websocket/upgrade.ts';
import { type Health, type MarketLoading, watchHealth } from './platform/observe/health.ts';
import type { Metrics } from './platform/observe/metrics.ts';
import { sendMetrics } from './platform/observe/metrics-answer.ts';
import { type RequestLines, requestLines, requestLog } from './platform/observe/request-log.ts';
import { note, observeRequests, type RequestObserver } from './platform/observe/requests.ts';
import { type Traces, traceRootFields, untraced } from './platform/observe/tracing.ts';
import { writeFailureTexts } from './platform/observe/write-failure-texts.ts';
import type { Clock } from './platform/runtime/clock.ts';
import { beginRequest } from './platform/runtime/event-loop.ts';
import { type CacheBudgets, defaultMemory } from './platform/runtime/memory-plan.ts';
import { withinRequest } from './platform/runtime/request-scope.ts';
import {
  addressTooLong,
  clientGone,
  type Failure,
  methodNotAllowed,
  notFound,
  notOneHost,
  unknownExpectation,
} from './platform/wire/failure.ts';
import { type AnswerCache, createAnswerCache } from './platform/wire/response-cache.ts';
import { publishedLimits } from './published-limits.ts';
import { type RequestContext, requestContext, type Services } from './resolvers/context.ts';
import { firstSymbols, storedOverview } from './resolvers/market/registry.ts';
import { graphTables } from './rest/graph-tables.ts';
import { sendFailure } from './rest/http/respond.ts';
import { asFailure, restRouter, type SentAnswer } from './rest/http/router.ts';
import { openbbRouter } from './rest/openbb.ts';
import { ownRouter } from './rest/own/own-routes.ts';
import type { RouteFiles } from './rest/own/route-files.ts';
import { type CompiledContract, compileContract, routeTable } from './rest/route-table.ts';
import { socketRouter } from './rest/socket/socket-endpoint.ts';
import { streamRouter } from './rest/stream/stream.ts';
import { schema } from './schema/index.ts';
import { symbolRegistry } from './store/market/symbols.ts';
import { pingDatabase, type Store } from './store/rows/connection.ts';
import { writeProbe } from './store/rows/probe-write.ts';

/** Dependencies of a server. */
export interface ServerParts {
  config: Config;
  store: Store;
  access: Access;
  now: Clock;
  log: Logger;
  /** The source of live events (`LiveHub`). Its opener closes it before the server stops. */
  live: LiveHub;
  /**
   * A key that reads the sample market; null, or absent: the market is not the sample. `/` shows it to clients that
   * open it on this machine, until it is revoked because other data is stored.
   */
  sampleKey?: string | null;
  /** Missing parts of the sample market while it loads; null once complete. Absent: there are none. */
  loading?: () => Promise<MarketLoading | null>;
  /** True once the process was asked to end; absent: never. */
  draining?: () => boolean;
  /** Null, or absent: nothing is measured. */
  metrics?: Metrics | null;
  /** Null, or absent: nothing is traced. */
  traces?: Traces | null;
  /** Memory budget of each cache; absent: that of a process with the default memory limit. */
  caches?: CacheBudgets;
  /** The precompiled contract, without traces; absent: it is compiled now. */
  contract?: CompiledContract | undefined;
  /** The operator's routes; null, or absent: there are none. */
  ownRoutes?: OwnRoutesSource | null;
  /** The schema of `/graphql`; absent: the graph, and nothing besides it. */
  graph?: GraphQLSchema | undefined;
}

/** The files of the operator's routes, which may be replaced while the server runs. */
export interface OwnRoutesSource {
  files: RouteFiles;
  /** Sets how other files are taken; it throws `RoutesError`, and nothing changes, if one of them does not fit. */
  onReplace: (take: (files: RouteFiles) => void) => void;
}

/** Longest path and query, bytes: below the parser's limit, so that the application can report it. */
const addressBytes = 16 * 1024;

function refuseLongAddress(request: Request, _response: Response, next: NextFunction): void {
  next(request.originalUrl.length > addressBytes ? addressTooLong(addressBytes) : undefined);
}

/**
 * Replaces what is no UTF-8 in a path by U+FFFD, and a lone % by %25: the parameter that it is in is invalid, or not
 * found, as any other text would be.
 */
function readPath(request: Request, _response: Response, next: NextFunction): void {
  const [path = ''] = request.url.split('?', 1);
  const read = (segment: string) => {
    const text = unescaped(segment);
    return /[%\ufffd]/.test(text) ? encodeURIComponent(text) : segment;
  };
  if (path.includes('%')) request.url = path.split('/').map(read).join('/') + request.url.slice(path.length);
  next();
}

function requireOneHost(request: Request, _response: Response, next: NextFunction): void {
  next(namesOneHost(request) ? undefined : notOneHost());
}

/** RFC 9110, 10.1.1. */
function requireKnownExpectation({ headers }: Request, _response: Response, next: NextFunction): void {
  next(/^(100-continue)?$/i.test(headers.expect ?? '') ? undefined : unknownExpectation());
}

function refuseOtherWebSockets(request: Request, _response: Response, next: NextFunction): void {
  requireWebSocketPath(request, request.path);
  next();
}

/**
 * Gives a request its scope: its heavy work alternates with that of others, and all of its work ends when its client
 * disconnects.
 */
const scoped =
  (now: Clock) =>
  (_request: Request, response: Response, next: NextFunction): void => {
    const scope = beginRequest(now(), clientGone);
    requestLife(response).onEnd(() => scope.end());
    withinRequest(scope, next);
  };

/** The observers that are called for every request. */
function observersOf({ log, metrics, traces }: ServerParts, lines: RequestLines): RequestObserver[] {
  return [requestLog(log, lines), ...(metrics ? [metrics.requests] : []), ...(traces ? [traces.requests] : [])];
}

/** The work that answers a request is a part of its trace. */
function withinTrace(traces: Traces | null | undefined): express.RequestHandler {
  return (request, _response, next) => (traces ? traces.within(request, next) : next());
}

/** `/metrics` for callers with the token; 404 if no token is configured. */
function metricsRoute({ config: { metricsToken }, metrics }: ServerParts): Router {
  const router = Router({ caseSensitive: true });
  if (!metrics || metricsToken === null) return router;
  return router.get('/metrics', (request, response) => sendMetrics(metrics, metricsToken, request, response));
}

/** State for the health endpoints. */
function healthOf({ store, access, loading = async () => null, draining = () => false }: ServerParts): Health {
  return watchHealth({
    database: () => pingDatabase(store),
    tryWriting: writeProbe(store, () => performance.now()),
    writeFailures: () => writeFailureTexts(store.writes.failing()),
    redis: access.sharesLimits,
    loading,
    draining,
  });
}

async function sendReadiness(health: Health, response: Response): Promise<void> {
  const status = await health.readiness();
  response.status(status === 'ready' ? 200 : 503).json({ status });
}

/** The state of the server, without a credential. */
function healthRoutes(health: Health): Router {
  const answers: Record<string, (response: Response) => unknown> = {
    '/healthz': async (response) => response.json(await health.status()),
    '/readyz': (response) => sendReadiness(health, response),
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

/** Dependencies of every endpoint. */
function servicesOf(
  { config, store, access, now, log, traces, live, graph = schema }: ServerParts,
  lines: RequestLines,
): EndpointServices {
  const services: Services = { store, access, now, random: randomBytes, live, ...serviceSettings(config) };
  return {
    schema: graph,
    admission: new Admission({ access, note }),
    registry: () => symbolRegistry(store),
    context: (caller: Caller, onEnd: (undo: () => void) => void) => requestContext(services, caller, onEnd),
    takeInFlightSlot: (context: object) => takeInFlightSlot(context as RequestContext),
    attachStream: (stream) => live.attach(stream),
    now,
    answerLimits: { bytes: config.answerMaxBytes, ms: config.answerTimeoutMs },
    provenance: config.provenance,
    note,
    clientAddress: clientAddressOf(config.trustedProxies),
    span: traces?.span ?? untraced,
    report(request: IncomingMessage, failure: Failure) {
      if (failure.code === 'client_gone') return;
      if (!lines.failed(request)) return;
      log.error({ requestId: request.id, err: failure.cause ?? failure, code: failure.code }, failure.message);
    },
  };
}

/** The graph's endpoint, and the streams that are built on it. */
interface GraphRouter {
  router: Router;
  /** Sends a document to the graph from within the process. */
  ask: ReturnType<typeof askThrough>;
  /** Tells what a document would cost. */
  estimate: EstimateFor;
}

/** Dependencies of the graph's endpoints. */
interface GraphParts {
  services: EndpointServices;
  answers: AnswerCache<CachedAnswer>;
  documents: DocumentCache;
  trusted: TrustedDocuments;
  contract: CompiledContract;
  tables: GraphTables;
}

/** The graph's endpoint, and the live streams that are built on it. */
function graphRouter({ services, answers, documents, trusted, contract, tables }: GraphParts): GraphRouter {
  const { yoga, webSocket, estimate } = graphqlEndpoints({ services, cache: answers, documents, trusted, tables });
  const router = Router({ caseSensitive: true });
  router.options('/graphql', (_request, response) => {
    response.status(204).setHeader('Allow', 'GET, HEAD, POST').end();
  });
  // This path only: paths below it get the usual 404.
  router.all('/graphql', (request, response, next) =>
    asksForWebSocket(request) ? webSocket(request, response) : next(),
  );
  const sendEstimate = estimateEndpoint(services, estimate);
  const run = yoga as unknown as express.RequestHandler;
  router.all('/graphql', weighAccept, receiveBody(services.admission), (request, response, next) =>
    (asksForEstimate(request) ? sendEstimate : run)(request, response, next),
  );
  router.use(streamRouter(services, contract.streams));
  router.use(socketRouter(services, contract.sockets));
  return { router, ask: askThrough(yoga), estimate };
}

/** The server's caches, each with its part of the memory limit. */
function openCaches({ metrics, caches = defaultMemory.caches }: ServerParts) {
  const answers = createAnswerCache<CachedAnswer>(caches.graphqlAnswers, ({ data }) => data.length);
  const sealed = createAnswerCache<SentAnswer>(caches.restAnswers, ({ body }) => body.bytes.length);
  const documents = documentCache(caches.documents);
  metrics?.watchCache('graphql', answers.stats);
  metrics?.watchCache('rest', sealed.stats);
  metrics?.watchCache('documents', documents.stats);
  return { answers, sealed, documents };
}

/** The sample market while it is served, with its key if the request may see it. */
function shownSample({ sampleKey = null, access, loading = async () => null }: ServerParts) {
  return async (request: IncomingMessage): Promise<SampleMarket | null> => {
    if (sampleKey === null) return null;
    const works = await access.authenticate(sampleKey).then(
      ({ state }) => state === 'ok',
      () => false,
    );
    if (!works) return null;
    return { key: isFromThisMachine(request) ? sampleKey : null, loading: await loading().catch(() => null) };
  };
}

/** The contents of the store that pages show. */
function storeContents(store: Store, now: Clock) {
  const first = firstSymbols(store);
  return {
    firstSymbols: first,
    stored: storedOverview(store, first, now),
  };
}

/** Returns a maker of all that is served of the contract and some routes of the operator. */
function servingOf(parts: ServerParts, services: EndpointServices, contract: CompiledContract) {
  const { config, now, store } = parts;
  const { answers, sealed, documents } = openCaches(parts);
  const rest = { services, sealed, metaHeaderPrefix: config.metaHeaderPrefix };
  const contractRoutes = restRouter(rest, contract.compiled);
  const metrics = metricsRoute(parts);
  const health = healthOf(parts);
  const tables = graphTables(services.schema, config.metaHeaderPrefix);
  const trusted = new TrustedDocuments(config.graphDocuments === 'trusted', (request) =>
    services.admission.authenticate(request),
  );
  const { streams } = contract;
  const graph = graphRouter({ services, answers, documents, trusted, contract, tables });
  const limits = publishedLimits(config);
  const site = {
    limits,
    now,
    trustedOnly: trusted.isRequired,
    sample: shownSample(parts),
    streams,
    ...storeContents(store, now),
  };
  const originHosts = config.corsOrigins.map((origin) => new URL(origin).hostname);

  return (files: RouteFiles | null): Router => {
    const table = routeTable(
      contract,
      files,
      config,
      builtInTools.map(({ name }) => name),
    );
    const { compiled, description, own } = table;
    const assets = openAssets(() => [searchAsset(searchDocuments({ compiled, description, limits }))]);
    const pages = { ...site, compiled, description };
    // The documents of the pages are the gateway's own.
    trusted.replace(table.trusted, Object.values({ ...pageDocuments, ...dashboardDocuments }));
    const router = Router({ caseSensitive: true });
    // First, since they get most requests: Express matches routes in order.
    if (own.length > 0) router.use(ownRouter(rest, own));
    router.use(contractRoutes, metrics, healthRoutes(health));
    router.use(
      openbbRouter(services, compiled, description),
      descriptionsRouter({ schema, compiled, description, streams, now, securityContact: config.securityContact }),
    );
    router.use(pagesRouter(pages, assets));
    router.use(
      graph.router,
      mcpRouter({ services, compiled, description, originHosts, ask: graph.ask, estimate: graph.estimate }),
    );
    return router.use(missingPages(pages, assets));
  };
}

/** Builds the server's application without listening. */
export function createApp(parts: ServerParts): Express {
  const { config, now, traces } = parts;
  const lines = requestLines(parts.log, clientAddressOf(config.trustedProxies));
  const services = servicesOf(parts, lines);
  // Must precede everything that is compiled from it.
  if (traces) for (const each of new Set([schema, services.schema])) traceRootFields(each, traces.span);
  const contract = parts.contract ?? compileContract(config);
  const serving = servingOf(parts, services, contract);
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(
    scoped(now),
    identify,
    observeRequests(observersOf(parts, lines)),
    withinTrace(traces),
    cors(config.corsOrigins, config.metaHeaderPrefix),
    requireOneHost,
    requireKnownExpectation,
    refuseLongAddress,
    readPath,
    refuseOtherWebSockets,
  );
  let served = serving(parts.ownRoutes?.files ?? null);
  app.use((request, response, next) => served(request, response, next));
  // Requests in flight stay with the routes that they have found.
  parts.ownRoutes?.onReplace((files) => {
    served = serving(files);
  });
  app.use((request: Request) => {
    throw notFound(`${request.method} ${request.path}`);
  });
  app.use(async (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const failure = await services.admission.chargeRejected(request, response).then(() => asFailure(error), asFailure);
    note(request, { code: failure.code });
    if (failure.status >= 500) services.report(request, failure);
    sendFailure(response, failure);
  });
  return app;
}
