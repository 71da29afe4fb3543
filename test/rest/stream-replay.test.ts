import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { follow } from '../../src/intake/ingest/tail/follow.ts';
import { heavyWork } from '../../src/platform/runtime/event-loop.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { type EventReader, readEvents, type SentEvent, subscribe } from '../support/event-reader.ts';
import { handTimers, jumpingPace } from '../support/live.ts';
import { storeDays } from '../support/market.ts';

// Friday 2026-11-27, a half day: the tape runs from the open on.
const session = '2026-11-27';
const open = exchangeInstant(session, 570);
const topics = 'quotes:SPY,bars:SPY:1m,bars:SPY:1s,bars:SPY:1d,gex:SPY,large-trades:SPY';
const pace = jumpingPace();
/** As long as it takes on a busy machine. */
const patient = { timeout: 60_000 };
let app: TestApp;
let key: string;
/** Data of the live events, by their kind, without what differs by design. */
let live: Map<string, string[]>;

const line = (value: object) => `${JSON.stringify(value)}\n`;
const stamp = (ms: number) => `${open + ms}000000`;
const print = (ms: number, id: number, price: number) =>
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
    open_interest: 1000 + ms / 500,
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

/** The lines of each second of the tape, by the second in which they come. */
const tape = new Map<number, string[]>([
  [1, [print(200, 1, 601), print(900, 2, 601.5)]],
  [3, [print(2100, 3, 601.25), block(2400, 4, 2000)]],
  [5, [chain(5000)]],
  [60, [print(59_500, 5, 602)]],
  [61, [print(60_300, 6, 603), block(60_400, 7, 3000)]],
  [65, [chain(64_500), print(64_700, 8, 602.5)]],
  [190, [print(189_999, 9, 604)]],
]);

async function feed(seconds: number, lines: readonly string[]): Promise<void> {
  app.clock.nowMs = open + seconds * 1000;
  await follow(app.store, Readable.from([...lines, time(seconds * 1000)].map((each) => Buffer.from(each))), {
    source: 'tape',
    fromStart: false,
    everyMs: 60_000,
    now: () => app.clock.nowMs,
    rate: 0.04,
    stop: new AbortController().signal,
    gammaSource: 'vendor' as const,
    onBadLine: ({ reason }) => expect.fail(reason),
  });
}

/** An event's data as JSON, without what a replay does not have: when a price and an observation came in its second. */
const comparable = ({ event, data }: SentEvent) =>
  JSON.stringify(data, (name, value) =>
    (event === 'quotes' && name === 'event_ts_ms') || (event === 'large-trades' && name === 'observed_through_ms')
      ? null
      : value,
  );

function byKind(events: readonly SentEvent[]): Map<string, string[]> {
  const kinds = Map.groupBy(events, ({ event, data }) => event + (data.timeframe ?? ''));
  return new Map([...kinds].map(([kind, of]) => [kind, of.map(comparable)]));
}

async function opened(query: string, headers: Record<string, string> = {}): Promise<EventReader> {
  const reader = await readEvents(`${app.url}/v2/stream?${query}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  onTestFinished(() => reader.leave());
  return reader;
}

/** All events of a replay. */
async function replayed(query: string, headers: Record<string, string> = {}): Promise<SentEvent[]> {
  const reader = await opened(query, headers);
  await reader.over;
  return reader.events;
}

const nothingLeft = () => expect.poll(() => app.live.counts(), patient).toEqual({ streams: 0, topics: 0 });

beforeAll(async () => {
  app = await testApp({ nowMs: open, every: handTimers().every, pace });
  key = await app.key();
  await storeDays(app.store, 'SPY', { '2026-11-24': 590, '2026-11-25': 600 });
  const reader = await readEvents(`${app.url}/v2/stream?topics=${topics}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const counted = (kind: string) => byKind(reader.events).get(kind)?.length ?? 0;
  const prices = ['quotes', 'bars1m', 'bars1s', 'bars1d'];
  await vi.waitFor(() => expect([counted('quotes'), counted('bars1d')]).toEqual([1, 1]), patient);
  for (const [seconds, lines] of tape) {
    // One commit: each topic that it changes sends an event.
    const text = lines.join('');
    const kinds = [...(text.includes('stock_print') ? prices : []), ...(text.includes('"chain"') ? ['gex'] : [])];
    const before = kinds.map(counted);
    await feed(seconds, lines);
    await vi.waitFor(() => expect(kinds.filter((kind, i) => counted(kind) === before[i])).toEqual([]), patient);
  }
  // A trade is sent when no later leg can belong to it.
  await feed(300, []);
  await vi.waitFor(() => expect(counted('large-trades')).toBe(2), patient);
  reader.leave();
  live = byKind(reader.events.filter(({ event }) => event !== 'ready'));
  app.clock.nowMs = open + 3_600_000;
}, 300_000);
afterAll(() => app.close());

const whole = `topics=${topics}&from=${open}&to=${open + 200_000}&speed=60`;

describe('a replay', () => {
  test('sends what a live stream sent of the same tape', async () => {
    const events = await replayed(whole);
    const sent = byKind(events.filter(({ event }) => event !== 'ready' && event !== 'end'));
    expect([...sent.keys()].sort()).toEqual([...live.keys()].sort());
    for (const [kind, data] of live) expect([kind, sent.get(kind)]).toEqual([kind, data]);
    expect(events[0]).toMatchObject({ event: 'ready', data: { topics: topics.split(',') } });
    expect(events.at(-1)).toEqual({
      event: 'end',
      id: undefined,
      data: { reason: 'completed', at: open + 200_000 },
    });
    await nothingLeft();
  });

  test('is paced by the time of its events', async () => {
    for (const speed of [0.5, 1, 60]) {
      const began = pace.now();
      await replayed(`topics=bars:SPY:1s&from=${open}&to=${open + 200_000}&speed=${speed}`);
      expect(pace.now() - began).toBeCloseTo(200_000 / speed, 3);
    }
  });

  test('reads a bounded number of states per second, however fast it shall be', async () => {
    const began = pace.now();
    await replayed(`topics=bars:SPY:1s,bars:SPY:1m&from=${open}&to=${open + 10_000}&speed=3600`);
    // Seconds 1 and 3 have trades: two topics each.
    expect(pace.now() - began).toBeGreaterThanOrEqual(2 * 2 * 2);
  });

  test('continues after the last event of a connection, anywhere', async () => {
    const events = await replayed(whole);
    const sent = events.slice(1, -1);
    for (const cut of [0, 1, 4, 9, sent.length - 1]) {
      const rest = await replayed(whole, { 'last-event-id': sent[cut]!.id! });
      expect(rest.slice(1, -1)).toEqual(sent.slice(cut + 1));
    }
  });

  test('that nobody reads any more leaves nothing behind', async () => {
    pace.isRunning = false;
    onTestFinished(() => {
      pace.isRunning = true;
    });
    const reader = await opened(whole);
    await expect.poll(() => pace.waiting.size).toBe(1);
    expect(app.live.counts().streams).toBe(1);
    reader.leave();
    await nothingLeft();
    expect(pace.waiting.size).toBe(0);
  });

  test('by a subscription has the same events, each with its instant, and what is below as of it', async () => {
    const query = `subscription { replay(topics: [{ kind: bars, symbol: "SPY", timeframe: "1m" }, { kind: gex, symbol: "SPY" }],
      from: "${open}", to: "${open + 200_000}", speed: 3600) { at kind bar { tsMs close } gexCapture(topStrikes: 1) { id capturedAt strikes { strike } } } }`;
    const reader = await subscribe(app.url, key, query);
    await reader.over;
    const events = reader.events.flatMap(({ data }) => (data === '' ? [] : [data.data.replay]));
    expect(events.at(-1)).toEqual({ at: open + 200_000, kind: 'end', bar: null, gexCapture: null });
    const bars = events.filter(({ kind }) => kind === 'bars');
    expect(bars.map(({ bar }) => bar.close)).toEqual(live.get('bars1m')!.map((data) => JSON.parse(data).close));
    const captures = events.filter(({ kind }) => kind === 'gex');
    expect(captures.map(({ at, gexCapture }) => [at - open, gexCapture.capturedAt - open])).toEqual([
      [5000, 5000],
      [65_000, 64_500],
    ]);
    expect(Buffer.from(captures[0].gexCapture.id, 'base64url').toString()).toContain(`@${open + 5000}`);
    await nothingLeft();
  });
});

describe('a replay is work of its caller', () => {
  const frames = ['1s', '1m', '5m', '1h', '1d'].map((timeframe) => `bars:SPY:${timeframe}`);
  const query = `topics=${frames}&from=${open}&to=${open + 200_000}&speed=3600`;

  test('charged by the states that are read after the first, each in a turn of the lane', async () => {
    const credential = await app.key();
    const before = heavyWork().pieces;
    const taken = vi.spyOn(app.access.rate, 'consume');
    onTestFinished(() => taken.mockRestore());
    const reader = await readEvents(`${app.url}/v2/stream?${query}`, {
      headers: { authorization: `Bearer ${credential}` },
    });
    await reader.over;
    const [opening, ...reading] = taken.mock.calls.map(([, cost]) => cost);
    expect(opening).toBe(frames.length);
    const read = heavyWork().pieces - before - frames.length;
    expect(read).toBeGreaterThan(20);
    expect(reading).toEqual(Array(Math.floor(read / 20)).fill(1));
  });

  test('also what is selected of each event, as the document was priced', async () => {
    const taken = vi.spyOn(app.access.rate, 'consume');
    onTestFinished(() => taken.mockRestore());
    const costOf = async (below: string) => {
      taken.mockClear();
      const reader = await subscribe(
        app.url,
        await app.key(),
        `subscription { replay(topics: [{ kind: quotes, symbol: "SPY" }], from: "${open}", to: "${open + 200_000}",
          speed: 3600) { at quote { spot ${below} } } }`,
      );
      await reader.over;
      return taken.mock.calls.slice(1).reduce((sum, [, cost]) => sum + cost, 0);
    };
    const chain = 'node { chain { rows { bid } } }';
    expect(await costOf('')).toBeLessThan(await costOf(chain));
  });

  test('which waits while the minute is spent, and goes on with the next', async () => {
    const waits: { ms: number; go: () => void }[] = [];
    const later = pace.later.bind(pace);
    const waiting = vi.spyOn(pace, 'later').mockImplementation((ms, work) => {
      if (ms < 1000) return later(ms, work);
      waits.push({ ms, go: () => later(ms, work) });
      return () => {};
    });
    const consume = app.access.rate.consume.bind(app.access.rate);
    let left = frames.length;
    const minute = vi.spyOn(app.access.rate, 'consume').mockImplementation(async (who, cost, of) => {
      const state = await consume(who, cost, of);
      if (cost > left) return { ...state, allowed: false, remaining: left, resetSeconds: 42 };
      left -= cost;
      return state;
    });
    onTestFinished(() => {
      waiting.mockRestore();
      minute.mockRestore();
    });
    const reader = await opened(query);
    await expect.poll(() => waits.length, patient).toBe(1);
    expect(waits[0]!.ms).toBe(42_000);
    const sent = reader.events.length;
    expect(sent).toBeGreaterThan(frames.length);
    expect(reader.events.at(-1)!.event).not.toBe('end');
    left = 1000;
    waits[0]!.go();
    await reader.over;
    expect(reader.events.length).toBeGreaterThan(sent);
    expect(reader.events.at(-1)!.data).toMatchObject({ reason: 'completed' });
    expect(waits).toHaveLength(1);
  });
});

describe('a replay that is not served is 400, and named', () => {
  test.each([
    ['from', `from=${open + 3_600_000 + 60_001}`],
    ['from', `from=${Math.floor(open / 1000)}`],
    ['from', `from=${open}&to=${open - 1}`],
    ['from', `from=2026-10-01`],
    ['to', `from=${open}&to=${Math.floor(open / 1000)}`],
    ['from', 'speed=60'],
    ['from', `to=${open}`],
    ['since', `from=${open}&since=${open}`],
    ['speed', `from=${open}&speed=0.01`],
    ['speed', `from=${open}&speed=3601`],
    ['speed', `from=${open}&speed=fast`],
  ])('%s: %s', async (parameter, query) => {
    const { status, body } = await app.get(`/v2/stream?topics=bars:SPY&${query}`);
    expect([status, body.error?.details]).toEqual([400, { parameter }]);
  });

  test('nor is what the caller may not read now', async () => {
    const credential = await app.key({ apiTier: 'free', classification: null });
    const statusOf = async (asked: string) => {
      const { status, body } = await app.get(`/v2/stream?topics=${asked}&from=${open}`, { credential });
      return [status, body.error.code];
    };
    expect(await statusOf('gex:SPX')).toEqual([403, 'not_entitled_tier']);
    expect(await statusOf('bars:SPY,large-trades:SPY')).toEqual([403, 'not_entitled_tier']);
  });
});
