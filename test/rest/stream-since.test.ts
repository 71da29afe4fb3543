import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { type EventReader, readEvents, subscribe } from '../support/event-reader.ts';
import { coverage, largeTrade, leg, storeLargeTrades } from '../support/flow.ts';
import { minutes, snapshot } from '../support/live.ts';
import { storeDays } from '../support/market.ts';
import { gexCapture, saveCaptures } from '../support/option-market.ts';

// Friday 2026-11-20, 12:00 in New York; the store begins on Wednesday.
const nowMs = Date.parse('2026-11-20T17:00Z');
const session = '2026-11-20';
const at = (minute: number) => exchangeInstant(session, minute);
let app: TestApp;
let key: string;

let lastSeq = 0;
const event = (symbol: string, tsMs: number) => {
  const seq = ++lastSeq;
  return largeTrade(
    [leg(`O:${symbol}261218C00600000`, tsMs, { size: 1000, sequence: seq })],
    seq,
    coverage(session, 715),
  );
};
const capture = (minute: number) =>
  gexCapture('SPY', at(minute), [{ strike: 600_000, expiry: '2026-12-18', gex: minute }]);

beforeAll(async () => {
  app = await testApp({ nowMs });
  key = await app.key();
  await storeDays(app.store, 'SPY', { '2026-11-18': 500, '2026-11-19': 600 });
  await minutes(app.store, 'SPY', session, 0, [
    [600, 1],
    [601, 2],
    [602, 3],
  ]);
  await saveCaptures(app.store, { gex: [capture(600), capture(605), capture(610)] });
  await storeLargeTrades(app.store, [event('SPY', at(600)), event('AAPL', at(601)), event('SPY', at(602))]);
  await snapshot(app.store, 'SPY', session, 1, 1);
});
afterAll(() => app.close());

async function open(query: string, headers: Record<string, string> = {}): Promise<EventReader> {
  const reader = await readEvents(`${app.url}/v2/stream?${query}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  onTestFinished(() => reader.leave());
  return reader;
}

/** The next events, after `ready`. */
async function take(reader: EventReader, count: number): Promise<Json[]> {
  const found: Json[] = [];
  while (found.length < count) {
    const next = (await reader.next())!;
    if (next.event !== 'ready') found.push(next.data);
  }
  return found;
}

describe('a stream since an instant sends what followed it, then live events', () => {
  test('bars that had not ended, each once, in either form of a time', async () => {
    for (const since of [at(571) + 30_000, '2026-11-20T09:31:30', '2026-11-20T14:31:30Z']) {
      const bars = await take(await open(`topics=bars:SPY:1m&since=${since}`), 2);
      expect(bars.map(({ ts_ms }) => ts_ms)).toEqual([at(571), at(572)]);
    }
    const days = await take(await open('topics=bars:SPY:1d&since=2026-11-18T12:00'), 2);
    expect(days.map(({ ts_ms }) => ts_ms)).toEqual([exchangeInstant('2026-11-18'), exchangeInstant('2026-11-19')]);
  });

  test('captures and large trades after it; the latest snapshot if it is later', async () => {
    const captures = await take(await open(`topics=gex:SPY&since=${at(600)}`), 2);
    expect(captures.map(({ captured_at }) => captured_at)).toEqual([at(605), at(610)]);
    const trades = await take(await open(`topics=large-trades:SPY&since=${at(600)}`), 1);
    expect(trades.map(({ seq }) => seq)).toEqual([3]);
    const all = await take(await open(`topics=large-trades:*:0&since=${at(600)}`), 2);
    expect(all.map(({ seq }) => seq)).toEqual([2, 3]);
    const [section] = await take(await open(`topics=cross-section:SPY&since=${at(714)}`), 1);
    expect(section.seq).toBe(1);
    const later = await open(`topics=cross-section:SPY,large-trades:SPY&since=${at(715)}`);
    await later.next();
    await storeLargeTrades(app.store, [event('SPY', at(716))]);
    expect(await take(later, 1)).toMatchObject([{ update: { kind: 'big_trade' } }]);
  });

  test('nothing is missed or sent twice while a writer writes on', async () => {
    const first = lastSeq;
    const written: number[] = [];
    const write = async () => {
      for (let i = 0; i < 20; i++) {
        const trade = event('NVDA', at(717) + i);
        written.push(trade.seq);
        await storeLargeTrades(app.store, [trade]);
      }
    };
    const writing = write();
    const readers: EventReader[] = [];
    while (readers.length < 6) readers.push(await open(`topics=large-trades:NVDA&since=${at(716)}`));
    await writing;
    for (const reader of readers) {
      const trades = await take(reader, 20);
      expect(trades.map(({ seq }) => seq)).toEqual(written);
    }
    expect(written[0]).toBe(first + 1);
  });

  test('Last-Event-ID, which a browser sends again with the same address, takes precedence', async () => {
    const query = `topics=gex:SPY&since=${at(600)}`;
    const reader = await open(query);
    await take(reader, 1);
    const { id } = reader.events.at(1)!;
    reader.leave();
    const again = await take(await open(query, { 'last-event-id': id! }), 1);
    expect(again[0].captured_at).toBe(at(610));
  });

  test('each subscription of the graph takes it', async () => {
    const reader = await subscribe(
      app.url,
      key,
      `subscription { gexCaptured(symbol: "SPY", since: "2026-11-20T10:00") { capturedAt } }`,
    );
    onTestFinished(() => reader.leave());
    const data = [(await reader.next())!.data, (await reader.next())!.data];
    expect(data.map((each) => each.data.gexCaptured.capturedAt)).toEqual([at(605), at(610)]);
  });
});

describe('a time that cannot be served is 400 and named before the stream begins', () => {
  test.each([
    ['bars:SPY:1m', '2026-11-17', exchangeInstant(session, 570)],
    ['bars:SPY:1d', '2026-11-16', exchangeInstant('2026-11-18')],
    ['gex:SPY', '2026-11-19', exchangeInstant(session, 600)],
    ['large-trades:SPY', '2026-11-19', exchangeInstant(session, 600)],
  ])('%s before the stored data: the earliest is named', async (topic, since, earliest) => {
    const { status, body } = await app.get(`/v2/stream?topics=${topic}&since=${since}`);
    expect([status, body.error.details]).toEqual([400, { parameter: 'since' }]);
    expect(body.error.message).toContain(String(earliest));
  });

  test.each([
    ['the future', String(nowMs + 60_001)],
    ['seconds', String(nowMs / 1000)],
    ['no time', 'yesterday'],
  ])('%s', async (_what, since) => {
    for (const topic of ['quotes:SPY', 'bars:SPY']) {
      const { status, body } = await app.get(`/v2/stream?topics=${topic}&since=${since}`);
      expect([status, body.error.details]).toEqual([400, { parameter: 'since' }]);
    }
  });

  test('a subscription fails before its first event', async () => {
    const query = 'subscription { bars(symbol: "SPY", since: "2026-11-10") { tsMs } }';
    const { errors } = await app
      .graphql(query, {}, { headers: { accept: 'text/event-stream' } })
      .catch(() => ({ errors: null }));
    const reader = await subscribe(app.url, key, query);
    onTestFinished(() => reader.leave());
    const error = errors?.[0] ?? (await reader.next())?.data.errors[0];
    expect(error).toMatchObject({
      message: expect.stringMatching(/^since: older bars/),
      extensions: { code: 'invalid_params' },
    });
  });
});
