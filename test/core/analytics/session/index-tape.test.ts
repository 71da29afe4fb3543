import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIndexTape } from '../../../../src/core/analytics/session/index-tape.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';

const session = '2026-11-19';
const openMs = exchangeInstant(session, 570);
const spx = (ms: number, value: number, tsNanos = 0) => ({ symbol: 'SPX', value, tsMs: openMs + ms, tsNanos });

describe('an index tape', () => {
  it('says the same in whatever order values come', () => {
    const offsets = fc.uniqueArray(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(offsets, fc.integer(), (instants, seed) => {
        const values = instants.map((ms, i) => spx(ms, 50_000_000 + ((i * 7919) % 1000)));
        const [ordered, shuffled] = [createIndexTape(session), createIndexTape(session)];
        for (const value of values.toSorted((a, b) => a.tsMs - b.tsMs)) ordered.value(value);
        for (const value of values.toSorted((a, b) => ((a.value * seed) % 97) - ((b.value * seed) % 97)))
          shuffled.value(value);
        for (const timeframe of ['1s', '1m', '5m', '1h', '1d'] as const)
          expect(shuffled.bars('SPX', timeframe)).toEqual(ordered.bars('SPX', timeframe));
        expect(shuffled.latest('SPX')).toEqual(ordered.latest('SPX'));
        expect(shuffled.takeChanged()).toEqual(ordered.takeChanged());
      }),
      { seed: 1, numRuns: 60 },
    );
  });

  it('has bars without volume, trades and vwap, and orders values of one instant by nanoseconds', () => {
    const tape = createIndexTape(session);
    tape.value(spx(0, 50_000_000));
    tape.value(spx(30, 50_020_000, 7));
    tape.value(spx(30, 50_010_000, 3));
    const { open, high, close, volume, tradeCount, vwap } = tape.bars('SPX', '1m');
    expect([open[0], high[0], close[0], volume[0], tradeCount[0], vwap[0]]).toEqual([5000, 5002, 5002, 0, NaN, NaN]);
    expect(tape.latest('SPX')).toEqual({ price: 5002, tsMs: openMs + 30, volume: 0 });
  });

  it('omits values of another date, and says what changed once', () => {
    const tape = createIndexTape(session);
    tape.value(spx(-24 * 3_600_000, 1));
    expect(tape.takeChanged()).toEqual([]);
    expect(tape.latest('SPX')).toBeNull();
    tape.value(spx(61_500, 50_000_000));
    expect(tape.takeChanged()).toEqual([{ symbol: 'SPX', fromMs: openMs + 61_000 }]);
    expect(tape.takeChanged()).toEqual([]);
  });
});
