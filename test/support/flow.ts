import { contractId, parseOptionContract } from '../../src/core/domain/chain/option-contract.ts';
import { standardRoots } from '../../src/core/domain/chain/option-root.ts';
import type {
  Coverage,
  FlowEvent,
  FlowLeg,
  FlowMeasures,
  LargeTrade,
  RankedList,
  RankedPrint,
} from '../../src/core/domain/flow/flow.ts';
import { exchangeDate, exchangeInstant } from '../../src/core/domain/market-time.ts';
import { saveLargeTrades } from '../../src/store/flow/events.ts';
import { saveRankedLists } from '../../src/store/flow/ranked-prints.ts';
import { saveCoverages } from '../../src/store/flow/sessions.ts';
import type { Store } from '../../src/store/rows/connection.ts';
import { inTransaction } from '../../src/store/rows/transaction.ts';

/** Coverage of a session from 09:30 to `through` minutes of the New York day, live by default. */
export function coverage(sessionDate: string, throughMinute: number, change: Partial<Coverage> = {}): Coverage {
  return {
    status: 'observed_live',
    complete: false,
    sessionDate,
    observedFromMs: exchangeInstant(sessionDate, 570),
    observedThroughMs: exchangeInstant(sessionDate, throughMinute),
    registryVersion: 1,
    standardMultiplierAssumed: true,
    ...change,
  };
}

/** A leg of `contract` (path form), 100 contracts at $2 by default. */
export function leg(contract: string, eventTsMs: number, change: Partial<FlowLeg> = {}): FlowLeg {
  const { price = 2, size = 1000 } = change;
  return {
    contract: parseOptionContract(contract),
    price,
    size,
    premiumUsd: price * size * 100,
    exchange: 302,
    conditions: [209],
    eventTsMs,
    sequence: 7,
    side: 'buy_inferred',
    multiLeg: false,
    ...change,
  };
}

/** A large trade made of `legs`: totals, prices and id as the contract defines them. */
export function largeTrade(
  legs: FlowLeg[],
  seq: number,
  covered: Coverage,
  change: Partial<FlowEvent> = {},
): LargeTrade {
  const first = legs[0]!;
  const eventKind = change.eventKind ?? 'single_block';
  const prices = legs.map(({ price }) => price);
  const symbol = standardRoots.of(first.contract.root).underlying;
  return {
    symbol,
    seq,
    coverage: covered,
    event: {
      eventId: `${eventKind}:${contractId(first.contract)}:${first.eventTsMs}:${first.sequence}`,
      eventKind,
      underlying: symbol,
      eventTsMs: first.eventTsMs,
      legs,
      totalSize: legs.reduce((sum, { size }) => sum + size, 0),
      premiumUsd: legs.reduce((sum, { premiumUsd }) => sum + premiumUsd, 0),
      priceLow: Math.min(...prices),
      priceHigh: Math.max(...prices),
      side: first.side,
      multiLeg: legs.length > 1,
      ...change,
    },
  };
}

/** Stores large trades and the coverage they carry. */
export async function storeLargeTrades(store: Store, trades: LargeTrade[]): Promise<void> {
  await inTransaction(store, async (tx) => {
    // The last of a symbol and session: a statement for each of thousands of trades would take seconds.
    const covered = new Map(trades.map((trade) => [`${trade.symbol} ${trade.coverage.sessionDate}`, trade]));
    for (const { symbol, coverage } of covered.values()) await saveCoverages(tx, new Map([[symbol, coverage]]));
    await saveLargeTrades(tx, trades);
  });
}

/** Measures of a strike or expiry, all different. */
export function measures(base: number): FlowMeasures {
  return {
    callVolume: base,
    putVolume: base + 1,
    callPremiumUsd: base + 0.25,
    putPremiumUsd: base + 0.5,
    callTradeCount: base + 2,
    putTradeCount: base + 3,
  };
}

/** A reconciled end-of-day list of prints given as legs, ranked as given. */
export function rankedList(
  scope: string,
  list: RankedList['list'],
  sessionDate: string,
  legs: FlowLeg[],
  change: Partial<RankedList> = {},
): RankedList {
  const coverageStatus = change.coverageStatus ?? 'eod_reconciled';
  const prints = legs.map((one, index): RankedPrint => {
    const trade = largeTrade([one], 1, coverage(exchangeDate(one.eventTsMs), 960));
    return {
      printId: `${trade.event.eventId}#0`,
      eventId: trade.event.eventId,
      underlying: trade.symbol,
      contract: one.contract,
      price: one.price,
      size: one.size,
      premiumUsd: one.premiumUsd,
      exchange: one.exchange,
      conditions: one.conditions,
      eventTsMs: one.eventTsMs,
      sequence: one.sequence,
      sessionDate,
      coverageStatus,
      rank: index + 1,
    };
  });
  return {
    scope,
    list,
    sessionDate,
    coverageStatus,
    scannedAtMs: 1_790_000_000_000,
    source: 'full_tape',
    prints,
    ...change,
  };
}

/** Stores end-of-day lists. */
export async function storeRankedLists(store: Store, lists: RankedList[]): Promise<void> {
  await inTransaction(store, async (tx) => {
    await saveRankedLists(tx, lists);
  });
}
