import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Caller } from '../../access/caller.ts';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { rightsOf } from '../../access/entitlement/entitlement.ts';
import { regularSession } from '../../core/domain/calendar.ts';
import { exchangeDate } from '../../core/domain/market-time.ts';
import { reaches } from '../../platform/config/tiers.ts';
import { allowPrivateCaching } from '../../platform/http/cache-headers.ts';
import { tellReadInstant } from '../../platform/http/read-instant.ts';
import { bodyBytes, releaseBytes } from '../../platform/http/request-body.ts';
import { requestLife } from '../../platform/http/request-life.ts';
import { currentRequest } from '../../platform/runtime/request-scope.ts';
import { isJsonLines } from '../../platform/wire/column-rows.ts';
import {
  type Failure,
  gone,
  internal,
  invalidParameter,
  knownFailure,
  methodNotAllowed,
  notEntitledTier,
} from '../../platform/wire/failure.ts';
import type { AnswerCache } from '../../platform/wire/response-cache.ts';
import { readBody } from '../contract/body.ts';
import type { CompiledRoute } from '../contract/compiled-route.ts';
import { askedProvenance, type Envelope, instanted, noted } from '../contract/envelope.ts';
import { answerMedia, besideHeaders, mediaTypes, writeAnswer } from '../contract/media.ts';
import type { OperationContext } from '../contract/operation.ts';
import { readParams } from '../contract/params.ts';
import { endedOn, type Route, readsMarket, requestsOfRows, usageGroups, writtenPath } from '../contract/route.ts';
import { OperationMetering } from './metering.ts';
import { type Body, sendBody, sendFailure, strongTag } from './respond.ts';

/** Dependencies of the REST routes, beside those of every endpoint. */
export interface RestParts {
  services: EndpointServices;
  /** Cached answers of sealed sessions. */
  sealed: AnswerCache<SentAnswer>;
  metaHeaderPrefix: string;
}

/** True if an operator's route has answers like this one that never change. */
function canBeSealed({ own }: Route, { at }: Record<string, unknown>): boolean {
  if (!own || own.sealed === 'by-meta') return true;
  return own.sealed === 'as-of' && typeof at === 'number';
}

/** `live` answers change; those of sealed sessions never do, and carry a tag. */
function caching(route: Route, { meta }: Pick<Envelope, 'meta'>): { cacheable: boolean; tagged: boolean } {
  const cacheable = route.method === 'GET' && meta.plane !== 'live' && canBeSealed(route, meta);
  return { cacheable, tagged: cacheable && meta.plane === 'archive' };
}

/** The read instant of a route's answer, epoch ms, sent as a header; null if the route reads no market data. */
function readInstantOf(route: Route, response: Response): number | null {
  return readsMarket(route) ? tellReadInstant(response) : null;
}

/** An answer with its read instant, which in the body of one with a tag would change the tag. */
export function withReadInstant<T extends Pick<Envelope, 'meta'>>(route: Route, answer: T, response: Response): T {
  const readAtMs = readInstantOf(route, response);
  return caching(route, answer).tagged ? answer : instanted(answer, readAtMs);
}

/** Throws 410 once a route is gone, and 403 for a caller below the tier of an operator's route. */
export function requireServed(
  { now }: Pick<EndpointServices, 'now'>,
  { sunset, own, path }: Route,
  { tier }: Pick<Caller, 'tier'>,
): void {
  if (sunset && endedOn({ sunset }, now()) !== null) throw gone(sunset.successor);
  if (own && !reaches(tier, own.tier)) throw notEntitledTier(writtenPath(path), own.tier);
}

/** The values of a route's parameters, from the texts of path and query. */
export function routeValues(
  { pathParams, queryParams, instant }: Route,
  path: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (instant === 'without known' && query.known !== undefined)
    throw invalidParameter('known', 'expected none: this data as it was known before is not kept');
  return { ...readParams(pathParams, path), ...readParams(queryParams, query) };
}

async function serve(parts: RestParts, compiled: CompiledRoute, request: Request, response: Response): Promise<void> {
  const { services } = parts;
  const { route } = compiled;
  if (route.method !== 'GET') currentRequest()?.mustFinish();
  const caller = await services.admission.identify(request, route.listsTokenExpired);
  const life = requestLife(response);
  try {
    await services.admission.charge(caller, request, response);
    requireServed(services, route, caller);
    const context = services.context(caller, life.onEnd);
    await answer(parts, compiled, { caller, request, response, ...answerMedia(request, compiled), context });
  } finally {
    // Counted afterwards, so that an account's usage does not include the request that reads it.
    services.admission.count(caller, usageGroups(route));
  }
}

/** A sent answer, with its headers. */
export interface SentAnswer {
  body: Body;
  headers: Record<string, string>;
  /** True if the caller's own client may store it. */
  cacheable: boolean;
  /** Number of requests that making it cost. */
  cost: number;
}

/**
 * Charges a request's cost beyond the first request, which was charged before its body was read, up to the caller's
 * whole minute, so that every tier can send the largest body. Throws 429.
 */
export function chargeBeyondFirst(
  { admission }: Pick<EndpointServices, 'admission'>,
  { caller, request, response }: Pick<Exchange, 'caller' | 'request' | 'response'>,
) {
  return async (requests: number): Promise<void> => {
    if (requests > 1) await admission.charge(caller, request, response, requests, { already: 1, atMostMinute: true });
  };
}

/** Runs an operation with a body, and frees the body afterwards. */
export async function withBody<T>(body: unknown, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } finally {
    if (Buffer.isBuffer(body)) releaseBytes(body);
  }
}

/** The body of a request, received and charged; undefined for a route without one. */
async function receivedBody(services: EndpointServices, { body }: Route, exchange: Exchange): Promise<unknown> {
  if (!body) return undefined;
  const bytes = await bodyBytes(exchange.request, { ...body, caller: exchange.caller.accountId });
  return readBody(body, bytes, chargeBeyondFirst(services, exchange));
}

interface Exchange {
  caller: Caller;
  request: Request;
  response: Response;
  /** The media type of the answer. */
  media: string;
  /** A note that it is none that was requested; null = it is. */
  note: string | null;
  context: OperationContext;
}

/** The date that sealed sessions; from its close on, when contracts of the day settle, with a mark. */
function sealedOn(nowMs: number): string {
  const date = exchangeDate(nowMs);
  return nowMs >= (regularSession(date)?.closeMs ?? Number.POSITIVE_INFINITY) ? `${date} closed` : date;
}

/**
 * The cache key of an answer of sealed sessions: the address, the format, the caller's rights, and the date that sealed
 * them.
 */
function answerKey({ services }: RestParts, { own }: Route, { caller, request, media }: Exchange): string {
  const key = [rightsOf(caller), media, sealedOn(services.now()), request.originalUrl];
  return (own ? [...key, own.version] : key).join(' ');
}

/** The cache of a route's answers; null = they are the caller's own, no reads, or of this request alone. */
function cacheFor(
  { sealed }: RestParts,
  { method, isOwn }: Route,
  { note }: Pick<Exchange, 'note'>,
): AnswerCache<SentAnswer> | null {
  return method === 'GET' && !isOwn && note === null ? sealed : null;
}

/** Takes one of the caller's in-flight slots, if the route limits them. */
async function takeSlot({ services }: RestParts, { route }: CompiledRoute, { context }: Exchange): Promise<void> {
  if (route.inFlightLimited) await services.takeInFlightSlot(context);
}

/** Runs the operation and builds the body of its answer. The body is cached if it concerns sealed sessions only. */
async function freshAnswer(parts: RestParts, compiled: CompiledRoute, exchange: Exchange): Promise<SentAnswer> {
  const { route, operation, tables, weighed } = compiled;
  const { caller, request, response, context, media } = exchange;
  const values = routeValues(route, request.params, request.query);
  const requests = requestsOfRows(route, values);
  await chargeBeyondFirst(parts.services, exchange)(requests);
  const body = await receivedBody(parts.services, route, exchange);
  await takeSlot(parts, compiled, exchange);
  const store = cacheFor(parts, route, exchange)?.storing(answerKey(parts, route, exchange));
  const isProtobuf = media === mediaTypes.protobuf;
  const asked = askedProvenance(values, { setting: parts.services.provenance, isJson: media === mediaTypes.json });
  const variables = { ...route.variables(values, body), protobuf: isProtobuf, provenance: asked.provenance };
  const form = media === mediaTypes.json ? 'json' : isJsonLines(media) ? 'values' : 'whole';
  const metering = weighed && new OperationMetering(parts.services, weighed, exchange);
  const run = () => operation.run(form, context, variables, metering);
  const result = await withBody(body, () => parts.services.span(...operation.span, run));
  const answered = [asked.note, exchange.note].reduce(noted, compiled.found(result, caller, parts.services.now()));
  const { cacheable, tagged } = caching(route, answered);
  const found = withReadInstant(route, answered, response);
  const written = await writeAnswer(media, { route, tables, found, table: values.table as string | undefined });
  const answer: SentAnswer = {
    cacheable,
    cost: metering?.cost ?? requests,
    headers: { ...route.headers?.(values), ...besideHeaders(parts.metaHeaderPrefix, request.originalUrl, written) },
    body: {
      bytes: written.bytes,
      contentType: written.contentType,
      etag: tagged ? await strongTag(request.originalUrl, written.bytes) : null,
      isPacked: media === mediaTypes.parquet,
    },
  };
  const dependencies = currentRequest()?.dependencies;
  if (tagged && dependencies) store?.(answer, dependencies);
  return answer;
}

/** The cached answer to the same request, or a fresh one. The parameters of a cached answer were validated before. */
async function foundAnswer(parts: RestParts, compiled: CompiledRoute, exchange: Exchange): Promise<SentAnswer> {
  const sent = cacheFor(parts, compiled.route, exchange)?.find(answerKey(parts, compiled.route, exchange));
  if (!sent) return freshAnswer(parts, compiled, exchange);
  if (compiled.weighed) await new OperationMetering(parts.services, compiled.weighed, exchange).take(sent.cost);
  else await chargeBeyondFirst(parts.services, exchange)(sent.cost);
  await takeSlot(parts, compiled, exchange);
  return sent;
}

async function answer(parts: RestParts, compiled: CompiledRoute, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const { headers, body, cacheable } = await foundAnswer(parts, compiled, exchange);
  readInstantOf(compiled.route, response);
  if (cacheable) allowPrivateCaching(response);
  response.setHeaders(new Map(Object.entries(headers)));
  await sendBody(request, response, body);
}

/** Any thrown value as the failure that is sent. */
export function asFailure(error: unknown): Failure {
  return knownFailure(error) ?? internal(error);
}

/** Any value thrown by a route as the failure that is sent. */
export function failureOf({ sourceFailure }: Route, error: unknown): Failure {
  const failure = asFailure(error);
  return failure.status === 502 && sourceFailure ? sourceFailure(failure.cause) : failure;
}

/** Sets the headers of a route, which errors have too. */
function setRouteHeaders({ headers }: Pick<Route, 'headers'>, request: Request, response: Response): void {
  response.setHeaders(new Map(Object.entries(headers?.(request.params) ?? {})));
}

/** Serves a route otherwise than with one answer; null = it is not. */
type OtherServing = (compiled: CompiledRoute) => ((...exchange: [Request, Response]) => Promise<void>) | null;

function handler(parts: RestParts, compiled: CompiledRoute, other: OtherServing): RequestHandler {
  const run = other(compiled) ?? ((request, response) => serve(parts, compiled, request, response));
  return (request, response) => {
    run(request, response).catch((error: unknown) => {
      const failure = failureOf(compiled.route, error);
      parts.services.note(request, { code: failure.code });
      if (failure.status >= 500) parts.services.report(request, failure);
      setRouteHeaders(compiled.route, request, response);
      sendFailure(response, failure);
    });
  };
}

/** The route table as an Express router. A known path with another method is a 405. */
export function restRouter(
  parts: RestParts,
  routes: readonly CompiledRoute[],
  other: OtherServing = () => null,
): Router {
  const router = Router({ caseSensitive: true });
  const methods = new Map<string, string[]>();
  for (const compiled of routes) {
    const { route } = compiled;
    const handle = handler(parts, compiled, other);
    router[route.method.toLowerCase() as 'get'](route.path, handle);
    methods.set(route.path, [
      ...(methods.get(route.path) ?? []),
      route.method,
      ...(route.method === 'GET' ? ['HEAD'] : []),
    ]);
  }
  for (const [path, allowed] of methods) {
    const known = routes.filter(({ route }) => route.path === path);
    router.all(path, (request, response) => {
      for (const { route } of known) setRouteHeaders(route, request, response);
      throw methodNotAllowed(request.method, allowed);
    });
  }
  return router;
}
