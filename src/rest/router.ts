import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { Authentication, Caller } from '../access/caller.ts';
import type { RateState } from '../access/rate.ts';
import { hasToldRate, tellRate } from '../access/rate-headers.ts';
import {
  Failure,
  gone,
  internal,
  methodNotAllowed,
  notFound,
  rateLimited,
  tokenExpired,
  unauthenticated,
} from '../domain/failure.ts';
import type { KeptAnswers } from '../domain/kept-answers.ts';
import { lifetime } from '../domain/lifetime.ts';
import { exchangeDate } from '../domain/market-time.ts';
import { answerSchema, type JsonSchema } from './answer-schema.ts';
import { readBody } from './body.ts';
import type { Envelope } from './envelope.ts';
import { answerMedia, besideHeaders, mediaTypes, writeAnswer } from './media.ts';
import { type OperationContext, type StoredOperation, storedOperation } from './operation.ts';
import { readParams, tableName } from './params.ts';
import { type Body, sendBody, sendFailure, strongTag } from './respond.ts';
import type { Route } from './route.ts';
import { answerTables, type Tables } from './table.ts';

/** What the REST door needs from the server. */
export interface RestDoor {
  /** Who sends this request. */
  authenticate: (request: Request) => Promise<Authentication>;
  /** Takes one request from the caller's rate. */
  consume: (caller: Caller) => Promise<RateState>;
  count: (caller: Caller, scopeGroup: string) => void;
  /** The graph's context of a request; `onEnd` runs its argument when the response is done or the client gone. */
  context: (caller: Caller, onEnd: (undo: () => void) => void) => OperationContext;
  /** Takes the request's place among those in flight, if it has none yet; 429 when there is none left. */
  takeInFlightPlace: (context: OperationContext) => Promise<void>;
  /** Answers of sealed sessions, given again as they were sent. */
  sealed: KeptAnswers<SentAnswer>;
  now: () => number;
  metaHeaderPrefix: string;
  /** Unexpected failures, for the log. */
  report: (request: Request, failure: Failure) => void;
  /** What is found out of a request, for log and metrics. */
  note: (request: Request, found: { cost?: number; code?: string }) => void;
  /** Does a part of the work, for traces. */
  span: <T>(name: string, facts: Record<string, string>, work: () => T) => T;
}

/** 401 in the words of the route: only some list `token_expired`. */
export function authenticatedCaller(authentication: Authentication, listsTokenExpired: boolean): Caller {
  if (authentication.state === 'ok') return authentication.caller;
  if (authentication.state === 'expired' && listsTokenExpired) throw tokenExpired();
  throw unauthenticated();
}

/** Takes `cost` requests from the caller's rate and tells a key how it stands; 429 when that is more than is left. */
export async function charge(
  door: { consume: (caller: Caller, cost: number) => Promise<RateState> },
  caller: Caller,
  response: Response,
  cost = 1,
): Promise<void> {
  const rate = await door.consume(caller, cost);
  tellRate(caller, rate, response);
  if (!rate.allowed) throw rateLimited(`More than ${rate.limit} requests a minute.`, Math.max(1, rate.resetSeconds));
}

/** Charges a request that no route took (unknown path, another method): an answer to a key tells its rate, whatever it says. */
export async function chargeRefused(
  door: Pick<RestDoor, 'authenticate' | 'consume'>,
  request: Request,
  response: Response,
): Promise<void> {
  if (response.headersSent || hasToldRate(response)) return;
  const authentication = await door.authenticate(request);
  if (authentication.state === 'ok') await charge(door, authentication.caller, response);
}

/** The part of an operation's result that `path` leads to. Where it has no `data`, everything beside `meta` is the data. */
export function answerAt(
  result: Record<string, unknown>,
  path: string,
): { data: unknown; meta: Record<string, unknown> } {
  let answer: unknown = result;
  for (const key of path === '' ? [] : path.split('.')) answer = (answer as Record<string, unknown>)[key];
  const { meta, ...payload } = answer as { meta: Record<string, unknown> };
  return 'data' in payload ? (answer as { data: unknown; meta: Record<string, unknown> }) : { data: payload, meta };
}

/** `live` answers change; those of sealed sessions never do, and carry a tag. */
function cacheHeaders(route: Route, { meta }: Envelope): { control: string; tagged: boolean } {
  if (route.method !== 'GET' || meta.plane === 'live') return { control: 'no-store', tagged: false };
  return { control: 'private', tagged: meta.plane === 'archive' };
}

/** The values of a route's parameters, from the texts of path and query; 410 once the route is gone. */
export function routeValues(
  { now }: Pick<RestDoor, 'now'>,
  { pathParams, queryParams, sunset }: Route,
  path: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (sunset && now() > sunset.atMs) throw gone(sunset.successor);
  return { ...readParams(pathParams, path), ...readParams(queryParams, query) };
}

async function serve(door: RestDoor, compiled: CompiledRoute, request: Request, response: Response): Promise<void> {
  const { route } = compiled;
  const caller = authenticatedCaller(await door.authenticate(request), route.listsTokenExpired);
  const requestLife = lifetime();
  // Closed when the answer has gone out, or as soon as the client hangs up: then what the request holds is freed.
  response.once('close', requestLife.end);
  if (response.closed) requestLife.end();
  try {
    await charge(door, caller, response);
    door.note(request, { cost: 1 });
    const values = routeValues(door, route, request.params, request.query);
    const body = route.body ? await readBody(route.body, request) : undefined;
    await answer(door, compiled, {
      caller,
      request,
      response,
      values,
      body,
      media: answerMedia(request, compiled),
      context: door.context(caller, requestLife.onEnd),
    });
  } finally {
    // Counted afterwards, so that an account's usage as it is told does not hold the request that asks for it.
    door.count(caller, route.scopeGroup);
  }
}

/** An answer as it is sent, with the headers that belong to it. */
export interface SentAnswer {
  body: Body;
  headers: Record<string, string>;
}

interface Exchange {
  caller: Caller;
  request: Request;
  response: Response;
  values: Record<string, unknown>;
  body: unknown;
  /** The media type of the answer. */
  media: string;
  context: OperationContext;
}

/** What an answer of sealed sessions depends on: the address, the form, what decides over the caller, and the date that sealed them. */
function answerKey(door: RestDoor, { caller, request, media }: Exchange): string {
  return [
    caller.kind,
    caller.tier,
    caller.siteTier,
    caller.attested,
    media,
    exchangeDate(door.now()),
    request.originalUrl,
  ].join(' ');
}

/** Runs the operation and builds the body of its answer; kept for the next time when it is of sealed sessions alone. */
async function freshAnswer(
  door: RestDoor,
  { route, operation, tables }: CompiledRoute,
  exchange: Exchange,
): Promise<SentAnswer> {
  const { request, values, body, context, media } = exchange;
  const keep = route.method === 'GET' ? door.sealed.keeper(answerKey(door, exchange)) : null;
  const isProtobuf = media === mediaTypes.protobuf;
  const variables = { ...route.variables(values, body), protobuf: isProtobuf };
  const result = await door.span('operation', {}, () => operation.run(context, variables));
  const found = answerAt(result, route.answer);
  const written = await writeAnswer(media, { route, tables, found, table: values.table as string | undefined });
  const { control, tagged } = cacheHeaders(route, written.envelope);
  const answer: SentAnswer = {
    headers: {
      'Cache-Control': control,
      ...route.headers?.(values),
      ...besideHeaders(door.metaHeaderPrefix, written),
    },
    body: {
      bytes: written.bytes,
      contentType: written.contentType,
      etag: tagged ? await strongTag(request.originalUrl, written.bytes) : null,
    },
  };
  if (tagged) keep?.(answer);
  return answer;
}

async function answer(door: RestDoor, compiled: CompiledRoute, exchange: Exchange): Promise<void> {
  const { request, response, context } = exchange;
  if (compiled.route.inFlightLimited) {
    await door.takeInFlightPlace(context);
  }
  const kept = door.sealed.find(answerKey(door, exchange));
  const { headers, body } = kept ?? (await freshAnswer(door, compiled, exchange));
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  await sendBody(request, response, body);
}

/** Anything thrown, as the failure the caller is told. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof URIError) return new Failure(400, 'invalid_params', 'The path is not valid percent-encoding.');
  return internal(error);
}

function handler(door: RestDoor, compiled: CompiledRoute): RequestHandler {
  return (request, response) => {
    serve(door, compiled, request, response).catch((error: unknown) => {
      const failure = asFailure(error);
      door.note(request, { code: failure.code });
      if (failure.status >= 500) door.report(request, failure);
      sendFailure(response, failure);
    });
  };
}

/** A route and its operation. */
export interface CompiledRoute {
  route: Route;
  operation: StoredOperation;
  /** The JSON Schema of its answers. */
  answer: JsonSchema;
  /** What its answers are as CSV and Arrow; those of writes, and of routes without rows, are neither. */
  tables: Tables;
}

const noTables: Tables = { tables: [], beside: () => null };

function compiledRoute(schema: GraphQLSchema, written: Route): CompiledRoute {
  const operation = storedOperation(schema, written);
  const answer = answerSchema(schema, written, operation);
  const { data } = answer.properties as { data: JsonSchema };
  const tables = written.method === 'GET' ? answerTables(data) : noTables;
  const names = tables.tables.map(({ name }) => name);
  // Where there are several, the request says which.
  const route =
    names.length < 2 ? written : { ...written, queryParams: { ...written.queryParams, table: tableName(names) } };
  return { route, operation, answer, tables };
}

/** The routes of the table, each with its operation validated and compiled. */
export function compiledRoutes(schema: GraphQLSchema, routes: readonly Route[]): CompiledRoute[] {
  return routes.map((route) => compiledRoute(schema, route));
}

/** The route table as an Express router; a path that is known under another method is a 405, an unknown one below /v2 a 404. */
export function restRouter(door: RestDoor, routes: readonly CompiledRoute[]): Router {
  const router = Router({ caseSensitive: true });
  const methods = new Map<string, string[]>();
  for (const compiled of routes) {
    const { route } = compiled;
    const handle = handler(door, compiled);
    router[route.method.toLowerCase() as 'get'](route.path, handle);
    methods.set(route.path, [
      ...(methods.get(route.path) ?? []),
      route.method,
      ...(route.method === 'GET' ? ['HEAD'] : []),
    ]);
  }
  for (const [path, allowed] of methods) {
    router.all(path, (request) => {
      throw methodNotAllowed(request.method, allowed);
    });
  }
  router.use('/v2', (request) => {
    throw notFound(`${request.method} ${request.baseUrl}${request.path}`);
  });
  return router;
}
