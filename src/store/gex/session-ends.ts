import type { GexCapture } from '../../domain/gex/gex.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { statement } from '../rows/statement.ts';

/** Figures of a session's last capture. */
export type SessionEnd = Pick<
  GexCapture,
  | 'underlying'
  | 'capturedAt'
  | 'sessionDate'
  | 'spot'
  | 'netGex'
  | 'flipPoint'
  | 'flipStatus'
  | 'zeroGamma'
  | 'callWall'
  | 'putWall'
>;

const ends = statement(
  'gex/session-ends',
  { underlyings: 'text[]', atMs: 'int8', limit: 'int8' },
  {
    ...({ underlying: 'text', capturedAt: 'int8', sessionDate: 'text', spot: 'float8?', netGex: 'float8' } as const),
    ...({ flipPoint: 'float8?', zeroGamma: 'float8?', callWall: 'int4?', putWall: 'int4?' } as const),
    ...({ flipStatus: 'text?' } as const),
  },
);

/**
 * The last published capture by `atMs` (epoch ms) of each of the latest sessions by underlying, newest first, at most
 * `limit` of each; an underlying without any is absent. One statement.
 */
export async function sessionEnds(
  store: Store,
  underlyings: readonly string[],
  atMs: number,
  limit: number,
): Promise<Map<string, SessionEnd[]>> {
  const rows = await ends.rows(readFrom(store, 'gex', underlyings), { underlyings, atMs, limit });
  return Map.groupBy(rows as SessionEnd[], ({ underlying }) => underlying);
}
