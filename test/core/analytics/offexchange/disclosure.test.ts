import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type OffExchangeFigures, offExchangeFigures } from '../../../../src/core/analytics/offexchange/activity.ts';
import { bucketWidthMicros, concentrationOf } from '../../../../src/core/analytics/offexchange/concentration.ts';
import { hasSharedData } from '../../../support/shared-data.ts';
import { offExchangePrint, runStockTape, sharedStockPrints } from '../../../support/tapes/stock-tape.ts';

/** An execution: its session, price in cents, and its category as the conditions of the tape name it. */
interface Execution {
  session: number;
  cents: number;
  category: string;
}

const conditionsOf: Record<string, number[]> = {
  regular_way: [],
  odd_lot: [37],
  form_t: [12],
  average_price: [2],
  derivatively_priced: [10],
  package_price: [53],
};
const forming = ['regular_way', 'odd_lot', 'form_t'];

/** Each published row as the executions that it sums. */
type Row = (execution: Execution) => boolean;

const sessions = [0, 1, 2];

function figuresOf(executions: readonly Execution[]): OffExchangeFigures[] {
  return sessions.map((session) =>
    offExchangeFigures(
      runStockTape(
        executions
          .filter((each) => each.session === session)
          .map(({ cents, category }, i) => offExchangePrint(i, cents / 100, 100, conditionsOf[category])),
      ).offExchange('XYZ'),
    ),
  );
}

/** The rows of a session: activity, composition, profile, and the sum of which the vwap is the mean price. */
function rowsOf(session: number, figures: OffExchangeFigures, executions: readonly Execution[]): Row[] {
  if (figures.activity === null) return [];
  const named = figures.composition.map(({ category }) => category).filter((name) => name !== 'other');
  const nameOf = ({ category }: Execution) => (named.includes(category) ? category : 'other');
  const mine =
    (row: Row): Row =>
    (each) =>
      each.session === session && row(each);
  const isForming = ({ category }: Execution) => forming.includes(category);
  const hidden = executions.filter(mine((each) => nameOf(each) === 'other'));
  const isEnough = (some: readonly Execution[]) => some.length === 0 || some.length >= 3;
  // The price-forming part of `other` is in the vwap and the levels if it, and the rest, are no one or two executions.
  const isOfAll = isEnough(hidden.filter(isForming)) && isEnough(hidden.filter((each) => !isForming(each)));
  const isPriced = (each: Execution) => isForming(each) && (isOfAll || named.includes(each.category));
  const some = executions.filter(mine(isPriced));
  const priced = some.length > 0 ? some : executions.filter(mine(() => true));
  expect(figures.activity.vwap).toBeCloseTo(priced.reduce((sum, { cents }) => sum + cents / 100, 0) / priced.length, 9);
  return [
    mine(() => true),
    ...figures.composition.map(({ category }) => mine((each) => nameOf(each) === category)),
    ...figures.profile.map(({ priceThousandths }) =>
      mine((each) => isPriced(each) && each.cents * 10 === priceThousandths),
    ),
    mine(isPriced),
  ];
}

/** The rows of the concentration up to a session, as sums of published levels. */
function bucketRows(last: number, figures: readonly OffExchangeFigures[], levels: readonly Row[][]): Row[] {
  const profiles = figures.slice(0, last + 1).map(({ profile }) => profile);
  const vwap = figures[last]!.activity?.vwap ?? null;
  const { rows } = concentrationOf(profiles, vwap);
  return rows.map(({ bucketMidpoint, tradeCount }) => {
    const width = bucketWidthMicros(vwap!) / 1e6;
    const parts = profiles.flatMap((profile, session) =>
      profile.flatMap(({ priceThousandths, tradeCount }, i) => {
        const isWithin = Math.floor((priceThousandths * 1000) / (width * 1e6)) === Math.floor(bucketMidpoint / width);
        return isWithin ? [{ row: levels[session]![i]!, tradeCount }] : [];
      }),
    );
    expect(parts.reduce((sum, part) => sum + part.tradeCount, 0)).toBe(tradeCount);
    return (each) => parts.some(({ row }) => row(each));
  });
}

const modulus = 94_906_249;

function inverse(value: number): number {
  let [result, base, power] = [1, value, modulus - 2];
  for (; power > 0; power = Math.floor(power / 2)) {
    if (power % 2 === 1) result = (result * base) % modulus;
    base = (base * base) % modulus;
  }
  return result;
}

/** The rank of a matrix over the integers modulo a prime, by elimination. */
function rankOf(matrix: readonly (readonly number[])[]): number {
  const rows = matrix.map((row) => [...row]);
  let rank = 0;
  for (let column = 0; column < (rows[0]?.length ?? 0); column++) {
    const pivot = rows.findIndex((row, i) => i >= rank && row[column] !== 0);
    if (pivot === -1) continue;
    [rows[rank], rows[pivot]] = [rows[pivot]!, rows[rank]!];
    const head = rows[rank]!;
    const factor = inverse(head[column]!);
    for (const row of rows.slice(rank + 1)) {
      const times = (row[column]! * factor) % modulus;
      if (times === 0) continue;
      for (let i = column; i < row.length; i++)
        row[i] = (((row[i]! - ((times * head[i]!) % modulus)) % modulus) + modulus) % modulus;
    }
    rank++;
  }
  return rank;
}

/** Sets of one or two executions that some combination of the rows leaves alone. */
function isolated(rows: readonly Row[], executions: readonly Execution[]): string[] {
  const classes = new Map<string, { members: Execution[]; column: number[] }>();
  for (const each of executions) {
    const column = rows.map((row) => Number(row(each)));
    const found = classes.get(column.join('')) ?? { members: [], column };
    found.members.push(each);
    classes.set(column.join(''), found);
  }
  // Executions that are in the same rows cannot be distinguished; those in none are in no combination.
  const all = [...classes.values()].filter(({ column }) => column.includes(1));
  const few = all.filter(({ members }) => members.length <= 2);
  const sets = few.flatMap((one, i) => [
    [one],
    ...few.slice(i + 1).flatMap((other) => (one.members.length + other.members.length <= 2 ? [[one, other]] : [])),
  ]);
  const matrixOf = (some: typeof all) => some.map(({ column }) => column);
  const rank = rankOf(matrixOf(all));
  return sets
    .filter((set) => rankOf(matrixOf(all.filter((each) => !set.includes(each)))) < rank)
    .map((set) => JSON.stringify(set.flatMap(({ members }) => members)));
}

/** Every row that is published of the executions: three sessions, and the concentration of two dates. */
function publishedRows(executions: readonly Execution[]): Row[] {
  const figures = figuresOf(executions);
  const perSession = figures.map((each, session) => rowsOf(session, each, executions));
  const levels = perSession.map((rows, i) => rows.slice(1 + figures[i]!.composition.length));
  return [...perSession.flat(), ...[1, 2].flatMap((last) => bucketRows(last, figures, levels))];
}

describe('published off-exchange figures', () => {
  const categories = Object.keys(conditionsOf);
  const kind = (cents: { min: number; max: number }) =>
    fc.record({
      session: fc.constantFrom(...sessions),
      cents: fc.integer(cents),
      category: fc.constantFrom(...categories, 'regular_way', 'regular_way', 'odd_lot'),
      times: fc.constantFrom(1, 1, 2, 3, 4),
    });
  const cases = fc
    .integer({ min: 0, max: 8 })
    .chain((spread) => fc.array(kind({ min: 1000, max: 1000 + spread }), { minLength: 4, maxLength: 24 }))
    .map((list) => list.flatMap(({ times, ...each }) => Array.from({ length: times }, () => each)));

  test('of three sessions and two concentrations leave, however combined, no one or two executions', () => {
    fc.assert(
      fc.property(cases, (executions) => {
        expect(isolated(publishedRows(executions), executions)).toEqual([]);
      }),
    );
  });

  test('count all but none, or three and more, of the price-forming executions in levels', () => {
    fc.assert(
      fc.property(cases, (executions) => {
        for (const [session, { activity, profile }] of figuresOf(executions).entries()) {
          if (activity === null || profile.length === 0) continue;
          const all = executions.filter((each) => each.session === session && forming.includes(each.category));
          const left = all.length - profile.reduce((sum, { tradeCount }) => sum + tradeCount, 0);
          expect([1, 2]).not.toContain(left);
        }
      }),
    );
  });

  const times = (count: number, cents: number, category = 'regular_way'): Execution[] =>
    Array.from({ length: count }, () => ({ session: 0, cents, category }));

  test('withhold a level that a category would be subtracted from', () => {
    // 7 regular less the 5 at 10.00 are 2 at 10.01, whose level has 3.
    const executions = [
      ...times(5, 1000),
      ...times(2, 1001),
      ...times(1, 1001, 'odd_lot'),
      ...times(3, 1002, 'odd_lot'),
    ];
    const [{ profile }] = figuresOf(executions) as [OffExchangeFigures];
    expect(profile.map(({ priceThousandths }) => priceThousandths)).not.toEqual([10_000, 10_010, 10_020]);
    expect(isolated(publishedRows(executions), executions)).toEqual([]);
  });

  test('are checked by an elimination that finds what subtraction gives', () => {
    const executions = [...times(5, 1000), ...times(2, 1001), ...times(9, 1002)];
    const rows: Row[] = [() => true, ({ cents }) => cents === 1000, ({ cents }) => cents === 1002];
    expect(isolated(rows, executions)).toHaveLength(1);
    expect(isolated(rows.slice(0, 2), executions)).toEqual([]);
  });
});

describe.skipIf(!hasSharedData)('ten real tapes', () => {
  const files = ['BAC', 'IBM'].flatMap((symbol) =>
    ['07', '08', '09', '10', '11'].map((day) => ({ symbol, session: `2013-10-${day}` })),
  );

  test.each(files)('$symbol of $session: the profile shows 97 % of the price-forming volume', ({ symbol, session }) => {
    const prints = sharedStockPrints(`stocks_trades/${symbol}/${session}.csv.gz`);
    const tally = runStockTape(prints, { session }).offExchange(symbol);
    const { profile } = offExchangeFigures(tally);
    const all = [...tally.levels.values()].reduce((sum, { volume }) => sum + volume.whole, 0);
    expect(profile.reduce((sum, { volume }) => sum + volume, 0) / all).toBeGreaterThan(0.97);
  });
});
