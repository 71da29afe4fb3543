import { tapeSettings } from '../../analytics/methodology.ts';
import { offExchangeFigures } from '../../analytics/offexchange/activity.ts';
import { concentrationOf } from '../../analytics/offexchange/concentration.ts';
import type { OffExchangeTally } from '../../analytics/offexchange/tally.ts';
import { splitFactor } from '../../domain/market/splits.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { roundHalfEven } from '../../domain/units.ts';
import { sealedSessions } from '../../store/market/session-seals.ts';
import { splitsIn } from '../../store/market/splits.ts';
import {
  encodeLevels,
  levelsVersion,
  type PriceLevel,
  readWindow,
  saveConcentration,
  saveLevels,
} from '../../store/offexchange/levels.ts';
import { confirmOffExchange, saveOffExchange } from '../../store/offexchange/writing.ts';
import type { Transaction } from '../../store/rows/transaction.ts';
import { blockVersion } from '../../store/series/block-version.ts';

/** A session's price levels adjusted to the shares of a later session. */
function inSharesOf(levels: readonly PriceLevel[], factor: number): PriceLevel[] {
  if (factor === 1) return [...levels];
  return levels.map((level) => ({
    ...level,
    priceThousandths: level.priceThousandths / factor,
    volume: roundHalfEven(level.volume * factor),
  }));
}

/** Recomputes the concentration of the sessions whose window contains a session. */
export async function refreshConcentration(
  tx: Transaction,
  symbol: string,
  session: SessionDate,
  asOfMs: number,
): Promise<void> {
  const others = tapeSettings.concentrationSessions - 1;
  const window = await readWindow(tx, symbol, session, { before: others, after: others });
  const to = window.at(-1)?.sessionDate ?? session;
  const splits = (await splitsIn(tx, [symbol])).get(symbol) ?? [];
  const sealed = new Set((await sealedSessions(tx, [{ symbol, from: session, to }])).map((each) => each.sessionDate));
  for (const [i, { sessionDate, vwap }] of window.entries()) {
    // The concentration of a sealed session does not change.
    if (sessionDate < session || sealed.has(sessionDate)) continue;
    const levels = window
      .slice(Math.max(0, i - others), i + 1)
      .map((each) => inSharesOf(each.levels, splitFactor(splits, each.sessionDate, sessionDate)));
    const { rows, suppressedBuckets } = concentrationOf(levels, vwap);
    await saveConcentration(tx, symbol, sessionDate, rows, { suppressedBuckets, asOfMs });
  }
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
  const { levels, ...figures } = offExchangeFigures(tally);
  const { activity, composition, profile, suppressedCategories, suppressedLevels } = figures;
  const payload = encodeLevels(levels);
  const published = JSON.stringify({ activity, composition, profile, suppressedCategories, suppressedLevels });
  const version = blockVersion(Buffer.concat([payload, Buffer.from(published)]));
  if ((await levelsVersion(tx, symbol, session)) === version) {
    await confirmOffExchange(tx, symbol, session, asOfMs);
    return false;
  }
  await saveLevels(tx, symbol, session, version, payload);
  await saveOffExchange(
    tx,
    { symbol, sessionDate: session, asOfMs, suppressedCategories, suppressedBuckets: 0, suppressedLevels, activity },
    { composition, concentration: [], profile },
  );
  await refreshConcentration(tx, symbol, session, asOfMs);
  return true;
}
