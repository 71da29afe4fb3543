import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  compareRanked,
  createRankedPrints,
  type RankedCandidate,
  rankedLists,
} from '../../../../src/core/analytics/flow/ranked-prints.ts';
import { spyCall } from '../../../support/tapes/option-tape.ts';

const stamp = { sessionDate: '2024-03-15', coverageStatus: 'eod_reconciled' as const, scannedAtMs: 1, source: 'test' };

function candidate(underlying: string, id: number, premiumUsd: number, eventTsMs = 0, sequence = 0): RankedCandidate {
  return {
    printId: `${underlying}${id}#0`,
    eventId: `${underlying}${id}`,
    underlying,
    contract: spyCall.contract,
    price: 1,
    size: 1,
    premiumUsd,
    exchange: 302,
    conditions: [],
    eventTsMs,
    sequence,
  };
}

const candidates = fc
  .array(
    fc.record({ u: fc.constantFrom('AAPL', 'SPX', 'SPY'), premium: fc.nat(20), ts: fc.nat(3), sequence: fc.nat(3) }),
    {
      maxLength: 600,
    },
  )
  .map((list) => list.map(({ u, premium, ts, sequence }, i) => candidate(u, i, premium, ts, sequence)));

test('ranks are 1…N with premiums not increasing, ties by time, sequence, print id, the same in whatever order prints came', () => {
  fc.assert(
    fc.property(candidates, fc.infiniteStream(fc.nat()), (list, order) => {
      const keys = list.map(() => order.next().value);
      const shuffled = list.map((print, i) => ({ print, key: keys[i]! })).sort((a, b) => a.key - b.key);
      const ranked = createRankedPrints();
      for (const { print } of shuffled) ranked.add(print);
      const lists = rankedLists(ranked.tops(), (underlying) => underlying === 'SPX', stamp);
      for (const { scope, list: name, prints } of lists) {
        const eligible = list
          .filter(
            ({ underlying }) => (name === 'pro' || underlying !== 'SPX') && (scope === '*' || underlying === scope),
          )
          .sort(compareRanked)
          .slice(0, 100);
        expect(prints.map(({ printId }) => printId)).toEqual(eligible.map(({ printId }) => printId));
        expect(prints.map(({ rank }) => rank)).toEqual(eligible.map((_, i) => i + 1));
      }
    }),
    { numRuns: 50 },
  );
});

test('index options are on the pro list only', () => {
  const ranked = createRankedPrints();
  ranked.add(candidate('SPX', 1, 10));
  ranked.add(candidate('SPY', 2, 5));
  const scopes = rankedLists(ranked.tops(), (underlying) => underlying === 'SPX', stamp).map(
    ({ list, scope, prints }) => [list, scope, prints.length],
  );
  expect(scopes).toEqual([
    ['free', '*', 1],
    ['free', 'SPY', 1],
    ['pro', '*', 2],
    ['pro', 'SPX', 1],
    ['pro', 'SPY', 1],
  ]);
});

test('a print taken back makes room for the next below it', () => {
  const ranked = createRankedPrints();
  for (let i = 0; i < 150; i++) ranked.add(candidate('SPY', i, 1000 - i));
  for (let i = 0; i < 50; i++) ranked.withdraw('SPY', `SPY${i}#0`);
  expect(ranked.tops()[0]!.prints.map(({ premiumUsd }) => premiumUsd)).toEqual(
    Array.from({ length: 100 }, (_, i) => 950 - i),
  );
});
