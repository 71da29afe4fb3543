import type { SessionDate } from '../../../core/domain/market-time.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import { yieldToEventLoop } from '../../../platform/runtime/event-loop.ts';
import { generationsInForce } from '../../../store/market/generations.ts';
import { rejectSealed, SessionSealed } from '../../../store/market/session-seals.ts';
import { listConcentrations } from '../../../store/offexchange/levels.ts';
import { holdOrigin } from '../../../store/origin.ts';
import type { Store } from '../../../store/rows/connection.ts';
import { inSettledTransaction, type Transaction } from '../../../store/rows/transaction.ts';
import { asGeneration } from '../../../store/superseded/generation.ts';
import { pruneExpired } from '../../../store/superseded/prune.ts';
import { type GenerationDataset, noteGenerations } from '../files/generations.ts';
import { recomputeConcentration } from '../stocks/off-exchange-session.ts';
import { recomputeChains, sessionsOfChains } from './chains.ts';
import type { RecomputedDataset } from './dataset-names.ts';
import { recomputeFlow, sessionsOfFlow } from './flow.ts';
import { recomputeGreeks, sessionsOfGreeks } from './greeks.ts';
import type { RecomputedWork, RecomputeWork, UnderlyingSession } from './session-work.ts';

/** The outcome of an underlying's session. */
export interface RecomputedSession extends UnderlyingSession, Omit<RecomputedWork, 'parts'> {
  /** `refused`: it is sealed and was not changed. */
  status: 'recomputed' | 'unchanged' | 'refused';
  /** Reason for `refused`; null otherwise. */
  reason: string | null;
}

/** One kind of stored data that can be recomputed. */
interface Recomputing {
  /** Dataset whose generation it makes, from the files of the one in force of `from`. */
  generation: { dataset: GenerationDataset; from: readonly GenerationDataset[] };
  /** The sessions to recompute, in the order in which they are computed. */
  sessions(store: Store, how: Pick<RecomputeWork, 'delayMs' | 'all'>): Promise<UnderlyingSession[]>;
  /** True if sealed sessions are recomputed too, because what was removed from them may not be served. */
  reseals?: boolean;
  /** Recomputes a session, in a transaction of its own that may write it. */
  run(tx: Transaction, session: UnderlyingSession, how: RecomputeWork): Promise<RecomputedWork>;
}

/** Notes what was computed again, from the sources that it had. */
async function noteRecomputed(
  tx: Transaction,
  { dataset, from }: Recomputing['generation'],
  parts: RecomputedWork['parts'],
  ingestedMs: number,
) {
  for (const part of parts) {
    const { files = [], live = null } = (await generationsInForce(tx, from, part)).at(-1) ?? {};
    await noteGenerations(tx, dataset, [part], { made: 'recompute', files, live, ingestedMs });
  }
}

const recomputed: Record<RecomputedDataset, Recomputing> = {
  chain: {
    generation: { dataset: 'chain', from: ['chain'] },
    sessions: sessionsOfChains,
    run: recomputeChains,
  },
  greeks: {
    generation: { dataset: 'greeks', from: ['option-trades', 'greeks'] },
    sessions: sessionsOfGreeks,
    run: recomputeGreeks,
  },
  flow: {
    generation: { dataset: 'option-trades', from: ['option-trades'] },
    sessions: sessionsOfFlow,
    run: recomputeFlow,
  },
  'off-exchange': {
    // Only one generation of off-exchange figures is ever stored: no part of it is noted.
    generation: { dataset: 'stock-trades', from: [] },
    reseals: true,
    sessions: async (store, { all }) =>
      (await listConcentrations(store, all)).map(({ symbol, sessionDate }) => ({
        underlying: symbol,
        session: sessionDate,
      })),
    run: async (tx, { underlying, session }) => {
      await recomputeConcentration(tx, underlying, session);
      return { changed: 1, moved: null, parts: [] };
    },
  },
};

/**
 * Solves the minutes of sessions that were solved without a price, after prices of these sessions were stored, in their
 * transaction. Returns the sessions that changed.
 */
export async function solvePricedMinutes(
  tx: Transaction,
  unpriced: readonly UnderlyingSession[],
  { rate, now }: Pick<RecomputeOptions, 'rate' | 'now'>,
): Promise<UnderlyingSession[]> {
  const solved: UnderlyingSession[] = [];
  for (const session of unpriced) {
    const { changed, parts } = await recomputeGreeks(tx, session, { rate, check: () => {} });
    await noteRecomputed(tx, recomputed.greeks.generation, parts, now());
    if (changed > 0) solved.push(session);
  }
  return solved;
}

export interface RecomputeRequest {
  /** Null = every underlying, from the first to the last session. */
  symbol: string | null;
  from: SessionDate | null;
  to: SessionDate | null;
}

export interface RecomputeOptions {
  /** For the record of when figures were computed. */
  now: Clock;
  /** Continuous interest rate of captures and minutes that do not hold their own, a fraction a year. */
  rate: number;
  /** Delay of the source of captures, ms; null: each has its former one. */
  delayMs?: number | null;
  /** True to include captures of the current version and inputs. */
  all?: boolean;
  /** Aborted to stop: the current session is rolled back, and the reason is thrown. Sessions computed before stay. */
  signal?: AbortSignal | undefined;
  onProgress?: (session: UnderlyingSession, index: number, count: number) => void;
}

/**
 * Recomputes stored sessions from their stored data, by the current definitions, each in one transaction: the next run
 * continues a stopped one. Sealed sessions are rejected and the others continue. Throws if the store fails.
 */
export async function recompute(
  store: Store,
  dataset: RecomputedDataset,
  { symbol, from, to }: RecomputeRequest,
  { now, rate, delayMs = null, all = false, signal, onProgress }: RecomputeOptions,
): Promise<RecomputedSession[]> {
  const { sessions, run, generation, reseals = false } = recomputed[dataset];
  const wanted = (await sessions(store, { delayMs, all })).filter(
    ({ underlying, session }) =>
      (symbol === null || underlying === symbol) &&
      (from === null || session >= from) &&
      (to === null || session <= to),
  );
  const reports: RecomputedSession[] = [];
  const check = () => signal?.throwIfAborted();
  for (const [index, one] of wanted.entries()) {
    check();
    onProgress?.(one, index, wanted.length);
    try {
      const done = await inSettledTransaction(store, (tx) =>
        asGeneration(tx, now, async () => {
          await holdOrigin(tx);
          if (!reseals) await rejectSealed(tx, [{ symbol: one.underlying, sessionDate: one.session }]);
          const { parts, ...work } = await run(tx, one, { store, rate, delayMs, all, check });
          await noteRecomputed(tx, generation, parts, now());
          return work;
        }),
      );
      reports.push({ ...one, ...done, status: done.changed > 0 ? 'recomputed' : 'unchanged', reason: null });
    } catch (error) {
      if (!(error instanceof SessionSealed)) throw error;
      reports.push({ ...one, status: 'refused', changed: 0, moved: null, reason: error.message });
    }
    await yieldToEventLoop();
  }
  await pruneExpired(store, now());
  return reports;
}
