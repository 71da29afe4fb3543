import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Bar, barAt } from '../../../../src/core/domain/market/bar.ts';
import { type BarBatch, barBatch, slices } from '../../../../src/intake/ingest/files/bar-batch.ts';

const bar: fc.Arbitrary<Bar> = fc.record({
  tsMs: fc.integer({ min: 0, max: 20 }),
  open: fc.nat(),
  high: fc.nat(),
  low: fc.nat(),
  close: fc.nat(),
  volume: fc.nat(),
  vwap: fc.option(fc.nat(), { nil: null }),
  tradeCount: fc.option(fc.nat(), { nil: null }),
});

const runsOf = (batch: BarBatch) =>
  [...batch.runs()].map(([key, bars]) => [key, Array.from(bars.tsMs, (_, i) => barAt(bars, i))]);

test('a batch gives each key its bars in order of time, one of an instant, and counts every repeated line', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('A', 'B', 'C'), bar), { maxLength: 60 }), (pushed) => {
      let repeats = 0;
      const differing = (key: string, tsMs: number) => new Error(`${key} ${tsMs}`);
      const batch = barBatch({ onRepeat: () => repeats++, differing }, 4);
      for (const [key, one] of pushed) batch.push(key, one);
      expect(batch.size()).toBe(pushed.length);
      const distinct = new Map(pushed.map(([key, one]) => [`${key} ${JSON.stringify(one)}`, { key, one }]));
      const bars = [...distinct.values()];
      const instants = new Set(bars.map(({ key, one }) => `${key} ${one.tsMs}`));
      if (instants.size < bars.length) {
        expect(() => runsOf(batch)).toThrow();
        return;
      }
      const expected = [...Map.groupBy(bars, ({ key }) => key)]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, own]) => [key, own.map(({ one }) => one).sort((a, b) => a.tsMs - b.tsMs)]);
      expect(runsOf(batch)).toEqual(expected);
      expect(repeats).toBe(pushed.length - bars.length);
    }),
  );
});

const equal = { onRepeat() {}, differing: () => new Error() };
const at = (tsMs: number): Bar => ({
  tsMs,
  open: 1,
  high: 1,
  low: 1,
  close: 1,
  volume: 1,
  vwap: null,
  tradeCount: null,
});

test('what may belong to a bar of the next lines stays out of a batch that is written', () => {
  for (const [lines, taken] of [
    // By ticker: the last bar of the last ticker.
    [['A 1', 'A 2', 'B 1', 'B 2'], ['B 2']],
    [
      ['A 1', 'A 2', 'B 1', 'B 2', 'B 2'],
      ['B 2', 'B 2'],
    ],
    // By time: all bars of the last instant.
    [
      ['A 1', 'B 1', 'A 2', 'B 2', 'C 2'],
      ['A 2', 'B 2', 'C 2'],
    ],
  ]) {
    const batch = barBatch(equal);
    for (const line of lines!) batch.push(line[0]!, at(Number(line[2])));
    expect(batch.takeLast()).toEqual(taken!.map((line) => [line[0], at(Number(line[2]))]));
    const left = runsOf(batch).flatMap(([key, bars]) => (bars as Bar[]).map(({ tsMs }) => `${key} ${tsMs}`));
    expect(left).toEqual(lines!.slice(0, lines!.length - taken!.length).sort());
  }
});

test('slices leave nothing out and are never longer than asked', () => {
  expect([...slices([1, 2, 3, 4, 5], 2)]).toEqual([[1, 2], [3, 4], [5]]);
  expect([...slices([], 2)]).toEqual([]);
});
