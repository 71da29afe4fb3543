import type { LiveEvent } from '../live/source.ts';
import type { Following } from '../live/topics.ts';
import type { Store } from '../store/rows/connection.ts';
import { readsOf } from '../store/versions/reads.ts';
import { parseStart } from './as-of.ts';
import type { RequestContext } from './context.ts';

/** The instant of the last event that a client received. */
export interface Since {
  since?: string | null | undefined;
  tz?: string | null | undefined;
}

/** Reads of missed events, from the store that they are given. */
interface MissedReads<S, T> {
  /** After a position. */
  after: (state: S, after: string, store: Store) => Promise<readonly LiveEvent<T>[]>;
  /** Since an instant, epoch ms. */
  since: (state: S, sinceMs: number, store: Store) => Promise<readonly LiveEvent<T>[]>;
}

/**
 * The resumption of a subscription: after the position of an earlier stream, else since an instant; null = neither.
 * Throws 400 naming `since` for an invalid one.
 */
export function resumption<S, T>(
  context: RequestContext,
  { since, tz }: Since,
  reads: MissedReads<S, T>,
): Following<S, T>['resume'] {
  const sinceMs = since == null ? null : parseStart(since, tz, 'since', context);
  const { after, live } = context;
  // Missed events are of one commit: followed data may change meanwhile.
  const missed = (read: (store: Store) => Promise<readonly LiveEvent<T>[]>) => {
    const { store, ofOneCommit } = readsOf(live.store);
    return ofOneCommit(() => read(store), true);
  };
  if (after !== null) return { after, read: (state) => missed((store) => reads.after(state, after, store)) };
  if (sinceMs === null) return null;
  return { after: '', read: (state) => missed((store) => reads.since(state, sinceMs, store)) };
}
