import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ContractMinuteSums } from '../../../../src/core/analytics/flow/contract-minutes.ts';
import type { OptionTape } from '../../../../src/core/analytics/session/option-tape.ts';
import { contractId } from '../../../../src/core/domain/chain/option-contract.ts';
import type { OptionPrint, OptionQuote } from '../../../../src/core/domain/market/print.ts';
import { book, contract, runTape, type TapeRecord, tapeStart } from '../../../support/tapes/option-tape.ts';
import { isPrint, microsOf, tapes } from '../../../support/tapes/tapes.ts';

const minuteMs = 60_000;
const compression = 247;
const late = 204;

type Row = Record<'volume' | 'premium' | 'count' | 'bought' | 'sold' | 'unsided', number>;

/** The side of a print by a search of all quotes: the last of its contract at or before it, at most 5 s old. */
function sideBySearch(print: OptionPrint, quotes: readonly OptionQuote[]): 'bought' | 'sold' | 'unsided' | null {
  const quote = quotes.findLast((each) => each.contract === print.contract && microsOf(each) <= microsOf(print));
  if (!quote || print.conditions.includes(late) || microsOf(print) - microsOf(quote) > 5_000_000) return 'unsided';
  const { bid, ask } = quote;
  if (bid > ask) return 'unsided';
  if (bid === ask) return print.price > bid ? 'bought' : print.price < bid ? 'sold' : null;
  const tenths = (10 * (print.price - bid)) / (ask - bid);
  return tenths >= 6 ? 'bought' : tenths <= 4 ? 'sold' : null;
}

/** Rows by contract and minute, straight from records in event-time order. */
function rowsBySearch(records: readonly TapeRecord[]): Map<string, Row> {
  const rows = new Map<string, Row>();
  const quotes = records.filter((record): record is OptionQuote => !isPrint(record));
  for (const print of records.filter(isPrint)) {
    if (print.conditions.includes(compression)) continue;
    const key = `${print.contract.id} ${print.tsMs - (print.tsMs % minuteMs)}`;
    const row = rows.get(key) ?? { volume: 0, premium: 0, count: 0, bought: 0, sold: 0, unsided: 0 };
    rows.set(key, row);
    const side = sideBySearch(print, quotes);
    row.volume += print.size;
    row.premium += print.price * print.size * 100;
    row.count++;
    if (side !== null) row[side] += print.size;
  }
  return rows;
}

/** The rows that a tape has, of all its underlyings. */
function rowsOf({ minutes }: OptionTape): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const underlying of book.underlyings())
    for (const { minutes: columns } of minutes.take(underlying).parts) {
      let row = 0;
      for (const [i, each] of columns.contracts.entries())
        for (const end = row + columns.lengths[i]!; row < end; row++) {
          const { volume, premium, count, bought, sold, unsided } = columns;
          rows.set(`${contractId(each)} ${columns.tsMs[row]}`, {
            volume: volume[row]!,
            premium: premium[row]!,
            count: count[row]!,
            bought: bought[row]!,
            sold: sold[row]!,
            unsided: unsided[row]!,
          });
        }
    }
  return rows;
}

/** Tapes over many minutes: at some records the clock jumps. */
const longTapes = fc
  .tuple(tapes, fc.array(fc.constantFrom(0, 0, 0, 2000, 31_000, 95_000), { minLength: 60, maxLength: 60 }))
  .map(([records, jumps]) => {
    let jumpedMs = 0;
    return records.map((record, i): TapeRecord => {
      jumpedMs += jumps[i]!;
      return { ...record, tsMs: record.tsMs + jumpedMs };
    });
  });
const someDelays = fc.array(fc.nat(5000), { minLength: 1, maxLength: 60 });
const delayed = (records: readonly TapeRecord[], delays: readonly number[]) =>
  records
    .map((record, i) => ({ record, at: microsOf(record) + delays[i % delays.length]! * 1000 }))
    .sort((a, b) => a.at - b.at)
    .map(({ record }) => record);

describe('trading by contract and minute', () => {
  test('is that of the prints of the minute, signed by the last quote, in whatever order records come', () => {
    let sided = 0;
    fc.assert(
      fc.property(longTapes, someDelays, fc.constantFrom(0, 700, 5000), (records, delays, holdMs) => {
        const rows = rowsOf(runTape(delayed(records, delays), { holdMs }).tape);
        const wanted = rowsBySearch(records);
        for (const { bought, sold } of wanted.values()) sided += bought + sold;
        expect(rows).toEqual(wanted);
      }),
      { numRuns: 300 },
    );
    expect(sided).toBeGreaterThan(0);
  });

  test('is as if a cancelled print had never traded, in its own minute', () => {
    fc.assert(
      fc.property(
        longTapes,
        fc.array(fc.record({ victim: fc.nat(59), afterMs: fc.nat(200_000) }), { minLength: 1, maxLength: 4 }),
        fc.constantFrom(0, 5000),
        (records, plans, holdMs) => {
          // Sizes are made unlike, so that the cancel means exactly that print.
          const unlike = records.map((record, i) => (isPrint(record) ? { ...record, size: record.size + i } : record));
          const victims = new Map(
            plans
              .map((plan) => [unlike[plan.victim % unlike.length]!, plan] as const)
              .filter(([each]) => isPrint(each)),
          );
          const cancels = [...victims].map(([victim, { afterMs }], i) => ({
            ...(victim as OptionPrint),
            tsMs: victim.tsMs + afterMs,
            sequence: 1000 + i,
            conditions: [201],
          }));
          const all = [...unlike, ...cancels].sort((a, b) => microsOf(a) - microsOf(b) || a.sequence - b.sequence);
          const rows = rowsOf(runTape(all, { holdMs }).tape);
          expect(rows).toEqual(rowsBySearch(unlike.filter((record) => !victims.has(record))));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('the parts of a session', () => {
  const contracts = Array.from({ length: 2500 }, (_, i) => contract(`O:QQQ240419C${String(1e5 + i).padStart(8, '0')}`));
  const { underlying } = contracts[0]!;
  const at = (minute: number) => tapeStart + minute * minuteMs;
  const shape = ({ parts, isWhole }: ReturnType<ContractMinuteSums['take']>) => ({
    isWhole,
    rows: parts.map(({ part, minutes: { tsMs } }) => [part, tsMs.length]),
  });
  const filled = (minutes: readonly number[]) => {
    const sums = new ContractMinuteSums();
    for (const minute of minutes) for (const each of contracts) sums.add(each, at(minute), 0, 1, 100, 1);
    return sums;
  };

  test('end with the minute in which they have enough rows, and only changed ones are taken again', () => {
    const sums = filled([0, 1, 2]);
    expect(shape(sums.take(underlying))).toEqual({
      isWhole: true,
      rows: [
        [0, 5000],
        [1, 2500],
      ],
    });
    expect(shape(sums.take(underlying))).toEqual({ isWhole: false, rows: [] });
    for (const minute of [3, 4]) for (const each of contracts) sums.add(each, at(minute), 0, 1, 100, 1);
    expect(shape(sums.take(underlying))).toEqual({
      isWhole: false,
      rows: [
        [1, 5000],
        [2, 2500],
      ],
    });
    sums.add(contracts[7]!, at(0), 0, 5, 100, 1);
    expect(sums.changed()).toEqual([underlying]);
    expect(shape(sums.take(underlying))).toEqual({ isWhole: false, rows: [[0, 5000]] });
  });

  test('are those of the same prints in any other order, and what no longer has rows is taken as empty', () => {
    const sums = filled([1, 2]);
    sums.take(underlying);
    for (const each of contracts) sums.add(each, at(0), 0, 1, 100, 1);
    expect(shape(sums.take(underlying)).rows).toEqual([
      [0, 5000],
      [1, 2500],
    ]);
    expect(filled([2, 0, 1]).take(underlying).parts).toEqual(filled([0, 1, 2]).take(underlying).parts);
    for (const each of contracts) sums.add(each, at(0), 0, -1, -100, -1);
    expect(shape(sums.take(underlying)).rows).toEqual([
      [0, 5000],
      [1, 0],
    ]);
  });
});
