import { tapeSettings } from '../../../core/analytics/methodology.ts';
import { type OffExchangeTally, offExchangeFigures } from '../../../core/analytics/offexchange/activity.ts';
import { concentrationOf } from '../../../core/analytics/offexchange/concentration.ts';
import { splitFactor } from '../../../core/domain/market/splits.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { roundHalfEven } from '../../../core/domain/units.ts';
import { sealedSessions } from '../../../store/market/session-seals.ts';
import { splitsIn } from '../../../store/market/splits.ts';
import {
  type PriceLevel,
  readWindow,
  saveConcentration,
  type WindowSession,
} from '../../../store/offexchange/levels.ts';
import { confirmOffExchange, offExchangeVersion, saveOffExchange } from '../../../store/offexchange/writing.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { blockVersion } from '../../../store/series/codec.ts';

/** A session's price levels adjusted to the shares of a later session. */
function inSharesOf(levels: readonly PriceLevel[], factor: number): PriceLevel[] {
  if (factor === 1) return [...levels];
  return levels.map((level) => ({
    ...level,
    priceThousandths: level.priceThousandths / factor,
    volume: roundHalfEven(level.volume * factor),
  }));
}

const others = tapeSettings.concentrationSessions - 1;

/** Computes and writes the concentration of the last of several stored sessions, ascending. */
async function concentrate(tx: Transaction, symbol: string, window: readonly WindowSession[], asOfMs?: number) {
  const { sessionDate, vwap } = window.at(-1)!;
  const splits = (await splitsIn(tx, [symbol])).get(symbol) ?? [];
  const levels = window.map((each) => inSharesOf(each.levels, splitFactor(splits, each.sessionDate, sessionDate)));
  const { rows, suppressedBuckets } = concentrationOf(levels, vwap);
  await saveConcentration(tx, symbol, sessionDate, rows, {
    suppressedBuckets,
    ...(asOfMs !== undefined && { asOfMs }),
  });
}

/** Recomputes the concentration of the sessions whose window contains a session. */
export async function refreshConcentration(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  asOfMs: number,
): Promise<void> {
  const window = await readWindow(tx, symbol, session, { before: others, after: others });
  const to = window.at(-1)?.sessionDate ?? session;
  const sealed = new Set((await sealedSessions(tx, [{ symbol, from: session, to }])).map((each) => each.sessionDate));
  for (const [i, { sessionDate }] of window.entries()) {
    // The concentration of a sealed session does not change.
    if (sessionDate < session || sealed.has(sessionDate)) continue;
    await concentrate(tx, symbol, window.slice(Math.max(0, i - others), i + 1), asOfMs);
  }
}

/** Computes the concentration of a stored session, from the published levels of its window. */
export async function recomputeConcentration(tx: Transaction, symbol: string, session: SessionDate): Promise<void> {
  await concentrate(tx, symbol, await readWindow(tx, symbol, session, { before: others, after: 0 }));
}

/**
 * Writes the publishable off-exchange figures of a symbol's session, replacing the stored ones, and updates the
 * concentration of later sessions. Returns true if anything changed.
 */
export async function saveOffExchangeSession(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  tally: OffExchangeTally,
  asOfMs: number,
): Promise<boolean> {
  const figures = offExchangeFigures(tally);
  const { activity, composition, profile, suppressedCategories, suppressedLevels } = figures;
  const version = blockVersion(Buffer.from(JSON.stringify(figures)));
  if ((await offExchangeVersion(tx, symbol, session)) === version) {
    await confirmOffExchange(tx, symbol, session, asOfMs);
    return false;
  }
  await saveOffExchange(
    tx,
    { symbol, sessionDate: session, asOfMs, suppressedCategories, suppressedBuckets: 0, suppressedLevels, activity },
    { composition, concentration: [], profile },
    version,
  );
  await refreshConcentration(tx, symbol, session, asOfMs);
  return true;
}
