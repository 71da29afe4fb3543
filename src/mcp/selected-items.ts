/** Selection of the items of a list that is too long. */
export type Which = 'first' | 'newest' | 'strikes' | 'ranked';

/** A list that was cut. */
export interface Cut {
  /** Its path, lists in lists as `[]`, e.g. `data.captures[].strikes`. */
  path: string;
  shown: number;
  /** Items of the longest list at that path. */
  of: number;
  which: Which;
}

type Row = Record<string, unknown>;

const timeNames = ['ts_ms', 'tsMs', 'captured_at', 'capturedAt', 'event_ts_ms', 'eventTsMs', 'ts', 'date'];
const strikeNames = ['strike', 'strike_thousandths', 'strikeThousandths'];

const isRow = (item: unknown): item is Row => item !== null && typeof item === 'object' && !Array.isArray(item);

/** Time of a row: epoch ms, or a date as text; null if it has none. */
function timeOf(item: unknown): number | string | null {
  if (!isRow(item)) return null;
  for (const name of timeNames) {
    const value = item[name];
    if (typeof value === 'number' || typeof value === 'string') return value;
  }
  // Events of the flow are nested with their time.
  return timeOf((item.update as Row | undefined)?.event ?? null);
}

/** A row's strike, thousandths of a dollar; null if it has none. */
function strikeOf(item: unknown): number | null {
  if (!isRow(item)) return null;
  for (const name of strikeNames) if (typeof item[name] === 'number') return item[name];
  return isRow(item.contract) ? strikeOf(item.contract) : null;
}

const rankOf = (item: unknown): number | null => (isRow(item) && typeof item.rank === 'number' ? item.rank : null);

/** The values of all items; null if one has none. */
function ofAll<T>(list: readonly unknown[], read: (item: unknown) => T | null): T[] | null {
  const values: T[] = [];
  for (const item of list) {
    const value = read(item);
    if (value === null) return null;
    values.push(value);
  }
  return values;
}

/**
 * Direction of values: non-decreasing (`1`), non-increasing (`-1`), or neither (`0`). Equal values have no direction.
 */
function orderOf(values: readonly (number | string)[]): -1 | 0 | 1 {
  let [rises, falls] = [false, false];
  for (let i = 1; i < values.length; i++) {
    if (values[i]! > values[i - 1]!) rises = true;
    if (values[i]! < values[i - 1]!) falls = true;
  }
  if (rises === falls) return 0;
  return rises ? 1 : -1;
}

/** The first `count` items by `before`, in the order of the list. */
function best(list: readonly unknown[], count: number, before: (a: number, b: number) => number): unknown[] {
  const order = list.map((_, index) => index).sort((a, b) => before(a, b) || a - b);
  return order
    .slice(0, count)
    .sort((a, b) => a - b)
    .map((index) => list[index]);
}

function ranked(list: readonly unknown[], count: number, ranks: readonly number[]): unknown[] {
  const times = ofAll(list, timeOf);
  // A rank holds within its session: the newest session comes first.
  const isPerSession = times?.every((time) => typeof time === 'string') ?? false;
  return best(list, count, (a, b) => {
    if (isPerSession && times![a] !== times![b]) return times![a]! > times![b]! ? -1 : 1;
    return ranks[a]! - ranks[b]!;
  });
}

/**
 * The most useful `count` items of a list: of a ranking the highest ranked, of strikes those nearest the spot (dollars;
 * if unknown, nearest the middle one), of a series the newest, else the first. They stay in the order of the list.
 */
export function selectedItems(
  list: readonly unknown[],
  count: number,
  spot: number | null,
): { items: unknown[]; which: Which } {
  const ranks = ofAll(list, rankOf);
  if (ranks) return { items: ranked(list, count, ranks), which: 'ranked' };
  const strikes = ofAll(list, strikeOf);
  if (strikes) {
    const middle = [...strikes].sort((a, b) => a - b)[Math.floor(strikes.length / 2)]!;
    const near = spot === null ? middle : spot * 1000;
    const distance = strikes.map((strike) => Math.abs(strike - near));
    return { items: best(list, count, (a, b) => distance[a]! - distance[b]!), which: 'strikes' };
  }
  const order = orderOf(ofAll(list, timeOf) ?? []);
  if (order === 1) return { items: list.slice(-count), which: 'newest' };
  return { items: list.slice(0, count), which: order === -1 ? 'newest' : 'first' };
}

/** An object whose lists are the columns of one series, each cut to the newest `count`; others as they are. */
export function selectedColumns(object: Row, count: number): { object: Row; cut: { name: string; of: number }[] } {
  const time = timeNames.map((name) => object[name]).find((value) => Array.isArray(value)) as unknown[] | undefined;
  if (!time || time.length <= count) return { object, cut: [] };
  const cut: { name: string; of: number }[] = [];
  const entries = Object.entries(object).map(([name, value]) => {
    if (!Array.isArray(value) || value.length !== time.length) return [name, value];
    cut.push({ name, of: value.length });
    return [name, value.slice(-count)];
  });
  return { object: Object.fromEntries(entries), cut };
}
