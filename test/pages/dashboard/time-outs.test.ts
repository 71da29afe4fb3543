import { afterEach, expect, test, vi } from 'vitest';
import { graphAt } from '../../../src/pages/dashboard/client/data/graph.ts';
import { type LiveState, openLive } from '../../../src/pages/dashboard/client/data/live-link.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A server that takes a request and never answers. */
const silent: typeof globalThis.fetch = (_url, options) =>
  new Promise((_resolve, reject) => {
    options?.signal?.addEventListener('abort', () => reject(options.signal!.reason));
  });

test('a question without an answer is given up after 20 seconds, and says so', async () => {
  const late = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
  const answer = graphAt('http://127.0.0.1/graphql', () => 'key', silent)('{ market { nowMs } }' as never, {});
  expect(timeout).toHaveBeenCalledWith(20_000);
  late.abort(new DOMException('late', 'TimeoutError'));
  await expect(answer).rejects.toMatchObject({ kind: 'slow', message: 'There was no answer within 20 seconds.' });
});

test('a stream that does not open within 15 seconds is tried again, and the page says that it is away', async () => {
  vi.useFakeTimers();
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(silent);
  const states: LiveState[] = [];
  const close = openLive({
    url: 'http://127.0.0.1/graphql/stream',
    key: 'key',
    operations: [],
    onState: (state) => states.push(state),
    onReturn: () => {},
    random: () => 0.5,
  });
  await vi.advanceTimersByTimeAsync(14_900);
  expect(states).toEqual(['connecting']);
  await vi.advanceTimersByTimeAsync(200);
  expect(states).toEqual(['connecting', 'reconnecting']);
  await vi.advanceTimersByTimeAsync(1000);
  expect(fetched).toHaveBeenCalledTimes(2);
  close();
});

test('a stream that says nothing for 45 seconds is opened again', async () => {
  vi.useFakeTimers();
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async (_url, options) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        options?.signal?.addEventListener('abort', () => controller.error(options.signal!.reason));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  });
  const states: LiveState[] = [];
  const close = openLive({
    url: 'http://127.0.0.1/graphql/stream',
    key: 'key',
    operations: [{ name: 'quotes', query: 'subscription', variables: {}, onData: () => {} }],
    onState: (state) => states.push(state),
    onReturn: () => {},
    random: () => 0.5,
  });
  await vi.advanceTimersByTimeAsync(44_900);
  expect(states).toEqual(['connecting', 'live']);
  await vi.advanceTimersByTimeAsync(1200);
  expect(fetched).toHaveBeenCalledTimes(2);
  expect(states).toEqual(['connecting', 'live', 'reconnecting', 'live']);
  close();
});
