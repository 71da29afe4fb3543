import { tradeDate, tradeSpan } from '../../domain/calendar.ts';
import type { BarColumns } from '../../domain/market/bar.ts';
import { barColumnNames } from '../../domain/market/bar-columns.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { type BarGuard, firstAtOrAfter, sliceBars } from './bar-blocks.ts';
import { SessionSealed, sealedSessions } from './session-seals.ts';

function barsOf(bars: BarColumns, session: SessionDate): BarColumns {
  const { fromMs, toMs } = tradeSpan(session);
  return sliceBars(bars, firstAtOrAfter(bars, fromMs), firstAtOrAfter(bars, toMs));
}

function alike(a: BarColumns, b: BarColumns): boolean {
  return barColumnNames.every(
    (name) => a[name].length === b[name].length && a[name].every((value, i) => Object.is(value, b[name][i])),
  );
}

/**
 * Throws `SessionSealed` if bars of a sealed session would change. Those of other sessions in the same blocks may: a
 * file of years of daily bars may repeat the stored bar of a sealed session.
 */
export const rejectSealedBars: BarGuard = async (tx, changes) => {
  // Bars are merged with the stored ones: changes are between the first and the last resulting bar.
  const spans = changes.map(({ symbol, after: { tsMs } }) => ({
    symbol,
    from: tradeDate(tsMs[0]!),
    to: tradeDate(tsMs.at(-1)!),
  }));
  const sealed = await sealedSessions(tx, spans);
  for (const { symbol, sessionDate } of sealed) {
    for (const change of changes) {
      if (change.symbol !== symbol) continue;
      const [before, after] = [barsOf(change.before, sessionDate), barsOf(change.after, sessionDate)];
      if (!alike(before, after)) throw new SessionSealed(sessionDate, symbol);
    }
  }
};
