import type { Reader } from '../rows/reader.ts';

// On a distributed PostgreSQL (Citus) the rows of a symbol are on one node. It finds which by a comparison of the
// distribution column with one value; with values of a list it asks every node, and refuses what takes the first rows
// of each.

/** Maximum number of statements, each of one symbol, that a pool sends a distributed store at once for one reader. */
export const symbolsAtOnceOfPool = 4;

/** A further condition, that a column is the first of the list of symbols that is parameter `number`. */
export function routedTo(column: string, number: number): string {
  return ` AND ${column} = ($${number}::text[])[1]`;
}

/** The keys of one symbol. */
interface SymbolPart<V> {
  values: V;
  /** Their numbers among all keys, from 1. */
  numbers: number[];
}

/**
 * Divides a statement's values by symbol, which is the first of the lists `listed`; what is no list of these is in
 * every part.
 */
export function splitBySymbol<V extends object>(values: V, listed: readonly string[]): SymbolPart<V>[] {
  const lists = values as Record<string, readonly unknown[]>;
  const numbersBySymbol = Map.groupBy(
    lists[listed[0]!]!.map((symbol, i) => ({ symbol, number: i + 1 })),
    ({ symbol }) => symbol,
  );
  return Array.from(numbersBySymbol.values(), (keys) => {
    const numbers = keys.map(({ number }) => number);
    const own = listed.map((name) => [name, numbers.map((number) => lists[name]![number - 1])] as const);
    return { values: { ...values, ...Object.fromEntries(own) }, numbers };
  });
}

/** Results of `read` for each part, in their order. `symbolsAtOnce` of the reader bounds concurrent reads. */
export async function eachSymbol<Part, Row>(
  { symbolsAtOnce }: Pick<Reader, 'symbolsAtOnce'>,
  parts: readonly Part[],
  read: (part: Part) => Promise<Row[]>,
): Promise<Row[]> {
  const found: Row[][] = [];
  const next = parts.entries();
  const readOn = async () => {
    for (const [i, part] of next) found[i] = await read(part);
  };
  await Promise.all(Array.from({ length: Math.min(symbolsAtOnce, parts.length) }, readOn));
  return found.flat();
}
