// Which of the large trades are shown.
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

/** Lets everything through. */
export const anyTrade: TradeFilter = { kind: null, side: null, right: null, expiry: null, minPremiumUsd: 0 };

/** True if a trade passes: one of its legs has to have right and expiry together. */
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

/** True if there are trades that do not pass. */
export const isNarrow = ({ kind, side, right, expiry, minPremiumUsd }: TradeFilter) =>
  kind !== null || side !== null || right !== null || expiry !== null || minPremiumUsd > 0;

/** The expirations of trades and of a session's flow, ascending. */
export function expiriesOf(trades: readonly LargeTrade[], flow: CrossSection | null): string[] {
  const ofTrades = trades.flatMap(({ update }) => update.event.legs.map(({ contract }) => contract.expiry));
  const ofFlow = flow?.update.byExpiration.map(({ expiry }) => expiry) ?? [];
  return [...new Set([...ofTrades, ...ofFlow])].sort();
}

/** Dollars from what was typed: 250000, 250k, 1.5m; null when it is no amount. */
export function dollarsOf(text: string): number | null {
  const found = /^\$?\s*(\d[\d,]*\.?\d*|\.\d+)\s*([km])?$/i.exec(text.trim());
  if (!found) return null;
  const unit = { k: 1e3, m: 1e6 }[found[2]?.toLowerCase() ?? ''] ?? 1;
  return Number(found[1]!.replaceAll(',', '')) * unit;
}

const kinds: Record<FlowEventKind, string> = { single_block: 'Block', sweep: 'Sweep', multi_leg: 'Multi-leg' };
/** The kinds in words. */
export const kindNames: Readonly<Record<FlowEventKind, string>> = kinds;
/** The sides in words: who is thought to have taken the initiative. */
export const sideNames: Readonly<Record<FlowSide, string>> = {
  buy_inferred: 'Buy',
  sell_inferred: 'Sell',
  neutral: 'Mid',
  unknown: 'Unknown',
};
