// Keeps the subscriptions of a page open over one connection, and opens them again when it is lost.
import { type Client, createClient, NetworkError } from 'graphql-sse';

/** How the live data stands: `refused` is final until the key or the page changes. */
export type LiveState = 'off' | 'connecting' | 'live' | 'reconnecting' | 'refused';

/** One subscription. */
export interface LiveOperation {
  name: string;
  query: string;
  variables: Record<string, unknown>;
  /** Called with each message's `data`. */
  onData: (data: Record<string, unknown>) => void;
}

export interface LiveParts {
  url: string;
  key: string;
  operations: readonly LiveOperation[];
  onState: (state: LiveState) => void;
  /** Called when the connection is there again after it was lost: what happened between has to be asked for. */
  onReturn: () => void;
  /** 0 to 1, to spread the returns of many readers. */
  random: () => number;
}

const longestWaitMs = 30_000;

/** Milliseconds before the `attempt`th try (from 0): doubles from one second to half a minute, spread by half. */
export function backOffMs(attempt: number, random: number): number {
  return Math.min(longestWaitMs, 1000 * 2 ** Math.min(attempt, 10)) * (0.75 + random / 2);
}

/** What graphql-sse tells of an answer that is no stream. */
interface Refusal {
  response?: { status: number; headers?: Headers } | undefined;
}

/** Milliseconds an answer asks to wait; null when it does not say. */
function retryAfterMs(response: Refusal['response']): number | null {
  const seconds = response?.headers?.get('retry-after');
  return seconds == null || Number.isNaN(Number(seconds)) ? null : Number(seconds) * 1000;
}

// All the subscriptions end together, with their connection: that each is to end need not be said.
const fetchFn = (url: string, init: RequestInit): Promise<Response> =>
  init.method === 'DELETE' ? Promise.resolve(new Response()) : fetch(url, init);

/** Whether a status says that this one subscription is refused, and would be again. */
const refuses = (status: number | null) => status !== null && [400, 403, 413, 415].includes(status);

/** The server's last word on a stream it ends, that a new one may go on with: it stops, or the reader fell behind. */
const passing = new Set(['shutdown', 'too_slow', 'failed']);

/** One connection's worth of subscriptions, and those that follow it when it is lost. */
class LiveLink {
  readonly #parts: LiveParts;
  #client: Client<true> | null = null;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  // Subscriptions that were refused are not asked for again: the answer would be the same.
  readonly #refused = new Set<string>();

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  open(): void {
    const returning = this.#attempt > 0;
    if (!returning) this.#parts.onState('connecting');
    const client: Client<true> = createClient<true>({
      url: this.#parts.url,
      singleConnection: true,
      headers: { authorization: `Bearer ${this.#parts.key}` },
      credentials: 'omit',
      // Done here, for all the subscriptions at once.
      retryAttempts: 0,
      fetchFn,
      on: { connected: () => this.#connected(client, returning) },
    });
    this.#client = client;
    for (const operation of this.#parts.operations) {
      if (!this.#refused.has(operation.name)) this.#subscribe(operation, client);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = null;
    client?.dispose();
  }

  #connected(client: Client<true>, returning: boolean): void {
    if (this.#client !== client) return;
    this.#attempt = 0;
    this.#parts.onState('live');
    if (returning) this.#parts.onReturn();
  }

  #subscribe(operation: LiveOperation, client: Client<true>): void {
    const { name, query, variables, onData } = operation;
    client.subscribe(
      { query, variables },
      {
        next: ({ data, errors }) => {
          if (this.#client !== client) return;
          if (data != null) onData(data as Record<string, unknown>);
          const reason = errors?.[0]?.extensions?.reason;
          if (data == null && !passing.has(String(reason))) this.#refused.add(name);
        },
        error: (error) => this.#failed(name, client, error),
        complete: () => {
          if (!this.#refused.has(name)) this.#lost(client, null);
        },
      },
    );
  }

  #failed(name: string, client: Client<true>, error: unknown): void {
    const response = error instanceof NetworkError ? (error as Refusal).response : undefined;
    if (response?.status === 401) {
      if (this.#client !== client) return;
      this.close();
      this.#parts.onState('refused');
    } else if (refuses(response?.status ?? null)) this.#refused.add(name);
    else this.#lost(client, retryAfterMs(response));
  }

  #lost(client: Client<true>, waitMs: number | null): void {
    if (this.#client !== client) return;
    this.close();
    this.#parts.onState('reconnecting');
    const backOff = backOffMs(this.#attempt++, this.#parts.random());
    this.#timer = setTimeout(() => this.open(), Math.max(waitMs ?? 0, backOff));
  }
}

/** Opens the subscriptions; returns what closes them. */
export function openLive(parts: LiveParts): () => void {
  const link = new LiveLink(parts);
  link.open();
  return () => link.close();
}
