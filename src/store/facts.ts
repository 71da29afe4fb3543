import type { Store } from './connection.ts';

/**
 * Keeps `value` under `key` unless something is kept there already, and returns what is kept. Whoever asks, in whatever process,
 * gets the same answer.
 */
export async function keepFact(store: Store, key: string, value: string): Promise<string> {
  await store.pool.query('insert into store_facts (key, value) values ($1, $2) on conflict (key) do nothing', [
    key,
    value,
  ]);
  const { rows } = await store.pool.query<{ value: string }>('select value from store_facts where key = $1', [key]);
  return rows[0]!.value;
}
