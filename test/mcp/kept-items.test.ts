import { describe, expect, test } from 'vitest';
import { answered, bounded, selectedItems } from '../../src/mcp/results.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const within = (items: number, spot: number | null = null) => ({ items, characters: 1_000_000, spot });

describe('a list that is cut', () => {
  test('of a series keeps the newest, in order, whichever way it runs', () => {
    const ascending = numbers(10).map((i) => ({ ts_ms: i }));
    expect(selectedItems(ascending, 3, null)).toEqual({ items: ascending.slice(7), which: 'newest' });
    const descending = ascending.toReversed();
    expect(selectedItems(descending, 3, null)).toEqual({ items: descending.slice(0, 3), which: 'newest' });
    const events = numbers(5).map((i) => ({ seq: i, update: { event: { event_ts_ms: 100 - i } } }));
    expect(selectedItems(events, 2, null)).toEqual({ items: events.slice(0, 2), which: 'newest' });
    const days = ['2026-11-18', '2026-11-19', '2026-11-20'].map((date) => ({ date }));
    expect(selectedItems(days, 1, null).items).toEqual([{ date: '2026-11-20' }]);
  });

  test('of strikes keeps those nearest the spot, in order', () => {
    const strikes = numbers(100).map((i) => ({ strike: 500_000 + 1000 * i }));
    const { items, which } = selectedItems(strikes, 3, 580.4);
    expect([items, which]).toEqual([[579_000, 580_000, 581_000].map((strike) => ({ strike })), 'strikes']);
    const rows = strikes.map(({ strike }) => ({ contract: { strike } }));
    expect(selectedItems(rows, 1, 520).items).toEqual([{ contract: { strike: 520_000 } }]);
    expect(selectedItems(strikes, 1, null).items).toEqual([{ strike: 550_000 }]);
  });

  test('of a ranking keeps the highest ranked, of the newest session first', () => {
    const ranks = [3, 1, 4, 2].map((rank) => ({ rank, event_ts_ms: rank, contract: { strike: 1 } }));
    expect(selectedItems(ranks, 2, 600)).toEqual({ items: [ranks[1], ranks[3]], which: 'ranked' });
    const sessions = ['2026-11-18', '2026-11-19'].flatMap((date) => [2, 1].map((rank) => ({ date, rank })));
    expect(selectedItems(sessions, 1, null).items).toEqual([{ date: '2026-11-19', rank: 1 }]);
  });

  test('of anything else keeps the first', () => {
    expect(selectedItems(['2026-11-20', '2026-12-18'], 1, null)).toEqual({ items: ['2026-11-20'], which: 'first' });
    expect(selectedItems([{ symbol: 'B' }, { symbol: 'A' }], 1, null).items).toEqual([{ symbol: 'B' }]);
  });

  test('takes the spot from the object around it, the nearest first', () => {
    const strikes = numbers(10).map((i) => ({ strike: 1000 * i }));
    const { answer } = bounded({ spot: 9, captures: [{ spot: 2, strikes }, { strikes }] }, within(2));
    expect((answer as { captures: { strikes: unknown[] }[] }).captures.map((each) => each.strikes)).toEqual([
      [{ strike: 1000 }, { strike: 2000 }],
      [{ strike: 8000 }, { strike: 9000 }],
    ]);
  });

  test('of columns cuts all alike', () => {
    const columns = { tsMs: numbers(5), close: [9, 8, 7, 6, 5], other: ['x'] };
    const { answer, cuts } = bounded({ columns }, within(2));
    expect(answer).toEqual({ columns: { tsMs: [3, 4], close: [6, 5], other: ['x'] } });
    expect(cuts.map(({ path, shown, of }) => [path, shown, of])).toEqual([
      ['columns.tsMs', 2, 5],
      ['columns.close', 2, 5],
    ]);
  });

  test('says how many there are, which are shown, and how to get more', async () => {
    const data = numbers(60).map((i) => ({ ts_ms: i }));
    const { content } = await answered({ data }, 40);
    expect(content[1]!.text).toBe(
      'Truncated. data: the newest 40 of 60. Set max_items (at most 500) to see more, or request a narrower window.',
    );
    const large = numbers(60).map((i) => ({ ts_ms: i, text: 'x'.repeat(2000) }));
    expect((await answered({ data: large }, 40)).content[1]!.text).toMatch(
      /^Truncated\. data: the newest 20 of 60\. .*max_items/,
    );
    expect((await answered({ data }, 60)).content).toHaveLength(1);
  });

  test('asks for the spot only where strikes are left out and none is known', async () => {
    const asked: string[] = [];
    const spot = (name: string) => async () => {
      asked.push(name);
      return 8;
    };
    const strikes = numbers(10).map((i) => ({ strike: 1000 * i }));
    expect((await answered({ data: strikes }, 1, spot('none'))).structuredContent).toEqual({
      data: [{ strike: 8000 }],
    });
    await answered({ spot: 3, data: strikes }, 1, spot('known'));
    await answered({ data: strikes }, 10, spot('all shown'));
    await answered({ data: numbers(10).map((ts_ms) => ({ ts_ms })) }, 1, spot('series'));
    expect(asked).toEqual(['none']);
  });
});
