import DataLoader from 'dataloader';

/** The batches of a request. */
export interface Batching {
  /** Loaders by name, created on first use; they live as long as the request. */
  loaders: Map<string, DataLoader<never, never>>;
  /** Schedules the reading of batches; absent = once everything that is ready has run. */
  batchSchedule?: (read: () => void) => void;
}

const textOf = (key: unknown): string => (typeof key === 'string' ? key : JSON.stringify(key));

/**
 * Reads the value of `key` together with all other keys requested under `name` at the same time, in one `read`, and
 * once per request. `read` returns the values in the order of the keys, or as a map by `keyOf`, in which a missing one
 * is null.
 */
export function batched<K, V>(
  context: Batching,
  name: string,
  key: K,
  read: (keys: readonly K[]) => Promise<ReadonlyMap<string, V>>,
  keyOf?: (key: K) => string,
): Promise<V | null>;
export function batched<K, V>(
  context: Batching,
  name: string,
  key: K,
  read: (keys: readonly K[]) => Promise<readonly V[]>,
  keyOf?: (key: K) => string,
): Promise<V>;
export function batched<K, V>(
  { loaders, batchSchedule }: Batching,
  name: string,
  key: K,
  read: (keys: readonly K[]) => Promise<readonly V[] | ReadonlyMap<string, V>>,
  keyOf: (key: K) => string = textOf,
): Promise<V | null> {
  let loader = loaders.get(name) as unknown as DataLoader<K, V | null, string> | undefined;
  if (!loader) {
    const readAll = async (keys: readonly K[]): Promise<readonly (V | null)[]> => {
      const values = await read(keys);
      return 'get' in values ? keys.map((each) => values.get(keyOf(each)) ?? null) : values;
    };
    const schedule = batchSchedule && { batchScheduleFn: batchSchedule };
    loader = new DataLoader(readAll, { cacheKeyFn: keyOf, ...schedule });
    loaders.set(name, loader as unknown as DataLoader<never, never>);
  }
  return loader.load(key);
}
