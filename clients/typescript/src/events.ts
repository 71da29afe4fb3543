import { ApiError, Unreachable } from './errors.ts';
import {
  failureOf,
  type Instant,
  longestWait,
  queryOf,
  retried,
  retryAfterOf,
  type Sender,
  type Texts,
  wait,
} from './requests.ts';

/** An event of a stream. */
export interface StreamEvent {
  /** The kind of its topic, such as `quotes`. */
  kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: its fields depend on the kind
  data: any;
  /** Position of the stream after this event; null = it has none. */
  id: string | null;
}

/** Options of a stream. */
export interface StreamOptions {
  /** Sends the events after this time first. */
  since?: Instant;
  /** Replays the past from this time on, to `to`, `speed` times as fast. */
  from?: Instant;
  to?: Instant;
  speed?: number;
  tz?: string;
  /** Ends the stream when it is aborted. */
  signal?: AbortSignal;
}

/** Milliseconds of silence after which a connection is lost: the gateway sends a comment every 15 seconds. */
const silenceMs = 40_000;
/** Connections in a row without an event after which a stream throws. */
export const mostFailures = 10;

/** Seconds until the next connection, after some in a row that failed. */
export const backoff = (failures: number) => Math.min(longestWait, 0.5 * 2 ** failures);

function eventOf(block: string): StreamEvent | null {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2)));
  if (fields.data === undefined) return null;
  return { kind: fields.event ?? 'message', data: JSON.parse(fields.data), id: fields.id ?? null };
}

/** The events of one connection, until it ends. `stop` is called after a silence. */
async function* eventsOf(response: Response, stop: (reason: Error) => void): AsyncGenerator<StreamEvent, void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const watch = () => setTimeout(stop, silenceMs, new Unreachable('the stream is silent'));
  let timer = watch();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = watch();
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const event = eventOf(block);
        if (event) yield event;
      }
    }
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => {});
  }
}

/** The events of topics. After a lost connection it resumes where it was. */
export async function* stream(
  { url, fetch, headers }: Sender,
  topics: Texts,
  { signal, ...params }: StreamOptions = {},
): AsyncGenerator<StreamEvent, void> {
  const address = `${url}/v2/stream${queryOf({ topics, ...params })}`;
  let lastId: string | null = null;
  let cause: unknown = null;
  for (let failures = 0, asked = 0; failures < mostFailures; await wait(Math.max(asked, backoff(failures)), signal)) {
    failures += 1;
    const silence = new AbortController();
    const within = AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]);
    const resume: Record<string, string> = lastId === null ? {} : { 'Last-Event-ID': lastId };
    try {
      const sent = { ...(await headers()), Accept: 'text/event-stream', ...resume };
      const response = await fetch(address, { headers: sent, redirect: 'manual', signal: within });
      if (!response.ok) {
        asked = retryAfterOf(response) ?? 0;
        cause = await failureOf(response);
        if (!retried.has(response.status) || asked > longestWait) throw cause;
        continue;
      }
      for await (const event of eventsOf(response, (reason) => silence.abort(reason))) {
        lastId = event.id ?? lastId;
        if (event.kind === 'end') {
          const { reason, error } = event.data;
          if (reason === 'completed') return;
          const { code, message, ...details } = error;
          cause = new ApiError(code, message, { status: 200, details });
          if (reason === 'not_entitled') throw cause;
          continue;
        }
        failures = asked = 0;
        if (event.kind !== 'ready') yield event;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ApiError) throw error;
      cause = error;
    }
  }
  throw cause instanceof ApiError ? cause : new Unreachable(`the stream was lost too often: ${cause}`, { cause });
}
