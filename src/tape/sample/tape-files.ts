import { regularSession } from '../../domain/calendar.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { hourMs } from '../../domain/units.ts';
import { optionTapeFile } from './option-tape-file.ts';
import type { SamplePrices } from './prices.ts';
import { stockTapeFile } from './stock-tape-file.ts';
import { type TapeLedger, type TapeShape, tapeShape } from './tape-ledger.ts';

/** A session's tapes as vendor files, and what is on them. */
export interface SampleTapes {
  optionTrades: string;
  optionQuotes: string;
  stockTrades: string;
  ledger: TapeLedger;
}

const extendedMs = 2 * hourMs;

/** When the last print of a session has come, epoch ms: stocks trade two hours beyond the close. */
export function tapeEndMs(session: SessionDate): number {
  return regularSession(session)!.closeMs + extendedMs;
}

/**
 * The tapes of a session, of what is over at `nowMs`. They go with the session's bars and chains: stock prints make up the minute bars,
 * option prints lie about the quotes of the chains and are at most the volume that those tell.
 */
export function sampleTapes(
  prices: SamplePrices,
  session: SessionDate,
  nowMs: number,
  shape: TapeShape = tapeShape,
): SampleTapes {
  const options = optionTapeFile(prices, session, nowMs, shape);
  const stocks = stockTapeFile(prices, session, nowMs, shape);
  const untilMs = Math.min(nowMs, tapeEndMs(session));
  return {
    optionTrades: options.trades,
    optionQuotes: options.quotes,
    stockTrades: stocks.trades,
    ledger: { session, untilMs, options: options.ledger, stocks: stocks.ledger },
  };
}
