import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { follow } from '../../src/intake/ingest/tail/follow.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { readEvents, type SentEvent } from '../support/event-reader.ts';
import { storeDays } from '../support/market.ts';

// Monday 2026-11-16: the clock stands at 10:30, the tape comes to a minute before.
const session = '2026-11-16';
const open = exchangeInstant(session, 570);
const nowMs = open + 3_600_000;
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  await storeDays(app.store, 'SPY', { '2026-11-12': 590, '2026-11-13': 600 });
});
afterAll(() => app.close());

const stamp = (ms: number) => `${open + ms}000000`;
const line = (value: object) => `${JSON.stringify(value)}\n`;
const stock = (ms: number, id: number, price: number) =>
  line({
    type: 'stock_print',
    symbol: 'SPY',
    exchange: 11,
    id: String(id),
    price,
    size: 100,
    sip_timestamp: stamp(ms),
    sequence_number: id,
  });
const block = (ms: number, id: number, size: number) =>
  line({
    type: 'option_print',
    contract: 'O:SPY261218C00600000',
    exchange: 302,
    price: 4,
    size,
    conditions: [209],
    sip_timestamp: stamp(ms),
    sequence_number: id,
  });
const time = (ms: number) => line({ type: 'time', sip_timestamp: stamp(ms) });
const chain = (ms: number) => {
  const row = (right: string, delta: number) => ({
    contract: `O:SPY261218${right}00600000`,
    open_interest: 1000,
    bid: 4,
    ask: 4.1,
    iv: 0.12,
    delta,
    gamma: 0.02,
  });
  return line({
    type: 'chain',
    underlying: 'SPY',
    captured_at_ms: open + ms,
    spot: 601,
    prior_close_spot: 600,
    rows: [row('C', 0.5), row('P', -0.5)],
  });
};

/** Follows lines to their end, committing all of them at once. */
async function followed(source: string, lines: readonly string[]): Promise<void> {
  const report = await follow(app.store, Readable.from(lines.map((each) => Buffer.from(each))), {
    source,
    fromStart: false,
    everyMs: 60_000,
    now: () => nowMs,
    stop: new AbortController().signal,
    gammaSource: 'vendor',
    rate: 0.04,
    onBadLine: ({ reason }) => expect.fail(reason),
  });
  expect(report.lines).toBe(lines.length);
}

test('what a followed tape says is told by every topic as it is committed', async () => {
  const topics = 'quotes:SPY,bars:SPY:1m,gex:SPY,large-trades:SPY,cross-section:SPY';
  const reader = await readEvents(`${app.url}/v2/stream?topics=${topics}`, {
    headers: { authorization: `Bearer ${await app.key()}` },
  });
  onTestFinished(() => reader.leave());
  const newest = new Map<string, SentEvent['data']>();
  const until = async (isThere: () => boolean) => {
    while (!isThere()) {
      const event = await reader.next();
      if (event === null) expect.fail(`the stream ended: ${JSON.stringify(reader.events.at(-1))}`);
      newest.set(event.event, event.data);
    }
  };
  await until(() => newest.get('quotes')?.spot === 600);
  await followed('tape', [
    stock(1000, 1, 601),
    stock(2000, 2, 601.5),
    block(3000, 3, 2000),
    chain(4000),
    stock(61_000, 4, 602),
    time(120_000),
  ]);
  await until(() => newest.size === 6 && newest.get('quotes').spot === 602 && newest.get('bars').close === 602);
  expect(newest.get('quotes')).toMatchObject({ volume: 300, official_close: 600, event_ts_ms: open + 61_000 });
  expect(newest.get('bars')).toMatchObject({ ts_ms: open + 60_000, volume: 100 });
  expect(newest.get('large-trades').update.event).toMatchObject({ event_kind: 'single_block', total_size: 2000 });
  expect(newest.get('cross-section').update.by_strike[0].measures).toMatchObject({ call_volume: 2000 });
  expect(newest.get('gex')).toMatchObject({ symbol: 'SPY', captured_at: open + 4000 });
  // The bars came one by one, each once.
  const bars = reader.events.filter(({ event }) => event === 'bars').map(({ data }) => data.ts_ms - open);
  expect(bars).toEqual([0, 60_000]);
});
