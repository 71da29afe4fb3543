import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { graphAt } from '../../../src/pages/dashboard/client/data/graph-client.ts';
import { type LiveState, openLive } from '../../../src/pages/dashboard/client/data/live-link.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
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

/** WebSockets of which nothing is heard but what `hear` says, on the last that was opened. */
function silentSockets() {
  const sockets: SilentSocket[] = [];
  class SilentSocket {
    static readonly CONNECTING = 0;
    static readonly OPEN = 1;
    readyState = 1;
    readonly sent: string[] = [];
    onopen: (() => void) | null = null;
    onmessage: ((event: { data: string }) => void) | null = null;
    constructor() {
      sockets.push(this);
    }
    send(text: string): void {
      this.sent.push(JSON.parse(text).type);
    }
    close(): void {
      this.readyState = 3;
    }
  }
  vi.stubGlobal('WebSocket', SilentSocket);
  const hear = (type: string) => sockets.at(-1)!.onmessage!({ data: JSON.stringify({ type }) });
  return { sockets, hear };
}

function opened() {
  const states: LiveState[] = [];
  const parts = { url: 'ws://127.0.0.1/graphql', key: 'key', onReturn: () => {}, random: () => 0.5 };
  const link = openLive({ ...parts, onState: (state) => states.push(state) });
  link.listen([{ id: 'quotes', query: 'subscription', variables: {}, onData: () => {} }]);
  onTestFinished(() => link.close());
  return states;
}

test('a stream that does not open within 15 seconds is tried again, and the page says that it is away', async () => {
  vi.useFakeTimers();
  const { sockets } = silentSockets();
  const states = opened();
  await vi.advanceTimersByTimeAsync(14_900);
  expect(states).toEqual(['connecting']);
  await vi.advanceTimersByTimeAsync(200);
  expect(states).toEqual(['connecting', 'reconnecting']);
  await vi.advanceTimersByTimeAsync(1000);
  expect(sockets.map(({ readyState }) => readyState)).toEqual([3, 1]);
});

test('a stream that says nothing for 45 seconds, though it is asked to, is opened again', async () => {
  vi.useFakeTimers();
  const { sockets, hear } = silentSockets();
  const states = opened();
  hear('connection_ack');
  await vi.advanceTimersByTimeAsync(29_000);
  hear('next');
  await vi.advanceTimersByTimeAsync(31_000);
  expect(sockets[0]!.sent).toEqual(['subscribe', 'ping']);
  hear('pong');
  await vi.advanceTimersByTimeAsync(44_000);
  expect(states).toEqual(['connecting', 'live']);
  await vi.advanceTimersByTimeAsync(2500);
  hear('connection_ack');
  expect(states).toEqual(['connecting', 'live', 'reconnecting', 'live']);
  expect(sockets.map(({ readyState }) => readyState)).toEqual([3, 1]);
});
