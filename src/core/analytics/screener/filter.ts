import {
  type Comparison,
  type FigureName,
  type FigureValue,
  figureColumns,
  filterLimits,
  type ScreenFilter,
  type ScreenOrder,
} from '../../domain/screener.ts';

/** Source of a symbol's values; undefined = not computed yet. */
export type ValueOf<Row> = (row: Row, name: FigureName | 'symbol') => FigureValue | undefined;

/** True or false if a filter decides about a row; null if it depends on values that are not computed yet. */
export type Decision<Row> = (row: Row) => boolean | null;

const folded = (value: number | string) => (typeof value === 'string' ? value.toLowerCase() : value);

type Test = (value: FigureValue) => boolean;

/** A test that no null passes. Texts are compared in any case. */
const known =
  (test: (value: number | string) => boolean): Test =>
  (value) =>
    value !== null && test(folded(value));

const operators: { [K in keyof Comparison]-?: (operand: NonNullable<Comparison[K]>) => Test } = {
  eq: (operand) => known((value) => value === folded(operand)),
  in: (operand) => {
    const listed = new Set(operand.map(folded));
    return known((value) => listed.has(value));
  },
  gt: (operand) => known((value) => (value as number) > operand),
  gte: (operand) => known((value) => (value as number) >= operand),
  lt: (operand) => known((value) => (value as number) < operand),
  lte: (operand) => known((value) => (value as number) <= operand),
  isNull: (operand) => (value) => (value === null) === operand,
};

function testsOf(comparison: Comparison): Test[] {
  return Object.entries(comparison).flatMap(([name, operand]) =>
    operand == null ? [] : [(operators[name as keyof Comparison] as (operand: unknown) => Test)(operand)],
  );
}

/** Conjunction: false as soon as one part is, null if one part is open. */
function all<Row>(parts: readonly Decision<Row>[]): Decision<Row> {
  return (row) => {
    let decided: boolean | null = true;
    for (const part of parts) {
      const met = part(row);
      if (met === false) return false;
      if (met === null) decided = null;
    }
    return decided;
  };
}

function negated<Row>(part: Decision<Row>): Decision<Row> {
  return (row) => {
    const met = part(row);
    return met === null ? null : !met;
  };
}

/**
 * A filter as a function. `not` is the exact complement: it holds for a null value whose comparison does not. An empty
 * `or` holds for nothing.
 */
export function decisionOf<Row>({ and, or, not, ...figures }: ScreenFilter, read: ValueOf<Row>): Decision<Row> {
  const parts = Object.entries(figures).flatMap(([name, comparison]): Decision<Row>[] => {
    if (!comparison) return [];
    const tests = testsOf(comparison);
    return [
      (row) => {
        const value = read(row, name as FigureName);
        return value === undefined ? null : tests.every((test) => test(value));
      },
    ];
  });
  for (const each of and ?? []) parts.push(decisionOf(each, read));
  if (or) parts.push(negated(all(or.map((each) => negated(decisionOf(each, read))))));
  if (not) parts.push(negated(decisionOf(not, read)));
  return all(parts);
}

/** A row's place in an order. */
export interface Position {
  value: FigureValue;
  symbol: string;
}

/** Compares positions: by value in the direction of the order, nulls last, of equal ones by ticker. */
export function comparerOf(order: ScreenOrder | null): (one: Position, other: Position) => number {
  const sign = order?.direction === 'desc' ? -1 : 1;
  const bySymbol = (one: Position, other: Position) =>
    one.symbol < other.symbol ? -1 : one.symbol > other.symbol ? 1 : 0;
  if (order === null) return bySymbol;
  return (one, other) => {
    if (one.value === other.value) return bySymbol(one, other);
    if (one.value === null) return 1;
    if (other.value === null) return -1;
    return one.value < other.value ? -sign : sign;
  };
}

/** Names of the figures that a filter has conditions on. */
export function figuresOf({ and, or, not, symbol: _, ...figures }: ScreenFilter): Set<FigureName> {
  const own = Object.entries(figures).flatMap(([name, comparison]) => (comparison ? [name as FigureName] : []));
  const below = [...(and ?? []), ...(or ?? []), ...(not ? [not] : [])].flatMap((each) => [...figuresOf(each)]);
  return new Set([...own, ...below]);
}

/** Names in a filter that are no figures or comparisons of this version. */
export function unknownNames({ and, or, not, ...figures }: ScreenFilter): string[] {
  const own = Object.entries(figures).flatMap(([name, comparison]) => {
    if (name !== 'symbol' && !Object.hasOwn(figureColumns, name)) return [name];
    return Object.keys(comparison ?? {}).filter((each) => !Object.hasOwn(operators, each));
  });
  return [...own, ...[...(and ?? []), ...(or ?? []), ...(not ? [not] : [])].flatMap(unknownNames)];
}

/** Size of a filter: its depth, its conditions with the filters in it, and the values in its lists. */
export interface FilterSize {
  depth: number;
  conditions: number;
  listed: number;
}

/** The size of a filter. One that is too deep is not read beyond the first level that is too many. */
export function sizeOf({ and, or, not, ...figures }: ScreenFilter, level = 1): FilterSize {
  const size: FilterSize = { depth: 1, conditions: 1, listed: 0 };
  if (level > filterLimits.depth) return size;
  for (const comparison of Object.values(figures))
    if (comparison) {
      size.conditions += Object.keys(comparison).length;
      size.listed += comparison.in?.length ?? 0;
    }
  for (const each of [...(and ?? []), ...(or ?? []), ...(not ? [not] : [])]) {
    const below = sizeOf(each, level + 1);
    size.depth = Math.max(size.depth, 1 + below.depth);
    size.conditions += below.conditions;
    size.listed += below.listed;
  }
  return size;
}

/** The address of the first null in a filter; null if there is none. A null is no condition, so it is an error. */
export function firstNull(value: unknown, address: string): string | null {
  if (value === null) return address;
  if (typeof value !== 'object') return null;
  for (const [key, inner] of Object.entries(value as object)) {
    const found = inner === undefined ? null : firstNull(inner, `${address}.${key}`);
    if (found !== null) return found;
  }
  return null;
}
