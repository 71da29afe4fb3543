import type { FlipStatus } from './gex/gex.ts';
import type { SessionDate } from './market-time.ts';

/** Kinds of price levels. */
export const levelKinds = [
  'call_wall',
  'put_wall',
  'flip',
  'zero_gamma',
  'max_pain',
  'expected_move_high',
  'expected_move_low',
  'sigma_move_high',
  'sigma_move_low',
  'off_exchange',
] as const;
export type LevelKind = (typeof levelKinds)[number];

/** Statuses of a level; a flip has those of a flip point. */
export type LevelStatus = FlipStatus | 'stands' | 'none' | 'inconsistent';

/** A price level of a symbol, in the prices of its source. */
export interface SourceLevel {
  kind: LevelKind;
  /** Dollars; null if there is none. */
  price: number | null;
  /** Time of the capture, epoch ms; null off exchange, where a level is of a session. */
  capturedAt: number | null;
  sessionDate: SessionDate;
  /** Time of the quotes of its capture, epoch ms; off exchange the end of its session. */
  asOf: number;
  /** Expiry that the level is of; null if it is of none. */
  expiry: SessionDate | null;
  /** 1 = the most trading off exchange; null for other kinds. */
  rank: number | null;
  /** Null if an older version stored the capture and its rows do not determine it. */
  status: LevelStatus | null;
}

/** A price level in prices of the spot, with its distance. */
export interface Level extends SourceLevel {
  /** Dollars above the spot, before any basis; null if either is unknown. */
  distance: number | null;
  /** The same in percent of the spot. */
  distancePct: number | null;
}
