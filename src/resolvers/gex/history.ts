import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { clockTime, closeMinute, isTradingDay, sessionMinutes } from '../../core/domain/calendar.ts';
import { sourceTime } from '../../core/domain/chain/chain.ts';
import { exchangeDate, exchangeInstant, parseClockTime, type SessionDate } from '../../core/domain/market-time.ts';
import { maxEpochMs } from '../../core/domain/units.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { yieldForRows } from '../../platform/runtime/event-loop.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { type GexWindow, gexCapturesOf, type StoredGexCapture } from '../../store/gex/captures.ts';
import { throughMs } from '../as-of.ts';
import { findSymbol, fromSource, type RequestContext } from '../context.ts';
import { capturePlane, type ResponseMeta, responseMeta } from '../response-meta.ts';
import { capturesSource } from '../source-keys.ts';
import { checkTop, type ServedGexCapture, servedCaptures } from './gex.ts';
import { type PriceChecked, priceChecksOfAll } from './price-checks.ts';

/** Default number of strikes of a capture for an API key without `top` (spec 8). */
export const keyDefaultTop = 20;

export interface GexHistoryArgs {
  date: SessionDate;
  from?: string | null | undefined;
  to?: string | null | undefined;
  byExpiry?: boolean | null | undefined;
  top?: number | null | undefined;
}

export interface GexHistoryMeta extends ResponseMeta, PriceChecked {
  captures: ServedGexCapture[];
  captureCount: number;
  /** Times of each capture's quotes, epoch ms; null if all are their captures' own. */
  sourceTime: number[] | null;
  /** HH:MM of the regular session; null on a date without trading. */
  sessionOpen: string | null;
  sessionClose: string | null;
  /** The trim in force; null = none. */
  top: number | null;
  /** True if `top` is the default of API keys; null otherwise. */
  topDefaulted: true | null;
}

export interface GexHistory {
  symbol: string;
  sessionDate: SessionDate;
  captures: ServedGexCapture[];
  meta: GexHistoryMeta;
}

/**
 * [from, to) of a session's captures. Without bounds every capture of the session counts, including one of the Sunday
 * after.
 */
function historyWindow({ date, from, to, byExpiry }: GexHistoryArgs, nowMs: number): GexWindow {
  const fromMinute = from == null ? 0 : parseClockTime(from, 'from');
  const toMinute = to == null ? 24 * 60 : parseClockTime(to, 'to');
  if (fromMinute >= toMinute) throw invalidParameter(from == null ? 'to' : 'from', 'expected from to be before to');
  return {
    fromMs: from == null ? -maxEpochMs : exchangeInstant(date, fromMinute),
    // Captures later than the server's clock are omitted (they exist when a past session is replayed).
    toMs: Math.min(to == null ? maxEpochMs : exchangeInstant(date, toMinute), nowMs + 1),
    byExpiry: byExpiry ?? false,
  };
}

/** The captures of a symbol's session in a window, ascending. */
async function storedCaptures(
  context: RequestContext,
  symbol: string,
  date: SessionDate,
  window: GexWindow,
): Promise<StoredGexCapture[]> {
  const name = `gex history ${date} ${window.fromMs} ${window.toMs} ${window.byExpiry}`;
  const found = await batched(context, name, symbol, (symbols) =>
    fromSource(context, 'chain', () => gexCapturesOf(context.store, symbols, date, window)),
  );
  return found ?? [];
}

/** The captures of one session, oldest first (spec 4.5); none for a weekend, a holiday or an uncovered symbol. */
export async function gexHistory(context: RequestContext, symbol: string, args: GexHistoryArgs): Promise<GexHistory> {
  const { date } = args;
  const today = exchangeDate(context.nowMs);
  if (date > today) throw invalidParameter('date', `expected a date not in the future, got ${date}`);
  checkTop(args.top, 'top');
  const window = historyWindow(args, throughMs(context));
  requireReadable(context.caller, await findSymbol(context, symbol));
  const topDefaulted = args.top == null && context.caller.kind === 'key';
  const top = args.top ?? (topDefaulted ? keyDefaultTop : null);
  const stored = await storedCaptures(context, symbol, date, window);
  await yieldForRows(stored.reduce((sum, { strikes }) => sum + strikes.strike.length, 0));
  const trades = isTradingDay(date);
  const captures = servedCaptures(stored, window.byExpiry, top);
  return {
    symbol,
    sessionDate: date,
    captures,
    meta: {
      ...responseMeta(context, capturePlane(context, date), [], () =>
        stored.length > 0 ? [capturesSource(symbol, date)] : [],
      ),
      captures,
      captureCount: stored.length,
      priceChecks: () => priceChecksOfAll(stored),
      sourceTime: stored.some(({ delayMs }) => delayMs) ? stored.map(sourceTime) : null,
      sessionOpen: trades ? clockTime(sessionMinutes.open) : null,
      sessionClose: trades ? clockTime(closeMinute(date)) : null,
      top,
      topDefaulted: topDefaulted || null,
    },
  };
}
