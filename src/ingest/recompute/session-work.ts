import type { GenerationPart } from '../../domain/generation.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type { Store } from '../../store/rows/connection.ts';
import type { MovedCaptures } from './moved-captures.ts';

/** An underlying's session to be computed again. */
export interface UnderlyingSession {
  underlying: string;
  session: SessionDate;
}

/** The outcome of computing a session. */
export interface RecomputedWork {
  /** Captures, minutes or large trades of it that differ from before. */
  changed: number;
  /** Moves of captures; null where none were computed. */
  moved: MovedCaptures | null;
  /** Parts of the store that differ. */
  parts: GenerationPart[];
}

/** Parts that computing takes beside a transaction. */
export interface RecomputeWork {
  store: Store;
  /** Delay that captures get, ms; null: each keeps its own. */
  delayMs: number | null;
  /** Captures of the present version and inputs too. */
  all: boolean;
  /** Rate of captures and minutes that do not hold their own. */
  rate: number;
  /** Throws when the work is to stop. */
  check: () => void;
}
