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

/** What is kept under `key`, or null. */
export async function readFact(store: Store, key: string): Promise<string | null> {
  const { rows } = await store.pool.query<{ value: string }>('select value from store_facts where key = $1', [key]);
  return rows[0]?.value ?? null;
}

/** Keeps `value` under `key`, in place of what was kept there. */
export async function writeFact(store: Store, key: string, value: string): Promise<void> {
  await store.pool.query(
    'insert into store_facts (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value',
    [key, value],
  );
}

/** Whether any bars, chains or open interest are stored. */
export async function holdsMarketData(store: Store): Promise<boolean> {
  const tables = [
    'bar_blocks',
    'option_bar_blocks',
    'chain_captures',
    'open_interest_blocks',
    'flow_events',
    'option_quote_blocks',
  ];
  const any = tables.map((table) => `exists (select from ${table})`).join(' or ');
  const { rows } = await store.pool.query<{ any: boolean }>(`select ${any} as any`);
  return rows[0]!.any;
}

/** Does `work` while no other process does work of the same name; waits for one that does. */
export async function exclusively<T>(store: Store, name: string, work: () => Promise<T>): Promise<T> {
  const client = await store.pool.connect();
  try {
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
    return await work();
  } finally {
    // The lock is the connection's: it goes with it, whatever happened.
    client.release(true);
  }
}

/**
 * Does `work` unless any process does work of the same name already. Its signal is aborted when the connection is lost by which others
 * know that it is done: then one of them may begin.
 */
export async function unlessDone(
  store: Store,
  name: string,
  work: (lost: AbortSignal) => Promise<void>,
): Promise<void> {
  const client = await store.pool.connect();
  const lost = new AbortController();
  const onError = () => lost.abort();
  client.on('error', onError);
  try {
    const { rows } = await client.query<{ free: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 0)) as free',
      [name],
    );
    if (rows[0]!.free) await work(lost.signal);
  } finally {
    client.release(true);
  }
}
