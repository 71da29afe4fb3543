import { onTestFinished } from 'vitest';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import type { FollowOptions } from '../../../../src/intake/ingest/tail/follow.ts';
import { saveSymbols } from '../../../../src/store/market/symbols.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { type Json, testSymbols } from '../../../support/app.ts';
import { modelColumns } from '../../../support/model-columns.ts';
import { randomOf } from '../../../support/random.ts';
import { type TestStore, testStore } from '../../../support/store.ts';

export const session = '2026-11-16';
export const open = exchangeInstant(session, 570);
export const contracts = ['O:SPY261218C00600000', 'O:SPY261218P00580000', 'O:AAPL261218C00250000'];

export const stamp = (ms: number) => `${open + ms}000000`;
const line = (value: object) => `${JSON.stringify(value)}\n`;
export const stock = (ms: number, id: number, price: number, more: object = {}) =>
  line({
    type: 'stock_print',
    symbol: 'SPY',
    exchange: id % 3 === 0 ? 4 : 11,
    id: String(id),
    price,
    size: 100,
    sip_timestamp: stamp(ms),
    sequence_number: id,
    ...more,
  });
export const option = (ms: number, id: number, price: number, size: number, more: object = {}) =>
  line({
    type: 'option_print',
    contract: contracts[id % 3],
    exchange: 302 + (id % 2) * 14,
    price,
    size,
    conditions: [209],
    sip_timestamp: stamp(ms),
    sequence_number: id,
    ...more,
  });
const quote = (ms: number, id: number, bid: number, ask: number) =>
  line({
    type: 'option_quote',
    contract: contracts[id % 3],
    bid_price: bid,
    ask_price: ask,
    sip_timestamp: stamp(ms),
    sequence_number: id,
  });
export const index = (ms: number, value: number) =>
  line({ type: 'index_value', symbol: 'SPX', value, sip_timestamp: stamp(ms) });
export const time = (ms: number) => line({ type: 'time', sip_timestamp: stamp(ms) });

/**
 * An hour of a made-up tape: large and small prints, sweeps, late ones, duplicates, cancels and corrections, and lines
 * that are none.
 */
function tapeLines(count: number): string[] {
  const random = randomOf(11);
  const lines: string[] = [];
  for (let i = 0; i < count; i++) {
    const ms = i * 200 - random.below(4) * 300;
    const at = Math.max(0, ms);
    const kind = random.below(12);
    if (kind < 4) lines.push(stock(at, i, 600 + random.below(100) / 100));
    else if (kind < 9) lines.push(option(at, i, 1 + random.below(5), 100 * (1 + random.below(9))));
    else if (kind === 9) lines.push(quote(at, i, 1, 4));
    else if (kind === 10) lines.push(lines[random.below(lines.length)] ?? time(at));
    else lines.push('not a line\n');
    if (random.once(20)) lines.push(option(at + 50, i, 2, 300), option(at + 90, i + 6, 2, 300, { exchange: 316 }));
    if (random.once(30))
      lines.push(
        option(at + 10, i, 3, 700),
        option(at + 400, i + 3000, 3, 700, { exchange: 302 + (i % 2) * 14, conditions: [201] }),
      );
    if (i % 3 === 0) lines.push(index(at, 5000 + ((i * 7) % 100)));
    if (random.once(30)) lines.push(stock(at, i + 100_000, 650), stock(at + 500, i + 100_000, 650, { correction: 8 }));
  }
  return lines;
}

/** A store that knows the symbols on the tape: their contracts are solved every minute. */
export async function marketStore(): Promise<TestStore> {
  const store = await testStore();
  await inTransaction(store, (tx) => saveSymbols(tx, testSymbols));
  return store;
}

export async function marketForThisTest(): Promise<TestStore> {
  const store = await marketStore();
  onTestFinished(() => store.close());
  return store;
}

/** Everything a follower stores but the numbers of snapshots, which count commits. */
export async function stored(store: TestStore): Promise<Json> {
  const all: Json = {};
  for (const table of [
    'bar_blocks',
    'live_quotes',
    'flow_events',
    'flow_legs',
    'flow_coverage',
    'cross_sections',
    'contract_minute_blocks',
    'option_bar_blocks',
    'greeks_minutes',
    'greeks_places',
  ]) {
    const { rows } = await store.pool.query(`SELECT ${modelColumns(table)} FROM ${table}`);
    all[table] = rows
      .map(({ seq, registry_version, ...row }) => JSON.stringify(table === 'flow_events' ? { ...row, seq } : row))
      .sort();
  }
  return all;
}

export const unnumbered = (all: Json): Json => ({
  ...all,
  flow_events: all.flow_events.map((row: string) => row.replace(/,"seq":\d+/, '')).sort(),
});

export const options = (change: Partial<FollowOptions> = {}): FollowOptions => ({
  source: 'stdin',
  fromStart: false,
  everyMs: 20,
  now: () => open + 7_200_000,
  stop: new AbortController().signal,
  gammaSource: 'solve',
  rate: 0.045,
  onBadLine: () => {},
  ...change,
});
export const piecesOf = (lines: string[], size = 4000): Buffer[] => {
  const text = Buffer.from(lines.join(''));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.subarray(i * size, (i + 1) * size));
};

export const lines = tapeLines(1500);
