import { expect, test } from 'vitest';
import { standardRoots } from '../../../../src/core/domain/chain/option-root.ts';
import { toBarColumns } from '../../../../src/core/domain/market/bar.ts';
import { exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { MinuteMarketSource } from '../../../../src/intake/ingest/chains/minute-market.ts';
import { minuteMs } from '../../../../src/platform/runtime/clock.ts';
import { writeBars } from '../../../../src/store/market/bar-blocks.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { flatBar } from '../../../support/market.ts';
import { chainCapture, saveCaptures } from '../../../support/option-market.ts';
import { storeForThisTest } from '../../../support/store.ts';

const session = '2026-11-16';
const at = (minute: number) => exchangeInstant(session, minute);

test.each([
  // The chain of 10:05 is of 09:50, before the bar that ends at 10:01.
  [15 * minuteMs, [100, 100, 100]],
  [0, [100, 99, 99]],
  [null, [100, 99, 99]],
])(
  'with a delay of %s ms, the newer of a bar’s close and a chain’s spot is by the time of its quotes',
  async (delayMs, expected) => {
    const store = await storeForThisTest();
    await inTransaction(store, (tx) =>
      writeBars(tx, '1m', [{ symbol: 'SPY', bars: toBarColumns([flatBar(at(600), 100)]) }]),
    );
    await saveCaptures(store, { chains: [chainCapture('SPY', at(605), [], { spot: 99, delayMs })] });
    const found: (number | undefined)[] = [];
    await inTransaction(store, async (tx) => {
      const source = new MinuteMarketSource({ from: tx, session, rate: 0.045, roots: standardRoots });
      for (const minute of [604, 605, 606]) found.push((await source.spots(at(minute), ['SPY'])).get('SPY'));
    });
    expect(found).toEqual(expected);
  },
);

test('a delayed chain is known from its capture on, not from the time of its quotes', async () => {
  const store = await storeForThisTest();
  await saveCaptures(store, {
    chains: [chainCapture('SPY', at(605), [], { spot: 99, delayMs: 15 * minuteMs })],
  });
  await inTransaction(store, async (tx) => {
    const source = new MinuteMarketSource({ from: tx, session, rate: 0.045, roots: standardRoots });
    expect((await source.spots(at(604), ['SPY'])).size).toBe(0);
    expect((await source.spots(at(605), ['SPY'])).get('SPY')).toBe(99);
  });
});

test('beside a live tape, the price of what is on the tape is the tape’s, not that of a stored bar; a chain counts', async () => {
  const store = await storeForThisTest();
  const bars = toBarColumns([flatBar(at(600), 100)]);
  await inTransaction(store, (tx) =>
    writeBars(
      tx,
      '1m',
      ['SPY', 'AAPL', 'QQQ'].map((symbol) => ({ symbol, bars })),
    ),
  );
  await saveCaptures(store, { chains: [chainCapture('AAPL', at(600) + 30_000, [], { spot: 99, delayMs: 0 })] });
  // The print of 10:00 was withdrawn: on the tape, the last minute is that before it.
  const livePrice = (symbol: string) =>
    symbol === 'QQQ' ? null : { tsMs: at(600), knownMs: at(600), price: symbol === 'SPY' ? 98 : 97 };
  await inTransaction(store, async (tx) => {
    const source = new MinuteMarketSource({ from: tx, session, rate: 0.045, roots: standardRoots, livePrice });
    const spots = await source.spots(at(601), ['SPY', 'AAPL', 'QQQ']);
    expect(Object.fromEntries(spots)).toEqual({ SPY: 98, AAPL: 99, QQQ: 100 });
  });
});
