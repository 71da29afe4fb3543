/** What an answer for a model may hold: of each list so many items, and in all about so many characters of JSON. */
export interface Bounds {
  items: number;
  characters: number;
}

/** A list that was cut. */
export interface Cut {
  /** Its place, lists in lists by `[]`, e.g. `data.captures[].strikes`. */
  path: string;
  shown: number;
  /** Items of the longest list in that place. */
  of: number;
}

function cutLists(value: unknown, path: string, items: number, cuts: Map<string, Cut>): unknown {
  if (Array.isArray(value)) {
    if (value.length > items) {
      cuts.set(path, { path, shown: items, of: Math.max(value.length, cuts.get(path)?.of ?? 0) });
    }
    return value.slice(0, items).map((item) => cutLists(item, `${path}[]`, items, cuts));
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      cutLists(inner, path === '' ? key : `${path}.${key}`, items, cuts),
    ]),
  );
}

/** An answer within bounds: the first items of each list, fewer and fewer until it fits; what was cut, and the JSON. */
export function bounded(answer: object, { items, characters }: Bounds): { answer: object; json: string; cuts: Cut[] } {
  for (let shown = items; ; shown = Math.floor(shown / 2)) {
    const cuts = new Map<string, Cut>();
    const cut = cutLists(answer, '', shown, cuts) as object;
    const json = JSON.stringify(cut);
    if (json.length <= characters || shown <= 1) return { answer: cut, json, cuts: [...cuts.values()] };
  }
}
