import { describe, expect, test } from 'vitest';
import type { LargeTrade, SymbolParts } from '../../../generated/pages/operation-types.ts';
import { withParts } from '../../../src/pages/dashboard/client/data/dashboard-answer.ts';
import {
  maxTrades,
  narrowed,
  noTrades,
  type TradeList,
  withLiveTrades,
  withPageOfTrades,
} from '../../../src/pages/dashboard/client/data/trade-list.ts';
import { anyTrade } from '../../../src/pages/dashboard/client/flow/trade-filter.ts';
import { tradesNote } from '../../../src/pages/dashboard/client/flow/trades-panel.ts';

const trade = (eventId: string, eventTsMs: number, seq: number, premiumUsd = 10, eventKind = 'sweep') =>
  ({
    seq,
    update: {
      event: { eventId, eventTsMs, premiumUsd, eventKind, side: 'neutral', legs: [{ contract: { right: 'call' } }] },
    },
  }) as unknown as LargeTrade;
const idsOf = ({ trades }: TradeList) => trades.map(({ update }) => update.event.eventId);
const page = (events: LargeTrade[], count: number, cursor: string | null = null) => ({
  events,
  meta: { cursor, total: { count, premiumUsd: 10 * count } },
});
const sweeps = { ...anyTrade, kind: 'sweep' as const };

describe('the count of large trades', () => {
  const list = (shown: number, total: number | null) => ({
    ...noTrades,
    trades: Array.from({ length: shown }, (_, i) => trade(`t${i}`, i, i)),
    total: total === null ? null : { count: total, premiumUsd: 2_500_000 },
  });
  test.each([
    ['all there are', 35, 35, '35, $2.50M'],
    ['a page of them', 50, 62, 'the newest 50 of 62, $2.50M'],
    ['a filter that was not asked for yet', 7, null, '7 so far'],
  ])('says of how many: %s', (_name, shown, total, note) => expect(tradesNote(list(shown, total))).toBe(note));
});

describe('pages of large trades', () => {
  test('continue each other; what came live in between stays, and counts', () => {
    const first = withPageOfTrades(noTrades, page([trade('c', 30, 3), trade('b', 20, 2)], 3, 'next'));
    const live = withLiveTrades(first, [trade('d', 40, 4)], anyTrade);
    expect(live).toMatchObject({ cursor: 'next', total: { count: 4, premiumUsd: 40 } });
    const whole = withPageOfTrades(live, page([trade('a', 10, 1)], 4));
    expect(idsOf(whole)).toEqual(['d', 'c', 'b', 'a']);
    expect(whole).toMatchObject({ cursor: null, total: { count: 4, premiumUsd: 40 } });
  });

  test('replay of what a page holds already changes nothing', () => {
    const first = withPageOfTrades(noTrades, page([trade('b', 20, 2), trade('a', 10, 1)], 2));
    expect(withLiveTrades(first, [trade('a', 10, 1), trade('b', 20, 2)], anyTrade)).toEqual(first);
  });

  test('are of a part of the dashboard, whose trades were heard of before it came', () => {
    const state = {
      loaded: [],
      trades: withLiveTrades(noTrades, [trade('c', 30, 3)], anyTrade),
      capture: null,
      view: { symbol: 'SPY', session: null, timeframe: '1m' as const },
    };
    const largeTrades = page([trade('c', 30, 3), trade('b', 20, 2)], 9, 'next');
    const answer = { flow: { largeTrades }, gex: {}, volatility: {}, offExchange: {} } as unknown as SymbolParts;
    const { trades } = withParts(state, answer, ['trades']);
    expect(trades).toMatchObject({ total: { count: 9 }, cursor: 'next' });
    expect(idsOf(trades!)).toEqual(['c', 'b']);
  });
});

describe('live trades', () => {
  test('come newest first, each once, the changed one in the place of what it was', () => {
    const before = withPageOfTrades(noTrades, page([trade('b', 20, 2), trade('a', 10, 1)], 2));
    const after = withLiveTrades(before, [trade('c', 30, 3), trade('a', 10, 4, 99)], anyTrade);
    expect(idsOf(after)).toEqual(['c', 'b', 'a']);
    expect(after.total).toEqual({ count: 3, premiumUsd: 20 + 10 - 10 + 99 });
    expect(withLiveTrades(after, [trade('a', 10, 1, 5)], anyTrade)).toEqual(after);
  });

  test('of a filtered list pass the filter; one that does not any more leaves it', () => {
    const list = withPageOfTrades(noTrades, page([trade('a', 10, 1)], 1));
    expect(withLiveTrades(list, [trade('b', 20, 2, 10, 'multi_leg')], sweeps)).toEqual(list);
    const left = withLiveTrades(list, [trade('a', 10, 3, 10, 'multi_leg')], sweeps);
    expect(left).toEqual({ trades: [], total: { count: 0, premiumUsd: 0 }, cursor: null });
  });

  test('from behind the page that is there wait for theirs', () => {
    const list = withPageOfTrades(noTrades, page([trade('b', 20, 2)], 2, 'next'));
    expect(withLiveTrades(list, [trade('a', 10, 5)], anyTrade)).toEqual(list);
  });

  test('are bounded, however many come; the list is not continued where some were left out', () => {
    const list = withPageOfTrades(noTrades, page([trade('t', -1, 0)], 2, 'next'));
    const many = Array.from({ length: 3 * maxTrades }, (_, i) => trade(`t${i}`, i, i));
    const kept = withLiveTrades(list, many, anyTrade);
    expect(kept.trades).toHaveLength(maxTrades);
    expect(idsOf(kept)[0]).toBe(`t${3 * maxTrades - 1}`);
    expect(kept).toMatchObject({ cursor: null, total: { count: 3 * maxTrades + 2 } });
  });

  test('a filter that was not asked for yet shows what there is of it', () => {
    const list = withPageOfTrades(noTrades, page([trade('b', 20, 2, 10, 'multi_leg'), trade('a', 10, 1)], 9, 'next'));
    expect(narrowed(list, sweeps)).toMatchObject({ total: null, cursor: null });
    expect(idsOf(narrowed(list, sweeps))).toEqual(['a']);
  });
});
