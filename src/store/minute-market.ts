import { exchangeInstant, type SessionDate } from '../domain/market-time.ts';
import { minuteMs } from '../domain/units.ts';
import { decodeBars } from './bar-blocks.ts';
import type { Transaction } from './transaction.ts';

/** A price of an underlying and when it was known. */
export interface PricePoint {
  /** Epoch ms: the end of a minute, or a chain's capture. */
  tsMs: number;
  /** Dollars. */
  price: number;
}

/**
 * The prices of underlyings in a session that the store holds, ascending: closes of its minute bars at their minutes' ends, and the spot of
 * its chains. `throughMs` is the last instant wanted. Two statements.
 */
export async function readPrices(
  from: Pick<Transaction, 'query'>,
  session: SessionDate,
  underlyings: readonly string[],
  throughMs: number,
): Promise<Map<string, PricePoint[]>> {
  const prices = new Map<string, PricePoint[]>(underlyings.map((underlying) => [underlying, []]));
  const { rows: captures } = await from.query<{ underlying: string; tsMs: number; price: number }>({
    name: 'minute-market-chains',
    text: `SELECT underlying, captured_at AS "tsMs", spot AS price FROM chain_captures
           WHERE underlying = ANY($1) AND session_date = $2 AND captured_at <= $3 AND captured_at >= $4 AND spot > 0`,
    values: [underlyings, session, throughMs, exchangeInstant(session)],
  });
  for (const { underlying, tsMs, price } of captures) prices.get(underlying)!.push({ tsMs: Number(tsMs), price });
  const { rows: blocks } = await from.query<{ symbol: string; payload: Buffer }>({
    name: 'minute-market-bars',
    text: `SELECT symbol, payload FROM bar_blocks WHERE symbol = ANY($1) AND timeframe = '1m' AND span_start = $2`,
    values: [underlyings, session],
  });
  for (const { symbol, payload } of blocks) {
    const { tsMs, close } = decodeBars(payload);
    const points = prices.get(symbol)!;
    for (let i = 0; i < tsMs.length && tsMs[i]! + minuteMs <= throughMs; i++)
      points.push({ tsMs: tsMs[i]! + minuteMs, price: close[i]! });
  }
  // Of one instant the bar's close is the later word: it stands behind.
  for (const points of prices.values()) points.sort((a, b) => a.tsMs - b.tsMs);
  return prices;
}

/** The last prices of contracts in a session, dollars a share, by path form: the close of their last bar. */
export async function readLastOptionPrices(
  from: Pick<Transaction, 'query'>,
  session: SessionDate,
  contracts: readonly { underlying: string; contract: string }[],
): Promise<Map<string, number>> {
  const { rows } = await from.query<{ contract: string; payload: Buffer }>({
    name: 'minute-market-closes',
    text: `SELECT b.contract, b.payload FROM unnest($1::text[], $2::text[]) AS w(underlying, contract)
           JOIN option_bar_blocks b ON b.underlying = w.underlying AND b.session_date = $3 AND b.contract = w.contract
             AND b.timeframe = '5m' ORDER BY b.part`,
    values: [contracts.map(({ underlying }) => underlying), contracts.map(({ contract }) => contract), session],
  });
  const closes = new Map<string, number>();
  for (const { contract, payload } of rows) {
    const { close } = decodeBars(payload);
    if (close.length > 0) closes.set(contract, close[close.length - 1]!);
  }
  return closes;
}
