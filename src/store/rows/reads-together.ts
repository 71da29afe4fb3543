import type { Store } from './connection.ts';

/** Keys that are about to be read, and the reading of all of them. */
interface Gathering<K, V> {
  keys: Map<string, K>;
  read: Promise<ReadonlyMap<string, V>>;
}

/** The gatherings of a request, by its view or snapshot of the store and their name. */
const gatherings = new WeakMap<object, Map<string, Gathering<never, never>>>();

/** Resolves once everything that is ready has run. */
const allReady = () => Promise.resolve().then(() => new Promise<void>((done) => process.nextTick(done)));

/**
 * Reads the values of keys together with all others that a request asks for under `name` at the same time, whatever it
 * reads them for, such as other instants: in one `read`, which returns them by `idOf`. The result may have more.
 */
export function readTogether<K, V>(
  { known, view, snapshot }: Pick<Store, 'known' | 'view' | 'snapshot'>,
  name: string,
  keys: readonly K[],
  { idOf, read }: { idOf: (key: K) => string; read: (keys: readonly K[]) => Promise<ReadonlyMap<string, V>> },
): Promise<ReadonlyMap<string, V>> {
  // Instants of knowledge share a snapshot, but what they read differs.
  const request = known ?? view ?? snapshot;
  if (request === null) return read(keys);
  const named = gatherings.get(request) ?? new Map<string, Gathering<K, V>>();
  gatherings.set(request, named as never);
  let gathering = named.get(name) as Gathering<K, V> | undefined;
  if (!gathering) {
    const gathered = new Map<string, K>();
    const readAll = () => {
      named.delete(name);
      return read([...gathered.values()]);
    };
    gathering = { keys: gathered, read: allReady().then(readAll) };
    named.set(name, gathering as never);
  }
  for (const key of keys) gathering.keys.set(idOf(key), key);
  return gathering.read;
}
