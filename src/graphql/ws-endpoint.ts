import { type IncomingMessage, ServerResponse } from 'node:http';
import { type ExecutionArgs, type ExecutionResult, type GraphQLError, parse } from 'graphql';
import { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL, MessageType, makeServer, type Server } from 'graphql-ws';
import type { Caller } from '../access/caller.ts';
import type { EndpointServices } from '../access/endpoint-services.ts';
import { recheckCaller } from '../access/entitlement/entitlement.ts';
import { setCredential } from '../access/identity/credential.ts';
import { bodyPoints, messageRequests } from '../access/limits/body-points.ts';
import { openWebSocket } from '../access/web-socket.ts';
import { releaseBytes } from '../platform/http/request-body.ts';
import { heartbeat } from '../platform/http/websocket/heartbeat.ts';
import {
  type WebSocketConnection,
  type WebSocketListener,
  webSocketEndpoint,
} from '../platform/http/websocket/websocket-connection.ts';
import { beginRequest, yieldForBytes } from '../platform/runtime/event-loop.ts';
import { type Lifetime, lifetime } from '../platform/runtime/lifetime.ts';
import { withinRequest } from '../platform/runtime/request-scope.ts';
import {
  clientGone,
  type Failure,
  internal,
  invalidRequest,
  knownFailure,
  rateLimited,
} from '../platform/wire/failure.ts';
import { type JsonExcess, jsonSize, mostJsonValues } from '../platform/wire/json-chunks.ts';
import type { OpenStream, StreamEnd } from '../platform/wire/open-stream.ts';
import { deepestJson } from '../platform/wire/stored-text.ts';
import { endError } from './execution/live-answers.ts';
import { documentLimits } from './limits/document-limits.ts';
import { requestsOf } from './limits/weight.ts';
import { requestErrorOf, withoutStatus } from './request-error.ts';
import type { RunOperation, SentOperation } from './run-operation.ts';
import { eachAnswer, type Subscribed } from './sse.ts';

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

/** Names under which clients send a credential in `connection_init`, lower case, and the header for each. */
const headerOf: Readonly<Record<string, 'authorization' | 'x-api-key'>> = {
  authorization: 'authorization',
  'x-api-key': 'x-api-key',
  apikey: 'x-api-key',
};

function credentials(params: object): Map<'authorization' | 'x-api-key', string> {
  const found = new Map<'authorization' | 'x-api-key', string>();
  for (const [name, value] of Object.entries(params)) {
    const header = headerOf[name.toLowerCase()];
    if (header === undefined) continue;
    if (typeof value !== 'string') throw invalidRequest(`connection_init: expected ${name} to be text.`);
    found.set(header, value);
  }
  return found;
}

/**
 * Uses the credential of `connection_init` as that of the connection's request: `{Authorization: 'Bearer …'}` or
 * `{'X-API-Key': …}`, also within `headers`. Without one, the credential of the handshake counts. Throws 400 for one
 * that is not a string.
 */
function takeCredential(request: IncomingMessage, params: Readonly<Record<string, unknown>> = {}): void {
  const { headers } = params;
  const nested = typeof headers === 'object' && headers !== null ? headers : {};
  const found = new Map([...credentials(nested), ...credentials(params)]);
  if (found.size === 0) return;
  setCredential(request, Object.fromEntries(found));
}

/** Maximum number of concurrent operations of a connection. @testonly */
export const mostOperations = 100;

/**
 * Close codes: the protocol's own, and those of RFC 6455 after which clients reconnect (1001, 1013) or give up (4401,
 * 4403). @testonly
 */
export const closing = { goingAway: 1001, unexpected: 4500, tryAgain: 1013, unauthorized: 4401, forbidden: 4403 };

/** Close reasons for an invalid message. */
const invalidMessages: Record<JsonExcess, string> = {
  'too-deep': `Invalid message received: nested more than ${deepestJson} deep`,
  'too-many-values': `Invalid message received: more than ${mostJsonValues} values`,
};

function closeCodeOf({ status }: Failure): number {
  if (status === 401) return closing.unauthorized;
  if (status === 429 || status === 503) return closing.tryAgain;
  return status < 500 ? closing.forbidden : closing.unexpected;
}

const codeOfEnd = ({ reason, failure }: StreamEnd) =>
  reason === 'shutdown' ? closing.goingAway : closeCodeOf(failure);

/** A client's connection by `graphql-transport-ws`, with the state that its operations share. */
class GraphqlConnection implements WebSocketListener, OpenStream {
  readonly #services: EndpointServices;
  readonly #run: RunOperation;
  readonly #request: IncomingMessage;
  readonly #socket: WebSocketConnection;
  readonly #life: Lifetime;
  readonly #heart;
  readonly #operations = new Set<Lifetime>();
  #caller: Caller | null = null;
  /** Points of reading the current message, until an operation is charged them. */
  #sentPoints = 0;
  /** Points of its subscriptions so far, and the requests charged for them; the first is for the connection itself. */
  readonly #cost = { points: 0, requests: 1 };
  #handle: (message: string) => Promise<void> = async () => {};
  readonly #closed: (code?: number, reason?: string) => Promise<void>;

  constructor(
    { services, run, server }: { services: EndpointServices; run: RunOperation; server: Server<GraphqlConnection> },
    request: IncomingMessage,
    socket: WebSocketConnection,
    life: Lifetime,
  ) {
    this.#services = services;
    this.#run = run;
    this.#request = request;
    this.#socket = socket;
    this.#life = life;
    this.#heart = heartbeat(
      () => socket.ping(),
      () => socket.close(closing.goingAway, 'Three pings were not answered.'),
    );
    life.onEnd(() => {
      for (const operation of this.#operations) operation.end();
    });
    this.#closed = server.opened(
      {
        protocol: socket.protocol,
        send: (text) => socket.send(text),
        onPing: (payload) => this.#pong(payload),
        close: (code = closing.goingAway, reason = '') => socket.close(code, reason),
        onMessage: (handle) => {
          this.#handle = handle;
        },
      },
      this,
    );
  }

  /** Handles a message when it is scheduled; an operation continues while the next message is handled. */
  async onMessage(message: string | Buffer): Promise<void> {
    try {
      await this.#turn(message.length);
    } catch {
      return;
    }
    const bytes = Buffer.from(message);
    const size = jsonSize(bytes, deepestJson);
    releaseBytes(bytes);
    if (typeof size === 'string') {
      this.#charge(messageRequests({ bytes: message.length, values: 0 }));
      this.#socket.close(CloseCode.BadRequest, invalidMessages[size]);
      return;
    }
    this.#sentPoints = bodyPoints(size);
    this.#handle(String(message)).catch((error: unknown) => {
      this.#services.report(this.#request, internal(error));
      this.#socket.close(closing.unexpected, 'Something went wrong on our side.');
    });
    if (this.#sentPoints > 0) this.#charge(messageRequests(size));
  }

  /** Queues a large message with the heavy work of all callers. Rejects when the client has disconnected. */
  async #turn(bytes: number): Promise<void> {
    const scope = beginRequest(this.#services.now(), clientGone);
    if (this.#caller !== null) scope.isOf(this.#caller.keyId ?? this.#caller.accountId);
    const forget = this.#life.onEnd(() => scope.end());
    await withinRequest(scope, () => yieldForBytes(bytes)).finally(() => {
      forget();
      scope.end();
    });
  }

  /**
   * Charges a large message that is not an operation. Closes the connection if the limit is reached or it is not
   * admitted.
   */
  #charge(requests: number): void {
    this.#sentPoints = 0;
    if (requests === 0) return;
    if (this.#caller === null) {
      this.#socket.close(CloseCode.BadRequest, 'Invalid message received: too large');
      return;
    }
    const response = new ServerResponse(this.#request);
    this.#services.admission.charge(this.#caller, this.#request, response, requests).catch((error: unknown) => {
      const failure = knownFailure(error) ?? internal(error);
      this.#socket.close(closeCodeOf(failure), failure.message);
    });
  }

  /** Answers a ping of the protocol with its payload. */
  async #pong(payload: unknown): Promise<void> {
    await this.#socket.send(JSON.stringify({ type: MessageType.Pong, payload }));
  }

  onPong(): void {
    this.#heart.heard();
  }

  onClose(code: number, reason: string): void {
    this.#life.end();
    void this.#closed(code, reason);
  }

  beat(): void {
    this.#heart.beat();
  }

  end(end: StreamEnd): void {
    this.#socket.close(codeOfEnd(end), end.failure.message);
  }

  /** Closes the connection if the credential is no longer valid. Its operations check their own rights. */
  async recheck(): Promise<void> {
    if (this.#caller === null) return;
    const now = await recheckCaller(
      () => this.#services.admission.authenticate(this.#request),
      async () => {},
    );
    if ('caller' in now) this.#caller = now.caller;
    else this.end({ reason: 'not_entitled', failure: now.refused });
  }

  /**
   * Admits the connection by the credential of `connection_init`, as one request and one stream, or closes it.
   */
  async admit(params: Readonly<Record<string, unknown>> | undefined): Promise<boolean> {
    const { admission, note, report } = this.#services;
    try {
      takeCredential(this.#request, params);
      const response = new ServerResponse(this.#request);
      const { caller } = await admission.admit(this.#request, response, { cost: () => 1 });
      if (this.#socket.isClosed) return false;
      this.#life.onEnd(admission.takeStreamSlot(caller));
      this.#caller = caller;
      this.#socket.admit();
      return true;
    } catch (error) {
      const failure = knownFailure(error) ?? internal(error);
      note(this.#request, { code: failure.code });
      if (failure.status >= 500) report(this.#request, failure);
      this.#socket.close(closeCodeOf(failure), failure.message);
      return false;
    }
  }

  /** Runs an operation. Returns the errors of a rejection, a query's result, or the events of a subscription. */
  async operation(
    id: string,
    sent: SentOperation,
  ): Promise<readonly GraphQLError[] | ExecutionResult | AsyncIterableIterator<ExecutionResult>> {
    const sentPoints = this.#sentPoints;
    this.#sentPoints = 0;
    if (this.#operations.size >= mostOperations)
      return [requestErrorOf(rateLimited(`At most ${mostOperations} operations at a time on one connection.`, 1))];
    const life = lifetime();
    this.#operations.add(life);
    life.onEnd(() => this.#operations.delete(life));
    const scope = beginRequest(this.#services.now(), clientGone);
    life.onEnd(() => scope.end());
    // Each operation has rate headers of its own, from which admission reads the charge.
    const response = new ServerResponse(this.#request);
    life.onEnd(() => response.emit('close'));
    if (this.#socket.isClosed) life.end();
    const result = await withinRequest(scope, async () => {
      const result = await this.#run(this.#request, response, { ...sent, sentPoints }, life);
      if ('answers' in result) await this.#settle(result, response);
      return result;
    }).catch((error: unknown) => {
      life.end();
      throw error;
    });
    if ('answers' in result) {
      scope.isHeavy();
      return this.#events(id, result, life);
    }
    life.end();
    return result.data == null && result.errors?.length ? result.errors : result;
  }

  /** Charges the points of subscriptions together; the overcharge of one, beyond whole requests, is given back. */
  async #settle({ charged }: Subscribed, response: ServerResponse): Promise<void> {
    if (!charged) return;
    this.#cost.points += charged.prediction.points;
    const due = requestsOf(this.#cost.points) - this.#cost.requests;
    this.#cost.requests += due;
    await this.#services.admission.settle(charged, this.#request, response, due);
  }

  /**
   * Sends the events of a subscription itself, since many clients share the text of one. Yields nothing, and throws the
   * reason of the end.
   */
  #events(id: string, subscribed: Subscribed, life: Lifetime): AsyncIterableIterator<ExecutionResult> {
    const { source } = subscribed.answers;
    const [begin, end] = [`{"id":${JSON.stringify(id)},"type":"next","payload":`, '}'];
    const send = (json: string) => this.#socket.send(begin + json + end);
    const done = { done: true, value: undefined } as const;
    const iterator: AsyncIterableIterator<ExecutionResult> = {
      next: async () => {
        await Promise.race([
          eachAnswer(subscribed, send, (failure) => this.#services.report(this.#request, failure)),
          source.over,
        ]);
        life.end();
        if (source.ended === null) return done;
        const { message, extensions } = endError(source.ended);
        throw Object.assign(new Error(message), { extensions });
      },
      async return() {
        life.end();
        return done;
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }
}
