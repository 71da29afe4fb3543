import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Charged } from '../../access/admission.ts';
import type { Caller } from '../../access/caller.ts';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { recheckCaller } from '../../access/entitlement/recheck.ts';
import { type EventStream, openEventStream } from '../../http/event-stream.ts';
import { bodyBytes, utf8Text } from '../../http/read-body.ts';
import { requestLife } from '../../http/request-life.ts';
import { beginRequest, yieldForBytes } from '../../runtime/event-loop.ts';
import { type Lifetime, lifetime } from '../../runtime/lifetime.ts';
import { type RequestScope, withinRequest } from '../../runtime/request-scope.ts';
import {
  clientGone,
  conflict,
  Failure,
  internal,
  invalidRequest,
  methodNotAllowed,
  notFound,
} from '../../wire/failure.ts';
import type { LiveAnswers } from '../execution/live-answers.ts';
import { documentBody } from '../limits/document-limits.ts';
import { sentPoints, weighBody } from '../limits/sent-points.ts';
import { requestsOf } from '../limits/weight.ts';
import { isRequestError, requestErrorOf, requireQuery, withoutStatus } from '../request-error.ts';
import { eachAnswer, lastAnswer, type Subscribed } from './subscription.ts';

/** An operation as it was sent. */
export interface SentOperation {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string | null;
  extensions?: { operationId?: unknown };
  /** Points of reading what it came with; set here, whatever was sent. */
  sentPoints?: number;
}

/** Runs an operation whose answers go to another connection, with which what it holds ends. */
export type RunOperation = (
  request: IncomingMessage,
  response: ServerResponse,
  operation: SentOperation,
  connection: Lifetime,
) => Promise<ExecutionResult | Subscribed>;

/** Time for which a reservation waits for its stream, ms. */
const reservedMs = 30_000;

/** A reserved stream, and its operations. */
interface Connection {
  caller: Caller;
  charged: Charged;
  life: Lifetime;
  /** Its operations are worked on as long as it lasts, whichever request brought them. */
  scope: RequestScope;
  /** Resolved when its reader has come; rejected never. */
  out: PromiseWithResolvers<EventStream>;
  isOpen: boolean;
  /** By id; null while one is being found out. */
  operations: Map<string, Operation | null>;
}

interface Operation {
  life: Lifetime;
  source: LiveAnswers['source'] | null;
}

const messageFrame = (id: string, payload: string) =>
  `event: next\ndata: {"id":${JSON.stringify(id)},"payload":${payload}}\n\n`;
const completeFrame = (id: string) => `event: complete\ndata: {"id":${JSON.stringify(id)}}\n\n`;

function send(response: ServerResponse, status: number, text = '', type = 'text/plain; charset=utf-8'): void {
  response.statusCode = status;
  if (text !== '') response.setHeader('Content-Type', type);
  response.end(text);
}

type Identified = SentOperation & { id: string };

/** A body's JSON, null for what is none, and the points of reading it. */
async function sentJson(request: IncomingMessage, caller: string): Promise<{ json: unknown; points: number }> {
  const bytes = await bodyBytes(request, { ...documentBody, caller });
  weighBody(request, bytes);
  const points = sentPoints({ req: request });
  const { length } = bytes;
  try {
    const json = JSON.parse(utf8Text(bytes));
    await yieldForBytes(length);
    return { json, points };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { json: null, points };
  }
}

function readOperation(json: unknown, sentPoints: number): Identified {
  const sent = json as SentOperation | null;
  const { query, variables, extensions } = sent ?? {};
  requireQuery(sent ?? {});
  const isObject = (value: unknown) => value == null || (typeof value === 'object' && !Array.isArray(value));
  if (typeof query !== 'string' || !isObject(variables) || !isObject(extensions))
    throw invalidRequest('Expected a query, and JSON objects as variables and extensions.');
  const id = extensions?.operationId;
  if (typeof id !== 'string' || id === '' || id.length > 200)
    throw invalidRequest('extensions.operationId: expected 1 to 200 characters.');
  return { ...sent!, id, sentPoints };
}

/** Operations that one request may bring. */
const mostTogether = 20;

/** The operations of a body that their connection is charged for. */
function readOperations(json: unknown): Identified[] {
  const sent = (json as { operations?: unknown } | null)?.operations;
  if (!Array.isArray(sent) || sent.length === 0 || sent.length > mostTogether)
    throw invalidRequest(
      `Expected operations, a list of 1 to ${mostTogether}, or the token of a reserved stream (PUT).`,
    );
  const operations = sent.map((each) => readOperation(each, 0));
  if (new Set(operations.map(({ id }) => id)).size < operations.length)
    throw invalidRequest('extensions.operationId: expected a different id for each operation.');
  return operations;
}

/** Tells an operation's answers on its connection, and that it is complete. */
async function sendResult(
  connection: Connection,
  id: string,
  result: ExecutionResult | Subscribed,
  report: (failure: Failure) => void,
): Promise<void> {
  const out = await connection.out.promise;
  const say = (json: string) => out.send(messageFrame(id, json));
  if ('answers' in result) {
    await Promise.race([eachAnswer(result, say, report), result.answers.source.over]);
    const last = lastAnswer(result.answers);
    if (last !== '') await say(last);
  } else await say(JSON.stringify(result));
  const operation = connection.operations.get(id);
  connection.operations.delete(id);
  operation?.life.end();
  await out.send(completeFrame(id));
}

/**
 * The subscriptions of one reader on one connection. By graphql-sse's protocol: PUT reserves it, GET opens it, POST
 * adds an operation, DELETE ends one. Or POST brings all operations at once and is answered with the stream, as the
 * same events.
 */
export function singleConnections(services: EndpointServices, runOperation: RunOperation) {
  const { admission, attachStream, report: reportFailure } = services;
  const connections = new Map<string, Connection>();

  /** A connection of the caller's, charged and counted among the streams of theirs. */
  async function connect(request: IncomingMessage, response: ServerResponse, cost = 1): Promise<Connection> {
    const { caller, ...charged } = await admission.admit(request, response, { cost: () => cost, least: cost });
    const life = lifetime();
    life.onEnd(admission.takeStreamSlot(caller));
    const out = Promise.withResolvers<EventStream>();
    const scope = beginRequest(clientGone);
    scope.isOf(caller.keyId ?? caller.accountId);
    scope.isHeavy();
    life.onEnd(() => scope.end());
    const connection: Connection = { caller, charged, life, scope, out, isOpen: false, operations: new Map() };
    life.onEnd(() => {
      for (const operation of connection.operations.values()) operation?.life.end();
      connection.operations.clear();
    });
    return connection;
  }

  async function reserve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const connection = await connect(request, response);
    const token = randomUUID();
    connections.set(token, connection);
    const { life, out } = connection;
    const expiry = setTimeout(life.end, reservedMs).unref();
    life.onEnd(() => {
      clearTimeout(expiry);
      connections.delete(token);
    });
    void out.promise.then(() => clearTimeout(expiry));
    send(response, 201, token);
  }

  /** Whose connection a request speaks of: nobody else's. */
  async function find(request: IncomingMessage, token: string): Promise<Connection> {
    const { accountId, keyId } = await admission.identify(request);
    const found = connections.get(token);
    if (found?.caller.accountId !== accountId || found.caller.keyId !== keyId) throw notFound('The event stream');
    return found;
  }

  function open(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    if (connection.isOpen) throw conflict('The event stream is already open.');
    connection.isOpen = true;
    let out: EventStream | null = null;
    const { life, operations } = connection;
    const detach = attachStream({
      beat: () => out?.beat(),
      async recheck() {
        const now = await recheckCaller(
          () => admission.authenticate(request),
          async () => {},
        );
        if ('caller' in now) connection.caller = now.caller;
        else if (operations.size === 0) out?.end('');
      },
      end(reason) {
        const frames = [...operations].map(([id, operation]) => {
          operation?.source?.end(reason);
          const { code, message } = reason.failure;
          const errors = [{ message, extensions: { code, reason: reason.reason } }];
          return messageFrame(id, JSON.stringify({ errors })) + completeFrame(id);
        });
        out?.end(frames.join(''));
      },
    });
    life.onEnd(detach);
    out = openEventStream(request, response);
    void out.closed.then(life.end);
    connection.out.resolve(out);
  }

  /** Runs an operation; null when it was ended before it was in progress. */
  async function run(
    { operations, scope }: Connection,
    { id, ...sent }: Identified,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<ExecutionResult | Subscribed | null> {
    if (operations.has(id)) throw conflict('An operation with this id is already running.');
    operations.set(id, null);
    const life = lifetime();
    const result = await withinRequest(scope, () => runOperation(request, response, sent, life));
    const isGone = operations.get(id) !== null;
    if (isGone) {
      life.end();
      return null;
    }
    operations.set(id, { life, source: 'answers' in result ? result.answers.source : null });
    return result;
  }

  async function add(connection: Connection, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { json, points } = await sentJson(request, connection.caller.accountId);
    const operation = readOperation(json, points);
    const result = await run(connection, operation, request, response);
    if (result === null) return send(response, 204);
    const report = (failure: Failure) => reportFailure(request, failure);
    void withinRequest(connection.scope, () => sendResult(connection, operation.id, result, report));
    send(response, 202);
  }

  /**
   * Subscriptions that came with their connection cost their points and their body's together, the connection's own
   * request among them:
   * what each of them was charged beyond that is given back.
   */
  async function settle(
    { charged }: Connection,
    results: readonly (ExecutionResult | Subscribed)[],
    sentPoints: number,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const each = results.flatMap((result) => ('answers' in result && result.charged ? [result.charged] : []));
    const points = each.reduce((sum, { prediction }) => sum + prediction.points, sentPoints);
    const cost = each.reduce((sum, one) => sum + one.cost, charged.cost);
    await admission.settle({ ...charged, cost }, request, response, requestsOf(points));
  }

  /** All operations in one request, whose answer is the stream: nothing has to reach the same process twice. */
  async function together(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { accountId } = await admission.identify(request);
    const { json, points } = await sentJson(request, accountId);
    const operations = readOperations(json);
    const connection = await connect(request, response, requestsOf(points));
    const { life } = connection;
    requestLife(response).onEnd(life.end);
    // Each operation listens for the end of the answer too.
    response.setMaxListeners(10 + 5 * mostTogether);
    try {
      const results: [string, ExecutionResult | Subscribed][] = [];
      for (const operation of operations) {
        const result = await run(connection, operation, request, response);
        if (result !== null) results.push([operation.id, result]);
      }
      await settle(
        connection,
        results.map(([, result]) => result),
        points,
        request,
        response,
      );
      open(connection, request, response);
      const report = (failure: Failure) => reportFailure(request, failure);
      await withinRequest(connection.scope, () =>
        Promise.all(results.map(([id, result]) => sendResult(connection, id, result, report))),
      );
      (await connection.out.promise).end('');
    } catch (error) {
      life.end();
      throw error;
    }
  }

  function remove(connection: Connection, url: URL): void {
    const id = url.searchParams.get('operationId') ?? '';
    const operation = connection.operations.get(id);
    connection.operations.delete(id);
    operation?.life.end();
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method } = request;
    if (!['GET', 'POST', 'PUT', 'DELETE'].includes(method ?? ''))
      throw methodNotAllowed(method ?? '', ['GET', 'POST', 'PUT', 'DELETE']);
    if (method === 'PUT') return reserve(request, response);
    const url = new URL(request.url ?? '', 'http://localhost');
    const header = request.headers['x-graphql-event-stream-token'];
    const token = typeof header === 'string' ? header : url.searchParams.get('token');
    if (!token && method === 'POST') return together(request, response);
    if (!token) throw invalidRequest('X-GraphQL-Event-Stream-Token: expected the token of a reserved stream (PUT).');
    const connection = await find(request, token);
    if (method === 'DELETE') {
      remove(connection, url);
      return send(response, 200);
    }
    const opens = method === 'GET' || /text\/event-stream/.test(request.headers.accept ?? '');
    return opens ? open(connection, request, response) : add(connection, request, response);
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    serve(request, response).catch(async (thrown: unknown) => {
      const error = await admission.chargeRejected(request, response, requestsOf(sentPoints({ req: request }))).then(
        () => thrown,
        (over: unknown) => over,
      );
      const refused = isRequestError(error)
        ? error
        : requestErrorOf(error instanceof Failure ? error : internal(error));
      const failure = refused.originalError as Failure;
      if (failure.status >= 500) reportFailure(request, failure);
      if (response.headersSent) return void response.destroy();
      response.setHeaders(new Map(Object.entries(failure.headers)));
      send(
        response,
        failure.status,
        JSON.stringify({ errors: [withoutStatus(refused)] }),
        'application/json; charset=utf-8',
      );
    });
  };
}
