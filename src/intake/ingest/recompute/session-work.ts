import type { GenerationPart } from '../../../core/domain/generation.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import type { Store } from '../../../store/rows/connection.ts';
import type { MovedCaptures } from './moved-captures.ts';

/** An underlying's session to recompute. */
export interface UnderlyingSession {
  underlying: string;
  session: SessionDate;
}

/** Result of recomputing a session. */
export interface RecomputedWork {
  /** Number of its changed captures, minutes or large trades. */
  changed: number;
  /** Moves of captures; null if none were computed. */
  moved: MovedCaptures | null;
  /** Parts of the store that differ. */
  parts: GenerationPart[];
}

/** Inputs of recomputing besides a transaction. */
export interface RecomputeWork {
  store: Store;
  /** Delay of captures, ms; null: each has its former one. */
  delayMs: number | null;
  /** True to include captures of the current version and inputs. */
  all: boolean;
  /** Rate of captures and minutes without one. */
  rate: number;
  /** Throws if the work must stop. */
  check: () => void;
}
