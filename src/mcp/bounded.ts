import { type Cut, selectedColumns, selectedItems } from './selected-items.ts';

/** Limits of an answer for a model: items per list, and the approximate number of characters of JSON. */
export interface Bounds {
  items: number;
  characters: number;
  /** Price around which strikes are selected, dollars, if the answer contains none; null = unknown. */
  spot: number | null;
}

/** An answer within bounds. */
export interface Bounded {
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
