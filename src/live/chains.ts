import type { ChainCapture, ChainRow } from '../core/domain/chain/chain.ts';
import { chainCapturesAt } from '../store/chain/chain-captures.ts';
import type { Store } from '../store/rows/connection.ts';
import { concerns } from '../store/versions/subjects.ts';
import { captureInstants } from './replay-instants.ts';
import type { LiveEvent } from './source.ts';
import type { TopicKind } from './topics.ts';

/** The latest chain of an underlying; null if there is none yet. */
export interface ChainState {
  latest: LiveEvent<ChainCapture> | null;
}

function isSameRow(a: ChainRow, b: ChainRow): boolean {
  return (Object.keys(a) as (keyof ChainRow)[]).every((name) => Object.is(a[name], b[name]));
}

/** True if it is the same capture, even if it was read again. */
function isSame(a: ChainCapture, b: ChainCapture): boolean {
  if (a === b) return true;
  if (a.capturedAt !== b.capturedAt || a.delayMs !== b.delayMs) return false;
  if (a.spot !== b.spot || a.rows.length !== b.rows.length) return false;
  return a.rows.every((row, i) => isSameRow(row, b.rows[i]!));
}

const eventOf = (capture: ChainCapture): LiveEvent<ChainCapture> => ({
  value: capture,
  cursor: String(capture.capturedAt),
  slot: capture.underlying,
});

/** Live option chains, one topic per underlying. A slow client gets the latest. */
export function chainTopics(store: Store): TopicKind<ChainState, ChainCapture> {
  return {
    dataset: 'chain',
    queued: 'latest',
    concerns: (symbol, change) => concerns(change, 'chain', symbol),
    async read(topics, nowMs) {
      const symbols = [...topics.keys()];
      const captures = await chainCapturesAt(
        store,
        symbols.map((underlying) => ({ underlying, atMs: nowMs })),
      );
      return new Map(
        symbols.map((symbol, i) => {
          const before = topics.get(symbol)!;
          const capture = captures[i] ?? null;
          const isNew = capture !== null && !(before?.latest && isSame(before.latest.value, capture));
          const latest = isNew ? eventOf(capture) : (before?.latest ?? null);
          return [symbol, { state: { latest }, events: isNew && before !== null ? [latest!] : [] }];
        }),
      );
    },
    instants: (symbols, fromMs, toMs) => captureInstants(store, 'chain', symbols, fromMs, toMs),
    first: ({ latest }) => (latest ? [latest] : []),
    cursor: ({ latest }) => latest?.cursor ?? '0',
  };
}
