import { type IncomingMessage, ServerResponse } from 'node:http';
import { Router } from 'express';
import type { Caller } from '../../access/caller.ts';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { recheckCaller } from '../../access/entitlement/entitlement.ts';
import { messageRequests } from '../../access/limits/body-points.ts';
import { openWebSocket, requireWebSocket } from '../../access/web-socket.ts';
import { heartbeat } from '../../platform/http/websocket/heartbeat.ts';
import {
  type WebSocketConnection,
  type WebSocketListener,
  webSocketEndpoint,
} from '../../platform/http/websocket/websocket-connection.ts';
import { beginRequest, yieldForBytes } from '../../platform/runtime/event-loop.ts';
import { type Lifetime, lifetime } from '../../platform/runtime/lifetime.ts';
import { type RequestScope, withinRequest } from '../../platform/runtime/request-scope.ts';
import {
  clientGone,
  Failure,
  internal,
  invalidParameter,
  invalidTicket,
  methodNotAllowed,
  notFound,
  rateLimited,
  ticketRequired,
} from '../../platform/wire/failure.ts';
import type { OpenStream, StreamEnd } from '../../platform/wire/open-stream.ts';
import { boundedJsonSize, jsonFailure } from '../../platform/wire/sent-text.ts';
import { asFailure } from '../http/router.ts';
import {
  type ControlMessage,
  encodeFrame,
  readControl,
  readId,
  readSubscription,
  type SubscriptionId,
} from './control.ts';
import { groupOf, type OpenTopic, openTopic, type SocketOperations } from './socket-topics.ts';

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

/** Maximum number of subscriptions of a connection. @testonly */
export const mostSubscriptions = 100;
/** Longest wait for authentication, ms. */
const authMs = 10_000;

/** Close codes: those of RFC 6455, and those that report an invalid credential. @testonly */
export const closing = {
  goingAway: 1001,
  unsupported: 1003,
  unexpected: 1011,
  tryAgain: 1013,
  unauthorized: 4401,
  forbidden: 4403,
};

/** Time after which a client should reconnect, ms. */
const reconnectAfterMs: Record<StreamEnd['reason'], number> = {
  shutdown: 500,
  too_slow: 1000,
  failed: 5000,
  not_entitled: 30_000,
};

function closeCodeOf({ reason, failure }: StreamEnd): number {
  if (reason === 'shutdown') return closing.goingAway;
  if (reason === 'too_slow') return closing.tryAgain;
  if (reason === 'failed') return closing.unexpected;
  return failure.status === 401 ? closing.unauthorized : closing.forbidden;
}

/** Checks the protocol version that a client requests. Returns the failure; null = supported. */
function wrongVersion(proto: unknown, encoding: unknown): Failure | null {
  if (proto !== 3) return invalidParameter('proto', 'expected 3');
  return encoding === 'protobuf' ? null : invalidParameter('encoding', 'expected "protobuf"');
}

interface Subscription extends OpenTopic {
  symbol: string;
  life: Lifetime;
}

/** Dependencies of a connection. */
interface SocketParts {
  services: EndpointServices;
  operations: SocketOperations;
}

/** A client's connection to the streaming channel: JSON control in text, frames in bytes (contract-notes 7). */
class SocketConnection implements WebSocketListener, OpenStream {
  readonly #parts: SocketParts;
  readonly #request: IncomingMessage;
  readonly #socket: WebSocketConnection;
  readonly #life: Lifetime;
  readonly #heart;
  readonly #scope: RequestScope;
  readonly #subscriptions = new Map<SubscriptionId, Subscription>();
  #caller: Caller | null = null;

  constructor(parts: SocketParts, request: IncomingMessage, socket: WebSocketConnection, life: Lifetime) {
    this.#parts = parts;
    this.#request = request;
    this.#socket = socket;
    this.#life = life;
    const { now } = parts.services;
    this.#scope = beginRequest(now(), clientGone);
    this.#scope.isHeavy();
    this.#heart = heartbeat(
      () => void socket.send(() => JSON.stringify({ op: 'ping', t: now() })),
      () => socket.close(closing.goingAway, 'Three pings were not answered.'),
    );
    const late = setTimeout(() => {
      const message = `Expected auth as the first message, within ${authMs / 1000} seconds.`;
      this.#refuse(ticketRequired(message));
    }, authMs).unref();
    life.onEnd(() => {
      clearTimeout(late);
      for (const { life: own } of this.#subscriptions.values()) own.end();
      this.#subscriptions.clear();
      this.#scope.end();
    });
    this.#authenticated = () => clearTimeout(late);
  }

  readonly #authenticated: () => void;

  /** Handles a message completely; errors are answered, not thrown. */
  async onMessage(message: string | Buffer): Promise<void> {
    if (typeof message !== 'string') {
      const last = this.#nack(invalidParameter('op', 'expected JSON as text, got bytes'));
      return this.#socket.close(closing.unsupported, 'Clients send JSON as text.', last);
    }
    let control: ControlMessage = {};
    try {
      await withinRequest(this.#scope, async () => {
        await this.#receive(message);
        control = readControl(message);
        await this.#handle(control);
      });
    } catch (error) {
      const failure = this.#known(error);
      if (this.#caller === null) return this.#refuse(failure);
      await this.#socket.send(this.#nack(await this.#charged(failure), control.id));
    }
  }

  /** Charges a large message and queues it. Throws 400 for one over the limits, and 429. */
  async #receive(message: string): Promise<void> {
    await yieldForBytes(message.length);
    // The message is small, so it is parsed first to name the field that is nested too deep.
    const size = boundedJsonSize(Buffer.from(message), 'op', Number.POSITIVE_INFINITY);
    const requests = messageRequests(size);
    if (requests > 0 && this.#caller !== null) await this.#charge(requests);
  }

  onClose(): void {
    this.#life.end();
  }

  beat(): void {
    if (this.#caller !== null) this.#heart.beat();
  }

  end(end: StreamEnd): void {
    const { reason, failure } = end;
    const bye = {
      op: 'bye',
      reconnect_after_ms: reconnectAfterMs[reason],
      reason,
      code: failure.code,
      message: failure.message,
    };
    this.#socket.close(closeCodeOf(end), failure.message, JSON.stringify(bye));
  }

  async recheck(): Promise<void> {
    if (this.#caller === null) return;
    const { admission, now } = this.#parts.services;
    const check = async (caller: Caller) => {
      for (const { answers } of this.#subscriptions.values()) await answers.source.check(caller);
    };
    const found = await recheckCaller(() => admission.authenticate(this.#request), check);
    if ('refused' in found) return this.end({ reason: 'not_entitled', failure: found.refused });
    this.#caller = found.caller;
    for (const subscription of this.#subscriptions.values())
      for (const update of subscription.updates.due(now()))
        void this.#socket.send(() => encodeFrame(subscription.symbol, update));
  }

  /** The failure that is sent for an error; an internal error is logged. */
  #known(error: unknown): Failure {
    const { services } = this.#parts;
    const failure = asFailure(error);
    if (failure.status >= 500) services.report(this.#request, failure);
    services.note(this.#request, { code: failure.code });
    return failure;
  }

  #nack({ code, message }: Failure, id?: unknown): string {
    const named = typeof id === 'string' || typeof id === 'number' ? { id } : {};
    return JSON.stringify({ op: 'nack', ...named, code, message });
  }

  /** Sends the reason for which the client is not admitted, and closes. */
  #refuse(failure: Failure, code: string = failure.code): void {
    const isBusy = failure.status === 429 || failure.status >= 500;
    const last = JSON.stringify({ op: 'nack', code, message: failure.message });
    this.#socket.close(isBusy ? closing.tryAgain : closing.unauthorized, failure.message, last);
  }

  /** Charges an invalid message one request, like any invalid request; 429 if none is left. */
  async #charged(failure: Failure): Promise<Failure> {
    if (failure.status === 429) return failure;
    return this.#charge().then(
      () => failure,
      (error: unknown) => asFailure(error),
    );
  }

  #charge(requests = 1) {
    const { admission } = this.#parts.services;
    return admission.charge(this.#caller!, this.#request, new ServerResponse(this.#request), requests);
  }

  async #handle(message: ControlMessage): Promise<void> {
    const { op } = message;
    // The answer repeats parts of it, and deep nesting would overflow the stack there.
    const fault = jsonFailure(message, 'op');
    if (fault) throw fault;
    if (this.#caller === null) return this.#authenticate(message);
    if (op === 'pong') return this.#heart.heard();
    if (op === 'ping') return this.#socket.send(JSON.stringify({ op: 'pong', t: message.t ?? null }));
    if (op === 'sub') return this.#subscribe(message);
    if (op === 'unsub') return this.#unsubscribe(message);
    throw invalidParameter('op', `expected sub, unsub, ping or pong, got ${JSON.stringify(op)?.slice(0, 40)}`);
  }

  async #authenticate({ op, ticket, proto, encoding }: ControlMessage): Promise<void> {
    const { admission, clientAddress } = this.#parts.services;
    if (op !== 'auth') throw ticketRequired('Send auth with a ticket first.');
    const wrong = wrongVersion(proto, encoding);
    // The ticket is still valid: the client may retry.
    if (wrong) return this.#socket.send(this.#nack(wrong));
    const counted = { address: clientAddress(this.#request) };
    const response = new ServerResponse(this.#request);
    // Guessing is limited per address; a valid ticket costs nothing more.
    const charged = { counted, cost: 1, rate: await admission.charge(counted, this.#request, response) };
    const caller = await admission.takeTicket(typeof ticket === 'string' ? ticket : '', this.#request).catch(asFailure);
    if (caller instanceof Failure) {
      if (caller.status !== 401) throw caller;
      return this.#refuse(invalidTicket(), 'invalid_ticket');
    }
    await admission.settle(charged, this.#request, response, 0);
    if (this.#socket.isClosed) return;
    this.#life.onEnd(admission.takeStreamSlot(caller));
    this.#caller = caller;
    this.#scope.isOf(caller.keyId ?? caller.accountId);
    this.#authenticated();
    this.#socket.admit();
    await this.#socket.send(JSON.stringify({ op: 'authed' }));
  }

  async #subscribe(message: ControlMessage): Promise<void> {
    const { services, operations } = this.#parts;
    const id = readId(message);
    const asked = readSubscription(message);
    if (this.#subscriptions.has(id)) throw invalidParameter('id', 'a subscription with this id is open');
    if (this.#subscriptions.size >= mostSubscriptions)
      throw rateLimited(`At most ${mostSubscriptions} subscriptions on one connection.`, 1);
    await this.#charge();
    const life = lifetime();
    // Each event is answered for the caller's rights at that time.
    const connection = this;
    const following = {
      services,
      life,
      get caller() {
        return connection.#caller!;
      },
    };
    const opened = await openTopic(following, operations, asked).catch((error: unknown) => {
      life.end();
      throw error;
    });
    if (this.#socket.isClosed) return life.end();
    services.admission.count(this.#caller!, [groupOf[asked.topic]]);
    const subscription = { ...opened, symbol: asked.symbol, life };
    this.#subscriptions.set(id, subscription);
    await this.#socket.send(JSON.stringify({ op: 'ack', id, effective: opened.effective }));
    void this.#sendAll(subscription);
  }

  async #unsubscribe(message: ControlMessage): Promise<void> {
    const id = readId(message);
    const subscription = this.#subscriptions.get(id);
    if (!subscription) throw notFound('A subscription with this id');
    this.#subscriptions.delete(id);
    subscription.life.end();
    await this.#socket.send(JSON.stringify({ op: 'ack', id }));
  }

  /** Sends the frames of a subscription until it ends. */
  async #sendAll({ answers, updates, symbol }: Subscription): Promise<void> {
    const { source } = answers;
    const send = async () => {
      for (let message = await answers.next(); message; message = await answers.next())
        for (const update of updates.of(message.content)) await this.#socket.send(() => encodeFrame(symbol, update));
    };
    try {
      // The end is noticed immediately, also while a slow reader blocks the connection.
      await Promise.race([withinRequest(this.#scope, send), source.over]);
    } catch (error) {
      return this.end({ reason: 'failed', failure: this.#known(internal(error)) });
    }
    const { ended } = source;
    if (ended !== null) this.end(ended);
  }
}
