import { expect, test } from 'vitest';
import { firstTrades, withTrades } from '../../../src/pages/dashboard/client/data/live-rows.ts';
import type { LargeTrade, SymbolParts } from '../../../src/pages/dashboard/client/data/operation-types.ts';
import { withParts } from '../../../src/pages/dashboard/client/data/parts.ts';
import { tradesNote } from '../../../src/pages/dashboard/client/flow/trades-panel.ts';

test.each([
  ['all there are', 35, 35, true, '35'],
  ['some of all', 12, 35, true, '12 of 35'],
  ['a full page, of which there may be more', 50, 50, false, 'the newest 50'],
  ['some of a full page', 7, 50, false, '7 of the newest 50'],
])('a count says what it is of: %s', (_name, shown, there, hasAll, note) => {
  expect(tradesNote(shown, there, hasAll)).toBe(note);
});

test('a page that is full is not all there are', () => {
  const trades = (count: number) =>
    Array.from({ length: count }, (_, seq) => ({
      seq,
      update: { event: { eventId: `sweep:${seq}`, eventTsMs: seq } },
    })) as unknown as LargeTrade[];
  const state = {
    loaded: [],
    trades: [],
    capture: null,
    view: { symbol: 'SPY', session: null, timeframe: '1m' as const },
  };
  const loaded = (count: number) => {
    const answer = { flow: { largeTrades: { events: trades(count) } }, gex: {}, volatility: {}, offExchange: {} };
    return withParts(state, answer as unknown as SymbolParts, ['trades']);
  };
  expect(loaded(firstTrades)).toMatchObject({ hasAllTrades: false, trades: withTrades([], trades(firstTrades)) });
  expect(loaded(firstTrades - 1)).toMatchObject({ hasAllTrades: true });
});
