// Keeps the subscriptions of a page open over one connection, and opens them again when it is lost.
import { eventFrames } from './event-frames.ts';

/** State of the live data: `refused` is final until the key or the page changes. */
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

/** The server says at least every 15 seconds that it is there; after this long without a word it is not, ms. */
const silenceMs = 45_000;

/** Longest time in which a stream opens, ms: then it is tried again. */
const openWithinMs = 15_000;

/** Milliseconds an answer asks to wait; 0 when it does not say. */
function retryAfterMs({ headers }: Response): number {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isNaN(seconds) ? 0 : seconds * 1000;
}

/** The server's last word on a stream it ends, that a new one may go on with: it stops, or the reader fell behind. */
const passing = new Set(['shutdown', 'too_slow', 'failed']);

/** Messages on a subscription, by the name it was asked under. */
interface Said {
  id: string;
  payload?: { data?: Record<string, unknown> | null; errors?: { extensions?: { reason?: string } }[] };
}

/** One connection's worth of subscriptions, and those that follow it when it is lost. */
class LiveLink {
  readonly #parts: LiveParts;
  #current: AbortController | null = null;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  // Subscriptions that were refused are not asked for again: the answer would be the same.
  readonly #refused = new Set<string>();

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  open(): void {
    if (this.#attempt === 0) this.#parts.onState('connecting');
    const connection = new AbortController();
    this.#current = connection;
    this.#read(connection).then(
      (waitMs) => this.#lost(connection, waitMs),
      () => this.#lost(connection, 0),
    );
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#current?.abort();
    this.#current = null;
  }

  /** Reads one connection to its end; how long the server asks to wait before the next, ms. */
  async #read(connection: AbortController): Promise<number> {
    const wanted = this.#parts.operations.filter(({ name }) => !this.#refused.has(name));
    const tooLate = setTimeout(() => connection.abort(), openWithinMs);
    const response = await fetch(this.#parts.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#parts.key}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      credentials: 'omit',
      signal: connection.signal,
      // All in one request: what is behind the address may be many processes, and the next request would meet another.
      body: JSON.stringify({
        operations: wanted.map(({ name, query, variables }) => ({
          query,
          variables,
          extensions: { operationId: name },
        })),
      }),
    }).finally(() => clearTimeout(tooLate));
    if (response.status === 401) this.#refuse(connection);
    if (!response.ok || response.body === null) return retryAfterMs(response);
    if (this.#current === connection) this.#connected();
    const take = eventFrames(({ event, data }) => {
      if (this.#current === connection && event === 'next') this.#hear(JSON.parse(data) as Said);
    });
    await readText(response.body, connection, take);
    if (this.#refused.size === this.#parts.operations.length) this.#refuse(connection);
    return 0;
  }

  #connected(): void {
    const returning = this.#attempt > 0;
    this.#attempt = 0;
    this.#parts.onState('live');
    if (returning) this.#parts.onReturn();
  }

  #hear({ id, payload }: Said): void {
    const { data, errors } = payload ?? {};
    if (data != null) this.#parts.operations.find(({ name }) => name === id)?.onData(data);
    else if (!passing.has(String(errors?.[0]?.extensions?.reason))) this.#refused.add(id);
  }

  /** Nothing is to be had with this key: asked again, the answer would be the same. */
  #refuse(connection: AbortController): void {
    if (this.#current !== connection) return;
    this.close();
    this.#parts.onState('refused');
  }

  #lost(connection: AbortController, waitMs: number): void {
    if (this.#current !== connection) return;
    this.close();
    this.#parts.onState('reconnecting');
    const backOff = backOffMs(this.#attempt++, this.#parts.random());
    this.#timer = setTimeout(() => this.open(), Math.max(waitMs, backOff));
  }
}

/** Hands a body's text to `take` until it ends; a connection that is silent for too long is abandoned. */
async function readText(
  body: ReadableStream<Uint8Array>,
  connection: AbortController,
  take: (text: string) => void,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let silence: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      clearTimeout(silence);
      silence = setTimeout(() => connection.abort(), silenceMs);
      const { done, value } = await reader.read();
      if (done) return;
      take(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(silence);
  }
}

/** Opens the subscriptions; returns what closes them. */
export function openLive(parts: LiveParts): () => void {
  const link = new LiveLink(parts);
  link.open();
  return () => link.close();
}
