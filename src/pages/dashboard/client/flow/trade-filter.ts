// The filter of large trades.
import type {
  CrossSection,
  FlowEvent,
  FlowEventKind,
  FlowSide,
  LargeTrade,
} from '../../../../../generated/pages/operation-types.ts';

/** Filter of the shown trades; null = any. */
export interface TradeFilter {
  kind: FlowEventKind | null;
  side: FlowSide | null;
  right: 'call' | 'put' | null;
  /** Expiration of one of the legs. */
  expiry: string | null;
  /** Dollars, 0 = any. */
  minPremiumUsd: number;
}

/** Passes everything. */
export const anyTrade: TradeFilter = { kind: null, side: null, right: null, expiry: null, minPremiumUsd: 0 };

/** True if a trade passes: a single leg must have both right and expiry. */
export function passes({ eventKind, side, premiumUsd, legs }: FlowEvent, filter: TradeFilter): boolean {
  return (
    (filter.kind === null || eventKind === filter.kind) &&
    (filter.side === null || side === filter.side) &&
    premiumUsd >= filter.minPremiumUsd &&
    legs.some(
      ({ contract }) =>
        (filter.right === null || contract.right === filter.right) &&
        (filter.expiry === null || contract.expiry === filter.expiry),
    )
  );
}

/** True if the filter excludes any trades. */
export const isNarrow = ({ kind, side, right, expiry, minPremiumUsd }: TradeFilter) =>
  kind !== null || side !== null || right !== null || expiry !== null || minPremiumUsd > 0;

/** The expirations of trades and of a session's flow, ascending. */
export function expiriesOf(trades: readonly LargeTrade[], flow: CrossSection | null): string[] {
  const ofTrades = trades.flatMap(({ update }) => update.event.legs.map(({ contract }) => contract.expiry));
  const ofFlow = flow?.update.byExpiration.map(({ expiry }) => expiry) ?? [];
  return [...new Set([...ofTrades, ...ofFlow])].sort();
}

/** Dollars from a typed text: 250000, 250k, 1.5m; null if it is not an amount. */
export function dollarsOf(text: string): number | null {
  const found = /^\$?\s*(\d[\d,]*\.?\d*|\.\d+)\s*([km])?$/i.exec(text.trim());
  if (!found) return null;
  const unit = { k: 1e3, m: 1e6 }[found[2]?.toLowerCase() ?? ''] ?? 1;
  return Number(found[1]!.replaceAll(',', '')) * unit;
}

const kinds: Record<FlowEventKind, string> = { single_block: 'Block', sweep: 'Sweep', multi_leg: 'Multi-leg' };
/** Names of the kinds. */
export const kindNames: Readonly<Record<FlowEventKind, string>> = kinds;
/** Names of the sides, which tell the inferred aggressor. */
export const sideNames: Readonly<Record<FlowSide, string>> = {
  buy_inferred: 'Buy',
  sell_inferred: 'Sell',
  neutral: 'Mid',
  unknown: 'Unknown',
};
