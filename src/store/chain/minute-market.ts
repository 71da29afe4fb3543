import { sourceTime } from '../../core/domain/chain/chain.ts';
import { exchangeInstant, type SessionDate } from '../../core/domain/market-time.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { stockBlockKey } from '../market/bar-blocks.ts';
import { decodeBars } from '../market/bar-codec.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { findRows } from '../rows/models/sets.ts';
import type { Reader } from '../rows/reader.ts';
import { openBlock } from '../series/codec.ts';

/** A price of an underlying and the time it became known. */
export interface PricePoint {
  /** Time of the price, epoch ms: the end of a minute, or the time of a chain's quotes. */
  tsMs: number;
  /** Time it became known, epoch ms: the end of the minute, or the chain's capture. */
  knownMs: number;
  /** Dollars. */
  price: number;
}

/** Prices to read of a session. */
export interface WantedPrices {
  session: SessionDate;
  underlyings: readonly string[];
  /** The last instant, epoch ms. */
  throughMs: number;
  /** The underlyings of which bars are read; absent = all. */
  barsOf?: readonly string[];
}

/**
 * The stored prices of underlyings in a session, both their times ascending: closes of its minute bars at their
 * minutes' ends, and the spot of its chains. Two statements.
 */
export async function readPrices(
  from: Reader,
  { session, underlyings, throughMs, barsOf = underlyings }: WantedPrices,
): Promise<Map<string, PricePoint[]>> {
  const prices = new Map<string, PricePoint[]>(underlyings.map((underlying) => [underlying, []]));
  const captures = await from.prisma.chainCapture.findMany({
    where: {
      underlying: anyOf(underlyings),
      sessionDate: session,
      capturedAt: { gte: exchangeInstant(session), lte: throughMs },
      spot: { gt: 0 },
    },
    select: { underlying: true, capturedAt: true, delayMs: true, spot: true },
  });
  for (const { underlying, spot, ...times } of captures.map(numbered))
    prices.get(underlying)!.push({ tsMs: sourceTime(times), knownMs: times.capturedAt, price: spot! });
  const keys = barsOf.map((symbol) => ({ symbol, timeframe: '1m', spanStart: session }));
  const by = ['symbol', 'timeframe', 'spanStart'] as const;
  const blocks = await findRows(from, 'BarBlock', { by, keys }, ['symbol', 'payload']);
  for (const { symbol, payload } of blocks) {
    const { tsMs, close } = decodeBars(payload, stockBlockKey('1m', { symbol, spanStart: session }));
    const points = prices.get(symbol)!;
    for (let i = 0; i < tsMs.length && tsMs[i]! + minuteMs <= throughMs; i++) {
      const endMs = tsMs[i]! + minuteMs;
      points.push({ tsMs: endMs, knownMs: endMs, price: close[i]! });
    }
  }
  return new Map(Array.from(prices, ([underlying, points]) => [underlying, inOrder(points)]));
}

/** The points in the order in which they became known, without those older than one known before. */
function inOrder(points: readonly PricePoint[]): PricePoint[] {
  let newestMs = Number.NEGATIVE_INFINITY;
  // At one instant the bar's close takes precedence, so it comes last.
  return points
    .toSorted((a, b) => a.knownMs - b.knownMs)
    .filter(({ tsMs }) => {
      if (tsMs < newestMs) return false;
      newestMs = tsMs;
      return true;
    });
}

/** The last prices of contracts in a session, dollars per share, by path form: the close of their last bar. */
export async function readLastOptionPrices(
  from: Reader,
  session: SessionDate,
  contracts: readonly { underlying: string; contract: string }[],
): Promise<Map<string, number>> {
  const keys = contracts.map((contract) => ({ ...contract, sessionDate: session, timeframe: '1m' }));
  const by = ['underlying', 'sessionDate', 'contract', 'timeframe'] as const;
  const rows = await findRows(from, 'OptionBarBlock', { by, keys }, ['contract', 'payload', 'part']);
  rows.sort((a, b) => a.part - b.part);
  const closes = new Map<string, number>();
  for (const { contract, payload } of rows) {
    const bars = openBlock(payload);
    if (bars.length > 0) closes.set(contract, bars.number('close', bars.length - 1));
  }
  return closes;
}
