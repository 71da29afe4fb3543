import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { frameQueue } from '../../../src/pages/dashboard/client/frame-queue.ts';
import { backOffMs, type LiveState, openLive } from '../../../src/pages/dashboard/client/live-link.ts';

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
    queue.clear();
    frames.pop()!();
    expect(flushed).toHaveLength(1);
  });
});

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that gives a place for a stream and then does as `onStream` says. */
async function streamServer(onStream: (response: http.ServerResponse, times: number) => void) {
  let streams = 0;
  const server = http.createServer((request, response) => {
    if (request.method === 'PUT') response.writeHead(201).end('a-place');
    else if (request.method === 'GET') onStream(response, ++streams);
    else response.writeHead(request.method === 'POST' ? 202 : 200).end();
  });
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
  const parts = {
    url,
    key: 'k',
    operations: [{ name: 'quotes', query: 'subscription { quotes }', variables: {}, onData: () => {} }],
    random: () => 0,
  };
  closers.push(openLive({ ...parts, onState: (state) => states.push(state), onReturn: returned }));
  return { states, returned };
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

  test('that a key may not have is not asked for again', async () => {
    const server = http.createServer((_request, response) => response.writeHead(401).end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => server.close());
    const { states } = opened(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql/stream`);
    await vi.waitFor(() => expect(states).toEqual(['connecting', 'refused']), 5000);
  });
});
