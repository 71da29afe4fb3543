import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { type Json, type TestApp, testApp } from '../../../support/app.ts';
import { type Random, randomOf } from '../../../support/random.ts';
import type { TestStore } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

// The day after Thanksgiving: a half day, whose first prints come on Wednesday evening.
const session = '2026-11-27';
const evening = exchangeInstant('2026-11-25', 20 * 60 + 15);
const open = exchangeInstant(session, 570);
const close = exchangeInstant(session, 780);
const nowMs = exchangeInstant(session, 1300);
const minuteMs = 60_000;
const contracts = ['O:SPY261218C00600000', 'O:SPY261218P00580000', 'O:SPY261127C00600000', 'O:SPY270115C00610000'];

interface Print {
  contract: string;
  ms: number;
  /** Cents. */
  price: number;
  size: number;
  condition: number;
  /** Cancels the print before it in the list. */
  isCancel: boolean;
}
interface Quote {
  contract: string;
  ms: number;
  bid: number;
  ask: number;
}

/** An instant of the session: some of the evening, some of the open, the close and their minutes' ends. */
function instantOf(random: Random): number {
  const from = random.pick([evening, open, open, open, close - 30 * minuteMs]);
  const minutes = from === open ? 200 : 25;
  const ms = from + random.below(minutes) * minuteMs;
  return ms + random.pick([0, 59_999, random.below(minuteMs)]);
}

function tapeOf(seed: number): { prints: Print[]; quotes: Quote[] } {
  const random = randomOf(seed);
  const prints: Print[] = [];
  const quotes: Quote[] = [];
  for (let i = 0; i < 400; i++) {
    const contract = random.pick(contracts);
    const ms = instantOf(random);
    const bid = 100 + random.below(50);
    if (!random.once(5)) quotes.push({ contract, ms: ms - random.pick([1, 4000, 6000]), bid, ask: bid + 10 });
    // No two sizes are alike, so that a cancel means exactly one print.
    const size = 10 * (i + 1);
    const print = {
      contract,
      ms,
      price: bid + random.below(11),
      size,
      condition: random.pick([209, 209, 232, 204, 247]),
    };
    prints.push({ ...print, isCancel: false });
    if (random.once(8) && print.condition !== 247)
      prints.push({ ...print, ms: Math.min(ms + random.below(40 * minuteMs), close), condition: 201, isCancel: true });
  }
  return { prints, quotes };
}

/** Bought and sold by contract before an instant, straight from the tape. */
function signedBySearch({ prints, quotes }: ReturnType<typeof tapeOf>, beforeMs: number): Record<string, number[]> {
  const signed: Record<string, number[]> = Object.fromEntries(contracts.map((each) => [each, [0, 0]]));
  for (const [i, print] of prints.entries()) {
    const { contract, ms, price, size, condition, isCancel } = print;
    if (isCancel || prints[i + 1]?.isCancel || condition === 247 || condition === 204 || ms >= beforeMs) continue;
    const before = quotes.filter((quote) => quote.contract === contract && quote.ms <= ms);
    const last = before.sort((a, b) => a.ms - b.ms || a.bid - b.bid).at(-1);
    if (!last || ms - last.ms > 5000) continue;
    const tenths = price - last.bid;
    if (tenths >= 6) signed[contract]![0]! += size;
    if (tenths <= 4) signed[contract]![1]! += size;
  }
  return signed;
}

const measureNames = [
  'call_volume',
  'put_volume',
  'call_premium_usd',
  'put_premium_usd',
  'call_trade_count',
  'put_trade_count',
];

/** Measures by strike and by expiry of the prints before an instant that stand, straight from the tape. */
function sectionBySearch({ prints }: ReturnType<typeof tapeOf>, beforeMs: number) {
  const byStrike: Record<string, Record<string, number>> = {};
  const byExpiration: Record<string, Record<string, number>> = {};
  for (const [i, { contract, ms, price, size, condition, isCancel }] of prints.entries()) {
    if (isCancel || prints[i + 1]?.isCancel || condition === 247 || ms >= beforeMs) continue;
    const [, year, month, day, right, strike] = /^O:SPY(..)(..)(..)([CP])(.{8})$/.exec(contract)!;
    const prefix = right === 'C' ? 'call' : 'put';
    for (const [table, key] of [
      [byStrike, String(Number(strike))],
      [byExpiration, `20${year}-${month}-${day}`],
    ] as const) {
      table[key] ??= Object.fromEntries(measureNames.map((name) => [name, 0]));
      table[key][`${prefix}_volume`]! += size;
      table[key][`${prefix}_premium_usd`]! += price * size;
      table[key][`${prefix}_trade_count`]! += 1;
    }
  }
  return { byStrike, byExpiration };
}

const tablesOf = ({ by_strike, by_expiration }: Json) => ({
  byStrike: Object.fromEntries(by_strike.map((row: Json) => [row.strike_thousandths, row.measures])),
  byExpiration: Object.fromEntries(by_expiration.map((row: Json) => [row.expiry, row.measures])),
});

const stamp = (ms: number) => `${ms}000000`;

function liveLines({ prints, quotes }: ReturnType<typeof tapeOf>): string[] {
  const lines = [
    ...quotes.map(({ contract, ms, bid, ask }, i) => ({
      at: ms,
      value: {
        type: 'option_quote',
        contract,
        bid_price: bid / 100,
        ask_price: ask / 100,
        sip_timestamp: stamp(ms),
        sequence_number: bid * 1000 + i,
      },
    })),
    ...prints.map(({ contract, ms, price, size, condition }, i) => ({
      at: ms + 0.5,
      value: {
        type: 'option_print',
        contract,
        exchange: 302,
        price: price / 100,
        size,
        conditions: [condition],
        sip_timestamp: stamp(ms),
        sequence_number: i + 1,
      },
    })),
  ];
  const ordered = lines.sort((a, b) => a.at - b.at).map(({ value }) => value);
  return [...ordered, { type: 'time', sip_timestamp: stamp(close + 60_000) }].map(
    (value) => `${JSON.stringify(value)}\n`,
  );
}

const storedMinutes = async ({ pool }: TestStore) =>
  (await pool.query('SELECT * FROM contract_minute_blocks ORDER BY underlying, session_date, part')).rows;

const folder = temporaryFolder();

async function ingest({ store }: TestApp, { prints, quotes }: ReturnType<typeof tapeOf>, isQuoted: boolean) {
  const byContract = <T extends { contract: string; ms: number }>(rows: readonly T[]) =>
    rows.toSorted((a, b) => (a.contract === b.contract ? a.ms - b.ms : a.contract < b.contract ? -1 : 1));
  const trades = join(folder(), 'trades.csv');
  writeFileSync(
    trades,
    [
      'ticker,conditions,correction,exchange,price,sip_timestamp,size',
      ...byContract(prints).map(
        ({ contract, ms, price, size, condition }) =>
          `${contract},${condition},0,302,${price / 100},${stamp(ms)},${size}`,
      ),
    ].join('\n'),
  );
  const quoteFile = join(folder(), 'quotes.csv');
  writeFileSync(
    quoteFile,
    [
      'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp',
      ...byContract(quotes).map(
        ({ contract, ms, bid, ask }, i) =>
          `${contract},302,${ask / 100},1,302,${bid / 100},1,${bid * 1000 + i},${stamp(ms)}`,
      ),
    ].join('\n'),
  );
  const report = await ingestFiles(store, 'option-trades', [trades], {
    now: () => nowMs,
    ...(isQuoted ? { quoteFiles: [quoteFile] } : {}),
  });
  expect(report.files[0]!.status).toBe('stored');
}

async function signed(app: TestApp, atMs: number): Promise<Record<string, Json>> {
  const fields = contracts.map(
    (id, i) => `c${i}: contract(id: "${id}") { signedVolume(session: "${session}") { bought sold throughMs } }`,
  );
  const { data, errors } = await app.graphql(
    `{ asOf(at: "${atMs}") { ${fields.join(' ')} } }`,
    {},
    {
      credential: await app.session(),
    },
  );
  expect(errors).toBeUndefined();
  return Object.fromEntries(contracts.map((id, i) => [id, data.asOf[`c${i}`].signedVolume]));
}

describe.each([1, 2])('the minutes of the random tape %i', (seed) => {
  const tape = tapeOf(seed);
  let file: TestApp;
  let live: TestApp;
  beforeAll(async () => {
    file = await testApp({ nowMs });
    live = await testApp({ nowMs });
    await ingest(file, tape, true);
    await follow(live.store, Readable.from([Buffer.from(liveLines(tape).join(''))]), {
      source: 'stdin',
      fromStart: true,
      everyMs: 0,
      now: () => nowMs,
      stop: new AbortController().signal,
      gammaSource: 'solve',
      rate: 0.045,
      onBadLine: (bad) => expect(bad).toBeNull(),
    });
  });
  afterAll(async () => {
    await file.close();
    await live.close();
  });

  test('are stored alike from the live tape and from files', async () => {
    const rows = await storedMinutes(file.store);
    expect(rows.length).toBeGreaterThan(0);
    expect(await storedMinutes(live.store)).toEqual(rows);
  });

  test('give at any instant what prints and quotes of the tape give, up to the last whole minute', async () => {
    const random = randomOf(seed + 100);
    const instants = Array.from({ length: 8 }, () => instantOf(random));
    for (const atMs of [...instants, open, close, close + 5 * minuteMs]) {
      const throughMs = atMs - (atMs % minuteMs);
      const wanted = signedBySearch(tape, throughMs);
      for (const app of [file, live])
        for (const [id, found] of Object.entries(await signed(app, atMs)))
          expect([id, found?.bought ?? 0, found?.sold ?? 0, found?.throughMs ?? throughMs]).toEqual([
            id,
            ...wanted[id]!,
            throughMs,
          ]);
    }
  });

  test('are unknown as of an instant before the first print of a live tape', async () => {
    const firstMs = Math.min(...tape.prints.map(({ ms }) => ms));
    for (const found of Object.values(await signed(live, firstMs - 1000))) expect(found).toBeNull();
    for (const found of Object.values(await signed(live, firstMs + 1000))) expect(found).not.toBeNull();
  });

  test('give the cross-section at any instant: that of the prints up to the last whole minute', async () => {
    const random = randomOf(seed + 200);
    const credential = await file.session();
    const instants = Array.from({ length: 8 }, () => instantOf(random));
    for (const atMs of [...instants, open, close, close + 5 * minuteMs]) {
      const wanted = sectionBySearch(tape, atMs - (atMs % minuteMs));
      const { body } = await file.get(`/v2/flow/SPY/cross-section?at=${atMs}`, { credential });
      expect(body.meta).toMatchObject({ at: atMs, at_effective: atMs - (atMs % minuteMs) });
      const { snapshot } = body.data;
      if (Object.keys(wanted.byStrike).length === 0) {
        expect(snapshot).toBeNull();
        continue;
      }
      expect(tablesOf(snapshot.update)).toEqual(wanted);
      expect(snapshot.coverage.observed_through_ms).toBeLessThanOrEqual(atMs);
      if (atMs < close) expect(snapshot.coverage).toMatchObject({ status: 'observed_live', complete: false });
    }
  });

  test('show as of an instant what a store shows that was fed the tape up to there', async () => {
    const cutMs = open + 100 * minuteMs;
    const app = await testApp({ nowMs: cutMs });
    try {
      // A print that a later cancel withdraws never counted.
      const standing = tape.prints.filter(({ isCancel }, i) => !isCancel && !tape.prints[i + 1]?.isCancel);
      const [prints, quotes] = [standing, tape.quotes].map((rows) => rows.filter(({ ms }) => ms < cutMs));
      await ingest(app, { prints: prints as Print[], quotes: quotes as Quote[] }, true);
      const fed = (await app.get('/v2/flow/SPY/cross-section', { credential: await app.session() })).body.data.snapshot;
      const path = `/v2/flow/SPY/cross-section?at=${cutMs}`;
      const asOf = (await file.get(path, { credential: await file.session() })).body.data.snapshot;
      expect(asOf.update).toEqual(fed.update);
      expect(await signed(file, cutMs)).toEqual(await signed(app, cutMs));
    } finally {
      await app.close();
    }
  });
});

describe('a session without minutes', () => {
  const tape = tapeOf(3);
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ nowMs });
  });
  afterAll(() => app.close());

  test('or without quotes has no signed volume', async () => {
    await ingest(app, tape, false);
    expect((await storedMinutes(app.store)).length).toBeGreaterThan(0);
    const firstMs = Math.min(...tape.prints.map(({ ms }) => ms));
    // In the minute of the first print nothing counts yet.
    for (const atMs of [firstMs + 1000, nowMs])
      for (const found of Object.values(await signed(app, atMs))) expect(found).toBeNull();
    await ingest(app, tape, true);
    // No release writes so: the rows are removed before anything of them is read, and cached.
    await app.store.pool.query('DELETE FROM contract_minute_blocks');
    for (const found of Object.values(await signed(app, nowMs))) expect(found).toBeNull();
  });

  test('has no cross-section before its end, and says why', async () => {
    const credential = await app.session();
    const at = async (ms: number) =>
      (await app.get(`/v2/flow/SPY/cross-section?session=${session}&at=${ms}`, { credential })).body;
    const before = await at(open + 100 * minuteMs);
    expect(before.data.snapshot).toBeNull();
    expect(before.meta.note).toContain('stored without minutes');
    expect(tablesOf((await at(nowMs)).data.snapshot.update)).toEqual(sectionBySearch(tape, nowMs));
    expect((await at(evening - minuteMs)).meta.note).toContain('No option trades');
  });
});
