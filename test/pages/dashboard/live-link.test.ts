import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { eventFrames, type SentEvent } from '../../../src/pages/dashboard/client/data/event-frames.ts';
import { frameQueue } from '../../../src/pages/dashboard/client/data/frame-queue.ts';
import { backOffMs, type LiveState, openLive } from '../../../src/pages/dashboard/client/data/live-link.ts';

describe('the wait before another try', () => {
  test('doubles from about a second to about half a minute, spread so that readers do not come back at once', () => {
    expect([0, 1, 2, 3].map((attempt) => backOffMs(attempt, 0.5))).toEqual([1000, 2000, 4000, 8000]);
    expect(backOffMs(40, 0.5)).toBe(30_000);
    expect(backOffMs(0, 0)).toBeLessThan(backOffMs(0, 1));
  });
});

describe('events of a stream', () => {
  test('are whole however the text is cut; comments are passed over', () => {
    const text = ':\n\nevent: next\ndata: {"a":1}\n\n:\n\nevent: next\ndata: two\ndata: lines\n\ndata:\n\n';
    const expected = [
      { event: 'next', data: '{"a":1}' },
      { event: 'next', data: 'two\nlines' },
      { event: 'message', data: '' },
    ];
    for (const size of [1, 2, 7, text.length]) {
      const events: SentEvent[] = [];
      const take = eventFrames((event) => events.push(event));
      for (let i = 0; i < text.length; i += size) take(text.slice(i, i + size));
      expect(events).toEqual(expected);
    }
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
    queue.clear();
    frames.pop()!();
    expect(flushed).toHaveLength(1);
  });
});

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that answers a request for a stream as `onStream` says. */
async function streamServer(onStream: (response: http.ServerResponse, times: number) => void) {
  let streams = 0;
  const server = http.createServer((_request, response) => onStream(response, ++streams));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql/stream`;
}

function opened(url: string) {
  const states: LiveState[] = [];
  const returned = vi.fn();
  const onData = vi.fn();
  const parts = {
    url,
    key: 'k',
    operations: ['quotes', 'trades'].map((name) => ({ name, query: 'subscription', variables: {}, onData })),
    random: () => 0,
  };
  closers.push(openLive({ ...parts, onState: (state) => states.push(state), onReturn: returned }));
  return { states, returned, onData };
}

describe('the live connection', () => {
  test('that the server drops is opened again, and what was missed is asked for', async () => {
    const url = await streamServer((response, times) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(':\n\n');
      if (times === 1) setTimeout(() => response.destroy(), 50);
    });
    const { states, returned } = opened(url);
    await vi.waitFor(() => expect(returned).toHaveBeenCalledTimes(1), 5000);
    expect(states).toEqual(['connecting', 'live', 'reconnecting', 'live']);
  });

  const said = (id: string, payload: object) => `event: next\ndata: ${JSON.stringify({ id, payload })}\n\n`;

  test('hands each subscription its data, and comes back when the server stops', async () => {
    const url = await streamServer((response, times) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const shutdown = { errors: [{ message: 'x', extensions: { reason: 'shutdown' } }] };
      if (times === 1) response.end(said('quotes', { data: { spot: 1 } }) + said('quotes', shutdown));
      else response.write(said('trades', { data: { seq: times } }));
    });
    const { states, onData } = opened(url);
    await vi.waitFor(() => expect(onData.mock.calls).toEqual([[{ spot: 1 }], [{ seq: 2 }]]), 5000);
    expect(states).toEqual(['connecting', 'live', 'reconnecting', 'live']);
  });

  test('asks no more for a subscription that was refused, and for nothing when all were', async () => {
    const refused = { errors: [{ message: 'x', extensions: { code: 'not_entitled_tier' } }] };
    const asked: string[][] = [];
    const server = http.createServer(async (request, response) => {
      const body = JSON.parse(await text(request));
      const names = body.operations.map((one: { extensions: { operationId: string } }) => one.extensions.operationId);
      asked.push(names);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(said(names.at(-1), refused));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => server.close());
    const { states } = opened(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql/stream`);
    await vi.waitFor(() => expect(states.at(-1)).toBe('refused'), 5000);
    expect(asked).toEqual([['quotes', 'trades'], ['quotes']]);
  });

  test('that a key may not have is not asked for again', async () => {
    const server = http.createServer((_request, response) => response.writeHead(401).end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => server.close());
    const { states } = opened(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql/stream`);
    await vi.waitFor(() => expect(states).toEqual(['connecting', 'refused']), 5000);
  });
});
