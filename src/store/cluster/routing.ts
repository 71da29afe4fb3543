import type pg from 'pg';
import { tablePlacements } from './distribution.ts';

// On a distributed PostgreSQL (Citus) the rows of a symbol are on one node. Citus finds the node by a comparison of the
// distribution column with one value; for a list of values it queries every node, and rejects statements that take the
// first rows of each.

/** A statement whose values can be split by the symbols of its keys. */
export interface Divisible<V> {
  /** The statement about all keys. */
  all(values: V): pg.QueryConfig;
  /** The statement about the keys of one symbol, for its node; null = the statement is not about keys. */
  ofOneSymbol: ((values: V) => pg.QueryConfig) | null;
  /** The list parameters with one item per key; the first is the symbols. */
  lists: readonly string[];
}

/** One of the statements that replace a split one, with the numbers of its keys among all, from 1. */
interface Part {
  query: pg.QueryConfig;
  numbers: readonly number[] | null;
}

/** The distribution columns, and comparisons of them with another one. */
const spreadBy = new Set(Object.values(tablePlacements).flatMap((each) => (typeof each === 'object' ? [each.by] : [])));
const anyColumn = [...spreadBy].join('|');
const comparison = new RegExp(String.raw`\b((?:\w+\.)?(?:${anyColumn})) = \w+\.(?:${anyColumn})\b`, 'g');

/** An additional condition: a column equals the first item of the symbol list that is parameter `number`. */
const first = (column: string, number: number) => ` AND ${column} = ($${number}::text[])[1]`;

/**
 * The statement of a text with these parameters. If the first is the list of its keys' symbols, the statement for one
 * symbol repeats the symbol wherever it compares a distribution column.
 */
export function divisible<V extends object>(name: string, text: string, parameters: readonly string[]): Divisible<V> {
  const routed = text.includes('unnest($1::text[])')
    ? text.replace(comparison, (compared, column: string) => compared + first(column, 1))
    : text;
  const valuesOf = (values: V) => parameters.map((each) => values[each as keyof V]);
  const ofOneSymbol = (values: V) => ({ name: `${name}, one`, text: routed, values: valuesOf(values) });
  return {
    all: (values) => ({ name, text, values: valuesOf(values) }),
    ofOneSymbol: routed === text ? null : ofOneSymbol,
    lists: parameters.filter((_, i) => text.includes(`unnest($${i + 1}::`)),
  };
}

/** Routes a reader's statements to the nodes of its store. */
export class Routing {
  readonly #atOnce: () => number;

  /**
   * @param atOnce Maximum number of concurrent single-symbol statements; 0 if one statement may be about any number of
   * symbols.
   */
  constructor(atOnce: () => number) {
    this.#atOnce = atOnce;
  }

  /** True if the store is distributed. */
  get isSpread(): boolean {
    return this.#atOnce() > 0;
  }

  /** The statements for `values`: one about all, or on a distributed store one per symbol. */
  split<V extends object>({ all, ofOneSymbol, lists }: Divisible<V>, values: V): Part[] {
    if (!this.isSpread || ofOneSymbol === null) return [{ query: all(values), numbers: null }];
    const listed = values as Record<string, readonly unknown[]>;
    const numbersBySymbol = Map.groupBy(listed[lists[0]!]!.keys(), (i) => listed[lists[0]!]![i]);
    return Array.from(numbersBySymbol.values(), (places) => {
      const own = lists.map((name) => [name, places.map((i) => listed[name]![i])] as const);
      const query = ofOneSymbol({ ...values, ...Object.fromEntries(own) });
      return { query, numbers: places.map((i) => i + 1) };
    });
  }

  /**
   * Rows of a statement: those of a symbol in order, on a distributed store symbol by symbol. A column `nth` is the
   * number of a key, from 1.
   */
  async rows<V extends object, Row extends object>(
    statement: Divisible<V>,
    values: V,
    send: (query: pg.QueryConfig) => Promise<{ rows: Row[] }>,
  ): Promise<Row[]> {
    const parts = this.split(statement, values);
    const found: Row[][] = [];
    const next = parts.entries();
    const readOn = async () => {
      for (const [i, { query, numbers }] of next) {
        const { rows } = await send(query);
        found[i] = numbers === null ? rows : rows.map((row) => numbered(row, numbers));
      }
    };
    await Promise.all(Array.from({ length: Math.min(Math.max(1, this.#atOnce()), parts.length) }, readOn));
    return found.length === 1 ? found[0]! : found.flat();
  }

  /**
   * The condition by which a distributed store finds rows of one symbol of a table `t` on its node; empty for other
   * statements. `lists` are the parameters, a list of values for each of `columns`.
   */
  ofOneSymbol(table: string, columns: readonly string[], lists: readonly unknown[]): string {
    const placement = tablePlacements[table]!;
    if (!this.isSpread || typeof placement !== 'object') return '';
    const at = columns.indexOf(placement.by);
    const symbols = lists[at] as readonly unknown[] | undefined;
    if (symbols?.every((symbol) => symbol === symbols[0]) !== true) return '';
    return first(`t.${placement.by}`, at + 1);
  }

  /** The end of an INSERT that counts its rows: Citus also counts unchanged rows, except with a RETURNING clause. */
  get counting(): '' | ' RETURNING 1' {
    return this.isSpread ? ' RETURNING 1' : '';
  }
}

const numbered = <Row extends object>(row: Row, numbers: readonly number[]): Row =>
  'nth' in row ? { ...row, nth: numbers[(row.nth as number) - 1]! } : row;

/** The routing of a store on one node. */
export const oneNode = new Routing(() => 0);
