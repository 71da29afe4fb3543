import http from 'node:http';
import type { Json } from './app.ts';

/** An event as it came: its fields, `data` as JSON ('' when it is none). */
export interface SentEvent {
  event: string;
  id: string | undefined;
  data: Json;
}

/** A reader of a stream of events over a connection of its own. */
export interface EventReader {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** Every event so far. */
  events: SentEvent[];
  /** Comments so far. */
  comments: string[];
  /** The next event; null at the end. */
  next(): Promise<SentEvent | null>;
  /** Resolved when the stream is over. */
  over: Promise<void>;
  /** Reads no more, without hanging up. */
  pause(): void;
  resume(): void;
  /** Hangs up. */
  leave(): void;
}

function eventOf(block: string): SentEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name) fields.set(name, value!);
  }
  if (fields.size === 0) return null;
  const data = fields.get('data') ?? '';
  return { event: fields.get('event') ?? 'message', id: fields.get('id'), data: data === '' ? '' : JSON.parse(data) };
}

/** Opens a stream of events; resolves with its headers. */
export function readEvents(
  url: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<EventReader> {
  return new Promise((resolve, reject) => {
    // A separate connection: an agent would reuse its own.
    const options = { method, headers: { accept: 'text/event-stream', ...headers }, agent: false };
    const request = http.request(url, options, (response) => {
      const events: SentEvent[] = [];
      const comments: string[] = [];
      let asked = 0;
      let isOver = false;
      let wake = () => {};
      const ended = Promise.withResolvers<void>();
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        const blocks = text.split('\n\n');
        text = blocks.pop()!;
        for (const block of blocks) {
          const event = eventOf(block);
          if (event) events.push(event);
          else comments.push(block);
        }
        wake();
      });
      const end = () => {
        isOver = true;
        ended.resolve();
        wake();
      };
      response.on('end', end);
      response.on('close', end);
      response.on('error', end);
      resolve({
        status: response.statusCode!,
        headers: response.headers,
        events,
        comments,
        over: ended.promise,
        async next() {
          while (asked >= events.length && !isOver)
            await new Promise<void>((done) => {
              wake = done;
            });
          return events[asked++] ?? null;
        },
        pause: () => void response.pause(),
        resume: () => void response.resume(),
        leave: () => void request.destroy(),
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Opens a subscription on a connection of its own. */
export function subscribe(
  url: string,
  credential: string | null,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<EventReader> {
  return readEvents(`${url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
    },
    body: JSON.stringify({ query, variables }),
  });
}
