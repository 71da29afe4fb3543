import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Client, Unreachable } from '../../../clients/typescript/src/index.ts';
import { FakeSocket } from './fake-socket.ts';

const document = 'subscription($since: PointInTime) { quotes(symbols: ["SPY"], since: $since) { symbol } }';
const client = () =>
  new Client({ url: 'https://gateway', key: 'key', WebSocket: FakeSocket as unknown as typeof WebSocket });
const last = () => FakeSocket.opened.at(-1)!;
const result = (id: string, n: number) => ({ id, type: 'next', payload: { data: { n } } });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'Date'] });
  FakeSocket.opened = [];
});
afterEach(() => void vi.useRealTimers());

describe('a subscription of the TypeScript client', () => {
  test('shares one connection with others, which sends the key first and closes with the last', async () => {
    const own = client();
    const one = own.subscribe(document, { since: null });
    const other = own.subscribe(document);
    const [first, second] = [one.next(), other.next()];
    expect([FakeSocket.opened.length, last().url, last().protocol]).toEqual([
      1,
      'wss://gateway/graphql',
      'graphql-transport-ws',
    ]);
    await last().accept();
    expect(last().sent).toEqual([
      { type: 'connection_init', payload: { Authorization: 'Bearer key' } },
      { id: '1', type: 'subscribe', payload: { query: document, variables: { since: null } } },
      { id: '2', type: 'subscribe', payload: { query: document, variables: {} } },
    ]);
    last().say(result('2', 5));
    last().say(result('1', 4));
    expect([(await first).value, (await second).value]).toEqual([{ data: { n: 4 } }, { data: { n: 5 } }]);
    await one.return();
    expect([last().sent.at(-1), last().closedWith]).toEqual([{ id: '1', type: 'complete' }, null]);
    last().say({ id: '2', type: 'complete' });
    expect(await other.next()).toEqual({ done: true, value: undefined });
    expect(last().closedWith).toBe(1000);
  });

  test('begins again after a lost connection, since its last result', async () => {
    const results = client().subscribe<{ n: number }>(document, {}, { since: ({ n }) => n });
    const first = results.next();
    await last().accept();
    last().say(result('1', 7));
    await first;
    last().drop(1013);
    const next = results.next();
    await vi.advanceTimersByTimeAsync(1000);
    expect(FakeSocket.opened).toHaveLength(2);
    await last().accept();
    expect(last().sent[1]!.payload).toMatchObject({ variables: { since: '7' } });
    last().say(result('1', 8));
    expect((await next).value).toEqual({ data: { n: 8 } });
  });

  test('begins again if the server says that it may, and throws other errors with their code', async () => {
    const results = client().subscribe(document);
    const next = results.next();
    await last().accept();
    const error = (code: string, reason?: string) => [{ message: 'x', extensions: { code, reason } }];
    last().say({ id: '1', type: 'error', payload: error('internal', 'too_slow') });
    await vi.advanceTimersByTimeAsync(1000);
    expect(last().sent.filter(({ type }) => type === 'subscribe')).toHaveLength(2);
    last().say({ id: '1', type: 'error', payload: error('not_entitled_tier', 'not_entitled') });
    await expect(next).rejects.toMatchObject({ code: 'not_entitled_tier' });
    expect(last().closedWith).toBe(1000);
  });

  test('throws if the credential is no longer valid, and after ten lost connections in a row', async () => {
    const refused = client().subscribe(document).next();
    last().drop(4401, 'The key was revoked.');
    await expect(refused).rejects.toMatchObject({ code: 'unauthenticated', message: 'The key was revoked.' });
    FakeSocket.opened = [];
    const lost = client().subscribe(document).next();
    lost.catch(() => {});
    for (let count = 0; count < 20; count++) {
      last().drop();
      await vi.advanceTimersByTimeAsync(30_000);
    }
    await expect(lost).rejects.toBeInstanceOf(Unreachable);
    expect(FakeSocket.opened).toHaveLength(10);
  });

  test('takes a silent connection for a lost one, and answers pings', async () => {
    const next = client().subscribe(document).next();
    await last().accept();
    last().say({ type: 'ping' });
    expect(last().sent.at(-1)).toEqual({ type: 'pong' });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(last().sent.at(-1)).toEqual({ type: 'ping' });
    await vi.advanceTimersByTimeAsync(45_000);
    expect(FakeSocket.opened).toHaveLength(2);
    await last().accept();
    last().say({ id: '1', type: 'complete' });
    await next;
  });

  test('ends when it is aborted, and when more waits for its reader than it holds', async () => {
    const stop = new AbortController();
    const next = client().subscribe(document, {}, { signal: stop.signal }).next();
    await last().accept();
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    expect(last().closedWith).toBe(1000);
    const unread = client().subscribe(document);
    const first = unread.next();
    await last().accept();
    for (let n = 0; n < 10_002; n++) last().say(result('1', n));
    expect((await first).value).toEqual({ data: { n: 0 } });
    const read = async () => {
      for await (const _ of unread);
    };
    await expect(read()).rejects.toThrow('were not read');
  });
});
