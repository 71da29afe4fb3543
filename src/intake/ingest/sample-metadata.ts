import { storeOrigin } from '../../store/market/session-origins.ts';
import { beginSample, beginSampleWrite, holdsMarketData, SampleEnded, sampleFact } from '../../store/origin.ts';
import { unlessRunning } from '../../store/rows/advisory-lock.ts';
import type { Store } from '../../store/rows/connection.ts';
import { readMetadata, writeMetadata } from '../../store/rows/metadata.ts';
import { inTransaction } from '../../store/rows/transaction.ts';
import {
  type SampleShape,
  type SampleTask,
  samplePlan,
  samplePlanBesideTape,
  sampleVersion,
} from '../sample/market/plan.ts';

/** Metadata of the simulated market in a store. */
export interface SampleMetadata extends SampleState {
  version: number;
}

/** State of the simulated market of a store. */
export interface SampleState {
  /** The instant, epoch ms, up to which it is stored; null while it is first loaded. */
  throughMs: number | null;
  /** Loading progress while it is loaded in a served store; absent otherwise. */
  loading?: SampleLoading;
}

/** Progress of loading a simulated market. */
export interface SampleLoading {
  /** Stored share, whole percent. */
  percent: number;
  /** True if its latest session is completely stored. */
  hasLatest: boolean;
}

/** Metadata of the store's simulated market; null = it has none, and all its prices are real. */
export async function sampleMetadata(store: Store): Promise<SampleMetadata | null> {
  const text = await readMetadata(store, sampleFact);
  return text === null ? null : (JSON.parse(text) as SampleMetadata);
}

/** Writes the state of the simulated market; `begins`: also in an empty store. Throws `SampleEnded`. */
export function writeSampleMetadata(store: Store, state: SampleState, { begins = false } = {}): Promise<void> {
  const metadata: SampleMetadata = { version: sampleVersion, ...state };
  return inTransaction(store, async (tx) => {
    await (begins ? beginSample : beginSampleWrite)(tx);
    await writeMetadata(tx, sampleFact, JSON.stringify(metadata));
  });
}

/** The advisory lock of the process that loads the simulated market. */
export const sampleLock = 'sample market';

/**
 * Announces to all processes of the store that its simulated market is incomplete, before it is loaded. An announcement
 * of another loading process is not changed.
 */
export async function announceSampleLoading(store: Store, now: () => number, shape: SampleShape): Promise<void> {
  await unlessRunning(store, sampleLock, async () => {
    // Another process may have loaded everything since the check.
    const missing = await missingSample(store, now(), { shape, besideTape: true });
    if (missing === null || missing.tasks.length === 0) return;
    const loading = { percent: 0, hasLatest: false };
    const state = { throughMs: missing.metadata?.throughMs ?? null, loading };
    await writeSampleMetadata(store, state, { begins: true }).catch((error: unknown) => {
      // Its loading ends for the same reason.
      if (!(error instanceof SampleEnded)) throw error;
    });
  });
}

/** Returns the loading state of the store's simulated market; null once complete, after which it is not read again. */
export function watchSampleLoading(store: Store): () => Promise<SampleLoading | null> {
  let isWhole = false;
  return async () => {
    if (isWhole) return null;
    const loading = (await sampleMetadata(store))?.loading ?? null;
    isWhole = loading === null;
    return loading;
  };
}

/** The work to do. */
export interface SampleWork {
  metadata: SampleMetadata | null;
  /** Empty if nothing is missing. */
  tasks: SampleTask[];
}

/**
 * Missing parts of the simulated market at `nowMs`; null if the store holds other data, or a market of another version.
 */
export async function missingSample(
  store: Store,
  nowMs: number,
  { shape, besideTape = false }: { shape: SampleShape; besideTape?: boolean | undefined },
): Promise<SampleWork | null> {
  const metadata = await sampleMetadata(store);
  const origin = await storeOrigin(store);
  if (origin === 'own' || (origin === null && (await holdsMarketData(store.primary)))) return null;
  if (metadata !== null && metadata.version !== sampleVersion) return null;
  const plan = besideTape ? samplePlanBesideTape : samplePlan;
  return { metadata, tasks: plan(nowMs, metadata?.throughMs ?? null, shape) };
}
