import { dependOn, type Store } from '../rows/connection.ts';
import type { ReadView } from './read-view.ts';
import type { Subject } from './subjects.ts';

/** A kind of value that is cached in the process, by symbol, until its subject is written for the symbol. */
export interface HeldKind<V> {
  subject: Subject;
  /** Unique name. */
  name: string;
  /** Approximate bytes of a value. */
  bytesOf: (value: V) => number;
}

/** Key of a value: a symbol, or one of its parts. */
export interface HeldKey {
  symbol: string;
  part?: string;
}

/** A key as text. */
export function heldId({ symbol, part }: HeldKey): string {
  return part === undefined ? symbol : `${symbol} ${part}`;
}

/** Values with the version from before they were read; no value = none exists. */
interface Entry<V> {
  version: number;
  /** The commit of their subject that they were read at; null = unknown. */
  commit: string | null;
  value: V | undefined;
}

/** Where values are held for a reader, and under what. */
interface Holding<V> {
  store: Store;
  /** The reader's view when it began to read. */
  view: ReadView | null;
  kind: HeldKind<V>;
  key: HeldKey;
  version: number | null;
}

/** An entry of the version and of the commit that the reader reads. */
function heldEntry<T>({ store, view, kind, key, version }: Holding<never>): Entry<T> | undefined {
  if (version === null) return undefined;
  const id = entryKey(kind, key);
  const entry = view?.find<Entry<T>>(id) ?? store.blocks.get<Entry<T>>(id);
  if (entry?.version !== version) return undefined;
  return view && entry.commit !== view.commitOf(kind.subject, key.symbol) ? undefined : entry;
}

function hold<T>({ store, view, kind, key, version }: Holding<never>, value: T | undefined, bytes: number): void {
  if (version === null) return;
  const id = entryKey(kind, key);
  const { symbol } = key;
  if (view === null) store.blocks.set(id, { version, commit: null, value }, bytes);
  else view.keep(id, { symbol, entry: { version, commit: view.commitOf(kind.subject, symbol), value }, bytes });
}

const entryKey = ({ name }: Pick<HeldKind<never>, 'name'>, key: HeldKey) => `held:${name}:${heldId(key)}`;

/**
 * The values of several keys by `heldId`: cached ones, and the others by one `read`, which gets the missing keys and
 * omits those without a value. Values are shared by their readers and must not be changed.
 */
export async function readHeld<V extends object>(
  store: Store,
  kind: HeldKind<V>,
  keys: readonly HeldKey[],
  read: (missing: readonly HeldKey[]) => Promise<ReadonlyMap<string, V>>,
): Promise<Map<string, V>> {
  const { view } = store;
  const asked = new Map<string, Holding<V>>();
  for (const key of keys) {
    const id = heldId(key);
    if (asked.has(id)) continue;
    asked.set(id, { store, view, kind, key, version: dependOn(store, kind.subject, key.symbol) });
  }
  const ready = view?.ready();
  if (ready) await ready;
  const found = new Map<string, V>();
  const missing = new Map<string, Holding<V>>();
  for (const [id, holding] of asked) {
    const entry = heldEntry<V>(holding);
    if (entry === undefined) missing.set(id, holding);
    else if (entry.value !== undefined) found.set(id, entry.value);
  }
  if (missing.size === 0) return found;
  const values = await read(Array.from(missing.values(), ({ key }) => key));
  for (const [id, holding] of missing) {
    const value = values.get(id);
    if (value !== undefined) found.set(id, value);
    hold(holding, value, value === undefined ? 0 : kind.bytesOf(value));
  }
  return found;
}

/** Key of a value as of an instant, epoch ms. */
export interface AsOf extends HeldKey {
  atMs: number;
}

/** The last value in [fromMs, untilMs), epoch ms; null = none. */
export interface Interval<V> {
  fromMs: number;
  untilMs: number;
  value: V | null;
}

/** Number of cached intervals of a key: the newest, and the most recently used of the past. */
const intervalsHeld = 8;

/**
 * The last value as of each instant, in order; null if there is none. `read` gets the instants that are not cached and
 * returns an interval for each, in order.
 */
export async function readHeldAsOf<V extends object>(
  store: Store,
  kind: HeldKind<V>,
  asked: readonly AsOf[],
  read: (missing: readonly AsOf[]) => Promise<readonly Interval<V>[]>,
): Promise<(V | null)[]> {
  const { view } = store;
  const holdings = asked.map((wanted) => {
    const version = dependOn(store, kind.subject, wanted.symbol);
    return { store, view, kind, key: wanted, version };
  });
  const ready = view?.ready();
  if (ready) await ready;
  const found = new Array<V | null>(asked.length).fill(null);
  const missing: { index: number; wanted: AsOf }[] = [];
  asked.forEach((wanted, index) => {
    const interval = heldIntervals<V>(holdings[index]!).find(
      ({ fromMs, untilMs }) => wanted.atMs >= fromMs && wanted.atMs < untilMs,
    );
    if (interval) found[index] = interval.value;
    else missing.push({ index, wanted });
  });
  if (missing.length === 0) return found;
  const intervals = await read(missing.map(({ wanted }) => wanted));
  missing.forEach(({ index }, i) => {
    const interval = intervals[i]!;
    found[index] = interval.value;
    holdInterval(holdings[index]!, interval);
  });
  return found;
}

const heldIntervals = <V>(holding: Holding<V>): readonly Interval<V>[] =>
  heldEntry<readonly Interval<V>[]>(holding)?.value ?? [];

function holdInterval<V>(holding: Holding<V>, interval: Interval<V>): void {
  const others = heldIntervals<V>(holding).filter(({ fromMs }) => fromMs !== interval.fromMs);
  const value = [interval, ...others].slice(0, intervalsHeld);
  const bytesOf = (each: Interval<V>) => 50 + (each.value === null ? 0 : holding.kind.bytesOf(each.value));
  hold(
    holding,
    value,
    value.reduce((sum, each) => sum + bytesOf(each), 0),
  );
}
