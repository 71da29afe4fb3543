import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Bar, BarColumns, CrossSectionPage, GexCapture, Quote } from '../../../generated/pages/operation-types.ts';
import {
  laterCapture,
  laterSnapshot,
  withBar,
  withCapture,
  withPage,
  withQuote,
} from '../../../src/pages/dashboard/client/data/live-operations.ts';

const none: BarColumns = { tsMs: [], open: [], high: [], low: [], close: [], volume: [] };
const bar = (tsMs: number, volume: number): Bar => ({ tsMs, volume, open: 1, high: 2, low: 0.5, close: 1 + volume });
const quote = (spot: number, eventTsMs: number | null) => ({ symbol: 'SPY', spot, eventTsMs }) as Quote;
const capture = (capturedAt: number, sessionDate = '2026-11-20') =>
  ({ capturedAt, sessionDate, spot: 1, strikes: [] }) as unknown as GexCapture;
const snapshot = (seq: number, sessionDate = '2026-11-20') =>
  ({ snapshot: { seq, coverage: { sessionDate } }, meta: { note: null } }) as CrossSectionPage;

/** Messages in any order, some of them more than once. */
const anyOrder = <Message>(messages: readonly Message[]) =>
  fc
    .tuple(fc.shuffledSubarray([...messages], { minLength: messages.length }), fc.subarray([...messages]))
    .map(([all, again]) => [...all, ...again]);

describe('live bars', () => {
  test('the bar in progress is replaced, a new one comes behind it, and a late message changes nothing', () => {
    const two = [bar(60, 5), bar(120, 1), bar(120, 4), bar(120, 2)].reduce(withBar, none);
    expect(two).toMatchObject({ tsMs: [60, 120], volume: [5, 4], close: [6, 5] });
  });

  test('end the same in whatever order and however often they come', () => {
    const messages = [bar(60, 1), bar(60, 3), bar(120, 2), bar(120, 9), bar(180, 1)];
    fc.assert(
      fc.property(anyOrder(messages), (order) => {
        expect(order.reduce(withBar, none)).toEqual(messages.reduce(withBar, none));
      }),
    );
  });

  test('a further page comes behind the bars that are there', () => {
    const page = withBar(none, bar(180, 7));
    expect(withPage([bar(60, 1), bar(120, 2)].reduce(withBar, none), page).tsMs).toEqual([60, 120, 180]);
  });
});

describe('what the latest of counts', () => {
  test('an older quote changes nothing; one without an instant counts as new', () => {
    const quotes = { SPY: quote(2, 20) };
    expect(withQuote(quotes, quote(1, 10))).toBe(quotes);
    expect(withQuote(quotes, quote(3, 30)).SPY!.spot).toBe(3);
    expect(withQuote(quotes, quote(4, null)).SPY!.spot).toBe(4);
  });

  test('captures take their place in their session’s history, and a new session begins its own', () => {
    const history = [capture(20), capture(10), capture(20)].reduce<ReturnType<typeof withCapture> | null>(
      withCapture,
      null,
    )!;
    expect(history.captures.map(({ capturedAt }) => capturedAt)).toEqual([10, 20]);
    expect(withCapture(history, capture(5, '2026-11-19'))).toBe(history);
    expect(withCapture(history, capture(90, '2026-11-23')).captures).toHaveLength(1);
    expect(laterCapture(capture(20), capture(10)).capturedAt).toBe(20);
    expect(laterCapture(null, capture(10)).capturedAt).toBe(10);
  });

  test('snapshots by session, then by sequence', () => {
    expect(laterSnapshot(snapshot(5), snapshot(4)).snapshot!.seq).toBe(5);
    expect(laterSnapshot(snapshot(5), snapshot(6)).snapshot!.seq).toBe(6);
    expect(laterSnapshot(snapshot(900, '2026-11-19'), snapshot(1)).snapshot!.seq).toBe(1);
    expect(laterSnapshot(snapshot(1), snapshot(900, '2026-11-19')).snapshot!.seq).toBe(1);
    expect(laterSnapshot({ snapshot: null, meta: { note: 'none' } }, snapshot(1)).snapshot!.seq).toBe(1);
  });
});
