import type { PremiumColumns, PremiumMinute } from '../../core/domain/flow/flow.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { decodeBlock, encodeBlock, numbers } from '../series/codec.ts';

/** Premium by minute as a column block. */
export function encodeMinutes(minutes: readonly PremiumMinute[]): Uint8Array {
  const column = (name: keyof PremiumMinute) => Float64Array.from(minutes, (minute) => minute[name]);
  return encodeBlock({
    tsMs: column('tsMs'),
    callPremiumUsd: column('callPremiumUsd'),
    putPremiumUsd: column('putPremiumUsd'),
  });
}

function decodeMinutes(payload: Uint8Array): PremiumColumns {
  const columns = decodeBlock(payload);
  const column = (name: keyof PremiumMinute) => numbers(columns, name);
  return {
    tsMs: column('tsMs'),
    callPremiumUsd: column('callPremiumUsd'),
    putPremiumUsd: column('putPremiumUsd'),
  };
}

/** Premium by minute of a stored session, ascending. */
export interface PremiumSession {
  sessionDate: SessionDate;
  minutes: PremiumColumns;
}

/**
 * Premium by minute of the sessions from `from` to `to`, ascending, by underlying; sessions stored without it are
 * absent. One statement.
 */
export async function premiumSessions(
  store: Store,
  underlyings: readonly string[],
  { from, to }: { from: SessionDate; to: SessionDate },
): Promise<Map<string, PremiumSession[]>> {
  const rows = await readFrom(store, 'flow', underlyings).prisma.crossSection.findMany({
    where: { underlying: anyOf(underlyings), sessionDate: { gte: from, lte: to }, minutes: { not: null } },
    select: { underlying: true, sessionDate: true, minutes: true },
    orderBy: { sessionDate: 'asc' },
  });
  const sessions = Map.groupBy(rows, ({ underlying }) => underlying);
  return new Map(
    Array.from(sessions, ([underlying, some]) => [
      underlying,
      some.map(({ sessionDate, minutes }) => ({ sessionDate, minutes: decodeMinutes(minutes!) })),
    ]),
  );
}
