import { describe, expect, test, vi } from 'vitest';
import type { LiveParts } from '../../../src/pages/dashboard/client/data/live-link.ts';
import { SharedStreams, type TabMessage } from '../../../src/pages/dashboard/client/data/shared-streams.ts';
import { afterwards, throughWorker, whileVisible } from '../../../src/pages/dashboard/client/data/tab-link.ts';

/** Streams whose connections are opened by hand. */
function streams() {
  const opened: (LiveParts & { closed: boolean })[] = [];
  const clock = { nowMs: 0 };
  const shared = new SharedStreams({
    open: (parts) => {
      const connection = { ...parts, closed: false };
      opened.push(connection);
      parts.onState('connecting');
      return () => {
        connection.closed = true;
      };
    },
    now: () => clock.nowMs,
    random: () => 0,
    soon: (run) => run(),
  });
  const listen = (tab: object, symbols: readonly string[], key = 'k') => {
    const heard: TabMessage[] = [];
    const operations = symbols.map((symbol) => ({ name: symbol, query: 'subscription', variables: { symbol } }));
    shared.subscribe(tab, { url: '/stream', key, operations }, (message) => heard.push(message));
    return heard;
  };
  return { shared, opened, clock, listen, open: () => opened.filter(({ closed }) => !closed) };
}

const dataOf = (heard: readonly TabMessage[]) => heard.filter((message) => 'data' in message);

describe('one stream a browser', () => {
  test('seven tabs that show the same have one connection, and each hears all', () => {
    const { opened, listen } = streams();
    const tabs = Array.from({ length: 7 }, () => listen({}, ['SPY', 'QQQ']));
    expect(opened).toHaveLength(1);
    expect(opened[0]!.operations).toHaveLength(2);
    // The server takes names of 200 characters at most.
    expect(opened[0]!.operations.every(({ name }) => name.length < 20)).toBe(true);
    opened[0]!.onState('live');
    opened[0]!.operations[0]!.onData({ spot: 1 });
    opened[0]!.onReturn();
    for (const heard of tabs) {
      expect(heard).toContainEqual({ state: 'live' });
      expect(dataOf(heard)).toEqual([{ name: 'SPY', data: { spot: 1 } }]);
      expect(heard).toContainEqual({ returned: true });
    }
  });

  test('a tab that shows something else replaces the connection; the old one goes on until the new one is open', () => {
    const { opened, open, listen } = streams();
    const first = listen({}, ['SPY']);
    opened[0]!.onState('live');
    listen({}, ['NVDA']);
    expect(open()).toHaveLength(2);
    opened[0]!.operations[0]!.onData({ spot: 2 });
    expect(dataOf(first)).toHaveLength(1);
    opened[1]!.onState('live');
    expect(open()).toEqual([opened[1]]);
    expect(opened[1]!.operations).toHaveLength(2);
  });

  test('tabs that have gone are forgotten, told or not, and without any there is no connection', () => {
    const { shared, clock, open, listen } = streams();
    const [one, other] = [{}, {}];
    listen(one, ['SPY']);
    listen(other, ['QQQ']);
    shared.unsubscribe(one);
    clock.nowMs = 61_000;
    // It says nothing any more; another tab comes and goes.
    const third = {};
    listen(third, ['IWM']);
    for (const { onState } of open()) onState('live');
    expect(open().flatMap(({ operations }) => operations.map(({ variables }) => variables.symbol))).toEqual(['IWM']);
    shared.unsubscribe(third);
    expect(open()).toHaveLength(0);
  });

  test('another key has its own connection, and no connection brings more than the server takes', () => {
    const { open, listen } = streams();
    listen({}, ['SPY'], 'a');
    listen({}, ['SPY'], 'b');
    listen(
      {},
      Array.from({ length: 30 }, (_, i) => `S${i}`),
      'c',
    );
    expect(open().map(({ key, operations }) => [key, operations.length])).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 20],
      ['c', 10],
    ]);
  });
});

const parts = () => ({
  ...{ url: '/stream', key: 'k', operations: [], random: () => 0 },
  ...{ onState: vi.fn(), onReturn: vi.fn() },
});

describe('a tab', () => {
  test('has a connection of its own where no worker answers', async () => {
    vi.useFakeTimers();
    try {
      const alone = vi.fn(() => () => {});
      const port = { postMessage: vi.fn(), onmessage: null };
      throughWorker(port, alone)(parts());
      await vi.advanceTimersByTimeAsync(9999);
      expect(alone).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(2);
      expect(alone).toHaveBeenCalledTimes(1);
      expect(throughWorker(null, alone)).toBe(alone);
    } finally {
      vi.useRealTimers();
    }
  });

  test('hands its own connection over to a worker that answers late, once that one’s is open', async () => {
    vi.useFakeTimers();
    try {
      const closeOwn = vi.fn();
      const alone = vi.fn((own: LiveParts) => {
        own.onState('live');
        return closeOwn;
      });
      const port = { postMessage: vi.fn(), onmessage: null as ((event: MessageEvent) => void) | null };
      const hear = (data: unknown) => port.onmessage!({ data } as MessageEvent);
      const own = parts();
      const close = throughWorker(port, alone)(own);
      await vi.advanceTimersByTimeAsync(10_001);
      hear({ hello: true });
      await vi.advanceTimersByTimeAsync(0);
      expect(port.postMessage).toHaveBeenLastCalledWith({ id: 1, subscription: expect.anything() });
      hear({ id: 1, message: { state: 'connecting' } });
      expect(closeOwn).not.toHaveBeenCalled();
      hear({ id: 1, message: { state: 'live' } });
      expect(closeOwn).toHaveBeenCalled();
      expect(own.onState.mock.calls.flat()).toEqual(['connecting', 'live', 'live']);
      hear({ id: 1, message: { state: 'reconnecting' } });
      expect(own.onState).toHaveBeenLastCalledWith('reconnecting');
      close();
      expect(port.postMessage).toHaveBeenLastCalledWith({ id: 1, subscription: null });
      expect(alone).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('that its worker answered has no connection of its own, however long it has been open', async () => {
    vi.useFakeTimers();
    try {
      const alone = vi.fn(() => () => {});
      const port = { postMessage: vi.fn(), onmessage: null as ((event: MessageEvent) => void) | null };
      const open = throughWorker(port, alone);
      port.onmessage!({ data: { hello: true } } as MessageEvent);
      await vi.advanceTimersByTimeAsync(60_000);
      open(parts())();
      open(parts());
      await vi.advanceTimersByTimeAsync(60_000);
      expect(port.postMessage).toHaveBeenLastCalledWith({ id: 1, subscription: expect.anything() });
      expect(alone).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });

  test('starts its worker when what it draws with has come, or has failed to, and closes what it has not yet opened', async () => {
    for (const settle of ['resolve', 'reject'] as const) {
      const loading = Promise.withResolvers<void>();
      const open = vi.fn((_parts: LiveParts) => () => {});
      const make = vi.fn(() => open);
      const start = afterwards(() => loading.promise, make);
      const [closed, own] = [start(parts()), parts()];
      start(own);
      closed();
      expect(make).not.toHaveBeenCalled();
      expect(own.onState).toHaveBeenCalledWith('connecting');
      loading[settle]();
      await vi.waitFor(() => expect(open).toHaveBeenCalledTimes(1));
      expect(make).toHaveBeenCalledTimes(1);
      expect(open).toHaveBeenCalledWith(own);
    }
  });

  test('pauses while it is hidden, and asks for what it missed when it is seen again', async () => {
    vi.useFakeTimers();
    try {
      const page = { hidden: false, heard: () => {} };
      const close = vi.fn();
      const open = vi.fn((_parts: LiveParts) => close);
      const own = parts();
      whileVisible(open, {
        isHidden: () => page.hidden,
        onChange: (heard) => {
          page.heard = heard;
          return () => {};
        },
      })(own);
      open.mock.calls[0]![0].onState('live');
      expect(own.onReturn).not.toHaveBeenCalled();
      page.hidden = true;
      page.heard();
      await vi.advanceTimersByTimeAsync(6000);
      expect(close).toHaveBeenCalledTimes(1);
      page.hidden = false;
      page.heard();
      expect(open).toHaveBeenCalledTimes(2);
      open.mock.calls[1]![0].onState('live');
      expect(own.onReturn).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });
});
