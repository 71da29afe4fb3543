import type { Store } from '../../src/store/connection.ts';

/** The same store, with its raw statements counted. Caches are shared with the original. */
export function countingStatements(store: Store): { store: Store; count: () => number } {
  let count = 0;
  const pool = new Proxy(store.pool, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== 'function') return value;
      return (...parameters: unknown[]) => {
        if (name === 'query') count++;
        return (value as (...all: unknown[]) => unknown).apply(target, parameters);
      };
    },
  });
  return { store: { ...store, pool }, count: () => count };
}
