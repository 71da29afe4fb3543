import type { Store } from './connection.ts';
import { listen, longestPayloadBytes, notify } from './notifications.ts';
import type { Transaction } from './transaction.ts';

// Told when stored market data changed: by ingest, in whichever process.
const changesChannel = 'market_data';

/** What a change can be of: `stocks` bars and prices, `gex` captures, `flow` large trades and cross-sections. */
export const changeKinds = ['stocks', 'gex', 'flow'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** The symbols of which something changed, by kind; a kind that is absent did not change, null = any symbol may have. */
export type Change = Partial<Record<ChangeKind, readonly string[] | null>>;

/** A change of which nothing is known. */
export const anyChange: Change = { stocks: null, gex: null, flow: null };

const lists = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Whether a change may be of `symbol`. */
export function concerns(change: Change, kind: ChangeKind, symbol: string): boolean {
  const symbols = change[kind];
  if (!symbols) return symbols === null;
  const known = lists.get(symbols) ?? new Set(symbols);
  lists.set(symbols, known);
  return known.has(symbol);
}

function writeChange(change: Change): string {
  const whole = JSON.stringify(change);
  if (Buffer.byteLength(whole) <= longestPayloadBytes) return whole;
  // Too many symbols to name: anything of these kinds may have changed.
  return JSON.stringify(Object.fromEntries(Object.keys(change).map((kind) => [kind, null])));
}

function readChange(payload: string): Change {
  if (payload === '') return anyChange;
  try {
    return JSON.parse(payload) as Change;
  } catch {
    return anyChange;
  }
}

/** Tells every process, once the transaction commits, what of the market data changed; without `change`, that something did. */
export function announceChange(tx: Transaction, change?: Change): Promise<void> {
  return notify(tx, changesChannel, change === undefined ? '' : writeChange(change));
}

/** Follows changes of the market data. */
export interface Changes {
  /** Grows with every change; null while it is not known whether something changed, and nothing kept may be trusted. */
  generation(): number | null;
  /** Tells `listener` of every change until the returned function is called. What may have been missed is told as `anyChange`. */
  onChange(listener: (change: Change) => void): () => void;
  /** Stops following; to be called before the store is closed. */
  stop(): Promise<void>;
}

/** Starts following changes. */
export async function watchChanges(store: Store): Promise<Changes> {
  let generation = 0;
  let listening = true;
  const listeners = new Set<(change: Change) => void>();
  const tell = (change: Change) => {
    generation++;
    for (const listener of listeners) listener(change);
  };
  const stop = await listen(
    store,
    changesChannel,
    (payload) => tell(readChange(payload)),
    // Called when the connection is lost and again when it is back: what changed in between was missed.
    () => {
      listening = !listening;
      tell(anyChange);
    },
  );
  return {
    generation: () => (listening ? generation : null),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop,
  };
}
