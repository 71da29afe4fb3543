import type { Store } from './connection.ts';
import { listen, notify } from './notifications.ts';
import type { Transaction } from './transaction.ts';

// Told when stored market data changed: by ingest, in whichever process.
const changesChannel = 'market_data';

/** Tells every process, once the transaction commits, that market data changed. */
export function announceChange(tx: Transaction): Promise<void> {
  return notify(tx, changesChannel, '');
}

/** Follows changes of the market data. */
export interface Changes {
  /** Grows with every change; null while it is not known whether something changed, and nothing kept may be trusted. */
  generation(): number | null;
  /** Stops following; to be called before the store is closed. */
  stop(): Promise<void>;
}

/** Starts following changes. */
export async function watchChanges(store: Store): Promise<Changes> {
  let generation = 0;
  let listening = true;
  const stop = await listen(
    store,
    changesChannel,
    () => {
      generation++;
    },
    // Called when the connection is lost and again when it is back: what changed in between was missed.
    () => {
      generation++;
      listening = !listening;
    },
  );
  return { generation: () => (listening ? generation : null), stop };
}
