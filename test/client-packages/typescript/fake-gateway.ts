import { vi } from 'vitest';
import { Client, type ClientOptions } from '../../../clients/typescript/src/index.ts';

/** A success. */
export const answer = (data: unknown, meta: object = {}, headers: Record<string, string> = {}) =>
  Response.json({ data, meta }, { headers });

/** An error. */
export const failure = (
  status: number,
  code = 'internal',
  headers: Record<string, string> = {},
  details: object = {},
): Response => Response.json({ error: { code, message: 'what was wrong', details } }, { status, headers });

/** A stream that ends after these lines. */
export const events = (...lines: string[]) => new Response(lines.join('\n'));

/** A request as it was sent. */
export interface SentRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: unknown;
}

/** A client whose gateway gives one answer after the other. An error is thrown instead. */
export function fakeGateway(
  answers: readonly (Response | Error)[] | (() => Response),
  options: ClientOptions = {},
): { client: Client; sent: SentRequest[] } {
  const left = Array.isArray(answers) ? [...answers] : null;
  const sent: SentRequest[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { method = 'GET', headers, body } = init;
    sent.push({ url: new URL(url), method, headers: headers as Record<string, string>, body });
    const next = left === null ? (answers as () => Response)() : left.shift()!;
    if (next instanceof Error) throw next;
    return next;
  };
  const client = new Client({
    url: 'http://gateway/',
    key: 'key',
    fetch: fetch as typeof globalThis.fetch,
    ...options,
  });
  return { client, sent };
}

/** Runs `work` with timers that pass at once, and returns its result and the seconds that were waited. */
export async function withoutWaiting<T>(work: () => Promise<T>): Promise<{ result: T; waited: number[] }> {
  const waited: number[] = [];
  const real = globalThis.setTimeout;
  // Waits of half a minute and longer are limits of time, which do not pass.
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms: number, ...rest: []) => {
    if (ms > 30_000) return real(() => {}, 0);
    waited.push(ms / 1000);
    return real(run, 0, ...rest);
  }) as typeof setTimeout);
  try {
    return { result: await work(), waited };
  } finally {
    spy.mockRestore();
  }
}

/** The error that a promise rejects with. */
export const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );
