import { readOptionContract } from '../src/core/domain/chain/option-contract.ts';
import type { LargeTrade } from '../src/core/domain/flow/flow.ts';
import { toBarColumns } from '../src/core/domain/market/bar.ts';
import { exchangeInstant, type SessionDate } from '../src/core/domain/market-time.ts';
import { saveLargeTrades } from '../src/store/flow/events.ts';
import { writeBars } from '../src/store/market/bar-blocks.ts';
import type { Store } from '../src/store/rows/connection.ts';
import { inTransaction } from '../src/store/rows/transaction.ts';
import { intraday, type Size, symbolOf } from './scale-data.ts';

/** A session after those that are stored, whose writes are taken back. */
const session: SessionDate = '2026-11-23';
const symbolsWritten = 100;
const eventsWritten = 1000;
const legsAnEvent = 4;

class TakenBack extends Error {}

function trades(symbol: string): LargeTrade[] {
  const openMs = exchangeInstant(session, 570);
  const id = `O:${symbol}261218C00100000`;
  const contract = readOptionContract(id)!;
  const coverage = {
    status: 'eod_reconciled' as const,
    complete: true,
    sessionDate: session,
    observedFromMs: openMs,
    observedThroughMs: openMs + 23_400_000,
    registryVersion: 1,
    standardMultiplierAssumed: true,
  };
  return Array.from({ length: eventsWritten }, (_, n) => {
    const eventTsMs = openMs + n * 20_000;
    const shared = { side: 'buy_inferred' as const, multiLeg: false, eventTsMs };
    const legs = Array.from({ length: legsAnEvent }, (_, leg) => ({
      ...shared,
      contract,
      price: 1.05,
      size: 100,
      premiumUsd: 10_500,
      exchange: 300 + leg,
      conditions: [209],
      sequence: n * 10 + leg,
    }));
    const event = {
      ...shared,
      eventId: `sweep:${id}:${eventTsMs}:${n}`,
      eventKind: 'sweep' as const,
      underlying: symbol,
      legs,
      totalSize: 400,
      premiumUsd: 42_000,
      priceLow: 1.05,
      priceHigh: 1.05,
    };
    return { symbol, seq: n + 1, coverage, event };
  });
}

/** Duration of `write` in a transaction that is rolled back, ms. */
async function timed(store: Store, write: Parameters<typeof inTransaction>[1]): Promise<number> {
  const began = performance.now();
  await inTransaction(store, async (tx) => {
    await write(tx);
    throw new TakenBack();
  }).catch((error) => {
    if (!(error instanceof TakenBack)) throw error;
  });
  return performance.now() - began;
}

/** Minute bars, and legs of large trades, that a store takes a second: written as an ingest writes them. */
export async function ingestRates(store: Store, { underlyings }: Size): Promise<{ bars: number; legs: number }> {
  const bars = toBarColumns(intraday(session, 0, { bars: 390, apart: 1 }));
  const runs = Array.from({ length: symbolsWritten }, (_, index) => ({ symbol: symbolOf(index), bars }));
  const barsMs = await timed(store, (tx) => writeBars(tx, '1m', runs));
  const written = trades(symbolOf(underlyings - 1));
  const legsMs = await timed(store, (tx) => saveLargeTrades(tx, written));
  return { bars: (390e3 * symbolsWritten) / barsMs, legs: (1000 * eventsWritten * legsAnEvent) / legsMs };
}
