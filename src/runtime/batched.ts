import DataLoader from 'dataloader';

/** Where a request's batches are. */
export interface Batching {
  /** Loaders by name, made when first asked for; they live as long as the request. */
  loaders: Map<string, DataLoader<never, never>>;
  /** When batches are read; absent = once everything that is ready has run. */
  batchSchedule?: (read: () => void) => void;
}

const textOf = (key: unknown): string => (typeof key === 'string' ? key : JSON.stringify(key));

/**
 * Reads the value of `key` together with all other keys that the request asks for under `name` at the same time, in one
 * `read`, and once a request. `read` returns the values in the order of the keys, or as a map by `keyOf`, where a
 * missing one is null.
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
