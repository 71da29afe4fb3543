import { tradeDate, tradeSpan } from '../../core/domain/calendar.ts';
import type { BarColumns } from '../../core/domain/market/bar.ts';
import { barColumnNames } from '../../core/domain/market/bar-columns.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import type { Transaction } from '../rows/transaction.ts';
import { type BarGuard, firstAtOrAfter, sliceBars } from './bar-blocks.ts';
import { SessionSealed, type SymbolSession, type SymbolSpan, sealedSessions } from './session-seals.ts';

function barsOf(bars: BarColumns, session: SessionDate): BarColumns {
  const { fromMs, toMs } = tradeSpan(session);
  return sliceBars(bars, firstAtOrAfter(bars, fromMs), firstAtOrAfter(bars, toMs));
}

function alike(a: BarColumns, b: BarColumns): boolean {
  return barColumnNames.every(
    (name) => a[name].length === b[name].length && a[name].every((value, i) => Object.is(value, b[name][i])),
  );
}

/** Throws `SessionSealed` for the first sealed session in these spans, or the first that `isChanged` is true for. */
export async function rejectSealedSpans(
  tx: Transaction,
  spans: readonly SymbolSpan[],
  isChanged: (session: SymbolSession) => boolean = () => true,
): Promise<void> {
  const sealed = (await sealedSessions(tx, spans)).find(isChanged);
  if (sealed) throw new SessionSealed(sealed.sessionDate, sealed.symbol);
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
  await rejectSealedSpans(tx, spans, ({ symbol, sessionDate }) =>
    changes.some(
      (change) =>
        change.symbol === symbol && !alike(barsOf(change.before, sessionDate), barsOf(change.after, sessionDate)),
    ),
  );
};
