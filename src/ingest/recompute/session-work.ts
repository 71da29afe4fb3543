import type { SessionDate } from '../../domain/market-time.ts';
import type { Store } from '../../store/engine/connection.ts';

/** An underlying's session to be computed again. */
export interface UnderlyingSession {
  underlying: string;
  session: SessionDate;
}

/** What computing takes beside a transaction. */
export interface RecomputeWork {
  store: Store;
  /** Of captures and minutes that do not hold their own. */
  rate: number;
  /** Throws when the work is to stop. */
  check: () => void;
}
