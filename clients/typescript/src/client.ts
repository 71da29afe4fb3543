import { Answer } from './answer.ts';
import { type GraphError, graphError, TapegraphError } from './errors.ts';
import { type StreamEvent, type StreamOptions, stream } from './events.ts';
import { type Routes, routes } from './generated/routes.ts';
import {
  type CallOptions,
  type Instant,
  queryOf,
  type Rate,
  rateOf,
  type Sender,
  send,
  type Texts,
  textOf,
} from './requests.ts';
import { type SubscriptionResult, Subscriptions } from './subscriptions.ts';

/** A document of the graph that knows its types, such as one of GraphQL Code Generator's client preset; or a text. */
export interface TypedDocument<Data, Variables> {
  __apiType?: (variables: Variables) => Data;
  toString(): string;
}

/** An answer of the graph. */
export interface GraphAnswer<Data> {
  data: Data;
  /** Errors of fields that are null in `data`; empty unless `partial` was asked for. */
  errors: readonly GraphError[];
  /** `cost` and `readAt`. */
  extensions: Record<string, unknown>;
  rate: Rate | null;
}

/** Options of a document. */
export interface GraphOptions extends CallOptions {
  operationName?: string;
  /** True to get the data beside the errors of single fields; else the first error is thrown. */
  partial?: boolean;
}

/** Options of a subscription. */
export interface SubscribeOptions<Data> extends CallOptions {
  /** The time of a result. After a lost connection it is sent as the variable `since`, so that no event is missed. */
  since?: (data: Data) => Instant;
}

/** Options of a client. */
export interface ClientOptions {
  /** Default: TAPEGRAPH_URL of the environment, else the page's own origin, else `http://127.0.0.1:4000`. */
  url?: string;
  /** An API key or a session token, or a function that returns the present one. Default: TAPEGRAPH_KEY. */
  key?: string | (() => string | Promise<string>) | undefined;
  /** Number of times that a request that only reads is sent again. Default: 2. */
  retries?: number;
  /** Default: 30,000. */
  timeoutMs?: number;
  fetch?: typeof fetch;
  WebSocket?: typeof WebSocket;
}

/** An instant in the past, as of which a client asks. */
interface AsOf {
  at?: Instant | undefined;
  tz?: string | undefined;
  known?: Instant | undefined;
}

/** Parameters of a route, with its body. */
type Params = Readonly<Record<string, unknown>>;

const ambient = globalThis as {
  process?: { env?: Record<string, string | undefined> };
  location?: { origin?: string };
};

// biome-ignore lint/suspicious/noExplicitAny: data of a document without types is what the caller takes it for
type AnyData = any;

class GatewayClient {
  readonly #sender: Sender;
  readonly #subscriptions: Subscriptions;
  readonly #asOf: AsOf;
  // Views share it.
  readonly #last: { rate: Rate | null };

  constructor(options: ClientOptions = {}, asOf: AsOf = {}, of?: GatewayClient) {
    const env = ambient.process?.env ?? {};
    const { key = env.TAPEGRAPH_KEY || undefined, retries = 2, timeoutMs = 30_000 } = options;
    const origin = /^http/.test(ambient.location?.origin ?? '') ? ambient.location!.origin! : 'http://127.0.0.1:4000';
    const url = (options.url ?? env.TAPEGRAPH_URL ?? origin).replace(/\/+$/, '');
    const headers = async (): Promise<Record<string, string>> => {
      const credential = typeof key === 'function' ? await key() : key;
      return credential === undefined ? {} : { Authorization: `Bearer ${credential}` };
    };
    const { fetch = globalThis.fetch.bind(globalThis), WebSocket: Socket = globalThis.WebSocket } = options;
    const connect = () => new Socket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
    this.#sender = of ? of.#sender : { url, fetch, headers, retries, timeoutMs };
    this.#subscriptions = of ? of.#subscriptions : new Subscriptions(connect, headers);
    this.#last = of ? of.#last : { rate: null };
    this.#asOf = asOf;
  }

  // A method for each route.
  static {
    for (const [name, route] of Object.entries(routes))
      Object.defineProperty(GatewayClient.prototype, name, {
        value(this: GatewayClient, params: Params = {}, options: CallOptions = {}) {
          return this.#call(route, params, options);
        },
      });
  }

  /** The caller's minute, as of the last answer; null = there was none. */
  get rate(): Rate | null {
    return this.#last.rate;
  }

  /**
   * A client that sends `at`, `tz` and `known` with every request. It rejects routes that take no such parameter, and
   * documents of the graph that declare no such variable: they would answer with the present.
   */
  asOf(at: Instant | undefined, { tz, known }: Omit<AsOf, 'at'> = {}): Client {
    if (at === undefined && known === undefined) throw new TapegraphError('asOf: give at or known');
    return new GatewayClient({}, { at, tz, known }, this) as Client;
  }

  /**
   * Calls a route that has no method here, such as one of the gateway's operator. `{name}` in the path is the
   * parameter of that name, `body` is the body, the others are the query.
   */
  async request<Data = AnyData>(
    method: string,
    path: string,
    params: Params = {},
    options: CallOptions = {},
  ): Promise<Answer<Data>> {
    const answer = await this.#call(`${method} ${path} at tz known application/json`, params, options);
    for (const [name, echo] of [
      ['at', 'at'],
      ['known', 'known_at'],
    ] as const)
      if (this.#asOf[name] !== undefined && answer.meta[echo] == null)
        throw new TapegraphError(`${path} takes no ${name}: its answer does not repeat it`);
    return answer as Answer<Data>;
  }

  /** Runs a document of the graph. */
  async graph<Data = AnyData, Variables extends object = Record<string, unknown>>(
    document: TypedDocument<Data, Variables>,
    variables?: Variables,
    { operationName, partial = false, signal }: GraphOptions = {},
  ): Promise<GraphAnswer<Data>> {
    const query = String(document);
    const own = this.#instantFor((name) => query.includes(`$${name}`), 'the document declares no $');
    const response = await send(this.#sender, '/graphql', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/graphql-response+json, application/json',
      },
      body: JSON.stringify({ query, operationName, variables: { ...own, ...variables } }),
      isRead: !query.includes('mutation'),
      ...(signal && { signal }),
    });
    const rate = this.#received(response);
    const { data, errors = [], extensions = {} } = (await response.json()) as GraphAnswer<Data>;
    if (errors.length > 0 && !(partial && data)) {
      const requestId = response.headers.get('x-request-id');
      throw graphError(errors, response.status, { requestId, data });
    }
    return { data, errors, extensions, rate };
  }

  /** Results of a subscription of the graph, over a WebSocket that all subscriptions share. */
  subscribe<Data = AnyData, Variables extends object = Record<string, unknown>>(
    document: TypedDocument<Data, Variables>,
    variables?: Variables,
    { since, signal }: SubscribeOptions<Data> = {},
  ): AsyncGenerator<SubscriptionResult<Data>, void> {
    this.#requirePresent();
    return this.#subscriptions.subscribe<Data>((last) => {
      const resume = since && last !== undefined ? { since: textOf(since(last)) } : {};
      return { query: String(document), variables: { ...variables, ...resume } };
    }, signal);
  }

  /** Events of topics such as `quotes:SPY`. After a lost connection it resumes where it was. */
  stream(topics: Texts, options?: StreamOptions): AsyncGenerator<StreamEvent, void> {
    this.#requirePresent();
    return stream(this.#sender, topics, options);
  }

  #requirePresent(): void {
    if (Object.keys(this.#asOf).length > 0)
      throw new TapegraphError('a stream is of the present: replay the past with from and to');
  }

  /** The parameters of the instant that a request takes. Throws if one would be missing. */
  #instantFor(takes: (name: string) => boolean, problem: string): Params {
    const given = Object.entries(this.#asOf).filter(([, value]) => value !== undefined);
    for (const [name] of given) if (name !== 'tz' && !takes(name)) throw new TapegraphError(problem + name);
    return Object.fromEntries(given.filter(([name]) => takes(name)).map(([name, value]) => [name, textOf(value)]));
  }

  #received(response: Response): Rate | null {
    const rate = rateOf(response);
    this.#last.rate = rate ?? this.#last.rate;
    return rate;
  }

  async #call(route: string, params: Params, options: CallOptions): Promise<Answer<unknown>> {
    const [method, path, ...rest] = route.split(' ') as [string, string, ...string[]];
    const media = rest.find((each) => each.includes('/'));
    const { body, ...others } = params;
    const query: Record<string, unknown> = {
      ...this.#instantFor((name) => rest.includes(name), `${path} takes no `),
      ...others,
    };
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = textOf(query[name]);
      delete query[name];
      return encodeURIComponent(value);
    });
    const response = await send(this.#sender, filled + queryOf(query), {
      method,
      headers: { Accept: 'application/json', ...(body !== undefined && media && { 'Content-Type': media }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      isRead: method === 'GET',
      ...(options.signal && { signal: options.signal }),
    });
    const rate = this.#received(response);
    const answer = (await response.json()) as { data: unknown; meta: Record<string, unknown> };
    return new Answer(answer, rate, (cursor) => this.#call(route, { ...params, cursor }, options));
  }
}

/** A client of the gateway. Its methods are the routes, `graph`, `subscribe`, `stream` and `asOf`. */
export type Client = GatewayClient & Routes;
export const Client = GatewayClient as unknown as new (options?: ClientOptions) => Client;
