import type { Timeframe } from '../../core/domain/market/bar.ts';
import { dayMs } from '../../platform/runtime/clock.ts';
import { barLimits } from './stock-bars.ts';

/** Number of bars of a day that trades from 4:00 to 20:00, by timeframe; of seconds, those with a trade. */
const barsADay: Record<Timeframe, number> = { '1s': 57_600, '1m': 960, '5m': 192, '1h': 16, '1d': 1 };

/** An approximate instant: the zone of a local time is ignored. NaN for an invalid text. */
function aboutMs(text: string): number {
  return /^\d{9,}$/.test(text) ? Number(text) : Date.parse(text.slice(0, 10));
}

/** Arguments of a request for bars. */
export interface BarsAsked {
  from: string;
  to: string;
  timeframe?: Timeframe | null | undefined;
  limit?: number | null | undefined;
}

/** The maximum number of bars in a page of [from, to), before the data is read. Keys read shorter pages. */
export function barsAsked({ from, to, timeframe, limit }: BarsAsked, kind: 'key' | 'session'): number {
  const most = Math.min(limit ?? barLimits.default, kind === 'key' ? barLimits.keyMax : barLimits.max);
  // Either end may be anywhere in its day.
  const days = Math.ceil((aboutMs(to) - aboutMs(from)) / dayMs) + 1;
  const there = Number.isNaN(days) ? most : days * barsADay[timeframe ?? '1m'];
  return Math.max(1, Math.min(most, there));
}
