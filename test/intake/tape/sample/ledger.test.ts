import { describe, expect, test } from 'vitest';
import { createIndexTape } from '../../../../src/core/analytics/session/index-tape.ts';
import { StockTape } from '../../../../src/core/analytics/session/stock-tape.ts';
import { regularSession } from '../../../../src/core/domain/calendar.ts';
import { createContractBook } from '../../../../src/core/domain/chain/contract-book.ts';
import { contractId } from '../../../../src/core/domain/chain/option-contract.ts';
import { type Coverage, flowEventKinds, flowSides } from '../../../../src/core/domain/flow/flow.ts';
import { splitNanos } from '../../../../src/core/domain/market/print.ts';
import {
  compositionCategories,
  stockTraits,
  stockTraitsOf,
} from '../../../../src/core/domain/market/stock-trade-conditions.ts';
import type { SessionDate } from '../../../../src/core/domain/market-time.ts';
import { listedExpiries } from '../../../../src/intake/sample/market/listing.ts';
import { liveTapeLines } from '../../../../src/intake/sample/market/live-tape.ts';
import { recipes } from '../../../../src/intake/sample/market/options/option-plants.ts';
import { samplePrices } from '../../../../src/intake/sample/market/prices.ts';
import { stockSession } from '../../../../src/intake/sample/market/stock-tape.ts';
import { tickersOfTape } from '../../../../src/intake/sample/market/stock-tape-file.ts';
import { type TapeShape, tapeEndMs, tapeShape } from '../../../../src/intake/sample/market/tape-shape.ts';
import { sampleSymbolOf } from '../../../../src/intake/sample/market/universe.ts';
import { readLiveLine } from '../../../../src/intake/tape/live/live-line.ts';
import { minuteMs } from '../../../../src/platform/runtime/clock.ts';
import { asPlanted, byId, found, planted, runOptions } from '../../../support/tapes/found-events.ts';
import type { OptionTotal } from '../../../support/tapes/planted-options.ts';
import type { StockTotal } from '../../../support/tapes/planted-stocks.ts';
import { recordsOf, type SampleTapes, sampleTapes, stockRecords } from '../../../support/tapes/sample-tapes.ts';
import { wideBounds } from '../../../support/tapes/tape-lines.ts';

const symbols = ['SPX', 'SPY', 'NDX', 'AAPL', 'TSLA', 'F', 'BRK.B', 'TLT', 'IWM', 'GS'];
const small: TapeShape = { optionPrints: 6000, plants: 3 * recipes.length, stockPrints: 20_000, symbols };
const prices = samplePrices();
const unobserved: Omit<Coverage, 'sessionDate'> = {
  status: 'observed_live',
  complete: false,
  observedFromMs: 0,
  observedThroughMs: 0,
  registryVersion: 1,
  standardMultiplierAssumed: true,
};

function stockTapes({ stockTrades, session }: SampleTapes) {
  const tape = new StockTape({ session });
  for (const print of stockRecords(stockTrades)) tape.print(print);
  return { tape, closeOf: (symbol: string) => tape.bars(symbol, '1d').close[0] };
}

const sessions: [string, SessionDate][] = [
  ['a session', '2026-11-18'],
  ['a session of summer time', '2026-07-08'],
  ['an expiry', '2026-11-20'],
  ['a half day', '2026-11-27'],
];

describe.each(sessions)('%s, %s', (_, session) => {
  const tapes = sampleTapes(prices, session, tapeEndMs(session), small);
  const options = runOptions(tapes);
  const stocks = stockTapes(tapes);

  test('the engine finds exactly the planted events', () => {
    expect(tapes.ledger.options.events.length).toBeGreaterThan(40);
    expect(byId(options.events.map(asPlanted))).toEqual(planted(tapes));
  });

  test('the engine counts what was traded, without cancels and compressions', () => {
    const { tape } = options;
    const { cancels, prints, totals } = tapes.ledger.options;
    expect(tape.counts).toMatchObject({ cancels, unmatchedCancels: 0, duplicates: 0, otherSession: 0 });
    expect(cancels).toBeGreaterThan(5);
    expect(prints).toBeGreaterThan(4000);
    const coverage = { ...unobserved, sessionDate: session };
    const counted = tape.crossSections.changed().map((underlying): [string, OptionTotal] => {
      const total = { prints: 0, volume: 0, premiumUsd: 0 };
      for (const { measures } of tape.crossSections.snapshot(underlying, coverage)!.byStrike) {
        total.prints += measures.callTradeCount + measures.putTradeCount;
        total.volume += measures.callVolume + measures.putVolume;
        total.premiumUsd += measures.callPremiumUsd + measures.putPremiumUsd;
      }
      return [underlying.symbol, total];
    });
    expect(Object.fromEntries(counted)).toEqual(totals);
  });

  test('no contract trades more than its chain says', () => {
    const volumes = new Map<string, number>();
    for (const symbol of symbols) {
      for (const { root, expiry, strikes, volume } of listedExpiries(prices, sampleSymbolOf(symbol), session)) {
        for (const [i, strike] of strikes.entries()) {
          const common = { root, expiry, strike: strike * 1000 };
          volumes.set(contractId({ ...common, right: 'call' }), volume[2 * i]!);
          volumes.set(contractId({ ...common, right: 'put' }), volume[2 * i + 1]!);
        }
      }
    }
    for (const { contract, volume } of options.tape.crossSections.volumes()) {
      expect(volume).toBeLessThanOrEqual(volumes.get(contract.id)!);
    }
  });

  test('the engine finds the off-exchange totals, and their composition', () => {
    const { tape } = stocks;
    const plain = (total: { count: number; volume: { whole: number }; notional: { whole: number } }): StockTotal => ({
      prints: total.count,
      volume: total.volume.whole,
      notionalUnits: total.notional.whole,
    });
    for (const [symbol, totals] of Object.entries(tapes.ledger.stocks.symbols)) {
      const { consolidated, categories } = tape.offExchange(symbol);
      expect(plain(consolidated)).toEqual(totals.consolidated);
      const composition = Object.fromEntries(compositionCategories.map((name, i) => [name, plain(categories[i]!)]));
      expect(composition).toEqual(totals.composition);
      expect(Object.values(totals.composition).reduce((sum, { volume }) => sum + volume, 0)).toBe(
        totals.offExchange.volume,
      );
      const share = totals.offExchange.volume / totals.consolidated.volume;
      expect(share).toBeGreaterThan(0.3);
      expect(share).toBeLessThan(0.4);
    }
    const { corrected, withdrawn, duplicates } = tapes.ledger.stocks;
    expect(Math.min(corrected, withdrawn)).toBeGreaterThan(0);
    expect(tape.counts).toMatchObject({ duplicates, otherSession: 0 });
  });

  test('stock prints make up the minute bars, and the official close', () => {
    const { tape, closeOf } = stocks;
    for (const symbol of Object.keys(tapes.ledger.stocks.symbols)) {
      const vendor = prices.minutes(sampleSymbolOf(symbol), session);
      const made = tape.bars(symbol, '1m');
      for (const column of ['tsMs', 'open', 'high', 'low', 'close', 'volume'] as const) {
        expect(Array.from(made[column])).toEqual(Array.from(vendor[column]));
      }
      const day = tape.bars(symbol, '1d');
      const regular = vendor.volume.reduce((sum, volume) => sum + volume, 0);
      expect(day.volume[0]).toBe(regular + tapes.ledger.stocks.symbols[symbol]!.extendedVolume);
      expect(closeOf(symbol)).toBe(vendor.close.at(-1));
      expect(tapes.ledger.stocks.symbols[symbol]!.officialClose).toBe(vendor.close.at(-1));
    }
  });
});

describe('the tapes of a session under way', () => {
  const session = '2026-11-18';
  const { openMs } = regularSession(session)!;
  const whole = sampleTapes(prices, session, tapeEndMs(session), small);

  test.each([1, 47, 183, 341])(
    'after %i minutes they are the beginning of the whole, and hold what is planted in it',
    (minutes) => {
      const nowMs = openMs + minutes * minuteMs + 1234;
      const tapes = sampleTapes(prices, session, nowMs, small);
      expect(found(tapes)).toEqual(planted(tapes));
      for (const file of ['optionTrades', 'optionQuotes', 'stockTrades'] as const) {
        const lines = tapes[file].trimEnd().split('\n');
        const all = new Set(whole[file].split('\n'));
        expect(lines.filter((line) => !all.has(line))).toEqual([]);
        for (const { sip_timestamp } of recordsOf(tapes[file])) {
          expect(splitNanos(sip_timestamp!).tsMs).toBeLessThan(nowMs);
        }
      }
      const { tape } = stockTapes(tapes);
      expect(tape.bars('SPY', '1m').tsMs).toHaveLength(minutes);
    },
  );

  test('before the open nothing has traded but out of hours', () => {
    const tapes = sampleTapes(prices, session, openMs, small);
    expect(tapes.ledger.options).toMatchObject({ events: [], prints: 0, quotes: 0 });
    expect(stockRecords(tapes.stockTrades).every(({ conditions }) => conditions.includes(12))).toBe(true);
  });
});

describe('what is planted', () => {
  const session = '2026-11-18';

  test('is of every recipe, in events and near misses alike', () => {
    const { options } = sampleTapes(prices, session, tapeEndMs(session), small).ledger;
    const met = new Set([...options.events.map(({ recipe }) => recipe), ...Object.keys(options.nearMisses)]);
    expect([...met].sort()).toEqual(recipes.map(({ name }) => name).sort());
    expect(new Set(options.events.map(({ eventKind }) => eventKind))).toEqual(new Set(flowEventKinds));
    expect(new Set(options.events.map(({ side }) => side))).toEqual(new Set(flowSides));
    expect(options.late).toBeGreaterThan(10);
    expect(options.compressions).toBeGreaterThan(0);
  });

  test('is the same whenever it is made, and another for another session', () => {
    const make = (date: SessionDate) => sampleTapes(samplePrices(), date, tapeEndMs(date), small);
    expect(make(session)).toEqual(make(session));
    expect(make('2026-11-17').ledger.options.events[0]).not.toEqual(make(session).ledger.options.events[0]);
  });

  test('is missed by an engine that is given no quotes, so that the sides above are found and not taken', () => {
    const tapes = sampleTapes(prices, session, tapeEndMs(session), small);
    const events = runOptions({ ...tapes, optionQuotes: tapes.optionQuotes.split('\n')[0]! }).events;
    expect(new Set(events.map(({ side }) => side))).toEqual(new Set(['unknown']));
  });
});

test('SPY trades lively enough to be watched: some two ticks a second that set the price, a few cents apart', () => {
  const session = '2026-11-19';
  const { entry, prints } = tickersOfTape(tapeShape).find(({ entry }) => entry.symbol === 'SPY')!;
  const { openMs, closeMs } = regularSession(session)!;
  const ticks = stockSession(prices, entry, session, prints).filter(
    ({ print, execution, counts }) =>
      counts &&
      print.tsMs >= openMs &&
      print.tsMs < closeMs &&
      (stockTraitsOf(execution.conditions) & stockTraits.openClose) !== 0,
  );
  const perSecond = new Map<number, number>();
  for (const { print } of ticks) {
    const second = Math.floor(print.tsMs / 1000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  const seconds = (closeMs - openMs) / 1000;
  expect(ticks.length / seconds).toBeGreaterThan(1.8);
  // Nearly every second has one.
  expect(perSecond.size / seconds).toBeGreaterThan(0.84);
  const steps = ticks.slice(1).map(({ print }, i) => Math.abs(print.price - ticks[i]!.print.price) / 10_000);
  expect(steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)]).toBeLessThan(0.1);
});

test('an index has about a value a second on the live tape, of which its minute bars are made', () => {
  const session = '2026-11-19';
  const book = createContractBook();
  const tape = createIndexTape(session);
  const shape = { optionPrints: 0, plants: 0, stockPrints: 0, symbols: ['SPX'] };
  const values = [...liveTapeLines(prices, session, shape)]
    .map((line) => readLiveLine(line, book, wideBounds))
    .flatMap((record) => (typeof record === 'object' && record.type === 'index_value' ? [record.value] : []));
  for (const value of values) tape.value(value);
  expect(values.length).toBe(390 * 60);
  const { tsMs, open, high, low, close } = tape.bars('SPX', '1m');
  const wanted = prices.minutes(sampleSymbolOf('SPX'), session);
  expect({ tsMs, open, high, low, close }).toEqual({
    tsMs: wanted.tsMs,
    open: wanted.open,
    high: wanted.high,
    low: wanted.low,
    close: wanted.close,
  });
});
