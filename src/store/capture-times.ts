import { readFrom, type Store } from './connection.ts';

const tables = { chain: 'chain_captures', gex: 'gex_captures' } as const;

/** When an underlying was captured in [fromMs, toMs), epoch ms ascending. */
export async function captureTimes(
  store: Store,
  kind: keyof typeof tables,
  underlying: string,
  fromMs: number,
  toMs: number,
): Promise<number[]> {
  const { rows } = await readFrom(store).query<{ capturedAt: number }>(
    `SELECT captured_at AS "capturedAt" FROM ${tables[kind]}
     WHERE underlying = $1 AND captured_at >= $2 AND captured_at < $3 ORDER BY captured_at`,
    [underlying, fromMs, toMs],
  );
  return rows.map((row) => row.capturedAt);
}
