import type { FlowEventKind, FlowSide } from '../../../src/core/domain/flow/flow.ts';
import type { SampleContract } from '../../../src/intake/sample/market/options/option-market.ts';
import type { Plant, PlantedPrint } from '../../../src/intake/sample/market/options/option-plants.ts';
import type { SampleOptionTape } from '../../../src/intake/sample/market/options/option-tape-file.ts';
import { eventFromUsd } from '../../../src/intake/sample/market/tape-plan.ts';

/** A print of a planted event. */
export interface PlantedLeg {
  /** `O:` and the OSI symbol. */
  contract: string;
  exchange: number;
  /** Dollars a share. */
  price: number;
  /** Contracts. */
  size: number;
  side: FlowSide;
  eventTsMs: number;
  /** The position of its line among its contract's in the file, from 1. */
  sequence: number;
}

/** A large trade that is on the tape; all else on it is none. */
export interface PlantedEvent {
  /** The recipe it was made by. */
  recipe: string;
  /** The id that the engine will assign: kind, first leg's contract, its instant, its sequence. */
  eventId: string;
  eventKind: FlowEventKind;
  underlying: string;
  eventTsMs: number;
  side: FlowSide;
  /** Dollars, exact. */
  premiumUsd: number;
  totalSize: number;
  /** In event time. */
  legs: PlantedLeg[];
}

/** Total of the valid prints of an underlying's option tape: cancelled and compression trades do not count. */
export interface OptionTotal {
  prints: number;
  /** Contracts. */
  volume: number;
  /** Dollars, exact. */
  premiumUsd: number;
}

/** Contents of a session's option tape, for verifying figures computed from it. */
export interface OptionTapeLedger {
  events: PlantedEvent[];
  /** Number of planted trades by recipe that are not, or no longer, an event. */
  nearMisses: Record<string, number>;
  /** Lines of the files. */
  prints: number;
  quotes: number;
  /** Counts of prints: cancels, each with its original; trades reported late; compression trades. */
  cancels: number;
  late: number;
  compressions: number;
  totals: Record<string, OptionTotal>;
}

const compressionId = 247;
const isCancel = (condition: number) => condition === 201 || condition === 203;
const isLate = (condition: number) => condition === 202 || condition === 204;

function legOf({ planned, print }: PlantedPrint): PlantedLeg {
  const { contract, exchange, cents, size, tsMs } = print;
  const sequence = contract.prints.indexOf(print) + 1;
  return { contract: contract.id, exchange, price: cents / 100, size, side: planned.side, eventTsMs: tsMs, sequence };
}

/** The event that is left of a plant; null if there is none. */
function eventOf({ recipe, plan, prints }: Plant, untilMs: number): PlantedEvent | null {
  const standing = prints.filter(({ print }) => print.cancelledMs > untilMs);
  // Cents × contracts × 100 shares = dollars × contracts.
  const premiumUsd = standing.reduce((sum, { print }) => sum + print.cents * print.size, 0);
  if (plan.kind === null || standing.length === 0 || premiumUsd < eventFromUsd[plan.kind]) return null;
  standing.sort((a, b) => a.print.tsMs - b.print.tsMs || a.print.tsNanos - b.print.tsNanos);
  const legs = standing.map(legOf);
  const [first] = legs as [PlantedLeg];
  const side: FlowSide = legs.every((leg) => leg.side === first.side) ? first.side : 'unknown';
  return {
    recipe,
    eventId: `${plan.kind}:${first.contract}:${first.eventTsMs}:${first.sequence}`,
    eventKind: plan.kind,
    underlying: standing[0]!.print.contract.market.entry.symbol,
    eventTsMs: first.eventTsMs,
    side,
    premiumUsd,
    totalSize: legs.reduce((sum, { size }) => sum + size, 0),
    legs,
  };
}

function totalsOf(contracts: readonly SampleContract[], untilMs: number): Record<string, OptionTotal> {
  const totals: Record<string, OptionTotal> = {};
  for (const { market, prints } of contracts) {
    totals[market.entry.symbol] ??= { prints: 0, volume: 0, premiumUsd: 0 };
    const total = totals[market.entry.symbol]!;
    for (const { condition, cancelledMs, cents, size } of prints) {
      if (cancelledMs <= untilMs || isCancel(condition) || condition === compressionId) continue;
      total.prints++;
      total.volume += size;
      total.premiumUsd += cents * size;
    }
  }
  return totals;
}

/** The contents of a tape. */
export function optionLedger({ traded: contracts, plants, untilMs }: SampleOptionTape): OptionTapeLedger {
  const events: PlantedEvent[] = [];
  const nearMisses: Record<string, number> = {};
  for (const plant of plants) {
    if (plant.prints[0]!.print.overMs > untilMs) continue;
    const event = eventOf(plant, untilMs);
    if (event) events.push(event);
    else nearMisses[plant.recipe] = (nearMisses[plant.recipe] ?? 0) + 1;
  }
  const count = (is: (condition: number) => boolean) =>
    contracts.reduce((sum, { prints }) => sum + prints.filter(({ condition }) => is(condition)).length, 0);
  return {
    events: events.sort((a, b) => a.eventTsMs - b.eventTsMs || (a.eventId < b.eventId ? -1 : 1)),
    nearMisses,
    prints: count(() => true),
    quotes: contracts.reduce((sum, { quotes }) => sum + quotes.length, 0),
    cancels: count(isCancel),
    late: count(isLate),
    compressions: count((condition) => condition === compressionId),
    totals: totalsOf(contracts, untilMs),
  };
}
