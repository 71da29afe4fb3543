import type { Failure } from '../platform/wire/failure.ts';
import { type Envelope, errorEnvelope } from '../rest/contract/envelope.ts';
import { listItems } from './tools.ts';

/** Selection of the items of a list that is too long. */
type Which = 'first' | 'newest' | 'strikes' | 'ranked';

/** A list that was cut. */
interface Cut {
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
function selectedColumns(object: Row, count: number): { object: Row; cut: { name: string; of: number }[] } {
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

/** Answer of a tool. */
export interface ToolResult extends Record<string, unknown> {
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

/** Characters of JSON in an answer: about fifteen thousand tokens. */
export const answerCharacters = 48_000;

const text = (value: string) => ({ type: 'text' as const, text: value });

const cutTexts: Record<Cut['which'], (shown: number, of: number) => string> = {
  first: (shown, of) => `the first ${shown} of ${of}`,
  newest: (shown, of) => `the newest ${shown} of ${of}`,
  strikes: (shown, of) => `the ${shown} of ${of} nearest the spot`,
  ranked: (shown, of) => `the ${shown} highest ranked of ${of}`,
};

/** Describes the omitted items, and how to get them. */
function cutNote(cuts: readonly Cut[], maxItems: number): string {
  const lost = cuts.map(({ path, shown, of, which }) => `${path}: ${cutTexts[which](shown, of)}`);
  const isTooLong = cuts.some(({ shown }) => shown < maxItems);
  const more = isTooLong
    ? `An answer has at most ${answerCharacters.toLocaleString('en-US')} characters, so there are fewer items than max_items allows. Request a narrower window, or fewer fields.`
    : `Set max_items (at most ${listItems.most}) to see more, or request a narrower window.`;
  return `Truncated. ${lost.join('; ')}. ${more}`;
}

/**
 * Fits an answer into the limits of a model, and reports what was cut, so that the model can ask for less at a time.
 * `readSpot` finds the price around which to select strikes, dollars, if the answer has none; null = unknown.
 */
export async function answered(
  answer: Envelope | object,
  maxItems: number,
  readSpot: () => Promise<number | null> = async () => null,
): Promise<ToolResult> {
  const within = (spot: number | null) => bounded(answer, { items: maxItems, characters: answerCharacters, spot });
  let shown = within(null);
  if (shown.lacksSpot) {
    const spot = await readSpot();
    if (spot !== null) shown = within(spot);
  }
  const { answer: cut, json, cuts } = shown;
  return {
    content: [text(json), ...(cuts.length > 0 ? [text(cutNote(cuts, maxItems))] : [])],
    structuredContent: cut as Record<string, unknown>,
  };
}

/** A failure as the result of a tool: the model gets the contract's error. */
export function failed(failure: Failure): ToolResult {
  const retry = failure.details?.retry_after_seconds;
  return {
    isError: true,
    content: [
      text(JSON.stringify(errorEnvelope(failure))),
      ...(retry === undefined ? [] : [text(`Retry in ${retry} seconds.`)]),
    ],
  };
}

/** Limits of an answer for a model: items per list, and the approximate number of characters of JSON. */
interface Bounds {
  items: number;
  characters: number;
  /** Price around which strikes are selected, dollars, if the answer contains none; null = unknown. */
  spot: number | null;
}

/** An answer within bounds. */
interface Bounded {
  answer: object;
  json: string;
  cuts: Cut[];
  /** True if strikes were omitted and neither the answer nor the bounds give the spot around which to select them. */
  lacksSpot: boolean;
}

/** One pass over an answer. */
interface Pass {
  items: number;
  cuts: Map<string, Cut>;
  lacksSpot: boolean;
}

/** The spot of an object, for the lists below it; else that of the enclosing objects. */
function spotOf(object: Record<string, unknown>, around: number | null): number | null {
  for (const name of ['spot', 'prior_close_spot', 'priorCloseSpot']) {
    const value = object[name];
    if (typeof value === 'number') return value;
  }
  return around;
}

function cutList(pass: Pass, list: readonly unknown[], path: string, spot: number | null): unknown[] {
  if (list.length <= pass.items) return list.map((item) => cutLists(pass, item, `${path}[]`, spot));
  const { items, which } = selectedItems(list, pass.items, spot);
  if (which === 'strikes' && spot === null) pass.lacksSpot = true;
  const of = Math.max(list.length, pass.cuts.get(path)?.of ?? 0);
  pass.cuts.set(path, { path, shown: items.length, of, which });
  return items.map((item) => cutLists(pass, item, `${path}[]`, spot));
}

function cutLists(pass: Pass, value: unknown, path: string, spot: number | null): unknown {
  if (Array.isArray(value)) return cutList(pass, value, path, spot);
  if (value === null || typeof value !== 'object') return value;
  const object = value as Record<string, unknown>;
  const near = spotOf(object, spot);
  const at = (key: string) => (path === '' ? key : `${path}.${key}`);
  const columns = selectedColumns(object, pass.items);
  for (const { name, of } of columns.cut) {
    pass.cuts.set(at(name), { path: at(name), shown: pass.items, of, which: 'newest' });
  }
  return Object.fromEntries(
    Object.entries(columns.object).map(([key, inner]) => [key, cutLists(pass, inner, at(key), near)]),
  );
}

/**
 * Fits an answer into bounds: the most useful items of each list, fewer and fewer until it fits. Returns the JSON and
 * what was cut.
 */
export function bounded(answer: object, { items, characters, spot }: Bounds): Bounded {
  for (let shown = items; ; shown = Math.floor(shown / 2)) {
    const pass: Pass = { items: shown, cuts: new Map(), lacksSpot: false };
    const cut = cutLists(pass, answer, '', spot) as object;
    const json = JSON.stringify(cut);
    if (json.length <= characters || shown <= 1)
      return { answer: cut, json, cuts: [...pass.cuts.values()], lacksSpot: pass.lacksSpot };
  }
}
