import type { LiveEvent } from '../live/source.ts';
import type { Following } from '../live/topics.ts';
import { parseStart } from './as-of.ts';
import type { RequestContext } from './context.ts';

/** The instant of the last event that a client received. */
export interface Since {
  since?: string | null | undefined;
  tz?: string | null | undefined;
}

/** Reads of missed events. */
interface MissedReads<S, T> {
  /** After a position. */
  after: (state: S, after: string) => Promise<readonly LiveEvent<T>[]>;
  /** Since an instant, epoch ms. */
  since: (state: S, sinceMs: number) => Promise<readonly LiveEvent<T>[]>;
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
  const { after } = context;
  if (after !== null) return { after, read: (state) => reads.after(state, after) };
  return sinceMs === null ? null : { after: '', read: (state) => reads.since(state, sinceMs) };
}
