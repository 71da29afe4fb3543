import { dependOn, type Store } from '../rows/connection.ts';
import type { Subject } from './subjects.ts';

/**
 * A kind of value that is held in the process, by symbol, as long as nothing of its subject is written for the symbol.
 */
export interface HeldKind<V> {
  subject: Subject;
  /** Unlike any other kind's. */
  name: string;
  /** Bytes that a value takes, about. */
  bytesOf: (value: V) => number;
}

/** The wanted value: a symbol's, or one of its parts. */
export interface HeldKey {
  symbol: string;
  part?: string;
}

/** A key as text. */
export function heldId({ symbol, part }: HeldKey): string {
  return part === undefined ? symbol : `${symbol} ${part}`;
}

/** Values under the version from before they were read; no value = there was none. */
interface Entry<V> {
  version: number;
  value: V | undefined;
}

const entryKey = ({ name }: Pick<HeldKind<never>, 'name'>, key: HeldKey) => `held:${name}:${heldId(key)}`;

/**
 * The values of several keys by `heldId`: those that are held, the others by one `read`, which gets the keys that are
 * missing and leaves out those without a value. Values are shared by their readers and must not be changed.
 */
export async function readHeld<V extends object>(
  store: Store,
  kind: HeldKind<V>,
  keys: readonly HeldKey[],
  read: (missing: readonly HeldKey[]) => Promise<ReadonlyMap<string, V>>,
): Promise<Map<string, V>> {
  const found = new Map<string, V>();
  const missing = new Map<string, { key: HeldKey; version: number | null }>();
  for (const key of keys) {
    const id = heldId(key);
    if (found.has(id) || missing.has(id)) continue;
    const version = dependOn(store, kind.subject, key.symbol);
    const entry = version === null ? undefined : store.blocks.get<Entry<V>>(entryKey(kind, key));
    if (entry?.version !== version) missing.set(id, { key, version });
    else if (entry?.value !== undefined) found.set(id, entry.value);
  }
  if (missing.size === 0) return found;
  const values = await read(Array.from(missing.values(), ({ key }) => key));
  for (const [id, { key, version }] of missing) {
    const value = values.get(id);
    if (value !== undefined) found.set(id, value);
    const entry = { version, value };
    if (version !== null) store.blocks.set(entryKey(kind, key), entry, value === undefined ? 0 : kind.bytesOf(value));
  }
  return found;
}

/** The wanted value: the last one that a symbol had at an instant, epoch ms. */
export interface AsOf extends HeldKey {
  atMs: number;
}

/** The last value in [fromMs, untilMs), epoch ms; null = there was none. */
export interface Interval<V> {
  fromMs: number;
  untilMs: number;
  value: V | null;
}

/** Intervals held of a key: the newest, and those of the past that were asked for last. */
const intervalsHeld = 8;

/**
 * The last value at each instant, in the order asked; null where there was none. `read` gets those that are not held
 * and returns an interval for each, in their order.
 */
export async function readHeldAsOf<V extends object>(
  store: Store,
  kind: HeldKind<V>,
  asked: readonly AsOf[],
  read: (missing: readonly AsOf[]) => Promise<readonly Interval<V>[]>,
): Promise<(V | null)[]> {
  const found = new Array<V | null>(asked.length).fill(null);
  const missing: { index: number; wanted: AsOf; version: number | null }[] = [];
  asked.forEach((wanted, index) => {
    const version = dependOn(store, kind.subject, wanted.symbol);
    const interval = heldIntervals(store, kind, wanted, version).find(
      ({ fromMs, untilMs }) => wanted.atMs >= fromMs && wanted.atMs < untilMs,
    );
    if (interval) found[index] = interval.value;
    else missing.push({ index, wanted, version });
  });
  if (missing.length === 0) return found;
  const intervals = await read(missing.map(({ wanted }) => wanted));
  missing.forEach(({ index, wanted, version }, i) => {
    const interval = intervals[i]!;
    found[index] = interval.value;
    if (version !== null) holdInterval(store, kind, wanted, version, interval);
  });
  return found;
}

function heldIntervals<V>(
  store: Store,
  kind: HeldKind<V>,
  key: HeldKey,
  version: number | null,
): readonly Interval<V>[] {
  const entry = version === null ? undefined : store.blocks.get<Entry<readonly Interval<V>[]>>(entryKey(kind, key));
  return entry?.version === version ? (entry?.value ?? []) : [];
}

function holdInterval<V>(store: Store, kind: HeldKind<V>, key: HeldKey, version: number, interval: Interval<V>): void {
  const others = heldIntervals(store, kind, key, version).filter(({ fromMs }) => fromMs !== interval.fromMs);
  const value = [interval, ...others].slice(0, intervalsHeld);
  const bytes = value.reduce((sum, each) => sum + 50 + (each.value === null ? 0 : kind.bytesOf(each.value)), 0);
  store.blocks.set(entryKey(kind, key), { version, value }, bytes);
}
