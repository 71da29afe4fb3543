import { ApiError, type GraphError, graphError, TapegraphError, Unreachable } from './errors.ts';
import { backoff, mostFailures } from './events.ts';

/** A result of a subscription: data, and the errors of fields that are null in it. */
export interface SubscriptionResult<Data> {
  data: Data;
  errors?: readonly GraphError[];
}

interface Payload {
  query: string;
  variables: Record<string, unknown>;
}

/** A subscription of a connection. */
interface Subscriber {
  /** The current request: after a lost connection, from the last result on. */
  payload: () => Payload;
  push: (result: SubscriptionResult<unknown>) => void;
  end: (error: unknown) => void;
}

interface Message {
  type: string;
  id?: string;
  payload?: unknown;
}

/** Milliseconds between pings of this side; twice as many without a message, and the connection is lost. */
const pingMs = 20_000;
/** Results that may wait for a reader. */
const mostWaiting = 10_000;
/** Codes of a close that coming back does not mend: the credential, or the protocol. */
const isFinal = (code: number) => code >= 4400 && code <= 4499;
const codes: Readonly<Record<number, string>> = { 4401: 'unauthenticated', 4403: 'not_entitled_tier' };
/** Ends of a subscription after which it begins again. */
const passing = new Set(['too_slow', 'shutdown', 'failed']);

/** Subscriptions of the graph over one WebSocket (graphql-transport-ws), which is open while there are any. */
export class Subscriptions {
  readonly #connect: () => WebSocket;
  readonly #init: () => Promise<Record<string, string>>;
  readonly #subscribers = new Map<string, Subscriber>();
  #socket: WebSocket | null = null;
  #isReady = false;
  #failures = 0;
  #ids = 0;

  constructor(connect: () => WebSocket, init: () => Promise<Record<string, string>>) {
    this.#connect = connect;
    this.#init = init;
  }

  /** Results of a subscription. `payload` is asked again after a lost connection, with the last data. */
  async *subscribe<Data>(
    payload: (last: Data | undefined) => Payload,
    signal?: AbortSignal,
  ): AsyncGenerator<SubscriptionResult<Data>, void> {
    signal?.throwIfAborted();
    const waiting: SubscriptionResult<Data>[] = [];
    let last: Data | undefined;
    let ended: { error: unknown } | null = null;
    let wake = () => {};
    const end = (error: unknown) => {
      ended ??= { error };
      wake();
    };
    const stop = () => end(signal!.reason);
    signal?.addEventListener('abort', stop, { once: true });
    const push = (result: SubscriptionResult<unknown>) => {
      if (ended) return;
      if (waiting.push(result as SubscriptionResult<Data>) > mostWaiting)
        end(new TapegraphError(`more than ${mostWaiting} results were not read`));
      last = result.data as Data;
      wake();
    };
    const id = String(++this.#ids);
    this.#subscribers.set(id, { payload: () => payload(last), push, end });
    this.#begin(id);
    try {
      for (;;) {
        const next = waiting.shift();
        if (next) yield next;
        else if (ended) {
          const { error } = ended;
          if (error !== null) throw error;
          return;
        } else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#leave(id);
    }
  }

  #begin(id: string): void {
    if (this.#isReady) this.#send({ id, type: 'subscribe', payload: this.#subscribers.get(id)!.payload() });
    else if (this.#socket === null) this.#open();
  }

  #leave(id: string): void {
    if (this.#subscribers.delete(id) && this.#isReady) this.#send({ id, type: 'complete' });
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (this.#subscribers.size > 0) return;
    const socket = this.#socket;
    this.#socket = null;
    this.#isReady = false;
    socket?.close(1000);
  }

  #send(message: Message): void {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(message));
  }

  #open(): void {
    const socket = this.#connect();
    this.#socket = socket;
    let heardAt = Date.now();
    const timer = setInterval(() => {
      if (Date.now() - heardAt > 2 * pingMs) lost(1006, 'silence');
      else if (this.#isReady) this.#send({ type: 'ping' });
    }, pingMs);
    const lost = (code: number, reason: string) => {
      clearInterval(timer);
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#isReady = false;
      socket.close();
      this.#lost(code, reason);
    };
    socket.onopen = async () => {
      try {
        this.#send({ type: 'connection_init', payload: await this.#init() });
      } catch (error) {
        this.#endAll(error);
      }
    };
    socket.onmessage = ({ data }) => {
      heardAt = Date.now();
      this.#receive(JSON.parse(data));
    };
    socket.onclose = ({ code, reason }) => lost(code, reason);
    socket.onerror = () => lost(1006, 'the connection failed');
  }

  #lost(code: number, reason: string): void {
    if (this.#subscribers.size === 0) return;
    this.#failures += 1;
    if (isFinal(code)) this.#endAll(new ApiError(codes[code] ?? 'invalid_params', reason, { status: code }));
    else if (this.#failures >= mostFailures)
      this.#endAll(new Unreachable(`the connection was lost too often: ${code} ${reason}`));
    else
      setTimeout(() => {
        if (this.#subscribers.size > 0 && this.#socket === null) this.#open();
      }, backoff(this.#failures) * 1000);
  }

  #endAll(error: unknown): void {
    this.#failures = 0;
    for (const { end } of [...this.#subscribers.values()]) end(error);
  }

  #receive({ type, id, payload }: Message): void {
    const subscriber = this.#subscribers.get(id ?? '');
    if (type === 'ping') this.#send({ type: 'pong' });
    else if (type === 'connection_ack') {
      this.#isReady = true;
      for (const each of this.#subscribers.keys()) this.#begin(each);
    } else if (subscriber && type === 'next') {
      this.#failures = 0;
      subscriber.push(payload as SubscriptionResult<unknown>);
    } else if (subscriber && type === 'complete') this.#finish(id!, null);
    else if (subscriber && type === 'error') this.#failed(id!, payload as GraphError[]);
  }

  #failed(id: string, errors: readonly GraphError[]): void {
    this.#failures += 1;
    if (!passing.has(errors[0]!.extensions?.reason ?? '') || this.#failures >= mostFailures)
      this.#finish(id, graphError(errors, 200));
    else setTimeout(() => this.#subscribers.has(id) && this.#begin(id), backoff(this.#failures) * 1000);
  }

  /** Ends a subscription that the server has ended. */
  #finish(id: string, error: unknown): void {
    const { end } = this.#subscribers.get(id)!;
    this.#subscribers.delete(id);
    end(error);
    this.#closeIfUnused();
  }
}
