import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { frameQueue } from '../../../src/pages/dashboard/client/data/dashboard-controller.ts';
import {
  backOffMs,
  type LiveParts,
  type LiveState,
  openLive,
} from '../../../src/pages/dashboard/client/data/live-link.ts';
import { whileVisible } from '../../../src/pages/dashboard/client/data/while-visible.ts';

describe('the wait before another try', () => {
  test('doubles from about a second to about half a minute, spread so that readers do not come back at once', () => {
    expect([0, 1, 2, 3].map((attempt) => backOffMs(attempt, 0.5))).toEqual([1000, 2000, 4000, 8000]);
    expect(backOffMs(40, 0.5)).toBe(30_000);
    expect(backOffMs(0, 0)).toBeLessThan(backOffMs(0, 1));
  });
});

describe('a burst of messages', () => {
  test('changes the page once a frame, in order', () => {
    const frames: (() => void)[] = [];
    const flushed: number[][] = [];
    const queue = frameQueue<number>(
      (items) => flushed.push(items),
      (run) => frames.push(run),
    );
    for (let i = 0; i < 200; i++) queue.put(i);
    expect(frames).toHaveLength(1);
    frames.pop()!();
    expect(flushed).toEqual([Array.from({ length: 200 }, (_, i) => i)]);
    queue.put(1);
    queue.put(2);
    queue.keep((item) => item > 1);
    frames.pop()!();
    expect(flushed[1]).toEqual([2]);
  });
});

/** Messages of a client on one connection, and its end. */
interface Connection {
  key: string;
  /** Queries of its subscriptions, by id; those that it ended are gone. */
  subscribed: Map<string, string>;
  send: (message: object) => void;
  next: (query: string, data: object) => void;
  error: (query: string, extensions: object) => void;
  close: (code: number) => void;
}

/** A server by the protocol; `answer` acts on a subscription of a connection, the `times`th (from 1). */
async function socketServer(
  answer: (connection: Connection, query: string, times: number) => void,
  admits: (connection: Connection, times: number) => boolean = () => true,
) {
  const connections: Connection[] = [];
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  server.on('connection', (socket) => {
    const send = (message: object) => socket.send(JSON.stringify(message));
    const subscribed = new Map<string, string>();
    const idOf = (query: string) => [...subscribed].find(([, each]) => each === query)![0];
    const connection: Connection = {
      key: '',
      subscribed,
      send,
      next: (query, data) => send({ type: 'next', id: idOf(query), payload: { data } }),
      error: (query, extensions) => send({ type: 'error', id: idOf(query), payload: [{ message: 'x', extensions }] }),
      close: (code) => socket.close(code),
    };
    const times = connections.push(connection);
    socket.on('message', (data) => {
      const { type, id, payload } = JSON.parse(String(data));
      if (type === 'connection_init') {
        connection.key = payload.Authorization;
        if (admits(connection, times)) send({ type: 'connection_ack' });
      } else if (type === 'subscribe') {
        subscribed.set(id, payload.query);
        answer(connection, payload.query, times);
      } else if (type === 'complete') subscribed.delete(id);
    });
  });
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, connections };
}

function opened(url: string, names: readonly string[] = ['quotes', 'trades']) {
  const states: LiveState[] = [];
  const onReturn = vi.fn();
  const onData = vi.fn();
  const link = openLive({ url, key: 'k', onState: (state) => states.push(state), onReturn, random: () => 0 });
  onTestFinished(() => link.close());
  const listen = (wanted: readonly string[]) =>
    link.listen(wanted.map((id) => ({ id, query: id, variables: {}, onData: (data) => onData(id, data) })));
  listen(names);
  return { states, onReturn, onData, listen };
}

const soon = <Value>(look: () => Value) => expect.poll(look, { timeout: 20_000 });

describe('the live connection', () => {
  // Waits are long for a test: its clock runs fast.
  let ticking: ReturnType<typeof setInterval>;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    ticking = setInterval(() => vi.advanceTimersByTime(100), 5);
  });
  afterEach(() => {
    clearInterval(ticking);
    vi.useRealTimers();
  });

  test('sends the key, and that the server drops is opened again, with what was missed to be asked for', async () => {
    const { url, connections } = await socketServer(({ close }, _query, times) => {
      if (times === 1) close(1001);
    });
    const { states, onReturn } = opened(url);
    await soon(() => onReturn.mock.calls.length).toBe(1);
    expect(states).toEqual(['connecting', 'live', 'reconnecting', 'live']);
    expect(connections.map(({ key }) => key)).toEqual(['Bearer k', 'Bearer k']);
  });

  test.each(['shutdown', 'too_slow', 'failed'])('hands each its data, and comes back after %s', async (reason) => {
    const { url } = await socketServer(({ next, error }, query, times) => {
      if (times === 2) return next(query, { seq: times });
      if (query === 'quotes') next(query, { spot: 1 });
      else error(query, { code: 'internal', reason });
    });
    const { states, onData } = opened(url);
    await soon(() => onData.mock.calls).toEqual([
      ['quotes', { spot: 1 }],
      ['quotes', { seq: 2 }],
      ['trades', { seq: 2 }],
    ]);
    expect(states).toEqual(['connecting', 'live', 'reconnecting', 'live']);
  });

  test('asks no more for a subscription that was refused, and for nothing when all were', async () => {
    const asked: string[][] = [[], [], []];
    const { url } = await socketServer(({ error, close }, query, times) => {
      asked[times - 1]!.push(query);
      if (query === 'trades') {
        error(query, { code: 'not_entitled_tier' });
        close(1001);
      } else if (times === 2) error(query, { code: 'not_entitled_tier', reason: 'not_entitled' });
    });
    const { states, listen } = opened(url);
    await soon(() => states.at(-1)).toBe('refused');
    expect(asked).toEqual([['quotes', 'trades'], ['quotes'], []]);
    listen(['quotes', 'trades']);
    expect(states.at(-1)).toBe('refused');
    // Others may be had.
    listen(['quotes', 'bars']);
    await soon(() => states.at(-1)).toBe('live');
  });

  test.each([4401, 4403])('that a key may not have (%i) is not asked for again', async (code) => {
    const { url, connections } = await socketServer(
      () => {},
      ({ close }) => {
        close(code);
        return false;
      },
    );
    const { states } = opened(url);
    await soon(() => states).toEqual(['connecting', 'refused']);
    vi.advanceTimersByTime(60_000);
    expect(states).toEqual(['connecting', 'refused']);
    expect(connections).toHaveLength(1);
  });

  test('waits as long as the server asks when there were too many requests, and comes back to a full server', async () => {
    const { url } = await socketServer(
      ({ error }, query, times) => {
        if (times === 2) error(query, { code: 'rate_limited', details: { retry_after_seconds: 2 } });
      },
      ({ close }, times) => {
        if (times === 1) close(1013);
        return times > 1;
      },
    );
    const { states } = opened(url, ['quotes']);
    const begin = performance.now();
    await soon(() => states).toEqual(['connecting', 'reconnecting', 'live', 'reconnecting', 'live']);
    expect(performance.now() - begin).toBeGreaterThan(750 + 2000);
  });

  test('follows another symbol on the same connection, without a gap in what is followed still', async () => {
    const { url, connections } = await socketServer(({ next }, query) => next(query, {}));
    const { states, onData, listen } = opened(url, ['quotes', 'bars SPY']);
    await soon(() => onData.mock.calls.length).toBe(2);
    listen(['quotes', 'bars QQQ']);
    await soon(() => [...connections[0]!.subscribed.values()]).toEqual(['quotes', 'bars QQQ']);
    await soon(() => onData.mock.calls.map(([name]) => name)).toEqual(['quotes', 'bars SPY', 'bars QQQ']);
    expect([states, connections.length]).toEqual([['connecting', 'live'], 1]);
  });

  test('answers pings', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    onTestFinished(() => server.close());
    opened(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const [socket] = await once(server, 'connection');
    socket.send('{"type":"ping"}');
    const said: string[] = [];
    socket.on('message', (data: Buffer) => said.push(JSON.parse(String(data)).type));
    await soon(() => said).toContain('pong');
    socket.terminate();
  });
});

describe('live data', () => {
  test('pause while the page is hidden, and what was missed is asked for when it is seen again', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const page = { hidden: false, heard: () => {} };
    const link = { listen: vi.fn(), close: vi.fn() };
    const open = vi.fn((_parts: LiveParts) => link);
    const own = { url: '', key: 'k', onState: vi.fn(), onReturn: vi.fn(), random: () => 0 };
    const paused = whileVisible(open, {
      isHidden: () => page.hidden,
      onChange: (heard) => {
        page.heard = heard;
        return () => {};
      },
    })(own);
    const operations = [{ id: 'quotes', query: 'quotes', variables: {}, onData: () => {} }];
    paused.listen(operations);
    open.mock.calls[0]![0].onState('live');
    expect(own.onReturn).not.toHaveBeenCalled();
    const look = (hidden: boolean) => {
      page.hidden = hidden;
      page.heard();
    };
    look(true);
    await vi.advanceTimersByTimeAsync(4000);
    look(false);
    expect([open.mock.calls.length, link.close.mock.calls.length]).toEqual([1, 0]);
    look(true);
    await vi.advanceTimersByTimeAsync(6000);
    expect(link.close).toHaveBeenCalledTimes(1);
    expect(own.onState).toHaveBeenLastCalledWith('off');
    look(false);
    expect(link.listen.mock.calls).toEqual([[operations], [operations]]);
    open.mock.calls[1]![0].onState('live');
    expect(own.onReturn).toHaveBeenCalledTimes(1);
  });
});
