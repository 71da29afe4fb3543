import { afterAll, beforeAll, expect, test } from 'vitest';
import { toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { saveGexCapture } from '../../../src/store/gex/captures.ts';
import { writeBars } from '../../../src/store/market/bar-blocks.ts';
import { saveSplits } from '../../../src/store/market/splits.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import type { Json, TestApp } from '../../support/app.ts';
import { filledApp, filledContract, filledNowMs } from '../../support/filled-market.ts';
import { gexCapture, newYork } from '../../support/option-market.ts';
import { statementsOf, withoutCommits } from '../../support/statements.ts';

let app: TestApp;
/** The session of an account with trades. */
let owner: string;

interface Trade {
  id: string;
  symbol: string;
  side: string;
  qty: number;
  price: number;
  ts: number;
}

/** In the regular session with seconds, and without; before the open, after the close of a half day, on a weekend. */
const trades: Trade[] = [
  { id: 'seconds', symbol: 'SPY', side: 'buy', qty: 10, price: 352, ts: newYork('2026-11-30', '09:30') + 42_500 },
  { id: 'minutes', symbol: 'SPY', side: 'sell short', qty: 4, price: 351.5, ts: newYork('2026-11-30', '10:07') },
  { id: 'early', symbol: 'NVDA', side: 'buy', qty: 1, price: 250, ts: newYork('2026-11-30', '08:00') },
  { id: 'half', symbol: 'SPX', side: 'buy', qty: 2, price: 300, ts: newYork('2026-11-27', '13:30') },
  { id: 'weekend', symbol: 'MSFT', side: 'SELL', qty: 3, price: 200, ts: newYork('2026-11-29', '12:00') },
  {
    id: 'option',
    symbol: filledContract('SPX'),
    side: 'buy to open',
    qty: 2,
    price: 3.5,
    ts: newYork('2026-11-30', '10:02') + 30_000,
  },
  { id: 'noside', symbol: 'SPY', side: 'gift', qty: 1, price: 350, ts: newYork('2026-11-30', '10:07') },
  { id: 'future', symbol: 'SPY', side: 'buy', qty: 1, price: 350, ts: filledNowMs + 1_800_000 },
  { id: 'past', symbol: 'SPY', side: 'buy', qty: 1, price: 350, ts: newYork('2024-01-02', '10:00') },
  { id: 'before data', symbol: 'SPY', side: 'buy', qty: 1, price: 350, ts: newYork('2024-01-03', '10:00') },
];

async function record(credential: string, list: readonly Trade[]): Promise<void> {
  const body = list.map((trade) => JSON.stringify({ ...trade, account_id: 'main' })).join('\n');
  const { data, errors } = await app.graphql(
    'mutation ($id: ID!, $body: ImportBody!) { importJournal(importId: $id, body: $body) { result { created errors { row code } } } }',
    { id: `import ${list.length} ${list[0]!.id}`, body },
    { credential },
  );
  expect(errors).toBeUndefined();
  expect(data.importJournal.result).toEqual({ created: list.length, errors: [] });
}

beforeAll(async () => {
  app = await filledApp();
  // With a vwap in each bar: of some others it is unknown.
  const open = newYork('2026-11-30', '09:30');
  const priced = (stepMs: number, count: number) =>
    toBarColumns(
      Array.from({ length: count }, (_, i) => {
        const price = 350 + (i % 7) / 4;
        const prices = { open: price, high: price + 0.5, low: price - 0.5, close: price + 0.25, vwap: price + 0.125 };
        return { ...prices, tsMs: open + stepMs * i, volume: 100 + i, tradeCount: 3 };
      }),
    );
  await inTransaction(app.store, async (tx) => {
    await writeBars(tx, '1s', [{ symbol: 'SPY', bars: priced(1000, 60) }]);
    await writeBars(tx, '1m', [{ symbol: 'SPY', bars: priced(60_000, 390) }]);
  });
  owner = await app.session();
  await record(owner, trades);
  // Earlier releases accepted any time.
  const before1990 = Date.parse('1985-01-02T15:00Z');
  await app.store.pool.query(`UPDATE journal_trades SET ts_ms = $1 WHERE id = 'past'`, [before1990]);
});
afterAll(() => app.close());

/** Everything of the market at the fills, by the ids of trades. */
async function markets(fields: string, credential = owner): Promise<Record<string, Json>> {
  const { data, errors } = await app.graphql(
    `{ journalTrades(limit: 100) { rows { id market { ${fields} } } } }`,
    {},
    { credential },
  );
  expect(errors).toBeUndefined();
  return Object.fromEntries(data.journalTrades.rows.map((row: Json) => [row.id, row.market]));
}

const asOf = async (ts: number, fields: string) => {
  const { data, errors } = await app.graphql(`{ asOf(at: "${ts}") { ${fields} } }`, {}, { credential: owner });
  expect(errors).toBeUndefined();
  return data.asOf;
};

const numbers = 'tsMs open high low close volume vwap tradeCount';
const served = trades.filter(({ id }) => !['future', 'past'].includes(id));
const underlying = ({ symbol }: Trade) => (symbol.startsWith('O:') ? 'SPX' : symbol);

test('the quote, the session so far, and every field of the symbol are those of asOf at the fill', async () => {
  const whole = `quote { spot changePct officialClose volume sessionDate eventTsMs }
    gex { latest { capturedAt netGex zeroGamma flipPoint callWall putWall } }
    flow { largeTrades(limit: 2) { events { seq } } } chain { spot capturedAt }`;
  const found = await markets(
    `at phase note quote { spot changePct officialClose } day { ${numbers} } symbol { symbol ${whole} }`,
  );
  for (const trade of served) {
    const symbol = underlying(trade);
    const date = new Date(trade.ts).toISOString().slice(0, 10);
    const { symbol: expected } = await asOf(
      trade.ts,
      `symbol(symbol: "${symbol}") { symbol ${whole} bars(from: "${date}", to: "2027-01-01", timeframe: "1d") { rows { ${numbers} } } }`,
    );
    const { bars, ...rest } = expected;
    const market = found[trade.id];
    expect(market.symbol).toEqual(rest);
    expect(market.quote).toEqual({
      spot: rest.quote.spot,
      changePct: rest.quote.changePct,
      officialClose: rest.quote.officialClose,
    });
    expect([market.at, market.note]).toEqual([trade.ts, null]);
    expect(market.day).toEqual(bars.rows[0] ?? null);
  }
  expect(found.minutes.day).not.toBeNull();
  const phases = Object.fromEntries(Object.entries(found).map(([id, { phase }]) => [id, phase]));
  expect(phases).toMatchObject({ seconds: 'regular', early: 'extended', half: 'extended', weekend: 'closed' });
});

test('the minute of a fill ends with the last whole second before it; slippage is against its vwap', async () => {
  const found = await markets(`minute { ${numbers} } slippage { reference perShare bps totalUsd note }`);
  const { ts, qty, price } = trades[0]!;
  const from = newYork('2026-11-30', '09:30');
  const { symbol } = await asOf(
    ts,
    `symbol(symbol: "SPY") { bars(from: "${from}", to: "${from + 60_000}") { rows { ${numbers} } }
      seconds: bars(from: "${from}", to: "${from + 60_000}", timeframe: "1s") { rows { tsMs high low volume vwap close } } }`,
  );
  const { minute, slippage } = found.seconds;
  expect(minute).toEqual(symbol.bars.rows[0]);
  // 42 of the minute's seconds had ended.
  const { rows } = symbol.seconds;
  expect(rows).toHaveLength(42);
  expect(minute.high).toBe(Math.max(...rows.map((row: Json) => row.high)));
  expect(minute.close).toBe(rows.at(-1).close);
  expect(slippage.reference).toBe(minute.vwap);
  expect(slippage.perShare).toBeCloseTo(price - minute.vwap, 9);
  expect(slippage.bps).toBeCloseTo((1e4 * (price - minute.vwap)) / minute.vwap, 6);
  expect(slippage.totalUsd).toBeCloseTo(qty * (price - minute.vwap), 6);
  // At the start of a minute nothing of it had traded.
  expect(found.minutes.minute).toBeNull();
  expect(found.minutes.slippage).toEqual({
    reference: null,
    perShare: null,
    bps: null,
    totalUsd: null,
    note: 'No vwap of the minute of SPY is known at the fill.',
  });
});

test('against the vwap of the session and the quote, a sale below costs; a side that is neither has no slippage', async () => {
  const found = await markets(
    'day { vwap low high } quote { spot } rangePosition day_: slippage(against: day_vwap) { perShare note } quoted: slippage(against: quote) { reference perShare totalUsd note }',
  );
  const { day, quote, day_, quoted, rangePosition } = found.minutes;
  const { price, qty } = trades[1]!;
  expect(day_.perShare).toBeCloseTo(day.vwap - price, 9);
  expect(quoted).toEqual({
    reference: quote.spot,
    perShare: expect.closeTo(quote.spot - price, 9),
    totalUsd: expect.closeTo(qty * (quote.spot - price), 9),
    note: null,
  });
  expect(rangePosition).toBeCloseTo((price - day.low) / (day.high - day.low), 9);
  expect(found.noside.quoted).toMatchObject({ perShare: null, note: 'The side "gift" neither buys nor sells.' });
});

test('a fill of a contract is compared with its own prices, times its multiplier; the rest is of its underlying', async () => {
  const found = await markets(
    `contract { id chainRow { bid ask } bars(session: "2026-11-30", limit: 100) { rows { ${numbers} } } greeks { latest { tsMs iv delta } } } symbol { symbol }
    minute { ${numbers} } a: slippage { reference totalUsd } b: slippage(against: day_vwap) { reference } c: slippage(against: quote) { reference }`,
  );
  const { contract, symbol, minute, a, b, c } = found.option;
  const trade = trades.find(({ id }) => id === 'option')!;
  expect([contract.id, symbol.symbol]).toEqual([trade.symbol, 'SPX']);
  const own = `contract(id: "${trade.symbol}") { bars(session: "2026-11-30", limit: 100) { rows { ${numbers} } } greeks { latest { tsMs iv delta } } chainRow { bid ask } }`;
  const { contract: expected } = await asOf(trade.ts, own);
  expect({ bars: contract.bars, greeks: contract.greeks, chainRow: contract.chainRow }).toEqual(expected);
  const { rows } = expected.bars;
  // 10:02:30: the last minute that had ended is that of 10:01.
  expect(rows.at(-1).tsMs).toBe(newYork('2026-11-30', '10:01'));
  expect(minute).toEqual(rows.at(-1));
  const priced = rows.filter((row: Json) => row.vwap !== null);
  if (minute.vwap !== null) {
    expect(a.reference).toBe(minute.vwap);
    expect(a.totalUsd).toBeCloseTo(100 * trade.qty * (trade.price - minute.vwap), 6);
  }
  expect(priced.length).toBeGreaterThan(0);
  if (b.reference !== null) {
    expect(b.reference).toBeGreaterThan(Math.min(...rows.map((row: Json) => row.low)));
    expect(b.reference).toBeLessThan(Math.max(...rows.map((row: Json) => row.high)));
  }
  const { bid, ask } = expected.chainRow;
  expect(c.reference).toBe(bid === null || ask === null ? null : (bid + ask) / 2);
});

test('gamma at a fill is of the last capture by then: above or below zero gamma, and how far the levels were', async () => {
  const rows = [{ strike: 350_000, expiry: '2026-12-18', gex: 5 }];
  const levels = { zeroGamma: 340, flipPoint: 345.5, callWall: 360_000, putWall: 330_000 };
  await inTransaction(app.store, async (tx) => {
    for (const [clock, moved] of [
      ['10:04', 0],
      ['10:06', 10],
      // Later than the fill.
      ['10:08', 900],
    ] as const)
      await saveGexCapture(
        tx,
        gexCapture('SPY', newYork('2026-11-30', clock), rows, { ...levels, zeroGamma: 340 + moved }),
      );
  });
  const level = 'level distance distanceBps';
  const gamma = `gamma { capturedAt spot netGex isAboveZeroGamma zeroGamma { ${level} } flipPoint { ${level} } callWall { ${level} } putWall { ${level} } note }`;
  const found = (await markets(`quote { spot } ${gamma}`)).minutes;
  const { spot } = found.quote;
  const at = (value: number) => ({
    level: value,
    distance: expect.closeTo(value - spot, 9),
    distanceBps: expect.closeTo((1e4 * (value - spot)) / spot, 6),
  });
  expect(found.gamma).toEqual({
    capturedAt: newYork('2026-11-30', '10:06'),
    spot,
    netGex: 5,
    isAboveZeroGamma: spot > 350,
    zeroGamma: at(350),
    flipPoint: at(345.5),
    callWall: at(360),
    putWall: at(330),
    note: null,
  });
});

test('levels of a session before a split are divided by it', async () => {
  const ts = newYork('2026-11-30', '08:00');
  const before = (await markets('gamma { capturedAt callWall { level } }')).early;
  await inTransaction(app.store, (tx) =>
    saveSplits(tx, [{ symbol: 'NVDA', exDate: '2026-11-30', ratio: 4, declared: null }]),
  );
  const after = (await markets('gamma { capturedAt callWall { level } }')).early;
  expect(after.gamma.capturedAt).toBe(before.gamma.capturedAt);
  expect(after.gamma.capturedAt).toBeLessThan(ts);
  if (before.gamma.callWall) expect(after.gamma.callWall.level).toBe(before.gamma.callWall.level / 4);
});

test('a fill that is later than now, or before there is data, has no figures, and says why', async () => {
  const fields =
    'note symbol { symbol } contract { id } quote { spot } minute { close } day { close } rangePosition slippage { perShare note } gamma { netGex note }';
  const found = await markets(fields);
  for (const [id, note] of [
    ['future', 'The trade is later than now.'],
    ['past', 'The trade is before the first year of market data.'],
  ] as const)
    expect(found[id]).toEqual({
      note,
      symbol: null,
      contract: null,
      quote: null,
      minute: null,
      day: null,
      rangePosition: null,
      slippage: { perShare: null, note },
      gamma: { netGex: null, note },
    });
  expect(found['before data']).toMatchObject({
    note: null,
    quote: { spot: null },
    minute: null,
    day: null,
    slippage: { perShare: null, note: 'No vwap of the minute of SPY is known at the fill.' },
    gamma: { netGex: null, note: 'No dealer gamma of SPY was captured by the fill.' },
  });
});

test('what the caller may not read fails at its path as its own field does; the trade itself stands', async () => {
  const credential = await app.session({ siteTier: 'free' });
  await record(credential, [{ ...trades[3]!, id: 'index' }]);
  const { data, errors } = await app.graphql(
    '{ journalTrades(limit: 100) { rows { id price market { phase quote { spot } minute { close } day { close } gamma { netGex } symbol { quote { spot } } } } } }',
    {},
    { credential },
  );
  const own = await app.graphql('{ symbol(symbol: "SPX") { quote { spot } } }', {}, { credential });
  const [row] = data.journalTrades.rows;
  expect(row).toMatchObject({ id: 'index', price: 300, market: { phase: 'extended' } });
  expect(row.market).toMatchObject({ quote: null, minute: null, day: null, gamma: null, symbol: { quote: null } });
  expect(errors).toHaveLength(5);
  for (const { message, extensions } of errors!)
    expect([message, extensions.code]).toEqual([own.errors![0]!.message, own.errors![0]!.extensions.code]);
});

test("nobody else's trades are there", async () => {
  expect(await markets('at', await app.session())).toEqual({});
});

test('a hundred fills at as many instants take at most three times the statements of one', async () => {
  const fields =
    'quote { spot } minute { vwap } day { high low } rangePosition slippage { bps } quoted: slippage(against: quote) { bps } gamma { isAboveZeroGamma callWall { distance } } symbol { quote { changePct } gex { latest { netGex } } chain { capturedAt } }';
  const counts = [];
  const some = (symbols: string[], count: number) =>
    Array.from({ length: count }, (_, i) => ({
      ...trades[0]!,
      id: `${count} ${i}`,
      symbol: symbols[i % symbols.length]!,
      // Within minutes that have bars.
      ts: newYork(['2026-11-27', '2026-11-30', '2026-12-01'][i % 3]!, '09:30') + (i % 39) * 60_000 + 12_345 + i,
    }));
  for (const list of [some(['XSP'], 1), some(['AAPL', 'BRK.B', 'MSFT', 'NVDA', 'SPX', 'SPY'], 100)]) {
    const credential = await app.session();
    await record(credential, list);
    const sent = withoutCommits(await statementsOf(() => markets(fields, credential)));
    counts.push(sent.length);
  }
  expect(counts[0]).toBeGreaterThan(5);
  // Some of the six symbols have no seconds, captures or chains in some sessions, so their reads come at other steps:
  // one and a half times on a quiet machine, twice on one that is busy.
  expect(counts[1]).toBeLessThanOrEqual(3 * counts[0]!);
});
