import { isAfterClose, lastOfSession } from '../../core/domain/chain/chain.ts';
import type { GexCapture } from '../../core/domain/gex/gex.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { statement } from '../rows/statement.ts';
import { sessionHeaders } from './captures.ts';

/** Figures of a session's last capture. */
export type SessionEnd = Pick<
  GexCapture,
  | 'underlying'
  | 'capturedAt'
  | 'sessionDate'
  | 'delayMs'
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
    ...({ flipStatus: 'text?', delayMs: 'int4?' } as const),
  },
);

/**
 * The last published capture (`lastOfSession`) by `atMs` (epoch ms) of each of the latest sessions by underlying,
 * newest first, at most `limit` of each; an underlying without any is absent. One statement, two if a session has
 * quotes of after its close.
 */
export async function sessionEnds(
  store: Store,
  underlyings: readonly string[],
  atMs: number,
  limit: number,
): Promise<Map<string, SessionEnd[]>> {
  const rows = await ends.rows(readFrom(store, 'gex', underlyings), { underlyings, atMs, limit });
  const found = rows as SessionEnd[];
  const late = found.filter(isAfterClose);
  const sessions = late.length > 0 ? await sessionHeaders(store, late) : [];
  const traded = new Map(
    late.map((end, i) => {
      const come = sessions[i]!.filter(({ capturedAt, subset }) => subset !== true && capturedAt <= atMs);
      return [end, (lastOfSession(come) ?? end) as SessionEnd] as const;
    }),
  );
  return Map.groupBy(
    found.map((end) => traded.get(end) ?? end),
    ({ underlying }) => underlying,
  );
}
